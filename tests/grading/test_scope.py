"""What is taken from the folders around submissions: no Python file, and no solutions of a student's own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading.locate import nearest_solutions
from ctxcourse.grading.run import command


def test_the_solutions_are_never_those_in_a_submission(course, tmp_path_factory, monkeypatch):
    own = (course.root / "solutions").resolve()
    inside = course.root / "submissions" / "ada"
    (inside / "solutions").mkdir(parents=True)
    for folder in (inside, inside / "solutions", course.root):
        monkeypatch.chdir(folder)
        assert f"--solutions={own}" in command(["."])
    elsewhere = tmp_path_factory.mktemp("lone") / "submissions" / "ada"
    (elsewhere / "solutions").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    monkeypatch.setattr("ctxcourse.grading.scope.COURSE", tmp_path_factory.mktemp("no_course"))
    with pytest.raises(CourseError, match="there is no folder of solutions"):
        command(["."])


def test_a_link_to_a_submissions_folder_is_no_way_round(course):
    student = course.root / "submissions" / "ada" / "solutions"
    student.mkdir(parents=True)
    place = course.root / "desk"
    place.mkdir()
    (place / "solutions").symlink_to(student)
    assert nearest_solutions(place) == (course.root / "solutions").resolve()


def plant(course, folder):
    """Put Python files that leave a trace into a folder of the course."""
    for name in ("conftest.py", "__init__.py", "test_evil.py"):
        trace = course.root / f"{folder.replace('/', '-')}-{name}.trace"
        course.write(f"{folder}/{name}", f"open({str(trace)!r}, 'w').close()\n\ndef test_it(): pass")


def nbval(course, *arguments):
    """Run ``pytest --nbval`` without an option of grading, and return its output and the traces that were left."""
    base = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval"]
    done = subprocess.run([*base, *arguments], cwd=course.root, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr, sorted(path.name for path in course.root.glob("*.trace"))


@pytest.mark.parametrize("more", [["class1"], ["class1/ada/hw.ipynb"], ["-n", "2", "class1"]], ids=len)
def test_python_files_beside_submissions_do_not_run_whatever_the_folder_is_called(course, small, more):
    course.write("class1/ada/hw.ipynb", small.notebook("exercise", small.BILL_RIGHT, small.SHARE_RIGHT))
    for folder in ("class1", "class1/ada"):
        plant(course, folder)
    output, traces = nbval(course, *more)
    assert traces == []
    assert "1 notebook, 5 of 5 points" in output
    assert "note: graded because it is an exercise" in output


def test_python_files_beside_other_notebooks_run_as_ever(course, small):
    course.write("class1/plain.ipynb", small.plain("1 + 1"))
    plant(course, "class1")
    output, traces = nbval(course, "class1")
    assert traces == ["class1-__init__.py.trace", "class1-conftest.py.trace", "class1-test_evil.py.trace"], output
    assert "2 passed" in output


def test_a_folder_handed_in_with_solutions_of_its_own_is_not_graded_by_them(course, small, tmp_path_factory):
    course.write("class1/ada/exercises/hw.ipynb", small.notebook("exercise", small.BILL_WRONG, small.SHARE_RIGHT))
    forged = small.notebook("solution", small.BILL_WRONG, small.SHARE_RIGHT)
    evil = f"@points(1)\ndef test_evil():\n    open({str(course.root / 'evil.trace')!r}, 'w').close()"
    forged["cells"][5]["source"] = f"### BEGIN HIDDEN TESTS\n{evil}\n### END HIDDEN TESTS"
    course.write("class1/ada/solutions/01_bill.ipynb", forged)
    (course.root / "solutions").rename(course.root / "elsewhere")
    _, traces = nbval(course, "class1")
    assert traces == []


def test_no_notice_where_exercises_are_expected(course):
    course.submit("alice")
    output, _ = nbval(course, "exercises", "solutions", "submissions")
    assert "3 notebooks, 10 of 15 points" in output
    assert "note:" not in output
