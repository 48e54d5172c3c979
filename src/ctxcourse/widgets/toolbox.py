"""The widgets of the toolbox lessons: where ranks stand, what is left of a conversation, which tools a budget affords.

None of them asks a model. A tokenizer counts, and everything is drawn anew from where the controls are, as text, so
that a slider can be dragged.
"""

from __future__ import annotations

import html
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as W

from ctxcourse.history import Compressed, Compressor, HistoryError
from ctxcourse.history.compressors import Elision, RollingSummary, SlidingWindow, Truncation
from ctxcourse.history.key_sentences import key_sentences
from ctxcourse.history.rolling import HEADING
from ctxcourse.loading import load_tokenizer
from ctxcourse.messages import Message, normalise
from ctxcourse.plots.pictures import PART_STYLES
from ctxcourse.retrieval.ordering import reorder
from ctxcourse.samples import load_sample
from ctxcourse.tokens import Counter
from ctxcourse.tools.catalogues import SIZES, catalogue
from ctxcourse.tools.costs import ToolCosts
from ctxcourse.tools.selection import ToolChoice, ToolSelection
from ctxcourse.tools.toolset import Toolset
from ctxcourse.widgets.running import error_html

WIDE: dict[str, Any] = {"style": {"description_width": "10em"}, "layout": {"width": "34em"}}
QUERY = "Which shard is lagging behind in the orders cluster?"

ORDERS: dict[str, Callable[[list[int]], list[int]]] = {
    "best first": list,
    "reordered (1 3 5 … 4 2)": reorder,
    "best last": lambda ranks: ranks[::-1],
}
"""Orders of documents by name, each from a list of ranks, the best of which is 1."""

STATES: dict[str, tuple[str, str]] = {
    "kept": ("#00775A", "■"),
    "shortened": ("#0072B2", "▣"),
    "retold": ("#8C6BB1", "≈"),
    "left out": ("#5B5B66", "·"),
}
"""What may become of a message, with a colour and a sign of its own."""


class _Explorer(W.VBox):
    """Controls, an error if there is one, and a view that is drawn again whenever a control moves."""

    def __init__(self, *controls: W.Widget) -> None:
        self.view, self.problem = W.HTML(), W.HTML()
        for control in controls:
            control.observe(self._moved, names="value")
        grid = W.HBox(list(controls), layout=W.Layout(flex_flow="row wrap", max_width="72em"))
        super().__init__([grid, self.problem, self.view])
        self._moved(None)

    @abstractmethod
    def drawn(self) -> str:
        """Return what the controls ask for, as HTML."""

    def _moved(self, _: Any) -> None:
        try:
            self.view.value = self.drawn()
            self.problem.value = ""
        except Exception as error:
            self.problem.value = error_html(error)


class OrderExplorer(_Explorer):
    """Where each rank stands in the prompt, for a number of documents and an order.

    Children by name: ``documents``, ``order``, ``view``, ``problem``. ``ranks()`` gives the ranks from the top of the
    prompt to its end.
    """

    def __init__(self, documents: int = 10, order: str = "reordered (1 3 5 … 4 2)") -> None:
        self.documents = _slider("Documents", documents, 1, 20, "How many documents were retrieved")
        self.order = _choice("Order", list(ORDERS), order, "How the documents are arranged in the prompt")
        super().__init__(self.documents, self.order)

    def ranks(self) -> list[int]:
        """Return the ranks in the order of the prompt; 1 is the best document."""
        return ORDERS[self.order.value](list(range(1, self.documents.value + 1)))

    def drawn(self) -> str:
        """Return a column for each place of the prompt, the higher the better its document."""
        ranks = self.ranks()
        n = len(ranks)
        columns = "".join(
            f'<div data-place="{place}" data-rank="{rank}" style="flex:1 1 0;max-width:4em;text-align:center">'
            f'<div style="height:8em;display:flex;align-items:flex-end"><div style="width:100%;background:#0072B2;'
            f'height:{100 * (n + 1 - rank) / n:.0f}%"></div></div><b>{rank}</b><br>'
            f'<span style="opacity:.7">{place}</span></div>'
            for place, rank in enumerate(ranks, start=1)
        )
        listed = ", ".join(map(str, ranks))
        worst = ranks.index(n) + 1
        return (
            f'<div role="img" aria-label="Ranks from the top of the prompt to its end: {listed}" style="display:flex;'
            f'gap:3px;max-width:60em">{columns}</div><div>Above: the rank, 1 is the best document. Below: its place, '
            f"from the top of the prompt. The best stands at place {ranks.index(1) + 1} of {n}, the worst at {worst}."
            "</div>"
        )


