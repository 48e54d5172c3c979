"""The whole way: a course, submissions, `pytest --nbval`, and what comes out."""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading.plugin import check_options
from ctxcourse.grading.run import command, grade
from tests.grading.late import LATE


def test_the_solution_earns_everything(course, small):
    result = course.grade("solutions")
    assert result.code == 0, result.output
    assert result.marks("01_bill") == {"turn_bill": 3, "share": 2}
    assert {row["status"] for row in result.rows} == {"full"}
    assert result.junit_points == 5
    assert "5 of 5 points" in result.output


def test_a_saved_output_is_compared_in_the_solution_only(course, small):
    book = small.notebook("solution", small.BILL_RIGHT, small.SHARE_RIGHT, extra=("1 + 1",))
    book["cells"][-1].update(execution_count=1, outputs=[small.result("3")])
    course.write("solutions/01_bill.ipynb", book)
    book["metadata"]["ctxcourse"]["kind"] = "exercise"
    course.write("submissions/alice.ipynb", book)
    result = course.grade("solutions", "submissions")
    assert result.code == 1
    assert "its output differs from the saved one" in result.output
    failed = [line for line in result.output.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1
    assert "solutions/01_bill.ipynb" in failed[0]
    assert result.marks("01_bill") == result.marks("alice") == {"turn_bill": 3, "share": 2}


def test_the_exercise_is_not_attempted(course):
    result = course.grade("exercises")
    assert result.code == 1
    assert result.marks("01_bill") == {"turn_bill": 0, "share": 0}
    assert {row["status"] for row in result.rows} == {"not attempted"}
    assert result.junit_points == 0


@pytest.fixture(scope="module")
def class_of_three(make_course, small):
    """Three submissions, graded by two workers with the most talkative options."""
    course = make_course()
    course.submit("alice")
    course.submit("bob", share=small.SHARE_STUB)
    course.submit("carol", bill=small.BILL_WRONG)
    options = ("-n", "2", "--dist", "loadfile", "-v", "--tb=long", "-rA", "--showlocals")
    return course, course.grade("submissions", *options)


def test_each_gets_what_was_earned(class_of_three):
    _, result = class_of_three
    assert result.code == 1
    assert result.marks("alice") == {"turn_bill": 3, "share": 2}
    assert result.marks("bob") == {"turn_bill": 3, "share": 0}
    assert result.marks("carol") == {"turn_bill": 1, "share": 2}
    assert result.row("bob", "share")["status"] == "not attempted"
    assert result.row("carol")["status"] == "partial"
    assert result.junit_points == 11
    assert "3 notebooks, 11 of 15 points" in result.output


def test_a_row_shows_the_tests_behind_it(class_of_three):
    _, result = class_of_three
    row = result.row("carol")
    assert row["submission"] == "submissions/carol.ipynb"
    assert (row["lesson"], row["points"], row["max"]) == ("01_bill", 1, 3)
    assert [(t["test"], t["points"], t["max"], t["outcome"]) for t in row["tests"]] == [
        ("test_single_call", 1, 1, "passed"),
        ("test_growing_turn", 0, 2, "failed"),
    ]
    assert row["tests"][1]["title"] == "A growing turn"
    assert row["tests"][1]["hint"] == "Which part was already paid for?"


def test_nothing_of_the_hidden_tests_leaks(class_of_three, small):
    _, result = class_of_three
    secrets = [
        small.SECRET,
        small.SECRET.replace("-", "_"),
        "student.turn_bill",
        "def test_",
        "assert student",
        "240",
        "2_547",
        "2547",
    ]
    files = result.junit + json.dumps(result.rows)
    for secret in secrets:
        assert secret not in files
        assert secret not in result.output


def test_details_are_shown_on_the_terminal_on_request_only(class_of_three, small):
    course, _ = class_of_three
    table = course.root / "grades.csv"
    result = course.grade("submissions/carol.ipynb", "--show-hidden", "--grades", str(table))
    assert "assert student.turn_bill(calls)" in result.output
    assert "At index 1 diff: 0 != 240" in result.output
    assert "student.turn_bill" not in result.junit + table.read_text()
    with table.open(newline="") as file:
        rows = [(r["submission"], r["exercise"], r["points"], r["max"], r["status"]) for r in csv.DictReader(file)]
    assert rows == [
        ("submissions/carol.ipynb", "turn_bill", "1", "3", "partial"),
        ("submissions/carol.ipynb", "share", "2", "2", "full"),
    ]


def test_a_single_test_can_be_asked_for(class_of_three):
    course, _ = class_of_three
    result = course.grade("submissions/alice.ipynb::hidden::test_growing_turn[2]")
    assert "1 passed" in result.output
    assert result.code == 1, "the points of a test are earned by all its cases"
    assert result.row("alice")["status"] == "not graded"


def test_skipped_and_expected_failures_earn_nothing(course, small):
    marks = (
        "@pytest.mark.skip",
        "@pytest.mark.xfail",
        "@pytest.mark.xfail(strict=True)",
        "@pytest.mark.skipif(True, reason='sesame')",
    )
    bodies = "True", "True", "False", "True"
    tests = "\n".join(
        f"{mark}\n@points(1, title='t')\ndef test_{n}(student):\n    assert {body}\n"
        for n, (mark, body) in enumerate(zip(marks, bodies, strict=True))
    )
    tests += "\n@points(1, title='passes')\ndef test_last(student):\n    assert student.FACTOR == 1\n"
    book = small.notebook("solution", small.BILL_RIGHT, small.SHARE_RIGHT)
    book["cells"][5]["source"] = f"### BEGIN HIDDEN TESTS\n{tests}### END HIDDEN TESTS"
    course.write("solutions/01_bill.ipynb", book)
    course.submit("alice")
    result = course.grade("submissions")
    row = result.row("alice")
    assert [t["points"] for t in row["tests"]] == [0, 0, 0, 0, 1]
    assert [t["outcome"] for t in row["tests"]] == ["skipped", "not counted", "not counted", "skipped", "passed"]
    assert result.code == 1
    assert result.junit_points == 3
    assert "sesame" not in result.junit


def test_the_command_of_its_own(course, small, monkeypatch):
    course.submit("alice")
    course.write("submissions/conftest.py", "raise SystemExit('conftest was run')")
    course.write("submissions/pytest.ini", "[pytest]\naddopts = --collect-only\n")
    monkeypatch.chdir(course.root)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    assert grade(["submissions"], grades="marks.json", junitxml="junit.xml") == 0
    rows = json.loads((course.root / "marks.json").read_text())
    assert [(row["exercise"], row["points"]) for row in rows] == [("turn_bill", 3), ("share", 2)]
    with pytest.raises(CourseError, match="nothing to grade at nowhere"):
        grade(["nowhere"])
    with pytest.raises(CourseError, match="nothing to grade"):
        grade([])
    (course.root / "submissions" / "nobody").mkdir()
    with pytest.raises(CourseError, match=r"no notebooks .* to grade in submissions/nobody"):
        grade(["submissions/nobody"])
    assert "-n" in command(["submissions"], workers=2)
    assert "-n" not in command(["submissions"])


@pytest.mark.parametrize("workers", [1, 2])
def test_modules_and_settings_beside_a_submission_are_not_used(course, monkeypatch, workers):
    course.submit("alice/hw")
    folder = course.root / "submissions" / "alice"
    run = f"open({str(course.root / 'evil')!r}, 'a').write(__file__)\n"
    for name in ("nbval", "json", "conftest", "struct", "pytest", "sitecustomize"):
        course.write(f"submissions/alice/{name}.py", run)
    course.write("submissions/alice/pytest.ini", "[pytest]\naddopts = -p no:ctxcourse\n")
    course.write("submissions/alice/pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-p no:ctxcourse'\n")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("PYTEST_PLUGINS", "nbval")
    marks = course.root / "marks.json"
    assert grade(["."], grades=marks, solutions=course.root / "solutions", workers=workers) == 0
    assert [(row["exercise"], row["points"]) for row in json.loads(marks.read_text())] == [
        ("turn_bill", 3),
        ("share", 2),
    ]
    assert not (course.root / "evil").exists()


def test_marks_that_cannot_be_written_are_still_shown(course, small):
    course.submit("alice")
    # the folder takes the file's place while the notebook is graded, as a full disk would
    book = small.notebook("solution", small.BILL_RIGHT, small.SHARE_RIGHT)
    place = course.root / "late.json"
    book["cells"][5]["source"] = book["cells"][5]["source"].replace(
        "import pytest\n",
        f"import pathlib, pytest\npathlib.Path({str(place)!r}).joinpath('x').mkdir(parents=True, exist_ok=True)\n",
    )
    course.write("solutions/01_bill.ipynb", book)
    result = course.grade("submissions", f"--grades={place}")
    assert result.code not in (0, 1)
    assert "5 of 5 points" in result.output
    assert f"The marks could NOT be written to {place}" in result.output.splitlines()[-1]
    assert "Marks written" not in result.output
    assert not list(course.root.glob("*.part"))


TAKES_A_WHILE = "import time; time.sleep(2)"


def test_an_exit_in_the_notebook_costs_nothing(course):
    course.submit("last", extra=("exit()",))
    course.submit("late", extra=(LATE.format(delay=0.6), TAKES_A_WHILE))
    for name, source in (("first", "exit()"), ("bare", "quit")):
        path = course.submit(name)
        book = json.loads(path.read_text())
        guilty = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        book["cells"].insert(4, {**guilty, "id": "guilty"})
        path.write_text(json.dumps(book))
    result = course.grade("submissions")
    for name in ("last", "late", "first", "bare"):
        assert result.marks(name) == {"turn_bill": 3, "share": 2}, name
        expected = ["Cell 7: it ended the kernel after it had run"] if name == "late" else []
        assert result.row(name)["notices"] == expected
    failed = [line.split(" - ")[0] for line in result.output.splitlines() if line.startswith("FAILED")]
    assert sorted(failed) == [
        "FAILED submissions/bare.ipynb::Cell 2",
        "FAILED submissions/first.ipynb::Cell 2",
        "FAILED submissions/last.ipynb::Cell 7",
    ]
    assert "exit and quit would end the notebook's kernel" in result.output


def test_what_comes_with_a_submission_is_not_believed(course, small):
    course.submit("alice/hw")
    forged = small.notebook("solution", small.BILL_WRONG, small.SHARE_RIGHT)
    forged["cells"][5]["source"] = (
        "### BEGIN HIDDEN TESTS\n@points(3)\ndef test_nothing(student):\n    pass\n### END HIDDEN TESTS"
    )
    course.write("submissions/alice/solutions/01_bill.ipynb", forged)
    for name in ("conftest.py", "__init__.py", "test_evil.py"):
        course.write(f"submissions/alice/{name}", f"open({str(course.root / 'evil')!r}, 'w').close()")
    course.write("submissions/__init__.py", f"open({str(course.root / 'evil')!r}, 'w').close()")
    result = course.grade("submissions/alice")
    assert result.marks("01_bill") == {"turn_bill": 1, "share": 2}
    assert result.marks("hw") == {"turn_bill": 3, "share": 2}
    assert not (course.root / "evil").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"grades": "marks.txt"}, "must end in .json or .csv"),
        ({"grades": "nowhere/marks.csv"}, "there is no folder"),
        ({"grades": "folder.json"}, "--grades=folder.json: that is a folder"),
        ({"xmlpath": "folder.json"}, "--junitxml=folder.json: that is a folder"),
        ({"solutions": "folder.json"}, "there are no solution notebooks (.ipynb) in this folder"),
        (
            {"solutions": "solutions", "lesson": "nosuch"},
            "--lesson=nosuch: there is no such lesson; there are: 01_bill",
        ),
        ({"solutions": "nowhere"}, "there is no such folder"),
        ({"grade_timeout": 0.0}, "--grade-timeout=0.0: the time must be above zero"),
        ({"grade_call_timeout": float("nan")}, "--grade-call-timeout=nan: the time must be above zero"),
    ],
)
def test_options_are_checked_before_the_run(options, text, course, monkeypatch):
    monkeypatch.chdir(course.root)
    (course.root / "folder.json").mkdir()
    given = {"grades": None, "solutions": None, "grade_timeout": 1.0, "grade_call_timeout": 1.0}
    check_options(argparse.Namespace(**given))
    with pytest.raises(pytest.UsageError, match=re.escape(text)):
        check_options(argparse.Namespace(**{**given, **options}))


