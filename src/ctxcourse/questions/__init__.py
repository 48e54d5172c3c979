"""What the package knows of the course's questions: titles, points, hints, practice solutions and quizzes.

The files ``NN_slug.json`` beside this one are generated from the lessons. They hold no solution of a graded
question.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path

from ctxcourse.errors import CourseError

FOLDER = Path(__file__).parent


class UnknownQuestion(CourseError, KeyError):
    """No question, or no quiz, has the name that was asked for."""

    __str__ = Exception.__str__


@dataclass(frozen=True)
class Question:
    """A question of the course; ``solution`` is None for graded ones, whose ``points`` are above zero."""

    name: str
    lesson: str
    title: str
    points: int
    hints: tuple[str, ...]
    solution: str | None


@dataclass(frozen=True)
class Option:
    """One answer of a quiz question, with the reason why it is right or wrong."""

    text: str
    correct: bool
    explanation: str


@dataclass(frozen=True)
class QuizQuestion:
    """A quiz question; exactly one of its options is correct."""

    question: str
    options: tuple[Option, ...]


def find(name: str) -> Question:
    """The question called ``name``, such as ``turn_bill``.

    Raises UnknownQuestion, which names the nearest one.
    """
    names: list[str] = []
    for path in _files():
        data = json.loads(path.read_text(encoding="utf-8"))
        if name in data["questions"]:
            found = data["questions"][name]
            return Question(
                name, data["stem"], found["title"], found["points"], tuple(found["hints"]), found.get("solution")
            )
        names.extend(data["questions"])
    raise UnknownQuestion(f"no question is called {name!r}{_near(name, names)}")


def quiz_questions(stem: str) -> list[QuizQuestion]:
    """The quiz of the lesson ``stem``, such as ``01_token_budget``.

    Raises UnknownQuestion for a lesson that does not exist or has no quiz.
    """
    quizzes = {path.stem: json.loads(path.read_text(encoding="utf-8"))["quiz"] for path in _files()}
    quizzes = {name: quiz for name, quiz in quizzes.items() if quiz}
    if stem not in quizzes:
        raise UnknownQuestion(f"no quiz belongs to a lesson {stem!r}{_near(stem, list(quizzes))}")
    return [
        QuizQuestion(item["question"], tuple(Option(**option) for option in item["options"])) for item in quizzes[stem]
    ]


def _files() -> list[Path]:
    return sorted(FOLDER.glob("*.json"))


def _near(name: object, names: list[str]) -> str:
    near = difflib.get_close_matches(str(name), names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are {', '.join(sorted(names))}" if names else "; the course has none yet (run `make build`)"
