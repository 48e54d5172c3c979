"""The length explorer: what came of all trials at a length and a share of lookalikes, as the sliders move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import ipywidgets as W

from ctxcourse.model.qwen import Model
from ctxcourse.needle import sweeps
from ctxcourse.needle.shipped import (
    Answered,
    Cell,
    ShippedError,
    cells_by,
    lookalikes,
    results_or_reason,
    trials_and_seed,
)
from ctxcourse.needle.sweeps import LENGTHS, RECORDS, SHARES, Call
from ctxcourse.plots.panels import BY_SHARE, FILLER, LOOKALIKES
from ctxcourse.widgets.cell_view import Current, Line, Point, curve_svg
from ctxcourse.widgets.point import WIDE, PointExplorer

if TYPE_CHECKING:
    from pandas import DataFrame

EXPERIMENTS = ("length", "volume", "interference", "interference_90")
QUARTERS = tuple((float(share), str(share)) for share in map(Fraction, (0, 0.25, 0.5, 0.75, 1)))
Mix = tuple[int, int]  # lines of a list, and how many of them are lookalikes of the needle's


class LengthExplorer(PointExplorer):
    """A slider for the length of the list, and one for the share of lookalikes among its other lines.

    ``results`` are tables by the names ``length`` (lookalikes alone), ``volume`` (filler alone), ``interference`` and
    ``interference_90`` (both, at the lengths in ``varied``), by default those that came with the course. A point is a
    list's number of lines and how many of them are lookalikes: two shares that round to the same number are one. It
    begins at the length of which all shares were measured. Where no table has the point, this is said, with those that
    there are, and Run asks. Children by name: ``length``, ``share`` and those of `PointExplorer`. Raises `ShippedError`
    for a table by any other name.
    """

    def __init__(self, model: Model, results: Mapping[str, DataFrame] | None = None) -> None:
        tables: dict[str, DataFrame] = dict(results or {})
        unknown = [name for name in tables if name not in EXPERIMENTS]
        if unknown:
            raise ShippedError(
                f"results has a table by the name {unknown[0]!r}; the names are {', '.join(EXPERIMENTS)}"
            )
        notes = []
        for name in EXPERIMENTS if results is None else ():
            frame, note = results_or_reason(name)
            if frame is not None:
                tables[name] = frame
            notes += [note] if note else []
        cells: dict[Mix, Cell] = {}
        for name in EXPERIMENTS:
            if name in tables:  # the same prompts wherever two tables have the same point
                cells = cells_by(tables[name], _mix) | cells
        sizes = [lines for lines, _ in cells]
        self.varied = tuple(sorted({lines for lines in sizes if sizes.count(lines) > 2}))
        self.trials, self.seed = trials_and_seed(cells, trials=20)
        self.length = W.SelectionSlider(
            options=[(str(lines), lines) for lines in LENGTHS],
            value=RECORDS,
            description="Lines",
            tooltip="How many lines the list has, the needle's included",
            **WIDE,
        )
        self.share = W.SelectionSlider(
            options=[(str(Fraction(share)), float(share)) for share in SHARES],
            value=1.0,
            description="Share of lookalikes",
            tooltip="How many of the other lines are records like the needle; the rest is filler of the same length",
            **WIDE,
        )
        designs = [sweeps.volume(LENGTHS, self.trials, self.seed), sweeps.length(LENGTHS, self.trials, self.seed)]
        for lines in self.varied:
            designs.insert(0, sweeps.interference(SHARES, lines, self.trials, self.seed))
        calls: dict[Mix, list[Call]] = {}
        for design in designs:  # of two designs with the same point, the prompts are the same
            calls |= _by_mix(design)
        super().__init__(model, [self.length, self.share], cells, calls, notes)

    @property
    def point(self) -> Mix:
        """The list that the sliders ask for."""
        return self.length.value, round(self.share.value * (self.length.value - 1))

    def make_calls(self, point: Mix) -> list[Call]:
        """Return the calls of a list with lookalikes and filler, one a trial."""
        lines, alike = point
        return sweeps.interference((alike / (lines - 1),), lines, self.trials, self.seed)

    def title(self, call: Call) -> str:
        """Return what the list is made of."""
        lines, alike = self.point
        if lines == 1:
            return "The needle alone, without other lines"
        rest = lines - 1 - alike
        made = [f"{alike} lookalike{'s' * (alike != 1)}", f"{rest} line{'s' * (rest != 1)} of filler"]
        return f"{lines} lines: the needle, {made[0]}, {made[1]}"

    def curves(self) -> str:
        """Return the curve over all lengths, and that over the shares: at this length, or the longest that has one."""
        lines, alike = self.point
        here = self.cells.get(self.point)
        by_length = [
            Line("lookalikes", self._by_length([(n, n - 1) for n in LENGTHS]), LOOKALIKES),
            Line("filler", self._by_length([(n, 0) for n in LENGTHS]), FILLER),
        ]
        ticks = [(math.log(n), str(n)) for n in LENGTHS]
        current = Current(math.log(lines), here, BY_SHARE)
        drawn = curve_svg(by_length, current, ticks, "Share of hits by lines in the list")
        if not self.varied:
            return drawn
        varied = lines if lines in self.varied else self.varied[-1]
        numbers = sorted(number for size, number in self.cells if size == varied)
        by_share = [
            Point(number / (varied - 1), f"{number} of {varied - 1}", self.cells[varied, number]) for number in numbers
        ]
        at_share = Current(alike / (varied - 1), here, BY_SHARE) if lines == varied else None
        title = f"Share of hits by share of lookalikes, {varied} lines"
        return f"{drawn} {curve_svg([Line('hits', by_share, BY_SHARE)], at_share, QUARTERS, title)}"

    def _by_length(self, mixes: list[Mix]) -> list[Point]:
        return [Point(math.log(mix[0]), str(mix[0]), self.cells[mix]) for mix in mixes if mix in self.cells]

    def without_cell(self) -> str:
        """Return which lists have shipped answers."""
        if not self.cells:
            return "There are none for any list."
        lines, _ = self.point
        mixed = sorted({alike for size, alike in self.cells if size == lines})
        if mixed:
            there = f"For {lines} lines there are some with {_listed(mixed)} lookalikes"
            sizes = [size for size, _ in self.cells]
            more = [size for size in self.varied if sizes.count(size) > len(mixed)]
            return f"{there}; more shares were measured at {_listed(more)} lines." if more else f"{there}."
        return f"There are some for lists of {_listed(sorted({size for size, _ in self.cells}))} lines."


def _listed(numbers: list[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _mix(one: Answered | Call) -> Mix:
    return one.records, lookalikes(one)


def _by_mix(design: list[Call]) -> dict[Mix, list[Call]]:
    calls: dict[Mix, list[Call]] = {}
    for call in design:
        calls.setdefault(_mix(call), []).append(call)
    return calls
