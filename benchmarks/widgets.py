"""Measure how long a reader waits for the needle widgets, and write the table `benchmarks/widgets.md`.

    python benchmarks/widgets.py                     sliders, in the kernel and in JupyterLab, and Run: five minutes
    python benchmarks/widgets.py --without-browser   leave JupyterLab out (it needs Chromium and the test extra)
    python benchmarks/widgets.py --without-runs      sliders alone: no weights are read; prints, and writes nothing

Sliders move over the results that ship with the course, all the way and back. Beside a move stands what a notebook
would do without the widget, the same figure drawn by matplotlib; beside a Run, plain transformers on the same prompts.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

from widget_moves import Slider, draw_with_matplotlib, move_in_kernel, move_in_page, sliders
from widget_runs import TRIALS, Run, live_runs

from ctxcourse import load_model
from ctxcourse.model.artefacts import DEFAULT_MODEL
from ctxcourse.widgets import PositionExplorer

PAGE = Path(__file__).with_suffix(".md")
MOVE_GOAL = 150  # ms


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def both(numbers: Sequence[float], digits: int = 0) -> list[str]:
    """Return median and worst."""
    if not numbers:
        return ["", ""]
    return [f"{statistics.median(numbers):.{digits}f}", f"{max(numbers):.{digits}f}"]


def against(goal: float, seconds: Sequence[float]) -> list[str]:
    """Return median and worst, each that is over the goal in bold."""
    measured = (statistics.median(seconds), max(seconds))
    return [f"**{took:.2f}**" if took > goal else f"{took:.2f}" for took in measured]


def moves_table(moved: Sequence[Slider]) -> str:
    head = ["slider", "moves", "kernel: median", "worst", "JupyterLab: median", "worst", "matplotlib, each time"]
    return table(
        head,
        [
            [
                f"`{one.explorer}`, {one.name}" + (f", {one.start[1]} lines" if one.start else ""),
                str(len(one.kernel)),
                *both(one.kernel, 1),
                *both(one.page),
                f"{one.peer:.0f}" if one.peer else "",
            ]
            for one in moved
        ],
    )


def runs_table(runs: Sequence[Run]) -> str:
    head = ["records", "Run", "goal", "median", "worst", "prompt tokens", "computed", "plain: median", "worst"]
    return table(
        head,
        [
            [
                str(run.records),
                run.what,
                f"{run.goal:.1f}",
                *against(run.goal, run.seconds),
                f"{statistics.mean(run.tokens):.0f}",
                f"{statistics.mean(run.computed):.0f}",
                *both(run.plain, 2),
            ]
            for run in runs
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--without-browser", action="store_true", help="leave JupyterLab out")
    parser.add_argument("--without-runs", action="store_true", help="sliders alone, no weights")
    options = parser.parse_args()
    model, moved = load_model(DEFAULT_MODEL), sliders()
    PositionExplorer(model)  # what is imported at the first widget is no part of a move
    for slider in moved:
        move_in_kernel(slider, model)
    draw_with_matplotlib(moved)
    if not options.without_browser:
        move_in_page(moved)
    print(moves_table(moved), flush=True)
    if options.without_runs:
        return
    runs = live_runs(model)
    different = sum(run.different for run in runs)
    print(runs_table(runs), f"\n{different} answers differ")
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers", "ipywidgets"))
    command = " ".join(["python benchmarks/widgets.py", *sys.argv[1:]])
    PAGE.write_text(
        f"# The needle widgets\n\nMade by `{command}` on {date.today():%-d %B %Y}: {os.cpu_count()} cores, "
        f"{memory:.0f} GB, {system}, {packages}.\n\n"
        "## A move of a slider over shipped results, in milliseconds\n\n"
        f"The goal is {MOVE_GOAL} ms. *Kernel* is the time until all views have their new content; *JupyterLab* goes "
        "from the arrow key to the page that shows it. Each slider goes all the way and back in a new widget, so that "
        "half of the moves see their point for the first time. In the last column the figure over all points is drawn "
        f"anew.\n\n{moves_table(moved)}\n\n"
        "## Run, in seconds\n\n"
        f"From the button to the answer, {TRIALS} trials each, the weights in memory, the completion store not asked. "
        "*Cold* means that nothing was computed before; the two others follow it, and compute from the needle's old or "
        "new line on, whichever comes first. What is over its goal is in bold. After the three of a trial plain "
        "transformers, in a process of its own, answers the same prompts. Answers that are not its own, token for "
        f"token: {different} of {TRIALS * len(runs)}.\n\n"
        f"{runs_table(runs)}\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