def test_a_lesson_that_does_not_exist(course):
    course.submit("alice")
    result = course.grade("submissions", "--lesson=02_other")
    assert "there is no solution 02_other.ipynb" in result.row("alice", "")["reason"]
    assert result.code == 1
    result = course.grade("submissions", "--lesson=02_other", "--solutions=solutions")
    assert "--lesson=02_other: there is no such lesson; there are: 01_bill" in result.output
    assert result.code == 4
    assert result.rows == []


def test_an_instructors_mistake_is_said_without_quoting_the_test(course, small):
    book = small.notebook("solution", small.BILL_RIGHT, small.SHARE_RIGHT)
    book["cells"][9]["source"] = f"### BEGIN HIDDEN TESTS\nsecret = '{small.SECRET}\n### END HIDDEN TESTS"
    course.write("solutions/01_bill.ipynb", book)
    course.submit("alice")
    result = course.grade("submissions")
    assert [(row["points"], row["status"]) for row in result.rows] == [(0, "not graded")]
    assert result.rows[0]["reason"] == "01_bill.ipynb: hidden cell 9, line 2: syntax error"
    assert small.SECRET not in result.output + result.junit


def test_other_runs_are_left_alone(course, small):
    course.write("test_plain.py", "def test_plain(): pass")
    course.write("plain.ipynb", small.plain("1 + 1"))
    lesson = small.plain("2 + 2")
    lesson["metadata"]["ctxcourse"] = {"kind": "lesson", "stem": "01_bill"}
    course.write("notebooks/01_bill.ipynb", lesson)
    base = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*base, "--nbval", "plain.ipynb", "notebooks", "test_plain.py"],
        cwd=course.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    assert "grades" not in done.stdout
    assert "points" not in done.stdout


def test_the_plugin_loads_nothing():
    code = (
        "import sys, ctxcourse.grading.plugin; "
        "print({'nbval', 'nbformat', 'zmq', 'jupyter_client', 'psutil', 'numpy', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
