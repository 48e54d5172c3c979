"""Relevance: words in any script, their overlap, BM25, and a threshold that never empties a list without a reason."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.retrieval.ordering import DocumentsError, rank, reorder
from ctxcourse.retrieval.relevance import STOP_WORDS, bm25_scores, fold, query_words, relevant, word_overlap, words

from .strategies import texts

DOCUMENTS = [
    "The payments shard pay-shard-7 is slow.",
    "Lunch is served at noon.",
    "Payments: the team confirmed the affected shard, and the shard alone.",
    "",
]
NOTHING_TO_LOOK_FOR = ["", "   \n", "What is it?", "To be, or not to be", "?!… 🚀", "Don't!"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t ", []),
        ("🚀 — … ?!", []),
        ("The THE the", ["the", "the", "the"]),
        ("read_log(x), user's error-rate: 0.5%", ["read", "log", "x", "user", "s", "error", "rate", "0", "5"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Ελλάδα ΣΊΣΥΦΟΣ σίσυφος", ["ελλάδα", "σίσυφοσ", "σίσυφοσ"]),
        ("Последний тест", ["последний", "тест"]),
        ("आपका हिन्दी अनुवाद", ["आपका", "हिन्दी", "अनुवाद"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("می\u200cخواهم co\u00adoperate", ["میخواهم", "cooperate"]),
        ("ＡＢＣ ﬁle x²", ["abc", "file", "x2"]),
        ("x\u0302 y", ["x\u0302", "y"]),
        ("猫", ["猫"]),
        ("測試 Python測試器。", ["測試", "python", "測試", "試器"]),
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("ที่นี่", ["ที่นี่"]),
        ("서울의 날씨", ["서울", "울의", "날씨"]),
        ("4417, ๔๔ and 1,817", ["4417", "๔๔", "and", "1", "817"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@given(texts)
def test_words_do_not_depend_on_case_normal_form_or_surroundings(text):
    found = words(text)
    assert found == words(fold(text)) == words(unicodedata.normalize("NFD", text))
    assert words(f"({text})\n") == found
    assert words(f"{text}. {text}") == found + found
    assert not any(word != word.strip() or not word for word in found)


@given(texts)
def test_the_case_of_ascii_is_folded_as_that_of_all_other_text(text):
    plain = text.encode("ascii", "ignore").decode()
    assert words(plain + " é")[:-1] == words(plain)


@given(texts, texts)
def test_overlap_is_a_fraction_and_all_of_it_is_found_in_the_query_itself(query, text):
    assert 0.0 <= word_overlap(query, text) <= 1.0
    assert word_overlap(query, f"{text} {query} {text}") == (1.0 if query_words(query) else 0.0)
    assert word_overlap(query, f"{query} {text}") >= word_overlap(query, text)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("payments shard", "The payments SHARD was restarted.", 1.0),
        ("payments shard", "shard shard shard", 0.5),
        ("shard shard shard slow", "shard", 0.5),
        ("Which shard is slow?", "the shard", 0.5),
        ("test", "the latest", 0.0),
        ("shard", "", 0.0),
        ("カフェの天気", "今日のカフェ", 0.4),
        ("猫", "我的猫很好", 1.0),
        ("猫 魚", "猫吃鱼，不吃魚", 1.0),
        ("ที่", "ที่นี่", 1.0),
        ("날씨", "서울의 날씨가 어때", 1.0),
        ("हिन्दी", "आपका हिन्दी अनुवाद", 1.0),
    ],
)
def test_overlap_is_the_share_of_the_querys_distinct_words(query, text, expected):
    assert word_overlap(query, text) == pytest.approx(expected)


def test_stop_words_are_a_choice():
    assert word_overlap("Where is the shard?", "shard") == 1.0
    assert word_overlap("Where is the shard?", "shard", stop_words=()) == 0.25
    assert word_overlap("wo ist der shard", "shard", stop_words={"wo", "ist", "der"}) == 1.0
    assert {word for stop in STOP_WORDS for word in words(stop)} == STOP_WORDS


@pytest.mark.parametrize("query", NOTHING_TO_LOOK_FOR)
def test_a_query_without_words_to_look_for_gives_the_order_of_the_input_and_no_error(query):
    for scores in ([word_overlap(query, document) for document in DOCUMENTS], bm25_scores(query, DOCUMENTS)):
        assert scores == [0.0] * len(DOCUMENTS)
        assert rank(DOCUMENTS, scores) == DOCUMENTS
        assert reorder(DOCUMENTS, scores) == reorder(DOCUMENTS)
        assert relevant(DOCUMENTS, scores, query=query) == DOCUMENTS


@pytest.mark.parametrize("documents", [[], [""], ["", "  ", "🚀"]])
def test_empty_documents_are_no_error(documents):
    assert bm25_scores("shard", documents) == [0.0] * len(documents)
    assert relevant(documents, [word_overlap("shard", document) for document in documents]) == []


def test_bm25_prefers_rare_words_more_of_them_and_short_documents():
    rare, common = bm25_scores("shard payments", ["shard x", "payments x", "payments y", "payments z"])[:2]
    assert rare > common > 0
    twice, once, never = bm25_scores("shard", ["shard shard x y", "shard z x y", "w z x y"])
    assert 2 * once > twice > once > never == 0.0
    short, long = bm25_scores("shard", ["a shard", "a shard in a document that goes on and on"])
    assert short > long


def test_bm25_is_the_formula():
    documents = ["payments shard slow", "shard", "lunch at noon today"]
    lengths, mean = [3, 1, 4], 8 / 3

    def score(frequency, length, having):
        saturated = frequency / (frequency + 1.5 * (0.25 + 0.75 * length / mean))
        return math.log(1 + (3 - having + 0.5) / (having + 0.5)) * saturated

    expected = [score(1, lengths[0], 2) + score(1, lengths[0], 1), score(1, lengths[1], 2), 0.0]
    assert bm25_scores("payments shard", documents) == pytest.approx(expected, rel=1e-5)


@given(st.lists(texts, max_size=8), texts)
def test_bm25_scores_follow_their_documents_and_are_above_zero_where_a_word_is_found(documents, query):
    scores = bm25_scores(query, documents)
    assert scores == pytest.approx(bm25_scores(query, documents[::-1])[::-1], rel=1e-5)
    assert all(isinstance(score, float) for score in scores)
    assert [score > 0 for score in scores] == [word_overlap(query, document) > 0 for document in documents]


def test_bm25_finds_single_characters_where_no_space_sets_them_apart():
    found = bm25_scores("猫", ["我的猫很好", "我的狗很好", "猫 猫"])
    assert found[2] > found[0] > found[1] == 0.0


def test_the_threshold_keeps_what_reaches_it_in_the_order_of_the_input():
    documents, scores = list("abcdef"), [0.1, 0.05, 0.9, float("nan"), -1, 0.5]
    assert relevant(documents, scores) == ["a", "c", "f"]
    assert relevant(documents, scores, threshold=0.5) == ["c", "f"]
    assert relevant(documents, np.array(scores), -math.inf) == ["a", "b", "c", "e", "f"]
    assert relevant([{"id": 1}, {"id": 2}], [0.0, 0.2]) == [{"id": 2}]


def test_documents_that_match_nothing_of_a_real_query_are_not_kept():
    assert relevant(["lunch", "noon"], [0.0, 0.0], query="shard") == []
    assert relevant(["lunch", "noon"], [0.0, 0.0]) == []


def test_the_stop_words_decide_what_is_a_real_query():
    assert relevant(["lunch"], [0.0], query="who") == ["lunch"]
    assert relevant(["lunch"], [0.0], query="who", stop_words=()) == []


def test_what_is_returned_is_never_the_input_itself():
    assert relevant(DOCUMENTS, [0.0] * 4, query="") is not DOCUMENTS


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: words(None), "the text must be a string, not null"),
        (lambda: word_overlap(b"shard", ""), "the query must be a string, not bytes"),
        (lambda: word_overlap("shard", {"text": "shard"}), "the text must be a string, not dict"),
        (lambda: word_overlap("", None), "the text must be a string, not null"),
        (lambda: bm25_scores("shard", ["a", None]), "document 1 must be a string, not null"),
        (lambda: bm25_scores("", ["a", 7]), "document 1 must be a string, not int: 7"),
        (lambda: bm25_scores("shard", "a document"), "must be a list, not one str"),
        (lambda: relevant(["a"], [0.1, 0.2]), "1 documents and 2 scores"),
        (lambda: relevant(["a"], [0.1], threshold=float("nan")), "threshold must be a number, not nan"),
        (lambda: relevant(["a"], [0.1], threshold="0.1"), "threshold must be a number, not '0.1'"),
        (lambda: relevant("a", [0.1]), "must be a list, not one str"),
    ],
)
def test_what_cannot_be_judged_is_refused_by_name(call, said):
    with pytest.raises(DocumentsError, match=said):
        call()
