"""The quiz in JupyterLab, answered without a mouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxcourse.questions import quiz_questions

pytestmark = pytest.mark.browser


def test_tab_and_space_are_enough(tmp_path: Path) -> None:
    from ..browser.lab_page import CHROMIUM, lab_page, notebook_of

    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    first, *_ = quiz_questions("01_token_budget")
    right = next(place for place, option in enumerate(first.options) if option.correct)
    with lab_page(tmp_path) as lab:
        lab.open("quiz.ipynb", notebook_of("from ctxcourse.quiz import quiz\nquiz('01_token_budget')"))
        lab.run_all()
        keys = lab.page.keyboard
        lab.page.get_by_role("radio").first.focus()
        for _ in range(right):
            keys.press("Tab")
        keys.press("Space")
        for _ in range(len(first.options) - right):
            keys.press("Tab")
        keys.press("Space")
        lab.page.get_by_text("1 of 1 right at the first try").wait_for()
        assert lab.page.get_by_role("radio").nth(right).is_checked()
        assert "✓ Right." in lab.page.get_by_role("status").first.inner_text()
        assert lab.errors == []
