"""The pytest plugin: with ``--nbval``, notebooks that answer an exercise are graded.

pytest loads this module in every run of an environment that has the package: it imports nothing but pytest, and does
nothing in runs without ``--nbval``.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ctxcourse.grading import scope

SUFFIXES = (".json", ".csv")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of grading."""
    group = parser.getgroup("ctxcourse", "grading of notebooks (with --nbval)")
    group.addoption("--grades", metavar="FILE", help="write the marks to FILE (.json or .csv)")
    group.addoption("--solutions", metavar="DIR", help="folder of the solution notebooks, which hold the hidden tests")
    group.addoption(
        "--lesson", metavar="STEM", help="grade every notebook by the solution of this lesson, whatever it says itself"
    )
    group.addoption(
        "--show-hidden",
        action="store_true",
        help="show the details of failed hidden tests on the terminal; never in files",
    )
    group.addoption(
        "--sandbox",
        choices=("auto", "require", "none"),
        default="auto",
        help="how to run students' code: in bubblewrap if it works (auto), only there (require), unprotected (none)",
    )
    group.addoption(
        "--grade-timeout",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="time for a cell of a submission (60); all of its code together has 900 seconds, whatever is set here",
    )
    group.addoption(
        "--grade-call-timeout",
        metavar="SECONDS",
        type=float,
        default=10.0,
        help="time for a call from a hidden test (10)",
    )


def check_options(options: Any) -> None:
    """Refuse options that would only fail at the end of the run.

    Raises:
        pytest.UsageError: naming the option, its value and what is expected.
    """
    if options.grades:
        _check_grades(Path(options.grades))
    report = getattr(options, "xmlpath", None)
    if report and Path(report).is_dir():
        raise pytest.UsageError(f"--junitxml={report}: that is a folder; give the name of a file")
    if options.solutions:
        _check_solutions(Path(options.solutions), getattr(options, "lesson", None))
    for name in ("grade_timeout", "grade_call_timeout"):
        if not getattr(options, name) > 0:
            text = f"--{name.replace('_', '-')}={getattr(options, name)}: the time must be above zero"
            raise pytest.UsageError(text)


def _check_grades(grades: Path) -> None:
    folder = grades.absolute().parent
    if grades.suffix.lower() not in SUFFIXES:
        raise pytest.UsageError(f"--grades={grades}: the name must end in .json or .csv")
    if grades.is_dir():
        raise pytest.UsageError(f"--grades={grades}: that is a folder; give the name of a file")
    if not folder.is_dir():
        raise pytest.UsageError(f"--grades={grades}: there is no folder {folder}")
    if not os.access(grades.resolve().parent, os.W_OK | os.X_OK):
        raise pytest.UsageError(f"--grades={grades}: the folder {grades.resolve().parent} cannot be written to")


def _check_solutions(folder: Path, lesson: str | None) -> None:
    if not folder.is_dir():
        raise pytest.UsageError(f"--solutions={folder}: there is no such folder")
    stems = sorted(path.stem for path in folder.glob("*.ipynb"))
    if not stems:
        raise pytest.UsageError(f"--solutions={folder}: there are no solution notebooks (.ipynb) in this folder")
    if lesson and lesson not in stems:
        raise pytest.UsageError(f"--lesson={lesson}: there is no such lesson; there are: {', '.join(stems)}")


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    """Keep pytest from running Python files and settings that came with a submission."""
    options = early_config.known_args_namespace
    if scope.runs_notebooks(options):
        given = options.file_or_dir or early_config.getini("testpaths") or ["."]
        paths = [Path(argument.split("::")[0]).absolute() for argument in given]
        foreign = early_config.stash[scope.FOREIGN] = tuple(scope.foreign_folders(paths))
        if foreign or scope.is_grading_run(options) or any(map(scope.is_submission_path, paths)):
            options.noconftest = True
            inipath = early_config.inipath
            if inipath is not None and scope.is_submission_path(inipath):
                raise pytest.UsageError(
                    f"{inipath} came with the submissions: its settings are not used; name others with -c FILE"
                )
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and switch grading on if notebooks are run."""
    config.addinivalue_line("markers", "points(number, title, hint): what a hidden test is worth")
    if not scope.runs_notebooks(config.option):
        if config.option.grades:
            raise pytest.UsageError("--grades needs --nbval")
        return
    check_options(config.option)
    grades = Path(config.option.grades).absolute() if config.option.grades else None
    from ctxcourse.grading.contract import check_nbval
    from ctxcourse.grading.sandbox import SandboxUnavailable, find_sandbox
    from ctxcourse.grading.session import GradingSession

    check_nbval()
    try:
        find_sandbox(config.option.sandbox if config.option.sandbox == "require" else "none")
    except SandboxUnavailable as error:
        raise pytest.UsageError(str(error)) from None
    config.pluginmanager.register(GradingSession(config, grades, config.option.show_hidden), "ctxcourse-grading")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Generator[None, list[Any], list[Any]]:
    """Take over nbval's files that answer an exercise."""
    found = yield
    if not scope.runs_notebooks(parent.config.option) or file_path.suffix != ".ipynb" or not found:
        return found
    import nbval.plugin

    from ctxcourse.grading.locate import find_job
    from ctxcourse.grading.nbfile import GradedNotebook

    taken = []
    for node in found:
        job = find_job(file_path, parent.config) if type(node) is nbval.plugin.IPyNbFile else None
        taken.append(node if job is None else GradedNotebook.of_job(parent, job))
    return taken


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect nothing but notebooks from submissions: their Python files are not to run in the grader's process."""
    if scope.runs_notebooks(config.option) and collection_path.is_file() and collection_path.suffix != ".ipynb":
        return True if scope.is_from_a_submission(collection_path, config) else None
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Treat a folder of submissions as a plain one: pytest would import its ``__init__.py``."""
    config = parent.config
    if scope.runs_notebooks(config.option) and (
        scope.is_from_a_submission(path, config) or scope.is_above_foreign_folder(path, config)
    ):
        directory: pytest.Collector = pytest.Dir.from_parent(parent, path=path)
        return directory
    return None
