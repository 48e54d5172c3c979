"""What a run is billed: sums that hold for every conversation, what a prefix cache would spare, and what tools cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings

from ctxcourse import load_tokenizer
from ctxcourse.agent.accounting import (
    AccountingError,
    Bill,
    BilledCall,
    at_turns,
    bill,
    bill_of_prompts,
    passes,
)
from ctxcourse.agent.tool_use import ToolUse, tool_bill
from ctxcourse.agent.transcript import Transcript
from ctxcourse.messages import MessageError, normalise, split_system
from ctxcourse.samples import load_sample
from ctxcourse.tokens import buckets, catalogue_cost
from ctxcourse.tools import load_tools
from tests.context.conftest import END, START, SmallCounter
from tests.context.strategies import catalogues, conversations

BUCKETS = ("system", "tools", "conversation", "tool_results")
TOOLS = [
    {"name": "look", "description": "Look at a service."},
    {"name": "page", "description": "Call somebody out of bed, which is to be thought over."},
    {"name": "wait", "description": "Wait."},
]


class SmallEncoder(SmallCounter):
    """The small tokenizer with ids; it notes what it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded = 0

    def encode_prompt(self, messages: Sequence[dict[str, Any]], tools: Any = None) -> list[int]:
        self.encoded += 1
        control = {START: 1_000, END: 1_001}
        ids: list[int] = []
        for text, is_control in self.pieces(messages, tools):
            ids += [control[text]] if is_control else self.tokenizer.encode(text).ids
        return ids


COUNTER = SmallEncoder()


def step(number: int, name: str = "look", content: str = "up") -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "function": {"name": name, "arguments": {"service": "pay-1"}}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": content},
    ]


def user(text: str = "How is pay-1?") -> dict[str, Any]:
    return {"role": "user", "content": text}


ANSWER = {"role": "assistant", "content": "It is well."}
SYSTEM = {"role": "system", "content": "Be brief."}
TALK = [SYSTEM, user(), *step(1), *step(2, "page", "Nobody answers. " * 30), ANSWER, user("And now?"), ANSWER]


def prefix_by_hand(one: list[int], other: list[int]) -> int:
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    return same


# Every conversation


@settings(max_examples=60, deadline=None)
@given(conversations(), catalogues())
def test_the_bill_of_any_conversation_adds_up(messages: Any, tools: Any) -> None:
    transcript = Transcript(messages, tools)
    made = bill(transcript, COUNTER)
    prompts = [transcript.prompt(call) for call in transcript.calls()]
    encoded = [COUNTER.encode_prompt(prompt, tools) for prompt in prompts]
    assert [call.call for call in made.calls] == list(range(1, len(prompts) + 1))
    assert [call.turn for call in made.calls] == [call.turn for call in transcript.calls()]
    sizes = [call.prompt_tokens for call in made.calls]
    assert sizes == [len(ids) for ids in encoded] == [COUNTER.count_prompt(prompt, tools) for prompt in prompts]
    assert [sum(getattr(call, name) for name in BUCKETS) for call in made.calls] == sizes
    assert [call.billed_so_far for call in made.calls] == list(accumulate(sizes))
    for call, prompt in zip(made.calls, prompts, strict=True):
        parts = buckets(prompt, tools, COUNTER)
        assert [getattr(call, name) for name in BUCKETS] == [getattr(parts, name) for name in BUCKETS]
    for call, before, ids in zip(made.calls, [[], *encoded], encoded, strict=False):
        assert 0 <= call.recomputed <= call.prompt_tokens
        assert call.recomputed == len(ids) - prefix_by_hand(before, ids)
    assert made.billed == sum(sizes)
    assert made.recomputed == sum(call.recomputed for call in made.calls)


@settings(max_examples=30, deadline=None)
@given(conversations())
def test_answers_are_counted_without_what_stands_around_them(messages: Any) -> None:
    transcript = Transcript(messages)
    empty = COUNTER.count_prompt([{"role": "assistant", "content": ""}])
    for call, billed in zip(transcript.calls(), bill(transcript, COUNTER).calls, strict=True):
        answer = transcript.messages[call.index]
        assert billed.output_tokens == COUNTER.count_prompt([answer]) - empty
        if not answer["content"] and not answer.get("tool_calls"):
            assert billed.output_tokens == 0


# One run by hand


def test_a_growing_conversation_computes_only_what_is_new() -> None:
    made = bill(Transcript(TALK, TOOLS), COUNTER)
    assert [call.turn for call in made.calls] == [1, 1, 1, 2]
    first, *others = made.calls
    assert first.recomputed == first.prompt_tokens
    for before, call in zip(made.calls, others, strict=False):
        new = call.prompt_tokens - before.prompt_tokens
        assert new <= call.recomputed <= new + 3  # the generation prompt stands where the answer begins
    assert made.recomputed < made.calls[-1].prompt_tokens + 9 < made.billed
    assert {call.system for call in made.calls} == {first.system}
    assert {call.tools for call in made.calls} == {first.tools}
    assert [call.tool_results > 0 for call in made.calls] == [False, True, True, True]
    assert [call.helper_tokens for call in made.calls] == [0, 0, 0, 0]


