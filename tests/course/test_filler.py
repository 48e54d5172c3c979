"""Filler: plain sentences, all different, without what could pass for an answer; as long as records in tokens."""

from __future__ import annotations

import re
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.errors import CourseError
from ctxcourse.needle import LONGEST, SENTENCE, numbers, register
from ctxcourse.needle.filler import SENTENCES, FillerError, filler
from ctxcourse.needle.owners import OWNERS

lengths = st.integers(0, len(SENTENCES))
seeds = st.integers(0, 10**9)

WORDS = {word for sentence in SENTENCES for word in re.findall(r"\w+", sentence.casefold())}
NUMBER_WORDS = """zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
hundred thousand first second third fourth half once twice dozen single double number numbers digit digits"""
LOOKALIKE = {"ticket", "owner", "extension", "phone", "telephone", "call", "register", "reach", "reached"}


def test_there_are_enough_and_all_differ():
    assert len(SENTENCES) == len(set(SENTENCES)) >= LONGEST
    assert len({sentence.casefold() for sentence in SENTENCES}) == len(SENTENCES)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_is_one_plain_sentence_on_one_line(sentence):
    assert re.fullmatch(r"[A-Z][a-z]*( [a-z]+)+, [a-z]+( [a-z]+)+\.", sentence)
    assert not numbers(sentence)


def test_no_word_looks_like_the_answer():
    content_words = set(re.findall(r"[a-z]{5,}", SENTENCE.casefold()))
    assert {"ticket", "assigned", "reached", "extension"} <= content_words
    assert WORDS & (content_words | LOOKALIKE) == set()
    assert WORDS & set(NUMBER_WORDS.split()) == set()


def test_no_part_of_an_owners_name_is_a_word_of_it():
    parts = {part.casefold() for owner in OWNERS for part in re.split(r"[ -]", owner)}
    assert WORDS & parts == set()


@given(lengths, seeds)
def test_a_draw_is_distinct_repeatable_and_the_beginning_of_a_longer_one(lines, seed):
    drawn = filler(lines, seed)
    assert len(drawn) == len(set(drawn)) == lines
    assert set(drawn) <= set(SENTENCES)
    assert drawn == filler(lines, seed) == filler(len(SENTENCES), seed)[:lines]


def test_seeds_draw_different_lines_and_all_of_them_in_the_end():
    assert len({tuple(filler(24, seed)) for seed in range(50)}) == 50
    assert {line for seed in range(200) for line in filler(24, seed)} == set(SENTENCES)


@pytest.mark.parametrize("lines", [-1, len(SENTENCES) + 1, 2.0, True, "3", None])
def test_impossible_numbers_of_lines_are_refused(lines):
    with pytest.raises(FillerError, match=rf"lines=.*from 0 to {len(SENTENCES)}") as caught:
        filler(lines)
    assert isinstance(caught.value, CourseError)


@pytest.mark.parametrize("seed", [-1, 1.0, True, "1", None])
def test_impossible_seeds_are_refused(seed):
    with pytest.raises(FillerError, match="seed="):
        filler(3, seed)


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer()


@pytest.mark.model
def test_each_line_is_as_long_as_a_record_to_two_tokens(tokenizer):
    record = mean(tokenizer.count_text(line + "\n") for seed in range(5) for line in register(LONGEST, seed).lines)
    sizes = {sentence: tokenizer.count_text(sentence + "\n") for sentence in SENTENCES}
    assert {sentence: size for sentence, size in sizes.items() if abs(size - record) > 2} == {}


@pytest.mark.model
@pytest.mark.parametrize("records", [3, 8, 25, 50, 90, LONGEST])
@pytest.mark.parametrize("share", [0, 1 / 8, 1 / 2, 3 / 4])
def test_a_mixed_list_has_the_size_of_a_pure_one(tokenizer, records, share):
    for seed in range(10):
        pure = register(records, seed).lines
        kept = 1 + round(share * (records - 1))
        mixed = pure[:kept] + filler(records - kept, seed)
        size, expected = tokenizer.count_text("\n".join(mixed)), tokenizer.count_text("\n".join(pure))
        assert abs(size - expected) <= 0.03 * expected, (seed, size, expected)
