"""The widgets of the lessons, all core ipywidgets: explore a needle, ask the model, see a prompt, move a budget."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets as W

from ctxcourse.explorer import NeedleExplorer
from ctxcourse.model.answers import Completion
from ctxcourse.model.qwen import Model
from ctxcourse.needle_widgets import EveryRow, LengthExplorer, PositionExplorer
from ctxcourse.plots import Picture, budget_bar
from ctxcourse.prompt_html import prompt_view
from ctxcourse.running import Runner, ShouldStop, Work, cost_text
from ctxcourse.tokens import Counter
from ctxcourse.toolbox_widgets import QUERY, HistoryExplorer, OrderExplorer, ToolBudgetExplorer

__all__ = [
    "AskBox",
    "BudgetExplorer",
    "EveryRow",
    "HistoryExplorer",
    "LengthExplorer",
    "NeedleExplorer",
    "OrderExplorer",
    "PositionExplorer",
    "ToolBudgetExplorer",
    "ask_box",
    "budget_explorer",
    "every_row",
    "history_explorer",
    "length_explorer",
    "needle_explorer",
    "order_explorer",
    "position_explorer",
    "prompt_view",
    "tool_budget_explorer",
]

WINDOWS = (4_096, 8_192, 32_768, 128_000, 200_000, 1_000_000)


class AskBox(W.VBox):
    """A question for the model, its answer, and the prompt as the model sees it.

    Children by name: ``system`` (empty for the template's own), ``question``, ``runner``, ``answer``,
    ``prompt``. The prompt is drawn again whenever a text changes; the answer stands until the next run or change.
    """

    def __init__(
        self,
        model: Model,
        question: str = "What is a context window? Answer in one sentence.",
        system: str = "",
        max_new_tokens: int = 64,
    ) -> None:
        self.model, self.max_new_tokens = model, max_new_tokens
        self.completion: Completion | None = None
        wide = {"layout": {"width": "46em"}, "style": {"description_width": "9em"}}
        self.system = W.Text(
            value=system,
            description="System message",
            tooltip="What stands before the conversation; empty for the default of the template",
            placeholder="empty: the template's default one",
            **wide,
        )
        self.question = W.Textarea(
            value=question, description="Question", tooltip="What the model is asked", rows=3, **wide
        )
        self.answer, self.prompt = W.HTML(), W.HTML()
        self.runner = Runner(self._prepare, self._show, label="Ask", pace=model, clear=self._clear)
        for control in (self.system, self.question):
            control.observe(self._changed, names="value")
        super().__init__([self.system, self.question, self.runner, self.answer, self.prompt])
        self._changed(None)

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages that the texts make."""
        system = [{"role": "system", "content": self.system.value}] if self.system.value.strip() else []
        return [*system, {"role": "user", "content": self.question.value}]

    def _changed(self, _: Any) -> None:
        try:
            self.runner.stop("Stopped: the question has changed.")
            self._clear()
            self.prompt.value = str(prompt_view(self.model, self.messages()))
        except Exception as error:
            self.runner.fail(error)

    def _clear(self) -> None:
        self.completion = None
        self.answer.value = ""

    def _prepare(self) -> tuple[int, Work]:
        messages = self.messages()

        def work(should_stop: ShouldStop) -> Completion:
            return self.model.complete(messages, max_new_tokens=self.max_new_tokens, should_stop=should_stop)

        return self.model.pending_tokens(messages) + self.max_new_tokens, work

    def _show(self, completion: Completion) -> None:
        self.completion = completion
        ended = "" if completion.stop_reason == "stop" else ", cut off by the limit of new tokens"
        self.answer.value = (
            f'<div class="ctx-answer"><b>Answer:</b> <div style="white-space:pre-wrap;font-size:110%;'
            f'border-left:4px solid currentColor;padding-left:8px">{html.escape(completion.text)}</div>'
            f"{cost_text(completion)}{ended}</div>"
        )


class BudgetExplorer(W.VBox):
    """Sliders for what goes into a window, the budget as a picture, and its figures, drawn again at every move.

    Children by name: the sliders ``system``, ``tools``, ``tokens_per_tool``, ``documents``, ``turns``,
    ``tokens_per_turn``, ``query``, ``generation``, the choice ``window``, and ``picture``, ``figures``,
    ``problem``. ``parts()`` gives the tokens by component.
    """

    def __init__(
        self,
        system: int = 500,
        tools: int = 50,
        tokens_per_tool: int = 160,
        documents: int = 4_000,
        turns: int = 10,
        tokens_per_turn: int = 600,
        query: int = 200,
        generation: int = 4_000,
        window: int = 128_000,
    ) -> None:
        self.system = _slider("System message", system, 8_000, 50)
        self.tools = _slider("Tools", tools, 100, 1)
        self.tokens_per_tool = _slider("Tokens per tool", tokens_per_tool, 400, 5)
        self.documents = _slider("Documents", documents, 60_000, 500)
        self.turns = _slider("Turns of history", turns, 100, 1)
        self.tokens_per_turn = _slider("Tokens per turn", tokens_per_turn, 3_000, 50)
        self.query = _slider("Query", query, 4_000, 50)
        self.generation = _slider("Kept for the answer", generation, 16_000, 250)
        sizes = sorted({*WINDOWS, window})
        self.window = W.SelectionSlider(
            options=[(f"{size:,}", size) for size in sizes],
            value=window,
            description="Window",
            tooltip="Context window, in tokens",
            **_WIDE,
        )
        self.picture, self.figures, self.problem = W.HTML(), W.HTML(), W.HTML()
        self.sliders = (
            self.system, self.query, self.tools, self.tokens_per_tool, self.documents,
            self.generation, self.turns, self.tokens_per_turn, self.window,
        )  # fmt: skip
        for slider in self.sliders:
            slider.observe(self._moved, names="value")
        grid = W.HBox(self.sliders, layout=W.Layout(flex_flow="row wrap", max_width="62em"))
        super().__init__([grid, self.picture, self.figures, self.problem])
        self._moved(None)

    def parts(self) -> dict[str, int]:
        """Return tokens by component, in the order in which a prompt holds them, and what the answer needs."""
        return {
            "system": self.system.value,
            "tools": self.tools.value * self.tokens_per_tool.value,
            "documents": self.documents.value,
            "history": self.turns.value * self.tokens_per_turn.value,
            "query": self.query.value,
            "generation": self.generation.value,
        }

    def drawn(self) -> Picture:
        """Return the budget as a picture."""
        return budget_bar(self.parts(), window=self.window.value)

    def _moved(self, _: Any) -> None:
        try:
            self.figures.value = budget_table(self.parts(), self.window.value)
            self.picture.value = self.drawn().html()
            self.problem.value = ""
        except Exception as error:
            self.problem.value = html.escape(f"{type(error).__name__}: {error}")


_WIDE: dict[str, Any] = {"style": {"description_width": "10.5em"}, "layout": {"width": "29em"}}


def _slider(description: str, value: int, top: int, step: int) -> W.IntSlider:
    top = max(top, value)
    return W.IntSlider(
        value=value,
        min=0,
        max=top,
        step=step,
        readout_format=",d",
        description=description,
        tooltip=f"{description}, 0 to {top:,}",
        **_WIDE,
    )


def budget_table(parts: dict[str, int], window: int) -> str:
    """Return the figures of a budget as an HTML table: tokens, share of the prompt, share of the window.

    The prompt is what is *used*; ``generation`` is *kept* for the answer, so it has no share of the prompt.
    """
    prompt = sum(size for name, size in parts.items() if name != "generation")
    taken = sum(parts.values())
    left = window - taken
    rows = [*parts.items(), ("prompt", prompt), ("taken, with the answer", taken)]
    lines = ""
    for name, size in rows:
        share = _percent(size, prompt) if name in parts and name != "generation" else ""
        lines += f"<tr><td>{name}</td>{_cell(f'{size:,}')}{_cell(share)}{_cell(_percent(size, window))}</tr>"
    rest = ("left", left) if left >= 0 else ("too many", -left)
    lines += f"<tr><td>{rest[0]}</td>{_cell(f'{rest[1]:,}')}<td></td>{_cell(_percent(rest[1], window))}</tr>"
    head = "".join(
        f"<th style='padding:0 12px;text-align:right'>{name}</th>"
        for name in ("tokens", "of the prompt", "of the window")
    )
    return f'<table class="ctx-budget" style="line-height:1.7"><tr><th></th>{head}</tr>{lines}</table>'


def _cell(text: str) -> str:
    return f"<td style='padding:0 12px;text-align:right'>{text}</td>"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def needle_explorer(model: Model, length: int = 25, depth: float = 0.625, seed: int = 1) -> NeedleExplorer:
    """Return the needle explorer: a register, a marked record, and the model's answer at any length and depth."""
    return NeedleExplorer(model, length, depth, seed)


def position_explorer(model: Model) -> PositionExplorer:
    """Return the position explorer: the shipped results at any depth of the needle, and any of them asked again."""
    return PositionExplorer(model)


def length_explorer(model: Model) -> LengthExplorer:
    """Return the length explorer: the shipped results by length and share of lookalikes, and any list asked live."""
    return LengthExplorer(model)


def every_row(model: Model) -> EveryRow:
    """Return a register all of whose rows are asked at the press of a button."""
    return EveryRow(model)


def order_explorer(documents: int = 10) -> OrderExplorer:
    """Return the order explorer: where each rank of some documents stands in the prompt, order by order.

    >>> order_explorer(documents=5).ranks()
    [1, 3, 5, 4, 2]
    """
    return OrderExplorer(documents)


def history_explorer(counter: Counter | None = None, budget: int = 1_200) -> HistoryExplorer:
    """Return the history explorer: what each compressor keeps of a conversation within a budget of tokens."""
    return HistoryExplorer(counter, budget)


def tool_budget_explorer(counter: Counter | None = None, query: str = QUERY, budget: int = 600) -> ToolBudgetExplorer:
    """Return the tool budget explorer: which of fifty tools a query gets within a budget of rendered tokens."""
    return ToolBudgetExplorer(counter, query, budget)


def ask_box(
    model: Model, question: str = "What is a context window? Answer in one sentence.", system: str = ""
) -> AskBox:
    """Return a box to ask the model something and see the prompt that it is really given."""
    return AskBox(model, question, system)


def budget_explorer(**start: int) -> BudgetExplorer:
    """Return the budget explorer; keywords are the sliders' first values (see `BudgetExplorer`).

    Without any, it starts at the published worked example of a coding assistant: 22,700 of 128,000 tokens.

    >>> sum(budget_explorer().parts().values())
    22700
    """
    return BudgetExplorer(**start)
