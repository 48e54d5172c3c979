"""The widgets of the needle experiments in a real JupyterLab, on the real model; the shipped results are made here.

The results that the page shows are small tables that were computed by the same model in the notebook's first cell, so
that the tests do not depend on what ships.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from ctxcourse.needle import KINDS, SYMBOLS, sweeps

from .lab_page import PAGE_SECONDS, LabPage, notebook_of

pytestmark = [pytest.mark.browser, pytest.mark.model]

WAIT = PAGE_SECONDS * 1000
START = (
    "import tempfile\n"
    "from pathlib import Path\n"
    "from ctxcourse import load_model\nfrom ctxcourse.needle import sweeps, trials\n"
    "from ctxcourse.model.completions import CompletionStore\n"
    "from ctxcourse.widgets import EveryRow, LengthExplorer, PositionExplorer\n"
    "model = load_model()\n"
    "folder = tempfile.TemporaryDirectory()\n"
    "model.store = CompletionStore(Path(folder.name) / 'completions.sqlite3')  # nothing is remembered from before"
)
POSITION = (
    "calls = sweeps.position(records=3, trials=2, depths=(0, 0.5, 1))\n"
    "PositionExplorer(model, results=trials.run(calls, model, progress=False))"
)
LENGTH = (
    "calls = sweeps.length(lengths=(1, 3), trials=2)\n"
    "LengthExplorer(model, results={'length': trials.run(calls, model, progress=False)})"
)


def opened(page: LabPage, cell: str, marker: str) -> Locator:
    """Return the output area of a widget in a notebook that has just been run."""
    page.open("needle.ipynb", notebook_of(START, cell))
    page.run_all()
    area = page.output(marker)
    expect(area).to_have_count(1)
    return area


def button(area: Locator, name: str) -> Locator:
    return area.get_by_role("button", name=name)


def test_the_depth_slider_scrubs_over_results_and_run_agrees_with_them(fresh: LabPage) -> None:
    area = opened(fresh, POSITION, ".ctx-point")
    point, needle = area.locator(".ctx-point"), area.locator('[data-mark="needle"]')
    depth = fresh.slider(area, "Needle depth")
    depth.press("End")
    expect(point).to_have_attribute("data-point", "1.0")
    expect(needle).to_have_attribute("data-row", "2")
    expect(point.locator("[data-trial]")).to_have_count(2)
    expect(point).to_contain_text("of 2 hits")
    depth.press("ArrowLeft")
    expect(point).to_have_attribute("data-point", "0.875")
    expect(point).to_contain_text("no shipped results")
    depth.press("Home")
    expect(needle).to_have_attribute("data-row", "0")
    fresh.slider(area, "Trial").press("End")
    expect(point.locator('[data-chosen="true"]')).to_have_attribute("data-trial", "1")
    shipped = area.locator(".ctx-shipped")
    expect(shipped).to_contain_text("Remembered result of the position experiment")

    button(area, "Run").click()
    live = area.locator(".ctx-live")
    expect(live).to_be_visible(timeout=WAIT)
    given = live.locator("code").first.inner_text()
    [call] = [call for call in sweeps.position(records=3, trials=2, depths=(0,)) if call.trial == 1]
    kind = call.score(given).kind
    expect(live).to_contain_text(f"{SYMBOLS[kind]} {kind}")
    expect(live).to_contain_text("of them computed")
    expect(live).to_contain_text("It agrees with the shipped answer.")
    expect(shipped.locator("code")).to_have_text(given)
    assert fresh.errors == []


def test_both_sliders_of_the_length_explorer_lead_to_lists_that_can_be_asked(fresh: LabPage) -> None:
    area = opened(fresh, LENGTH, ".ctx-point")
    point, lines = area.locator(".ctx-point"), area.locator("[data-row]")
    length = fresh.slider(area, "Lines")
    length.press("Home")
    expect(lines).to_have_count(1)
    expect(point).to_contain_text("of 2 hits")
    length.press("ArrowRight")
    expect(lines).to_have_count(3)
    expect(area.locator("[data-faint]")).to_have_count(0)
    fresh.slider(area, "Share of lookalikes").press("Home")
    expect(area.locator("[data-faint]")).to_have_count(2)
    expect(point).to_contain_text("no shipped results")
    button(area, "Run").click()
    expect(area.locator(".ctx-live")).to_be_visible(timeout=WAIT)
    length.press("End")
    expect(lines).to_have_count(140)
    expect(area.locator(".ctx-live")).to_have_count(0)
    assert fresh.errors == []


def test_every_row_is_painted_and_what_stop_leaves_is_asked_later(fresh: LabPage) -> None:
    area = opened(fresh, "EveryRow(model, records=5, seed=77)", ".ctx-register")
    rows = area.locator("[data-row]")
    expect(rows).to_have_count(5)
    ask = button(area, "Ask every row")
    ask.click()
    expect(area.locator(".ctx-rows")).to_contain_text("of 5 hits", timeout=WAIT)
    for place, call in enumerate(sweeps.rows(5, trials=1, seed=77)):
        row = area.locator(f'[data-row="{place}"]')
        kind = row.get_attribute("data-kind")
        assert kind in KINDS
        assert call.score(row.locator("code").inner_text()).kind == kind
    expect(area.locator(".ctx-rows")).to_contain_text(re.compile(r"\d+ distinct ones in all 5 prompts"))

    fresh.slider(area, "Records").press("End")
    expect(rows).to_have_count(50)
    expect(area.locator('[data-kind=""]')).to_have_count(50)
    ask.click()
    expect(area.locator("progress")).to_be_visible(timeout=WAIT)
    button(area, "Stop").click()
    expect(area.get_by_text("Stopped.", exact=True)).to_be_visible(timeout=WAIT)
    expect(ask).to_be_enabled()
    expect(area.locator("progress")).to_have_count(0)
    assert fresh.errors == []
