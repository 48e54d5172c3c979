"""Tools found by words: those that answer a query, and those whose names are near one that no tool has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.retrieval.relevance import bm25_scores, query_words, word_overlap, words
from ctxcourse.tools.text import search_text
from ctxcourse.toolschemas import Tool

METHODS = ("bm25", "overlap")

_NEAR = 0.6


class ToolIndex:
    """The words of some tools, gathered once, to hold queries against."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._texts = [search_text(tool) for tool in tools]
        self._ranker: Any = None

    def scores(self, query: str, method: str = "bm25") -> list[float]:
        """Return how well each tool answers a query, by one of the `METHODS`, in the order of the tools.

        Raises DocumentsError for a query that is no string.
        """
        wanted = query_words(query)
        if method == "overlap":
            return [word_overlap(query, text) for text in self._texts]
        if not wanted or any(_is_one_character(word) for word in wanted):
            return bm25_scores(query, self._texts)
        if self._ranker is None:
            gathered = [words(text) for text in self._texts]
            if not any(gathered):
                return [0.0] * len(gathered)
            import bm25s  # type: ignore[import-untyped, unused-ignore]

            self._ranker = bm25s.BM25(k1=1.5, b=0.75, method="lucene")  # as in bm25_scores, which indexes every time
            self._ranker.index(gathered, show_progress=False)
        return [float(score) for score in self._ranker.get_scores(wanted)]


def near_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that are most like ``name``, the nearest first: alike as a whole, or word by word.

    >>> near_names("read_log", ["search_logs", "page_on_call", "read_runbook"])
    ['search_logs', 'read_runbook']
    """
    ranked = sorted(((_likeness(name, other), other) for other in names), key=lambda pair: -pair[0])
    return [other for likeness, other in ranked[:most] if likeness >= _NEAR]


def _likeness(name: str, other: str) -> float:
    mine, theirs = words(name), words(other)
    by_word = [max((_ratio(word, candidate) for candidate in theirs), default=0.0) for word in mine]
    return max(_ratio(name.casefold(), other.casefold()), sum(by_word) / len(by_word) if by_word else 0.0)


def _ratio(first: str, second: str) -> float:
    return difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


def _is_one_character(word: str) -> bool:
    """Tell whether a word is one character of a script that parts no words: it may stand inside another word."""
    return not word.isascii() and regex.fullmatch(r"\X", word) is not None