class HistoryExplorer(_Explorer):
    """What each compressor keeps of the coding assistant's conversation within a budget of tokens.

    ``counter`` counts, by default the tokenizer of the course's model. No model writes the summary here: sentences of
    the old messages stand in for it. Children by name: ``budget``, ``view``, ``problem``. ``results()`` gives what each
    compressor made of the conversation, or the error that says why it cannot.
    """

    def __init__(self, counter: Counter | None = None, budget: int = 1_200) -> None:
        self.counter = counter or load_tokenizer()
        messages, _ = load_sample("coding_session")
        self.messages = normalise(messages)
        windows = [SlidingWindow(last).compress(messages, self.counter) for last in range(len(messages), 0, -1)]
        stubs = [Elision(turns).compress(messages, self.counter) for turns in range(4, 0, -1)]
        self._ready = {"sliding window": windows, "old results elided": stubs}
        top = -(-windows[0].tokens_before // 100) * 100
        self.budget = _slider("History budget", min(budget, top), 100, top, "Tokens the conversation may have", step=50)
        super().__init__(self.budget)

    def results(self) -> dict[str, Compressed | HistoryError]:
        """Return what the compressors make of the conversation, by name; the largest that fits of those in messages."""
        budget = self.budget.value
        summary = max(1, budget // 5)
        found: dict[str, Compressed | HistoryError] = {}
        made: dict[str, Callable[[], Compressor]] = {
            "truncation": lambda: Truncation(budget),
            "rolling summary": lambda: RollingSummary(self._stand_in, threshold=budget, summary_tokens=summary),
        }
        for name, make in made.items():
            try:
                found[name] = make().compress(self.messages, self.counter)
            except HistoryError as error:
                found[name] = error
        for name, ready in self._ready.items():
            least = min(result.tokens_after for result in ready)
            too_large = HistoryError(f"keeps {least:,} tokens at least, more than the budget of {budget:,}")
            found[name] = next((result for result in ready if result.tokens_after <= budget), too_large)
        return found

    def drawn(self) -> str:
        """Return a row for each compressor, with a mark for each message."""
        rows = "".join(self._row(name, made) for name, made in self.results().items())
        legend = " &nbsp; ".join(f"{_mark(state)} {state}" for state in STATES)
        return (
            f'<table class="ctx-history" style="line-height:1.7"><tr><th style="text-align:left">compressor</th>'
            f'<th style="text-align:left">the {len(self.messages)} messages, oldest first</th>'
            f"<th>tokens</th></tr>{rows}</table><div>{legend}</div>"
            "<div>Where a summary is written, sentences of the old messages stand in for what a model would write."
            "</div>"
        )

    def _row(self, name: str, made: Compressed | HistoryError) -> str:
        if isinstance(made, HistoryError):
            cells = f'<td colspan="2" style="text-align:left">cannot: {html.escape(str(made))}</td>'
        else:
            states = message_states(self.messages, made.messages)
            titles = [f"{m['role']}: {state}" for m, state in zip(self.messages, states, strict=True)]
            marks = "".join(map(_mark, states, titles))
            listed = ", ".join(f"{states.count(state)} {state}" for state in STATES if state in states)
            cells = (
                f'<td style="text-align:left"><span role="img" aria-label="{listed}">{marks}</span></td>'
                f"<td>{made.tokens_after:,} of {made.tokens_before:,}</td>"
            )
        return f'<tr data-compressor="{name}"><td style="text-align:left">{name}</td>{cells}</tr>'

    def _stand_in(self, prompt: list[Message]) -> str:
        told, asked = str(prompt[-1]["content"]).rsplit("</text>", 1)
        words = int(asked.rsplit(" ", 2)[1])  # "… in at most 30 words."
        return key_sentences(told.replace("<text>", ""), words, self.counter)


class ToolBudgetExplorer(_Explorer):
    """Which of fifty tools a budget of rendered tokens affords for a query, with what each costs.

    ``counter`` counts, by default the tokenizer of the course's model. Children by name: ``query``, ``budget``,
    ``tools`` (the size of the catalogue), ``prose``, ``scored`` (whether tools that score 0 are left out), ``view``,
    ``problem``. ``selection()`` gives the account.
    """

    def __init__(self, counter: Counter | None = None, query: str = QUERY, budget: int = 600) -> None:
        self._costs = ToolCosts(counter or load_tokenizer())
        self._sets: dict[tuple[int, str], Toolset] = {(size, "full"): catalogue(size) for size in SIZES}
        self._sets |= {(size, "trimmed"): tools.trimmed() for (size, _), tools in self._sets.items()}
        self._totals = {key: self._costs.total(tools.tools) for key, tools in self._sets.items()}
        asked = "What the user asks; a tool's words are held against these"
        self.query = W.Text(value=query, description="Query", tooltip=asked, continuous_update=False, **WIDE)
        top = -(-max(self._totals.values()) // 100) * 100
        self.budget = _slider("Tool budget", budget, 0, top, "Rendered tokens that tools may take", step=20)
        self.tools = _choice("Catalogue", [(f"{size} tools", size) for size in SIZES], SIZES[-1], "How many tools")
        self.prose = _choice("Prose", ["full", "trimmed"], "full", "Descriptions in full, or cut to one sentence")
        without = {"description": "Leave out tools that share no word with the query", "indent": False}
        self.scored = W.Checkbox(value=False, tooltip="Otherwise they fill the room that is left", **without)
        super().__init__(self.query, self.budget, self.tools, self.prose, self.scored)

    def selection(self) -> ToolSelection:
        """Return which tools the budget affords, and why the others are left out."""
        tools = self._sets[self.tools.value, self.prose.value]
        scores = tools.scores(self.query.value)
        threshold = 1e-9 if self.scored.value else None
        return tools.fit(scores, self.budget.value, self._costs, threshold=threshold)

    def drawn(self) -> str:
        """Return a bar of the budget, and a table of the tools that are in and of the best that are out."""
        chosen = self.selection()
        whole = self._totals[self.tools.value, self.prose.value]
        spared = 1 - chosen.tokens / whole
        rows = "".join(_tool_row(choice, True) for choice in chosen.chosen)
        rows += f"<tr><td></td><td>preamble</td><td></td>{_figure(f'{chosen.preamble:,}')}<td></td></tr>"
        rows += "".join(_tool_row(choice, False) for choice in chosen.left_out[:5])
        more = len(chosen.left_out) - 5
        left = f"<div>… and {more} more left out</div>" if more > 0 else ""
        return (
            f"<div><b>{len(chosen.tools)} of {self.tools.value} tools, {chosen.tokens:,} of {chosen.budget:,} "
            f"tokens</b>; the whole catalogue takes {whole:,}, so that {spared:.0%} are spared.</div>"
            f"{_budget_bar(chosen)}"
            f'<table class="ctx-tools" style="line-height:1.6"><tr>{_TOOL_HEAD}</tr>{rows}</table>{left}'
        )


_TOOL_HEAD = "<th></th><th style='text-align:left'>tool</th><th>score</th><th>tokens</th><th>why</th>"


def message_states(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what became of each message of a conversation that a compressor has been over, one of `STATES` each.

    The opening system message stays, and the rest is compared from the end, as compressors keep the newest.

    >>> message_states([{"role": "user", "content": text} for text in "abc"], [{"role": "user", "content": "c"}])
    ['left out', 'left out', 'kept']
    """
    opening = 1 if before and before[0]["role"] == "system" else 0
    told = any(_is_summary(message) for message in after)
    new = [message for message in after[opening:] if not _is_summary(message)]
    last = len(before) - len(new)
    states = ["kept" if a == b else "shortened" for a, b in zip(before[last:], new, strict=True)]
    return ["kept"] * opening + ["retold" if told else "left out"] * (last - opening) + states


def _is_summary(message: Mapping[str, Any]) -> bool:
    return message["role"] == "user" and str(message["content"]).startswith(HEADING)


def _slider(description: str, value: int, low: int, top: int, tooltip: str, step: int = 1) -> W.IntSlider:
    return W.IntSlider(
        value=value,
        min=low,
        max=max(top, value),
        step=step,
        readout_format=",d",
        description=description,
        tooltip=f"{tooltip}, {low:,} to {max(top, value):,}",
        **WIDE,
    )


def _choice(description: str, options: Sequence[Any], value: Any, tooltip: str) -> W.Dropdown:
    return W.Dropdown(options=options, value=value, description=description, tooltip=tooltip, **WIDE)


def _mark(state: str, title: str = "") -> str:
    colour, sign = STATES[state]
    return (
        f'<span data-state="{state}" title="{html.escape(title or state, quote=True)}" style="display:inline-block;'
        f'width:1.35em;text-align:center;margin-right:2px;color:#FFFFFF;background:{colour}">{sign}</span>'
    )


def _figure(text: str) -> str:
    return f'<td style="text-align:right;padding:0 10px">{text}</td>'


def _tool_row(choice: ToolChoice, chosen: bool) -> str:
    sign, faint = ("✓", "") if chosen else ("–", "opacity:.7")
    return (
        f'<tr data-tool="{html.escape(choice.name, quote=True)}" data-chosen="{str(chosen).lower()}" style="{faint}">'
        f"<td>{sign}</td><td style='text-align:left'>{html.escape(choice.name)}</td>{_figure(f'{choice.score:.2f}')}"
        f"{_figure(f'{choice.tokens:,}')}<td style='text-align:left'>{html.escape(choice.why)}</td></tr>"
    )


def _budget_bar(chosen: ToolSelection) -> str:
    share = 100 * chosen.tokens / chosen.budget if chosen.budget else 0
    return (
        f'<div role="img" aria-label="{chosen.tokens:,} of {chosen.budget:,} tokens of the budget are spent" '
        'style="height:1.1em;max-width:44em;margin:5px 0;border:1px solid rgba(127,127,127,.6)">'
        f'<div style="height:100%;width:{share:.1f}%;background:{PART_STYLES["tools"][0]}"></div></div>'
    )
