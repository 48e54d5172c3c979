"""Near-duplicates: the higher scored is kept, nobody is dropped without a kept reason, and no pair is missed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.retrieval.dedup import Dedup, dedup
from ctxcourse.retrieval.ordering import DocumentsError, best_first
from ctxcourse.retrieval.relevance import words

from .strategies import texts

NAN = float("nan")
A = "one two three four five six seven eight nine ten"
B = A.replace("one", "eleven")  # shares 9 of 11 words with A
C = B.replace("two", "twelve")  # shares 9 of 11 words with B and 8 of 12 with A
OTHER = "an altogether different document"


def count(text: str) -> int:
    return len(words(text))


def jaccard(one: str, other: str) -> float:
    first, second = set(words(one)), set(words(other))
    if not first or not second:
        return float(not first and not second and one.casefold().split() == other.casefold().split())
    return len(first & second) / len(first | second)


def every_pair(documents, scores, likeness, threshold):
    """The rule, spelled out: from the best to the worst, keep what is not too much like a document kept before."""
    kept = []
    for index in best_first(scores):
        if all(likeness(documents[index], documents[other]) <= threshold for other in kept):
            kept.append(index)
    return sorted(kept)


def check(found: Dedup, documents, scores, likeness, threshold):
    """What must hold whatever the documents are."""
    dropped = [drop.index for drop in found.dropped]
    assert found.kept == [documents[index] for index in found.kept_indices]
    assert sorted(found.kept_indices + dropped) == list(range(len(documents)))
    assert (found.kept_indices, dropped) == (sorted(found.kept_indices), sorted(dropped))
    order = best_first(scores)
    for drop in found.dropped:
        assert drop.document == documents[drop.index]
        assert drop.because_of == documents[drop.because_of_index]
        assert drop.because_of_index in found.kept_indices
        assert order.index(drop.because_of_index) < order.index(drop.index)
        assert drop.likeness == pytest.approx(likeness(drop.document, drop.because_of), abs=1e-9)
        assert threshold < drop.likeness <= 1.0
        better = [i for i in found.kept_indices if order.index(i) < order.index(drop.index)]
        assert drop.likeness >= max(likeness(drop.document, documents[i]) for i in better) - 1e-9


SMALL_WORDS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
alike = st.lists(st.lists(st.sampled_from(SMALL_WORDS), max_size=12).map(" ".join), max_size=12)
scores_of = st.sampled_from([0.0, 0.5, 1.0, NAN, -math.inf])


@given(alike, st.data(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0]))
def test_no_pair_is_missed_and_the_higher_scored_is_kept(documents, data, threshold):
    scores = data.draw(st.lists(scores_of, min_size=len(documents), max_size=len(documents)))
    found = dedup(documents, scores, count=count, threshold=threshold)
    assert found.kept_indices == every_pair(documents, scores, jaccard, threshold)
    check(found, documents, scores, jaccard, threshold)
    assert found.tokens_won_back == sum(map(count, documents)) - sum(map(count, found.kept))


@given(st.lists(texts, max_size=8))
def test_a_copy_is_always_dropped_and_what_is_kept_stays(documents):
    doubled = documents + documents
    found = dedup(doubled, count=count)
    assert set(found.kept_indices) <= set(range(len(documents)))
    assert dedup(found.kept, count=count).kept == found.kept


vectors = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=3, max_size=3), max_size=12)


def cosine(one, other):
    lengths = math.sqrt(sum(x * x for x in one) * sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


@given(vectors, st.data(), st.sampled_from([0.05, 0.33, 0.65, 0.81, 0.99]))
def test_by_embeddings_no_pair_is_missed_either(rows, data, threshold):
    scores = data.draw(st.lists(scores_of, min_size=len(rows), max_size=len(rows)))
    documents = [str(row) for row in rows]
    of_text = dict(zip(documents, rows, strict=True))

    def likeness(one, other):
        return cosine(of_text[one], of_text[other])

    embeddings = np.array(rows, dtype=np.float32).reshape(len(rows), 3)
    found = dedup(documents, scores, count=len, threshold=threshold, embeddings=embeddings)
    assert found.kept_indices == every_pair(documents, scores, likeness, threshold)
    check(found, documents, scores, likeness, threshold)


def test_more_documents_than_a_block_are_compared_across_blocks():
    rows = np.random.default_rng(0).normal(size=(300, 64))
    doubled = np.concatenate([rows, 3 * rows[::-1] + 1e-3])
    documents = [str(number) for number in range(600)]
    found = dedup(documents, count=len, embeddings=doubled)
    assert found.kept_indices == list(range(300))
    assert [(drop.index, drop.because_of_index) for drop in found.dropped] == [(i, 599 - i) for i in range(300, 600)]


@pytest.mark.parametrize(("scores", "kept"), [([0.2, 0.9], [B]), ([0.9, 0.2], [A]), ([0.5, 0.5], [A]), (None, [A])])
def test_of_two_near_duplicates_the_higher_scored_is_kept_or_the_earlier(scores, kept):
    found = dedup([A, B], scores, count=count)
    assert found.kept == kept
    assert found.tokens_won_back == 10
    assert found.dropped[0].likeness == 9 / 11


@pytest.mark.parametrize("scores", [[NAN, 0.0], [NAN, -math.inf]])
def test_a_document_without_a_score_goes_before_any_other(scores):
    assert dedup([A, B], scores, count=count).kept == [B]


def test_exactly_four_fifths_is_not_more():
    assert len(dedup(["a b c d", "a b c d e"], count=count).kept) == 2
    assert len(dedup(["a b c d e f g h i", "a b c d e f g h i j"], count=count).kept) == 1
    assert len(dedup(["x", "x"], count=count, embeddings=[[3, 4], [0, 2]]).kept) == 2


def test_a_threshold_of_one_drops_nothing_and_of_zero_whatever_shares_a_word():
    assert len(dedup([A, A], count=count, threshold=1).kept) == 2
    assert len(dedup(["x", "x"], count=count, threshold=1, embeddings=[[0.1, 0.7], [0.3, 2.1]]).kept) == 2
    assert dedup([A, "ten pins", OTHER], count=count, threshold=0).kept == [A, OTHER]


def test_a_dropped_document_drops_no_other():
    first = dedup([A, B, C], [3, 2, 1], count=count)
    assert first.kept == [A, C]
    assert [(drop.document, drop.because_of) for drop in first.dropped] == [(B, A)]
    middle = dedup([A, B, C], [2, 3, 1], count=count)
    assert middle.kept == [B]
    assert [(drop.document, drop.because_of) for drop in middle.dropped] == [(A, B), (C, B)]
    assert middle.tokens_won_back == 20


def test_the_reason_is_the_most_similar_of_the_kept():
    found = dedup([A, B, "other words", A.upper()], [3, 2, 2, 1], count=count, threshold=0.85)
    assert [(drop.index, drop.because_of_index, drop.likeness) for drop in found.dropped] == [(3, 0, 1.0)]
    equally = dedup(["a b c d e f", "a b c d e g", "a b c d e"], count=count, threshold=0.75)
    assert [(drop.index, drop.because_of_index) for drop in equally.dropped] == [(2, 0)]


def test_order_case_repetition_and_punctuation_make_no_difference():
    assert dedup([A, f"{A.upper()}! {A}"], count=count).kept == [A]
    assert dedup([A, " ".join(reversed(A.split()))], count=count).kept == [A]
    assert dedup(["東京の天気", "大阪の天気", "東京の天気。"], count=count).kept_indices == [0, 1]


def test_documents_without_words_are_alike_only_where_their_text_is():
    found = dedup(["", "🚀", "word", " \n", "🚀 ", "?", "🚀🚀"], count=len)
    assert found.kept == ["", "🚀", "word", "?", "🚀🚀"]
    assert [(drop.index, drop.because_of_index) for drop in found.dropped] == [(3, 0), (4, 1)]


def test_an_embedding_of_zeros_is_like_no_other():
    zeros = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    assert dedup(["a", "b", "c"], count=len, embeddings=zeros, threshold=0.0).kept == ["a", "b", "c"]


def test_lists_of_nothing_and_of_one():
    for embeddings in (None, [], np.zeros((0, 384))):
        assert dedup([], [], count=len, embeddings=embeddings) == Dedup([], [], [], 0)
    assert dedup([""], [NAN], count=len) == Dedup([""], [0], [], 0)


def test_documents_of_any_type_with_a_text():
    documents = [{"id": 7, "text": A}, {"id": 8, "text": B}]
    found = dedup(documents, [1, 2], count=len, text=lambda document: document["text"])
    assert found.kept == [documents[1]]
    assert found.dropped[0].document is documents[0]
    assert found.tokens_won_back == len(A)


def test_only_the_dropped_are_counted():
    counted = []
    dedup([A, B, OTHER], count=lambda text: counted.append(text) or 1)
    assert counted == [B]


def test_a_thousand_templates_and_their_copies():
    documents = [f"Ticket INC-{n} is assigned to owner{n}, extension {n:04}, since day {n % 30}." for n in range(1000)]
    found = dedup(documents + documents, [*range(1000), *range(1, 1001)], count=count)
    assert found.kept == documents
    assert found.kept_indices == list(range(1000, 2000))


@pytest.mark.parametrize(
    ("documents", "more", "said"),
    [
        (["a", 7], {}, "document 1 is no string but int: say where its text is"),
        ([{"text": "a"}], {}, r"document 0 is no string but dict.*text=lambda document: document\['text'\]"),
        ([{"text": None}], {"text": lambda d: d["text"]}, "text of document 0 must be a string, not null"),
        ("one document", {}, "must be a list, not one str"),
        (["a"], {"scores": [1, 2]}, "1 documents and 2 scores"),
        (["a"], {"threshold": 80}, "from 0 to 1, not 80"),
        (["a"], {"threshold": NAN}, "from 0 to 1, not nan"),
        (["a"], {"threshold": "0.8"}, "from 0 to 1, not '0.8'"),
        (["a"], {"embeddings": [[1.0], [2.0]]}, r"one row for each of the 1 documents, not the shape \(2, 1\)"),
        (["a", "b"], {"embeddings": [1.0, 2.0]}, r"not the shape \(2,\)"),
        (["a", "b"], {"embeddings": [[1.0], [NAN]]}, "embedding of document 1 holds a number that is not finite"),
        (["a", "b"], {"embeddings": [[1.0], [1.0, 2.0]]}, "embeddings are no array of numbers"),
        (["a"], {"embeddings": "a"}, "embeddings are no array of numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(documents, more, said):
    with pytest.raises(DocumentsError, match=said):
        dedup(documents, count=len, **more)
