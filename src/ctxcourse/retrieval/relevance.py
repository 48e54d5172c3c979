"""How relevant a document is to a query, judged by its words: overlap, BM25, and a threshold.

What this module does not do: see that two different words mean the same. That takes embeddings, and `bm25_scores` and
`word_overlap` give 0 to a document about cars where the query says automobiles.
"""

from __future__ import annotations

import itertools
import math
import re
import unicodedata
from collections.abc import Collection, Sequence
from numbers import Real
from typing import Any, TypeVar

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.plain import kind, shown
from ctxcourse.retrieval.ordering import DocumentsError, checked_documents, checked_scores

T = TypeVar("T")

# The function words of English, and what an apostrophe leaves behind (don't: don, t). They say nothing of a topic.
_FUNCTION_WORDS = """
a about all am an and any are as at be because been before being but by can could d did do does doing don during
each for from had has have having he her here hers him his how i if in into is it its just ll m me more most my no
not of on or our ours re s she should so some such t than that the their theirs them then there these they this those
through to too up us ve very was we were what when where which while who whom why will with would you your yours
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())

# Scripts that put no space between words, and Hangul, which does, but writes particles and endings onto the word.
_JOINED_SCRIPTS = "".join(
    rf"\p{{scx={script}}}" for script in ("Han", "Hira", "Kana", "Bopo", "Hang", "Thai", "Laoo", "Khmr", "Mymr")
)
# Classes for version 1 of `regex`: letters and digits of those scripts, and of all others. Marks go with their letter.
JOINED = rf"[[{_JOINED_SCRIPTS}]&&[\p{{L}}\p{{N}}]]"
SPACED = rf"[[\p{{L}}\p{{N}}]--[{_JOINED_SCRIPTS}]]"

_RUNS = regex.compile(rf"(?V1)((?:{JOINED}\p{{M}}*)+)|(?:{SPACED}\p{{M}}*)+")
_SINGLE = regex.compile(rf"(?V1)(?={JOINED})\X")
_ASCII_WORDS = re.compile("[a-z0-9]+")
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufeff]")


def fold(text: str) -> str:
    """Return text in the form in which it is compared: without case, compatibility forms and invisible joiners.

    The typographic apostrophe becomes the plain one.

    >>> fold("Straße ＡＢＣ don’t")
    "strasse abc don't"
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", folded)).replace("’", "'")


def words(text: str) -> list[str]:
    """Return the words of a text, case-folded, in order, each as often as it occurs.

    A word is a run of letters, marks and digits; everything else separates, underscores, hyphens and apostrophes too.
    To find words where a script sets none apart (Chinese, Japanese, Thai, Lao, Khmer, Burmese) would take a dictionary:
    a run of such a script gives its pairs of neighbouring characters instead, as search engines do it, and a single
    character gives itself. So does Korean, whose nouns bear their particles.

    Raises DocumentsError if ``text`` is no string.

    >>> words("Don't read search_logs in the Café!")
    ['don', 't', 'read', 'search', 'logs', 'in', 'the', 'café']
    >>> words("東京の天気 2026")
    ['東京', '京の', 'の天', '天気', '2026']
    """
    folded = fold(_checked(text, "the text"))
    if folded.isascii():
        return _ASCII_WORDS.findall(folded)
    found = []
    for run in _RUNS.finditer(folded):
        if run[1] is None:
            found.append(run[0])
        else:
            found += _pairs(regex.findall(r"\X", run[1]))
    return found


def _pairs(characters: list[str]) -> list[str]:
    if len(characters) == 1:
        return characters
    return [first + second for first, second in itertools.pairwise(characters)]


def query_words(query: str, stop_words: Collection[str] = STOP_WORDS) -> list[str]:
    """Return the words of a query that say what it is about: its `words` without the stop words.

    ``stop_words`` are given case-folded; an empty collection keeps every word. The list is empty for a query that is
    empty or all stop words: such a query judges no document.

    >>> query_words("What is the shard of the outage?"), query_words("What is it?")
    (['shard', 'outage'], [])
    """
    return [word for word in words(_checked(query, "the query")) if word not in stop_words]


