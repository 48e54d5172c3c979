"""Intervals and paired tests against published figures, closed formulas and symmetry."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.stats import Interval, StatsError, mcnemar, wilson

counts = st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
outcomes = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


# R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
# Table I, method 3: the score interval without continuity correction, 95 %.
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_published_intervals(hits, n, low, high):
    found = wilson(hits, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


@given(counts, st.floats(0.5, 0.999))
def test_the_interval_is_the_closed_formula(count, confidence):
    hits, n = count
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = hits / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    assert wilson(hits, n, confidence) == pytest.approx((centre - half, centre + half), abs=1e-9)


@given(counts)
def test_the_interval_holds_the_share_and_mirrors_it(count):
    hits, n = count
    found, mirrored = wilson(hits, n), wilson(n - hits, n)
    assert 0 <= found.low <= hits / n <= found.high <= 1
    assert found.low < found.high
    assert mirrored == pytest.approx((1 - found.high, 1 - found.low), abs=1e-12)
    assert (wilson(0, n).low, wilson(n, n).high) == (0.0, 1.0)


def test_more_trials_and_less_confidence_make_it_narrower():
    widths = [found.high - found.low for found in (wilson(20, 32, 0.99), wilson(20, 32), wilson(200, 320))]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3


def test_counts_from_tables_are_counts_and_the_ends_are_plain_floats():
    found = wilson(np.int64(3), np.int32(4))
    assert found == wilson(3, 4)
    assert isinstance(found, Interval)
    assert {type(end) for end in found} == {float}
    assert {type(end) for end in wilson(0, 4)} == {float}


@pytest.mark.parametrize(
    ("hits", "n", "said"),
    [
        (0, 0, "n=0.*at least one trial"),
        (0, -1, "n=-1"),
        (-1, 4, "hits=-1.*from 0 to 4"),
        (5, 4, "hits=5.*from 0 to 4"),
        (2.0, 4, "hits=2.0.*whole number"),
        (1, 4.0, "n=4.0.*whole number"),
        (True, 4, "hits=True"),
        (None, 4, "hits=None"),
        (float("nan"), 4, "hits=nan"),
        ("1", 4, "hits='1'"),
    ],
)
def test_impossible_counts_are_refused_with_the_value(hits, n, said):
    with pytest.raises(StatsError, match=said) as caught:
        wilson(hits, n)
    assert isinstance(caught.value, CourseError)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan"), True, "0.95", None])
def test_impossible_confidences_are_refused(confidence):
    with pytest.raises(StatsError, match="confidence="):
        wilson(1, 2, confidence)


def pairs(both, only_first, only_second, neither):
    table = [(True, True)] * both + [(True, False)] * only_first
    table += [(False, True)] * only_second + [(False, False)] * neither
    first, second = zip(*table, strict=True)
    return first, second


# M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research
# Methodology 13:91 (2013), exact conditional test: airway hyper-responsiveness before and after stem cell
# transplantation (21 children), and complete response before and after consolidation therapy (161 patients).
@pytest.mark.parametrize(
    ("table", "p"),
    [((1, 1, 7, 12), 0.070), ((59, 6, 16, 80), 0.052)],
)
def test_published_paired_tests(table, p):
    found = mcnemar(*pairs(*table))
    assert found[:4] == table
    assert round(found.p, 3) == p


@given(outcomes)
def test_swapping_the_conditions_swaps_the_counts_and_keeps_p(table):
    first, second = zip(*table, strict=True)
    there, back = mcnemar(first, second), mcnemar(second, first)
    assert back.p == pytest.approx(there.p, rel=1e-12)
    assert (back.both, back.neither) == (there.both, there.neither)
    assert (back.only_first, back.only_second) == (there.only_second, there.only_first)
    assert back.difference == -there.difference


@given(outcomes)
def test_the_counts_add_up_and_p_is_twice_the_smaller_tail(table):
    first, second = zip(*table, strict=True)
    found = mcnemar(first, second)
    assert sum(found[:4]) == len(table)
    assert found.difference == pytest.approx((sum(first) - sum(second)) / len(table))
    differing, fewer = found.only_first + found.only_second, min(found.only_first, found.only_second)
    tail = sum(math.comb(differing, each) for each in range(fewer + 1)) / 2**differing
    assert found.p == pytest.approx(min(1.0, 2 * tail))


@given(outcomes, st.randoms())
def test_the_order_of_the_trials_does_not_matter(table, draw):
    shuffled = list(table)
    draw.shuffle(shuffled)
    assert mcnemar(*zip(*table, strict=True)) == mcnemar(*zip(*shuffled, strict=True))


@pytest.mark.parametrize("table", [(3, 0, 0, 2), (0, 0, 0, 1), (1, 0, 0, 0)])
def test_without_a_trial_that_differs_p_is_one(table):
    assert mcnemar(*pairs(*table)) == (*table, 0.0, 1.0)


def test_outcomes_from_tables_are_outcomes():
    expected = mcnemar([True, False], [False, False])
    assert mcnemar(np.array([True, False]), pd.Series([False, False])) == expected
    assert mcnemar(pd.Series([True, False], dtype="boolean"), np.array([False, False])) == expected
    assert type(expected.p) is float


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([True], [True, False], "first has 1 trials and second has 2"),
        ([], [], "no trials"),
        ([True, "hit"], [True, True], r"first\[1\] is 'hit'"),
        ([True, True], [True, None], r"second\[1\] is None"),
        ([True, True], [float("nan"), True], r"second\[0\] is nan"),
        (pd.Series([True, pd.NA], dtype="boolean"), [True, True], r"first\[1\] is <NA>"),
        ([1], [0], r"first\[0\] is 1"),
    ],
)
def test_what_cannot_be_paired_is_refused(first, second, said):
    with pytest.raises(StatsError, match=said):
        mcnemar(first, second)
