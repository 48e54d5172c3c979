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

    from ctxcourse.tables import Table

RESULTS: tuple[str, ...] = ("position", "rows", "length", "volume", "interference", "interference_90", "grid")
"""The runs of the needle experiments (lessons 05 and 06); those of lessons 02 to 04 are named in `EXPERIMENTS`."""
POLICIES: tuple[str, ...] = ("probes", "bills")
"""What lesson 08 compares: the probes of every policy, and what the forty-turn run is billed under it."""
_ALL = RESULTS + EXPERIMENTS + POLICIES
FOLDER = Path(__file__).parent


class ResultsError(CourseError, ValueError):
    """No shipped run has the name that was asked for, or its files are not there."""


def load_results(name: str) -> DataFrame:
    """Return a shipped run, one row a call; in ``bills`` one row a policy.

    See `ctxcourse.needle.trials` for the columns of the needle experiments, the modules of `ctxcourse.experiments` for
    those of ``order``, ``compress`` and ``tools``, `ctxcourse.agent.probe_table` and `ctxcourse.agent.comparison` for
    ``probes`` and ``bills``. Raises `ResultsError` for a name that is none of `RESULTS`, `EXPERIMENTS` and `POLICIES`,
    or where this copy of the package lacks the files.
    """
    if name not in _ALL:
        raise ResultsError(f"no shipped run is called {name!r}; there are {', '.join(shipped_results())}")
    if name not in shipped_results():
        raise ResultsError(
            f"the shipped run {name!r} is not in {FOLDER}: install the package again, or run it yourself"
        )
    return _table(name).load(FOLDER / name)


def shipped_results() -> list[str]:
    """Return the names of the runs whose files are there, the needle experiments first."""
    return [name for name in _ALL if (FOLDER / f"{name}.csv").exists()]


def _table(name: str) -> Table:
    from ctxcourse.agent import comparison, probe_table
    from ctxcourse.experiments import table_of
    from ctxcourse.needle import trials

    policies = {"probes": probe_table.TABLE, "bills": comparison.BILLS}
    return policies[name] if name in policies else table_of(name) if name in EXPERIMENTS else trials.TABLE
