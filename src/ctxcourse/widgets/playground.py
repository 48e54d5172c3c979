"""The playground of memory policies: a recorded run under each of them, what it is billed, and what it still knows.

Nothing is asked of a model: what a policy keeps of the recording is counted anew whenever a control moves, and
remembered by setting. Policies that have something written by a model (compaction, notes) are left out for that reason.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as W

from ctxcourse.agent.accounting import Encoder
from ctxcourse.agent.comparison import PINNED
from ctxcourse.agent.probes import FACTS, Fact, Held, held
from ctxcourse.agent.transcript import Transcript
from ctxcourse.errors import CourseError
from ctxcourse.messages import Message, Tool
from ctxcourse.model.tree import shared
from ctxcourse.plots.pictures import PART_STYLES
from ctxcourse.policies import FullHistory, Pinned, Policy, UserMessages, elided_results, replay, sliding_window
from ctxcourse.tokens import Buckets, buckets
from ctxcourse.widgets.running import error_html
from ctxcourse.widgets.toolbox import WIDE

POLICIES: dict[str, tuple[str, ...]] = {
    "full history": (),
    "sliding window": ("last",),
    "elided tool results": ("turns",),
    "user messages + last turns": ("turns",),
    "pinned block": ("last", "place"),
}
"""The policies by name, each with the controls that it heeds."""
PLACES = {"in the system message": "system", "at the end of the prompt": "end"}
"""Where the block may be pinned."""
_WIDTH, _HEIGHT = 640, 130  # of the line, in its own units
_SHORT = 6  # messages up to which the size of a prompt is remembered: a step and what it is counted beside


class PlaygroundError(CourseError, ValueError):
    """A recording with which nothing can be played: the text says why."""


@dataclass(frozen=True)
class Account:
    """What a run comes to under one policy, in tokens.

    ``sizes`` are the prompts of the calls, in order; ``recomputed`` is what a cache of the prompt before would have to
    compute; ``last`` is what fills the last prompt of all. ``held`` says for each fact what the first prompt of the
    last turn holds of it, before the agent has said or called anything in that turn.
    """

    sizes: tuple[int, ...]
    recomputed: int
    last: Buckets
    held: tuple[Held, ...]

    @property
    def billed(self) -> int:
        """The billed input tokens of the run."""
        return sum(self.sizes)


def account(transcript: Transcript, policy: Policy, counter: Encoder, facts: Sequence[Fact] = FACTS) -> Account:
    """Return what a recorded run comes to under a policy that asks nobody.

    Raises `PlaygroundError` for a recording without calls.
    """
    calls = transcript.calls()
    if not calls:
        raise PlaygroundError(
            f"none of the {len(transcript.messages)} messages is from the assistant, so that no call was made: give "
            "the transcript of a run"
        )
    kept = [each.messages for each in replay(transcript.messages, policy, counter, [call.index for call in calls])]
    sizes, recomputed = [], 0
    before: list[int] = []
    for messages in kept:
        ids = counter.encode_prompt(messages, transcript.tools)
        sizes.append(len(ids))
        recomputed += len(ids) - shared(before, ids)
        before = ids
    opens = next(place for place, call in enumerate(calls) if call.turn == calls[-1].turn)
    there = tuple(held(fact, kept[opens]) for fact in facts)
    return Account(tuple(sizes), recomputed, buckets(kept[-1], transcript.tools, counter), there)


class _Remembering:
    """A counter that counts a text, or a short prompt, once: elision asks for the same results at every call."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._texts: dict[str, int] = {}
        self._prompts: dict[str, int] = {}
        self.encode_prompt, self.token_spans = encoder.encode_prompt, encoder.token_spans

    def count_text(self, text: str) -> int:
        if text not in self._texts:
            self._texts[text] = self._encoder.count_text(text)
        return self._texts[text]

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> int:
        if tools or len(messages) > _SHORT:
            return self._encoder.count_prompt(messages, tools)
        key = json.dumps(messages, ensure_ascii=False)
        if key not in self._prompts:
            self._prompts[key] = self._encoder.count_prompt(messages)
        return self._prompts[key]


