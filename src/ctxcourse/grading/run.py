"""Grades submissions in one call: `pytest --nbval` with settings of its own, whatever lies around."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from ctxcourse.errors import CourseError
from ctxcourse.grading import scope
from ctxcourse.grading.locate import course_solutions, nearest_solutions

StrPath = str | os.PathLike[str]
NOT_PASSED_ON = ("PYTHONPATH", "PYTHONSTARTUP", "PYTEST_ADDOPTS", "PYTEST_PLUGINS")
"""Variables of the environment that could bring other code or other settings into the grader's process."""


class GradeOptions(TypedDict, total=False):
    """How to grade; what is left out has the default.

    Attributes:
        lesson: stem of the solution to grade every notebook by (default: each by its own).
        junitxml: file for the JUnit report.
        workers: how many submissions to grade at once (1); more than one needs pytest-xdist.
        timeout: seconds for a cell (60).
        sandbox: ``"auto"`` (the default), ``"require"`` or ``"none"``.
        show_hidden: show the details of failed hidden tests on the terminal.
    """

    lesson: str | None
    junitxml: StrPath | None
    workers: int
    timeout: float
    sandbox: str
    show_hidden: bool


def command(
    paths: Sequence[StrPath],
    grades: StrPath | None = None,
    solutions: StrPath | None = None,
    **options: Unpack[GradeOptions],
) -> list[str]:
    """Return the pytest command that `grade` runs; see there for the arguments.

    Raises:
        CourseError: if there is no folder of solutions.

    Example:
        >>> "--dist=loadfile" in command(["submissions"], solutions="solutions", workers=2)
        True
    """
    found = Path(solutions) if solutions is not None else nearest_solutions(Path.cwd()) or course_solutions()
    if found is None:
        raise CourseError(f"there is no folder of solutions in {Path.cwd()} or above it: name it with --solutions")
    lesson, junitxml, workers = options.get("lesson"), options.get("junitxml"), options.get("workers", 1)
    arguments = ["--nbval", "-q", "--tb=short", "-p", "no:cacheprovider", "--noconftest", "-c", os.devnull]
    arguments += [f"--rootdir={Path.cwd()}", "--continue-on-collection-errors", f"--solutions={found}"]
    arguments += [f"--grade-timeout={options.get('timeout', 60.0):g}", f"--sandbox={options.get('sandbox', 'auto')}"]
    arguments += [f"--grades={grades}"] if grades is not None else []
    arguments += [f"--lesson={lesson}"] if lesson is not None else []
    arguments += [f"--junitxml={junitxml}"] if junitxml is not None else []
    arguments += ["--show-hidden"] if options.get("show_hidden") else []
    arguments += ["-n", str(workers), "--dist=loadfile"] if workers > 1 else []
    # -P: with the current folder on its path, Python would take a student's json.py for its own.
    return [sys.executable, "-P", "-m", "pytest", *arguments, "--", *(str(Path(path)) for path in paths)]


def grade(
    paths: Sequence[StrPath],
    grades: StrPath | None = None,
    solutions: StrPath | None = None,
    **options: Unpack[GradeOptions],
) -> int:
    """Grade notebooks, show the table of marks, and return pytest's exit code: 0 only if all points were earned.

    Pytest runs in a process of its own, with no settings but these: a ``conftest.py`` or ``pytest.ini`` among the
    submissions is not used.

    Args:
        paths: notebooks, or folders of them.
        grades: file for the marks, ``.json`` or ``.csv``.
        solutions: folder of the solution notebooks; by default the ``solutions`` of the current folder, of one above
            it, or of the course, but never one inside a submission.
        **options: see `GradeOptions`.

    Raises:
        CourseError: if there is nothing at a path, or no folder of solutions.
    """
    if not paths:
        raise CourseError("nothing to grade: give notebooks, or folders of notebooks")
    for path in paths:
        if not Path(path).exists():
            raise CourseError(f"there is nothing to grade at {path}")
    if not any(any(scope.notebooks(Path(path))) for path in paths):
        raise CourseError(f"there are no notebooks (.ipynb) to grade in {', '.join(map(str, paths))}")
    kept = {key: value for key, value in os.environ.items() if key not in NOT_PASSED_ON}
    return subprocess.run(
        command(paths, grades, solutions, **options),
        env={**kept, "PYTHONSAFEPATH": "1"},  # as -P, for the processes of pytest-xdist too
        check=False,
    ).returncode
