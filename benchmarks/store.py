"""Measure the completion store: hits, misses and puts, with 1,000 and with 50,000 completions in it and some more.

    python benchmarks/store.py              writes benchmarks/store.md, in about a minute

The table is in milliseconds; the course's aim for a hit is 5 ms. The store lies in a temporary folder of its own.
"""

from __future__ import annotations

import gc
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from ctxcourse import load_model, needle
from ctxcourse.model.completions import CompletionStore, StoredCompletion

MODEL = "qwen2.5-coder-0.5b@1d9614638d18"
SETTINGS = {"decoding": "greedy", "max_new_tokens": 12}
VOCABULARY = 151_936
CALLS = 200
PAGE = Path(__file__).with_suffix(".md")


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
    lines = ["| completions before | prompt tokens | call | median, ms | worst, ms |", "|---|---|---|---|---|"]
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
                lines += measure(path, store, prompts, answers, f"| {rows:,} | {tokens:,}")
            filled = rows + 2 * CALLS
        information = store.info()
        lines += asked(CompletionStore(Path(folder) / "asked.sqlite3"))
    lines += ["", f"{information.completions:,} completions took {information.bytes / 1e6:.1f} MB."]
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    PAGE.write_text(
        f"# The completion store\n\nMade by `python benchmarks/store.py` on {date.today():%-d %B %Y}: {system}. Of "
        f"{CALLS} calls each, on a disk that others use, too.\n`complete` is the whole call of a model that finds its "
        "answer in the store: the prompt rendered and tokenised, the store\nlooked into, the answer decoded; no "
        "weights are read for it.\n\n" + "\n".join(lines) + "\n",
        encoding="utf-8",
    )
    print(PAGE.read_text(encoding="utf-8"))


def asked(store: CompletionStore) -> list[str]:
    """Return a row for calls of `Model.complete` that are in the store: one question to each line of 25 records."""
    model = load_model()
    model.store = store
    register = needle.register(25, seed=1)
    prompts = [needle.messages(register, row) for row in range(25)]
    sizes = []
    for number, messages in enumerate(prompts):
        ids = model.encode_prompt(messages)
        sizes.append(len(ids))
        store.put(model.fingerprint, ids, SETTINGS, answer(number))
    model.complete(prompts[0], max_new_tokens=12, remember=True)
    found = times(lambda i: model.complete(prompts[i % 25], max_new_tokens=12, remember=True).remembered)
    median, worst = statistics.median(found), max(found)
    return [f"| 25 | {round(statistics.mean(sizes)):,} | `complete`, a hit | {median:.3f} | {worst:.3f} |"]


def measure(
    path: Path, store: CompletionStore, prompts: list[list[int]], answers: list[StoredCompletion], row: str
) -> list[str]:
    """Return rows of the table: prompts that are not in the store, then put there, then found."""
    found: list[StoredCompletion | None] = []
    measured = {
        "miss": times(lambda i: store.get(MODEL, prompts[i], SETTINGS)),
        "put": times(lambda i: store.put(MODEL, prompts[i], SETTINGS, answers[i])),
        "hit": times(lambda i: found.append(store.get(MODEL, prompts[i], SETTINGS))),
        "hit, file just opened": times(lambda i: CompletionStore(path).get(MODEL, prompts[i], SETTINGS)),
    }
    assert found == answers
    return [
        f"{row} | {call} | {statistics.median(milliseconds):.3f} | {max(milliseconds):.3f} |"
        for call, milliseconds in measured.items()
    ]


if __name__ == "__main__":
    main()
