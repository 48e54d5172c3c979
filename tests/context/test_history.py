"""Units and their costs: joined they are the conversation, summed they are its render."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse import messages
from ctxcourse.errors import CourseError
from ctxcourse.history.protocol import (
    Compressed,
    HistoryError,
    checked_size,
    joined,
    newest,
    parted,
    step_costs,
    steps,
    turns,
)
from ctxcourse.messages import MessageError, normalise

from .strategies import conversations

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": {}}}
STEP = [
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "1"},
]
USER = {"role": "user", "content": "Hi"}


def test_steps_and_turns_are_those_of_the_messages():
    assert (steps, turns) == (messages.steps, messages.turns)
    assert steps([USER, *STEP]) == [[USER], STEP]
    assert turns([USER, *STEP, USER]) == [[USER, *STEP], [USER]]
    assert (steps([]), turns([])) == ([], [])


@given(talk=conversations())
def test_the_opening_and_the_steps_joined_are_the_conversation(talk):
    opening, units = parted(talk)
    assert joined([opening], units) == normalise(talk)
    assert all(message["role"] == "system" for message in opening)
    assert not units or units[0][0]["role"] != "system"
    assert all(len(unit) == 1 or len(unit) == 1 + len(unit[0]["tool_calls"]) for unit in units)


def test_a_conversation_that_is_not_paired_has_no_steps():
    with pytest.raises(MessageError, match="'c1'"):
        parted(STEP[1:])


@given(talk=conversations())
def test_the_costs_of_the_steps_add_up_to_the_whole_render(counter, talk):
    opening, units = parted(talk)
    assert counter.count_prompt(opening) + sum(step_costs(units, counter)) == counter.count_prompt(talk)


@pytest.mark.model
@given(talk=conversations())
def test_with_the_real_template_too(tokenizer, talk):
    opening, units = parted(talk)
    assert tokenizer.count_prompt(opening) + sum(step_costs(units, tokenizer)) == tokenizer.count_prompt(talk)


def test_costs_are_counted_only_as_far_as_they_are_asked_for(counter):
    costs = step_costs(iter([[USER], [{"role": "nobody"}]]), counter)
    assert next(costs) > 0
    with pytest.raises(MessageError, match="nobody"):
        next(costs)


@given(talk=conversations(), last=st.integers(1, 12))
def test_the_newest_steps_hold_the_last_messages_and_no_step_too_many(talk, last):
    _, units = parted(talk)
    number = newest(units, last)
    assert len(joined(units[len(units) - number :])) >= min(last, len(joined(units)))
    assert number == 0 or len(joined(units[len(units) - number + 1 :])) < last


@pytest.mark.parametrize("wrong", [0, -3, True, None, 2.0, "5", float("nan")])
def test_sizes_are_integers_from_one_up(wrong):
    with pytest.raises(HistoryError, match=r"the size must be (an integer|at least 1), not"):
        checked_size(wrong, "the size")


def test_a_size_says_by_how_much_it_is_too_small():
    with pytest.raises(HistoryError, match=r"not -4 \(5 too small\)"):
        checked_size(-4, "the size")
    assert issubclass(HistoryError, CourseError)
    assert issubclass(HistoryError, ValueError)


def test_integers_of_other_libraries_are_integers():
    import numpy as np

    assert type(checked_size(np.int64(7), "the size")) is int


def test_the_ratio_is_what_is_left():
    assert Compressed([], 200, 50).ratio == 0.25
    assert Compressed([], 0, 0).ratio == 1.0
