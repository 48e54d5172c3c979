"""The quiz in JupyterLab, answered without a mouse."""

from __future__ import annotations

import pytest

from ctxcourse.questions import quiz_questions

from .lab_page import LabPage, notebook_of

pytestmark = pytest.mark.browser


def test_tab_and_space_are_enough(fresh: LabPage) -> None:
    first, *_ = quiz_questions("01_token_budget")
    right = next(place for place, option in enumerate(first.options) if option.correct)
    fresh.open("quiz.ipynb", notebook_of("from ctxcourse.quiz import quiz\nquiz('01_token_budget')"))
    fresh.run_all()
    keys = fresh.page.keyboard
    fresh.page.get_by_role("radio").first.focus()
    for _ in range(right):
        keys.press("Tab")
    keys.press("Space")
    for _ in range(len(first.options) - right):
        keys.press("Tab")
    keys.press("Space")
    fresh.page.get_by_text("1 of 1 right at the first try").wait_for()
    assert fresh.page.get_by_role("radio").nth(right).is_checked()
    assert "✓ Right." in fresh.page.get_by_role("status").first.inner_text()
    assert fresh.errors == []
