"""Pictures of the needle experiments in two directions: depth by length, and every row of every register.

Colours, whiskers and checks are those of the other needle pictures (`ctxcourse.plots.curves`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ctxcourse.needle import KINDS, SYMBOLS, Kind
from ctxcourse.plots.cells import (
    IN_FULL,
    cells,
    checked,
    counted,
    fraction,
    lines_in_words,
    listed,
    measured_by,
    only,
    percent,
    trials_each,
)
from ctxcourse.plots.panels import TEXT, kinds_legend, panels, spaced, ticks
from ctxcourse.plots.pictures import INK, OUTCOME_COLOURS, PAPER, Picture, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

# White, the colour of hits and a darker one, spaced so that lightness falls evenly; measured as CIE L*: 100, 44, 21.
_SCALE = ((0.0, PAPER), (0.71, OUTCOME_COLOURS["hit"]), (1.0, "#003A2B"))
# From where to where a kind's mark goes, downwards, if its place has no room for a symbol.
_SHAPES: dict[Kind, tuple[float, float]] = {"hit": (-0.1, 0.1), "other record": (-0.46, 0.46), "neither": (-0.46, 0.0)}
_SHAPES_IN_WORDS: dict[Kind, str] = {"hit": " (short)", "other record": " (tall)", "neither": " (upper half)"}
_TOLD = 60  # cells of a map up to which alt text has every one
_READABLE = 45  # rows of a register up to which a symbol fits in each of its places


def heat_map(frame: DataFrame) -> Picture:
    """Return accuracy by depth (downwards, as a list is read) and length (rightwards), with the figures in the cells.

    A combination that was not run is hatched. Raises `PlotError` for an empty frame, a missing column, or a frame
    that mixes shares of lookalikes.
    """
    checked(frame)
    only(frame, "share", "interference_plot")
    found = cells(frame, ["records", "depth"])
    lengths = sorted({int(cell.records) for cell in found})
    depths = sorted({float(cell.depth) for cell in found})
    placed = {(depths.index(float(cell.depth)), lengths.index(int(cell.records))): cell for cell in found}
    hatched = "" if len(found) == len(depths) * len(lengths) else "; hatched: not run"
    title = f"Accuracy by position and length: {trials_each(found)} in each cell{hatched}"
    high = max(1.7, len(depths) * (0.52 if len(depths) <= 9 else 0.28))
    figure, (axes,) = panels(2.2 + high, f"{title}\n{measured_by(frame)}")
    _paint(axes, placed, len(depths), len(lengths))
    tokens = cells(frame, "records")
    ticks(axes, range(len(lengths)), [f"{cell.records}\n{cell.prompt_tokens:,}" for cell in tokens])
    kept = spaced(range(len(depths)), 0.28 * len(depths) / high)
    axes.set_yticks(kept, [fraction(depths[place]) for place in kept])
    axes.set_xlabel("lines in the list; below, the prompt's tokens (mean)", color=INK, fontsize=TEXT)
    axes.set_ylabel("depth of the needle\n(0 is the first line, 1 the last)", color=INK, fontsize=TEXT)
    return Picture(figure, f"{title}. Hits, {measured_by(frame)}. {_map_in_words(found, tokens)}.")


def _map_in_words(found: Sequence[Any], by_length: Sequence[Any]) -> str:
    """Return the hits of every cell, or of every length where there are too many cells to hear them all."""
    words = []
    for column in by_length:
        length = counted(column.records, "line")
        of_this = [cell for cell in found if cell.records == column.records]
        if len(found) > _TOLD:
            words.append(f"{length}: {column.hits} of {column.n} over {counted(len(of_this), 'depth')}")
        else:
            told = listed([f"depth {fraction(cell.depth)} {cell.hits} of {cell.n}" for cell in of_this])
            words.append(f"{length}: {told}")
    return "; ".join(words)


def _paint(axes: Axes, found: Mapping[tuple[int, int], Any], high: int, wide: int) -> None:
    """Paint the cells with their figures, hatch those that are missing, and add the scale."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    scale = LinearSegmentedColormap.from_list("right answers", _SCALE)
    shares = [[float("nan")] * wide for _ in range(high)]
    for row, column in product(range(high), range(wide)):
        cell = found.get((row, column))
        box = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#7A7A86", linewidth=0.8)
        box.set_hatch("" if cell else "///")
        axes.add_patch(box)
        if cell:
            share = shares[row][column] = cell.hits / cell.n
            text = f"{percent(share)}\n{cell.hits} of {cell.n}" if high <= 9 and wide <= 10 else percent(share)
            colour = "#000000" if _luminance(scale(share)) > 0.179 else "#FFFFFF"  # 4.5 to 1 on either side
            axes.text(column, row, text if wide <= 16 else "", ha="center", va="center", fontsize=TEXT, color=colour)
    image = axes.imshow(shares, cmap=scale, vmin=0, vmax=1, aspect="auto")
    axes.spines[:].set_visible(False)
    bar = axes.figure.colorbar(image, ax=axes, ticks=[0, 0.25, 0.5, 0.75, 1], pad=0.015, fraction=0.04, aspect=30)
    bar.ax.yaxis.set_major_formatter(lambda value, _: percent(value))
    bar.ax.tick_params(colors=INK, labelsize=TEXT)
    bar.set_label("right answers", color=INK, fontsize=TEXT)


