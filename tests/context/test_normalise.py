"""The border of the package: what people write becomes one form, or an error that names it."""

import copy
import json

import pytest
from hypothesis import given

from ctxcourse.errors import CourseError
from ctxcourse.messages import MessageError, normalise

from .strategies import conversations


def call(arguments="{}", identifier="c1", name="search_logs"):
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def asking(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


@given(conversations())
def test_it_is_idempotent_and_leaves_its_input_alone(messages):
    before = copy.deepcopy(messages)
    once = normalise(messages)
    assert messages == before
    assert normalise(once) == once


@given(conversations())
def test_nothing_is_shared_with_the_input(messages):
    made = normalise(messages)
    before = copy.deepcopy(messages)
    for message in made:
        message["content"] += "!"
        for one in message.get("tool_calls", []):
            one["function"]["arguments"]["new"] = [1]
            one["id"] += "!"
    assert messages == before


@given(conversations())
def test_every_content_is_text_and_every_argument_an_object(messages):
    made = normalise(messages)
    assert [m["role"] in ("system", "user", "assistant", "tool") for m in made] == [True] * len(messages)
    assert all(isinstance(m["content"], str) for m in made)
    assert all(isinstance(c["function"]["arguments"], dict) for m in made for c in m.get("tool_calls", []))


def test_an_empty_list_is_a_conversation():
    assert normalise([]) == []
    assert normalise(()) == []


@pytest.mark.parametrize("messages", [None, "Hello", {"role": "user", "content": "x"}, 7, iter([])])
def test_what_is_no_list_is_refused(messages):
    with pytest.raises(MessageError, match="must be a list of dicts"):
        normalise(messages)


@pytest.mark.parametrize("message", [None, "Hello", ["user", "Hello"], 7])
def test_what_is_no_dict_is_refused_with_its_index(message):
    with pytest.raises(MessageError, match="message 1 must be a dict"):
        normalise([{"role": "user", "content": "x"}, message])


def test_a_message_object_of_a_client_library_is_told_how_to_become_a_dict():
    class ChatMessage:
        def model_dump(self):
            return {}

    with pytest.raises(MessageError, match="model_dump"):
        normalise([ChatMessage()])


def test_its_errors_are_errors_of_the_course_and_value_errors():
    assert issubclass(MessageError, CourseError)
    assert issubclass(MessageError, ValueError)


# Roles


@pytest.mark.parametrize(("role", "meant"), [("developer", "system"), ("function", "tool"), ("user", "user")])
def test_roles_with_a_clear_meaning_are_mapped(role, meant):
    assert normalise([{"role": role, "content": "x"}])[0]["role"] == meant


@pytest.mark.parametrize("role", ["critic", "", "User", "human", "tools"])
def test_other_roles_are_refused_not_dropped(role):
    with pytest.raises(MessageError, match=r"message 0 has the role .*use one of system, user, assistant, tool"):
        normalise([{"role": role, "content": "x"}])


def test_a_role_that_is_nearly_right_gets_a_suggestion():
    with pytest.raises(MessageError, match="did you mean 'user'"):
        normalise([{"role": "Human", "content": "x"}])


@pytest.mark.parametrize(
    "message", [{"content": "x"}, {"role": None, "content": "x"}, {"role": ["user"], "content": "x"}]
)
def test_a_message_needs_a_role(message):
    with pytest.raises(MessageError, match="message 0 needs a role"):
        normalise([message])


# Content


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_null_content_is_empty_and_never_the_word(role):
    assert normalise([{"role": role, "content": None}])[0]["content"] == ""


def test_null_content_beside_tool_calls_is_empty_with_or_without_its_key():
    message = asking(call())
    assert normalise([message])[0]["content"] == ""
    del message["content"]
    assert normalise([message])[0]["content"] == ""


def test_a_missing_content_is_an_error_that_shows_what_is_there():
    with pytest.raises(MessageError, match=r"message 0 \(user\) has no content, only the keys \['role', 'text'\]"):
        normalise([{"role": "user", "text": "Hello"}])


@pytest.mark.parametrize("role", ["user", "tool"])
def test_text_parts_are_joined(role):
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two", "cache_control": {"type": "x"}}]
    assert normalise([{"role": role, "content": parts}])[0]["content"] == "one two"
    assert normalise([{"role": role, "content": []}])[0]["content"] == ""


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file", "tool_result", "thinking"])
def test_other_parts_are_refused_by_name(kind):
    content = [{"type": "text", "text": "x"}, {"type": kind, kind: {}}]
    with pytest.raises(MessageError, match=rf"message 0 \(user\), part 1 is of type '{kind}'"):
        normalise([{"role": "user", "content": content}])


@pytest.mark.parametrize(
    "part", [None, 7, {}, {"text": "x"}, {"type": 3}, {"type": "text"}, {"type": "text", "text": 1}]
)
def test_malformed_parts_are_refused(part):
    with pytest.raises(MessageError, match=r"message 0 \(user\), part 0"):
        normalise([{"role": "user", "content": [part]}])


@pytest.mark.parametrize("content", [7, 1.5, True, b"bytes", {"answer": 42}, {"a"}])
def test_content_of_another_type_is_refused(content):
    with pytest.raises(MessageError, match=r"message 0 \(tool\): the content must be a string"):
        normalise([{"role": "tool", "tool_call_id": "c", "content": content}])


def test_audio_is_refused_and_a_refusal_is_text():
    with pytest.raises(MessageError, match="audio"):
        normalise([{"role": "assistant", "content": None, "audio": {"id": "a"}}])
    assert normalise([{"role": "assistant", "content": None, "refusal": "No."}])[0]["content"] == "No."


def test_half_a_surrogate_pair_is_refused_wherever_it_stands():
    for message in (
        {"role": "user", "content": "cut \ud83d"},
        {"role": "user", "content": [{"type": "text", "text": "\ude00"}]},
        asking(call({"q": ["\ud83d"]})),
        asking(call({"\ud83d": 1})),
        asking(call(json.dumps({"q": "\ud83d"}))),
    ):
        with pytest.raises(MessageError, match=r"message 0 .*surrogate"):
            normalise([message])


def test_control_tokens_are_text_like_any_other():
    text = "before <|im_end|> after"
    assert normalise([{"role": "user", "content": text}])[0]["content"] == text


def test_keys_that_no_template_renders_are_left_out():
    message = {"role": "user", "content": "x", "timestamp": 3.5, "id": 9, "refusal": None, "tool_calls": None}
    assert normalise([message]) == [{"role": "user", "content": "x"}]


# Tool calls


def test_arguments_given_as_json_are_parsed_once():
    (message,) = normalise([asking(call('{"q": "ä", "n": 2}'))])
    assert message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "search_logs", "arguments": {"q": "ä", "n": 2}}}
    ]


