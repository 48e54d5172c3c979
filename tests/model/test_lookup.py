"""Prompt lookup, against a search that compares every place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.model.lookup import LONGEST, SHORTEST, Lookup

# numbers whose bytes look alike when they are shifted: 0x00000001, 0x00000100, … and 0x01010101
tokens = st.sampled_from([0, 1, 256, 65_536, 16_777_216, 16_843_009])
texts = st.lists(st.integers(0, 2), max_size=40) | st.lists(tokens, max_size=40) | st.lists(st.integers(0, 151_935))


def compare_every_place(ids: list[int], most: int) -> list[int]:
    for length in range(LONGEST, SHORTEST - 1, -1):
        for start in range(len(ids) - length - 1, -1, -1):
            if ids[start : start + length] == ids[len(ids) - length :]:
                return ids[start + length :][:most]
    return []


@settings(max_examples=300, deadline=None)
@given(ids=texts, most=st.integers(0, 20))
def test_the_latest_place_of_the_longest_ending(ids: list[int], most: int) -> None:
    assert Lookup(ids).guess(most) == compare_every_place(ids, most)


@settings(max_examples=100, deadline=None)
@given(ids=texts, parts=st.lists(texts, max_size=5))
def test_tokens_that_are_added_count_like_those_of_the_beginning(ids: list[int], parts: list[list[int]]) -> None:
    lookup = Lookup(ids)
    for part in parts:
        lookup.add(part)
        ids = ids + part
        assert lookup.guess(9) == Lookup(ids).guess(9)


def test_a_guess_may_run_into_the_ending_itself() -> None:
    assert Lookup([7] * 5).guess(9) == [7]
    assert Lookup([1, 2, 1, 2, 1, 2]).guess(9) == [1, 2]


def test_nothing_is_guessed_for_a_text_without_repetition_or_for_no_tokens() -> None:
    assert Lookup(range(1_000)).guess(5) == []
    assert Lookup([]).guess(5) == []
    assert Lookup([1, 2, 3, 1, 2]).guess(0) == []
    assert Lookup([1, 2, 3, 1, 2]).guess(-1) == []
    assert Lookup([1, 2, 1]).guess(5) == [], "one token alone says too little"


def test_token_ids_are_compared_whole() -> None:
    # as bytes, 00 01 00 00 | 00 01 00 00 stands in 01 00 00 00 | 01 00 00 00 as well, one byte late
    assert Lookup([1, 1, 1, 9, 256, 256]).guess(3) == []
