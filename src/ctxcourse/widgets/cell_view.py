"""The answers of one point as HTML and SVG: hits and interval, a bar of the three kinds, every trial, a small curve.

Text, not pictures: a slider redraws all of it many times a second. Curves stand on paper of their own, so that they
read the same in a dark notebook, and a line looks as it does in the figures of `ctxcourse.plots`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ctxcourse.needle import KINDS, SYMBOLS, Kind
from ctxcourse.needle.shipped import Answered, Cell
from ctxcourse.plots.panels import MEASURED, Series
from ctxcourse.plots.pictures import GRID, INK, OUTCOME_COLOURS, PAPER
from ctxcourse.stats import wilson
from ctxcourse.widgets.register_view import badge

WIDTH, HEIGHT = 290, 156  # of a curve, in pixels
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 26, 40
STROKE = 1.5


class Point(NamedTuple):
    """One point of a curve: its place on the axis, what it is called in words, and its cell."""

    place: float
    label: str
    cell: Cell


class Line(NamedTuple):
    """One line of a curve: a name, its points from left to right, and how it looks in the course's figures."""

    name: str
    points: Sequence[Point]
    look: Series = MEASURED


class Current(NamedTuple):
    """Where a slider stands on the axis, the cell that it has there, and how that looks where it is on no line."""

    place: float
    cell: Cell | None = None
    look: Series = MEASURED


def share_text(counts: Mapping[Kind, int]) -> str:
    """Return how many of the answers are hits, with Wilson's interval, in words.

    >>> share_text({"hit": 27, "other record": 1, "neither": 4})
    '<b>27 of 32 hits</b>, 84&nbsp;% (Wilson 95&nbsp;%: 68 to 93&nbsp;%)'
    """
    hits, n = counts["hit"], sum(counts.values())
    low, high = (100 * end for end in wilson(hits, n))
    return f"<b>{hits} of {n} hits</b>, {100 * hits / n:.0f}&nbsp;% (Wilson 95&nbsp;%: {low:.0f} to {high:.0f}&nbsp;%)"


def kinds_bar(counts: Mapping[Kind, int]) -> str:
    """Return a bar of the three kinds, as long as their shares, and below it their counts."""
    total = sum(counts.values())
    present = [kind for kind in KINDS if counts[kind]]
    pieces = "".join(
        f'<div data-kind="{kind}" style="width:{100 * counts[kind] / total:.2f}%;background:{OUTCOME_COLOURS[kind]};'
        f'color:#FFFFFF;text-align:center;overflow:hidden">{SYMBOLS[kind]}</div>'
        for kind in present
    )
    listed = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
    below = " &nbsp; ".join(f"{badge(kind)} {counts[kind]}" for kind in KINDS)
    return (
        f'<div role="img" aria-label="Answers by kind: {listed}" style="display:flex;height:1.6em;line-height:1.6em;'
        f'margin:4px 0;max-width:34em">{pieces}</div><div style="line-height:1.8">{below}</div>'
    )


def trial_marks(answers: Mapping[int, Answered], chosen: int) -> str:
    """Return one mark a trial, in order, coloured and signed by its kind; the chosen trial has a frame."""
    marks = "".join(_mark(answers[trial], trial == chosen) for trial in sorted(answers))
    return (
        f'<div role="img" aria-label="{len(answers)} trials in their order, each by its kind" '
        f'style="display:flex;flex-wrap:wrap;gap:5px;margin:8px 3px;max-width:34em">{marks}</div>'
    )


def _mark(answered: Answered, chosen: bool) -> str:
    frame = "outline:2px solid currentColor;outline-offset:2px;" if chosen else ""
    told = html.escape(f"trial {answered.trial}: {answered.kind}, answered {answered.answer!r}", quote=True)
    return (
        f'<span data-trial="{answered.trial}" data-kind="{answered.kind}" data-chosen="{str(chosen).lower()}" '
        f'title="{told}" style="{frame}border-radius:3px"><span style="display:block;width:1.45em;line-height:1.45em;'
        f'text-align:center;border-radius:3px;color:#FFFFFF;background:{OUTCOME_COLOURS[answered.kind]}">'
        f"{SYMBOLS[answered.kind]}</span></span>"
    )


