"""Pictures of a prompt: the budget as a bar, and the buckets of every turn.

Colours, paper and alt text are those of `ctxcourse.plots.pictures`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ctxcourse.plots.pictures import (
    GRID,
    INK,
    OUTCOME_COLOURS,
    OVER,
    PAPER,
    PART_STYLES,
    WIDTH,
    Parts,
    Picture,
    PlotError,
    canvas,
    part_sizes,
    part_style,
    spread,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["OUTCOME_COLOURS", "PART_STYLES", "Picture", "PlotError", "budget_bar", "turn_bars"]


def budget_bar(parts: Parts, window: int | None = None, title: str | None = None) -> Picture:
    """Return a stacked bar of what fills the prompt, and, with a window, how much of the window that is.

    ``parts`` are tokens by component (a dict or `Buckets`); ``window`` is the context window in tokens.
    Raises `PlotError` for sizes below zero and for a window that is not positive.

    >>> budget_bar({"system": 500, "tools": 8_000}, window=128_000).alt
    'Tokens: system 500, tools 8,000; 8,500 of a window of 128,000 (7 %), 119,500 left.'
    """
    if window is not None and window <= 0:
        raise PlotError(f"window={window}: a context window has at least one token")
    sizes = part_sizes(parts)
    used = sum(sizes.values())
    figure, axes = canvas(2.7 if window else 1.9)
    axes.set_xlim(-0.004, 1.004)
    axes.set_ylim(-0.62, 1.68 if window else 0.62)
    axes.set_axis_off()
    _parts_row(axes, sizes, used)
    if window:
        _window_row(axes, used, window)
    heading = title or ("What fills the window" if window else "What fills the prompt")
    axes.set_title(f"{heading}: {_share(used, window)}", loc="left", fontsize=12, color=INK, pad=8)
    return Picture(figure, f"Tokens: {_listing(sizes)}; {_summary(used, window)}.")


def turn_bars(turns: Sequence[Parts], title: str = "What fills each turn's prompt") -> Picture:
    """Return stacked bars, one per turn (or call), each made of the same parts: tokens upwards, turns
    rightwards.

    Raises `PlotError` where there is no turn, or where turns have different parts.
    """
    rows = [part_sizes(turn) for turn in turns]
    if not rows:
        raise PlotError("there is no turn to draw: give at least one")
    names = list(rows[0])
    for number, row in enumerate(rows, start=1):
        if list(row) != names:
            raise PlotError(f"turn {number} has the parts {list(row)}, turn 1 has {names}: make them equal")
    figure, axes = canvas(4.2)
    places = range(1, len(rows) + 1)
    floor = [0] * len(rows)
    middles: list[float] = []
    for position, name in enumerate(names):
        heights = [row[name] for row in rows]
        colour, hatch = part_style(name, position)
        axes.bar(places, heights, 0.82, floor, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.6)
        middles.append(floor[-1] + heights[-1] / 2)
        floor = [low + height for low, height in zip(floor, heights, strict=True)]
    _finish_turns(axes, names, middles, rows[-1], floor, title)
    ends = f"{floor[0]:,} tokens in turn 1, {floor[-1]:,} in turn {len(rows)}"
    return Picture(figure, f"Stacked bars for {len(rows)} turns: {ends} ({_listing(rows[-1])}).")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _listing(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{_words(name)} {size:,}" for name, size in sizes.items()) or "no parts"


def _share(used: int, window: int | None) -> str:
    return f"{used:,} tokens" if window is None else f"{used:,} of {window:,} tokens ({100 * used / window:.0f} %)"


def _summary(used: int, window: int | None) -> str:
    if window is None:
        return f"{used:,} in all"
    rest = f"{window - used:,} left" if used <= window else f"{used - window:,} too many"
    return f"{used:,} of a window of {window:,} ({100 * used / window:.0f} %), {rest}"


def _text_width(text: str, size: float) -> float:
    """Width of a text as a fraction of the axes, near enough to place labels by (0.6 em a character)."""
    longest = max(len(line) for line in text.split("\n"))
    return longest * size * 0.6 / 72 / (WIDTH * 0.97)


def _parts_row(axes: Axes, sizes: Mapping[str, int], used: int) -> None:
    """Draw the parts side by side over the whole width; labels inside where they fit, else below."""
    left = 0.0
    below: list[tuple[float, str]] = []
    for position, (name, size) in enumerate(sizes.items()):
        width = size / max(used, 1)
        colour, hatch = part_style(name, position)
        if not size:
            continue
        axes.barh(0, width, 0.5, left, color=colour, hatch=hatch, edgecolor=INK, linewidth=0.9)
        text = f"{_words(name)}\n{size:,}"
        if width > _text_width(text, 9.5) + 0.01:
            box = {"boxstyle": "round,pad=0.2", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.92}
            axes.text(left + width / 2, 0, text, ha="center", va="center", fontsize=9.5, color=INK, bbox=box)
        else:
            below.append((left + width / 2, text))
        left += width
    wanted = [centre for centre, _ in below]
    widths = [_text_width(text, 9.5) for _, text in below]
    for (centre, text), place in zip(below, spread(wanted, widths, 0.0, 1.0), strict=True):
        axes.plot([centre, centre, place], [-0.25, -0.31, -0.37], color=INK, linewidth=0.8, clip_on=False)
        axes.text(place, -0.38, text, ha="center", va="top", fontsize=9.5, color=INK)


def _window_row(axes: Axes, used: int, window: int) -> None:
    """Draw the window above the parts, with lines that show the parts as a magnified piece of it."""
    scale = max(used, window)
    share, edge = used / scale, window / scale
    axes.barh(1.2, min(share, edge), 0.42, color="#3E3E4A", edgecolor=INK, linewidth=0.9)
    if used <= window:
        axes.barh(1.2, edge - share, 0.42, share, color=PAPER, edgecolor=INK, linewidth=0.9)
        label, colour = f"{window - used:,} left", INK
    else:
        axes.barh(1.2, share - edge, 0.42, edge, color=PAPER, edgecolor=OVER, hatch="xxx", linewidth=1.4)
        label, colour = f"{used - window:,} too many", OVER
    box = {"boxstyle": "round,pad=0.25", "facecolor": PAPER, "edgecolor": "none"}
    half = _text_width(label, 10) / 2
    middle = min(max((share + edge) / 2, half), 1 - half)
    inside = abs(share - edge) > 2 * half + 0.02
    height = 1.2 if inside else 1.53
    axes.text(middle, height, label, ha="center", va="center", fontsize=10, color=colour, bbox=box)
    filled = "taken"
    if min(share, edge) > _text_width(filled, 10) + 0.01:
        axes.text(min(share, edge) / 2, 1.2, filled, ha="center", va="center", fontsize=10, color=PAPER)
    for top, bottom in ((0.0, 0.0), (share, 1.0)) if used else ():
        axes.plot([top, bottom], [0.99, 0.25], color="#7A7A86", linewidth=0.9, linestyle=(0, (4, 3)))


def _finish_turns(
    axes: Axes,
    names: Sequence[str],
    middles: Sequence[float],
    last: Mapping[str, int],
    totals: Sequence[int],
    title: str,
) -> None:
    """Label the parts beside the last bar, and the first, highest and last total; set axes and title."""
    count, top = len(totals), max(max(totals), 1)
    axes.set_ylim(0, top * 1.12)
    axes.set_xlim(0.4 - count * 0.025, count + 0.6 + max(count, 2) * 0.24)
    wide = top * 0.085
    places = spread(middles, [wide] * len(names), 0.0, top * 1.12)
    for name, middle, place in zip(names, middles, places, strict=True):
        edge = count + 0.41
        axes.plot([edge, edge + count * 0.03], [middle, place], color=INK, linewidth=0.8)
        label = f"{_words(name)} {last[name]:,}"
        box = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
        axes.text(edge + count * 0.036, place, label, va="center", fontsize=10, color=INK, bbox=box)
    step = max(1, -(-count // 12))
    ticks = sorted({1, count, *range(step, count + 1, step)} - ({count - 1} if step > 1 else set()))
    axes.set_xticks(ticks)
    shown = range(count) if count <= 10 else {0, totals.index(max(totals)), count - 1}
    for index in shown:
        near = count // 20
        top_of_bar = (index + 1, max(totals[max(0, index - near) : index + near + 1]))
        style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "color": INK}
        axes.annotate(f"{totals[index]:,}", top_of_bar, (0, 3), **style)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(axis="y", color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("turn", color=INK)
    axes.set_ylabel("tokens", color=INK)
    axes.set_title(title, loc="left", fontsize=12, color=INK)
