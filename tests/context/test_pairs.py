"""Calls and their results: one unit, checked by id, repaired on request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.messages import MessageError, check_pairs, normalise, repair, steps, turns

from .strategies import conversations


def calling(*ids, content=None):
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": {}}} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(identifier, content="seen"):
    return {"role": "tool", "tool_call_id": identifier, "content": content}


def user(content="Hello"):
    return {"role": "user", "content": content}


BROKEN = {
    "a result nobody asked for": ([user(), result("c9")], r"message 1 answers the call 'c9', which no message makes"),
    "a call never answered": ([user(), calling("c1")], r"the call 'c1' \(look\) in message 1 has no result before the"),
    "a call not answered in time": (
        [calling("c1"), user(), result("c1")],
        r"'c1' .* in message 0 has no result before message 1 comes; its result stands at message 2",
    ),
    "one of two parallel calls": ([calling("c1", "c2"), result("c2"), user()], "'c1' .* in message 0 has no result"),
    "an answer given twice": ([calling("c1"), result("c1"), result("c1")], "message 2 answers the call 'c1' a second"),
    "a result before its call": ([result("c1"), calling("c1")], "message 0 answers .* made only in message 1"),
    "two calls of one id": (
        [calling("c1"), result("c1"), calling("c1"), result("c1")],
        "id 'c1' is borne by two calls, in message 0 and in message 2",
    ),
    "two parallel calls of one id": ([calling("c1", "c1"), result("c1"), result("c1")], "borne by two calls"),
    "a result without an id": ([user(), {"role": "tool", "content": "x"}], "message 1 is a tool result without a tool"),
    "one result too many without an id": (
        [calling("c1"), result("c1"), {"role": "tool", "content": "x"}],
        "message 2 is a tool result without a tool_call_id",
    ),
}


@given(conversations())
def test_valid_conversations_are_accepted_and_not_changed_by_a_repair(messages):
    check_pairs(messages)
    assert repair(messages) == normalise(messages)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_paired_is_named(name):
    messages, said = BROKEN[name]
    with pytest.raises(MessageError, match=said + r".*repair\(messages\)"):
        check_pairs(messages)
    with pytest.raises(MessageError, match=said):
        steps(messages)
    with pytest.raises(MessageError, match=said):
        turns(messages)


@pytest.mark.parametrize("name", BROKEN)
def test_a_repair_makes_it_valid(name):
    check_pairs(repair(BROKEN[name][0]))


entries = st.one_of(
    st.just(user()),
    st.just({"role": "assistant", "content": "Fine."}),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda ids: calling(*ids)),
    st.sampled_from("abcd").map(result),
    st.just({"role": "tool", "content": "of nobody"}),
)


@given(st.lists(entries, max_size=8))
def test_any_repair_is_valid_and_final(messages):
    mended = repair(messages)
    check_pairs(mended)
    assert repair(mended) == mended


@given(st.lists(entries, max_size=8))
def test_a_repair_loses_no_text_of_users_and_no_result_that_a_call_waits_for(messages):
    mended = repair(messages)
    assert [m for m in mended if m["role"] == "user"] == [m for m in messages if m["role"] == "user"]
    asked = [c["id"] for m in messages for c in m.get("tool_calls", [])]
    given_ = [m["tool_call_id"] for m in normalise(messages) if "tool_call_id" in m]
    answered = sum(min(asked.count(i), given_.count(i)) for i in set(asked))
    assert sum(m["role"] == "tool" for m in mended) == answered


def test_a_repair_moves_a_late_result_behind_its_call():
    assert repair([calling("c1", content="Hm."), user(), result("c1")]) == [
        calling("c1", content="Hm."),
        result("c1"),
        user(),
    ]


def test_a_repair_prefers_the_result_directly_behind_the_call():
    kept = repair([result("c1", "stray"), calling("c1"), result("c1", "right"), user()])
    assert [m["content"] for m in kept] == ["", "right", "Hello"]


def test_a_repair_keeps_the_text_of_a_message_whose_call_it_removes():
    assert repair([user(), calling("c1", content="Let me look.")]) == [
        user(),
        {"role": "assistant", "content": "Let me look."},
    ]


def test_a_repair_gives_the_second_of_two_equal_ids_a_new_one_that_its_result_shares():
    first, a, second, b = repair([calling("c1"), result("c1", "one"), calling("c1"), result("c1", "two")])
    assert (a["content"], b["content"]) == ("one", "two")
    assert b["tool_call_id"] == second["tool_calls"][0]["id"] != first["tool_calls"][0]["id"]


# Steps and turns


@given(conversations())
def test_steps_are_a_partition_that_never_splits_a_call_from_its_results(messages):
    units = steps(messages)
    assert [m for unit in units for m in unit] == normalise(messages)
    for unit in units:
        wanted = [c["id"] for c in unit[0].get("tool_calls", [])]
        assert sorted(m["tool_call_id"] for m in unit[1:]) == sorted(wanted)


@given(conversations())
def test_turns_begin_at_user_messages_and_leave_out_only_the_opening(messages):
    units = turns(messages)
    normal = normalise(messages)
    together = [m for unit in units for m in unit]
    opening = normal[: len(normal) - len(together)]
    assert [*opening, *together] == normal
    assert all(m["role"] == "system" for m in opening)
    assert not together or together[0]["role"] != "system"
    assert all(unit[0]["role"] == "user" for unit in units[1:])
    assert all(m["role"] != "user" for unit in units for m in unit[1:])


def test_parallel_calls_are_one_step():
    messages = [user(), calling("c1", "c2"), result("c2"), result("c1"), {"role": "assistant", "content": "Done."}]
    assert [len(step) for step in steps(messages)] == [1, 3, 1]
    assert [len(turn) for turn in turns(messages)] == [5]


@pytest.mark.parametrize("cut", [steps, turns])
def test_an_empty_history_has_no_units(cut):
    assert cut([]) == []


def test_without_a_user_there_is_one_turn_and_without_more_than_a_system_message_none():
    assert turns([{"role": "system", "content": "x"}, {"role": "assistant", "content": "Hi"}]) == [
        [{"role": "assistant", "content": "Hi"}]
    ]
    assert turns([{"role": "system", "content": "x"}]) == []
