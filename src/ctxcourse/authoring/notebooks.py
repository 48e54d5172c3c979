"""From a lesson's cells to its three notebooks and its file of questions; nothing is run or written here."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions

from ctxcourse.authoring.content import Lesson
from ctxcourse.authoring.nodes import new_cell, new_notebook
from ctxcourse.authoring.percent import SourceCell, check_syntax
from ctxcourse.grading.notebooks import BEGIN_HIDDEN, END_HIDDEN, STUB

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_REMOVED = {"hint", "practice-solution"}
_BEFORE = "import pytest\nfrom ctxcourse.grading.inplace import points, run_here\n\n"
_AFTER = "\n\nrun_here(globals())"

_NOTES = {
    "lesson": "Generated from `{source}`. Do not edit this notebook: edit its source and run `make build`.",
    "exercise": "Generated from `{source}`. Write your answers in the cells that say what to implement.",
    "solution": "Generated from `{source}`. For instructors: it holds answers and hidden tests. Do not edit it.",
}


def lesson_notebook(lesson: Lesson) -> NotebookNode:
    """The notebook that students read, before it is run."""
    return _notebook(lesson, "lesson", [(cell, cell.source, None) for cell in _visible(lesson.lesson)])


def solution_notebook(lesson: Lesson) -> NotebookNode:
    """The instructor's notebook, before it is run: answers and hidden tests, marked as nbgrader does."""
    cells = []
    seen: Counter[tuple[str, str]] = Counter()
    for cell in _visible(lesson.exercise):
        source = cell.source
        if "hidden-tests" in cell.tags:
            source = _hidden_source(lesson, cell)
        cells.append((cell, source, _nbgrader(lesson, cell, seen)))
    return _notebook(lesson, "solution", cells)


def exercise_notebook(lesson: Lesson) -> NotebookNode:
    """The notebook that students work in: nbgrader's preprocessors leave stubs and no hidden tests."""
    notebook = solution_notebook(lesson)
    hide = ClearHiddenTests()
    visible = [*_visible(lesson.exercise)]
    for index, cell in enumerate(notebook.cells[1:]):
        source = visible[index]
        if "answer" in source.tags:
            stub = f'raise NotImplementedError("{STUB} {source.question}")'
            clear = ClearSolutions(code_stub={"python": stub})
            clear.preprocess_cell(cell, {"language": "python"}, index)
            cell.source = _named_stubs(cell.source, source.question)
            check_syntax(source, cell.source, what="without its solution, the cell does not compile: ")
        hide.preprocess_cell(cell, {}, index)
        cell.source = cell.source.rstrip()
    notebook.metadata["ctxcourse"]["kind"] = "exercise"
    notebook.cells[0] = _note(lesson, "exercise", notebook.cells[0].id)
    return notebook


def _named_stubs(source: str, question: str | None) -> str:
    """Return a cell whose stubs name the function that they stand in, where it is not the question's."""
    lines, inside = [], question
    for line in source.splitlines():
        begins = re.match(r"def (\w+)\(", line)
        inside = begins[1] if begins else inside
        lines.append(line.replace(f'"{STUB} {question}"', f'"{STUB} {inside}"'))
    return "\n".join(lines)


def source_lines(lesson: Lesson, kind: str) -> dict[str, int]:
    """Where the cells of a notebook (``lesson`` or ``solution``) come from: the line in its source, by cell id."""
    cells = _visible(lesson.lesson if kind == "lesson" else lesson.exercise)
    return {_cell_id(lesson, index): cell.line for index, cell in enumerate(cells, start=1)}


def questions_json(lesson: Lesson) -> str:
    """What the package knows of a lesson's questions at run time; never a solution of a graded one."""
    questions: dict[str, Any] = {}
    for name, question in lesson.questions.items():
        questions[name] = {"title": question.title, "points": question.points, "hints": question.hints}
        if question.solution is not None:
            questions[name]["solution"] = question.solution
    data = {"stem": lesson.stem, "title": lesson.title, "questions": questions, "quiz": lesson.quiz}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _visible(cells: Iterable[SourceCell]) -> list[SourceCell]:
    return [cell for cell in cells if not _REMOVED & set(cell.tags)]


def _hidden_source(lesson: Lesson, cell: SourceCell) -> str:
    points = sum(test.points for test in _tests_of(lesson, cell))
    count = "1 point" if points == 1 else f"{points} points"
    tests = cell.source.replace(f"{BEGIN_HIDDEN}\n", f"{BEGIN_HIDDEN}\n{_BEFORE}", 1)
    head, marker, tail = tests.rpartition(END_HIDDEN)
    return (
        f"# {count}: the tests of this question run when your work is graded.\n{head.rstrip()}{_AFTER}\n{marker}{tail}"
    )


def _tests_of(lesson: Lesson, cell: SourceCell) -> list[Any]:
    last = cell.line + len(cell.source.splitlines())
    tests = lesson.questions[str(cell.question)].tests
    return [test for test in tests if cell.line < test.line <= last]


def _nbgrader(lesson: Lesson, cell: SourceCell, seen: Counter[tuple[str, str]]) -> dict[str, Any] | None:
    """nbgrader's metadata (schema 3); a second check or test cell of a question gets a number behind its id."""
    special = next((tag for tag in ("answer", "check", "hidden-tests") if tag in cell.tags), None)
    if special is None:
        return None
    name = str(cell.question)
    seen[name, special] += 1
    number = "" if seen[name, special] == 1 else f"-{seen[name, special]}"
    suffix = {"answer": "", "check": "-check", "hidden-tests": "-tests"}[special]
    metadata: dict[str, Any] = {
        "schema_version": 3,
        "task": False,
        "grade": special == "hidden-tests",
        "solution": special == "answer",
        "locked": special != "answer",
        "grade_id": f"{name}{suffix}{number}",
        "cell_type": "code",
    }
    if special == "hidden-tests":
        metadata["points"] = sum(test.points for test in _tests_of(lesson, cell))
    return metadata


def _note(lesson: Lesson, kind: str, cell_id: str) -> NotebookNode:
    text = _NOTES[kind].format(source=_source(lesson, kind))
    return new_cell("markdown", f"<small>{text}</small>", cell_id)


def _source(lesson: Lesson, kind: str) -> str:
    return f"lessons/{lesson.stem}/{'lesson' if kind == 'lesson' else 'exercise'}.py"


def _cell_id(lesson: Lesson, index: int) -> str:
    return f"{lesson.stem.replace('_', '-')}-{index:03d}"


def _notebook(lesson: Lesson, kind: str, cells: list[tuple[SourceCell, str, dict[str, Any] | None]]) -> NotebookNode:
    made = [_note(lesson, kind, _cell_id(lesson, 0))]
    for index, (cell, source, nbgrader) in enumerate(cells, start=1):
        metadata: dict[str, Any] = {key: value for key, value in cell.metadata.items() if key != "question"}
        if cell.tags:
            metadata["tags"] = list(cell.tags)
        if cell.question is not None:
            metadata["ctxcourse"] = {"question": cell.question}
        if nbgrader is not None:
            metadata["nbgrader"] = nbgrader
        made.append(new_cell(cell.kind, source, _cell_id(lesson, index), metadata))
    about = {"kind": kind, "stem": lesson.stem, "source": _source(lesson, kind)}
    return new_notebook(made, {"ctxcourse": about, "kernelspec": dict(_KERNEL), "language_info": {"name": "python"}})
