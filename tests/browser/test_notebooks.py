"""The repository's own notebooks, opened and run as a student would."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .lab_page import PAGE_SECONDS, LabPage, notebook_of

pytestmark = [pytest.mark.browser, pytest.mark.model]

WAIT = PAGE_SECONDS * 1000


def test_errors_and_warnings_of_a_notebook_are_seen(fresh: LabPage):
    fresh.open("complaints.ipynb", notebook_of("import sys\nprint('careful', file=sys.stderr)", "1 / 0"))
    fresh.run_all()
    expect(fresh.complaints()).to_have_count(2)


def test_a_cell_that_fails_is_named_at_once_with_its_error(fresh: LabPage):
    fresh.open("failing.ipynb", notebook_of("1 / 0", "print('never')"))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        fresh.run_all()


def test_the_start_page_runs_and_its_explorer_answers(fresh: LabPage):
    fresh.open("00_start_here.ipynb")
    fresh.run_all()
    area = fresh.output(".ctx-register")
    expect(area).to_have_count(1)
    before = area.locator('[data-mark="needle"]').get_attribute("data-row")
    depth = fresh.slider(area, "Needle depth")
    depth.press("Home")
    expect(area.locator('[data-mark="needle"]')).to_have_attribute("data-row", "0")
    assert before is not None
    area.get_by_role("button", name="Run").click()
    expect(area.locator(".ctx-answer")).to_be_visible(timeout=WAIT)
    expect(area.locator(".ctx-answer code")).not_to_be_empty()
    expect(fresh.complaints()).to_have_count(0)
    assert fresh.errors == []


def test_lesson_01_runs_and_its_budget_follows_the_sliders(fresh: LabPage):
    fresh.open("01_token_budget.ipynb")
    fresh.run_all()
    expect(fresh.complaints()).to_have_count(0)
    area = fresh.output(".ctx-budget")
    picture = area.locator("img[alt*='of a window of']")
    expect(picture).to_have_attribute("alt", re.compile("22,700"))
    fresh.slider(area, "Tools").press("Home")
    expect(picture).to_have_attribute("alt", re.compile("tools 0,"))
    expect(area.locator(".ctx-budget")).to_contain_text("14,700")
    assert fresh.errors == []


def test_lesson_02_runs_and_the_best_comes_first_whatever_the_number(fresh: LabPage):
    fresh.open("02_lost_in_the_middle.ipynb")
    fresh.run_all()
    expect(fresh.complaints()).to_have_count(0)
    area = fresh.output("[data-place]")
    for number, press in ((10, None), (11, "ArrowRight")):
        if press:
            fresh.slider(area, "Documents").press(press)
        expect(area.locator("[data-place]")).to_have_count(number)
        expect(area.locator('[data-place="1"]')).to_have_attribute("data-rank", "1")
        expect(area.locator(f'[data-place="{number}"]')).to_have_attribute("data-rank", "2")
    assert fresh.errors == []


@pytest.mark.parametrize(
    ("name", "table", "slider", "key"),
    [
        ("03_conversation_compressor.ipynb", ".ctx-history", "History budget", "PageDown"),
        ("04_tool_pruning.ipynb", ".ctx-tools", "Tool budget", "PageDown"),
        ("07_forty_turns.ipynb", ".ctx-turn", "Call", "PageUp"),
        ("08_context_policies.ipynb", ".ctx-playground", "Window", "PageUp"),
    ],
)
def test_lessons_run_and_what_their_widgets_show_follows_the_slider(
    fresh: LabPage, name: str, table: str, slider: str, key: str
):
    fresh.open(name)
    fresh.run_all()
    expect(fresh.complaints()).to_have_count(0)
    area = fresh.output(table)
    before = area.locator(table).inner_text()
    fresh.slider(area, slider).press(key)
    expect(area.locator(table)).not_to_have_text(before, use_inner_text=True)
    assert fresh.errors == []
