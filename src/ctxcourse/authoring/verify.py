"""Prove that answers are graded right: solutions win, stubs are not attempted, wrong answers lose their point.

Every answer becomes a submission, and one run of the course's own grader grades them all. Authors run it as
``python -m ctxcourse.authoring.verify [STEM…] [--workers N]``.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from ctxcourse.authoring.build import choose, find_root
from ctxcourse.authoring.content import Lesson, load_course
from ctxcourse.authoring.nodes import notebook_text
from ctxcourse.authoring.notebooks import exercise_notebook, solution_notebook
from ctxcourse.authoring.wrong import WrongAnswer
from ctxcourse.errors import CourseError


@dataclass(frozen=True)
class Submission:
    """A notebook to grade; ``wrong`` is the wrong answer in it, None for the full solution and the stub."""

    name: str
    lesson: Lesson
    notebook: NotebookNode
    wrong: WrongAnswer | None = None


def submissions(lesson: Lesson) -> Iterator[Submission]:
    """The full solution, the stub, and each wrong answer with the full solution of the other questions."""
    stub = exercise_notebook(lesson)
    solved = _answered(stub, {name: question.cell.source for name, question in lesson.graded.items()})
    yield Submission(f"{lesson.stem}-full", lesson, solved)
    yield Submission(f"{lesson.stem}-stub", lesson, stub)
    for wrong in lesson.wrong_answers:
        notebook = _answered(solved, {wrong.question: wrong.source})
        yield Submission(f"{lesson.stem}-{wrong.name}", lesson, notebook, wrong)


def grade_all(items: Sequence[Submission], workers: int = 1) -> dict[str, dict[str, dict[str, Any]]]:
    """Grade the submissions in one run; returns the rows by submission and question.

    Raises CourseError where the grader gives no row for one of them.
    """
    from ctxcourse.grading.run import command

    with tempfile.TemporaryDirectory(prefix="ctxcourse-verify-") as name:
        folder = Path(name)
        for lesson in {item.lesson.stem: item.lesson for item in items}.values():
            _write(folder / "solutions" / f"{lesson.stem}.ipynb", solution_notebook(lesson))
        for item in items:
            _write(folder / "submissions" / item.name / f"{item.lesson.stem}.ipynb", item.notebook)
        grades = folder / "grades.json"
        arguments = command([folder / "submissions"], grades, folder / "solutions", workers=workers)
        settings = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        shown = subprocess.run(arguments, env=settings, capture_output=True, text=True, check=False)
        if not grades.is_file():
            raise CourseError(f"the grader wrote no grades:\n{(shown.stdout + shown.stderr)[-3000:]}")
        rows = json.loads(grades.read_text(encoding="utf-8"))
    table: dict[str, dict[str, dict[str, Any]]] = {item.name: {} for item in items}
    for row in rows:
        owner = next((part for part in Path(row["submission"]).parts if part in table), None)
        if owner is not None:
            table[owner][row["exercise"]] = row
    for item in items:
        missing = item.lesson.graded.keys() - table[item.name].keys()
        if missing:
            raise CourseError(f"the grader gives {item.name} no row for {', '.join(sorted(missing))}")
    return table


def problems(item: Submission, rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What is wrong with the grading of one submission, a sentence each; nothing where all is as it should be."""
    for name, question in item.lesson.graded.items():
        row = rows[name]
        got = f"{row['points']} of {row['max']} points, status {row['status']!r}"
        if row["max"] != question.points:
            yield f"{item.name}: {name} counts {row['max']} points; its hidden tests give {question.points}"
        if item.wrong is not None and item.wrong.question == name:
            yield from _wrong_problems(item.name, item.wrong, row)
        elif item.name.endswith("-stub"):
            if row["points"] != 0 or row["status"] != "not attempted":
                yield f"{item.name}: the stub of {name} has {got}; it should have none and be 'not attempted'"
        elif row["points"] != row["max"] or row["status"] != "full":
            failed = [test["test"] for test in row["tests"] if test["points"] != test["max"]]
            yield f"{item.name}: the solution of {name} has {got}; it fails {', '.join(failed) or 'nothing'}"


def verify(stems: Sequence[str] = (), *, root: Path | None = None, workers: int = 1) -> list[str]:
    """Grade what ``submissions`` makes of the lessons (default: all); returns the problems, a sentence each.

    Raises AuthorError for a mistake in a lesson's source, CourseError where the grader does not answer.
    """
    root = find_root(root)
    items = [item for lesson in choose(load_course(root), stems) if lesson.graded for item in submissions(lesson)]
    if not items:
        return []
    table = grade_all(items, workers)
    return [problem for item in items for problem in problems(item, table[item.name])]


def _wrong_problems(name: str, wrong: WrongAnswer, row: dict[str, Any]) -> Iterator[str]:
    tests = [test for test in row["tests"] if test["test"] == wrong.fails]
    if len(tests) != 1:
        yield f"{name}: the grader reports {wrong.fails} {len(tests)} times"
        return
    (test,) = tests
    if test["points"] != 0 or test["outcome"] == "passed":
        yield f"{name} (line {wrong.line}): passes {wrong.fails}, which it should fail"
    elif wrong.says not in str(test["hint"]):
        yield f"{name} (line {wrong.line}): the student is told {test['hint']!r}, without {wrong.says!r}"
    if row["status"] == "not attempted":
        yield f"{name} (line {wrong.line}): is called 'not attempted'"


def _answered(notebook: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """A copy of the notebook with these sources in the answer cells of these questions."""
    result = copy.deepcopy(notebook)
    for cell in result.cells:
        name = cell.metadata.get("ctxcourse", {}).get("question")
        if name in answers and "answer" in cell.metadata.get("tags", []):
            cell.source = answers[name]
    return result


def _write(path: Path, notebook: NotebookNode) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook_text(notebook), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all as it should be, 1 problems found, 2 a mistake in a source."""
    parser = argparse.ArgumentParser(prog="python -m ctxcourse.authoring.verify", description=__doc__)
    parser.add_argument("stems", nargs="*", metavar="STEM", help="lessons to verify (default: all)")
    parser.add_argument("--workers", type=int, default=1, help="how many submissions to grade at once")
    options = parser.parse_args(arguments)
    try:
        found = verify(options.stems, workers=options.workers)
    except CourseError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    sys.stdout.write("".join(f"{line}\n" for line in found) or "all answers are graded as they should be\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
