"""Ordering: the best at both ends, for every number of documents and whatever they are."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.retrieval.ordering import DocumentsError, best_first, rank, reorder

NAN = float("nan")
scores_of_any_kind = st.lists(
    st.one_of(
        st.sampled_from([0.0, -0.0, 0.5, 1.0, NAN, math.inf, -math.inf]), st.floats(), st.integers(-(10**20), 10**20)
    ),
    max_size=30,
)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([], []),
        ([1], [1]),
        ([1, 2], [1, 2]),
        ([1, 2, 3], [1, 3, 2]),
        ([1, 2, 3, 4], [1, 3, 4, 2]),
        ([1, 2, 3, 4, 5], [1, 3, 5, 4, 2]),
        ([1, 2, 3, 4, 5, 6], [1, 3, 5, 6, 4, 2]),
    ],
)
def test_odd_ranks_go_to_the_front_and_even_ranks_reversed_to_the_back(ranks, expected):
    assert reorder(ranks) == expected


@given(st.integers(2, 200))
def test_the_best_comes_first_and_the_second_best_last_whatever_the_parity(number):
    order = reorder(list(range(number)))
    assert (order[0], order[-1]) == (0, 1)
    assert sorted(order) == list(range(number))


@given(st.integers(0, 200))
def test_ranks_alternate_between_the_ends_and_the_worst_are_in_the_middle(number):
    order, taken = reorder(list(range(number))), []
    while order:
        taken.append(order.pop(0))
        if order:
            taken.append(order.pop())
    assert taken == list(range(number))


@given(scores_of_any_kind)
def test_every_order_is_a_permutation(scores):
    items = [object() for _ in scores]
    for ordered in (rank(items, scores), reorder(items, scores)):
        assert len(ordered) == len(items)
        assert {id(item) for item in ordered} == {id(item) for item in items}
    assert sorted(best_first(scores)) == list(range(len(scores)))


@given(scores_of_any_kind)
def test_ranks_descend_ties_keep_their_order_and_nan_comes_last(scores):
    order = best_first(scores)
    for before, after in itertools.pairwise(order):
        first, second = float(scores[before]), float(scores[after])
        if first == second or (math.isnan(first) and math.isnan(second)):
            assert before < after
        else:
            assert first > second or math.isnan(second)


@given(scores_of_any_kind)
def test_reorder_is_rank_laid_out(scores):
    items = list(range(len(scores)))
    assert reorder(items, scores) == reorder(rank(items, scores))


@pytest.mark.parametrize("number", [4, 5])
def test_tied_scores_leave_the_order_of_the_input(number):
    items = list(range(number))
    assert rank(items, [0.5] * number) == items
    assert reorder(items, [0.5] * number) == reorder(items)


@pytest.mark.parametrize(
    "items",
    [
        [{"text": "a"}, {"text": "b"}, {"text": "c"}],
        ["a", "b", "c"],
        [None, {1}, lambda: 0],
        [complex(1), "b", {"c": 0}],
        [["a"], ["b"], ["c"]],
    ],
)
def test_items_of_any_type_are_ordered_by_the_score_alone(items):
    a, b, c = items
    assert rank(items, [0.5, 0.5, 0.9]) == [c, a, b]
    assert reorder(items, [0.5, 0.5, 0.9]) == [c, b, a]


def test_nan_is_behind_minus_infinity_and_keeps_its_order():
    assert rank(["first", "a", "b", "best", "low"], [NAN, -math.inf, NAN, math.inf, -1]) == [
        "best",
        "low",
        "a",
        "first",
        "b",
    ]
    assert reorder(["a", "b"], [NAN, NAN]) == ["a", "b"]


@pytest.mark.parametrize(
    "scores",
    [
        np.array([3, 200, 100], dtype=np.uint8),
        np.array([-128, 127, 0], dtype=np.int8),
        np.array([0.1, 0.9, 0.5], dtype=np.float32),
        [np.float32(0.1), np.int64(1), True / 2],
        (Fraction(1, 3), 10**300, 2),
        range(0, -3, -1),
    ],
)
def test_scores_may_be_any_real_numbers(scores):
    assert [scores[index] for index in best_first(scores)] == sorted(scores, key=float, reverse=True)


def test_the_input_is_left_alone():
    items, scores = ["a", "b", "c"], [1, 3, 2]
    for ordered in (reorder(items), reorder(items, scores), rank(items, scores)):
        assert ordered is not items
    assert (items, scores) == (["a", "b", "c"], [1, 3, 2])


def test_any_iterable_of_documents_and_of_scores_will_do():
    assert reorder(iter("abcde")) == ["a", "c", "e", "d", "b"]
    assert rank({"a": 0, "b": 0}.keys(), iter([1, 2])) == ["b", "a"]


@pytest.mark.parametrize(
    ("items", "scores", "said"),
    [
        (["a", "b"], [1], "2 documents and 1 scores"),
        (["a"], [], "1 documents and 0 scores"),
        ([], [1], "0 documents and 1 scores"),
        (["a", "b"], [1, None], "score 1 must be a number, not null.*nan"),
        (["a", "b"], ["0.5", 1], "score 0 must be a number, not str: '0.5'"),
        (["a", "b"], np.ones((2, 2)), "score 0 must be a number, not list"),
        (["a"], [1j], "score 0 must be a number, not complex"),
        (["a"], [10**400], "score 0 is larger than a float can be"),
        (["a"], 0.5, "scores must be a list of numbers, not float"),
        (["a"], np.float64(0.5), "scores must be a list of numbers"),
        (["a"], "1", "scores must be a list of numbers, not str"),
        (["a"], {"a": 1}, "scores must be a list of numbers, not dict"),
        ("ab", [1, 2], "documents must be a list, not one str"),
        ({"text": "a"}, [1], "documents must be a list, not one dict"),
        (7, [1], "documents must be a list, not int"),
    ],
)
def test_what_cannot_be_ordered_is_refused_by_name(items, scores, said):
    for order in (rank, reorder):
        with pytest.raises(DocumentsError, match=said):
            order(items, scores)


def test_the_error_is_one_of_the_course_and_a_value_error():
    assert issubclass(DocumentsError, CourseError)
    assert issubclass(DocumentsError, ValueError)
