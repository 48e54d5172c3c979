"""Hand inputs that break context libraries to this package and to its peers, and write down what each returns.

    python benchmarks/edge_cases.py         writes benchmarks/edge_cases.md, in about a minute

The same inputs go to langchain-core, llama-index-core and haystack-ai, each by the function of it that comes nearest to
the job: `pip install -e .[bench]` installs them. What stands in the table is what came back or the error that was
raised, shortened; a dash means that the library has nothing for the job. No side sees more than a few seconds.
"""

from __future__ import annotations

import importlib
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from edge_inputs import READ

PAGE = Path(__file__).with_suffix(".md")
SIDES = ("edge_ours", "edge_langchain", "edge_llama", "edge_haystack")
SECONDS = 20
WIDEST = 190

CASES: dict[str, dict[str, tuple[str, str]]] = {
    "Messages and counting": {
        "default_system": ("one message, no system message: how many tokens?", "30: the template adds its own"),
        "dense_text": ("Chinese and a UUID: how many tokens?", "what the model's tokenizer counts"),
        "null_content": ("`content: null` beside a call; a result of `null`", "an empty string"),
        "json_arguments": ("a call's arguments as a JSON string", "parsed once"),
        "broken_arguments": ("arguments that are no JSON", "an error that names the call"),
        "parts": ("content as a list of text parts", "joined"),
        "unknown_part": ("a part of a type nobody knows", "refused by name"),
        "unknown_role": ("the role `critic`", "an error"),
        "orphan_result": ("a tool result that nobody asked for", "an error that names it"),
        "unanswered_call": ("a call that is never answered", "an error that names it"),
        "parallel_calls": ("two calls and their results, more than fits", "kept whole, left out whole, or cut"),
        "control_tokens": ("control tokens inside a user's text", "counted as text, not obeyed"),
        "no_messages": ("no messages at all", "a defined result"),
        "only_system": ("only a system message", "kept"),
        "first_tool": ("what the first of two like tools costs", "the preamble is a figure of its own"),
    },
    "Budget and trimming": {
        "system_too_large": ("a system message larger than the budget", "an error that says by how much"),
        "reserve_too_large": ("as much kept for the answer as the window has", "an error at construction"),
        "message_too_large": ("one message larger than the budget", "cut to whole tokens"),
        "summary_grows": ("a summary longer than what it replaces", "refused"),
        "empty_history": ("an empty history", "unchanged"),
        "stub_longer": ("an old tool result shorter than its stub", "left alone"),
        "emoji": ("text of joined emoji, cut", "no character is split"),
    },
    "Ordering, dedup, tools": {
        "even_number": ("best at the ends, of four and of five", "1 3 4 2; 1 3 5 4 2"),
        "ties_and_nan": ("scores 0.5, NaN, 0.5, 0.9 of a, b, c, d", "d a c b"),
        "empty_query": ("an empty query, and one of stop words alone", "no error, all scores 0"),
        "near_copies": ("two documents that differ in one sign", "the higher scored kept"),
        "intent_words": ("`test` as a keyword, “latest” in the query", "whole words: news only"),
        "schema": ("a property called `description`, prose trimmed", "the property stays"),
        "no_tools": ("zero tools wanted", "legal"),
        "unknown_tool": ("a tool that is not there", "an error"),
        "twice": ("two tools of one name", "an error"),
        "needle_answers": ("7,305; another number first; nothing; the question again", "hit, other, neither, hit"),
    },
}  # fmt: skip


@contextmanager
def in_time() -> Iterator[None]:
    """Raise TimeoutError where a library does not come back."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"not back after {SECONDS} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def answer(side: ModuleType, case: str) -> str:
    """Return what a side returns for a case, or its error, as the text of a cell."""
    job = getattr(side, case, None)
    if job is None and case in READ and case not in getattr(side, "LACKS", ()):
        job = partial(side.read, READ[case])
    if job is None:
        return "–"
    try:
        with in_time():
            found = job()
    except Exception as error:
        found = f"**{type(error).__name__}**: {' '.join(str(error).split())}"
    found = found if len(found) <= WIDEST else found[: WIDEST - 1] + "…"
    return found.replace("|", "\\|").replace("<", "&lt;")


def main() -> None:
    warnings.simplefilter("ignore")
    try:
        sides = [importlib.import_module(name) for name in SIDES]
    except ImportError as error:
        sys.exit(f"This table needs its peers ({error}): pip install -e .[bench]")
    names = [side.NAME for side in sides]
    lines = []
    for title, cases in CASES.items():
        lines += [f"## {title}", "", f"| input | right | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
        for case, (given, right) in cases.items():
            lines.append(f"| {given} | {right} | {' | '.join(answer(side, case) for side in sides)} |")
        lines.append("")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    PAGE.write_text(
        f"# Inputs that break context libraries, side by side\n\nMade by `python benchmarks/edge_cases.py` on "
        f"{date.today():%-d %B %Y}: {versions}.\nEvery cell is what came back, shortened; bold is an error that was "
        "raised, a dash stands where a library has nothing for\nthe job. Which function was called stands in "
        "`benchmarks/edge_*.py`. A library that returns its input unchanged may do so\non purpose and leave the rest "
        "to a server; the column “right” is what a course that counts and trims needs.\n\n" + "\n".join(lines),
        encoding="utf-8",
    )
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
