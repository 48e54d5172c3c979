"""The runs of the needle experiments that ship with the course, each as a table with its provenance beside it.

They were computed once by the course's model; ``ctxcourse needle`` computes them again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from pandas import DataFrame

RESULTS: tuple[str, ...] = ("position", "rows", "length", "volume", "interference", "interference_90", "grid")
FOLDER = Path(__file__).parent


class ResultsError(CourseError, ValueError):
    """No shipped run has the name that was asked for, or its files are not there."""


def load_results(name: str) -> DataFrame:
    """Return a shipped run, one row a call: see `ctxcourse.trials` for its columns.

    Raises `ResultsError` for a name that is none of `RESULTS`, or where this copy of the package lacks the files.
    """
    from ctxcourse.trials import load

    if name not in RESULTS:
        raise ResultsError(f"no shipped run is called {name!r}; there are {', '.join(RESULTS)}")
    if not (FOLDER / f"{name}.csv").exists():
        raise ResultsError(
            f"the shipped run {name!r} is not in {FOLDER}: install the package again, or run it yourself"
        )
    return load(FOLDER / name)
