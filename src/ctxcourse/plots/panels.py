"""The parts that the needle pictures are put together from: panels, whiskers, stacked kinds, axes.

What this module does not do: count, or decide which cells belong in one picture (see `ctxcourse.plots.cells` and
`ctxcourse.plots.curves`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcourse.needle import KINDS, SYMBOLS, Kind
from ctxcourse.plots.cells import count, percent
from ctxcourse.plots.pictures import GRID, INK, OUTCOME_COLOURS, PAPER, WIDTH, canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A hatch for each kind, drawn in white: colour is never the only difference.
HATCHES: dict[Kind, str] = {"hit": "", "other record": "////", "neither": "..."}
TEXT, TITLE = 10, 12  # points
_DENSE = 40  # points from which on a row of them is drawn without line, caps and bold marks


class Series(NamedTuple):
    """How a row of points looks.

    ``aside`` is how many typographic points to the right of its places it is drawn: two series over the same places
    would hide each other's whiskers otherwise.
    """

    colour: str
    marker: str
    line: Any
    filled: bool = True
    aside: float = 0.0


MEASURED = Series(OUTCOME_COLOURS["hit"], "o", "-")
PUBLISHED = Series(INK, "D", (0, (5, 2.5)), filled=False, aside=-8)
LOOKALIKES = Series("#332288", "o", "-")
FILLER = Series("#1F77B4", "s", (0, (1.5, 1.5)), filled=False, aside=5)
BY_SHARE = Series("#332288", "^", (0, (6, 1.5, 1.5, 1.5)))


def panels(height: float, title: str, rows: int = 1, columns: int = 1, **grid: Any) -> tuple[Figure, list[Axes]]:
    """Return a figure of the course's width with a title, and its axes from left to right and top to bottom."""
    figure, axes = canvas(height)
    axes.remove()
    made = figure.subplots(rows, columns, squeeze=False, subplot_kw={"facecolor": PAPER}, **grid)
    figure.suptitle(title, x=0.01, ha="left", fontsize=TITLE, color=INK)
    for each in made.flat:
        each.tick_params(colors=INK, labelsize=TEXT)
        each.spines[["top", "right"]].set_visible(False)
        each.set_axisbelow(True)
    return figure, list(made.flat)


def share_axis(axes: Axes, label: str = "right answers", steps: int = 4) -> None:
    """Make the vertical axis one of shares, from 0 to 100 %, with room for markers at both ends."""
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks([step / steps for step in range(steps + 1)])
    axes.yaxis.set_major_formatter(lambda value, _: percent(value))
    axes.grid(axis="y", color=GRID, linewidth=0.7)
    axes.set_ylabel(label, color=INK, fontsize=TEXT)


def length_axis(axes: Axes, tokens: Mapping[int, int]) -> None:
    """Make the horizontal axis one of lengths, in lines and on a log scale, with the prompt tokens below."""
    lengths = sorted(tokens)
    axes.set_xscale("log")
    axes.set_xlim(lengths[0] / 1.35, lengths[-1] * 1.35)
    axes.set_xticks([], minor=True)
    ticks(axes, lengths, [f"{length}\n{tokens[length]:,}" for length in lengths])
    axes.set_xlabel("lines in the list (log scale); below, the prompt's tokens (mean)", color=INK, fontsize=TEXT)


