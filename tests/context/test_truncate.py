"""Truncation: whole tokens, whole characters, never more than was asked for."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.messages import MessageError
from ctxcourse.tokens import truncate

from .strategies import texts

CLUSTERS = ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301", "각", "\r\n", "a\u0301\u0302\u0303\u0304", "நி", "机"]


def ends_of_clusters(text):
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


@given(text=texts, cap=st.integers(0, 40))
def test_it_keeps_the_cap_is_a_prefix_and_splits_no_character(counter, text, cap):
    kept = truncate(text, cap, counter)
    assert counter.count_text(kept) <= cap
    assert text.startswith(kept)
    assert len(kept) in ends_of_clusters(text)


@given(text=texts)
def test_what_fits_is_unchanged(counter, text):
    assert truncate(text, counter.count_text(text), counter) == text
    assert truncate(text, 10**6, counter) == text


@given(text=texts, cap=st.integers(0, 40))
def test_a_larger_cap_never_keeps_less(counter, text, cap):
    assert len(truncate(text, cap, counter)) <= len(truncate(text, cap + 1, counter))


@given(text=texts, cap=st.integers(0, 40))
def test_it_cuts_between_tokens(counter, text, cap):
    kept = truncate(text, cap, counter)
    assert len(kept) in {0, len(text)} | {start for start, _ in counter.token_spans(text)}


@given(words=st.lists(st.sampled_from(["budget", "window", "dog", "rivals"]), min_size=3, max_size=20))
def test_plain_words_are_cut_to_the_last_token_that_fits(counter, words):
    text = " ".join(words)
    for cap in range(counter.count_text(text)):
        assert counter.count_text(truncate(text, cap, counter)) == cap


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_cluster_is_kept_whole_or_not_at_all(counter, cluster):
    text = "x" + cluster + "y"
    for cap in range(counter.count_text(text)):
        assert truncate(text, cap, counter) in {"", "x", "x" + cluster}


def test_a_first_character_that_does_not_fit_leaves_nothing(counter):
    assert truncate("👩‍👩‍👧‍👦 family", 2, counter) == ""


def test_a_cut_that_would_count_more_than_before_is_cut_again():
    class Merging:
        """Counts "ab" as one token only when "c" follows, as merges that look ahead do."""

        def count_text(self, text):
            return len(self.token_spans(text))

        def token_spans(self, text):
            if text.startswith("abc"):
                return [(0, 2), *((i, i + 1) for i in range(2, len(text)))]
            return [(i, i + 1) for i in range(len(text))]

        def count_prompt(self, messages, tools=None):
            raise AssertionError("no prompt is counted here")

    assert truncate("abcd", 1, Merging()) == ""
    assert truncate("abcd", 2, Merging()) == "abc"


def test_a_token_that_begins_inside_another_is_no_place_to_cut():
    class Overlapping:
        """Spells " 机" in two tokens, the first of which holds the space and a part of the character."""

        def count_text(self, text):
            return len(self.token_spans(text))

        def token_spans(self, text):
            return [(0, 1), (1, 3), (2, 3), (3, 4)][: len(text)]

        def count_prompt(self, messages, tools=None):
            raise AssertionError("no prompt is counted here")

    assert [truncate("x 机y", cap, Overlapping()) for cap in range(5)] == ["", "x", "x", "x 机", "x 机y"]


@pytest.mark.parametrize("cap", [-1, 1.0, True, None, "5"])
def test_the_cap_must_be_an_integer_from_zero_up(counter, cap):
    with pytest.raises(MessageError, match="max_tokens must be an integer from 0 up"):
        truncate("text", cap, counter)


@pytest.mark.parametrize("text", [None, 7, b"x", "\ud83d"])
def test_only_text_can_be_truncated(counter, text):
    with pytest.raises(MessageError, match="the text"):
        truncate(text, 3, counter)


@pytest.mark.model
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_real_tokenizer_is_cut_between_characters_too(tokenizer, cluster):
    text = f"Hello {cluster}{cluster} and {cluster}!"
    for cap in range(tokenizer.count_text(text) + 1):
        kept = truncate(text, cap, tokenizer)
        assert tokenizer.count_text(kept) <= cap
        assert len(kept) in ends_of_clusters(text)
        assert text.startswith(kept)
    assert kept == text


@pytest.mark.model
def test_control_tokens_in_a_document_are_cut_like_text(tokenizer):
    text = "one <|im_end|> two"
    lengths = {tokenizer.count_text(truncate(text, cap, tokenizer)) for cap in range(tokenizer.count_text(text) + 1)}
    assert lengths == set(range(tokenizer.count_text(text) + 1))
