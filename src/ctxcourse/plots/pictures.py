"""What every picture of the course shares: colours that mean one thing everywhere, paper, alt text.

Every figure has its own light background, so that it reads the same in a dark notebook; every part has a
hatch and a label of its own beside its colour; every picture carries its description as alt text. matplotlib
is imported when the first picture is drawn. Figures are made without pyplot: none is shown twice, none is
kept open.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ctxcourse.errors import CourseError
from ctxcourse.needle import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# White text on each of the three has a contrast of more than 5 to 1; symbols (needle.SYMBOLS) go with them.
OUTCOME_COLOURS: dict[Kind, str] = {"hit": "#00775A", "other record": "#B84A00", "neither": "#5B5B66"}

INK, PAPER, GRID = "#1B1B1F", "#FFFFFF", "#C9C9D1"
OVER = "#A4003D"
WIDTH = 9.4  # inches

# Wong's palette (Nature Methods 8, 441, 2011), with a hatch for each: colour is never the only difference.
PART_STYLES: dict[str, tuple[str, str]] = {
    "system": ("#56B4E9", ""),
    "tools": ("#E69F00", "///"),
    "documents": ("#F0E442", "..."),
    "conversation": ("#CC79A7", ""),
    "query": ("#0072B2", "xxx"),
    "tool_results": ("#B7B7C2", "\\\\\\"),
    "generation": ("#F4F4F7", "---"),
}
ALIASES = {"retrieved": "documents", "history": "conversation", "turns": "conversation"}
_SPARE = (("#009E73", "ooo"), ("#D55E00", "|||"), ("#8C6BB1", "++"), ("#999933", "**"))


class PlotError(CourseError, ValueError):
    """Numbers that cannot be drawn: the message names the part and its value."""


class AsDict(Protocol):
    """Anything that gives its parts as a dict: `ctxcourse.tokens.Buckets` for one."""

    def as_dict(self) -> dict[str, int]:
        """Return tokens by part; a ``total`` among them is left out of pictures."""


Parts = Mapping[str, int] | AsDict


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished matplotlib figure with its description; a notebook shows it as a PNG."""

    figure: Figure
    alt: str

    def png(self, dpi: int = 110) -> bytes:
        """Return the picture as PNG bytes; its description is in the file's own metadata as well."""
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=dpi, metadata={"Description": self.alt})
        return buffer.getvalue()

    def html(self) -> str:
        """Return the picture as one ``img`` element with alt text."""
        data = base64.b64encode(self.png()).decode("ascii")
        alt = html.escape(self.alt, quote=True)
        return f'<img alt="{alt}" style="max-width:100%" src="data:image/png;base64,{data}">'

    def save(self, path: str | Path, dpi: int = 150) -> None:
        """Write the picture to a PNG file."""
        Path(path).write_bytes(self.png(dpi))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"image/png": self.png(), "text/plain": self.alt}, {"image/png": {"alt": self.alt}}


def part_style(name: str, position: int = 0) -> tuple[str, str]:
    """Return colour and hatch of a part; a name the course does not know gets a spare one by its position."""
    known = PART_STYLES.get(ALIASES.get(name, name))
    return known or _SPARE[position % len(_SPARE)]


def part_sizes(parts: Parts) -> dict[str, int]:
    """Return parts as a plain dict without a total; raises `PlotError` for a size below zero."""
    given = dict(parts) if isinstance(parts, Mapping) else parts.as_dict()
    given.pop("total", None)
    for name, size in given.items():
        if size < 0:
            raise PlotError(f"part {name!r} is {size}: a number of tokens cannot be below zero")
    return given


def spread(centres: Sequence[float], sizes: Sequence[float], low: float, high: float) -> list[float]:
    """Return centres for labels of given sizes that do not overlap, as near as may be to the wished ones.

    Wished centres are in ascending order, and the order is kept. Labels stay between ``low`` and ``high``
    where all of them fit; where they do not, they run past ``high``.

    >>> spread([1.0, 1.5, 9.0], [2.0, 2.0, 2.0], low=0.0, high=10.0)
    [1.0, 3.0, 9.0]
    """
    placed: list[float] = []
    edge = low
    for centre, size in zip(centres, sizes, strict=True):
        placed.append(max(centre, edge + size / 2))
        edge = placed[-1] + size / 2
    edge = max(high, low + sum(sizes))
    for index in range(len(placed) - 1, -1, -1):
        placed[index] = min(placed[index], edge - sizes[index] / 2)
        edge = placed[index] - sizes[index] / 2
    return placed


def canvas(height: float) -> tuple[Figure, Axes]:
    """Return a new figure of the course's width on paper of its own, and its axes; ``height`` is in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), facecolor=PAPER, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(facecolor=PAPER)
    return figure, axes
