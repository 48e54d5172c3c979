"""Every row asked: one register, the question of each of its lines, and all answers painted beside them."""

from __future__ import annotations

import html
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import ipywidgets as W

from ctxcourse.model.answers import Completion
from ctxcourse.model.qwen import Model
from ctxcourse.model.tree import distinct_tokens
from ctxcourse.needle import KINDS, NEW_TOKENS, SYMBOLS, Score, sweeps
from ctxcourse.needle.sweeps import Call
from ctxcourse.plots.pictures import OUTCOME_COLOURS
from ctxcourse.widgets.cell_view import kinds_bar, share_text
from ctxcourse.widgets.point import WIDE
from ctxcourse.widgets.register_view import box_html, number_html
from ctxcourse.widgets.running import Runner, ShouldStop, Work, error_html

MOST = 50  # rows: each is a prompt


class Register(NamedTuple):
    """What the controls choose: how many lines, and the seed that draws them."""

    records: int
    seed: int


class Answers(NamedTuple):
    """What is known of a register: the completion of each row, None where it has none yet; those of the last run."""

    completions: list[Completion | None]
    last_run: list[Completion]
    distinct_tokens: int  # of the prompts of all rows together


class EveryRow(W.VBox):
    """A register, and a button that asks the model for the extension in each of its rows.

    All prompts are one call of `Model.complete_many`, so that what they share, the whole register, is computed once.
    Answers come from the completion store where it has them, and go there; after Stop, those that were finished are
    painted, and the next run goes on with the rest. What was answered stays for as long as the widget does. Children
    by name: ``records``, ``seed``, ``runner``, ``summary``, ``problem``, ``register_view``; ``answers`` holds what is
    known, by register.
    """

    def __init__(self, model: Model, records: int = sweeps.RECORDS, seed: int = 1) -> None:
        self.model = model
        self.answers: dict[Register, Answers] = {}
        self._drawing = threading.RLock()  # a run ends in a thread of its own
        self.records = W.IntSlider(
            value=records,
            min=1,
            max=max(MOST, records),
            description="Records",
            tooltip="How many records the register has; each is asked about",
            **WIDE,
        )
        self.seed = W.BoundedIntText(
            value=seed,
            min=0,
            max=9_999,
            description="Seed",
            tooltip="Another seed draws another register",
            layout=W.Layout(width="9em"),
            style={"description_width": "3.5em"},
        )
        self.summary, self.problem, self.register_view = W.HTML(), W.HTML(), W.HTML()
        # Without a pace: a run that found its answers in the store would be taken for that of a fast model.
        self.runner = Runner(self._prepare, lambda _: None, label="Ask every row")
        for control in (self.records, self.seed):
            control.observe(self._moved, names="value")
        controls = W.HBox([self.records, self.seed], layout=W.Layout(flex_flow="row wrap"))
        super().__init__([controls, self.runner, self.problem, self.summary, self.register_view])
        self._moved(None)

    @property
    def register(self) -> Register:
        """The register that the controls ask for."""
        return Register(self.records.value, self.seed.value)

    def _moved(self, _: Any) -> None:
        try:
            self.runner.stop("Stopped: the register has changed.")
            self._draw()
            self.problem.value = ""
        except Exception as error:
            self.problem.value = error_html(error)

    def _draw(self) -> None:
        with self._drawing:
            calls = _calls(self.register)
            known = self.answers.get(self.register)
            completions = known.completions if known else [None] * len(calls)
            scores = [call.score(one.text) if one else None for call, one in zip(calls, completions, strict=True)]
            lines = map(_row_html, calls, completions, scores)
            summary = _summary_html(known, [score for score in scores if score]) if known else _UNASKED
            register = box_html(_HEAD + "".join(lines))
            self.summary.value, self.register_view.value = summary, register

    def _prepare(self) -> tuple[int, Work]:
        register = self.register
        prompts = [call.messages() for call in _calls(register)]

        def work(should_stop: ShouldStop) -> None:
            distinct = distinct_tokens(map(self.model.encode_prompt, prompts))
            answered: dict[int, Completion] = {}
            try:
                self.model.complete_many(
                    prompts,
                    max_new_tokens=NEW_TOKENS,
                    should_stop=should_stop,
                    progress=False,
                    finished=answered.__setitem__,
                )
            finally:  # what was answered before a stop, or an error, has been computed and is shown
                self._keep(register, answered, distinct)

        return 0, work

    def _keep(self, register: Register, answered: Mapping[int, Completion], distinct_tokens: int) -> None:
        known = self.answers.get(register)
        before = known.completions if known else [None] * register.records
        newest = [answered.get(row, old) for row, old in enumerate(before)]
        self.answers[register] = Answers(newest, list(answered.values()), distinct_tokens)
        self._draw()


_UNASKED = "<div>Nothing has been asked yet: the button asks the model about each line in turn.</div>"


def _calls(register: Register) -> list[Call]:
    return sweeps.rows(register.records, trials=1, seed=register.seed)


def _summary_html(known: Answers, scores: Sequence[Score]) -> str:
    asked, run = len(known.completions), known.last_run
    if not scores:
        return f"<div>The run ended before the first of {asked} answers was complete.</div>"
    kinds = [score.kind for score in scores]
    counts = {kind: kinds.count(kind) for kind in KINDS}
    missing = "" if len(scores) == asked else f" {asked - len(scores)} rows have no answer yet: the button asks these."
    computed = [one for one in run if not one.remembered]
    remembered = len(run) - len(computed)
    kept = f", {remembered} of {len(run)} answers from the completion store" if remembered else ""
    return (
        f'<div class="ctx-rows" role="status" style="line-height:1.5">{share_text(counts)}.{missing}'
        f"{kinds_bar(counts)}<div>This run answered {len(run)} of {asked} prompts, which have "
        f"{sum(one.prompt_tokens for one in run):,} tokens; {known.distinct_tokens:,} distinct ones in all {asked} "
        f"prompts; {sum(one.computed_tokens for one in computed):,} computed for these answers, "
        f"{sum(one.new_tokens for one in computed):,} new; {sum(one.seconds for one in computed):.1f} seconds{kept}."
        "</div></div>"
    )


_GRID = "display:grid;grid-template-columns:4em 9em 1fr;gap:0 .6em"
_HEAD = f'<div style="{_GRID};opacity:.75"><span></span><span>answer</span><span>the line asked about</span></div>'


def _row_html(call: Call, completion: Completion | None, score: Score | None) -> str:
    style, sign, answer, kind = "border-left:5px solid transparent", "", "", ""
    if completion and score:
        colour, kind, sign = OUTCOME_COLOURS[score.kind], score.kind, SYMBOLS[score.kind]
        style = f"border-left:5px solid {colour};background:{colour}26"  # the last two digits: 15 % opaque
        whose = f" of line {score.found_row + 1}" if score.found_row not in (None, call.row) else ""
        answer = f"<code>{html.escape(completion.text) or '(nothing)'}</code>{whose}"
    return (
        f'<div data-row="{call.row}" data-kind="{kind}" style="{style};padding-left:4px;margin-bottom:1px;{_GRID}">'
        f"{number_html(call.row, sign)}"
        f'<span class="ctx-row-answer" style="overflow-wrap:anywhere">{answer}</span>'
        f"<span>{html.escape(call.lines[call.row])}</span></div>"
    )
