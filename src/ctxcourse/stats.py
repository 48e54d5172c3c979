"""How sure a count is, and whether two counts on the same trials differ.

An accuracy of 27 in 32 is one draw of what the model does; the interval says which accuracies go well with it. Two
accuracies that come from the same trials are compared pair by pair, which is sharper than to look whether their
intervals overlap. The figures are scipy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ctxcourse.errors import CourseError


class StatsError(CourseError, ValueError):
    """Counts that cannot be, or results that cannot be paired: the message says which and why."""


class Interval(NamedTuple):
    """The ends of an interval for a share, each from 0 to 1."""

    low: float
    high: float


class Paired(NamedTuple):
    """What came of the same trials under two conditions.

    The first four fields count trials: a hit under ``both``, ``only_first``, ``only_second``, ``neither``.
    ``difference`` is the share of hits under the first condition less that under the second; ``p`` is two-sided.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    difference: float
    p: float


def wilson(hits: int, n: int, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval for a share of ``hits`` in ``n`` trials, without continuity correction.

    It stays within 0 and 1 and keeps a width at 0 and at ``n`` hits, where the textbook interval has none. Raises
    `StatsError` for no trials at all, for hits that are not whole or not from 0 to n, and for a confidence that does
    not lie between 0 and 1. Source: E. B. Wilson (1927); method 3 in R. G. Newcombe (1998), Statistics in Medicine 17.

    >>> low, high = wilson(27, 32)
    >>> f"{27 / 32:.0%}: {low:.0%} to {high:.0%}"
    '84%: 68% to 93%'
    """
    n = _whole("n", n)
    hits = _whole("hits", hits)
    if n < 1:
        raise StatsError(f"n={n}: a share needs at least one trial")
    if not 0 <= hits <= n:
        raise StatsError(f"hits={hits}: of {n} trials, from 0 to {n} can be hits")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise StatsError(f"confidence={confidence!r}: it is a number between 0 and 1, such as 0.95")
    from scipy.stats import binomtest  # type: ignore[import-untyped, unused-ignore]

    found = binomtest(hits, n).proportion_ci(confidence, method="wilson")
    return Interval(float(found.low), float(found.high))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> Paired:
    """Compare two conditions on the same trials by McNemar's exact test.

    ``first[i]`` and ``second[i]`` say whether trial ``i`` was a hit under each condition. Only the trials that differ
    count: if the conditions are alike, each is as likely to favour one as the other, and p is the two-sided binomial
    probability of a split as uneven as this. It is 1.0 where no trial differs. Raises `StatsError` for sequences of
    different lengths, without trials, or with something other than true and false. Source: Q. McNemar (1947),
    Psychometrika 12.

    >>> mcnemar([True] * 6 + [False] * 2, [False] * 8)
    Paired(both=0, only_first=6, only_second=0, neither=2, difference=0.75, p=0.03125)
    """
    one, other = _outcomes("first", first), _outcomes("second", second)
    if len(one) != len(other):
        raise StatsError(f"first has {len(one)} trials and second has {len(other)}: pairs need the same trials in both")
    if not one:
        raise StatsError("there are no trials to compare")
    pairs = list(zip(one, other, strict=True))
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    differing = only_first + only_second
    p = 1.0
    if differing:
        from scipy.stats import binomtest

        p = float(binomtest(only_first, differing, 0.5).pvalue)
    return Paired(
        both=pairs.count((True, True)),
        only_first=only_first,
        only_second=only_second,
        neither=pairs.count((False, False)),
        difference=(only_first - only_second) / len(pairs),
        p=p,
    )


def _whole(name: str, value: Any) -> int:
    """Return a count as an int; numpy's integers, as tables hold them, are whole numbers too."""
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return int(value.__index__())
    raise StatsError(f"{name}={value!r}: a count is a whole number")


def _outcomes(name: str, outcomes: Sequence[bool]) -> list[bool]:
    """Return outcomes as Python's own booleans; a missing one must not count as a hit or as a miss."""
    from numpy import bool_

    wrong = next((place for place, value in enumerate(outcomes) if not isinstance(value, bool | bool_)), None)
    if wrong is not None:
        value = list(outcomes)[wrong]
        raise StatsError(f"{name}[{wrong}] is {value!r}: a trial is a hit (True) or none (False)")
    return [bool(value) for value in outcomes]
