"""Run every experiment as `--quick` does, with nothing remembered, and write `benchmarks/quick.md`.

    python benchmarks/quick.py                     ten commands, in about a quarter of an hour
    python benchmarks/quick.py position,length     some of them, printed only

Each runs in a process of its own: the weights are read first, then the experiment is timed. The course's aim is three
minutes for each. `memory` is the position experiment with as many trials as fill the prefix memory to its limit; the
aim is a peak of less than 3.5 GB.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ctxcourse import load_model
from ctxcourse.cli.experiment import QUICK
from ctxcourse.experiments import experiment
from ctxcourse.model.completions import CompletionStore
from ctxcourse.needle import sweeps, trials

PAGE = Path(__file__).with_suffix(".md")
MINUTES = 3
GIGABYTES = 3.5


@dataclass(frozen=True)
class Work:
    """A command, the calls that it makes, and what asks them."""

    command: str
    calls: Callable[[], Any]
    run: Callable[..., Any] = trials.run


def needle(command: str, design: str, calls: Callable[..., Any], count: int | None = None) -> Work:
    number = sweeps.QUICK[design] if count is None else count
    said = "--quick" if count is None else f"--trials {count}"
    return Work(f"ctxcourse needle {command} {said}", lambda: calls(trials=number))


def of_lesson(name: str, argument: str) -> Work:
    module = experiment(name)
    return Work(f"ctxcourse experiment {name} --quick", lambda: module.calls(**{argument: QUICK[name]}), module.run)


WORKS = {
    "position": needle("position", "move", sweeps.position),
    "rows": needle("position --design rows", "rows", sweeps.rows),
    "length": needle("length", "length", sweeps.length),
    "volume": needle("volume", "volume", sweeps.volume),
    "interference": needle("interference", "interference", sweeps.interference),
    "grid": needle("grid", "grid", sweeps.grid),
    "order": of_lesson("order", "trials"),
    "compress": of_lesson("compress", "documents"),
    "tools": of_lesson("tools", "tasks"),
    "memory": needle("position", "move", sweeps.position, 8),
}


def measured(name: str) -> tuple[dict[str, Any], float]:
    """Return the provenance of a run with an empty store, and the peak of the process's memory in 10^9 bytes."""
    work, model = WORKS[name], load_model()
    with tempfile.TemporaryDirectory() as folder:
        model.store = CompletionStore(Path(folder) / "completions.sqlite3")
        model.complete("Hello", max_new_tokens=2)
        model.forget()
        calls = work.calls()
        started = time.perf_counter()
        frame = work.run(calls, model, progress=False)
        about = {**frame.attrs["provenance"], "seconds": time.perf_counter() - started}
    unit = 1 if sys.platform == "darwin" else 1024
    return about, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def main() -> None:
    names = sys.argv[1].split(",") if len(sys.argv) > 1 else list(WORKS)
    lines = [
        "| command | calls | tokens in prompts | computed | seconds | peak, GB |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            about, peak = process.apply(measured, (name,))
        assert about["remembered"] == 0
        cells = [str(about["calls"]), *(f"{about[key]:,}" for key in ("tokens_in_prompts", "computed_tokens"))]
        lines.append(f"| `{WORKS[name].command}` | {' | '.join(cells)} | {about['seconds']:.0f} | {peak:.2f} |")
        print(lines[-1], flush=True)
    if names == list(WORKS):
        system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
        PAGE.write_text(
            f"# QUICK\n\nMade by `python benchmarks/quick.py` on {date.today():%-d %B %Y}: {system}.\n"
            "Every command in a process of its own, weights in memory, no answer remembered. The aim is "
            f"{MINUTES} minutes each; and less\nthan {GIGABYTES} GB at the peak of the position experiment, whose "
            "eight trials in the last row fill the memory for\nprefixes to its limit, as all 32 do.\n\n"
            + "\n".join(lines)
            + "\n",
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
