"""Transcripts: what is read from whose files, what is refused and where, and that what is written is what was there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcourse.agent.transcript import (
    Call,
    Transcript,
    TranscriptError,
    as_lines,
    read_transcript,
    save_transcript,
)
from ctxcourse.agent.transcript_files import FORMAT
from ctxcourse.errors import CourseError
from ctxcourse.messages import MessageError, check_pairs, normalise, turns
from ctxcourse.samples import load_sample
from tests.context.strategies import catalogues, conversations, json_values

TOOL = {"name": "look", "description": "Look at a service.", "parameters": {"type": "object", "properties": {}}}
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "How is pay-1?"}
ANSWER = {"role": "assistant", "content": "It is well."}


def asks(*names: str, arguments: Any = None) -> dict[str, Any]:
    calls = [{"id": name, "function": {"name": "look", "arguments": arguments or {}}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(name: str, content: Any = "up") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": content}


TALK = [SYSTEM, USER, asks("a", "b"), result("a"), result("b"), ANSWER, USER, asks("c"), result("c")]


def written(path: Path, *lines: Any) -> Path:
    """Write lines: those that are no text as JSON."""
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    path.write_bytes("\n".join(texts).encode("utf-8"))
    return path


def header(**fields: Any) -> dict[str, Any]:
    return {"format": FORMAT, "tools": [TOOL], "provenance": {}} | fields


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


# Calls and turns


def test_every_assistant_message_is_a_call_and_its_prompt_is_what_stands_before_it() -> None:
    transcript = Transcript(TALK)
    assert transcript.calls() == [Call(1, 1, 2), Call(2, 1, 5), Call(3, 2, 7)]
    for call in transcript.calls():
        assert transcript.messages[call.index]["role"] == "assistant"
        assert transcript.prompt(call) == normalise(TALK)[: call.index]
        check_pairs(transcript.prompt(call))


def test_a_turn_is_a_user_message_and_everything_up_to_the_next() -> None:
    assert {turn: len(messages) for turn, messages in Transcript(TALK).turns().items()} == {1: 5, 2: 3}
    assert Transcript([SYSTEM]).turns() == {}
    assert Transcript([]).calls() == []


def test_what_precedes_the_first_user_message_is_turn_0() -> None:
    transcript = Transcript([SYSTEM, SYSTEM, ANSWER, asks("a"), result("a"), USER, USER, ANSWER])
    assert [call.turn for call in transcript.calls()] == [0, 0, 2]
    assert {turn: len(messages) for turn, messages in transcript.turns().items()} == {0: 3, 1: 1, 2: 1 + 1}


@settings(max_examples=40, deadline=None)
@given(conversations())
def test_calls_and_turns_cover_the_conversation(messages: list[dict[str, Any]]) -> None:
    transcript = Transcript(messages)
    roles = [message["role"] for message in transcript.messages]
    calls = transcript.calls()
    assert [call.index for call in calls] == [i for i, role in enumerate(roles) if role == "assistant"]
    assert [call.number for call in calls] == list(range(1, len(calls) + 1))
    assert [call.turn for call in calls] == [roles[: call.index].count("user") for call in calls]
    assert list(transcript.turns().values()) == turns(messages)
    assert sum(call.turn == turn for turn in transcript.turns() for call in calls) == len(calls)


def test_what_is_given_is_checked_and_shares_nothing_with_the_transcript() -> None:
    given_talk, about = [dict(message) for message in TALK], {"seeds": [1]}
    transcript = Transcript(given_talk, [TOOL], about)
    given_talk[0]["content"], about["seeds"] = "Shout.", [2]
    assert transcript.messages == normalise(TALK)
    assert transcript.provenance == {"seeds": [1]}
    assert transcript.tools == [{"type": "function", "function": TOOL}]
    with pytest.raises(MessageError, match="no message makes"):
        Transcript([USER, result("a")])
    with pytest.raises(MessageError, match="the provenance must be a dict, not str"):
        Transcript([USER], [], "yesterday")  # type: ignore[arg-type]
    with pytest.raises(MessageError, match="nan"):
        Transcript([USER], [], {"seconds": float("nan")})


# Written and read again


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(conversations(), catalogues(), st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values))
def test_what_is_saved_is_read_again(file: Path, messages: Any, tools: Any, about: Any) -> None:
    transcript = Transcript(messages, tools, about)
    save_transcript(transcript, file)
    again = read_transcript(file)
    assert again == transcript
    assert read_transcript(file, repair=True) == transcript
    save_transcript(again, other := file.with_suffix(".json"))
    assert other.read_bytes() == file.read_bytes()
    assert len(file.read_bytes().split(b"\n")) == len(messages) + 2  # a header, and nothing behind the last line break


def test_the_file_is_openai_s_form_one_message_a_line(file: Path) -> None:
    transcript = Transcript([USER, asks("a", arguments={"service": "pay-1", "größe": 3}), result("a")], [TOOL])
    save_transcript(transcript, str(file))
    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines == list(as_lines(transcript))
    assert json.loads(lines[0]) == {"format": FORMAT, "tools": transcript.tools, "provenance": {}}
    function = json.loads(lines[2])["tool_calls"][0]["function"]
    assert function == {"name": "look", "arguments": '{"service": "pay-1", "größe": 3}'}


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    save_transcript(Transcript(TALK), path)
    save_transcript(Transcript([USER]), path)
    assert read_transcript(path) == Transcript([USER])
    assert [one.name for one in tmp_path.iterdir()] == ["run.jsonl"]
    with pytest.raises(TranscriptError, match=r"nowhere.run\.jsonl cannot be written"):
        save_transcript(Transcript(TALK), tmp_path / "nowhere" / "run.jsonl")
    (tmp_path / "folder").mkdir()
    with pytest.raises(TranscriptError, match="folder cannot be written"):
        save_transcript(Transcript(TALK), tmp_path / "folder")
    assert {one.name for one in tmp_path.iterdir()} == {"run.jsonl", "folder"}


# Other people's files


def test_a_list_an_object_and_lines_of_messages_are_the_same_conversation(tmp_path: Path) -> None:
    expected = Transcript(TALK, [TOOL])
    for name, content in {
        "list": [json.dumps(TALK)],
        "indented": [json.dumps(TALK, indent=2)],
        "object": [json.dumps({"model": "m", "messages": TALK, "tools": [{"type": "function", "function": TOOL}]})],
        "functions": [json.dumps({"messages": TALK, "functions": [TOOL]}, indent=1)],
        "lines": TALK,
        "lines with gaps": ["", *TALK[:4], "", *TALK[4:], "", ""],
    }.items():
        transcript = read_transcript(written(tmp_path / name, *content))
        assert transcript.messages == expected.messages, name
        assert transcript.tools in ([], expected.tools), name
        assert bool(transcript.tools) == (name in ("object", "functions")), name
        assert transcript.provenance == {}, name


def test_other_people_s_forms_are_taken(file: Path) -> None:
    call = {"type": "function", "function": {"name": "look", "arguments": '{"service": "pay-1"}'}}
    messages = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}], "timestamp": 3},
        {"role": "system", "content": "Be polite."},
        {"role": "user", "content": "How is pay-1?"},
        {"role": "assistant", "content": None, "tool_calls": [call], "usage": {"prompt_tokens": 9}},
        {"role": "tool", "name": "look", "content": None},
        {"role": "assistant", "content": "It is well."},
    ]
    transcript = read_transcript(written(file, {"messages": messages, "tools": None, "provenance": {"by": "me"}}))
    assert [message["content"] for message in transcript.messages[:2]] == ["Be brief.", "Be polite."]
    made = transcript.messages[3]["tool_calls"][0]
    assert made["function"]["arguments"] == {"service": "pay-1"}
    assert transcript.messages[4]["tool_call_id"] == made["id"]
    assert transcript.messages[4]["content"] == ""
    assert (transcript.tools, transcript.provenance) == ([], {"by": "me"})


def test_the_sample_can_be_read_and_kept(tmp_path: Path) -> None:
    sample = load_sample("coding_session")
    transcript = read_transcript(written(tmp_path / "mine.json", {"messages": sample.messages, "tools": sample.tools}))
    assert len(transcript.calls()) == 10
    assert [call.turn for call in transcript.calls()] == [1, 1, 1, 2, 2, 3, 3, 3, 4, 4]
    save_transcript(transcript, tmp_path / "mine.jsonl")
    assert read_transcript(tmp_path / "mine.jsonl") == transcript


def test_a_byte_order_mark_windows_line_ends_and_separators_in_text_are_no_obstacle(file: Path) -> None:
    odd = {"role": "user", "content": "one\u2028two\x85three"}
    lines = "\r\n".join(json.dumps(line, ensure_ascii=False) for line in [header(), odd, ANSWER, ""][:3])
    file.write_bytes(b"\xef\xbb\xbf" + lines.encode("utf-8"))
    assert read_transcript(file).messages == [odd, ANSWER]


# What is refused, and where


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "is empty"),
        (["", " "], "is empty"),
        (["nonsense"], "not valid JSON: .* line 1"),
        (["[1, 2"], "not valid JSON"),
        (['{"prompt": "Hi"}'], r"no conversation but an object with the keys \['prompt'\]"),
        (["17"], "no conversation but 17"),
        ([{"messages": [USER]}, {"messages": [USER]}], "several JSON values"),
        ([[USER, {"role": "wizard", "content": "!"}]], "message 1 has the role 'wizard'"),
        ([{"messages": [USER], "tools": [{"name": ""}]}], "tool 0"),
        ([{"messages": 5}], r"no conversation but an object with the keys \['messages'\]"),
        ([{"format": "ctxcourse transcript 2", "tools": []}, USER], "line 1: the format is 'ctxcourse transcript 2'"),
        ([{"format": FORMAT, "tools": []}, USER], "line 1: the header is not valid: 'provenance' is a required"),
        ([header(tools="look"), USER], r"line 1: .*'look' is not of type 'array' \(in \$\.tools\)"),
        ([header(tools=[7]), USER], r"line 1: .*7 is not of type 'object' \(in \$\.tools\[0\]\)"),
        ([header(seed=7), USER], r"line 1: .*'seed' was unexpected"),
        ([header(tools=[TOOL, TOOL]), USER], "line 1: tools 0 and 1 are both called 'look'"),
        ([header(), USER, "{broken", ANSWER], "line 3 is not valid JSON"),
        ([header(), USER, '{"role": "user", "role": "user", "content": ""}', USER], "line 3 .*'role' twice"),
        ([header(), "", USER, "[]", ANSWER], "line 4: message 1 must be a dict, not list"),
        ([header(), USER, {"role": "assistant", "content": 5}, USER], "line 3: message 1 .*must be a string, not int"),
        ([USER, {"role": "user"}], "line 2: message 1 .*no content"),
        ([header(), USER, asks("a", arguments="{")], "line 3: message 1 .*no valid JSON"),
        ([header(), USER, result("a"), ANSWER], "line 3: message 1 answers the call 'a', which no message makes"),
        ([header(), USER, asks("a"), USER, ANSWER], "line 4: the call 'a' .*no result before message 2"),
        ([header(), USER, asks("a", "b"), result("b"), result("b")], "line 5: message 3 answers .*a second time"),
        ([header(), asks("a"), result("a"), asks("a"), result("a")], "line 4: the id 'a' is borne by two calls"),
    ],
)
def test_an_error_names_the_file_the_line_and_what_is_wrong(file: Path, lines: list[Any], message: str) -> None:
    with pytest.raises(TranscriptError, match=message) as caught:
        read_transcript(written(file, *lines))
    assert str(file) in str(caught.value)
    assert isinstance(caught.value, CourseError)


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"missing\.jsonl cannot be read: No such file"):
        read_transcript(tmp_path / "missing.jsonl")
    with pytest.raises(TranscriptError, match="cannot be read"):
        read_transcript(tmp_path)
    (tmp_path / "wide").write_bytes("[]".encode("utf-16"))
    with pytest.raises(TranscriptError, match="not UTF-8"):
        read_transcript(tmp_path / "wide")
    (tmp_path / "deep").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(TranscriptError, match="deep"):
        read_transcript(tmp_path / "deep")


# Interrupted runs


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_interrupted_anywhere_is_read_to_its_last_whole_step(file: Path, data: st.DataObject) -> None:
    whole = Transcript([*TALK, {"role": "user", "content": "机密 👩‍👩‍👧‍👦"}, ANSWER], [TOOL])
    save_transcript(whole, file)
    content = file.read_bytes()
    first = content.index(b"\n") + 1
    kept = content[: data.draw(st.integers(first, len(content)), label="bytes kept")]
    file.write_bytes(kept)
    read = read_transcript(file, repair=True)
    count = len(read.messages)
    assert read.messages == whole.messages[:count]
    assert read.tools == whole.tools
    lines = kept.count(b"\n") - 1  # whole lines of messages; the last may be there without its line break
    assert lines - 2 <= count <= lines + 1
    if kept.endswith(b"}\n") and not any(
        message["role"] == "tool" for message in whole.messages[lines - 1 : lines + 1]
    ):
        assert read_transcript(file) == read
        assert count == lines


def test_a_half_written_last_line_is_reported_with_what_to_do(file: Path) -> None:
    half = json.dumps(ANSWER)[:-9]
    written(file, header(), USER, half)
    with pytest.raises(TranscriptError, match=r"line 3 is not valid JSON .*last line.*repair=True\) reads up to it"):
        read_transcript(file)
    assert read_transcript(file, repair=True) == Transcript([USER], [TOOL])
    file.write_bytes(written(file, header(), USER).read_bytes() + b"\n" + '{"content": "机'.encode()[:-1])
    with pytest.raises(TranscriptError, match=r"line 3 is not UTF-8 text.*repair=True\)"):
        read_transcript(file)
    assert read_transcript(file, repair=True) == Transcript([USER], [TOOL])


def test_calls_without_their_results_at_the_end_are_reported_and_left_out(file: Path) -> None:
    written(file, header(), USER, asks("a", "b"), result("a"))
    with pytest.raises(
        TranscriptError, match=r"line 4: .*calls of message 1 .*\('b'\).*repair=True\) reads up to that"
    ):
        read_transcript(file)
    assert read_transcript(file, repair=True).messages == [USER]
    written(file, json.dumps([USER, asks("a")]))
    with pytest.raises(TranscriptError, match=r"calls of message 1 .*\('a'\)"):
        read_transcript(file)
    assert read_transcript(file, repair=True).messages == [USER]


def test_a_turn_may_end_in_the_middle(file: Path) -> None:
    for end in (2, 5, len(TALK)):
        save_transcript(Transcript(TALK[:end]), file)
        assert read_transcript(file).messages == normalise(TALK[:end])
        assert read_transcript(file, repair=True).messages == normalise(TALK[:end])


def test_faults_further_up_are_never_repaired(file: Path) -> None:
    with pytest.raises(TranscriptError, match="line 2 is not valid JSON"):
        read_transcript(written(file, header(), "{broken", USER), repair=True)
    with pytest.raises(TranscriptError, match="line 4: the call 'a'"):
        read_transcript(written(file, header(), USER, asks("a"), USER), repair=True)
