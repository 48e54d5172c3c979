"""Five ways to make a conversation smaller: cut it off, look at its end, retell it, clear or shorten its old texts.

Each is a `Compressor`: its sizes are checked when it is made, the system messages that open a conversation are kept
whatever happens, and the unit is the step. All count as `ctxcourse.history.step_costs` explains: one whole render of
what comes in, one of what goes out, and a small one for each step between which there is a choice. (`Shortening` counts
each older text by itself, and renders once more where the sum was too good.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctxcourse.history.elision import Elision
from ctxcourse.history.protocol import Compressed, HistoryError, checked_size, joined, newest, parted, step_costs
from ctxcourse.history.rolling import RollingSummary
from ctxcourse.history.shortening import Shortening
from ctxcourse.messages import Message
from ctxcourse.tokens import Counter, truncate

__all__ = ["Elision", "RollingSummary", "Shortening", "SlidingWindow", "Truncation"]


@dataclass(frozen=True)
class Truncation:
    """Keep the newest whole steps that come to at most ``budget`` tokens, counted on the whole render.

    Where not even the newest step fits, its texts are cut to an equal number of whole tokens if ``may_cut`` allows it;
    its calls stay, with all their results. Otherwise, or where a text would be cut to nothing, HistoryError says by how
    much it is too large; the same for opening system messages that alone are larger than the budget.

    Steps are counted from the newest to the first that does not fit, each once, and the result once more, whole.

    >>> talk = [{"role": "user", "content": f"Question {number}, and quite a long one?"} for number in range(50)]
    >>> made = Truncation(budget=200).compress(talk, tok)
    >>> made.tokens_after <= 200, made.messages == talk[-len(made.messages):]
    (True, True)
    """

    budget: int
    may_cut: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", checked_size(self.budget, "the budget of a truncation"))

    def compress(self, messages: Any, counter: Counter) -> Compressed:
        """Return the newest steps that fit; an unchanged copy where all do."""
        opening, units = parted(messages)
        before = counter.count_prompt(joined([opening], units))
        if before <= self.budget:
            return Compressed(joined([opening], units), before, before)
        fixed = counter.count_prompt(opening)
        if fixed > self.budget and (opening or not units):
            raise HistoryError(
                f"what has to stay, the opening system messages and what the template writes around them, takes "
                f"{fixed:,} tokens, {fixed - self.budget:,} more than the budget of {self.budget:,}: shorten it or "
                "raise the budget"
            )
        kept, after = self._newest(opening, units, fixed, counter)
        cut = 0
        if not kept:
            step, after, cut = self._cut(opening, units[-1], after, counter)
            kept = [step]
        lost = units[: len(units) - len(kept)]
        notes = [f"oldest {len(lost)} of {len(units)} steps left out"] if lost else []
        notes += [f"{cut} of {len(kept[0])} messages of the newest step cut"] if cut else []
        dropped = len(joined(lost)) + cut
        return Compressed(joined([opening], kept), before, after, dropped=dropped, notes=tuple(notes))

    def _newest(
        self, opening: list[Message], units: Sequence[list[Message]], fixed: int, counter: Counter
    ) -> tuple[list[list[Message]], int]:
        """Return the steps that fit, none where the newest does not, and the size of the whole render.

        The sum of costs proposes, the whole render has the last word.
        """
        costs: list[int] = []
        left = self.budget - fixed
        for cost in step_costs(reversed(units), counter):
            left -= cost
            if left < 0:
                break
            costs.append(cost)
        while costs:
            kept = list(units[len(units) - len(costs) :])
            size = counter.count_prompt(joined([opening], kept))
            excess = size - self.budget
            if excess <= 0:
                return kept, size
            while costs and excess > 0:
                excess -= max(costs.pop(), 1)
        size = counter.count_prompt([*opening, *units[-1]])
        return ([units[-1]], size) if size <= self.budget else ([], size)

    def _cut(
        self, opening: list[Message], step: list[Message], whole: int, counter: Counter
    ) -> tuple[list[Message], int, int]:
        """Return the step with its texts cut to the largest equal size that fits, its render, and how many were cut."""
        over = (
            f"the newest step takes {whole:,} tokens with what has to stay, {whole - self.budget:,} more than the "
            f"budget of {self.budget:,}"
        )
        if not self.may_cut:
            raise HistoryError(f"{over}: raise the budget, or allow a cut with may_cut=True")
        fits, too_many = 0, max(counter.count_text(message["content"]) for message in step)
        best, after = None, 0
        while too_many - fits > 1:
            most = (fits + too_many) // 2
            short = [{**message, "content": truncate(message["content"], most, counter)} for message in step]
            size = counter.count_prompt([*opening, *short])
            if size <= self.budget:
                best, after, fits = short, size, most
            else:
                too_many = most
        pairs = list(zip(best or [], step, strict=bool(best)))
        if best is None or any(old["content"].strip() and not new["content"].strip() for new, old in pairs):
            raise HistoryError(f"{over}, and cut to that nothing would be left of it: raise the budget")
        return best, after, sum(new != old for new, old in pairs)


@dataclass(frozen=True)
class SlidingWindow:
    """Keep the last ``last`` messages, and so much more as the step needs in which the window begins.

    Opening system messages are kept beside them and not counted. A conversation of fewer messages is unchanged.

    >>> made = SlidingWindow(last=2).compress([{"role": "user", "content": text} for text in "abc"], tok)
    >>> [message["content"] for message in made.messages], made.dropped
    (['b', 'c'], 1)
    """

    last: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "last", checked_size(self.last, "the window, in messages,"))

    def compress(self, messages: Any, counter: Counter) -> Compressed:
        """Return the conversation's end; an unchanged copy where that is all of it."""
        opening, units = parted(messages)
        before = counter.count_prompt(joined([opening], units))
        lost = len(units) - newest(units, self.last)
        if not lost:
            return Compressed(joined([opening], units), before, before)
        made = joined([opening], units[lost:])
        left_out = sum(map(len, units[:lost]))
        notes = (f"oldest {lost} of {len(units)} steps left out",)
        return Compressed(made, before, counter.count_prompt(made), dropped=left_out, notes=notes)
