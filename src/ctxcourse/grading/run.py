"""Grades submissions in one call: `pytest --nbval` with settings of its own, whatever lies around."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ctxcourse.errors import CourseError


def command(
    paths: Sequence[str | os.PathLike[str]],
    grades: str | os.PathLike[str] | None = None,
    solutions: str | os.PathLike[str] | None = None,
    exercise: str | None = None,
    junitxml: str | os.PathLike[str] | None = None,
    workers: int = 1,
    timeout: float = 60.0,
    sandbox: str = "auto",
    show_hidden: bool = False,
) -> list[str]:
    """Return the pytest command that `grade` runs; see there for the arguments.

    Example:
        >>> "--dist=loadfile" in command(["submissions"], solutions="solutions", workers=2)
        True
    """
    found = Path(solutions) if solutions is not None else _solutions(Path.cwd())
    options = ["--nbval", "-q", "--tb=short", "-p", "no:cacheprovider", "--noconftest", "-c", os.devnull]
    options += [f"--rootdir={Path.cwd()}", "--continue-on-collection-errors", f"--solutions={found}"]
    options += [f"--grade-timeout={timeout:g}", f"--sandbox={sandbox}"]
    options += [f"--grades={grades}"] if grades is not None else []
    options += [f"--exercise={exercise}"] if exercise is not None else []
    options += [f"--junitxml={junitxml}"] if junitxml is not None else []
    options += ["--show-hidden"] if show_hidden else []
    options += ["-n", str(workers), "--dist=loadfile"] if workers > 1 else []
    return [sys.executable, "-m", "pytest", *options, "--", *(str(Path(path)) for path in paths)]


def grade(
    paths: Sequence[str | os.PathLike[str]],
    grades: str | os.PathLike[str] | None = None,
    solutions: str | os.PathLike[str] | None = None,
    exercise: str | None = None,
    junitxml: str | os.PathLike[str] | None = None,
    workers: int = 1,
    timeout: float = 60.0,
    sandbox: str = "auto",
    show_hidden: bool = False,
) -> int:
    """Grade notebooks, show the table of marks, and return pytest's exit code: 0 only if all points were earned.

    Pytest runs in a process of its own, with no settings but these: a ``conftest.py`` or ``pytest.ini`` among the
    submissions is not used.

    Args:
        paths: notebooks, or folders of them.
        grades: file for the marks, ``.json`` or ``.csv``.
        solutions: folder of the solution notebooks; by default the ``solutions`` of the current folder, of one above
            it, or of the course.
        exercise: stem of the solution to grade every notebook by.
        junitxml: file for the JUnit report.
        workers: how many submissions to grade at once; more than one needs pytest-xdist.
        timeout: seconds for a cell.
        sandbox: ``"auto"``, ``"require"`` or ``"none"``.
        show_hidden: show the details of failed hidden tests on the terminal.

    Raises:
        CourseError: if there is nothing at a path, or no folder of solutions.
    """
    if not paths:
        raise CourseError("nothing to grade: give notebooks, or folders of notebooks")
    for path in paths:
        if not Path(path).exists():
            raise CourseError(f"there is nothing to grade at {path}")
    return subprocess.run(
        command(paths, grades, solutions, exercise, junitxml, workers, timeout, sandbox, show_hidden),
        env={key: value for key, value in os.environ.items() if key not in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")},
        check=False,
    ).returncode


def _solutions(start: Path) -> Path:
    for folder in (start, *start.parents, Path(__file__).resolve().parents[3]):
        if (folder / "solutions").is_dir():
            return folder / "solutions"
    raise CourseError(f"there is no folder of solutions in {start} or above it: name it with --solutions")
