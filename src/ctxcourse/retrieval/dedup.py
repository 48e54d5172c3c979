"""Near-duplicates: of two documents that say nearly the same, only the better one is worth its tokens.

What this module does not do: see that one document is contained in another, or that two which are alike in all words
but one differ in the very number that was asked for. Look at what was dropped.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar

from ctxcourse.plain import kind, shown
from ctxcourse.retrieval.ordering import DocumentsError, best_first, checked_documents, checked_scores
from ctxcourse.retrieval.relevance import fold, words

T = TypeVar("T")

_BLOCK = 256
_ROUNDING = 1e-9  # of products with the limit, which must cost no pair


@dataclass(frozen=True)
class Dropped(Generic[T]):
    """A document that was dropped, and the kept one that makes it superfluous; the indices are those of the input.

    ``likeness`` is how alike the two are, from 0 to 1, and the highest among all kept documents.
    """

    index: int
    document: T
    because_of_index: int
    because_of: T
    likeness: float


@dataclass(frozen=True)
class Dedup(Generic[T]):
    """What is left of a list of documents, in its order, and what was dropped, in its order.

    ``kept_indices`` says which of the input were kept, so that scores can follow. ``tokens_won_back`` is the sum of the
    dropped documents' own tokens; what joins documents in a prompt comes on top.
    """

    kept: list[T]
    kept_indices: list[int]
    dropped: list[Dropped[T]]
    tokens_won_back: int


class _Reason(NamedTuple):
    """A kept document that another is too much like."""

    kept: int
    likeness: float


def dedup(
    documents: Sequence[T],
    scores: Sequence[float] | None = None,
    *,
    count: Callable[[str], int],
    threshold: float = 0.8,
    embeddings: Any = None,
    text: Callable[[T], str] | None = None,
) -> Dedup[T]:
    """Return the documents without those that are more than ``threshold`` alike to a better one.

    How alike two documents are is the share of their distinct `words` that both have (the Jaccard index: in both,
    divided by in either); with ``embeddings``, an array with one row of any length for each document, it is the cosine
    of their rows. Documents without words are alike where their text is the same.

    Documents are taken from the highest score to the lowest (equal scores in their order, NaN last; without ``scores``
    the list is the order), and each is kept unless it is too much like one that was kept before. So no two of the kept
    are too much alike; of two that are, the lower scored goes; and a dropped document drops no other: where A is like B
    and B like C, but A is not like C, the best of the three decides whether A and C are kept, or B alone.

    ``count`` counts the tokens of a text; ``text`` gives the text of a document that is no string. By words, only such
    pairs are compared as share one of their rarest words, which takes time in proportion to the number of documents
    where most have some words of their own. By embeddings, every pair is compared.

    Raises DocumentsError for documents without text, scores that do not belong to them, a threshold outside 0 to 1, and
    embeddings that are not one row of finite numbers for each document.

    >>> found = dedup(["The shard is slow.", "Lunch is at noon.", "the SHARD is slow"], [0.4, 0.1, 0.9], count=len)
    >>> found.kept, found.tokens_won_back
    (['Lunch is at noon.', 'the SHARD is slow'], 18)
    >>> [(drop.index, drop.because_of_index, drop.likeness) for drop in found.dropped]
    [(0, 2, 1.0)]
    """
    listed = checked_documents(documents)
    order = list(range(len(listed))) if scores is None else best_first(checked_scores(listed, scores))
    texts = [_text(index, document, text) for index, document in enumerate(listed)]
    if not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        raise DocumentsError(f"the threshold must be a number from 0 to 1, not {shown(threshold)}")
    limit = float(threshold)
    if embeddings is None:
        reasons = _alike_by_words([_distinct_words(item) for item in texts], order, limit)
    else:
        reasons = _alike_by_cosine(embeddings, order, limit)
    kept = [index for index in range(len(listed)) if index not in reasons]
    dropped = [
        Dropped(index, listed[index], reason.kept, listed[reason.kept], reason.likeness)
        for index, reason in sorted(reasons.items())
    ]
    won_back = sum(count(texts[drop.index]) for drop in dropped)
    return Dedup([listed[index] for index in kept], kept, dropped, won_back)


def _text(index: int, document: Any, text: Callable[[Any], str] | None) -> str:
    content = document if text is None else text(document)
    if isinstance(content, str):
        return content
    if text is None:
        raise DocumentsError(
            f"document {index} is no string but {kind(document)}: say where its text is, as in "
            "text=lambda document: document['text']"
        )
    raise DocumentsError(f"the text of document {index} must be a string, not {kind(content)}: {shown(content)}")


def _distinct_words(text: str) -> frozenset[str]:
    """Return the distinct words of a text; of a text without any, its folded self, which is no word."""
    return frozenset(words(text)) or frozenset([" ".join(fold(text).split())])


def _alike_by_words(texts: Sequence[frozenset[str]], order: Sequence[int], limit: float) -> dict[int, _Reason]:
    """Return the documents to drop, each with its reason.

    By prefix filtering (Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007): two documents above the limit
    share more than limit × n of the n words of either, so that if the words of both are sorted from the rarest, they
    have one in common among the first n − limit × n of each. No pair above the limit is missed.
    """
    frequency = Counter(word for distinct in texts for word in distinct)
    by_rarity = sorted(frequency, key=lambda word: (frequency[word], word))
    numbers = {word: number for number, word in enumerate(by_rarity)}  # compared faster than words
    numbered = [frozenset(numbers[word] for word in distinct) for distinct in texts]
    kept: list[int] = []
    places: defaultdict[int, list[int]] = defaultdict(list)  # where in ``kept`` a word is among the rarest
    reasons = {}
    for index in order:
        own = numbered[index]
        rarest = sorted(own)[: len(own) - int(limit * len(own) - _ROUNDING)]
        reason = None
        for place in sorted({place for word in rarest for place in places[word]}):
            likeness = _jaccard(own, numbered[kept[place]], limit)
            if likeness > (reason.likeness if reason else limit):
                reason = _Reason(kept[place], likeness)
        if reason:
            reasons[index] = reason
            continue
        for word in rarest:
            places[word].append(len(kept))
        kept.append(index)
    return reasons


def _jaccard(one: frozenset[int], other: frozenset[int], more_than: float) -> float:
    """Return the share of words that both have, or 0.0 where their numbers alone keep it from exceeding a value."""
    if min(len(one), len(other)) <= more_than * max(len(one), len(other)) - _ROUNDING:
        return 0.0
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def _alike_by_cosine(embeddings: Any, order: Sequence[int], limit: float) -> dict[int, _Reason]:
    """Return the documents to drop, each with its reason; a block of documents is compared by one matrix product."""
    import numpy as np

    rows = _unit_rows(embeddings, len(order))[np.asarray(order, dtype=np.intp)]
    kept: list[int] = []  # rows, from the best
    reasons = {}
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        before = len(kept)
        earlier, within = block @ rows[np.asarray(kept, dtype=np.intp)].T, block @ block.T
        for offset in range(len(block)):
            likenesses = np.concatenate([earlier[offset], within[offset, [row - start for row in kept[before:]]]])
            nearest = int(likenesses.argmax()) if kept else 0
            likeness = min(float(likenesses[nearest]), 1.0) if kept else 0.0
            if likeness > limit:
                reasons[order[start + offset]] = _Reason(order[kept[nearest]], likeness)
            else:
                kept.append(start + offset)
    return reasons


def _unit_rows(embeddings: Any, number: int) -> Any:
    """Return the embeddings as rows of unit length; a row of zeros, which has no direction, stays one."""
    import numpy as np

    try:
        rows = np.asarray(embeddings, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DocumentsError(f"the embeddings are no array of numbers: {error}") from None
    if rows.ndim != 2 or len(rows) != number:
        if number == 0 and rows.size == 0:
            return np.zeros((0, 1))
        raise DocumentsError(
            f"the embeddings must have one row for each of the {number:,} documents, not the shape {rows.shape}"
        )
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise DocumentsError(f"the embedding of document {int(finite.argmin())} holds a number that is not finite")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