class PolicyPlayground(W.VBox):
    """A recorded run under a policy of the reader's choice: its bill, its last prompt, and whether it holds the facts.

    ``block`` is what the pinned block says. Children by name: the controls ``policy``, ``last`` (the window, in
    messages), ``turns`` (those kept whole) and ``place`` (of the block), and ``view`` and ``problem``; a control that
    the policy does not heed is disabled. ``account()`` gives the figures that are shown. Raises `PlaygroundError` for a
    recording without calls.
    """

    def __init__(
        self,
        transcript: Transcript,
        counter: Encoder,
        facts: Sequence[Fact] = FACTS,
        block: str = PINNED,
    ) -> None:
        self._transcript, self._facts, self._block = transcript, tuple(facts), block
        self._counter = _Remembering(counter)
        self._known: dict[tuple[Any, ...], Account] = {}
        self._full = self._made(FullHistory())
        self.policy = W.Dropdown(
            options=list(POLICIES),
            value="sliding window",
            description="Policy",
            tooltip="What each call is given of the conversation",
            **WIDE,
        )
        most = max(12, len(transcript.messages))
        self.last = _slider("Window", 12, most, "Messages that the window keeps, in whole steps")
        self.turns = _slider("Turns kept", 4, 20, "Newest turns that are kept as they were")
        self.place = W.Dropdown(
            options=list(PLACES), description="Pinned", tooltip="Where the block of text stands in each prompt", **WIDE
        )
        self.view, self.problem = W.HTML(), W.HTML()
        controls = (self.policy, self.last, self.turns, self.place)
        for control in controls:
            control.observe(self._moved, names="value")
        grid = W.HBox(controls, layout=W.Layout(flex_flow="row wrap", max_width="72em"))
        super().__init__([grid, self.problem, self.view])
        self._moved(None)

    def account(self) -> Account:
        """Return what the run comes to where the controls are; a setting that was seen before is not counted again."""
        name = self.policy.value
        setting = (name, *(getattr(self, control).value for control in POLICIES[name]))
        if setting not in self._known:
            self._known[setting] = self._full if name == "full history" else self._made(self._chosen(name))
        return self._known[setting]

    def drawn(self) -> str:
        """Return the figures as HTML: the bill, the line of its prompts, the last prompt and the facts."""
        made, full = self.account(), self._full
        names = ("this policy", "full history", "share")
        head = "".join(f'<th style="padding:0 12px;text-align:right">{name}</th>' for name in names)
        rows = _row("billed input tokens", made.billed, full.billed)
        rows += _row("a prefix cache recomputes", made.recomputed, full.recomputed)
        rows += _row("the last prompt", made.last.total, full.last.total)
        for bucket, size in full.last.as_dict().items():
            if bucket != "total":
                rows += _row(f"– {bucket.replace('_', ' ')}", getattr(made.last, bucket), size, PART_STYLES[bucket][0])
        facts = "".join(_fact(fact, there) for fact, there in zip(self._facts, made.held, strict=True))
        return (
            f'<table class="ctx-playground" style="line-height:1.6"><tr><th></th>{head}</tr>{rows}</table>'
            f"{_line(made.sizes, full.sizes)}<div>In the prompt with which the last turn begins:</div>"
            f'<ul style="margin:0">{facts}</ul>'
        )

    def _chosen(self, name: str) -> Policy:
        make: dict[str, Callable[[], Policy]] = {
            "sliding window": lambda: sliding_window(self.last.value),
            "elided tool results": lambda: elided_results(self.turns.value),
            "user messages + last turns": lambda: UserMessages(self.turns.value),
            "pinned block": lambda: Pinned(self._block, PLACES[self.place.value], self.last.value),  # type: ignore[arg-type]
        }
        return make[name]()

    def _made(self, policy: Policy) -> Account:
        return account(self._transcript, policy, self._counter, self._facts)

    def _moved(self, _: Any) -> None:
        for control in ("last", "turns", "place"):
            getattr(self, control).disabled = control not in POLICIES[self.policy.value]
        try:
            self.view.value = self.drawn()
            self.problem.value = ""
        except Exception as error:
            self.problem.value = error_html(error)


def policy_playground(transcript: Transcript, counter: Encoder) -> PolicyPlayground:
    """Return the playground of memory policies over a recorded run.

    Raises `PlaygroundError` for a recording without calls.
    """
    return PolicyPlayground(transcript, counter)


def _slider(description: str, value: int, top: int, tooltip: str) -> W.IntSlider:
    return W.IntSlider(
        value=value,
        min=1,
        max=top,
        description=description,
        tooltip=f"{tooltip}, 1 to {top}",
        continuous_update=False,
        **WIDE,
    )


def _row(name: str, size: int, whole: int, colour: str = "") -> str:
    key = f'<span style="display:inline-block;width:.9em;height:.9em;background:{colour}"></span> ' if colour else ""
    share = f"{size / whole:.0%}" if whole else "–"
    figures = (f"{size:,}", f"{whole:,}", share)
    cells = "".join(f'<td style="text-align:right;padding:0 12px">{figure}</td>' for figure in figures)
    return f'<tr data-row="{name}"><td style="text-align:left">{key}{name}</td>{cells}</tr>'


def _fact(fact: Fact, there: Held) -> str:
    state = "stated" if there.stated else "present" if there.present else "absent"
    said = {
        "stated": "✓ stated: something there says what it stands for",
        "present": "~ present, and nothing there says what it stands for",
        "absent": "✗ not there",
    }[state]
    return (
        f'<li data-fact="{html.escape(fact.sort, quote=True)}" data-state="{state}" style="list-style:none">'
        f"{html.escape(fact.sort)} <b>{html.escape(fact.answer)}</b>: {said}</li>"
    )


def _line(sizes: Sequence[int], full: Sequence[int]) -> str:
    """Return the prompt of every call as a line, above it that of full history."""
    top = max(*full, *sizes)
    told = (
        f"Tokens of the prompt of each of {len(sizes)} calls: from {sizes[0]:,} to {sizes[-1]:,}, at most "
        f"{max(sizes):,}; with full history from {full[0]:,} to {full[-1]:,}"
    )

    def path(values: Sequence[int], style: str) -> str:
        step = _WIDTH / max(1, len(values) - 1)
        points = " ".join(f"{step * at:.1f},{_HEIGHT * (1 - value / top):.1f}" for at, value in enumerate(values))
        return f'<polyline points="{points}" fill="none" vector-effect="non-scaling-stroke" {style}/>'

    lines = path(full, 'stroke="#5B5B66" stroke-width="1.5" stroke-dasharray="5 4"')
    lines += path(sizes, 'stroke="#B84A00" stroke-width="2.5"')
    return (
        f'<svg role="img" aria-label="{told}" viewBox="-3 -3 {_WIDTH + 6} {_HEIGHT + 6}" preserveAspectRatio="none" '
        'style="display:block;width:100%;max-width:50em;height:10em;margin:6px 0;border-bottom:1px solid '
        f'rgba(127,127,127,.6)">{lines}</svg><div>Billed tokens call by call, from 0 to {top:,}; dashed: full history.'
        "</div>"
    )