@pytest.mark.parametrize("arguments", ["", "  ", None, "{}", {}])
def test_no_arguments_are_an_empty_object(arguments):
    (message,) = normalise([asking(call(arguments))])
    assert message["tool_calls"][0]["function"]["arguments"] == {}


@pytest.mark.parametrize("arguments", ['{"q": ', "q=1", "{'q': 1}", "[" * 100_000, '{"a": ' + "9" * 5_000 + "}"])
def test_invalid_json_is_an_error_that_names_the_call(arguments):
    with pytest.raises(MessageError, match=r"message 1 \(assistant\), call 1 \(search_logs, id 'c2'\).* JSON"):
        normalise([{"role": "user", "content": ""}, asking(call(), call(arguments, "c2"))])


def test_arguments_encoded_twice_are_an_error():
    with pytest.raises(MessageError, match="encoded twice"):
        normalise([asking(call(json.dumps(json.dumps({"q": 1}))))])


@pytest.mark.parametrize("arguments", ["[1]", "7", "true", [1], 7, ("a",)])
def test_arguments_must_be_an_object(arguments):
    with pytest.raises(MessageError, match="arguments must be a JSON object"):
        normalise([asking(call(arguments))])


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), {1: 2}, {"a"}, b"x", object(), [1 << 20_000], 1j]
)
def test_what_json_cannot_hold_is_refused_in_arguments(value):
    with pytest.raises(MessageError, match=r"message 0 \(assistant\), call 0 .*arguments\['q'\]\[0\]"):
        normalise([asking(call({"q": [value]}))])


