"""The student release holds what students need and no trace of an answer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxcourse.authoring.build import build, find_root
from ctxcourse.authoring.content import load_course
from ctxcourse.authoring.release import distinctive, leaks, release
from ctxcourse.errors import CourseError


@pytest.fixture
def ready(built: Path) -> Path:
    """A built course with the files of a whole repository around it."""
    for name in (
        "README.md",
        ".ci/run",
        "tests/test_x.py",
        "src/ctxcourse/budget.py",
        "src/ctxcourse/authoring/build.py",
        "src/ctxcourse/__pycache__/budget.pyc",
        ".venv/bin/python",
        "src/ctxcourse.egg-info/PKG-INFO",
    ):
        path = built / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# nothing\n", encoding="utf-8")
    return built


EXPECTED = [
    "README.md",
    "exercises/01_turns.ipynb",
    "notebooks/00_start.ipynb",
    "notebooks/01_turns.ipynb",
    "src/ctxcourse/budget.py",
    "src/ctxcourse/questions/00_start.json",
    "src/ctxcourse/questions/01_turns.json",
]


def test_what_is_released(ready: Path, tmp_path: Path) -> None:
    copied = release(tmp_path / "out", root=ready)
    assert [path.relative_to(tmp_path / "out").as_posix() for path in copied] == EXPECTED
    assert sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file()) == copied


def test_what_git_ignores_stays_behind(ready: Path, tmp_path: Path) -> None:
    (ready / ".gitignore").write_text(".venv\n__pycache__\nmarks.csv\n*.egg-info\n", encoding="utf-8")
    (ready / "marks.csv").write_text("alice,3\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(ready)], check=True)
    copied = release(ready / "dist" / "students", root=ready)
    assert [path.relative_to(ready / "dist/students").as_posix() for path in copied] == [".gitignore", *EXPECTED]


def test_no_trace_of_answers_or_hidden_tests(ready: Path, tmp_path: Path) -> None:
    release(tmp_path / "out", root=ready)
    everything = b"\n".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()).decode()
    for trace in (
        "test_growing_turn",
        "test_single_call",
        "test_dearest",
        "min(before, after)",
        "calls.__getitem__",
        "BEGIN HIDDEN TESTS",
    ):
        assert trace not in everything
    assert "Need to implement turn_bill" in everything


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.md", "saved = sum(min(before, after) for before, after in zip(calls, calls[1:]))"),
        ("notes.md", "look at test_growing_turn"),
        (
            "src/ctxcourse/budget.py",
            "def bill(calls):\n        return  max(range(len(calls)), key=calls.__getitem__, default=None)\n",
        ),
        ("data.json", '{"a": ["saved = sum(min(before, after) for before, ", "after in zip(calls, calls[1:]))"]}'),
    ],
)
def test_a_leak_stops_the_release(ready: Path, tmp_path: Path, name: str, text: str) -> None:
    (ready / name).write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match="no release was made") as caught:
        release(tmp_path / "out", root=ready)
    assert name in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_release_of_a_course_that_is_not_built(
    ready: Path, tmp_path: Path, edit: Callable[[str, str, str], int]
) -> None:
    edit("exercise.py", "Pair each call", "Pair every call")
    with pytest.raises(CourseError, match="make build"):
        release(tmp_path / "out", root=ready)
    build(root=ready, run=False)
    assert release(tmp_path / "out", root=ready)


def test_a_folder_in_use_is_left_alone(ready: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(CourseError, match="not an empty folder"):
        release(tmp_path, root=ready)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "keep"


def test_short_solutions_are_recognised_by_pairs_of_lines() -> None:
    assert distinctive("    return 1") == []
    assert distinctive("    # why\n    return calls[-1] or 0") == ["return calls[-1] or 0"]
    assert distinctive("total = 0\nfor call in calls:\n    total += call\nreturn total") == [
        "for call in calls:\ntotal += call"
    ]


def test_the_course_itself_can_be_released_without_a_trace(tmp_path: Path) -> None:
    root = find_root()
    copied = release(tmp_path / "out", root=root)
    assert leaks(tmp_path / "out", load_course(root)) == []
    names = {path.relative_to(tmp_path / "out").as_posix() for path in copied}
    assert {"README.md", "pyproject.toml", "src/ctxcourse/learn.py", "exercises/01_token_budget.ipynb"} <= names
    assert not any(
        name.startswith(("lessons/", "solutions/", "tests/", ".ci/", "src/ctxcourse/authoring/")) for name in names
    )
    everything = "\n".join(path.read_text(encoding="utf-8", errors="ignore") for path in copied)
    for lesson in load_course(root).values():
        for question in lesson.graded.values():
            for test in question.tests:
                assert test.name not in everything
