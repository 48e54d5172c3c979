"""The needle explorer: a register, one question, and the model's answer for any length and depth."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets as W

from ctxcourse import needle
from ctxcourse.model.qwen import Model
from ctxcourse.needle import Outcome, Register
from ctxcourse.needle.sweeps import RECORDS
from ctxcourse.widgets.register_view import answer_html, badge, lines_html
from ctxcourse.widgets.running import Runner, ShouldStop, Work, cost_text

HISTORY = 12  # answers kept in the table


class NeedleExplorer(W.VBox):
    """Sliders for length, depth and seed; Run asks the model about the marked record, in this process.

    The needle is the first record drawn with the seed, moved to the row of the depth, so that moving the depth
    changes nothing but the order, and changing the length nothing but the number of rivals. Moving a control
    redraws the register at once and stops a run that is going on, since its answer would be to another
    question. Children by name: ``length``, ``depth``, ``seed``, ``runner`` (with ``run_button`` and
    ``stop_button``), ``question``, ``answer``, ``history``, ``register_view``.
    """

    def __init__(self, model: Model, length: int = RECORDS, depth: float = 0.625, seed: int = 1) -> None:
        self.model = model
        self.outcome: Outcome | None = None
        self._rows: list[str] = []
        wide = {"style": {"description_width": "8em"}, "layout": {"width": "27em"}}
        self.length = W.IntSlider(
            value=length,
            min=1,
            max=needle.LONGEST,
            description="Records",
            tooltip="How many records the list has",
            **wide,
        )
        self.depth = W.FloatSlider(
            value=depth,
            min=0,
            max=1,
            step=1 / 8,
            readout_format=".3f",
            description="Needle depth",
            tooltip="Where the marked record stands: 0 is the first place, 1 the last",
            **wide,
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
        self.question, self.answer, self.history, self.register_view = (W.HTML() for _ in range(4))
        self.runner = Runner(self._prepare, self._show, label="Run", pace=model, clear=self._clear)
        for control in (self.length, self.depth, self.seed):
            control.observe(self._moved, names="value")
        controls = W.HBox([self.length, self.depth, self.seed], layout=W.Layout(flex_flow="row wrap"))
        super().__init__([controls, self.question, self.runner, self.answer, self.register_view, self.history])
        self._moved(None)

    def current(self) -> tuple[Register, int]:
        """Return the register that the controls ask for, and the row of its needle."""
        drawn = needle.register(records=self.length.value, seed=self.seed.value)
        return drawn.move(0, self.depth.value), drawn.slot(self.depth.value)

    def _moved(self, _: Any) -> None:
        try:
            self.runner.stop("Stopped: the register has changed.")
            register, row = self.current()
            self.outcome = None
            self.answer.value = "<i>Press Run to ask the model.</i>"
            self._draw(register, row)
        except Exception as error:
            self.runner.fail(error)

    def _draw(self, register: Register, row: int, found: str | None = None) -> None:
        tokens = self.model.count_prompt(needle.messages(register, row))
        asked = html.escape(needle.question(register, row))
        right = register.row(row).extension
        self.question.value = (
            f"<div><b>Question:</b> {asked}<br><b>Right answer:</b> {right}, in record {row + 1} of "
            f"{len(register)} &nbsp; <b>Prompt:</b> {tokens:,} tokens</div>"
        )
        self.register_view.value = register_html(register, row, found)

    def _clear(self) -> None:
        self.outcome = None
        self.answer.value = ""
        self._draw(*self.current())

    def _prepare(self) -> tuple[int, Work]:
        register, row = self.current()
        settings = (len(register), self.depth.value, self.seed.value)

        def work(should_stop: ShouldStop) -> tuple[Outcome, Register, int, tuple[int, float, int]]:
            outcome = needle.ask(self.model, register, row, should_stop=should_stop)
            return outcome, register, row, settings

        return self.model.pending_tokens(needle.messages(register, row)) + needle.NEW_TOKENS, work

    def _show(self, result: tuple[Outcome, Register, int, tuple[int, float, int]]) -> None:
        outcome, register, row, settings = result
        self.outcome = outcome
        self.answer.value = outcome_html(outcome, register)
        self._draw(register, row, outcome.found)
        self._rows = [_history_row(outcome, settings), *self._rows][:HISTORY]
        head = "".join(f"<th style='padding:0 8px;text-align:left'>{name}</th>" for name in _COLUMNS)
        self.history.value = (
            f"<details open><summary>Answers so far, the last one first</summary><table style='line-height:1.7'>"
            f"<tr>{head}</tr>{''.join(self._rows)}</table></details>"
        )


_COLUMNS = ("records", "depth", "seed", "class", "answer", "right", "tokens", "seconds")


def outcome_html(outcome: Outcome, register: Register) -> str:
    """Return an answer with its class, whose number it is, its tokens and its seconds as HTML."""
    owners = [record.owner for record in register.records if record.extension == outcome.found]
    verdict = {
        "hit": "the right number",
        "other record": f"the number of {html.escape(owners[0] if owners else '')}, whom nobody asked about",
        "neither": "no number of this register",
    }[outcome.kind]
    return f"{answer_html(outcome.answer, outcome.kind, verdict)}<div>{cost_text(outcome.completion)}</div>"


def _history_row(outcome: Outcome, settings: tuple[int, float, int]) -> str:
    records, depth, seed = settings
    done = outcome.completion
    cells = (
        records, f"{depth:.3f}", seed, badge(outcome.kind), f"<code>{html.escape(outcome.answer)}</code>",
        outcome.right, f"{done.prompt_tokens:,}", f"{done.seconds:.1f}",
    )  # fmt: skip
    return "<tr>" + "".join(f"<td style='padding:0 8px'>{cell}</td>" for cell in cells) + "</tr>"


def register_html(register: Register, row: int, found: str | None = None) -> str:
    """Return a register as HTML, the needle marked ▶ and the record whose number was ``found`` instead marked ⇄.

    A register longer than 30 records shows its ends and what stands around the marks; the rest is behind folds.
    """
    rival = next(
        (place for place, record in enumerate(register.records) if record.extension == found and place != row),
        None,
    )
    return lines_html(register.lines, row, () if rival is None else (rival,))
