"""Labels beside points, each where it hides neither a point, nor a whisker, nor another label.

All places are worked out in typographic points from the lower left corner of the figure. What this module does not do:
spread labels along one side (see `ctxcourse.plots.pictures.spread`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcourse.plots.panels import TEXT, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

_MARKER, _CORE = 6.0, 3.0  # half a marker with its edge; its inner part, which no line may cross
_WHISKER = 3.0  # half a whisker
_GAP = 11.0  # from a point to its label
_ROW, _ROWS = 8.0, 40  # from one height that is tried to the next, and how many are
_LEFT = 20.0  # how much nearer a place on the left has to be, since labels on the left stand in each other's way
_ASIDE = (0.0, 16.0, 36.0, 60.0, 90.0)  # how much further to the side


class Labelled(NamedTuple):
    """A point with its label and its whisker from ``low`` to ``high``, in the coordinates of the data."""

    label: str
    x: float
    y: float
    low: float
    high: float
    look: Series


def place_labels(figure: Figure, axes: Axes, points: Sequence[Labelled]) -> None:
    """Write a label beside each point, as near as there is room; one that had to go further off gets a thin line.

    The axes have to be finished: what is done to their limits or their titles later moves the points and not the room.
    Where there is no free place at all, a label stands right beside its point.
    """
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    room = _Room(_in_points(axes.get_window_extent(), scale))
    for point in points:
        (x, low), (_, y), (_, high) = _places(axes, point, scale)
        room.cores.append(_around(x, y, _CORE, _CORE))
        room.taken += [_around(x, y, _MARKER, _MARKER), _around(x, (low + high) / 2, _WHISKER, (high - low) / 2)]
    # From the top down, and at one height from the right to the left, so that a line climbs past labels that are there.
    for index, point in sorted(enumerate(points), key=lambda one: (-one[1].y, -one[1].x)):
        where: dict[str, Any] = {"xycoords": "data", "textcoords": "offset points"}
        style: dict[str, Any] = {"fontsize": TEXT, "color": point.look.colour, "va": "center", "zorder": 6}
        text = axes.annotate(point.label, (point.x, point.y), (0, 0), **where, **style)
        text.set_in_layout(False)
        size = _in_points(text.get_window_extent(), scale)
        at, end, *_ = room.find(_places(axes, point, scale)[1], size.width, size.height, index)
        text.set_position(at)
        if end[1] or abs(end[0]) > _GAP:
            thin = {"arrowstyle": "-", "color": point.look.colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 5}
            line = axes.annotate("", (point.x, point.y), end, **where, arrowprops=thin)
            line.set_in_layout(False)


@dataclass
class _Room:
    """What is on the paper: the inner parts of the markers, all that labels may not cover, labels, and their lines."""

    paper: Bbox
    cores: list[Bbox] = field(default_factory=list)
    taken: list[Bbox] = field(default_factory=list)
    written: list[Bbox] = field(default_factory=list)
    lines: list[Path] = field(default_factory=list)

    def find(self, here: tuple[float, float], width: float, height: float, index: int) -> _Place:
        """Return the place for the label of the point ``index``, and keep it free.

        It is the nearest free one to which a line crosses nothing, or else the one whose line crosses least. What
        covers its marker, or begins there too, does not count: no line can keep clear of it.
        """
        own = self.cores[index]
        others = [core for core in self.cores if not core.overlaps(own)]
        lines = [line for line in self.lines if not line.intersects_bbox(own, filled=False)]
        places = [_place(here, at, width, height) for at in _offsets(width)]
        free = (place for place in places if self._is_free(place.box))
        found = next((place for place in free if not self._crossed(place.line, others, lines)), None)
        if found is None:
            free_at_all = [place for place in places if self._is_free(place.box)] or places[:1]
            found = min(free_at_all, key=lambda place: self._crossed(place.line, others, lines))
        self.written.append(found.box)
        self.lines.append(found.line)
        return found

    def _is_free(self, box: Bbox) -> bool:
        paper = self.paper
        inside = paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1
        covers = any(box.overlaps(other) for other in (*self.taken, *self.written))
        return inside and not covers and not any(line.intersects_bbox(box, filled=False) for line in self.lines)

    def _crossed(self, line: Path, markers: Iterable[Bbox], lines: Iterable[Path]) -> int:
        """Return how many of some markers and lines, and how many labels, a line crosses."""
        boxes = sum(line.intersects_bbox(box, filled=False) for box in (*markers, *self.written))
        return boxes + sum(line.intersects_path(other, filled=False) for other in lines)


class _Place(NamedTuple):
    """Where a label begins and where its line ends, both from its point, and what they take of the paper."""

    at: tuple[float, float]
    end: tuple[float, float]
    box: Bbox
    line: Path


def _place(here: tuple[float, float], at: tuple[float, float], width: float, height: float) -> _Place:
    from matplotlib.path import Path

    end = (at[0] - 2 if at[0] > 0 else at[0] + width + 2, at[1])
    box = _around(here[0] + at[0] + width / 2, here[1] + at[1], width / 2, height / 2)
    return _Place(at, end, box, Path([here, (here[0] + end[0], here[1] + end[1])]))


def _places(axes: Axes, point: Labelled, scale: float) -> list[tuple[float, float]]:
    """Return where the low end, the point and the high end are drawn."""
    pixels = axes.transData.transform([(point.x, height) for height in (point.low, point.y, point.high)])
    return [(float(x) / scale, float(y) / scale) for x, y in pixels]


def _offsets(width: float) -> list[tuple[float, float]]:
    """Return where a label of a width may begin, from its point: near before far, to the right before to the left."""
    found = []
    for up in (row * _ROW for row in range(_ROWS)):
        for aside in _ASIDE:
            for height in (up, -up):
                found.append((up + aside, _GAP + aside, height))
                found.append((up + aside + _LEFT, -_GAP - aside - width, height))
    return [(right, height) for _, right, height in sorted(found, key=lambda place: place[0])]


def _around(x: float, y: float, half_width: float, half_height: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox([[x - half_width, y - half_height], [x + half_width, y + half_height]])


def _in_points(box: Bbox, scale: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox(box.get_points() / scale)
