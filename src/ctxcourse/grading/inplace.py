"""What the hidden cells of a solution notebook import: `points` declares a test, `run_here` runs them in place."""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading.hidden import HiddenCell, HiddenModule
from ctxcourse.grading.points import GRADER, points
from ctxcourse.grading.remote import LocalTransport, Student

__all__ = ["GRADER", "HiddenTestsFailed", "Summary", "points", "run_here", "run_source"]


class HiddenTestsFailed(CourseError):
    """A hidden test fails on the instructor's own solution."""


@dataclass(frozen=True)
class Summary:
    """The outcome of the tests of a hidden cell, run in place; as text, a line per test."""

    lines: tuple[str, ...]
    earned: float
    possible: float

    def __repr__(self) -> str:
        return "\n".join([*self.lines, f"{self.earned:g} of {self.possible:g} points"])


def run_here(namespace: dict[str, Any]) -> Summary | None:
    """Run the hidden tests of the calling cell against the notebook's own names.

    Does nothing where the grader itself compiles the cell.

    Args:
        namespace: ``globals()`` of the notebook.

    Returns:
        A summary that is the same in every run, so that it can be saved as the cell's output.

    Raises:
        HiddenTestsFailed: if a test fails, with pytest's report of it.

    Example, as the last line of a hidden cell:
        >>> run_here({GRADER: True})
    """
    if namespace.get(GRADER):
        return None
    caller = sys._getframe(1).f_code.co_filename
    source = "".join(linecache.getlines(caller, namespace))
    if not source:
        raise CourseError("run_here(globals()) finds no source: it is to be called in a notebook cell")
    return run_source(source, namespace)


def run_source(source: str, namespace: dict[str, Any]) -> Summary:
    """Run the tests in the text of a hidden cell against a namespace; see `run_here`."""
    summaries: dict[str, list[Any]] = {}

    class Here:
        @pytest.hookimpl
        def pytest_configure(self, config: pytest.Config) -> None:
            config.addinivalue_line("markers", "points(number, title, hint): what a hidden test is worth")

        @pytest.hookimpl
        def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector:
            return HiddenModule.of_cells(parent, file_path, [HiddenCell(0, "", source)])

        @pytest.fixture(scope="module")
        @classmethod
        def student(cls) -> Student:
            return Student(LocalTransport(namespace))

        @pytest.hookimpl
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            for item in items:
                summaries.setdefault(item.originalname, [item.spec, 0, 0])[2] += 1  # type: ignore[attr-defined]

        @pytest.hookimpl(wrapper=True)
        def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Any:
            report = yield
            if report.when == "call" and report.outcome == "passed" and not hasattr(report, "wasxfail"):
                summaries[item.originalname][1] += 1  # type: ignore[attr-defined]
            return report

    output = io.StringIO()
    options = ["-q", "--color=no", "--capture=no", "-p", "no:cacheprovider", "--noconftest", "-c", os.devnull]
    with tempfile.TemporaryDirectory() as folder, _no_plugins(), contextlib.redirect_stdout(output):
        place = Path(folder) / "hidden"  # no .py: pytest would import it as a module as well
        place.touch()
        code = pytest.main([*options, "--rootdir", folder, str(place)], plugins=[Here()])
    lines, earned, possible = [], 0.0, 0.0
    for spec, passed, cases in summaries.values():
        possible += spec.points
        earned += spec.points if passed == cases else 0
        sign = "✓" if passed == cases else "✗"
        lines.append(f"{sign} {spec.title or spec.name} ({spec.points:g})")
    if code != pytest.ExitCode.OK or earned != possible:
        raise HiddenTestsFailed(output.getvalue())
    return Summary(tuple(lines), earned, possible)


@contextlib.contextmanager
def _no_plugins() -> Any:
    name = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
    before = {key: os.environ.get(key) for key in (name, "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")}
    os.environ[name] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)