def curve_svg(lines: Sequence[Line], current: Current | None, ticks: Sequence[tuple[float, str]], title: str) -> str:
    """Return the share of hits along an axis as SVG, with Wilson's intervals and the ``current`` place marked.

    ``current`` is None for no place at all; a ring marks its cell, and a point as well where no line has one there.
    ``ticks`` are places on the axis with their labels; its ends are the first and the last of them.
    """
    start, end = ticks[0][0], ticks[-1][0]

    def across(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (0.5 if start == end else (place - start) / (end - start))

    def up(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    drawn = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{PAPER}"/>',
        *(_level(up(share), f"{share:.0%}") for share in (0, 0.5, 1)),
        *(_text(across(at), HEIGHT - BOTTOM + 18, label, "middle") for at, label in ticks),
        _text(LEFT, HEIGHT - 6, title, "start"),
    ]
    if current is not None:
        x = f"{across(current.place):.1f}"
        drawn.append(
            f'<line class="current" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{HEIGHT - BOTTOM}" stroke="{INK}" '
            'stroke-width="1.5" stroke-dasharray="2 3"/>'
        )
    for number, line in enumerate(lines):
        drawn += _drawn_line(line, [(across(at), up(one.share), one) for at, _, one in line.points], up)
        if len(lines) > 1:
            drawn += _key(line, LEFT + 4 + 110 * number)
    if current is not None and current.cell is not None:
        here, y = across(current.place), up(current.cell.share)
        if not any(point.cell is current.cell for line in lines for point in line.points):
            drawn.append(_point(here, y, current.look))
        drawn.append(f'<circle cx="{here:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="{INK}" stroke-width="2"/>')
    told = html.escape(f"{title}: {_told(lines)}", quote=True)
    return (
        f'<svg role="img" aria-label="{told}" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'style="max-width:100%;height:auto;border-radius:4px">{"".join(drawn)}</svg>'
    )


def _drawn_line(line: Line, points: Sequence[tuple[float, float, Cell]], up: Callable[[float], float]) -> Iterable[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    colour = line.look.colour
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{STROKE}"{_dashes(line.look)}/>'
    for x, y, cell in points:
        low, high = cell.interval
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{up(low):.1f}" y2="{up(high):.1f}" stroke="{colour}" opacity=".5"/>'
        yield _point(x, y, line.look)


def _dashes(look: Series) -> str:
    """Return a line's dashes, which matplotlib takes as multiples of its width; none for a solid line."""
    if isinstance(look.line, str):
        return ""
    return f' stroke-dasharray="{" ".join(f"{STROKE * length:g}" for length in look.line[1])}"'


def _point(x: float, y: float, look: Series) -> str:
    paint = f'fill="{look.colour if look.filled else PAPER}" stroke="{look.colour}" stroke-width="{STROKE}"'
    if look.marker == "s":
        return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {paint}/>'
    if look.marker == "^":
        return f'<polygon points="{x:.1f},{y - 4:.1f} {x - 4:.1f},{y + 3:.1f} {x + 4:.1f},{y + 3:.1f}" {paint}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" {paint}/>'


def _key(line: Line, x: float) -> Iterable[str]:
    yield _point(x, 11, line.look)
    yield _text(x + 8, 15, line.name, "start")


def _level(y: float, label: str) -> str:
    rule = f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{GRID}"/>'
    return rule + _text(LEFT - 5, y + 4, label, "end")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" font-family="sans-serif" '
        f'fill="{INK}">{html.escape(text)}</text>'
    )


def _told(lines: Sequence[Line]) -> str:
    told = [
        f"{line.name}, " + ", ".join(f"{point.cell.share:.0%} at {point.label}" for point in line.points)
        for line in lines
        if line.points
    ]
    return "; ".join(told) or "no results to draw"
