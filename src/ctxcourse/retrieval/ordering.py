"""The order of documents in a prompt: the best at the two ends, where it is read best, the worst in the middle.

What this module does not do: decide what is good. It takes scores, from `ctxcourse.retrieval` or from anywhere else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, TypeVar

from ctxcourse.errors import CourseError
from ctxcourse.plain import kind, shown

T = TypeVar("T")


class DocumentsError(CourseError, ValueError):
    """Documents, scores or a threshold that cannot be worked with: the message says which, and what is possible."""


def best_first(scores: Sequence[float]) -> list[int]:
    """Return the indices of scores from the highest to the lowest.

    The sort is stable: equal scores keep their order, whatever they belong to. NaN, the score of what could not be
    scored, comes last, behind minus infinity. ``scores`` may be a list or an array.

    Raises DocumentsError for a score that is no real number.

    >>> best_first([0.2, float("nan"), 0.9, 0.2])
    [2, 0, 3, 1]
    """
    numbers = _as_floats(scores)
    scored = [index for index, score in enumerate(numbers) if not math.isnan(score)]
    unscored = [index for index, score in enumerate(numbers) if math.isnan(score)]
    return sorted(scored, key=lambda index: -numbers[index]) + unscored


def rank(items: Sequence[T], scores: Sequence[float]) -> list[T]:
    """Return items from the highest score to the lowest; equal scores keep their order, NaN comes last.

    The items may be of any type: they are never compared.

    Raises DocumentsError if there is not one score for each item, or a score is no real number.

    >>> rank(["shard", "owner", "deploy"], [0.1, 0.7, 0.7])
    ['owner', 'deploy', 'shard']
    """
    documents = checked_documents(items)
    return [documents[index] for index in best_first(checked_scores(documents, scores))]


def reorder(items: Sequence[T], scores: Sequence[float] | None = None) -> list[T]:
    """Return items with the best at the two ends: ranks 1 3 5 … from the front, ranks 2 4 6 … from the back.

    The best comes first and the second best last, for every number of items; the worst stands in the middle.
    Without ``scores`` the items are taken to be ranked already, the best first. Known as the remedy for what Liu et al.
    2023, "Lost in the Middle" (arXiv 2307.03172), measured; whether it helps a given model is a question of its own.

    Raises DocumentsError if there is not one score for each item, or a score is no real number.

    >>> reorder([1, 2, 3, 4, 5]), reorder([1, 2, 3, 4])
    ([1, 3, 5, 4, 2], [1, 3, 4, 2])
    >>> reorder(["poor", "good", "fair"], scores=[0.1, 0.9, 0.5])
    ['good', 'poor', 'fair']
    """
    ranked = checked_documents(items) if scores is None else rank(items, scores)
    return ranked[0::2] + ranked[1::2][::-1]


def checked_documents(items: Sequence[T]) -> list[T]:
    """Return the items as a list, or raise DocumentsError where one string or one dict was given instead of a list."""
    if isinstance(items, str | bytes | Mapping):
        raise DocumentsError(f"the documents must be a list, not one {kind(items)}: {shown(items)}; write [document]")
    try:
        return list(items)
    except TypeError:
        raise DocumentsError(f"the documents must be a list, not {kind(items)}: {shown(items)}") from None


def checked_scores(items: Sequence[Any], scores: Sequence[float]) -> list[float]:
    """Return the scores as floats, or raise DocumentsError if there is not one real number for each item."""
    numbers = _as_floats(scores)
    if len(numbers) != len(items):
        raise DocumentsError(f"there are {len(items):,} documents and {len(numbers):,} scores: give each its own")
    return numbers


def _as_floats(scores: Any) -> list[float]:
    """Return the scores as floats: of these, unlike of an array's small integers, every one has its negative."""
    if isinstance(scores, str | bytes | Mapping):
        raise DocumentsError(f"the scores must be a list of numbers, not {kind(scores)}: {shown(scores)}")
    try:
        values = scores.tolist() if hasattr(scores, "tolist") else list(scores)
        return [value if type(value) is float else _as_float(index, value) for index, value in enumerate(values)]
    except TypeError:
        raise DocumentsError(f"the scores must be a list of numbers, not {kind(scores)}: {shown(scores)}") from None


def _as_float(index: int, score: Any) -> float:
    if not isinstance(score, Real):
        wanted = "give float('nan') for a document without a score" if score is None else "convert it to a float"
        raise DocumentsError(f"score {index} must be a number, not {kind(score)}: {shown(score)}; {wanted}")
    try:
        return float(score)
    except OverflowError:
        raise DocumentsError(f"score {index} is larger than a float can be: {shown(score)}") from None
