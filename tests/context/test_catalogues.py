"""The operations catalogues: valid, complete, and at the published costs."""

from __future__ import annotations

import re

import pytest
from jsonschema import Draft202012Validator

from ctxcourse.errors import CourseError
from ctxcourse.history.sentences import split_sentences
from ctxcourse.messages import normalise_tools
from ctxcourse.retrieval.intent import intent
from ctxcourse.samples import load_sample
from ctxcourse.tokens import catalogue_cost
from ctxcourse.tools.catalogues import SIZES, catalogue, load_keywords, load_tools
from ctxcourse.tools.scaffolding import PUBLISHED, scaffolding_hypotheses
from ctxcourse.tools.text import property_names, trim_prose
from ctxcourse.tools.toolset import ToolsetError

ALL = catalogue(50)
TWELVE = [
    *("get_current_time", "search_logs", "search_tickets", "get_employee", "get_service_status", "file_ticket"),
    *("query_metrics", "get_deployments", "read_runbook", "page_on_call", "get_ticket", "list_services"),
]


def within(figure: float, published: float, share: float) -> bool:
    return abs(figure - published) <= share * published


# What is in them


def test_the_twelve_are_those_of_the_investigation_as_a_fresh_copy():
    tools = load_tools()
    assert [tool["function"]["name"] for tool in tools] == TWELVE
    assert normalise_tools(tools) == tools
    tools[0].clear()
    assert [tool["function"]["name"] for tool in load_tools()] == TWELVE


def test_a_larger_catalogue_begins_with_the_smaller_one():
    assert SIZES == (5, 10, 20, 50)
    for smaller, larger in zip((0, *SIZES), (*SIZES, 50), strict=True):
        assert len(catalogue(larger)) == larger
        assert catalogue(larger).tools[:smaller] == catalogue(smaller).tools
    assert catalogue().names == TWELVE == ALL.names[:12]


@pytest.mark.parametrize("n", [-1, 51, 5.0, True, "5", None])
def test_there_are_fifty_tools_at_most(n):
    with pytest.raises(ToolsetError, match="a catalogue has from 0 to 50 tools"):
        catalogue(n)


def test_every_tool_is_in_one_category_and_every_size_knows_all_categories():
    assert sorted(name for names in ALL.categories.values() for name in names) == sorted(ALL.names)
    for n in range(51):
        part = catalogue(n)
        assert list(part.categories) == list(ALL.categories)
        assert part.by_category(part.categories).names == ALL.names[:n]
    assert sum(map(bool, catalogue(5).categories.values())) == 5
    assert all(catalogue(20).categories.values())


@pytest.mark.parametrize("tool", ALL, ids=ALL.names)
def test_every_tool_is_a_valid_schema_with_words(tool):
    function = tool["function"]
    assert list(function) == ["name", "description", "parameters"]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", function["name"])
    assert function["description"].endswith(".")
    parameters = function["parameters"]
    Draft202012Validator.check_schema(parameters)
    assert set(parameters["required"]) <= set(parameters["properties"]) == set(property_names(parameters))
    for schema in parameters["properties"].values():
        assert schema["type"] in ("string", "integer", "number", "boolean")
        assert schema.get("description", ".").endswith(".")


def test_tools_name_only_tools_and_categories_that_there_are():
    named = set(re.findall(r"\b[a-z]+_[a-z_]+\b", str([tool["function"]["description"] for tool in ALL])))
    assert named <= set(ALL.names)
    assert set(load_keywords()) == set(ALL.categories)


def test_search_tickets_has_four_parameters_an_enum_and_a_guiding_sentence_each():
    properties = catalogue().tool("search_tickets")["function"]["parameters"]["properties"]
    assert len(properties) == 4
    assert sum("enum" in schema for schema in properties.values()) == 1
    assert all(len(split_sentences(schema["description"])) == 1 for schema in properties.values())
    (only,) = catalogue().tool("get_current_time")["function"]["parameters"]["properties"].values()
    assert only["type"] == "string"


def test_filing_a_ticket_asks_for_what_the_investigation_has_to_remember():
    """An employee number and a shard; and a *property* called description, which trimming has to keep."""
    whole = catalogue().tool("file_ticket")
    trimmed = trim_prose(whole)["function"]["parameters"]
    assert {"employee_number", "shard", "description", "title"} <= set(trimmed["properties"])
    assert trimmed["required"] == whole["function"]["parameters"]["required"]


