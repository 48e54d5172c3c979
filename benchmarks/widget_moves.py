"""Move the sliders of the needle widgets and time each move: in the kernel, in JupyterLab, and drawn by matplotlib."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxcourse.plots.curves import length_plot, position_plot
from ctxcourse.results import load_results
from ctxcourse.widgets import LengthExplorer, PositionExplorer

ROOT = Path(__file__).resolve().parent.parent
DRAWN = 5  # times that a figure is drawn

# From the key to the frame that shows the list of the new point; the list is the last view that is drawn.
WATCH = """() => {
  const box = document.querySelector('.ctx-register').parentNode;
  let began;
  document.addEventListener('keydown', () => { began = performance.now(); }, {once: true, capture: true});
  window.moved = new Promise(done => {
    const watch = new MutationObserver(() => {
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    });
    watch.observe(box, {childList: true});
  });
}"""


@dataclass
class Slider:
    """One slider and what its moves took, in milliseconds; ``start`` are moves that come before the scrub."""

    explorer: str
    name: str
    attribute: str
    start: tuple[str, Any] | None = None
    kernel: list[float] = field(default_factory=list)
    page: list[float] = field(default_factory=list)
    peer: float | None = None


def sliders() -> list[Slider]:
    return [
        Slider("PositionExplorer", "Needle depth", "depth"),
        Slider("PositionExplorer", "Trial", "trial"),
        Slider("LengthExplorer", "Lines", "length"),
        Slider("LengthExplorer", "Share of lookalikes", "share", start=("length", 25)),
        Slider("LengthExplorer", "Trial", "trial", start=("length", 140)),
    ]


EXPLORERS = {"PositionExplorer": PositionExplorer, "LengthExplorer": LengthExplorer}


def values_of(control: Any) -> list[Any]:
    """Return every value of a slider, from left to right."""
    if hasattr(control, "options"):
        return [value for _, value in control.options]
    count = round((control.max - control.min) / control.step)
    return [control.min + number * control.step for number in range(count + 1)]


def move_in_kernel(slider: Slider, model: Any) -> None:
    """Move a slider of a new widget all the way and back, so that every point is once seen for the first time."""
    widget = EXPLORERS[slider.explorer](model)
    if not widget.cells:
        raise SystemExit(f"There are no shipped results to move over: {' '.join(widget.notes)}")
    if slider.start:
        getattr(widget, slider.start[0]).value = slider.start[1]
    control = getattr(widget, slider.attribute)
    values = values_of(control)
    control.value = values[0]
    for value in [*values[1:], *values[-2::-1]]:
        started = time.perf_counter()
        control.value = value
        slider.kernel.append(1000 * (time.perf_counter() - started))
    if widget.problem.value:
        raise SystemExit(f"{slider.explorer} failed: {widget.problem.value}")


def move_in_page(moved: Iterable[Slider]) -> None:
    """Do the same with the arrow keys in JupyterLab, and time each from the key to the page."""
    sys.path.insert(0, str(ROOT))
    from tests.browser.lab_page import lab_page, notebook_of

    start = "from ctxcourse import load_model\nfrom ctxcourse.widgets import *"
    for slider in moved:
        setting = f"widget.{slider.start[0]}.value = {slider.start[1]!r}\n" if slider.start else ""
        shown = f"widget = {slider.explorer}(load_model())\n{setting}widget"
        with tempfile.TemporaryDirectory() as folder, lab_page(Path(folder)) as lab:
            lab.open("widget.ipynb", notebook_of(start, shown))
            lab.run_all()
            handle = lab.slider(lab.output(".ctx-point"), slider.name)
            handle.press("Home")
            lab.wait_idle()
            for key in ("ArrowRight", "ArrowLeft"):
                for _ in range(len(slider.kernel) // 2):
                    lab.page.evaluate(WATCH)
                    handle.press(key)
                    slider.page.append(lab.page.evaluate("() => window.moved"))


def draw_with_matplotlib(moved: Iterable[Slider]) -> None:
    """Time the figure over all depths, or all lengths, as a notebook would draw it anew at each move."""
    drawn = {"depth": (position_plot, load_results("position")), "length": (length_plot, load_results("length"))}
    for slider in moved:
        if slider.attribute in drawn:
            plot, frame = drawn[slider.attribute]
            took = []
            for _ in range(DRAWN):
                started = time.perf_counter()
                plot(frame).png()
                took.append(1000 * (time.perf_counter() - started))
            slider.peer = statistics.median(took)
