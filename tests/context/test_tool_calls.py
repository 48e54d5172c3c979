"""The calls in an answer: three forms, several calls, and whatever a small model gets wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.messages import MessageError
from ctxcourse.tools.calls import ToolCall, parse_tool_calls

CALL = '{"name": "get_ticket", "arguments": {"ticket": "INC-1", "limit": 3}}'
READ = ToolCall("get_ticket", {"ticket": "INC-1", "limit": 3})

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(ToolCall, words.filter(bool), st.dictionaries(words, values, max_size=4))


def written(call: ToolCall, indent: int | None = None) -> str:
    return json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False, indent=indent)


def tagged(text: str) -> str:
    return f"<tool_call>\n{text}\n</tool_call>"


# What is well formed


@given(st.lists(calls, min_size=1, max_size=3), st.sampled_from([None, 2]))
def test_every_form_gives_back_what_was_written(made: list[ToolCall], indent: int | None) -> None:
    texts = [written(call, indent) for call in made]
    assert parse_tool_calls("\n".join(map(tagged, texts))) == made
    for text in ("\n".join(texts), f"[{', '.join(texts)}]"):
        if "<tool_call>" not in text:
            assert parse_tool_calls(text) == made
            assert parse_tool_calls(f"Of course.\n\n```json\n{text}\n```\n\nI hope this helps.") == made
        assert parse_tool_calls(tagged(text)) == made


@pytest.mark.parametrize(
    "answer",
    [
        CALL,
        f"  \n{CALL}\n",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"```json\n{CALL}",
        tagged(CALL),
        f"<tool_call>{CALL}</tool_call>",
        f"<tool_call>\n{CALL}",
        tagged(f"```json\n{CALL}\n```"),
        f"I will look {{at}} the ticket.\n{tagged(CALL)}\nOne moment.",
        f"I will look {{at}} the ticket: {CALL}",
        f"<tools>\n{CALL}\n</tools>",
        tagged(CALL + "}"),
        CALL + "}",
        json.dumps({"name": "get_ticket", "arguments": json.dumps(READ.arguments)}),
        tagged(json.dumps({"id": "call_1", "name": "get_ticket", "arguments": READ.arguments})),
    ],
)
def test_one_call_however_it_is_wrapped(answer: str) -> None:
    assert parse_tool_calls(answer) == [READ]


def test_tags_inside_a_text_are_no_tags() -> None:
    call = ToolCall("search_wiki", {"query": "what are <tool_call> and </tool_call> and ```json\n{?"})
    assert parse_tool_calls(tagged(written(call))) == [call]


def test_with_tags_the_prose_around_them_holds_no_call() -> None:
    assert parse_tool_calls(f"{CALL}\n{tagged(written(ToolCall('list_shards')))}\n{CALL}") == [ToolCall("list_shards")]


def test_arguments_may_be_missing_in_tags_alone() -> None:
    assert parse_tool_calls(tagged('{"name": "list_shards"}')) == [ToolCall("list_shards")]
    assert parse_tool_calls('{"name": "list_shards"}') == []


@pytest.mark.parametrize(
    "answer",
    ["", "It is noon.", "Use {service} and {host}.", '{"time": "noon"}', "```python\nprint({})\n```", "[1, 2]", "}{"],
)
def test_an_answer_without_a_call_has_none(answer: str) -> None:
    assert parse_tool_calls(answer) == []


# What is not


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (tagged('{"name": "get_ticket", "arguments": {"ticket": INC}}'), "not valid JSON: Expecting value in line 1"),
        (tagged('{"name": "get_ticket",\n "arguments": {"ticket": INC}}'), "in line 2, column 26"),
        ('<tool_call>\n{"name": "get_ticket", "arguments": {"tick', "not valid JSON: Unterminated string"),
        ('{"name": "get_ticket", "arguments": {"ticket":', "not valid JSON"),
        ('```json\n{"name": "get_ticket", "arguments": {"ticket":\n```', "not valid JSON"),
        ('[{"name": "get_ticket" "arguments": {}}]', "Expecting ',' delimiter"),
        ("{'name': 'get_ticket', 'arguments': {}}", "Expecting property name"),
        (tagged("get_ticket(INC-1)"), "no JSON object in the tag"),
        (tagged(""), "no JSON object in the tag"),
        ("<tool_call>", "no JSON object in the tag"),
        (tagged('{"name": 4, "arguments": {}}'), "the name must be a text that is not empty, not 4"),
        (tagged('{"arguments": {}}'), "the name must be a text that is not empty, not None"),
        (tagged('{"name": "", "arguments": {}}'), "the name must be a text"),
        (tagged('{"name": "a", "arguments": {"n": NaN}}'), "nan, which JSON has no word for"),
        (tagged('{"name": "a", "arguments": {"n": 1, "n": 2}}'), "the key 'n' twice"),
        (tagged('{"name": "a", "arguments": {"n": "\\ud83d"}}'), "half of a surrogate pair"),
        (tagged('{"name": "a", "arguments": {"n": %s}}' % ("1" * 5_000)), "not valid JSON: .*digits"),
        (tagged('{"name": "a", "arguments": {"n": %s}}' % ("[" * 150 + "]" * 150)), "nested deeper"),
        (tagged('{"name": "a", "arguments": {"n": %s}}' % ("[" * 200_000)), "not valid JSON"),
    ],
)
def test_what_cannot_be_read_is_one_call_with_a_problem(answer: str, problem: str) -> None:
    [call] = parse_tool_calls(answer)
    assert (call.name, call.arguments) == ("", {})
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(call.problem)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([1], "must be an object, not list: [1]"),
        (None, "must be an object, not null"),
        ("INC-1", "a text that is not valid JSON"),
        ("[1]", "must be an object, not list"),
    ],
)
def test_arguments_that_are_no_object_keep_the_name(arguments: Any, problem: str) -> None:
    [call] = parse_tool_calls(json.dumps({"name": "get_ticket", "arguments": arguments}))
    assert (call.name, call.arguments) == ("get_ticket", {})
    assert problem in call.problem


def test_a_broken_call_does_not_hide_the_next_one() -> None:
    found = parse_tool_calls(tagged('{"name": "a", "arguments": {"x": {"name": 1}') + tagged(CALL))
    assert len(found) == 2
    assert "not valid JSON" in found[0].problem
    assert found[1] == READ


noise = st.lists(
    st.sampled_from(
        ["<tool_call>", "</tool_call>", "{", "}", "[", "]", "```", "json\n", '"', ":", ",", "\\", CALL, " a"]
    )
).map("".join)


@given(noise | words)
def test_no_text_raises_and_every_call_has_a_name_or_a_problem(text: str) -> None:
    for call in parse_tool_calls(text):
        assert call.name or call.problem
        assert not (call.problem and call.arguments)


@given(calls, st.integers(0, 300))
def test_a_call_that_is_cut_off_is_never_taken_for_a_whole_one(call: ToolCall, end: int) -> None:
    text = written(call)[:-1][:end]
    for answer in (text, "<tool_call>" + text):
        assert all(found.problem for found in parse_tool_calls(answer))


@pytest.mark.parametrize("answer", [None, 3, b"{}", "\ud83d"])
def test_what_is_no_text_is_refused(answer: Any) -> None:
    with pytest.raises(MessageError, match="the answer"):
        parse_tool_calls(answer)
