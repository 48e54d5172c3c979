"""Hand inputs that break context libraries to this package and to its peers, and write down what each returns.

    python benchmarks/edge_cases.py         writes benchmarks/edge_cases.md, in about a minute

The same inputs, with the same sizes, go to langchain-core (langchain-community where it has more), llama-index-core and
haystack-ai, each by the function of it that comes nearest to the job, with its defaults: `pip install -e .[bench]`
installs them. What stands in the table is what came back or the error that was raised, shortened; a dash means that
the library has nothing for the job. No side has more than a few seconds.
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

import edge_inputs as given

PAGE = Path(__file__).with_suffix(".md")
SIDES = ("edge_ours", "edge_langchain", "edge_llama", "edge_haystack")
SECONDS = 20
WIDEST = 210

INTRODUCTION = """# Inputs that break context libraries, side by side

Made by `python benchmarks/edge_cases.py` on {date}: {versions}.
Every cell is what came back, shortened; bold is an error that was raised, a dash stands where these packages have
nothing for the job that works without another package or a model. Which function was called stands in
`benchmarks/edge_*.py`: the one that comes nearest to the job, with its defaults. Budgets are the same for all. Where a
library takes a counter of messages, as langchain-core and haystack-ai do, it is given this package's, which counts the
whole rendered prompt; llama-index-core counts texts, with this package's tokenizer, so that a prompt of what it returns
is larger by what the template writes. The sizes in brackets are whole prompts, counted afterwards. A library that
returns its input unchanged, or more than was allowed, may do so on purpose and leave the rest to a server or to its
caller; the column “right” is what a course that counts and trims needs.

"""

CASES: dict[str, dict[str, tuple[str, str]]] = {
    "Messages and counting": {
        "default_system": ("one message, no system message: how many tokens?", "30: the template adds its own"),
        "dense_text": ("Chinese, Thai, a UUID, code, JSON: how many tokens?", "what the model's tokenizer counts"),
        "null_content": ("`content: null` beside a call; a result of `null`", "an empty string"),
        "json_arguments": ("a call's arguments as a JSON string", "parsed once"),
        "broken_arguments": ("arguments that are no JSON", "an error that names the call"),
        "parts": ("content as a list of text parts", "joined"),
        "unknown_part": ("a part of a type nobody knows", "refused by name"),
        "unknown_role": ("the role `critic`", "an error"),
        "developer": ("the role `developer`", "the system's, or kept by name"),
        "orphan_result": ("a tool result that nobody asked for", "an error that names it"),
        "unanswered_call": ("a call that is never answered", "an error that names it"),
        "repaired": ("these two, repaired on request", "the result gone; the call gone"),
        "parallel_read": ("two calls in one message, and their results", "all four parts"),
        "parallel_calls": ("the same, {ROOM} tokens allowed", "within them, no part without the others"),
        "control_tokens": ("control tokens inside a user's text", "counted as text, not obeyed"),
        "no_messages": ("no messages at all", "a defined result"),
        "empty_content": ("an empty content", "a defined result"),
        "only_system": ("only a system message, {BUDGET} tokens allowed", "kept"),
        "first_tool": ("what the first of two like tools costs", "the preamble is a figure of its own"),
    },
    "Budget and trimming": {
        "system_too_large": ("a system message of 101 tokens, {BUDGET} allowed", "an error that says by how much"),
        "reserve_too_large": ("as much kept for the answer as the window has", "an error at construction"),
        "zero_budget": ("a budget of 0 tokens", "an error"),
        "negative_budget": ("a budget of −5 tokens", "an error"),
        "message_too_large": ("one message of 361 tokens, {BUDGET} allowed, to be cut", "cut to whole tokens"),
        "message_uncut": ("the same, not to be cut", "an error that says by how much"),
        "summary_grows": ("a summary longer than what it replaces, {ROOM} tokens allowed", "refused"),
        "tail_too_large": ("the newest messages over the trigger of {ROOM} tokens", "no summary every turn"),
        "fewer_turns": ("{KEEP} messages to be kept, of two", "unchanged"),
        "no_user_turn": ("four assistant messages, {ROOM} tokens allowed: room for all", "unchanged"),
        "no_user_over": ("the same, {BUDGET} tokens allowed", "the newest that fit"),
        "empty_history": ("an empty history", "unchanged"),
        "stub_longer": ("an old tool result shorter than its stub, {BUDGET} tokens allowed", "left alone"),
        "emoji": ("a text of joined emoji, cut to {BUDGET}", "no character is split"),
    },
    "Ordering, dedup, tools": {
        "even_number": ("best at the ends, of four and of five", "1 3 4 2; 1 3 5 4 2"),
        "ties_and_nan": ("scores 0.5, NaN, 0.5, 0.9 of a, b, c, d: the best first", "d a c b"),
        "dict_items": ("dicts as items a, b, c, scores 0.5, 0.5, 0.9: the best first", "c a b"),
        "empty_query": ("an empty query, three documents", "all of them, in their order"),
        "stop_words": ("a query of stop words alone", "all of them, in their order"),
        "empty_documents": ("three documents without words", "no error"),
        "near_copies": ("two documents that differ in one sign", "the higher scored kept"),
        "intent_words": ("`test` as a keyword, “latest” in the query", "whole words: news only"),
        "schema": ("properties `title`, `description`, `$ref` to an enum; annotations stripped", "these stay"),
        "no_tools": ("zero tools wanted", "legal"),
        "unknown_tool": ("a tool that is not there", "an error"),
        "twice": ("two tools of one name", "an error"),
        "needle_answers": (
            "the number with a comma; another number first; nothing; the question; the question, then the number",
            "hit, other record, neither, neither, hit",
        ),
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
    if job is None and case in given.READ and case not in getattr(side, "LACKS", ()):
        job = partial(side.read, given.READ[case])
    if job is None:
        return "–"
    try:
        with in_time():
            found = job()
    except Exception as error:
        found = given.failed(error)
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
        for case, (text, right) in cases.items():
            text = text.format(BUDGET=given.BUDGET, ROOM=given.ROOM, KEEP=given.KEEP)
            lines.append(f"| {text} | {right} | {' | '.join(answer(side, case) for side in sides)} |")
        lines.append("")
    packages = [package for side in sides for package in getattr(side, "PACKAGES", (side.NAME,))]
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    introduction = INTRODUCTION.format(date=f"{date.today():%-d %B %Y}", versions=versions)
    PAGE.write_text(introduction + "\n".join(lines), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
