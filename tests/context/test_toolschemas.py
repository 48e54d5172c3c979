"""Tool catalogues at the border."""

import copy

import pytest
from hypothesis import given

from ctxcourse.messages import MessageError, normalise_tools

from .strategies import catalogues

PARAMETERS = {"type": "object", "properties": {"description": {"type": "string", "enum": ["a"]}}}


@given(catalogues())
def test_it_is_idempotent_and_leaves_its_input_alone(tools):
    before = copy.deepcopy(tools)
    once = normalise_tools(tools)
    assert tools == before
    assert normalise_tools(once) == once
    assert [t["function"]["name"] for t in once] == [t.get("function", t)["name"] for t in tools]


def test_no_tools_are_an_empty_catalogue():
    assert normalise_tools(None) == normalise_tools([]) == normalise_tools(()) == []


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "look", "parameters": PARAMETERS},
        {"type": "function", "name": "look", "parameters": PARAMETERS},
        {"type": "function", "function": {"name": "look", "parameters": PARAMETERS}},
        {"function": {"name": "look", "parameters": PARAMETERS, "description": None}},
    ],
)
def test_the_forms_that_people_write_are_one(tool):
    assert normalise_tools([tool]) == [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(MessageError, match="tools 0 and 2 are both called 'look'"):
        normalise_tools([{"name": "look"}, {"name": "see"}, {"name": "look"}])


@pytest.mark.parametrize("tools", ["look", {"name": "look"}, 7, iter([])])
def test_what_is_no_list_is_refused(tools):
    with pytest.raises(MessageError, match="tools must be a list"):
        normalise_tools(tools)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("look", "must be a dict"),
        (None, "must be a dict"),
        (len, "Python callable"),
        ({}, "needs a name"),
        ({"name": ""}, "needs a name"),
        ({"name": 7}, "needs a name"),
        ({"type": "function", "function": "look"}, "'function' must be a dict"),
        ({"type": "function", "function": {"description": "x"}}, "needs a name"),
        ({"type": "web_search", "name": "look"}, "has the type 'web_search'"),
        ({"name": "look", "description": 7}, r"\('look'\): the description must be a string"),
        ({"name": "look", "parameters": "{}"}, r"\('look'\): the parameters must be a JSON schema"),
        ({"name": "look", "input_schema": {}}, "rename it to 'parameters'"),
        ({"name": "look", "parameters": {"maximum": float("inf")}}, r"parameters.*JSON has no word"),
        ({"name": "look", "description": "\ud83d"}, "surrogate"),
    ],
)
def test_malformed_tools_are_refused_with_their_index(tool, said):
    with pytest.raises(MessageError, match="tool 1.*" + said):
        normalise_tools([{"name": "first"}, tool])