def test_a_run_without_calls_has_an_empty_bill() -> None:
    made = bill(Transcript([SYSTEM, user()]), COUNTER)
    assert (made.calls, made.billed, made.recomputed) == ((), 0, 0)
    assert list(made.frame().columns) == list(bill(Transcript(TALK), COUNTER).frame().columns)
    assert len(made.frame()) == len(at_turns(made)) == 0
    assert passes(made, "tool_results", "tools") is None


def test_the_table_holds_the_bill_and_where_the_run_comes_from() -> None:
    made = bill(Transcript(TALK, TOOLS, {"model": "m"}), COUNTER)
    frame = made.frame()
    assert [BilledCall(**row) for row in frame.to_dict("records")] == list(made.calls)
    assert frame.attrs["provenance"] == {"model": "m"}
    assert set(frame.dtypes.astype(str)) == {"int64", "Int64"}
    of_turns = at_turns(made)
    assert list(of_turns["turn"]) == [1, 2]
    assert list(of_turns["call"]) == [3, 4]
    assert list(of_turns["billed_so_far"]) == [made.calls[2].billed_so_far, made.billed]
    assert of_turns.attrs == frame.attrs


def test_each_call_is_encoded_twice_at_most() -> None:
    counter = SmallEncoder()
    calls = 12
    talk = [SYSTEM, user(), *(message for number in range(calls) for message in step(number)), ANSWER]
    bill(Transcript(talk, TOOLS), counter)
    assert counter.encoded <= 2 * (calls + 1) + 2  # each prompt, each without results, the opening with and without


# Prompts that a policy made


def test_a_window_that_slides_breaks_the_prefix() -> None:
    transcript = Transcript([SYSTEM, *(m for n in range(9) for m in (user(f"Question {n}"), ANSWER))], TOOLS)
    whole = [transcript.prompt(call) for call in transcript.calls()]
    window = [[*split_system(prompt)[0], *split_system(prompt)[1][-3:]] for prompt in whole]
    turns = [call.turn for call in transcript.calls()]
    full, sliding = bill_of_prompts(whole, TOOLS, COUNTER, turns), bill_of_prompts(window, TOOLS, COUNTER, turns)
    assert sliding.billed < full.billed
    assert sliding.recomputed > full.recomputed
    known = bill(transcript, COUNTER)
    assert [call.output_tokens for call in full.calls] == [None] * 9
    assert full.frame().drop(columns="output_tokens").equals(known.frame().drop(columns="output_tokens"))


def test_helpers_are_billed_with_the_call_that_needed_them() -> None:
    prompts = [[user()], [user()], [user("And now?")]]
    plain, helped = (bill_of_prompts(prompts, [], COUNTER, helper_tokens=given) for given in (None, [0, 500, 7]))
    assert [call.prompt_tokens for call in plain.calls] == [call.prompt_tokens for call in helped.calls]
    pairs = zip(plain.calls, helped.calls, strict=True)
    assert [with_help.billed_so_far - without.billed_so_far for without, with_help in pairs] == [0, 500, 507]
    assert helped.billed == plain.billed + 507
    assert helped.recomputed == plain.recomputed
    assert plain.calls[1].recomputed == 0  # the same prompt again


def test_turns_are_asked_for_where_they_are_needed() -> None:
    import numpy as np

    prompts = [[user()], [user("And now?")]]
    unknown = bill_of_prompts(prompts, None, COUNTER)
    assert unknown.frame()["turn"].isna().all()
    for ask in (at_turns, lambda made: passes(made, "tools", "system")):
        with pytest.raises(AccountingError, match="which turn call 1 belongs to: give bill_of_prompts the turns"):
            ask(unknown)
    assert list(at_turns(bill_of_prompts(prompts, None, COUNTER, np.array([4, 4])))["call"]) == [2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"turns": [1]}, "turns has 1 numbers for 2 prompts"),
        ({"turns": [1, -1]}, "turns holds -1"),
        ({"helper_tokens": [1, 2, 3]}, "helper_tokens has 3 numbers for 2 prompts"),
        ({"helper_tokens": [1, 2.5]}, "helper_tokens holds 2.5"),
        ({"helper_tokens": [1, True]}, "helper_tokens holds True"),
    ],
)
def test_numbers_that_cannot_be_are_refused(fields: Any, message: str) -> None:
    with pytest.raises(AccountingError, match=message):
        bill_of_prompts([[user()], [user()]], [], COUNTER, **fields)


def test_a_prompt_that_is_no_conversation_is_named() -> None:
    with pytest.raises(MessageError, match="prompt 2: message 0 answers the call 'c1'"):
        bill_of_prompts([[user()], step(1)[1:]], [], COUNTER)


def test_a_counter_without_ids_is_told_what_is_missing() -> None:
    with pytest.raises(AccountingError, match="a SmallCounter has no encode_prompt"):
        bill(Transcript(TALK), SmallCounter())  # type: ignore[arg-type]


# What passes what


