"""The tools of an operations team, in catalogues of any size up to fifty, with categories and their keywords."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ctxcourse.plain import shown
from ctxcourse.tools.toolset import Toolset, ToolsetError
from ctxcourse.toolschemas import Tool

SIZES = (5, 10, 20, 50)
"""The sizes of catalogue that the lesson compares."""

INVESTIGATION = 12
"""The number of tools of the incident investigation, with which every catalogue begins."""

_FILES = ("operations_tools.json", "more_operations_tools.json")


def load_tools() -> list[Tool]:
    """Return the twelve tools of the incident investigation, as a fresh copy.

    They were written for this course, to cost what the published twelve do (whose wording is not published): with the
    default model's tokenizer and template 1,817 tokens in all, 80 (``get_current_time``) to 263 (``search_tickets``)
    each, and 1,291 when `ctxcourse.tools.text.trim_prose` has been over them.

    >>> [tool["function"]["name"] for tool in load_tools()][:2]
    ['get_current_time', 'search_logs']
    """
    return catalogue(INVESTIGATION).tools


def catalogue(n: int = INVESTIGATION) -> Toolset:
    """Return the first ``n`` of fifty tools: the twelve of the investigation, then their neighbours.

    Every size has the same categories, of which small ones leave some empty. The first five tools come from five
    categories.

    Raises ToolsetError unless ``n`` is an integer from 0 to 50.

    >>> len(catalogue(50)), catalogue(5).categories["time"]
    (50, ('get_current_time',))
    """
    parts = [_read(name) for name in _FILES]
    tools = [tool for part in parts for tool in part["tools"]]
    if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n <= len(tools):
        raise ToolsetError(f"a catalogue has from 0 to {len(tools)} tools, not {shown(n)}")
    there = {tool["function"]["name"] for tool in tools[:n]}
    categories: dict[str, list[str]] = {}
    for part in parts:
        for category, names in part["categories"].items():
            categories.setdefault(category, []).extend(name for name in names if name in there)
    return Toolset(tools[:n], categories)


def load_keywords() -> dict[str, list[str]]:
    """Return the words that speak of each category, for `ctxcourse.retrieval.intent`.

    >>> "logs" in load_keywords()["logs"]
    True
    """
    keywords: dict[str, list[str]] = {}
    for name in _FILES:
        for category, listed in _read(name)["keywords"].items():
            keywords.setdefault(category, []).extend(listed)
    return keywords


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((files("ctxcourse.samples") / name).read_text(encoding="utf-8"))
    return content
