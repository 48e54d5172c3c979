"""What a query is about, by keywords: whole words, in any script."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.errors import CourseError
from ctxcourse.plain import kind, shown
from ctxcourse.retrieval.relevance import JOINED, SPACED, fold

_STARTS_SPACED = regex.compile(rf"(?V1)^{SPACED}")
_ENDS_SPACED = regex.compile(rf"(?V1){SPACED}\p{{M}}*$")
_ENDS_JOINED = regex.compile(rf"(?V1){JOINED}\p{{M}}*$")
_BETWEEN_WORDS = r"[\s_\p{Pd}]+"


class IntentError(CourseError, ValueError):
    """A query or a table of keywords that cannot be matched: the message names the category and the keyword."""


def intent(query: str, keywords: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the categories of which a keyword stands in the query, in the order of ``keywords``.

    A keyword is found as a whole word, in any case: ``test`` is in "Test it!" and in "run_test", not in "latest".
    Between the words of a phrase may stand white space, hyphens or underscores; other symbols are meant as they are
    written (``c++``, ``node.js``). Chinese, Japanese, Thai, Lao, Khmer and Burmese set no words apart, and Korean
    writes particles onto them: a keyword in their characters is found wherever these stand in a row, and cuts no
    character in two. Other forms of a word (tests, testing) are other words: list them.

    Raises IntentError for a query that is no string, a category whose keywords are no list, and an empty keyword.

    >>> table = {"testing": ["test", "unit tests"], "weather": ["forecast", "天気"]}
    >>> intent("What is the latest?", table), intent("Run the unit-tests", table), intent("東京の天気は", table)
    ([], ['testing'], ['weather'])
    """
    if not isinstance(query, str):
        raise IntentError(f"the query must be a string, not {kind(query)}: {shown(query)}")
    if not isinstance(keywords, Mapping):
        raise IntentError(f"the keywords must be a dict of lists, by category, not {kind(keywords)}: {shown(keywords)}")
    patterns = {category: _patterns(category, listed) for category, listed in keywords.items()}
    text = fold(query)
    return [category for category, listed in patterns.items() if any(pattern.search(text) for pattern in listed)]


def _patterns(category: str, keywords: Any) -> list[regex.Pattern[str]]:
    if isinstance(keywords, str | bytes | Mapping):
        raise IntentError(
            f"the keywords of {category!r} must be a list, not {kind(keywords)}: {shown(keywords)}; write [keyword]"
        )
    try:
        listed = list(keywords)
    except TypeError:
        raise IntentError(f"the keywords of {category!r} must be a list, not {kind(keywords)}") from None
    patterns = [_pattern(keyword) if isinstance(keyword, str) else None for keyword in listed]
    for keyword, pattern in zip(listed, patterns, strict=True):
        if pattern is None:
            raise IntentError(f"a keyword of {category!r} is {shown(keyword)}: write a word, or leave it out")
    return [pattern for pattern in patterns if pattern is not None]


@functools.lru_cache(maxsize=10_000)
def _pattern(keyword: str) -> regex.Pattern[str] | None:
    """Return the pattern of a keyword, its words and the boundary that each end needs; None if there is no word."""
    parts = [part for part in regex.split(_BETWEEN_WORDS, fold(keyword)) if part]
    if not parts:
        return None
    whole = _BETWEEN_WORDS.join(regex.escape(part) for part in parts)
    before = rf"(?<!{SPACED}\p{{M}}*)" if _STARTS_SPACED.search(parts[0]) else ""
    if _ENDS_SPACED.search(parts[-1]):
        after = rf"(?![{SPACED}\p{{M}}])"
    else:
        after = r"(?!\p{M})" if _ENDS_JOINED.search(parts[-1]) else ""
    return regex.compile(f"(?V1){before}{whole}{after}")
