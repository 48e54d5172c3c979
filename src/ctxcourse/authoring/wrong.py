"""Read ``wrong_answers.py``: answers that a student would really write, each with the test it must lose.

A percent script whose cells replace the answer cell of their question::

    # %% question="turn_bill" fails="test_growing_turn" says="already paid for"
    def turn_bill(calls):
        return sum(calls), 0

``fails`` names the hidden test whose points the answer must lose; ``says`` is a piece of that test's hint. A
``title`` after ``# %%`` is welcome and ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ctxcourse.authoring.errors import AuthorError
from ctxcourse.authoring.hidden import HiddenTest
from ctxcourse.authoring.percent import read_cells

AT_LEAST = 3


@dataclass(frozen=True)
class WrongAnswer:
    """One wrong answer to ``question``; ``name`` is unique within its lesson and names its submission."""

    name: str
    question: str
    source: str
    fails: str
    says: str
    line: int


def read_wrong_answers(path: Path, root: Path, tests: dict[str, list[HiddenTest]]) -> list[WrongAnswer]:
    """The wrong answers of a lesson, whose questions and hidden tests are given.

    Raises AuthorError for a missing file, an unknown question or test, ``says`` that is not in the test's
    hint, or fewer than three answers to a question.
    """
    name = path.relative_to(root).as_posix()
    if not path.is_file():
        raise AuthorError(f"missing: every graded question needs {AT_LEAST} wrong answers in this file", name)
    answers: list[WrongAnswer] = []
    for cell in read_cells(path, root, tags=(), metadata=("question", "fails", "says")):
        if cell.kind != "code":
            continue
        for key in ("question", "fails", "says"):
            if not str(cell.metadata.get(key, "")).strip():
                raise cell.error(f'a wrong answer needs {key}="…" in its header')
        question, fails, says = (str(cell.metadata[key]) for key in ("question", "fails", "says"))
        if question not in tests:
            raise cell.error(f"no graded question is called {question!r}; there are {', '.join(sorted(tests))}")
        known = {test.name: test for test in tests[question]}
        if fails not in known:
            raise cell.error(f"{question} has no hidden test {fails!r}; it has {', '.join(known)}")
        if says not in known[fails].hint:
            raise cell.error(f"the hint of {fails} does not contain {says!r}; it is {known[fails].hint!r}")
        count = sum(answer.question == question for answer in answers) + 1
        answers.append(WrongAnswer(f"{question}-wrong-{count}", question, cell.source, fails, says, cell.line))
    for question in tests:
        count = sum(answer.question == question for answer in answers)
        if count < AT_LEAST:
            raise AuthorError(f"{question} has {count} wrong answers; it needs at least {AT_LEAST}", name)
    return answers
