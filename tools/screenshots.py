"""Make the pictures of the README from the real pages: ``python tools/screenshots.py``.

Opens the repository's notebooks in JupyterLab and headless Chromium, runs them on the real model, and writes
``docs/needle_explorer.png`` and ``docs/budget_explorer.png``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, expect

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "browser"))

from lab_page import PAGE_SECONDS, LabPage, lab_page

WAIT = PAGE_SECONDS * 1000
HEIGHT = 1600  # enough for a whole widget without scrolling


def needle_explorer(lab: LabPage) -> Locator:
    """Run the start page, ask at two depths, and return the explorer's area."""
    lab.open("00_start_here.ipynb")
    lab.run_all()
    area = lab.output(".ctx-register")
    depth = lab.slider(area, "Needle depth")
    for key, row in (("Home", "0"), ("End", "24")):
        depth.press(key)
        expect(area.locator('[data-mark="needle"]')).to_have_attribute("data-row", row)
        _run(area)
    for row in ("21", "18", "15"):
        depth.press("ArrowLeft")
        expect(area.locator('[data-mark="needle"]')).to_have_attribute("data-row", row)
    _run(area)
    return area


def _run(area: Locator) -> None:
    area.get_by_role("button", name="Run").click()
    expect(area.locator(".ctx-answer")).to_be_visible(timeout=WAIT)


def budget_explorer(lab: LabPage) -> Locator:
    """Run lesson 01 and return the area of its budget explorer."""
    lab.open("01_token_budget.ipynb")
    lab.run_all()
    area = lab.output(".ctx-budget")
    expect(area.locator("img[alt*='of a window of']")).to_be_visible()
    return area


PICTURES = {"needle_explorer": needle_explorer, "budget_explorer": budget_explorer}


def main() -> None:
    """Make the pictures that are named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; default: all")
    parser.add_argument("--to", type=Path, default=REPOSITORY / "docs", help="folder (default: docs)")
    parser.add_argument("--theme", default="JupyterLab Light", help="JupyterLab's theme")
    options = parser.parse_args()
    unknown = set(options.names) - set(PICTURES)
    if unknown:
        parser.error(f"no picture is called {', '.join(sorted(unknown))}: there are {', '.join(PICTURES)}")
    options.to.mkdir(exist_ok=True)
    for name in options.names or PICTURES:
        folder = tempfile.TemporaryDirectory(prefix="ctxcourse-screenshots-")
        with folder, lab_page(Path(folder.name), width=1400, height=HEIGHT, theme=options.theme) as lab:
            area = PICTURES[name](lab)
            area.locator(".jp-OutputArea-output").screenshot(path=options.to / f"{name}.png", animations="disabled")
        print(options.to / f"{name}.png")


if __name__ == "__main__":
    main()
