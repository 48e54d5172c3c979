"""A small course of two lessons, copied for each test that changes it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxcourse.authoring.build import build

SMALL = Path(__file__).parent / "course"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The sources alone."""
    return Path(shutil.copytree(SMALL, tmp_path / "course"))


@pytest.fixture(scope="session")
def _executed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(shutil.copytree(SMALL, tmp_path_factory.mktemp("executed") / "course"))
    build(root=root)
    return root


@pytest.fixture
def built(_executed: Path, course: Path) -> Path:
    """The course, built and run."""
    for folder in ("notebooks", "exercises", "solutions", "src"):
        shutil.copytree(_executed / folder, course / folder)
    return course


@pytest.fixture
def edit(course: Path) -> Callable[[str, str, str], int]:
    """Replace a text, which must occur, in a source of lesson 01 (once); returns the line where it stood, from 1."""

    def replace(name: str, old: str, new: str) -> int:
        path = course / "lessons" / "01_turns" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    return replace