def _luminance(colour: Sequence[float]) -> float:
    """Relative luminance of a colour (red, green, blue from 0 to 1) as WCAG 2.1 defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def rows_plot(frame: DataFrame) -> Picture:
    """Return one mark for every row that was asked, register by register: its colour and symbol say the kind.

    Rows are counted from 1, trials from 0 as in the tables, and a row that was not asked is left empty. Raises
    `PlotError` for an empty frame, a missing column, a frame that mixes lengths or shares of lookalikes, and a row of
    one trial that was asked twice.
    """
    checked(frame, ("trial", "records", "share", "row", "kind"))
    records, share = int(only(frame, "records", "one of them at a time")), only(frame, "share", "interference_plot")
    again = frame[frame.duplicated(["trial", "row"])]
    if len(again):
        trial, row = again["trial"].iloc[0], again["row"].iloc[0]
        raise PlotError(f"trial {trial} has row {row} more than once: each row of a register can be drawn once only")
    trials = sorted(int(trial) for trial in frame["trial"].unique())
    title = f"Every row asked: {counted(len(trials), 'trial')} with {lines_in_words(records, share)}"
    figure, (axes,) = panels(2.1 + 0.32 * len(trials), f"{title}\n{measured_by(frame)}")
    axes.set_xlim(-0.6, records - 0.4)
    axes.set_ylim(len(trials) - 0.4, -0.6)
    for kind in KINDS:
        chosen = frame[frame["kind"] == kind]
        rows = [int(row) for row in chosen["row"]]
        _marks(axes, kind, rows, [trials.index(int(trial)) for trial in chosen["trial"]], records <= _READABLE)
    _finish_rows(axes, frame, trials, records)
    return Picture(figure, f"{title}, {measured_by(frame)}. {_rows_in_words(frame, trials)}")


def _marks(axes: Axes, kind: Kind, rows: Sequence[int], places: Sequence[int], readable: bool) -> None:
    """Draw the rows of one kind: a box with its symbol, or where that is too small to read, a mark of its own shape."""
    low, high = (-0.46, 0.46) if readable else _SHAPES[kind]
    bottoms = [place + low for place in places]
    axes.bar(rows, high - low, 0.92 if readable else 0.8, bottoms, color=OUTCOME_COLOURS[kind])
    for row, place in zip(rows, places, strict=True) if readable else ():
        axes.text(row, place, SYMBOLS[kind], ha="center", va="center", fontsize=TEXT, color=PAPER)


def _finish_rows(axes: Axes, frame: DataFrame, trials: Sequence[int], records: int) -> None:
    """Name trials and rows, and write beside each trial how many of its answers are hits."""
    ticks(axes, range(records), [str(row + 1) for row in range(records)])
    kept = spaced(range(len(trials)), 0.8)
    axes.set_yticks(kept, [str(trials[place]) for place in kept])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    for place, trial in enumerate(trials):
        kinds = list(frame[frame["trial"] == trial]["kind"])
        text = f" {kinds.count('hit')} of {len(kinds)}"
        axes.text(1, place, text, va="center", fontsize=TEXT, color=INK, transform=axes.get_yaxis_transform())
    axes.set_xlabel("the row asked about (1 is the first line of the list)", color=INK, fontsize=TEXT)
    axes.set_ylabel("trial", color=INK, fontsize=TEXT)
    kinds_legend(axes, None if records <= _READABLE else _SHAPES_IN_WORDS, hatched=False)


def _rows_in_words(frame: DataFrame, trials: Sequence[int]) -> str:
    """Return the counts of all trials and, where there are few trials, the rows that were missed in each."""
    kinds = list(frame["kind"])
    total = f"{counted(len(kinds), 'answer')}: {listed([f'{kinds.count(kind)} {kind}' for kind in KINDS])}."
    if len(trials) > IN_FULL:
        return total
    parts = []
    for trial in trials:
        asked = frame[frame["trial"] == trial]
        rows = {kind: sorted(int(row) + 1 for row in asked[asked["kind"] == kind]["row"]) for kind in KINDS}
        missed = [f"{kind} at {listed([str(row) for row in rows[kind]])}" for kind in KINDS[1:] if rows[kind]]
        parts.append(listed([f"trial {trial}: {len(rows['hit'])} of {len(asked)} hits", *missed]))
    return f"{total} {'; '.join(parts)}."
