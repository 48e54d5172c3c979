"""One lesson as its author wrote it, read and checked: cells, questions, quiz, wrong answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxcourse.authoring.errors import AuthorError
from ctxcourse.authoring.hidden import (
    BEGIN_SOLUTION,
    END_SOLUTION,
    HiddenTest,
    hidden_tests,
    regions,
)
from ctxcourse.authoring.percent import EXERCISE_TAGS, LESSON_TAGS, NBVAL_TAGS, SourceCell, read_cells
from ctxcourse.authoring.quizfile import read_quiz
from ctxcourse.authoring.wrong import WrongAnswer, read_wrong_answers
from ctxcourse.grading.notebooks import BEGIN_HIDDEN

_STEM = re.compile(r"\d\d_[a-z0-9_]+")
_POINTS = re.compile(r"\s*\((\d+) points?\)\s*$")
_OF_A_QUESTION = (LESSON_TAGS | EXERCISE_TAGS) - NBVAL_TAGS - {"setup"}


@dataclass
class Question:
    """A graded question (``tests`` is not empty) or a practice question (``solution`` is not None)."""

    name: str
    title: str
    cell: SourceCell
    hints: list[str] = field(default_factory=list)
    tests: list[HiddenTest] = field(default_factory=list)
    solution: str | None = None

    @property
    def points(self) -> int:
        """What the question is worth: the sum over its hidden tests."""
        return sum(test.points for test in self.tests)


@dataclass
class Lesson:
    """All that a folder ``lessons/NN_slug`` holds; ``exercise`` is empty where there is no exercise.py."""

    stem: str
    title: str
    lesson: list[SourceCell]
    exercise: list[SourceCell]
    questions: dict[str, Question]
    quiz: list[dict[str, Any]]
    wrong_answers: list[WrongAnswer]

    @property
    def graded(self) -> dict[str, Question]:
        """The questions with points, by id, in the order of the exercise."""
        return {name: question for name, question in self.questions.items() if question.solution is None}


def stems(root: Path) -> list[str]:
    """The lessons of the course, in order; AuthorError for a folder not called NN_slug or without lesson.py."""
    found = []
    for folder in sorted((root / "lessons").iterdir()):
        if not folder.is_dir() or folder.name.startswith((".", "__")):
            continue
        name = folder.relative_to(root).as_posix()
        if not _STEM.fullmatch(folder.name):
            raise AuthorError("a lesson's folder is called NN_slug, such as 01_token_budget", name)
        if not (folder / "lesson.py").is_file():
            raise AuthorError("this lesson has no lesson.py", name)
        found.append(folder.name)
    return found


def load_lesson(stem: str, root: Path) -> Lesson:
    """Read and check ``lessons/<stem>``; AuthorError for the first thing that its author has to mend."""
    folder = root / "lessons" / stem
    lesson = read_cells(folder / "lesson.py", root, LESSON_TAGS)
    has_exercise = (folder / "exercise.py").is_file()
    exercise = read_cells(folder / "exercise.py", root, EXERCISE_TAGS) if has_exercise else []
    practice = _questions(lesson, "practice")
    graded = _questions(exercise, "answer")
    for name in practice.keys() & graded.keys():
        raise practice[name].cell.error(f"the id {name!r} is already that of a graded question")
    _read_practice(lesson, practice)
    _read_graded(exercise, graded)
    questions = graded | practice
    _read_hints([*lesson, *exercise], questions)
    quiz_file, wrong_file = folder / "quiz.yaml", folder / "wrong_answers.py"
    tests = {name: question.tests for name, question in graded.items()}
    return Lesson(
        stem=stem,
        title=_lesson_title(lesson),
        lesson=lesson,
        exercise=exercise,
        questions=questions,
        quiz=read_quiz(quiz_file, root) if quiz_file.is_file() else [],
        wrong_answers=read_wrong_answers(wrong_file, root, tests) if graded else [],
    )


def load_course(root: Path) -> dict[str, Lesson]:
    """All lessons by stem; AuthorError where two lessons share a question id."""
    lessons = {stem: load_lesson(stem, root) for stem in stems(root)}
    owners: dict[str, Question] = {}
    for lesson in lessons.values():
        for name, question in lesson.questions.items():
            if name in owners:
                first = owners[name].cell
                raise question.cell.error(f"the question id {name!r} is already used at {first.path}:{first.line}")
            owners[name] = question
    return lessons


def _questions(cells: Iterable[SourceCell], tag: str) -> dict[str, Question]:
    found: dict[str, Question] = {}
    heading = ""
    for cell in cells:
        if cell.kind == "markdown":
            headings = re.findall(r"^#+ +(.+?)\s*$", cell.source, flags=re.MULTILINE)
            heading = headings[-1] if headings else heading
        special = set(cell.tags) & _OF_A_QUESTION
        if len(special) > 1:
            raise cell.error(f"a cell has one of these tags, not {len(special)}: {', '.join(sorted(special))}")
        if special and cell.question is None:
            raise cell.error(f'a cell with the tag "{special.pop()}" needs question="…" in its header')
        if special and cell.kind != ("markdown" if special == {"hint"} else "code"):
            kind = "markdown" if special == {"hint"} else "code"
            raise cell.error(f'a cell with the tag "{special.pop()}" must be a {kind} cell')
        if tag in cell.tags:
            name = str(cell.question)
            if name in found:
                raise cell.error(f"a second cell with the tag {tag!r} for the question {name!r}")
            found[name] = Question(name, heading or name, cell)
    for cell in cells:
        if cell.question is not None and cell.question not in found:
            raise cell.error(f"no cell with the tag {tag!r} has the question id {cell.question!r}")
    return found


def _read_practice(cells: Iterable[SourceCell], practice: dict[str, Question]) -> None:
    for cell in cells:
        if "practice-solution" in cell.tags:
            question = practice[str(cell.question)]
            if question.solution is not None:
                raise cell.error(f"a second solution of the practice question {question.name!r}")
            question.solution = cell.source
    for question in practice.values():
        if question.solution is None:
            raise question.cell.error(f"the practice question {question.name!r} has no cell tagged practice-solution")


def _read_graded(cells: Iterable[SourceCell], graded: dict[str, Question]) -> None:
    known: set[str] = set()
    for cell in cells:
        if "answer" in cell.tags:
            _check_indentation(cell)
        elif BEGIN_SOLUTION in cell.source or END_SOLUTION in cell.source:
            raise cell.error("solution markers outside a cell with the tag 'answer'")
        if "hidden-tests" in cell.tags:
            for test in hidden_tests(cell):
                if test.name in known:
                    raise cell.error(f"two hidden tests are called {test.name}", test.line - cell.line)
                known.add(test.name)
                graded[str(cell.question)].tests.append(test)
        elif BEGIN_HIDDEN in cell.source:
            raise cell.error("hidden tests outside a cell with the tag 'hidden-tests'")
    for question in graded.values():
        if not question.tests:
            raise question.cell.error(f"the question {question.name!r} has no cell with the tag 'hidden-tests'")
        announced = _POINTS.search(question.title)
        if announced and int(announced[1]) != question.points:
            raise question.cell.error(
                f"the heading promises {announced[1]} points, "
                f"the hidden tests of {question.name!r} give {question.points}"
            )
        question.title = _POINTS.sub("", question.title)


def _check_indentation(cell: SourceCell) -> None:
    """The stub takes the marker's place, so that the marker must be as deep as the code that it stands for."""
    lines = cell.source.splitlines()
    for first, last in regions(cell, BEGIN_SOLUTION, END_SOLUTION):
        code = next((line for line in lines[first - 1 : last] if line.strip()), None)
        if code is None:
            raise cell.error("there is no solution between the markers", first)
        if len(code) - len(code.lstrip()) != lines[first - 2].index(BEGIN_SOLUTION):
            raise cell.error(f"indent {BEGIN_SOLUTION} like the code after it", first - 1)


def _read_hints(cells: Iterable[SourceCell], questions: dict[str, Question]) -> None:
    for cell in cells:
        if "hint" in cell.tags:
            questions[str(cell.question)].hints.append(cell.source.strip())
    for question in questions.values():
        if not question.hints:
            raise question.cell.error(
                f"the question {question.name!r} has no hint: add a markdown cell with the tag 'hint'"
            )


def _lesson_title(cells: list[SourceCell]) -> str:
    for cell in cells:
        if cell.kind == "markdown" and cell.source.startswith("# "):
            return cell.source.splitlines()[0].removeprefix("# ").strip()
    raise AuthorError("the lesson needs a title: a markdown cell that begins with `# `", cells[0].path, cells[0].line)
