"""What the explorers of an experiment share: all trials of one point at once, one of them in full, and Run.

A point is a place of an experiment (a depth, a length with its share of lookalikes). Its shipped answers are drawn
as the sliders move; Run asks the model the question of the chosen trial in this process.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import ipywidgets as W

from ctxcourse.model.answers import Completion
from ctxcourse.model.qwen import Model
from ctxcourse.needle import NEW_TOKENS, Score
from ctxcourse.needle.shipped import Answered, Cell, provenance_text, question_text
from ctxcourse.needle.sweeps import Call
from ctxcourse.widgets.cell_view import kinds_bar, share_text, trial_marks
from ctxcourse.widgets.register_view import answer_html, lines_html
from ctxcourse.widgets.running import Runner, ShouldStop, Work, cost_text, error_html

# Of plain dictionaries each slider makes widgets of its own; one Layout for all would be gone with `Widget.close_all`.
WIDE: dict[str, Any] = {"style": {"description_width": "10em"}, "layout": {"width": "30em"}}


class Live(NamedTuple):
    """An answer that was computed in this process: what it is, and what it cost."""

    score: Score
    completion: Completion


class PointExplorer(W.VBox):
    """Controls that choose a point and a trial; below them the point's shipped answers, Run, and the list itself.

    Everything that is shown follows from the controls, ``cells`` (shipped answers by point) and ``live`` (answers of
    this process by point and trial), and is drawn anew when one of them changes. The ``calls`` of the points that a
    slider may pass are given by point, since making them takes longer than drawing the views. Moving a control stops
    a run that is going on. Children by name: ``trial``, ``point_view``, ``question``, ``shipped_view``, ``runner``,
    ``live_view``, ``problem``, ``register_view``, and ``note_view``, which shows the ``notes``: why shipped answers
    are missing.
    """

    def __init__(
        self,
        model: Model,
        controls: Sequence[W.Widget],
        cells: Mapping[Any, Cell],
        calls: Mapping[Any, list[Call]],
        notes: Sequence[str] = (),
    ) -> None:
        self.model, self.cells, self.notes = model, cells, tuple(notes)
        self.live: dict[tuple[Hashable, int], Live] = {}
        self._calls = dict(calls)
        self._drawing = threading.RLock()  # a run ends in a thread of its own
        self.trial = W.IntSlider(
            value=0,
            min=0,
            max=max(map(len, calls.values())) - 1,
            description="Trial",
            tooltip="Which trial is shown in full: each has a register of its own; they count from 0, as in the tables",
            **WIDE,
        )
        self.note_view = W.HTML("".join(f'<div class="ctx-note">{html.escape(note)}</div>' for note in self.notes))
        views = (W.HTML() for _ in range(6))
        self.point_view, self.question, self.shipped_view, self.live_view, self.problem, self.register_view = views
        self.runner = Runner(self._prepare, self._show, label="Run", pace=model, clear=self._clear)
        for control in (*controls, self.trial):
            control.observe(self._moved, names="value")
        super().__init__(
            [
                W.HBox([*controls, self.trial], layout=W.Layout(flex_flow="row wrap")),
                self.note_view,
                self.problem,
                self.point_view,
                self.question,
                self.shipped_view,
                self.runner,
                self.live_view,
                self.register_view,
            ]
        )
        self._moved(None)

    # What each explorer says of its experiment

    @property
    def point(self) -> Any:
        """The point that the controls ask for."""
        raise NotImplementedError

    def make_calls(self, point: Any) -> list[Call]:
        """Return the calls of a point that was not given any, one a trial."""
        raise NotImplementedError

    def title(self, call: Call) -> str:
        """Return in words where a call's point is."""
        raise NotImplementedError

    def curves(self) -> str:
        """Return the curves over all points, the current one marked."""
        raise NotImplementedError

    def without_cell(self) -> str:
        """Return which points have shipped answers, for one that has none."""
        raise NotImplementedError

    # What is shown

    @property
    def call(self) -> Call:
        """The question of the chosen trial at the chosen point."""
        point = self.point
        if point not in self._calls:
            self._calls[point] = self.make_calls(point)
        call: Call = self._calls[point][self.trial.value]
        return call

    @property
    def shipped(self) -> Answered | None:
        """The shipped answer of the chosen trial at the chosen point, None where there is none."""
        cell = self.cells.get(self.point)
        return cell.answers.get(self.trial.value) if cell else None

    def _moved(self, _: Any) -> None:
        try:
            self.runner.stop("Stopped: the question has changed.")
            self._draw()
            self.problem.value = ""
        except Exception as error:
            self.problem.value = error_html(error)

    def _draw(self) -> None:
        with self._drawing:
            call, shipped, live = self.call, self.shipped, self.live.get((self.point, self.trial.value))
            fits = shipped is not None and shipped.belongs_to(call)
            tokens = shipped.prompt_tokens if shipped and fits else self.model.count_prompt(call.messages())
            found = {live.score.found_row if live else None, shipped.found_row if shipped and fits else None}
            filler = {place for place, value in enumerate(call.values) if value is None}
            point, answer = self._point_html(call), self._shipped_html(call, shipped)
            register = lines_html(call.lines, call.row, {row for row in found if row not in (None, call.row)}, filler)
            self.point_view.value = point
            self.question.value = (
                f"<div><b>Question:</b> {html.escape(call.asked)}<br><b>Right answer:</b> {html.escape(call.right)}, "
                f"in line {call.row + 1} of {call.records} &nbsp; <b>Prompt:</b> {tokens:,} tokens</div>"
            )
            self.shipped_view.value = f'<div style="min-height:3.6em">{answer}</div>'
            self.live_view.value = self._live_html(live, shipped if fits else None)
            self.register_view.value = register

    def _point_html(self, call: Call) -> str:
        cell = self.cells.get(self.point)
        if cell:
            text = f"<div>{self.title(call)}: {share_text(cell.counts)}</div>{kinds_bar(cell.counts)}"
            text += trial_marks(cell.answers, self.trial.value)
        else:
            text = f"<div>{self.title(call)}: <b>no shipped results.</b> {html.escape(self.without_cell())}"
            text += " Run asks the model about the chosen trial.</div>"
        return (
            f'<div class="ctx-point" data-point="{html.escape(str(self.point), quote=True)}" style="display:flex;'
            'flex-wrap:wrap;gap:8px 28px;align-items:flex-start">'
            f'<div style="flex:1 1 22em;min-height:10em;line-height:1.5">{text}</div>'
            f'<div style="display:flex;flex-wrap:wrap;gap:8px">{self.curves()}</div></div>'
        )

    def _shipped_html(self, call: Call, shipped: Answered | None) -> str:
        cell = self.cells.get(self.point)
        if cell is None:
            return ""
        if shipped is None:
            return f"<div>No shipped result of trial {self.trial.value} here; others have one.</div>"
        if not shipped.belongs_to(call):
            return (
                f"<div>The shipped answer of this trial is about {html.escape(question_text(shipped))}; the list below "
                f"is about {html.escape(question_text(call))}. These results were made with other lists, so none of "
                "them belongs to this question.</div>"
            )
        score = Score(shipped.kind, None, shipped.found_row)
        return (
            f'<div class="ctx-shipped">{answer_html(shipped.answer, shipped.kind, verdict(score), "Shipped answer")}'
            f'<div style="opacity:.85">{html.escape(provenance_text(cell))}.</div></div>'
        )

    def _live_html(self, live: Live | None, shipped: Answered | None) -> str:
        if live is None:
            return ""
        answer = answer_html(live.completion.text, live.score.kind, verdict(live.score), "Computed here")
        return (
            f'<div class="ctx-live" role="status">{answer}<div>{cost_text(live.completion)}.</div>'
            f"<div>{self._agreement(live, shipped) if shipped else ''}</div></div>"
        )

    def _agreement(self, live: Live, shipped: Answered) -> str:
        by = self.cells[self.point].provenance.get("fingerprint", "")
        other = by not in ("", live.completion.fingerprint)
        if live.completion.text == shipped.answer:
            return "It agrees with the shipped answer" + (", which another model gave." if other else ".")
        same = "of the same class" if live.score.kind == shipped.kind else f"of the class {shipped.kind}"
        reason = (
            f"that was given by another model, {html.escape(by)}"
            if other
            else "where two tokens are as good as equal, another machine's rounding may choose the other"
        )
        return f"It differs from the shipped answer <code>{html.escape(shipped.answer)}</code>, {same}: {reason}."

    # Run

    def _clear(self) -> None:
        self.live.pop((self.point, self.trial.value), None)
        self._draw()

    def _prepare(self) -> tuple[int, Work]:
        key, call = (self.point, self.trial.value), self.call
        messages = call.messages()

        def work(should_stop: ShouldStop) -> tuple[tuple[Hashable, int], Live]:
            completion = self.model.complete(messages, max_new_tokens=NEW_TOKENS, should_stop=should_stop)
            return key, Live(call.score(completion.text), completion)

        return self.model.pending_tokens(messages) + NEW_TOKENS, work

    def _show(self, result: tuple[tuple[Hashable, int], Live]) -> None:
        key, live = result
        self.live[key] = live
        self._draw()


def verdict(score: Score) -> str:
    """Return in words whose number an answer gave.

    >>> verdict(Score("other record", "4411", 6))
    'the number of line 7, which nobody asked about'
    """
    if score.kind == "hit":
        return "the right number"
    if score.found_row is None:
        return "no line's number"
    return f"the number of line {score.found_row + 1}, which nobody asked about"
