"""All lessons of the course: solutions earn all points, stubs none, wrong answers lose the point meant for them."""

from __future__ import annotations

import pytest

from ctxcourse.authoring.build import find_root
from ctxcourse.authoring.content import load_course, stems
from ctxcourse.authoring.standins import passing, public_callables
from ctxcourse.authoring.verify import verify

ROOT = find_root()


@pytest.mark.model
def test_answers_are_graded_right() -> None:
    assert verify(root=ROOT, workers=2) == []


@pytest.mark.model
@pytest.mark.parametrize("stem", [stem for stem in stems(ROOT) if (ROOT / "lessons" / stem / "exercise.py").is_file()])
def test_the_package_is_not_the_answer_sheet(stem: str) -> None:
    result = passing(load_course(ROOT)[stem], public_callables())
    assert result
    assert all(found == [] for found in result.values()), result