@pytest.mark.parametrize(
    ("query", "categories"),
    [
        ("Find the time-outs in the logs of checkout-api.", ["logs"]),
        ("What TIME is it in Tokyo?", ["time"]),
        ("Roll back yesterday's deployment!", ["deployments"]),
        ("Is there a runbook for a slow shard?", ["metrics", "runbooks", "databases"]),
        ("Catalogue the latest sometimes-wrong dialogues", []),
        ("", []),
    ],
)
def test_keywords_lead_to_categories(query, categories):
    found = intent(query, load_keywords())
    assert sorted(found) == sorted(categories)
    assert set(catalogue(50).by_category(found).names) == {
        name for category in categories for name in ALL.categories[category]
    }


@pytest.mark.parametrize("name", ["operations_tools", "more_operations_tools"])
def test_the_files_are_samples_like_any_other(name):
    request = load_sample(name)
    assert request.messages == []
    assert {tool["function"]["name"] for tool in request.tools} <= set(ALL.names)


def test_files_that_hold_no_conversation_are_no_samples():
    with pytest.raises(CourseError, match=r"no sample conversation 'documents'\. There are: coding_session, "):
        load_sample("documents")


# What they cost with the course's tokenizer


@pytest.mark.model
def test_the_twelve_cost_what_the_published_twelve_do(tokenizer):
    cost = catalogue_cost(load_tools(), tokenizer)
    assert within(cost.total, 1_817, 0.05)
    assert min(cost.per_tool, key=cost.per_tool.__getitem__) == "get_current_time"
    assert max(cost.per_tool, key=cost.per_tool.__getitem__) == "search_tickets"
    assert within(cost.per_tool["get_current_time"], 80, 0.05)
    assert within(cost.per_tool["search_logs"], 237, 0.05)
    assert within(cost.per_tool["search_tickets"], 263, 0.05)


@pytest.mark.model
def test_trimming_saves_what_the_published_trimming_did(tokenizer):
    whole, trimmed = (catalogue_cost(tools, tokenizer).total for tools in (load_tools(), catalogue().trimmed().tools))
    assert within(trimmed, 1_291, 0.05)
    assert within(whole - trimmed, 526, 0.05)
    assert round(100 * (whole - trimmed) / whole) == 29


@pytest.mark.model
def test_three_tools_cost_what_the_published_three_do(tokenizer):
    three = catalogue().select(["search_logs", "query_metrics", "get_deployments"])
    assert within(catalogue_cost(three.tools, tokenizer).total, 605, 0.05)


@pytest.mark.model
def test_the_neighbours_are_of_similar_size(tokenizer):
    costs = list(catalogue_cost(ALL.tools, tokenizer).per_tool.values())
    twelve, others = costs[:12], costs[12:]
    assert min(twelve) <= min(others)
    assert max(others) <= max(twelve)
    assert within(sum(others) / len(others), sum(twelve) / len(twelve), 0.05)


# The published "fixed scaffolding" of 126 tokens


@pytest.mark.model
def test_no_way_of_counting_that_was_tried_gives_the_published_scaffolding(tokenizer):
    found = scaffolding_hypotheses(load_tools(), tokenizer)
    assert list(found.values()) == [77, 101, 106, 89, 76, 197, 92, 115, 157, 138]
    assert PUBLISHED not in found.values()


@pytest.mark.model
def test_all_but_the_last_two_ways_of_counting_say_the_same_of_any_twelve_tools(tokenizer):
    ours, others = (
        list(scaffolding_hypotheses(tools, tokenizer).values()) for tools in (load_tools(), ALL.tools[30:42])
    )
    assert ours[:-2] == others[:-2]
    assert ours[-2:] != others[-2:]


@pytest.mark.model
def test_a_straight_line_gives_anything_that_the_order_of_the_tools_wants(tokenizer):
    cost = catalogue_cost(load_tools(), tokenizer).per_tool
    cheapest_first = sorted(load_tools(), key=lambda tool: cost[tool["function"]["name"]])
    ends = [
        list(scaffolding_hypotheses(tools, tokenizer).values())[-1] for tools in (cheapest_first, cheapest_first[::-1])
    ]
    assert ends[0] < 77 < PUBLISHED < ends[1]


@pytest.mark.model
def test_the_whole_skeleton_spelled_as_text_comes_near_it(tokenizer):
    """All that the template writes around no tool, its role markers counted as the words they are made of."""
    prompt = tokenizer.render([], load_tools())
    skeleton = prompt[: prompt.index('{"type"')] + prompt[prompt.index("\n</tools>") :]
    assert tokenizer.count_text(skeleton) == 123


def test_hypotheses_need_no_tools(counter):
    found = scaffolding_hypotheses([], counter)
    assert found["the preamble, by difference"] == found["the tools less their JSON, counted tool by tool"] == 0
    assert len(found) == 8
