"""The needle explorer in a real JupyterLab, on the real model: slider, Run, Stop, and no console errors."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from ctxcourse import needle

from .lab_page import PAGE_SECONDS, LabPage, notebook_of

pytestmark = [pytest.mark.browser, pytest.mark.model]

WAIT = PAGE_SECONDS * 1000
CELLS = (
    "from ctxcourse import load_model, widgets\nmodel = load_model()",
    "widgets.needle_explorer(model, length=25, depth=0.5, seed=1)",
)


@pytest.fixture
def explorer(fresh: LabPage) -> Locator:
    """The explorer's output area in a notebook that has just been run."""
    fresh.open("explorer.ipynb", notebook_of(*CELLS))
    fresh.run_all()
    area = fresh.output(".ctx-register")
    expect(area).to_have_count(1)
    return area


def needle_row(area: Locator) -> Locator:
    return area.locator('[data-mark="needle"]')


def test_moving_the_needle_and_running_shows_a_real_answer(explorer, fresh):
    expect(needle_row(explorer)).to_have_attribute("data-row", "12")
    length = fresh.slider(explorer, "Records")
    length.press("Home")
    expect(needle_row(explorer)).to_have_attribute("data-row", "0")
    for records in range(2, 6):
        length.press("ArrowRight")
        expect(explorer.locator("[data-row]")).to_have_count(records)
    depth = fresh.slider(explorer, "Needle depth")
    depth.press("End")
    expect(needle_row(explorer)).to_have_attribute("data-row", "4")
    expect(explorer.locator(".ctx-answer")).to_have_count(0)

    explorer.get_by_role("button", name="Run").click()
    answer = explorer.locator(".ctx-answer")
    expect(answer).to_be_visible(timeout=WAIT)
    register = needle.register(records=5, seed=1).move(0, 1.0)
    given = answer.locator("code").inner_text()
    kind = needle.classify(given, register, row=4)
    expect(answer).to_contain_text(f"{needle.SYMBOLS[kind]} {kind}")
    expect(explorer.get_by_text("of them computed")).to_be_visible()
    expect(explorer.get_by_role("button", name="Run")).to_be_enabled()

    depth.press("Home")
    expect(needle_row(explorer)).to_have_attribute("data-row", "0")
    expect(answer).to_have_count(0)
    expect(explorer.get_by_text("Answers so far")).to_be_visible()
    assert fresh.errors == []


def test_a_long_run_shows_a_bar_and_stop_ends_it(explorer, fresh):
    fresh.slider(explorer, "Records").press("End")
    expect(explorer.locator("[data-row]")).to_have_count(140)
    expect(needle_row(explorer)).to_be_visible()
    explorer.get_by_role("button", name="Run").click()
    expect(explorer.get_by_role("button", name="Run")).to_be_disabled()
    expect(explorer.locator("progress")).to_be_visible(timeout=WAIT)
    explorer.get_by_role("button", name="Stop").click()
    expect(explorer.get_by_text("Stopped.", exact=True)).to_be_visible(timeout=WAIT)
    expect(explorer.get_by_role("button", name="Run")).to_be_enabled()
    expect(explorer.locator("progress")).to_have_count(0)
    expect(explorer.locator(".ctx-answer")).to_have_count(0)
    assert fresh.errors == []


def test_the_kernel_stays_free_for_other_cells_while_the_model_computes(explorer, fresh):
    fresh.slider(explorer, "Records").press("End")
    explorer.get_by_role("button", name="Run").click()
    expect(explorer.locator("progress")).to_be_visible(timeout=WAIT)
    fresh.slider(explorer, "Records").press("Home")
    expect(explorer.locator("[data-row]")).to_have_count(1)
    expect(explorer.get_by_text("the register has changed")).to_be_visible(timeout=WAIT)
    assert fresh.errors == []
