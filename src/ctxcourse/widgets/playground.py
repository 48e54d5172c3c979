"""The playground of memory policies: a recorded run under each of them, what it is billed, and what it still knows.

Nothing is asked of a model: what a policy keeps of the recording is counted anew whenever a control moves, and
remembered by setting. Policies that have something written by a model (compaction, notes) are left out for that reason.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import ipywidgets as W

from ctxcourse.agent.accounting import Encoder, Remembering
from ctxcourse.agent.comparison import PINNED
from ctxcourse.agent.probes import FACTS, Fact, Held
from ctxcourse.agent.transcript import Transcript
from ctxcourse.model.answers import Cancelled
from ctxcourse.plots.pictures import PART_STYLES
from ctxcourse.policies import FullHistory, Pinned, Policy, UserMessages, elided_results, sliding_window
from ctxcourse.widgets.account import Account, PlaygroundError, account, checked_calls
from ctxcourse.widgets.running import Recounter, ShouldStop, Work
from ctxcourse.widgets.toolbox import WIDE

__all__ = ["PLACES", "POLICIES", "PlaygroundError", "PolicyPlayground", "policy_playground"]

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
Setting: TypeAlias = tuple[Any, ...]
"""A policy's name, and the values of the controls that it heeds."""
_FULL: Setting = ("full history",)
_WIDTH, _HEIGHT = 640, 130  # of the line, in its own units


class PolicyPlayground(W.VBox):
    """A recorded run under a policy of the reader's choice: its bill, its last prompt, and whether it holds the facts.

    ``block`` is what the pinned block says. Children by name: the controls ``policy``, ``last`` (the window, in
    messages), ``turns`` (those kept whole) and ``place`` (of the block), and ``runner`` and ``view``; a control that
    the policy does not heed is disabled. A count that takes longer than a second goes on in a thread and can be
    stopped. ``account()`` gives the figures of where the controls are. Raises `PlaygroundError` for a recording without
    calls.
    """

    def __init__(
        self,
        transcript: Transcript,
        counter: Encoder,
        facts: Sequence[Fact] = FACTS,
        block: str = PINNED,
    ) -> None:
        checked_calls(transcript)
        self._transcript, self._facts, self._block = transcript, tuple(facts), block
        self._counter = Remembering(counter)
        self._known: dict[Setting, Account] = {}
        self._shown: Setting | None = None
        self._drawing = threading.Lock()  # a count ends in a thread of its own
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
        self.view = W.HTML()
        self.runner = Recounter(self._prepare, self._show, late=self._clear)
        controls = (self.policy, self.last, self.turns, self.place)
        for control in controls:
            control.observe(self._moved, names="value")
        grid = W.HBox(controls, layout=W.Layout(flex_flow="row wrap", max_width="72em"))
        super().__init__([grid, self.runner, self.view])
        self._moved(None)

    @property
    def setting(self) -> Setting:
        """Where the controls are: the name of the policy, and the values of those that it heeds."""
        name = self.policy.value
        return (name, *(getattr(self, control).value for control in POLICIES[name]))

    def account(self) -> Account:
        """Return what the run comes to where the controls are; a setting that was seen before is not counted again."""
        setting = self.setting
        if setting not in self._known:
            self._known[setting] = self._made(setting)
        return self._known[setting]

    def drawn(self, setting: Setting) -> str:
        """Return the figures as HTML: the bill, the line of its prompts, the last prompt and the facts.

        The setting and that of full history have been counted.
        """
        made, full = self._known[setting], self._known[_FULL]
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

    def _policy(self, setting: Setting) -> Policy:
        name, *values = setting
        make: dict[str, Callable[..., Policy]] = {
            "full history": FullHistory,
            "sliding window": sliding_window,
            "elided tool results": elided_results,
            "user messages + last turns": UserMessages,
            "pinned block": lambda last, place: Pinned(self._block, PLACES[place], last),  # type: ignore[arg-type]
        }
        return make[name](*values)

    def _made(self, setting: Setting, told: Callable[[float], None] = lambda share: None) -> Account:
        return account(self._transcript, self._policy(setting), self._counter, self._facts, told)

    def _moved(self, _: Any) -> None:
        for control in ("last", "turns", "place"):
            getattr(self, control).disabled = control not in POLICIES[self.policy.value]
        self.runner.again()

    def _prepare(self) -> tuple[int, Work]:
        setting = self.setting

        def work(should_stop: ShouldStop) -> Setting:
            missing = [one for one in dict.fromkeys((_FULL, setting)) if one not in self._known]
            for number, one in enumerate(missing):

                def told(share: float, number: int = number) -> None:
                    if should_stop():
                        raise Cancelled("Stopped.")
                    self.runner.share = (number + share) / len(missing)

                self._known[one] = self._made(one, told)
            return setting

        return 0, work

    def _show(self, setting: Setting) -> None:
        with self._drawing:
            if setting != self._shown:
                self.view.value, self._shown = self.drawn(setting), setting

    def _clear(self) -> None:
        """Take the figures of another setting away, since those of this one are late."""
        with self._drawing:
            if self._shown != self.setting:
                self.view.value, self._shown = "", None


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
