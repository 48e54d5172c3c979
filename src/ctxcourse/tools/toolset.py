"""A catalogue of tools, and the part of it that a query needs and a prompt can afford.

Scores say how well a tool's words answer a query's words; whether the model then calls the right tool is another
question, which only the model answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

from ctxcourse.plain import copy_json, kind, shown
from ctxcourse.retrieval.ordering import checked_scores
from ctxcourse.tokens import Counter
from ctxcourse.tools.costs import ToolCosts
from ctxcourse.tools.search import METHODS, ToolIndex, near_names
from ctxcourse.tools.selection import ToolChoice, ToolSelection, ToolsetError, fill
from ctxcourse.tools.text import trim_prose
from ctxcourse.toolschemas import Tool, normalise_tools

__all__ = ["ToolChoice", "ToolCosts", "ToolSelection", "Toolset", "ToolsetError"]


class Toolset:
    """Tools that are known to be valid, with their categories.

    ``tools`` are in any form that `ctxcourse.messages.normalise_tools` takes; none is a legal number of them.
    ``categories`` gives the names of the tools in each category; a tool may be in several, or in none. The tools that
    ``always_include`` names are part of whatever is selected. A toolset never changes: what selects or trims returns
    another one, which knows the costs that this one has measured.

    Raises MessageError for tools that are not valid, two of one name among them, and ToolsetError where ``categories``
    or ``always_include`` names a tool that is not there.

    >>> tools = Toolset([{"name": "search_logs"}, {"name": "get_time"}], {"logs": ["search_logs"]})
    >>> tools.by_category(["logs"]).names, tools.select([]).names
    (['search_logs'], [])
    >>> tools.select(["read_log"])
    Traceback (most recent call last):
        ...
    ctxcourse.tools.selection.ToolsetError: there is no tool 'read_log'; near it: search_logs
    """

    def __init__(
        self,
        tools: Any,
        categories: Mapping[str, Sequence[str]] | None = None,
        always_include: Sequence[str] = (),
    ) -> None:
        self._tools = normalise_tools(tools)
        self._places = {tool["function"]["name"]: index for index, tool in enumerate(self._tools)}
        if not isinstance(categories, Mapping | None):
            raise ToolsetError(
                f"the categories must be a dict of lists of names, not {kind(categories)}: {shown(categories)}"
            )
        self._categories = {
            category: tuple(self._names_of(self._indices(listed, f"the names in category {category!r}")))
            for category, listed in (categories or {}).items()
        }
        self._always = self._indices(always_include, "always_include")
        self._measured: list[ToolCosts] = []  # shared with the toolsets that are made from this one
        self._prices: dict[ToolCosts, list[int]] = {}
        self._index: ToolIndex | None = None

    @property
    def tools(self) -> list[Tool]:
        """The tools in OpenAI's chat form, in order, as fresh copies."""
        copies: list[Tool] = copy_json(self._tools, "tools")
        return copies

    @property
    def names(self) -> list[str]:
        """The names of the tools, in order."""
        return list(self._places)

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """The names of the tools in each category, in the order of the tools; a category may be empty."""
        return dict(self._categories)

    @property
    def always_include(self) -> list[str]:
        """The names of the tools that every selection holds, in the order of the tools."""
        return self._names_of(self._always)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __repr__(self) -> str:
        return f"Toolset({', '.join(self.names[:5])}{', …' if len(self) > 5 else ''}; {len(self):,} tools)"

    def tool(self, name: str) -> Tool:
        """Return a copy of the tool called ``name``; ToolsetError, which names those near it, if there is none."""
        copy: Tool = copy_json(self._tools[self._place(name)], name)
        return copy

    def select(self, names: Iterable[str]) -> Toolset:
        """Return the toolset of these tools, and of those always included, in the order of the catalogue.

        Raises ToolsetError for a name that no tool has; the text lists names near it.
        """
        return self._part(self._indices(names, "the names"))

    def by_category(self, categories: Iterable[str]) -> Toolset:
        """Return the toolset of the tools in these categories, and of those always included.

        `ctxcourse.retrieval.intent` finds the categories that a query names; where it finds none, only the tools always
        included are left. Raises ToolsetError for a category that the toolset does not know.
        """
        names: list[str] = []
        for category in _listed(categories, "the categories"):
            if category not in self._categories:
                there = ", ".join(self._categories) or "none"
                raise ToolsetError(f"there is no category {shown(category)}; there are: {there}")
            names += self._categories[category]
        return self.select(names)

    def trimmed(self, sentences: int | None = 1, parameters: bool = False) -> Toolset:
        """Return the toolset with less prose in every tool, see `ctxcourse.tools.text.trim_prose`."""
        return self._like([trim_prose(tool, sentences, parameters) for tool in self._tools])

    def scores(self, query: str, method: str = "bm25") -> dict[str, float]:
        """Return how well each tool's name, description and parameter names answer a query, by name, from 0 up.

        ``method`` is ``"bm25"`` (see `ctxcourse.retrieval.bm25_scores`) or ``"overlap"``, the fraction of the query's
        words that a tool has. All are 0 for a query without words to look for. The first call gathers the words.

        Raises ToolsetError for another method, DocumentsError for a query that is no string.

        >>> scores = Toolset([{"name": "search_logs"}, {"name": "getTime"}]).scores("What time is it?")
        >>> scores["getTime"] > scores["search_logs"] == 0.0
        True
        """
        if method not in METHODS:
            raise ToolsetError(f"the method must be one of {', '.join(METHODS)}, not {shown(method)}")
        if self._index is None:
            self._index = ToolIndex(self._tools)
        return dict(zip(self._places, self._index.scores(query, method), strict=True))

    def fit(
        self,
        scores: Mapping[str, float] | Sequence[float],
        budget: int,
        counter: Counter | ToolCosts,
        always: Sequence[str] = (),
        *,
        messages: Any = (),
        threshold: float | None = None,
    ) -> ToolSelection:
        """Return the tools with the highest scores that fit into ``budget`` rendered tokens, preamble included.

        The tools in ``always`` and in `always_include` are taken first, whatever their scores. The others follow from
        the highest score down, equal scores in the order of the catalogue and NaN last; one that does not fit is passed
        over, and a smaller one further down may still fit. Tools with a score below ``threshold`` are left out even
        where there is room. ``scores`` is by name, a tool that it does not name having none (NaN), or a list of one for
        each tool. A budget of 0 is legal and affords nothing.

        The sum is exact for a prompt that begins as ``messages`` do (default: with no system message). The system
        message is enough where the template writes the tools behind it, as that of the course's model does.

        Costs are measured at the first call with a counter, one render a tool; from then on a call takes one render, of
        what was chosen. Hand in a `ToolCosts` to keep the costs beyond this toolset and those made from it.

        Raises ToolsetError for a budget that is no integer from 0 up, names that no tool has, and tools always included
        that do not fit, by how much; DocumentsError for scores that are no numbers or not one for each tool;
        MessageError for messages that are not valid.

        >>> tools = Toolset([{"name": "search_logs"}, {"name": "get_time"}])
        >>> chosen = tools.fit(tools.scores("What time is it?"), 1_000, tok, threshold=0.01)
        >>> chosen.names, chosen.tokens == tok.count_prompt([], chosen.tools) - tok.count_prompt([])
        (['get_time'], True)
        """
        if isinstance(budget, bool) or not isinstance(budget, Integral) or budget < 0:
            raise ToolsetError(f"the budget must be an integer number of tokens from 0 up, not {shown(budget)}")
        if threshold is not None and (not isinstance(threshold, Real) or math.isnan(threshold)):
            raise ToolsetError(f"the threshold must be a number, or None for none, not {shown(threshold)}")
        must = {*self._always, *self._indices(always, "always")}
        numbers = self._numbers(scores)
        costs, prices = self._priced(counter)
        chosen = fill(
            self._tools,
            numbers,
            int(budget),
            costs,
            prices=prices,
            messages=messages,
            must=must,
            threshold=threshold,
        )
        return replace(chosen, tools=copy_json(chosen.tools, "tools"))

    def _like(self, tools: list[Tool]) -> Toolset:
        """Return a toolset of these tools, with what this one knows of them."""
        there = {tool["function"]["name"] for tool in tools}
        categories = {name: [tool for tool in listed if tool in there] for name, listed in self._categories.items()}
        made = Toolset(tools, categories, self.always_include)
        made._measured = self._measured
        return made

    def _part(self, indices: set[int]) -> Toolset:
        return self._like([self._tools[index] for index in sorted(indices | self._always)])

    def _indices(self, names: Any, what: str) -> set[int]:
        return {self._place(name) for name in _listed(names, what)}

    def _names_of(self, indices: set[int]) -> list[str]:
        return [self._tools[index]["function"]["name"] for index in sorted(indices)]

    def _place(self, name: Any) -> int:
        if not isinstance(name, str):
            raise ToolsetError(f"the name of a tool must be a string, not {kind(name)}: {shown(name)}")
        if name not in self._places:
            near = near_names(name, self.names)
            there = f"near it: {', '.join(near)}" if near else f"there are: {', '.join(self.names[:10]) or 'none'}"
            raise ToolsetError(f"there is no tool {shown(name)}; {there}{', …' if not near and len(self) > 10 else ''}")
        return self._places[name]

    def _numbers(self, scores: Any) -> list[float]:
        if isinstance(scores, Mapping):
            self._indices(scores, "scores")
            scores = [scores.get(name, math.nan) for name in self._places]
        return checked_scores(self._tools, scores)

    def _priced(self, counter: Counter | ToolCosts) -> tuple[ToolCosts, list[int]]:
        """Return what the tools cost, looked up once for each counter: a thousand look-ups take a while, too."""
        known = next((costs for costs in self._measured if counter is costs or counter is costs.counter), None)
        costs = known or (counter if isinstance(counter, ToolCosts) else ToolCosts(counter))
        if known is None:
            self._measured.append(costs)
        if costs not in self._prices:
            self._prices[costs] = [costs.of(tool) for tool in self._tools]
        return costs, self._prices[costs]


def _listed(names: Any, what: str) -> list[Any]:
    if isinstance(names, str | bytes):
        raise ToolsetError(f"{what} must be a list, not one string: {shown(names)}; write [{shown(names)}]")
    try:
        return list(names)
    except TypeError:
        raise ToolsetError(f"{what} must be a list, not {kind(names)}: {shown(names)}") from None
