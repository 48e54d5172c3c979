"""What the needle pictures show: frames that are checked first, the cells of a frame, and their figures in words.

A frame has one row a call, as `ctxcourse.needle.trials.run` returns it. What this module does not do: draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ctxcourse.needle import KINDS, Kind
from ctxcourse.plots.pictures import PlotError

if TYPE_CHECKING:
    from pandas import DataFrame

NEEDED = ("records", "share", "depth", "row", "prompt_tokens", "kind")
IN_FULL = 12  # cells that alt text lists one by one
_LIMITS: dict[str, tuple[float, float]] = {
    "records": (1, math.inf),
    "share": (0, 1),
    "depth": (0, 1),
    "row": (0, math.inf),
    "trial": (0, math.inf),
    "prompt_tokens": (1, math.inf),
}


def checked(
    frame: DataFrame,
    columns: Sequence[str] = NEEDED,
    name: str = "the frame",
    of: str = "trials.run",
    row: str = "call",
) -> DataFrame:
    """Return a frame as it is; raises `PlotError` for one without rows or columns, or with impossible values.

    ``of`` is what makes such frames, for whoever gave another one, and ``row`` what one row is.
    """
    if not (hasattr(frame, "columns") and hasattr(frame, "attrs")):
        raise PlotError(f"{name} is a {type(frame).__name__}: give a table with one row a {row}, as {of} returns")
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        there = listed(list(frame.columns)) or "none at all"
        raise PlotError(f"{name} has no column {listed(missing)}; it has {there}: give the table of {of} as it is")
    if not len(frame):
        raise PlotError(f"{name} has no rows: there is nothing to draw until at least one call was run")
    for column in columns:
        gaps = int(frame[column].isna().sum())
        if gaps:
            raise PlotError(f"{name}: column {column!r} is empty in {gaps} of {len(frame)} rows")
        _check_values(frame, column, name)
    return frame


def _check_values(frame: DataFrame, column: str, name: str) -> None:
    from pandas.api.types import is_numeric_dtype

    values = list(frame[column].unique())
    low, high = _LIMITS.get(column, (-math.inf, math.inf))
    if column == "kind":
        wrong = [value for value in values if value not in KINDS]
        possible = f"one of {listed(KINDS)}"
    else:
        wrong = values if not is_numeric_dtype(frame[column]) else [v for v in values if not low <= v <= high]
        possible = f"a number from {low:g} {'up' if high == math.inf else f'to {high:g}'}"
    if wrong:
        raise PlotError(f"{name}: column {column!r} holds {str(wrong[0])!r}, which is not {possible}")


def only(frame: DataFrame, column: str, instead: str, name: str = "the frame") -> float:
    """Return the one value of a column; raises `PlotError` where it has several, since a cell would mix them."""
    values = sorted(float(value) for value in frame[column].unique())
    if len(values) > 1:
        shown = listed([f"{value:g}" for value in values[:9]]) + (", …" if len(values) > 9 else "")
        raise PlotError(
            f"{name} mixes {len(values)} values of {column!r} ({shown}): keep one of them, or use {instead}"
        )
    return values[0]


def one_depth(frame: DataFrame, name: str = "the frame") -> None:
    """Raise `PlotError` where a frame has several depths; in a list of one line all depths are the same."""
    longer = frame[frame["records"] > 1]
    if len(longer):
        only(longer, "depth", "heat_map", name)


def cells(frame: DataFrame, by: str | list[str]) -> list[Any]:
    """Return the rows of `trials.cells`, each with ``n``, ``hits``, ``low``, ``high`` and so on by name."""
    from ctxcourse.needle import trials

    return list(trials.cells(frame, by).itertuples(index=False))


def count(cell: Any, kind: Kind) -> int:
    """Return how many answers of a cell are of a kind."""
    return int({"hit": cell.hits, "other record": cell.other_record, "neither": cell.neither}[kind])


def measured_by(frame: DataFrame) -> str:
    """Return whose figures a frame has, for legends; a frame that names no model is given none."""
    provenance = frame.attrs.get("provenance")
    model = provenance.get("model") if isinstance(provenance, dict) else None
    return f"measured: {model}" if model else "measured (the table does not say by which model)"


def listed(names: Sequence[str]) -> str:
    """Return names as one enumeration, with commas."""
    return ", ".join(str(name) for name in names)


def fraction(value: float) -> str:
    """Return a depth or a share as people write it: ``3/8``, ``1``, and two digits where no small fraction fits.

    >>> fraction(0.375), fraction(1.0), fraction(0.37)
    ('3/8', '1', '0.37')
    """
    near = Fraction(value).limit_denominator(8)
    return str(near) if abs(near - value) < 1e-9 else f"{value:.2f}"


def percent(value: float) -> str:
    """Return a share as a whole per cent: ``84 %``."""
    return f"{100 * value:.0f} %"


def counted(number: float, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is one: ``1 record``, ``25 records``."""
    return f"{number:,.0f} {noun}{'' if number == 1 else 's'}"


def trials_each(found: Sequence[Any]) -> str:
    """Return how many trials cells have: ``32 trials``, ``12 to 20 trials``."""
    low, high = min(cell.n for cell in found), max(cell.n for cell in found)
    return counted(low, "trial") if low == high else f"{low:,} to {counted(high, 'trial')}"


def lines_in_words(records: float, share: float) -> str:
    """Return what a list is made of: ``25 records``, ``25 lines (1/4 of the others records)``.

    >>> lines_in_words(25, 1), lines_in_words(25, 0.25), lines_in_words(25, 0)
    ('25 records', '25 lines (1/4 of the others records)', '25 lines (all others filler)')
    """
    if share == 1:
        return counted(records, "record")
    return (
        f"{counted(records, 'line')} ({f'{fraction(share)} of the others records' if share else 'all others filler'})"
    )


def in_words(found: Sequence[Any], names: Sequence[str], whose: str) -> str:
    """Return cells as alt text has them: one by one, or the lowest, the highest and the sum where there are many."""
    shown = list(range(len(found)))
    beginning = whose
    if len(found) > IN_FULL:
        shares = [cell.hits / cell.n for cell in found]
        shown = [shares.index(min(shares)), shares.index(max(shares))]
        total = sum(cell.n for cell in found)
        sums = [f"{sum(count(cell, kind) for cell in found)} {kind}" for kind in KINDS]
        beginning = f"{whose}, {len(found)} cells with {total:,} answers ({listed(sums)}), the lowest and the highest"
    figures = [
        f"{names[index]}: {cell.hits} of {cell.n} hits (95 % interval {100 * cell.low:.0f} to {percent(cell.high)}), "
        f"{cell.other_record} other record, {cell.neither} neither"
        for index, cell in ((index, found[index]) for index in shown)
    ]
    return f"{beginning}: {'; '.join(figures)}."
