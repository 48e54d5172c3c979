"""The part of a catalogue that keeps to a budget of rendered tokens, with the account of what was left out and why."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.retrieval.ordering import best_first
from ctxcourse.tools.costs import ToolCosts
from ctxcourse.toolschemas import Tool


class ToolsetError(CourseError, ValueError):
    """A tool, a category or a budget that a toolset cannot work with: the text says which, and what is possible."""


@dataclass(frozen=True)
class ToolChoice:
    """One tool of a catalogue: chosen or left out, at which score and cost in tokens, and why."""

    name: str
    score: float
    tokens: int
    why: str


@dataclass(frozen=True)
class ToolSelection:
    """What a budget affords: hand ``tools`` to the model. They stand in the catalogue's order, whatever their scores.

    So the same choice is the same prompt, which a prefix cache knows. ``chosen`` and ``left_out`` list the best first,
    ``chosen`` the tools that are always included before all others. All figures are tokens: ``tokens`` is what the
    tools add to a rendered prompt, the sum of the chosen ones' and ``preamble``, which is 0 where no tool was chosen.
    """

    tools: list[Tool]
    chosen: tuple[ToolChoice, ...]
    left_out: tuple[ToolChoice, ...]
    preamble: int
    tokens: int
    budget: int

    @property
    def names(self) -> list[str]:
        """The names of the chosen tools, the best first."""
        return [choice.name for choice in self.chosen]

    @property
    def remaining(self) -> int:
        """The tokens of the budget that are not spent."""
        return self.budget - self.tokens

    def report(self, left_out: int = 10) -> str:
        """Return the account as text: a line for each tool, of those left out the ``left_out`` best alone."""
        width = max([len(choice.name) for choice in (*self.chosen, *self.left_out[:left_out])] + [len("preamble")])
        lines = [f"{'chosen':<{width}}   score  tokens", *(_line(choice, width) for choice in self.chosen)]
        lines.append(f"{'preamble':<{width}}{'':>8}{self.preamble:>8,}")
        lines.append(f"{self.tokens:,} of {self.budget:,} tokens, {self.remaining:,} remain")
        if self.left_out:
            lines += ["", f"{len(self.left_out):,} left out"]
            lines += [_line(choice, width) for choice in self.left_out[:left_out]]
        if len(self.left_out) > left_out:
            lines.append(f"… and {len(self.left_out) - left_out:,} more")
        return "\n".join(lines)


def _line(choice: ToolChoice, width: int) -> str:
    return f"{choice.name:<{width}}{choice.score:>8.2f}{choice.tokens:>8,}  {choice.why}".rstrip()


def fill(
    tools: Sequence[Tool],
    scores: Sequence[float],
    budget: int,
    costs: ToolCosts,
    *,
    prices: Sequence[int],
    messages: Any = (),
    must: Collection[int] = (),
    threshold: float | None = None,
) -> ToolSelection:
    """Return the tools that a budget affords: those at the indices in ``must``, then by score while they fit.

    A tool that does not fit is passed over, and a smaller one behind it may still fit. ``prices`` holds what each tool
    costs by ``costs``. They are added up to decide, and the decision is rendered with ``messages``: where a template
    writes more between tools than their prices say, the last ones go again until the render keeps to the budget.

    Raises ToolsetError, which says by how much, if the tools in ``must`` alone do not fit.
    """
    ranked = best_first(scores)
    kept, reasons = [index for index in ranked if index in must], dict.fromkeys(must, "always included")
    spent = costs.preamble(messages) + sum(prices[index] for index in kept)
    for place, index in enumerate(ranked, start=1):
        if index in must:
            continue
        left = budget - spent
        if threshold is not None and not scores[index] >= threshold:
            reasons[index] = "no score" if math.isnan(scores[index]) else f"scores below {threshold:g}"
        elif prices[index] > left:
            reasons[index] = f"does not fit: {max(left, 0):,} left{'' if kept else ' beside the preamble'}"
        else:
            reasons[index] = f"rank {place:,}"
            kept.append(index)
            spent += prices[index]
    total = costs.total([tools[index] for index in sorted(kept)], messages)
    while total > budget:
        if len(kept) == len(must):
            raise ToolsetError(
                f"the tools that are always included take {total:,} tokens, {total - budget:,} more than the budget of "
                f"{budget:,}: give it more, or include fewer"
            )
        reasons[kept.pop()] = f"does not fit: with the others it comes to {total:,}"
        total = costs.total([tools[index] for index in sorted(kept)], messages)

    def choices(indices: Sequence[int]) -> tuple[ToolChoice, ...]:
        names = (tools[index]["function"]["name"] for index in indices)
        return tuple(
            ToolChoice(name, scores[index], prices[index], reasons[index])
            for name, index in zip(names, indices, strict=True)
        )

    in_prompt = set(kept)
    return ToolSelection(
        tools=[tools[index] for index in sorted(kept)],
        chosen=choices(kept),
        left_out=choices([index for index in ranked if index not in in_prompt]),
        preamble=total - sum(prices[index] for index in kept),
        tokens=total,
        budget=budget,
    )
