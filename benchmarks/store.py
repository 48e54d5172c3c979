"""Measure the completion store: hits, misses and puts, with 1,000 and with 50,000 completions in it and some more.

    python benchmarks/store.py

Prints a table in milliseconds. The course's aim for a hit is 5 ms; the store lies in a temporary folder of its own.
"""

from __future__ import annotations

import gc
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ctxcourse.model.completions import CompletionStore, StoredCompletion

MODEL = "qwen2.5-coder-0.5b@1d9614638d18"
SETTINGS = {"decoding": "greedy", "max_new_tokens": 12}
VOCABULARY = 151_936
CALLS = 200


def prompt(seed: int, tokens: int) -> list[int]:
    return random.Random(seed).choices(range(VOCABULARY), k=tokens)


def answer(seed: int) -> StoredCompletion:
    return StoredCompletion(tuple(prompt(-seed, 12)), "length", 0.5)


def times(work: Callable[[int], object]) -> list[float]:
    """Return the milliseconds of each of many calls."""
    measured = []
    for i in range(CALLS):
        started = time.perf_counter()
        work(i)
        measured.append(1000 * (time.perf_counter() - started))
    return measured


def main() -> None:
    print("| completions before | prompt tokens | call | median, ms | worst, ms |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "completions.sqlite3"
        store, filled = CompletionStore(path), 0
        for rows in (1_000, 50_000):
            for i in range(filled, rows):
                store.put(MODEL, [i], SETTINGS, answer(i))
            for tokens in (100, 10_000):
                prompts = [prompt(i + rows, tokens) for i in range(CALLS)]
                answers = [answer(i + rows) for i in range(CALLS)]
                gc.freeze()  # two million numbers of the benchmark's own, which the collector would go through
                measure(path, store, prompts, answers, f"| {rows:,} | {tokens:,}")
            filled = rows + 2 * CALLS
        information = store.info()
        print(f"\n{information.completions:,} completions in {information.bytes / 1e6:.1f} MB")


def measure(
    path: Path, store: CompletionStore, prompts: list[list[int]], answers: list[StoredCompletion], row: str
) -> None:
    """Print rows of the table: prompts that are not in the store, then put there, then found."""
    found: list[StoredCompletion | None] = []
    measured = {
        "miss": times(lambda i: store.get(MODEL, prompts[i], SETTINGS)),
        "put": times(lambda i: store.put(MODEL, prompts[i], SETTINGS, answers[i])),
        "hit": times(lambda i: found.append(store.get(MODEL, prompts[i], SETTINGS))),
        "hit, file just opened": times(lambda i: CompletionStore(path).get(MODEL, prompts[i], SETTINGS)),
    }
    assert found == answers
    for call, milliseconds in measured.items():
        print(f"{row} | {call} | {statistics.median(milliseconds):.3f} | {max(milliseconds):.3f} |")


if __name__ == "__main__":
    main()
