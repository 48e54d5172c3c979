"""Pictures of the needle experiments: accuracy by position, by length, and by what the other lines are.

Every picture is made of one frame with one row a call (`trials.run`, `load_results`) and says in its alt text what it
shows in figures. Whiskers are Wilson 95 % intervals. What is published is drawn hollow and dashed, and only where it is
published: of the single depths only the first is. Maps of two directions are in `ctxcourse.plots.grids`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ctxcourse.needle import DEPTHS
from ctxcourse.needle import published as source
from ctxcourse.plots.cells import (
    cells,
    checked,
    counted,
    fraction,
    in_words,
    lines_in_words,
    measured_by,
    one_depth,
    only,
    trials_each,
)
from ctxcourse.plots.grids import heat_map, rows_plot
from ctxcourse.plots.panels import (
    BY_SHARE,
    FILLER,
    LOOKALIKES,
    MEASURED,
    PUBLISHED,
    TEXT,
    legend,
    length_axis,
    marks,
    panels,
    share_axis,
    stacked_kinds,
    ticks,
    whiskers,
)
from ctxcourse.plots.pictures import INK, Picture, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["heat_map", "interference_plot", "length_plot", "position_plot", "rows_plot"]

PUBLISHED_BY = "published: Qwen2.5-0.5B-Instruct"


def position_plot(frame: DataFrame, published: bool = True) -> Picture:
    """Return accuracy by the needle's depth in a list of one length, and each depth's answers by kind.

    With ``published`` the two published figures stand beside those of their own design, 25 records: the first position
    (27 of 32, with an interval), and the other eight depths taken together (51 of 256; they share their trials, so
    they get no interval). Raises `PlotError` for an empty frame, a missing column, or a frame that mixes lengths or
    shares of lookalikes.
    """
    checked(frame)
    records, share = only(frame, "records", "heat_map"), only(frame, "share", "interference_plot")
    found = cells(frame, "depth")
    depths = [float(cell.depth) for cell in found]
    title = f"Accuracy by position: {lines_in_words(records, share)}, {trials_each(found)} at each depth"
    figure, (upper, lower) = panels(6.2, title, rows=2, sharex=True, height_ratios=(3, 2.2))
    upper.set_xlim(-0.06, 1.06)
    places = dict(zip((float(depth) for depth in frame["depth"]), (int(row) + 1 for row in frame["row"]), strict=True))
    names = [f"depth {fraction(depth)} (place {places[depth]})" for depth in depths]
    alt = [f"{title}.", in_words(found, names, _capital(measured_by(frame)))]
    whiskers(upper, depths, found, measured_by(frame), MEASURED)
    if published and (records, share) == (source.RECORDS, 1.0):
        alt.append(_published_position(upper))
    share_axis(upper)
    legend(upper)
    stacked_kinds(lower, depths, found)
    _depth_axis(lower, places)
    return Picture(figure, " ".join(alt))


class _Counted(NamedTuple):
    """Published counts with their interval, drawn like measured cells."""

    n: int
    hits: int
    low: float
    high: float


def _published_position(axes: Axes) -> str:
    """Draw the published first depth and the line of the others, and return them in words."""
    from ctxcourse.stats import wilson

    first, others = source.POSITION["first"], source.POSITION["others"]
    cell = _Counted(first.n, first.hits, *wilson(first.hits, first.n))
    label = f"{PUBLISHED_BY}, first position ({first.hits} of {first.n})"
    whiskers(axes, [DEPTHS[0]], [cell], label, PUBLISHED)
    label = f"{PUBLISHED_BY}, the other eight depths together ({others.hits} of {others.n})"
    marks(axes, [DEPTHS[1], DEPTHS[-1]], [others.share] * 2, label, PUBLISHED._replace(marker="", aside=0))
    return f"Dashed, {PUBLISHED_BY}: {first.words}; {others.words} ({others.hits} hits)."


def _depth_axis(axes: Axes, places: Mapping[float, int]) -> None:
    """Name the depths with their places in the list; where depths are no small fractions, the places alone."""
    depths = sorted(places)
    names = [fraction(depth) for depth in depths]
    if any("." in name for name in names):
        ticks(axes, depths, [str(places[depth]) for depth in depths])
        label = "the needle's place in the list (1 is the first line)"
    else:
        ticks(axes, depths, [f"{name}\n{places[depth]}" for name, depth in zip(names, depths, strict=True)])
        label = "depth of the needle (0 is the first line, 1 the last); below, its place in the list"
    axes.set_xlabel(label, color=INK, fontsize=TEXT)


def length_plot(frame: DataFrame, published: bool = True) -> Picture:
    """Return accuracy by the number of lines in the list (log scale, prompt tokens named), and the answers by kind.

    With ``published`` the three published lengths stand beside measured lists of lookalikes; they are never drawn
    beside filler. Raises `PlotError` for an empty frame, a missing column, or a frame that mixes depths or shares of
    lookalikes.
    """
    checked(frame)
    share = only(frame, "share", "interference_plot")
    one_depth(frame)
    found = cells(frame, "records")
    lengths = [int(cell.records) for cell in found]
    among = {1.0: "lookalikes", 0.0: "filler"}.get(share, f"lookalikes ({fraction(share)}) and filler")
    title = f"Accuracy by length: one needle among {among}, {trials_each(found)} at each length"
    figure, (upper, lower) = panels(6.2, title, rows=2, sharex=True, height_ratios=(3, 2.2))
    names = [f"{counted(cell.records, 'line')} ({counted(cell.prompt_tokens, 'token')})" for cell in found]
    alt = [f"{title}.", in_words(found, names, _capital(measured_by(frame)))]
    tokens = {int(cell.records): int(cell.prompt_tokens) for cell in found}
    whiskers(upper, lengths, found, measured_by(frame), MEASURED)
    if published and share == 1.0:
        shown = [(known, known.share) for known in source.LENGTHS if known.share is not None]
        marks(upper, [known.records for known, _ in shown], [share for _, share in shown], PUBLISHED_BY, PUBLISHED)
        tokens = {known.records: known.tokens for known, _ in shown} | tokens
        alt.append(f"Dashed, {PUBLISHED_BY}: {'; '.join(known.words for known, _ in shown)}.")
    length_axis(lower, tokens)
    share_axis(upper)
    legend(upper)
    stacked_kinds(lower, lengths, found, log=True)
    return Picture(figure, " ".join(alt))


def interference_plot(length: DataFrame, volume: DataFrame, interference: DataFrame | None = None) -> Picture:
    """Return accuracy by length, once among lookalikes and once among filler, and by the share of lookalikes.

    The right panel, drawn where ``interference`` is given, keeps the number of lines and changes what they are.
    Raises `PlotError` for empty frames, missing columns, mixed depths, and where ``length`` holds filler or
    ``volume`` lookalikes.
    """
    for frame, name, share in ((length, "length", 1.0), (volume, "volume", 0.0)):
        checked(frame, name=name)
        one_depth(frame, name)
        held = only(frame, "share", "one frame for lookalikes and one for filler", name)
        if held != share:
            raise PlotError(f"{name}: the share of lookalikes is {held:g} and has to be {share:g}, as in sweeps.{name}")
    if interference is not None:
        checked(interference, name="interference")
    title = "More text, or more of the same? One needle among lookalikes and among filler"
    frames = [length, volume] if interference is None else [length, volume, interference]
    models = list(dict.fromkeys(measured_by(frame) for frame in frames))
    whose = [f", {measured_by(frame)}" if len(models) > 1 else "" for frame in frames]
    parts = ("lookalikes", "filler", "by share")
    by_part = "\n".join(f"{part}{by}" for part, by in zip(parts, whose, strict=False))
    heading = f"{title}\n{by_part if len(models) > 1 else models[0]}"
    figure, axes = panels(4.8, heading, columns=len(frames) - 1, sharey=True, width_ratios=(3, 2)[: len(frames) - 1])
    alt = [f"{title}{'' if len(models) > 1 else f', {models[0]}'}."]
    tokens: dict[int, int] = {}
    kinds = (("lookalikes", LOOKALIKES), ("filler", FILLER))
    for frame, by, (name, look) in zip(frames, whose, kinds, strict=False):
        found = cells(frame, "records")
        tokens = {int(cell.records): int(cell.prompt_tokens) for cell in found} | tokens
        whiskers(axes[0], [int(cell.records) for cell in found], found, f"all other lines are {name}", look)
        names = [counted(cell.records, "line") for cell in found]
        alt.append(in_words(found, names, f"Among {name}{by}"))
    length_axis(axes[0], tokens)
    share_axis(axes[0])
    legend(axes[0])
    if interference is not None:
        alt.append(_by_share(axes[1], interference, whose[2]))
    return Picture(figure, " ".join(alt))


def _by_share(axes: Axes, frame: DataFrame, by: str) -> str:
    """Draw accuracy by the share of lookalikes at one length, and return it in words."""
    records = only(frame, "records", "one length at a time", "interference")
    one_depth(frame, "interference")
    found = cells(frame, "share")
    shares = [float(cell.share) for cell in found]
    axes.set_xlim(-0.07, 1.07)
    whiskers(axes, shares, found, f"always {counted(records, 'line')}", BY_SHARE)
    share_axis(axes, "")
    ticks(axes, shares, [fraction(share) for share in shares])
    axes.set_xlabel(f"share of lookalikes among the other {records - 1:.0f} lines", color=INK, fontsize=TEXT)
    legend(axes)
    names = [f"{fraction(share)} lookalikes" for share in shares]
    return in_words(found, names, f"At {counted(records, 'line')}{by}")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