@pytest.mark.parametrize("text", ['{"q": NaN}', '{"q": -Infinity}', '{"q": 1e999}'])
def test_numbers_that_are_not_finite_are_refused_in_json_text_too(text):
    with pytest.raises(MessageError, match="JSON has no word for"):
        normalise([asking(call(text))])


def test_arguments_that_contain_themselves_or_go_too_deep_are_refused():
    deep: dict = {}
    deep["self"] = deep
    with pytest.raises(MessageError, match="deeper than 100 levels"):
        normalise([asking(call(deep))])


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ("search", "tool_calls must be a list"),
        ({"id": "c"}, "tool_calls must be a list"),
        (["search"], "call 0 must be a dict"),
        ([{"id": "c", "function": "search"}], "'function' must be a dict"),
        ([{"id": "c", "function": {"arguments": {}}}], "needs the name of a function"),
        ([{"id": "c", "function": {"name": ""}}], "needs the name of a function"),
        ([{"id": "c", "function": {"name": 7}}], "needs the name of a function"),
        ([{"id": 7, "function": {"name": "f"}}], "id must be a string"),
        ([{"id": "c", "type": "custom", "custom": {}}], "of type 'custom'"),
    ],
)
def test_malformed_calls_are_refused(calls, said):
    with pytest.raises(MessageError, match=r"message 0 \(assistant\).*" + said):
        normalise([{"role": "assistant", "content": None, "tool_calls": calls}])


@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_only_assistants_make_calls(role):
    with pytest.raises(MessageError, match="only an assistant message can"):
        normalise([{"role": role, "content": "x", "tool_calls": [call()]}])


def test_only_tool_results_answer_calls():
    with pytest.raises(MessageError, match="only a tool result has one"):
        normalise([{"role": "user", "content": "x", "tool_call_id": "c1"}])


def test_calls_without_ids_get_some_and_so_do_their_results():
    made = normalise(
        [
            asking({"function": {"name": "a"}}, {"name": "b", "arguments": {"x": 1}}),
            {"role": "tool", "name": "b", "content": "of b"},
            {"role": "tool", "content": "of a"},
        ]
    )
    first, second = (c["id"] for c in made[0]["tool_calls"])
    assert first != second
    assert [m["tool_call_id"] for m in made[1:]] == [second, first]


def test_an_invented_id_is_never_one_that_exists():
    made = normalise([asking({"name": "a"}), asking(call(identifier="call_0_0"))])
    assert made[0]["tool_calls"][0]["id"] != "call_0_0"


def test_the_old_function_call_form_is_understood():
    made = normalise(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "a", "arguments": '{"x": 1}'}},
            {"role": "function", "name": "a", "content": "42"},
        ]
    )
    assert made[0]["tool_calls"][0]["function"] == {"name": "a", "arguments": {"x": 1}}
    assert made[1]["role"] == "tool"
    assert made[1]["tool_call_id"] == made[0]["tool_calls"][0]["id"]


def test_old_and_new_calls_together_are_refused():
    with pytest.raises(MessageError, match="both tool_calls and function_call"):
        normalise([{**asking(call()), "function_call": {"name": "a"}}])


def test_a_call_that_is_not_answered_passes_the_border():
    assert len(normalise([asking(call())])) == 1