def word_overlap(query: str, text: str, stop_words: Collection[str] = STOP_WORDS) -> float:
    """Return the fraction, from 0 to 1, of a query's distinct words that a text has.

    0.0 for a query without words to look for (empty, or all stop words). ``stop_words=()`` counts every word, as the
    simplest published version does.

    Raises DocumentsError if ``query`` or ``text`` is no string.

    >>> word_overlap("Which shard is slow?", "The payments SHARD was restarted.")
    0.5
    >>> word_overlap("What is it?", "What is it?")
    0.0
    """
    wanted = set(query_words(query, stop_words))
    found = _terms(text, _single(wanted), "the text")
    return len(wanted.intersection(found)) / len(wanted) if wanted else 0.0


def bm25_scores(query: str, documents: Sequence[str], stop_words: Collection[str] = STOP_WORDS) -> list[float]:
    """Return the BM25 score of each document, 0 or higher, in the order of the documents.

    A rare word counts for more than a common one, a second occurrence for less than the first, and a word in a long
    document for less than in a short one. The scores have no upper limit and depend on the whole collection: compare
    them with each other, never with a fixed threshold. All are 0.0 for a query without words to look for. Computed by
    bm25s with the words of this module (k1 = 1.5, b = 0.75, the variant of Lucene; Lù 2024, arXiv 2407.03618).

    Raises DocumentsError if the query or a document is no string.

    >>> scores = bm25_scores("payments shard", ["the payments shard", "the payments team", "lunch"])
    >>> scores[0] > scores[1] > scores[2] == 0.0
    True
    """
    wanted = query_words(query, stop_words)
    single = _single(wanted)
    collection = [
        _terms(document, single, f"document {index}") for index, document in enumerate(checked_documents(documents))
    ]
    if not wanted or not any(collection):
        return [0.0] * len(collection)
    import bm25s  # type: ignore[import-untyped, unused-ignore]

    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    index.index(collection, show_progress=False)
    return [float(score) for score in index.get_scores(wanted)]


def relevant(
    documents: Sequence[T],
    scores: Sequence[float],
    threshold: float = 0.1,
    *,
    query: str | None = None,
    stop_words: Collection[str] = STOP_WORDS,
) -> list[T]:
    """Return the documents whose score reaches the threshold, in their order; NaN reaches none.

    Name the ``query`` where it comes from a user: if it has no words to look for (`query_words`), its scores say
    nothing of the documents, and all of them are returned as they came. Without it, scores that are all 0 mean that no
    document matches, and none is returned.

    Raises DocumentsError if there is not one score for each document, or the threshold is no number.

    >>> relevant(["shard", "owner", "lunch"], [0.5, 0.1, 0.05])
    ['shard', 'owner']
    >>> relevant(["shard", "owner"], [0.0, 0.0], query="What is it?")
    ['shard', 'owner']
    """
    listed = checked_documents(documents)
    numbers = checked_scores(listed, scores)
    if not isinstance(threshold, Real) or math.isnan(threshold):
        raise DocumentsError(f"the threshold must be a number, not {shown(threshold)}")
    if query is not None and not query_words(query, stop_words):
        return listed
    return [document for document, score in zip(listed, numbers, strict=True) if score >= threshold]


def _single(wanted: Collection[str]) -> set[str]:
    """Return the words of a query that are one character of a script without spaces."""
    return {word for word in wanted if _SINGLE.fullmatch(word)}


def _terms(text: str, single: set[str], where: str) -> list[str]:
    """Return the words of a text; such single characters as are asked for count wherever they stand."""
    found = words(_checked(text, where))
    if not single:
        return found
    characters = [character for character in regex.findall(r"\X", fold(text)) if character in single]
    return [word for word in found if word not in single] + characters


def _checked(text: Any, where: str) -> str:
    if not isinstance(text, str):
        raise DocumentsError(f"{where} must be a string, not {kind(text)}: {shown(text)}")
    return text
