"""A small course of its own, and a way to grade submissions to it in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

SECRET = "sesame-4417"

SETUP = """
import math

FACTOR = 1
"""

BILL = '''
def turn_bill(calls):
    """Return ``(billed, saved)`` for the prompt sizes of one turn's calls, in order."""
    {body}
'''
BILL_RIGHT = BILL.format(body="return FACTOR * sum(calls), sum(min(a, b) for a, b in zip(calls, calls[1:]))")
BILL_WRONG = BILL.format(body="return sum(calls), 0")
BILL_STUB = BILL.format(body='raise NotImplementedError("Need to implement turn_bill")')

SHARE = '''
def share(part, whole):
    """Return the share of the part in the whole."""
    {body}
'''
SHARE_RIGHT = SHARE.format(
    body='if whole == 0:\n        raise ValueError("the whole is zero")\n    return part / whole'
)
SHARE_STUB = SHARE.format(body='raise NotImplementedError("Need to implement share")')

BILL_TESTS = f'''
### BEGIN HIDDEN TESTS
import pytest

from ctxcourse.grading.inplace import points, run_here


@points(1, title="One call is billed once", hint="What is there to reuse before the first call?")
def test_single_call(student):
    secret = "{SECRET}"
    assert student.turn_bill([2_547]) == (2_547, 0), secret


@points(2, title="A growing turn", hint="Which part was already paid for?")
@pytest.mark.parametrize(("calls", "{SECRET.replace("-", "_")}"), [([100, 140, 200], 240), ([7, 7, 7], 14), ([], 0)])
def test_growing_turn(student, calls, {SECRET.replace("-", "_")}):
    print("{SECRET}")
    assert student.turn_bill(calls) == (sum(calls), {SECRET.replace("-", "_")})


