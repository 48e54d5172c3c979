"""The position explorer: what came of all trials at a depth of the needle, as the slider moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ipywidgets as W

from ctxcourse.model.qwen import Model
from ctxcourse.needle import DEPTHS, sweeps
from ctxcourse.needle.shipped import Answered, ShippedError, cells_by, results_or_reason, trials_and_seed
from ctxcourse.needle.sweeps import Call
from ctxcourse.plots.cells import fraction
from ctxcourse.widgets.cell_view import Current, Line, Point, curve_svg
from ctxcourse.widgets.point import WIDE, PointExplorer

if TYPE_CHECKING:
    from pandas import DataFrame

TICKS = ((0.0, "0"), (0.25, "1/4"), (0.5, "1/2"), (0.75, "3/4"), (1.0, "1"))


class PositionExplorer(PointExplorer):
    """A slider for the needle's depth over the results of the position experiment.

    ``results`` is a table of that experiment (one row a call), by default the one that came with the course;
    ``records`` is the length of its lists, by default what the table has first, else 25. Trials and seed are the
    table's, so that Run asks the very questions of its rows. Children by name: ``depth`` and those of
    `PointExplorer`. Raises `ShippedError` for a table of other lists than lookalikes alone.
    """

    def __init__(self, model: Model, results: DataFrame | None = None, records: int | None = None) -> None:
        frame, note = (results, "") if results is not None else results_or_reason("position")
        by_size_and_depth = {} if frame is None else cells_by(frame, _size_and_depth)
        self.records = records or next((size for size, _ in by_size_and_depth), 25)
        cells = {depth: cell for (size, depth), cell in by_size_and_depth.items() if size == self.records}
        self.trials, self.seed = trials_and_seed(cells, trials=32)
        self.depth = W.FloatSlider(
            value=0,
            min=0,
            max=1,
            step=1 / 8,
            readout_format=".3f",
            description="Needle depth",
            tooltip="Where the marked record stands: 0 is the first line, 1 the last",
            **WIDE,
        )
        calls: dict[float, list[Call]] = {}
        for call in sweeps.position(self.records, self.trials, DEPTHS, self.seed):
            calls.setdefault(call.depth, []).append(call)
        super().__init__(model, [self.depth], cells, calls, [note] if note else [])

    @property
    def point(self) -> float:
        """The depth that the slider shows."""
        return float(self.depth.value)

    def make_calls(self, point: float) -> list[Call]:
        """Return the calls of a depth, one a trial."""
        return sweeps.position(self.records, self.trials, (point,), self.seed)

    def title(self, call: Call) -> str:
        """Return the depth and the line of the needle."""
        return f"Depth {call.depth:.3f}, line {call.row + 1} of {call.records}"

    def curves(self) -> str:
        """Return the curve over all depths."""
        line = Line("hits", [Point(depth, fraction(depth), self.cells[depth]) for depth in sorted(self.cells)])
        current = Current(self.point, self.cells.get(self.point))
        return curve_svg([line], current, TICKS, "Share of hits by needle depth")

    def without_cell(self) -> str:
        """Return which depths have shipped answers."""
        depths = ", ".join(f"{depth:.3f}" for depth in sorted(self.cells))
        return f"The depths {depths} have some." if depths else f"There are none for lists of {self.records} lines."


def _size_and_depth(answered: Answered) -> tuple[int, float]:
    if answered.share != 1:
        raise ShippedError(
            f"trial {answered.trial} of these results has a share of lookalikes of {answered.share}; a needle's depth "
            "is explored among lookalikes alone: keep the rows whose share is 1"
        )
    return answered.records, answered.depth
