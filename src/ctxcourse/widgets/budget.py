"""Move what goes into a window, and see the budget as a picture and as a table."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets as W

from ctxcourse.plots import Picture, budget_bar

WINDOWS = (4_096, 8_192, 32_768, 128_000, 200_000, 1_000_000)


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
