"""Is the answer to an exercise already in the package? Every public function is put in as the answer, and must fail."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import pkgutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ctxcourse.authoring.content import Lesson, Question
from ctxcourse.authoring.percent import check_syntax
from ctxcourse.errors import CourseError
from ctxcourse.grading.notebooks import defined_names
from ctxcourse.grading.remote import LocalTransport, Student
from ctxcourse.layers import LAYERS

_PRELUDE = "import pytest\n\n\ndef points(*_, **__):\n    return lambda function: function\n\n\n"


def public_callables() -> dict[str, Callable[..., Any]]:
    """The public functions and classes of the context and course layers, by their full names."""
    found: dict[str, Callable[..., Any]] = {}
    for loaded in map(importlib.import_module, _modules((*LAYERS["context"], *LAYERS["course"]))):
        for name, value in vars(loaded).items():
            public = not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value))
            if public and value.__module__ == loaded.__name__:
                found[f"{loaded.__name__}.{name}"] = value
    return found


def _modules(parts: Iterable[str]) -> Iterator[str]:
    """Yield the full names of modules, and for packages those of all modules in them."""
    for part in parts:
        yield f"ctxcourse.{part}"
        spec = importlib.util.find_spec(f"ctxcourse.{part}")
        folders = spec.submodule_search_locations if spec else None
        for inner in pkgutil.walk_packages(folders or [], f"ctxcourse.{part}."):
            yield inner.name


def passing(lesson: Lesson, answers: Mapping[str, Callable[..., Any]]) -> dict[str, list[str]]:
    """For each graded question, which of the ``answers`` pass all its hidden tests when put in place of the student's.

    The setup and the other answers of the exercise are those of its solution, and are run in this process. The
    solution itself is tried as well, and must pass: CourseError where it does not.
    """
    namespace = _solution_namespace(lesson)
    result = {}
    for name, question in lesson.graded.items():
        names = defined_names(question.cell.source)
        spaces = {"": namespace}
        spaces |= {title: namespace | dict.fromkeys(names, answer) for title, answer in answers.items()}
        passed = _run_hidden_tests(lesson, question, spaces)
        if "" not in passed:
            raise CourseError(f"{question.cell.path}: the solution of {name} does not pass its own hidden tests")
        result[name] = [title for title in passed if title]
    return result


class _Trial:
    """A pytest plugin that binds ``student`` to each namespace in turn and keeps what did not pass."""

    def __init__(self, spaces: Mapping[str, dict[str, Any]]) -> None:
        self.spaces = spaces
        self.ran: set[str] = set()
        self.failed: set[str] = set()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "student" in metafunc.fixturenames:
            metafunc.parametrize("student", list(self.spaces), indirect=True)

    @pytest.fixture
    def student(self, request: pytest.FixtureRequest) -> Student:
        if request.param in self.failed:
            pytest.skip("this answer has already failed")
        return Student(LocalTransport(self.spaces[request.param]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Function) -> Generator[None, Any, Any]:
        report = yield
        title = str(item.callspec.params["student"])
        if report.when == "call":
            self.ran.add(title)
        if not report.passed:
            self.failed.add(title)
        return report


def _run_hidden_tests(lesson: Lesson, question: Question, spaces: Mapping[str, dict[str, Any]]) -> list[str]:
    cells = [cell for cell in lesson.exercise if "hidden-tests" in cell.tags and cell.question == question.name]
    trial = _Trial(spaces)
    with tempfile.TemporaryDirectory(prefix="ctxcourse-standins-") as folder:
        file = Path(folder) / f"test_{question.name}.py"
        file.write_text(_PRELUDE + "\n\n".join(cell.source for cell in cells), encoding="utf-8")
        without = [
            part for plugin in ("cacheprovider", "nbval", "ctxcourse", "terminal") for part in ("-p", f"no:{plugin}")
        ]
        pytest.main(
            [str(file), *without, "--assert=plain", "--noconftest", "-c", os.devnull, "--rootdir", folder],
            plugins=[trial],
        )
    return [title for title in spaces if title in trial.ran and title not in trial.failed]


def _solution_namespace(lesson: Lesson) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in lesson.exercise:
        if cell.kind == "code" and not {"check", "hidden-tests"} & set(cell.tags):
            exec(compile(check_syntax(cell, cell.source), cell.path, "exec"), namespace)
    return namespace
