"""The runs that ship with the course, each as a table with its provenance beside it.

They were computed once by the course's model; ``ctxcourse needle`` and ``ctxcourse experiment`` compute them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxcourse.errors import CourseError
from ctxcourse.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from pandas import DataFrame

RESULTS: tuple[str, ...] = ("position", "rows", "length", "volume", "interference", "interference_90", "grid")
"""The runs of the needle experiments (lessons 05 and 06); those of lessons 02 to 04 are named in `EXPERIMENTS`."""
FOLDER = Path(__file__).parent


class ResultsError(CourseError, ValueError):
    """No shipped run has the name that was asked for, or its files are not there."""


def load_results(name: str) -> DataFrame:
    """Return a shipped run, one row a call.

    See `ctxcourse.needle.trials` for the columns of the needle experiments, and the modules of `ctxcourse.experiments`
    for those of ``order``, ``compress`` and ``tools``. Raises `ResultsError` for a name that is none of `RESULTS` and
    `EXPERIMENTS`, or where this copy of the package lacks the files.
    """
    from ctxcourse.experiments import table_of
    from ctxcourse.needle import trials

    if name not in RESULTS + EXPERIMENTS:
        raise ResultsError(f"no shipped run is called {name!r}; there are {', '.join(shipped_results())}")
    if name not in shipped_results():
        raise ResultsError(
            f"the shipped run {name!r} is not in {FOLDER}: install the package again, or run it yourself"
        )
    return (table_of(name) if name in EXPERIMENTS else trials.TABLE).load(FOLDER / name)


def shipped_results() -> list[str]:
    """Return the names of the runs whose files are there, the needle experiments first."""
    return [name for name in RESULTS + EXPERIMENTS if (FOLDER / f"{name}.csv").exists()]
