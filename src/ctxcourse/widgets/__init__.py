"""The widgets of the lessons, all core ipywidgets: explore a needle, ask the model, see a prompt, move a budget."""

from __future__ import annotations

from ctxcourse.model.qwen import Model
from ctxcourse.needle.sweeps import RECORDS
from ctxcourse.tokens import Counter
from ctxcourse.widgets.ask import AskBox
from ctxcourse.widgets.budget import BudgetExplorer
from ctxcourse.widgets.length import LengthExplorer
from ctxcourse.widgets.needle import NeedleExplorer
from ctxcourse.widgets.playground import PolicyPlayground, policy_playground
from ctxcourse.widgets.position import PositionExplorer
from ctxcourse.widgets.prompt_html import prompt_view
from ctxcourse.widgets.rows import EveryRow
from ctxcourse.widgets.toolbox import QUERY, HistoryExplorer, OrderExplorer, ToolBudgetExplorer
from ctxcourse.widgets.turns import TurnExplorer, turn_explorer

__all__ = [
    "AskBox",
    "BudgetExplorer",
    "EveryRow",
    "HistoryExplorer",
    "LengthExplorer",
    "NeedleExplorer",
    "OrderExplorer",
    "PolicyPlayground",
    "PositionExplorer",
    "ToolBudgetExplorer",
    "TurnExplorer",
    "ask_box",
    "budget_explorer",
    "every_row",
    "history_explorer",
    "length_explorer",
    "needle_explorer",
    "order_explorer",
    "policy_playground",
    "position_explorer",
    "prompt_view",
    "tool_budget_explorer",
    "turn_explorer",
]


def needle_explorer(model: Model, length: int = RECORDS, depth: float = 0.625, seed: int = 1) -> NeedleExplorer:
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