run_here(globals())
### END HIDDEN TESTS
'''
SHARE_TESTS = """
### BEGIN HIDDEN TESTS
import pytest

from ctxcourse.grading.inplace import points, run_here
from ctxcourse.grading.remote import StudentError


@points(1, title="A quarter", hint="Which one is divided?")
def test_quarter(student):
    assert student.share(1, 4) == 0.25


@points(1, title="Nothing has no parts", hint="What is a share of nothing?")
def test_of_nothing(student):
    with pytest.raises(StudentError, match="^ValueError"):
        student.share(1, 0)


run_here(globals())
### END HIDDEN TESTS
"""


def code(source: str, tag: str = "", question: str = "", **nbgrader: object) -> nbformat.NotebookNode:
    """A code cell with the metadata of the course."""
    metadata: dict[str, object] = {"tags": [tag] if tag else []}
    if question:
        suffix = {"answer": "", "check": "-check", "hidden-tests": "-tests"}[tag]
        metadata["ctxcourse"] = {"question": question}
        metadata["nbgrader"] = {
            "schema_version": 3,
            "task": False,
            "grade": tag == "hidden-tests",
            "solution": tag == "answer",
            "locked": tag != "answer",
            "grade_id": question + suffix,
            "cell_type": "code",
            **nbgrader,
        }
    return new_code_cell(source.strip("\n"), metadata=metadata)


def notebook(
    kind: str, bill: str, share: str, stem: str = "01_bill", extra: tuple[str, ...] = ()
) -> nbformat.NotebookNode:
    """The notebook of the small course's only exercise, as the builder would make it."""
    hidden = (
        [BILL_TESTS, SHARE_TESTS]
        if kind == "solution"
        else ["# 3 points: tested when graded", "# 2 points: tested when graded"]
    )
    cells = [
        new_markdown_cell("# 01 · The bill of a turn\n\nGenerated from exercise.py: do not edit."),
        code(SETUP, "setup"),
        new_markdown_cell("## Question 1 · What does a turn cost, and what would a prefix cache save?"),
        code(bill, "answer", "turn_bill"),
        code("assert turn_bill([1]) == (1, 0)  # the visible check", "check", "turn_bill"),
        code(hidden[0], "hidden-tests", "turn_bill", points=3),
        new_markdown_cell("## Question 2 · How large is the share of a part in the whole?"),
        code(share, "answer", "share"),
        code("assert share(1, 2) == 0.5  # the visible check", "check", "share"),
        code(hidden[1], "hidden-tests", "share", points=2),
        *(new_code_cell(source) for source in extra),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"{stem.replace('_', '-')}-{number:03d}"
    return new_notebook(
        cells=cells,
        metadata={
            "ctxcourse": {"kind": kind, "stem": stem, "source": f"lessons/{stem}/exercise.py"},
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
    )


@dataclass
class Graded:
    """What a grading run left behind."""

    code: int
    output: str
    rows: list[dict]
    junit: str
    seconds: float

    def row(self, submission: str, exercise: str = "turn_bill") -> dict:
        """The row of a submission, named by its file, and an exercise."""
        found = [r for r in self.rows if Path(r["submission"]).stem == submission and r["exercise"] == exercise]
        assert len(found) == 1, (submission, exercise, self.rows, self.output)
        return found[0]

    def marks(self, submission: str) -> dict[str, float]:
        """The points of a submission by exercise."""
        return {r["exercise"]: r["points"] for r in self.rows if Path(r["submission"]).stem == submission}

    @property
    def junit_points(self) -> float:
        """The sum of the points in the JUnit file."""
        properties = ElementTree.fromstring(self.junit).iter("property")
        return sum(float(p.get("value")) for p in properties if p.get("name") == "points")


@dataclass
class Course:
    """A course in a folder of its own."""

    root: Path
    options: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("solutions", "exercises", "submissions"):
            (self.root / name).mkdir()
        self.write("solutions/01_bill.ipynb", notebook("solution", BILL_RIGHT, SHARE_RIGHT))
        self.write("exercises/01_bill.ipynb", notebook("exercise", BILL_STUB, SHARE_STUB))

    def write(self, name: str, content: nbformat.NotebookNode | str | bytes) -> Path:
        """Write a file of the course."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def submit(
        self,
        name: str,
        bill: str = BILL_RIGHT,
        share: str = SHARE_RIGHT,
        *,
        prelude: str = "",
        extra: tuple[str, ...] = (),
    ) -> Path:
        """Hand in a notebook: the answers, code to put before them, and cells to add at the end."""
        bill = textwrap.dedent(prelude) + "\n" + bill if prelude else bill
        book = notebook("exercise", bill, share, extra=extra)
        return self.write(f"submissions/{name}.ipynb", book)

    def grade(self, *arguments: str, env: dict[str, str] | None = None) -> Graded:
        """Run ``pytest --nbval`` with these arguments in a process of its own."""
        grades, junit = self.root / "grades.json", self.root / "junit.xml"
        for old in (grades, junit):
            old.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--nbval",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:hypothesispytest",
            "--color=no",
        ]
        command += [f"--grades={grades}", f"--junitxml={junit}", *self.options, *(arguments or ("submissions",))]
        begin = time.monotonic()
        done = subprocess.run(
            command,
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=300,
            env={**os.environ, **(env or {})},
            check=False,
        )
        rows = json.loads(grades.read_text(encoding="utf-8")) if grades.exists() else []
        text = junit.read_text(encoding="utf-8") if junit.exists() else ""
        return Graded(done.returncode, done.stdout + done.stderr, rows, text, time.monotonic() - begin)


class Small:
    """The texts of the small course, for tests that build notebooks of their own."""

    SECRET = SECRET
    BILL_RIGHT, BILL_WRONG, BILL_STUB = BILL_RIGHT, BILL_WRONG, BILL_STUB
    SHARE_RIGHT, SHARE_STUB = SHARE_RIGHT, SHARE_STUB
    notebook = staticmethod(notebook)

    @staticmethod
    def plain(source: str) -> nbformat.NotebookNode:
        """A notebook that has nothing to do with the course."""
        return new_notebook(
            cells=[new_code_cell(source)], metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        )

    @staticmethod
    def result(text: str) -> dict[str, object]:
        """The saved output of a cell."""
        return {"output_type": "execute_result", "data": {"text/plain": text}, "metadata": {}, "execution_count": 1}


@pytest.fixture(scope="session")
def small() -> type[Small]:
    """The texts of the small course."""
    return Small


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A fresh course."""
    return Course(tmp_path)


@pytest.fixture(scope="session")
def make_course(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Course]:
    """Makes further courses."""
    return lambda: Course(tmp_path_factory.mktemp("course"))