def made_of(*rows: tuple[int, int, int]) -> Bill:
    """A bill with one call a row: its turn, its conversation and its tool results, beside tools of 100."""
    calls = [
        BilledCall(n, turn, 5, 100, talk, results, 105 + talk + results, 0, 0, 0, None)
        for n, (turn, talk, results) in enumerate(rows, start=1)
    ]
    return Bill(tuple(calls))


def test_a_bucket_passes_another_in_the_turn_whose_last_call_says_so() -> None:
    made = made_of((1, 10, 500), (1, 10, 90), (2, 20, 100), (3, 30, 101), (3, 100, 300), (5, 101, 50))
    assert passes(made, "tool_results", "tools") == 3  # not the first call of turn 1; not where they are equal
    assert passes(made, "conversation", "tools") == 5
    assert passes(made, "system", "tools") is None
    assert passes(made, "prompt_tokens", "tools") == 1
    with pytest.raises(AccountingError, match="no column 'words' to compare; it has system, tools"):
        passes(made, "words", "tools")
    with pytest.raises(AccountingError, match="no column 'output_tokens'"):
        passes(made, "tools", "output_tokens")


# Tools


def test_each_tool_is_billed_at_every_call_whether_or_not_it_is_used() -> None:
    transcript = Transcript([*TALK, user(), *step(3, "read_log", "Error: no such tool"), *step(4), ANSWER], TOOLS)
    made = tool_bill(transcript, COUNTER)
    cost = catalogue_cost(TOOLS, COUNTER, [SYSTEM])
    assert [use.tool for use in made.tools] == ["look", "page", "wait", "read_log"]
    assert [use.called for use in made.tools] == [2, 1, 0, 1]
    assert made.requests == 7
    for use in made.tools[:3]:
        assert use.definition_tokens == cost.per_tool[use.tool]
        assert use.billed_tokens == 7 * cost.per_tool[use.tool]
    assert made.unused == (made.tools[2],)
    assert made.unknown == (made.tools[3],)
    assert made.unknown[0] == ToolUse("read_log", False, 0, 1, made.unknown[0].result_tokens, 0)
    assert made.unknown[0].result_tokens > 0
    assert made.tools[1].result_tokens > made.tools[0].result_tokens > made.tools[2].result_tokens == 0
    frame = made.frame()
    assert [ToolUse(**row) for row in frame.to_dict("records")] == list(made.tools)
    assert list(frame[frame["called"] == 0]["tool"]) == ["wait"]


@settings(max_examples=40, deadline=None)
@given(conversations(), catalogues())
def test_what_tools_cost_adds_up_to_their_buckets(messages: Any, tools: Any) -> None:
    transcript = Transcript(messages, tools)
    found, made = tool_bill(transcript, COUNTER), bill(transcript, COUNTER)
    assert found.billed == sum(call.tools for call in made.calls)
    whole = buckets(transcript.messages, tools, COUNTER)
    assert sum(use.result_tokens for use in found.tools) == whole.tool_results
    assert sum(use.called for use in found.tools) == sum(m["role"] == "tool" for m in normalise(messages))
    assert all(use.called or use.result_tokens == 0 for use in found.tools)
    assert {use.tool for use in found.tools if use.defined} == {t["function"]["name"] for t in transcript.tools}


def test_a_run_without_tools_has_no_row() -> None:
    made = tool_bill(Transcript([user(), ANSWER]), COUNTER)
    assert (made.tools, made.preamble, made.billed, made.requests) == ((), 0, 0, 1)
    assert list(made.frame().columns) == list(tool_bill(Transcript(TALK, TOOLS), COUNTER).frame().columns)


# With the course's tokenizer


@pytest.mark.model
def test_the_sample_s_bill_is_that_of_the_tokenizer() -> None:
    tok = load_tokenizer()
    sample = load_sample("coding_session")
    transcript = Transcript(sample.messages, sample.tools)
    made = bill(transcript, tok)
    for call, billed in zip(transcript.calls(), made.calls, strict=True):
        prompt = transcript.prompt(call)
        assert billed.prompt_tokens == tok.count_prompt(prompt, sample.tools)
        assert (
            buckets(prompt, sample.tools, tok).as_dict().items()
            >= {name: getattr(billed, name) for name in BUCKETS}.items()
        )
        following = tok.count_prompt(sample.messages[: call.index + 1], sample.tools)
        marks = following - billed.prompt_tokens - (billed.output_tokens or 0)
        assert 4 <= marks <= 6  # the answer's end, its line break, and the next generation prompt
    assert list(at_turns(made)["turn"]) == [1, 2, 3, 4]
    assert made.recomputed < made.billed / 3
    assert sum(use.billed_tokens for use in tool_bill(transcript, tok).tools) < made.billed


@pytest.mark.model
def test_the_twelve_tools_of_the_investigation_cost_what_is_published() -> None:
    tok = load_tokenizer()
    calls = 57
    talk = [SYSTEM, user()]
    for number in range(calls - 1):
        talk += step(number, "search_logs")
    made = tool_bill(Transcript([*talk, ANSWER], load_tools()), tok)
    assert made.requests == calls
    assert made.billed == 57 * 1_817 == 103_569
    assert [use.tool for use in made.tools if use.called] == ["search_logs"]
    assert len(made.unused) == 11
