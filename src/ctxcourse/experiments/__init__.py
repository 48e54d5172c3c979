"""The experiments of lessons 02 to 04: the order of documents, the compression of them, and the number of tools.

Each is a module with the same parts: `calls` draws what is asked, `run` asks a model and returns a table with one row a
call, `cells` counts it, and `TABLE` saves and loads it. ``ctxcourse experiment`` runs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from ctxcourse.tables import Table

EXPERIMENTS: tuple[str, ...] = ("order", "compress", "tools")


class ExperimentError(CourseError, ValueError):
    """No experiment has the name that was asked for."""


def experiment(name: str) -> Any:
    """Return the module of one of `EXPERIMENTS`, imported when it is asked for.

    Raises `ExperimentError` for another name.
    """
    if name not in EXPERIMENTS:
        raise ExperimentError(f"no experiment is called {name!r}; there are {', '.join(EXPERIMENTS)}")
    return import_module(f"ctxcourse.experiments.{name}")


def table_of(name: str) -> Table:
    """Return the columns of one experiment's tables, which save and load them."""
    table: Table = experiment(name).TABLE
    return table
