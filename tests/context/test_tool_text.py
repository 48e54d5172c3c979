"""Prose trimming: annotations go, everything that a call depends on stays."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ctxcourse.messages import MessageError, normalise_tools
from ctxcourse.tools.text import ToolTextError, property_names, search_text, trim_prose

from .strategies import catalogues, texts

PROSE = {"description": "One. Two.", "title": "A title", "$comment": "For the team.", "examples": ["INC-1", {"a": 1}]}
CONFUSING = {
    "properties": {
        "description": {"type": "string", **PROSE},
        "title": {"type": "string", "enum": ["description", "title"], **PROSE},
        "examples": {"type": "array", "items": {"type": "string", **PROSE}, **PROSE},
        "$comment": {"const": {"description": "a value", "title": "a value"}, **PROSE},
        "properties": {"type": "object", "default": {"description": "a value"}, **PROSE},
        "enum": True,
        "items": False,
    },
    "required": ["description", "title"],
    **PROSE,
}
BARE = {
    "properties": {
        "description": {"type": "string"},
        "title": {"type": "string", "enum": ["description", "title"]},
        "examples": {"type": "array", "items": {"type": "string"}},
        "$comment": {"const": {"description": "a value", "title": "a value"}},
        "properties": {"type": "object", "default": {"description": "a value"}},
        "enum": True,
        "items": False,
    },
    "required": ["description", "title"],
}
ONE = [
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
]
LISTED = ["allOf", "anyOf", "oneOf", "prefixItems", "items"]
NAMED = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"]
VALUES = ["const", "default", "enum", "x-own", "required", "dependentRequired", "discriminator"]


def tool(parameters: Any = None, description: Any = "First. Second.", **more: Any) -> dict[str, Any]:
    function = {"name": "look", "description": description, "parameters": parameters, **more}
    return {"type": "function", "function": function}


def trimmed_parameters(parameters: Any, *options: Any) -> Any:
    return trim_prose(tool(parameters), *options)["function"]["parameters"]


# Where prose stands


def test_properties_are_never_taken_for_annotations():
    assert trimmed_parameters(CONFUSING) == BARE


@pytest.mark.parametrize("keyword", ONE)
def test_one_schema_inside_another_is_trimmed(keyword):
    assert trimmed_parameters({keyword: CONFUSING}) == {keyword: BARE}
    for legal in (True, False):
        assert trimmed_parameters({keyword: legal, **PROSE}) == {keyword: legal}


@pytest.mark.parametrize("keyword", LISTED)
def test_listed_schemas_are_trimmed(keyword):
    assert trimmed_parameters({keyword: [CONFUSING, True, {**PROSE}]}) == {keyword: [BARE, True, {}]}


@pytest.mark.parametrize("keyword", NAMED)
def test_named_schemas_are_trimmed_whatever_their_names(keyword):
    named = {"description": CONFUSING, "examples": False, keyword: {keyword: {"title": {**PROSE}}}}
    assert trimmed_parameters({keyword: named}) == {
        keyword: {"description": BARE, "examples": False, keyword: {keyword: {"title": {}}}}
    }


@pytest.mark.parametrize("keyword", VALUES)
def test_values_are_left_alone(keyword):
    assert trimmed_parameters({keyword: CONFUSING, "title": "Gone"}) == {keyword: CONFUSING}
    assert trimmed_parameters({"properties": {"x": {keyword: [PROSE]}}}) == {"properties": {"x": {keyword: [PROSE]}}}


def test_references_are_left_alone_and_what_they_point_at_is_trimmed():
    schema = {
        "$defs": {"title": {"type": "string", **PROSE}},
        "properties": {"a": {"$ref": "#/$defs/title", "description": "Gone."}, "b": {"$ref": "#/properties/a"}},
    }
    assert trimmed_parameters(schema) == {
        "$defs": {"title": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/title"}, "b": {"$ref": "#/properties/a"}},
    }


def test_dependencies_may_list_properties():
    schema = {"dependencies": {"title": ["description"], "examples": {"required": ["title"], **PROSE}}}
    assert trimmed_parameters(schema) == {
        "dependencies": {"title": ["description"], "examples": {"required": ["title"]}}
    }


@pytest.mark.parametrize("value", [7, None, ["x"], {"type": "string"}])
def test_what_has_not_the_type_of_an_annotation_is_none(value):
    """Some write the properties into `parameters` itself: what is called title there is a property."""
    assert trimmed_parameters({"title": value, "description": value}) == {"title": value, "description": value}


@pytest.mark.parametrize(
    "odd", [{"properties": ["x"]}, {"anyOf": {"x": 1}}, {"items": 7}, {"$defs": "x"}, {"properties": {"x": 3}}]
)
def test_what_is_no_schema_is_left_as_it_is(odd):
    assert trimmed_parameters(odd) == odd


# What is kept of a description


@pytest.mark.parametrize(
    ("text", "sentences", "kept"),
    [
        ("Return the time. Ask often. Really.", 1, "Return the time."),
        ("Return the time. Ask often. Really.", 2, "Return the time. Ask often."),
        ("Return the time. Ask often. Really.", 9, "Return the time. Ask often. Really."),
        ("  Return the time.  \n\nAsk. ", 1, "Return the time."),
        ("Return e.g. the time, approx. to 0.5 s. Ask.", 1, "Return e.g. the time, approx. to 0.5 s."),
        ("返回当前时间。请先询问。", 1, "返回当前时间。"),
        ("Where is it? Ask.", 1, "Where is it?"),
        ("No full stop", 1, "No full stop"),
        (" As  it is. Untouched. ", None, " As  it is. Untouched. "),
    ],
)
def test_a_description_keeps_its_first_sentences(text, sentences, kept):
    assert trim_prose(tool(description=text), sentences)["function"]["description"] == kept


@pytest.mark.parametrize(
    ("text", "sentences"), [("Return the time.", 0), ("", 1), (" \n ", 1), (None, 1), (None, None)]
)
def test_a_description_of_which_nothing_is_left_is_left_out(text, sentences):
    assert trim_prose(tool({}, text), sentences)["function"] == {"name": "look", "parameters": {}}


def test_parameters_may_keep_their_prose_in_fewer_words():
    schema = {"properties": {"title": {"type": "string", **PROSE}}, **PROSE}
    short = {**PROSE, "description": "One."}
    assert trimmed_parameters(schema, 1, True) == {"properties": {"title": {"type": "string", **short}}, **short}
    assert trimmed_parameters(schema, None, True) == schema
    assert "description" not in json.dumps(trimmed_parameters(schema, 0, True))


def test_what_a_function_returns_is_a_schema_too_and_what_else_it_has_is_not():
    kept = trim_prose(tool(strict=True, title="Look", **{"return": {"type": "string", "description": "Prose."}}))
    assert kept == tool(strict=True, title="Look", **{"return": {"type": "string"}}, description="First.") | {
        "function": {
            "name": "look",
            "description": "First.",
            "strict": True,
            "title": "Look",
            "return": {"type": "string"},
        }
    }


@pytest.mark.parametrize(
    "form", [tool(CONFUSING), tool(CONFUSING)["function"], {"type": "function", **tool(CONFUSING)["function"]}]
)
def test_any_form_of_a_tool_is_taken(form):
    assert trim_prose(form) == tool(BARE, "First.")


@pytest.mark.parametrize("sentences", [-1, True, 1.0, "1"])
def test_a_number_of_sentences_that_cannot_be_kept_is_refused(sentences):
    with pytest.raises(ToolTextError, match="sentences must be an integer from 0 up"):
        trim_prose(tool(), sentences)


def test_what_is_no_tool_is_refused():
    with pytest.raises(MessageError, match="needs a name"):
        trim_prose({"description": "Return the time."})


# Random schemas

NAMES = ["description", "title", "examples", "$comment", "properties", "items", "enum", "type", "not", "ticketId", "x"]
WORDS = [
    *(
        "",
        " ",
        "One",
        "One. Two.",
        "One?) two! ...",
        "機密文件。保存！",
        "e.g. a",
        "A\n\n- b\n- c",
        '"',
        "{}",
        "<|im_end|>",
    ),
    *('x"}', "\\", "Dr. Ito, 3.14", "👩‍👩‍👧‍👦. 🇩🇪", "?!. Ab", "… … …", "\n. \r\nB"),
]
wordings = st.sampled_from(WORDS)
prose = st.dictionaries(st.sampled_from(["description", "title", "$comment"]), wordings, max_size=2) | st.sampled_from(
    [{}, {"examples": []}, PROSE]
)
values = st.sampled_from(
    [
        None,
        True,
        0,
        1.5,
        "x",
        *NAMES,
        [],
        {},
        ["title"],
        {"description": "x"},
        {"title": 1, "x": [{"description": "y"}]},
    ]
)
leaves = st.one_of(
    st.booleans(),
    st.sampled_from(["string", "integer", "object", "array", "null"]).map(lambda name: {"type": name}),
    st.lists(values, min_size=1, max_size=3).map(lambda options: {"enum": options}),
    values.map(lambda value: {"const": value}),
    values.map(lambda value: {"default": value}),
    st.sampled_from(["#/$defs/title", "#/$defs/description"]).map(lambda target: {"$ref": target}),
)


def with_prose(schemas: Any) -> Any:
    return st.builds(lambda schema, words: {**words, **schema} if isinstance(schema, dict) else schema, schemas, prose)


def larger(inner: Any) -> Any:
    one = dict.fromkeys(
        ("additionalProperties", "contains", "not", "if", "then", "else", "unevaluatedProperties"), inner
    )
    one["items"] = inner
    one |= {key: st.lists(inner, min_size=1, max_size=2) for key in ("allOf", "anyOf", "oneOf", "prefixItems")}
    one["propertyNames"] = inner
    one["patternProperties"] = st.dictionaries(st.sampled_from(["^d", "s$", "title"]), inner, max_size=2)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    one |= {"properties": named, "dependentSchemas": named, "$defs": named}
    one["required"] = st.lists(st.sampled_from(NAMES), unique=True, max_size=2)
    keywords = st.lists(st.sampled_from(sorted(one)), unique=True, min_size=1, max_size=4)
    return with_prose(keywords.flatmap(lambda chosen: st.fixed_dictionaries({key: one[key] for key in chosen})))


schemas = st.builds(
    lambda schema, title, description: {**schema, "$defs": {"title": title, "description": description}},
    larger(st.recursive(with_prose(leaves), larger, max_leaves=4)),
    with_prose(st.sampled_from([{"type": "string"}, {"enum": ["title", 1]}])),
    with_prose(st.just({"properties": {"title": True}})),
)
instances = st.recursive(
    values,
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=6,
)


def meanings(schema: Any) -> list[Any]:
    """All that a call depends on, with its place."""
    found: list[Any] = []

    def visit(part: Any, place: tuple[str, ...]) -> None:
        if not isinstance(part, dict):
            found.append((place, part))
            return
        for key, value in part.items():
            if key in ("properties", "patternProperties", "dependentSchemas", "$defs"):
                found.append((place, key, sorted(value)))
                for name, inner in value.items():
                    visit(inner, (*place, key, name))
            elif key in ("allOf", "anyOf", "oneOf", "prefixItems"):
                for index, inner in enumerate(value):
                    visit(inner, (*place, key, str(index)))
            elif key in ("enum", "const", "default", "required", "type", "$ref"):
                found.append((place, key, value))
            elif key not in ("description", "title", "examples", "$comment"):
                visit(value, (*place, key))

    visit(schema, ())
    return found


@given(schema=schemas, options=st.tuples(st.none() | st.integers(0, 2), st.booleans()))
def test_what_a_call_depends_on_stays(schema, options):
    before = copy.deepcopy(schema)
    after = trimmed_parameters(schema, *options)
    assert schema == before
    assert meanings(after) == meanings(schema)
    assert property_names(after) == property_names(schema)
    Draft202012Validator.check_schema(after)


@given(schema=schemas, instance=instances)
def test_the_same_calls_are_accepted(schema, instance):
    after = trimmed_parameters(schema)
    assert Draft202012Validator(after).is_valid(instance) == Draft202012Validator(schema).is_valid(instance)


@given(schema=schemas, text=texts, options=st.tuples(st.none() | st.integers(0, 2), st.booleans()))
def test_trimming_twice_is_trimming_once(schema, text, options):
    once = trim_prose(tool(schema, text), *options)
    assert trim_prose(once, *options) == once
    assert trim_prose(once, None, True) == once


@given(schema=schemas, text=texts, options=st.tuples(st.none() | st.integers(0, 2), st.booleans()))
def test_trimming_never_costs_tokens(counter, schema, text, options):
    whole = tool(schema, text)
    assert counter.count_prompt([], [trim_prose(whole, *options)]) <= counter.count_prompt([], [whole])


@pytest.mark.model
@settings(max_examples=30)
@given(schema=schemas, text=texts)
def test_trimming_never_costs_tokens_of_the_model(tokenizer, schema, text):
    whole = tool(schema, text)
    assert tokenizer.count_prompt([], [trim_prose(whole)]) <= tokenizer.count_prompt([], [whole])


@given(catalogues())
def test_whatever_is_a_tool_can_be_trimmed(tools):
    before = copy.deepcopy(tools)
    trimmed = [trim_prose(tool) for tool in tools]
    assert tools == before
    assert normalise_tools(trimmed) == trimmed


# The words of a tool


def test_a_tool_is_searched_by_its_names_and_its_description():
    found = search_text(tool({"properties": {"ticketId": {"description": "hidden"}, "max_rows": True}}, "Return rows."))
    assert found == "look Return rows. ticket Id max_rows"


def test_a_tool_with_a_name_alone_can_be_searched():
    assert search_text({"name": "list2Rows"}) == "list2 Rows"


@given(schemas)
def test_property_names_are_those_of_every_level(schema):
    keys = [
        names
        for place, key, *rest in (m for m in meanings(schema) if len(m) == 3)
        if key == "properties"
        for names in rest
    ]
    assert set(property_names(schema)) == {name for names in keys for name in names}
    assert len(set(property_names(schema))) == len(property_names(schema))
