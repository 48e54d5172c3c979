"""Toolsets: what is legal, what is refused, and selections that keep to a budget of rendered tokens."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.messages import MessageError
from ctxcourse.retrieval.ordering import DocumentsError, best_first
from ctxcourse.retrieval.relevance import bm25_scores, word_overlap
from ctxcourse.tokens import catalogue_cost
from ctxcourse.tools.search import near_names
from ctxcourse.tools.text import search_text
from ctxcourse.tools.toolset import ToolCosts, Toolset, ToolsetError

from .strategies import catalogues, conversations

NAMES = ["search_logs", "search_tickets", "get_time", "read_runbook"]


def tool(name: str, description: str = "", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": {"type": "object", "properties": parameters}}


TOOLS = [
    tool("search_logs", "Search the log lines of one service. Begin with a short period.", query={"type": "string"}),
    tool("search_tickets", "Search the tickets. " * 10, query={"type": "string"}, status={"enum": ["open", "closed"]}),
    tool("get_time", "Return the time."),
    tool("read_runbook", "Return the steps to take for a symptom.", symptom={"type": "string"}),
]
CATEGORIES = {"search": ["search_tickets", "search_logs"], "time": ["get_time"], "logs": ["search_logs"], "none": []}


class Renders:
    """A counter that counts its own work."""

    def __init__(self, counter: Any) -> None:
        self.counter, self.number = counter, 0

    def count_prompt(self, messages: Any, tools: Any = None) -> int:
        self.number += 1
        return self.counter.count_prompt(messages, tools)


class Superadditive:
    """A template that writes more between tools the more there are; a tool costs its letters."""

    def count_prompt(self, messages: Any, tools: Any = None) -> int:
        number = len(tools or [])
        return 3 + sum(len(json.dumps(tool)) for tool in tools or []) + 5 * number * number


@pytest.fixture
def toolset() -> Toolset:
    return Toolset(TOOLS, CATEGORIES)


# What a toolset is


def test_it_holds_valid_tools_in_order(toolset):
    assert (
        toolset.names
        == NAMES
        == [t["function"]["name"] for t in toolset]
        == [t["function"]["name"] for t in toolset.tools]
    )
    assert (len(toolset), "get_time" in toolset, "get_date" in toolset, None in toolset) == (4, True, False, False)
    assert toolset.tool("get_time") == {"type": "function", "function": TOOLS[2]}
    assert repr(toolset) == "Toolset(search_logs, search_tickets, get_time, read_runbook; 4 tools)"


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(MessageError, match="tools 0 and 4 are both called 'search_logs'"):
        Toolset([*TOOLS, tool("search_logs")])


@pytest.mark.parametrize("none", [None, [], ()])
def test_no_tools_are_legal(counter, none):
    empty = Toolset(none, {"time": []}, [])
    assert (empty.tools, empty.names, len(empty)) == ([], [], 0)
    assert empty.select([]).tools == empty.by_category(["time"]).tools == empty.trimmed().tools == []
    assert empty.scores("What time is it?") == empty.scores("", "overlap") == {}
    chosen = empty.fit({}, 100, counter)
    assert (chosen.tools, chosen.chosen, chosen.left_out) == ([], (), ())
    assert (chosen.tokens, chosen.preamble, chosen.remaining) == (0, 0, 100)


def test_what_it_hands_out_is_a_copy(toolset):
    before = toolset.tools
    for handed_out in (toolset.tools, [toolset.tool("get_time")], list(toolset)):
        handed_out[0]["function"].clear()
    toolset.categories.clear()
    toolset.always_include.append("get_time")
    assert toolset.tools == before
    assert toolset.select([]).names == []
    assert len(toolset.categories) == 4


def test_what_it_was_made_from_can_change_without_it(counter):
    written = [tool("get_time", "Return the time.")]
    toolset = Toolset(written)
    written[0]["description"] = "Changed."
    assert toolset.tools[0]["function"]["description"] == "Return the time."
    toolset.fit([1.0], 1_000, counter).tools[0]["function"]["description"] = "Changed."
    assert toolset.fit([1.0], 1_000, counter).tools == toolset.tools


# Names and categories


def test_selected_tools_stand_in_the_order_of_the_catalogue(toolset):
    assert toolset.select(["read_runbook", "search_logs", "read_runbook"]).names == ["search_logs", "read_runbook"]
    assert toolset.select(name for name in NAMES).tools == toolset.tools
    assert toolset.select([]).tools == []


def test_categories_are_joined(toolset):
    assert toolset.by_category(["time", "logs"]).names == ["search_logs", "get_time"]
    assert toolset.by_category(["search", "logs"]).names == ["search_logs", "search_tickets"]
    assert toolset.by_category(["none"]).names == toolset.by_category([]).names == []


def test_a_part_knows_its_categories(toolset):
    part = toolset.select(["search_logs", "get_time"])
    assert part.categories == {"search": ("search_logs",), "time": ("get_time",), "logs": ("search_logs",), "none": ()}
    assert part.by_category(["search"]).names == ["search_logs"]


def test_what_is_always_included_is_in_every_selection(counter):
    toolset = Toolset(TOOLS, CATEGORIES, always_include=["get_time"])
    assert toolset.always_include == ["get_time"]
    assert toolset.select([]).names == toolset.by_category([]).names == ["get_time"]
    assert toolset.by_category(["search"]).select([]).names == toolset.trimmed().select([]).names == ["get_time"]
    chosen = toolset.fit([9, 8, math.nan, 7], 10_000, counter, always=["read_runbook"], threshold=8.5)
    assert chosen.names == ["read_runbook", "get_time", "search_logs"]
    assert [choice.why for choice in chosen.chosen] == ["always included", "always included", "rank 1"]


@pytest.mark.parametrize(
    "use",
    [
        lambda toolset: toolset.select(["get_time", "read_log"]),
        lambda toolset: toolset.tool("read_log"),
        lambda toolset: Toolset(TOOLS, {"logs": ["read_log"]}),
        lambda toolset: Toolset(TOOLS, always_include=["read_log"]),
        lambda toolset: toolset.fit({"read_log": 1.0}, 100, None),
        lambda toolset: toolset.fit([1, 1, 1, 1], 100, None, always=["read_log"]),
    ],
)
def test_an_unknown_name_is_refused_with_those_near_it(toolset, use):
    with pytest.raises(ToolsetError, match="no tool 'read_log'; near it: search_logs, read_runbook"):
        use(toolset)


def test_where_no_name_is_near_those_there_are_listed(toolset):
    with pytest.raises(
        ToolsetError, match="no tool 'xyzzy'; there are: search_logs, search_tickets, get_time, read_run"
    ):
        toolset.select(["xyzzy"])
    with pytest.raises(ToolsetError, match="there are: none"):
        Toolset([]).select(["xyzzy"])
    with pytest.raises(ToolsetError, match=r"there are: t0, .*, t9, …$"):
        Toolset([tool(f"t{i}") for i in range(99)]).select(["xyzzy"])


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("search_log", ["search_logs"]),
        ("searchLogs", ["search_logs"]),
        ("logs_search", ["search_logs", "search_tickets"]),
        ("gettime", ["get_time"]),
        ("GET_TIME", ["get_time"]),
        ("runbook", ["read_runbook"]),
        ("", []),
        ("___", []),
    ],
)
def test_near_names(name, near):
    assert near_names(name, NAMES)[: len(near)] == near
    assert len(near_names(name, NAMES)) <= 3


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda t: t.select("get_time"), r"the names must be a list, not one string: 'get_time'; write \['get_time'\]"),
        (lambda t: t.select(7), "the names must be a list, not int"),
        (lambda t: t.select([None]), "the name of a tool must be a string, not null"),
        (lambda t: t.by_category("logs"), "the categories must be a list"),
        (lambda t: t.by_category(["log"]), "no category 'log'; there are: search, time, logs, none"),
        (lambda t: Toolset(TOOLS).by_category(["log"]), "there are: none"),
        (lambda t: Toolset(TOOLS, ["logs"]), "the categories must be a dict of lists"),
        (lambda t: Toolset(TOOLS, {"time": "get_time"}), "the names in category 'time' must be a list"),
        (lambda t: Toolset(TOOLS, always_include="get_time"), "always_include must be a list"),
        (lambda t: t.scores("time", "tf-idf"), "the method must be one of bm25, overlap, not 'tf-idf'"),
    ],
)
def test_what_cannot_be_meant_is_refused(toolset, use, said):
    with pytest.raises(ToolsetError, match=said):
        use(toolset)


def test_trimmed_tools_are_the_same_tools(toolset):
    trimmed = toolset.trimmed()
    assert (trimmed.names, trimmed.categories) == (toolset.names, toolset.categories)
    assert trimmed.tool("search_logs")["function"]["description"] == "Search the log lines of one service."
    assert toolset.trimmed(None, True).tools == toolset.tools


# Scores


@pytest.mark.parametrize(
    "query",
    [
        "Search the tickets",
        "the time, the TIME",
        "symptom",
        "no such word: xyzzy",
        "",
        "What is it?",
        "天気",
        "天",
        "x",
    ],
)
def test_scores_are_those_of_the_words_of_each_tool(query):
    tools = [*TOOLS, tool("weather", "東京の天気を返す。"), tool("___"), tool("x")]
    toolset, found = Toolset(tools), [search_text(tool) for tool in tools]
    names = [tool["name"] for tool in tools]
    for _ in range(2):
        assert toolset.scores(query) == pytest.approx(dict(zip(names, bm25_scores(query, found), strict=True)))
    overlaps = {name: word_overlap(query, text) for name, text in zip(names, found, strict=True)}
    assert toolset.scores(query, "overlap") == overlaps


def test_tools_without_words_score_nothing():
    assert Toolset([tool("___"), tool("__")]).scores("time") == {"___": 0.0, "__": 0.0}


def test_names_of_parameters_and_camel_case_are_found():
    toolset = Toolset([tool("a"), tool("getTicket"), tool("b", ticketNumber={"type": "string"})])
    scores = toolset.scores("Which ticket?")
    assert scores["a"] == 0.0 < min(scores["getTicket"], scores["b"])


def test_a_query_must_be_text(toolset):
    with pytest.raises(DocumentsError, match="the query must be a string"):
        toolset.scores(None)


# Selections by score and budget

scores_of_tools = st.floats(-2, 2) | st.sampled_from([0.0, 1.0, math.nan, math.inf, -math.inf])


def step_by_step(
    tools: list[Any], scores: list[float], budget: int, must: set[str], counter: Any, messages: Any
) -> set[str]:
    """The rule, by rendering the whole prompt at every step."""
    nothing = counter.count_prompt(messages)
    kept = [tool for tool in tools if tool["function"]["name"] in must]
    for index in best_first(scores):
        if tools[index] not in kept and counter.count_prompt(messages, [*kept, tools[index]]) - nothing <= budget:
            kept.append(tools[index])
    return {tool["function"]["name"] for tool in kept}


@given(tools=catalogues(), budget=st.integers(0, 700), messages=conversations(), data=st.data())
def test_a_selection_keeps_the_rule_and_sums_to_the_render(counter, tools, budget, messages, data):
    toolset = Toolset(tools)
    scores = data.draw(st.lists(scores_of_tools, min_size=len(tools), max_size=len(tools)))
    must = set(data.draw(st.lists(st.sampled_from(toolset.names), max_size=1))) if tools else set()
    try:
        chosen = toolset.fit(scores, budget, counter, always=sorted(must), messages=messages)
    except ToolsetError:
        assert catalogue_cost(toolset.select(must).tools, counter, messages).total > budget
        return
    names = [choice.name for choice in chosen.chosen]
    assert set(names) == step_by_step(toolset.tools, scores, budget, must, counter, messages)
    assert chosen.tools == [tool for tool in toolset.tools if tool["function"]["name"] in names]
    assert sorted(names + [choice.name for choice in chosen.left_out]) == sorted(toolset.names)
    assert chosen.tokens == counter.count_prompt(messages, chosen.tools) - counter.count_prompt(messages) <= budget
    assert chosen.tokens == chosen.preamble + sum(choice.tokens for choice in chosen.chosen)
    cost = catalogue_cost(toolset.tools, counter, messages)
    assert chosen.preamble == (cost.preamble if names else 0)
    assert {c.name: c.tokens for c in (*chosen.chosen, *chosen.left_out)} == cost.per_tool


def test_a_tool_that_does_not_fit_is_passed_over_and_a_smaller_one_still_fits(toolset, counter):
    cost = catalogue_cost(TOOLS, counter)
    budget = cost.preamble + cost.per_tool["search_logs"] + cost.per_tool["get_time"] + 1
    chosen = toolset.fit({"search_logs": 3, "search_tickets": 2, "get_time": 1, "read_runbook": 0.5}, budget, counter)
    assert chosen.names == ["search_logs", "get_time"]
    assert (chosen.tokens, chosen.remaining) == (budget - 1, 1)
    assert [(c.name, c.score, c.tokens) for c in chosen.left_out] == [
        ("search_tickets", 2.0, cost.per_tool["search_tickets"]),
        ("read_runbook", 0.5, cost.per_tool["read_runbook"]),
    ]
    assert [c.why for c in chosen.left_out] == [
        f"does not fit: {cost.per_tool['get_time'] + 1} left",
        "does not fit: 1 left",
    ]


@pytest.mark.parametrize("short", [0, 1])
def test_the_preamble_is_paid_once_and_counts_against_the_budget(toolset, counter, short):
    cost = catalogue_cost(TOOLS, counter)
    chosen = toolset.fit({"get_time": 1.0}, cost.preamble + cost.per_tool["get_time"] - short, counter)
    assert chosen.names == ([] if short else ["get_time"])
    assert chosen.tokens == (0 if short else cost.preamble + cost.per_tool["get_time"])
    if short:
        assert chosen.left_out[0].why == f"does not fit: {cost.per_tool['get_time'] - 1} left beside the preamble"


def test_equal_scores_keep_the_order_and_no_score_is_the_last(toolset, counter):
    assert toolset.fit([0, 0, 0, 0], 10_000, counter).names == NAMES
    assert toolset.fit(toolset.scores("What is it?"), 10_000, counter).names == NAMES
    assert toolset.fit([math.nan, 1, 1, -math.inf], 10_000, counter).names == [*NAMES[1:], NAMES[0]]
    assert toolset.fit({"read_runbook": -1}, 10_000, counter).names == ["read_runbook", *NAMES[:3]]


def test_a_threshold_leaves_room_empty(toolset, counter):
    chosen = toolset.fit([0.5, 0.2, math.nan, 0.1], 10_000, counter, threshold=0.2)
    assert chosen.names == ["search_logs", "search_tickets"]
    assert [(c.name, c.why) for c in chosen.left_out] == [
        ("read_runbook", "scores below 0.2"),
        ("get_time", "no score"),
    ]
    assert toolset.fit([0.5, 0.2, math.nan, 0.1], 10_000, counter, threshold=9).tools == []


def test_what_must_be_included_and_does_not_fit_is_an_error_that_says_by_how_much(toolset, counter):
    total = catalogue_cost(TOOLS[:2], counter).total
    with pytest.raises(ToolsetError, match=rf"take {total} tokens, 30 more than the budget of {total - 30}:"):
        toolset.fit([1, 1, 1, 1], total - 30, counter, always=NAMES[:2])
    assert toolset.fit([1, 1, 1, 1], total, counter, always=NAMES[:2]).names == NAMES[:2]


@pytest.mark.parametrize("budget", [-1, True, 1.5, "100", None, math.inf])
def test_a_budget_is_a_number_of_tokens(toolset, counter, budget):
    with pytest.raises(ToolsetError, match="the budget must be an integer number of tokens from 0 up"):
        toolset.fit([1, 1, 1, 1], budget, counter)


@pytest.mark.parametrize("threshold", [math.nan, "0.1", [0.1]])
def test_a_threshold_is_a_number(toolset, counter, threshold):
    with pytest.raises(ToolsetError, match="the threshold must be a number"):
        toolset.fit([1, 1, 1, 1], 100, counter, threshold=threshold)


@pytest.mark.parametrize("scores", [[1, 2], "time", {"get_time": "high"}, None, {"get_time": None}])
def test_scores_are_numbers_one_for_each_tool(toolset, counter, scores):
    with pytest.raises(DocumentsError, match="score"):
        toolset.fit(scores, 100, counter)


@given(budget=st.integers(0, 700))
def test_the_budget_holds_where_tools_cost_more_together(budget):
    toolset, counter = Toolset(TOOLS), Superadditive()
    chosen = toolset.fit([4, 3, 2, 1], budget, counter)
    assert chosen.tokens == counter.count_prompt([], chosen.tools) - counter.count_prompt([]) <= budget
    assert chosen.tokens == chosen.preamble + sum(choice.tokens for choice in chosen.chosen)
    assert len(chosen.chosen) + len(chosen.left_out) == 4


def test_what_goes_again_after_the_render_says_so():
    toolset, counter = Toolset(TOOLS), Superadditive()
    total = counter.count_prompt([], toolset.tools) - counter.count_prompt([])
    chosen = toolset.fit([4, 3, 2, 1], total - 1, counter)
    assert chosen.names == NAMES[:3]
    assert chosen.left_out[0].why == f"does not fit: with the others it comes to {total:,}"


def test_the_report_shows_every_figure(toolset, counter):
    chosen = toolset.fit([4, 3, 2, 1], 10_000, counter, threshold=2.5)
    report = chosen.report(left_out=1)
    assert [line.split()[0] for line in report.splitlines() if line] == [
        *("chosen", "search_logs", "search_tickets", "preamble", f"{chosen.tokens:,}"),
        *("2", "get_time", "…"),
    ]
    for choice in chosen.chosen:
        assert f"{choice.score:.2f}" in report
        assert f" {choice.tokens:,} " in report
    assert "left out" not in toolset.fit([4, 3, 2, 1], 10_000, counter).report()


# Costs are measured once


def test_the_first_selection_renders_each_tool_and_the_next_only_what_it_chose(counter):
    renders = Renders(counter)
    toolset = Toolset(TOOLS, CATEGORIES)
    toolset.fit([4, 3, 2, 1], 400, renders)
    assert renders.number <= len(TOOLS) + 7
    for use in (
        lambda: toolset.fit([1, 2, 3, 4], 500, renders),
        lambda: toolset.by_category(["search"]).fit([1, 2], 500, renders),
        lambda: toolset.select(NAMES[:2]).select(NAMES[:1]).fit([1], 500, renders),
    ):
        before = renders.number
        assert use().tools
        assert renders.number == before + 1


def test_costs_can_be_kept_beyond_a_toolset(counter):
    renders = Renders(counter)
    costs = ToolCosts(renders)
    first = Toolset(TOOLS).fit([4, 3, 2, 1], 10_000, costs)
    before = renders.number
    changed = [*TOOLS[:3], tool("read_runbook", "Another schema.")]
    assert Toolset(TOOLS[::-1]).fit([1, 2, 3, 4], 10_000, costs).tokens == first.tokens
    assert renders.number == before + 1
    Toolset(changed).fit([4, 3, 2, 1], 10_000, costs)
    assert renders.number == before + 3


def test_costs_of_one_counter_are_not_those_of_another(counter):
    toolset = Toolset(TOOLS)
    ours, theirs = (toolset.fit([4, 3, 2, 1], 10_000, c).tokens for c in (counter, Superadditive()))
    assert ours != theirs
    assert toolset.fit([4, 3, 2, 1], 10_000, counter).tokens == ours


@given(tools=catalogues())
def test_costs_are_those_of_the_whole_catalogue(counter, tools):
    costs, toolset = ToolCosts(counter), Toolset(tools)
    cost = catalogue_cost(tools, counter)
    assert {tool["function"]["name"]: costs.of(tool) for tool in toolset.tools} == cost.per_tool
    assert costs.total(toolset.tools) == cost.total
    assert not tools or costs.preamble() == cost.preamble


def test_a_tool_may_be_called_as_the_probes_are(counter):
    odd = Toolset([{"name": "probe"}, {"name": "other"}])
    chosen = odd.fit([1, 2], 10_000, counter)
    assert chosen.tokens == counter.count_prompt([], odd.tools) - counter.count_prompt([])
    assert {c.name: c.tokens for c in chosen.chosen} == catalogue_cost(odd.tools, counter).per_tool


@pytest.mark.parametrize("system", ["Be brief.", "Be brief", "Be brief.\n", "", "簡潔に。"])
def test_the_system_message_changes_the_preamble_and_the_sum_stays_exact(toolset, counter, system):
    messages = [{"role": "system", "content": system}]
    cost = catalogue_cost(TOOLS, counter, messages)
    for budget in (cost.total - 1, cost.total):
        chosen = toolset.fit([4, 3, 2, 1], budget, counter, messages=messages)
        assert len(chosen.tools) == (4 if budget == cost.total else 3)
        assert chosen.tokens == counter.count_prompt(messages, chosen.tools) - counter.count_prompt(messages)
        assert chosen.preamble == cost.preamble


def test_messages_are_checked(toolset, counter):
    with pytest.raises(MessageError, match="needs a role"):
        toolset.fit([4, 3, 2, 1], 100, counter, messages=[{"content": "x"}])


@pytest.mark.model
@settings(max_examples=30)
@given(tools=catalogues(), messages=conversations(), budget=st.integers(0, 700))
def test_selections_sum_to_the_render_of_the_model(tokenizer, tools, messages, budget):
    chosen = Toolset(tools).fit([1.0] * len(tools), budget, tokenizer, messages=messages)
    assert chosen.tokens == tokenizer.count_prompt(messages, chosen.tools) - tokenizer.count_prompt(messages) <= budget
    assert chosen.tokens == chosen.preamble + sum(choice.tokens for choice in chosen.chosen)
    assert chosen.preamble in ((77, 78) if chosen.tools else (0,))