def ticks(axes: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """Put a tick at every place, and labels, or at least their first lines, at as many as can be read.

    The limits of the axis have to be set.
    """
    right = across(axes, places)
    wide = _width(axes, max(len(line) for label in labels for line in label.split("\n")))
    shown = {index: labels[index] for index in spaced(right, wide)}
    for index, label in enumerate(labels):
        first = label.split("\n")[0]
        room = (wide + _width(axes, len(first))) / 2
        if all(abs(right[index] - right[other]) >= room for other in shown):
            shown[index] = first
    axes.set_xticks(places, [shown.get(index, "") for index in range(len(places))])


def spaced(places: Sequence[float], size: float) -> list[int]:
    """Return which of some ascending places can bear a label of a size; the last one always can.

    >>> spaced([0.0, 0.4, 1.0, 1.9, 2.0], 1.0)
    [0, 2, 4]
    """
    kept: list[int] = []
    for index, place in enumerate(places[:-1]):
        if places[-1] - place >= size and (not kept or place - places[kept[-1]] >= size):
            kept.append(index)
    return [*kept, len(places) - 1]


def across(axes: Axes, places: Sequence[float]) -> list[float]:
    """Return how far to the right places on the horizontal axis are, as a fraction of its width."""
    points = axes.transAxes.inverted().transform(axes.transData.transform([(place, 0) for place in places]))
    return [float(right) for right, _ in points]


def _width(axes: Axes, characters: int) -> float:
    """Width of a text as a fraction of the axes, near enough to place labels by (0.6 em a character, and a gap)."""
    inches = WIDTH * 1.15 * axes.get_position().width  # the layout comes later and makes the axes wider
    return (characters * 0.6 + 0.4) * TEXT / 72 / float(inches)


def whiskers(axes: Axes, places: Sequence[float], found: Sequence[Any], label: str, look: Series) -> None:
    """Draw shares of hits with Wilson 95 % intervals; each cell has ``n``, ``hits``, ``low`` and ``high``."""
    shares = [cell.hits / cell.n for cell in found]
    down = [max(0.0, share - cell.low) for share, cell in zip(shares, found, strict=True)]
    up = [max(0.0, cell.high - share) for share, cell in zip(shares, found, strict=True)]
    if len(found) > _DENSE:
        style = _line(axes, look) | {"markersize": 3, "linestyle": "", "elinewidth": 0.7, "capsize": 0}
    else:
        style = _line(axes, look) | {"elinewidth": 1.3, "capsize": 4}
    axes.errorbar(places, shares, [down, up], label=label, **style)


def marks(axes: Axes, places: Sequence[float], shares: Sequence[float], label: str, look: Series) -> None:
    """Draw shares of hits without intervals."""
    axes.errorbar(places, shares, label=label, **_line(axes, look))


def _line(axes: Axes, look: Series) -> dict[str, Any]:
    from matplotlib.transforms import ScaledTranslation

    return {
        "color": look.colour,
        "marker": look.marker,
        "markersize": 7,
        "markerfacecolor": look.colour if look.filled else PAPER,
        "markeredgewidth": 1.5,
        "linestyle": look.line,
        "linewidth": 1.4,
        "zorder": 3 if look.filled else 4,
        "transform": axes.transData + ScaledTranslation(look.aside / 72, 0, axes.figure.dpi_scale_trans),
    }


def legend(axes: Axes, handles: Sequence[Any] | None = None) -> None:
    """Put the legend above the axes, where no point can be behind it: a line a series, or given handles in one line."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.3, "borderpad": 0.1}
    text = {"fontsize": TEXT, "labelcolor": INK, "frameon": False, "handlelength": 3}
    if handles is None:
        axes.legend(**place, **text)
    else:
        axes.legend(**place, **text, handles=handles, ncols=len(handles))


def kinds_legend(axes: Axes, words: Mapping[Kind, str] | None = None, hatched: bool = True) -> None:
    """Put the legend of the three kinds above the axes, each with its symbol and, where given, with further words."""
    from matplotlib.patches import Patch

    handles = []
    for kind in KINDS:
        label = f"{SYMBOLS[kind]} {kind}{(words or {}).get(kind, '')}"
        patch = Patch(facecolor=OUTCOME_COLOURS[kind], edgecolor=PAPER, label=label)
        patch.set_hatch(HATCHES[kind] if hatched else "")
        handles.append(patch)
    legend(axes, handles)


def edges(places: Sequence[float], limits: tuple[float, float], log: bool = False) -> list[tuple[float, float]]:
    """Return left and right edges of bars at ascending places, as wide as the nearest two of them allow.

    ``limits`` are those of the axis; no bar is wider than 9 % of it.

    >>> [(round(left, 2), round(right, 2)) for left, right in edges([0.0, 10.0, 20.0], limits=(-5, 25))]
    [(-1.35, 1.35), (8.65, 11.35), (18.65, 21.35)]
    """
    on_paper = [log10(place) if log else place for place in places]
    left, right = (log10(limit) if log else limit for limit in limits)
    half = min([0.045 * (right - left), *(0.4 * (after - before) for before, after in pairwise(on_paper))])
    pairs = [(place - half, place + half) for place in on_paper]
    return [(10**low, 10**high) for low, high in pairs] if log else pairs


def stacked_kinds(axes: Axes, places: Sequence[float], found: Sequence[Any], log: bool = False) -> None:
    """Draw each cell's answers as a bar of three kinds, with the counts in a table below it where they fit.

    The limits of the horizontal axis have to be set.
    """
    spans = edges(places, axes.get_xlim(), log)
    lefts, widths = [low for low, _ in spans], [high - low for low, high in spans]
    floor = [0.0] * len(found)
    for kind in KINDS:
        heights = [count(cell, kind) / cell.n for cell in found]
        style = {"color": OUTCOME_COLOURS[kind], "hatch": HATCHES[kind], "edgecolor": PAPER}
        axes.bar(lefts, heights, widths, floor, align="edge", linewidth=0.6 if len(found) <= _DENSE else 0, **style)
        floor = [low + height for low, height in zip(floor, heights, strict=True)]
    share_axis(axes, "all answers", steps=2)
    kinds_legend(axes)
    widest = max(len(str(cell.n)) for cell in found)
    if len(spaced(across(axes, places), _width(axes, widest))) == len(places):
        _table(axes, places, found)


def _table(axes: Axes, places: Sequence[float], found: Sequence[Any]) -> None:
    axes.set_ylim(-0.84, 1.04)
    axes.spines["left"].set_bounds(0, 1)
    axes.yaxis.label.set_y(0.71)  # beside the bars
    for line, kind in enumerate(KINDS):
        height = -0.17 - 0.26 * line
        style: dict[str, Any] = {"fontsize": TEXT, "color": OUTCOME_COLOURS[kind], "va": "center"}
        axes.text(-0.012, height, SYMBOLS[kind], ha="right", transform=axes.get_yaxis_transform(), **style)
        for place, cell in zip(places, found, strict=True):
            axes.text(place, height, str(count(cell, kind)), ha="center", **style)
