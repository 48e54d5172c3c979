"""Pictures of the experiments of lessons 02 to 04: the order of documents, their compression, the number of tools.

Every picture is made of one frame with one row a call, as `ctxcourse.experiments` makes them, and says in its alt text
what it shows in figures. Whiskers are Wilson 95 % intervals. What this module does not do: compare conditions in pairs
(see `ctxcourse.stats.mcnemar`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from ctxcourse.needle import KINDS
from ctxcourse.plots.cells import checked, counted, listed, measured_by, percent, trials_each
from ctxcourse.plots.panels import TEXT, Series, legend, panels, share_axis, stacked_kinds, whiskers
from ctxcourse.plots.pictures import GRID, INK, OUTCOME_COLOURS, PAPER, Picture, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

ORDERED = Series(OUTCOME_COLOURS["hit"], "o", "")
WHOLE = "full"
# A marker and a colour for each way to shorten a document; one that is not listed gets the last.
STRATEGY_LOOKS: dict[str, Series] = {
    WHOLE: Series("#1B1B1F", "s", ""),
    "truncation": Series("#B84A00", "v", "", aside=-12),
    "key sentences": Series("#332288", "s", ""),
    "summary": Series("#00775A", "D", "", aside=12),
}
PROSE_LOOKS: dict[str, Series] = {
    "full": Series("#332288", "o", "-"),
    "trimmed": Series("#B84A00", "s", (0, (5, 2)), filled=False),
}
# Colour and hatch for each outcome of a tool call; the first, the third and the last mean what they mean elsewhere.
OUTCOME_LOOKS: dict[str, tuple[str, str]] = {
    "right call": (OUTCOME_COLOURS["hit"], ""),
    "wrong arguments": ("#56B4E9", "xx"),
    "other tool": (OUTCOME_COLOURS["other record"], "////"),
    "unknown tool": ("#A4003D", "++"),
    "no call": (OUTCOME_COLOURS["neither"], "..."),
}
_BAND = (0.09, 0.25)  # how far beyond 0 and 1 the documents' own points lie
_BESIDE = 0.19  # half the distance of two bars at one place


def order_plot(frame: DataFrame) -> Picture:
    """Return accuracy by the arrangement of the documents, and each arrangement's answers by kind.

    Arrangements stand in the order of their first rows; they have no order of their own, so no line joins them. Raises
    `PlotError` for an empty frame, a missing column, a kind that is none, or a frame that mixes lengths.
    """
    _checked(frame, {"arrangement": None, "kind": KINDS}, ("records", "prompt_tokens"))
    found = _cells(frame, ["arrangement"], "kind", KINDS, ["records", "prompt_tokens"])
    names = [str(cell.arrangement) for cell in found]
    lines = {float(n) for n in frame.loc[~frame["arrangement"].str.startswith("top "), "records"].unique()}
    if len(lines) > 1:
        raise PlotError(f"the frame mixes lists of {listed([f'{n:g}' for n in sorted(lines)])} lines: keep one length")
    length = counted(lines.pop(), "document") if lines else "the best documents"
    title = f"Accuracy by order: {length}, {trials_each(found)} in each arrangement"
    figure, (upper, lower) = panels(6.0, title, rows=2, sharex=True, height_ratios=(3, 2.2))
    places = list(range(len(found)))
    upper.set_xlim(-0.5, len(found) - 0.5)
    whiskers(upper, places, found, measured_by(frame), ORDERED)
    share_axis(upper)
    legend(upper)
    stacked_kinds(lower, places, found)
    labels = [f"{name}\n{cell.prompt_tokens:,.0f}" for name, cell in zip(names, found, strict=True)]
    lower.set_xticks(places, labels)
    lower.set_xlabel("arrangement; below, the prompt's tokens (mean)", color=INK, fontsize=TEXT)
    told = [
        f"{name}: {_hits(cell)}, {cell.other_record} other record, {cell.neither} neither, "
        f"{counted(cell.prompt_tokens, 'token')}"
        for name, cell in zip(names, found, strict=True)
    ]
    return Picture(figure, f"{title}. {_capital(measured_by(frame))}: {'; '.join(told)}.")


def compress_plot(frame: DataFrame) -> Picture:
    """Return what is left of the documents against what is still found in them, one filled point a strategy.

    The ring is the share of texts that still hold the answer, whether or not it was found. The small points are single
    documents: above those whose answer was found, below those whose was not. Where documents were also left whole
    (``full``), that is the dashed line, with its interval as a band. Raises `PlotError` for an empty frame, a missing
    column or a kind that is none.
    """
    _checked(frame, {"strategy": None, "kind": ("hit", "miss")}, ("ratio", "spent_tokens", "holds"))
    found = _cells(frame, ["strategy"], "kind", ("hit", "miss"), ["ratio", "spent_tokens", "holds"])
    title = f"What is left, and what is found in it: {counted(max(cell.n for cell in found), 'document')}"
    figure, (axes,) = panels(5.6, f"{title}\n{measured_by(frame)}")
    points = [cell for cell in found if cell.strategy != WHOLE] or found
    for cell in found:
        if cell in points:
            look = STRATEGY_LOOKS.get(str(cell.strategy), STRATEGY_LOOKS[WHOLE])
            whiskers(axes, [cell.ratio], [cell], f"{cell.strategy}: found", look)
            _documents(axes, frame[frame["strategy"] == cell.strategy], look)
            axes.errorbar([cell.ratio], [cell.holds], transform=_aside(axes, look), **_ring(look))
        else:
            axes.axhspan(cell.low, cell.high, color=GRID, alpha=0.35, linewidth=0)
            axes.axhline(cell.hits / cell.n, color=INK, linestyle=(0, (5, 2.5)), label="documents left whole: found")
    axes.errorbar([], [], label="ring: the text still holds the answer", **_ring(STRATEGY_LOOKS[WHOLE]))
    drawn = frame["strategy"].isin([cell.strategy for cell in points])
    _compression_axes(axes, float(frame.loc[drawn, "ratio"].max()))
    told = [
        f"{cell.strategy}: {percent(cell.ratio)} of the tokens left, {_hits(cell)}, answer still in the text "
        f"{percent(cell.holds)}, {counted(cell.spent_tokens, 'token')} spent a document"
        for cell in found
    ]
    return Picture(figure, f"{title}. {_capital(measured_by(frame))}: {'; '.join(told)}.")


def _compression_axes(axes: Axes, widest: float) -> None:
    """Name the axes, the bands of single documents above and below, and what the marks are."""
    share_axis(axes, "share of the documents")
    axes.set_ylim(-_BAND[1] - 0.06, 1 + _BAND[1] + 0.06)
    axes.spines["left"].set_bounds(0, 1)
    axes.set_xlim(0, widest * 1.15)
    axes.xaxis.set_major_formatter(lambda value, _: percent(value))
    axes.set_xlabel("tokens left, of the document's (mean; small points: each document's)", color=INK, fontsize=TEXT)
    for height, words in ((1 + sum(_BAND) / 2, "found"), (-sum(_BAND) / 2, "not found")):
        axes.text(widest * 0.02, height, words, ha="left", va="center", fontsize=TEXT, color=INK)
    handles, names = axes.get_legend_handles_labels()
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": 3}
    axes.legend(handles, names, fontsize=TEXT, labelcolor=INK, frameon=False, **place)


def tools_plot(frame: DataFrame) -> Picture:
    """Return right calls by the size of the catalogue, for full and trimmed prose, and what all calls were.

    On the left all tools of the catalogue are offered, on the right a selection of them; a frame with one of the two
    gives one column. Of two bars at one size the left one is the full prose. Raises `PlotError` for an empty frame, a
    missing column or an outcome that is none.
    """
    outcomes = tuple(OUTCOME_LOOKS)
    known = {"prose": tuple(PROSE_LOOKS), "selection": ("all", "selected"), "outcome": outcomes}
    _checked(frame, known, ("tools", "tool_tokens"))
    found = _cells(frame, ["tools", "prose", "selection"], "outcome", outcomes, ["tool_tokens"])
    selections = [name for name in known["selection"] if name in set(frame["selection"])]
    sizes = sorted({int(cell.tools) for cell in found})
    title = f"Right calls by the size of the catalogue: {trials_each(found).replace('trial', 'task')} in each cell"
    figure, axes = panels(7.0, f"{title}\n{measured_by(frame)}", rows=2, columns=len(selections), sharey="row")
    told = []
    for column, selection in enumerate(selections):
        upper, lower = axes[column], axes[column + len(selections)]
        of_this = [cell for cell in found if cell.selection == selection]
        _right_calls(upper, of_this, sizes, column == 0)
        _outcomes(lower, of_this, sizes, column == 0)
        words = "all tools offered" if selection == "all" else "a selection offered"
        upper.set_title(words, loc="left", fontsize=TEXT + 1, color=INK, pad=26)
        for cell in sorted(of_this, key=lambda cell: (cell.tools, cell.prose)):
            kinds = listed(
                [f"{getattr(cell, _name(kind))} {kind}" for kind in outcomes[1:] if getattr(cell, _name(kind))]
            )
            told.append(
                f"{counted(cell.tools, 'tool')}, {words}, {cell.prose} prose ({counted(cell.tool_tokens, 'token')}): "
                f"{_hits(cell, 'right')}{f', {kinds}' if kinds else ''}"
            )
    _outcome_legend(figure)
    return Picture(figure, f"{title}. {_capital(measured_by(frame))}: {'; '.join(told)}.")


def _right_calls(axes: Axes, found: Sequence[Any], sizes: Sequence[int], first: bool) -> None:
    for prose, look in PROSE_LOOKS.items():
        of_this = sorted((cell for cell in found if cell.prose == prose), key=lambda cell: int(cell.tools))
        if of_this:
            side = -_BESIDE / 2 if prose == "full" else _BESIDE / 2
            whiskers(axes, [sizes.index(int(cell.tools)) + side for cell in of_this], of_this, f"{prose} prose", look)
    share_axis(axes, "right calls" if first else "")
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    axes.set_xticks(range(len(sizes)), [""] * len(sizes))
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=2,
        fontsize=TEXT,
        labelcolor=INK,
        frameon=False,
    )


def _outcomes(axes: Axes, found: Sequence[Any], sizes: Sequence[int], first: bool) -> None:
    """Draw the stacked outcomes, a bar for each prose at each size, and name the sizes with their tokens."""
    share_axis(axes, "all answers" if first else "", steps=2)
    axes.set_xlim(-0.5, len(sizes) - 0.5)
    placed = {(int(cell.tools), str(cell.prose)): cell for cell in found}
    for (place, size), prose in product(enumerate(sizes), PROSE_LOOKS):
        cell = placed.get((size, prose))
        if cell is None:
            continue
        floor = 0.0
        for outcome, (colour, hatch) in OUTCOME_LOOKS.items():
            height = getattr(cell, _name(outcome)) / cell.n
            left = place + (-_BESIDE if prose == "full" else _BESIDE)
            axes.bar(left, height, 0.34, floor, color=colour, hatch=hatch, edgecolor=PAPER, linewidth=0.6)
            floor += height
    names = []
    for size in sizes:
        cells = [placed.get((size, prose)) for prose in PROSE_LOOKS]
        names.append(f"{size}\n{' / '.join(f'{cell.tool_tokens:,.0f}' for cell in cells if cell)}")
    axes.set_xticks(range(len(sizes)), names)
    axes.set_xlabel("tools in the catalogue; below, tokens offered\n(full / trimmed)", color=INK, fontsize=TEXT)


def _outcome_legend(figure: Any) -> None:
    from matplotlib.patches import Patch

    handles = []
    for name, (colour, hatch) in OUTCOME_LOOKS.items():
        patch = Patch(facecolor=colour, edgecolor=PAPER, label=name)
        patch.set_hatch(hatch)
        handles.append(patch)
    figure.legend(
        handles=handles, loc="outside lower left", ncols=len(handles), fontsize=TEXT, labelcolor=INK, frameon=False
    )


def _documents(axes: Axes, rows: DataFrame, look: Series) -> None:
    """Draw each document of a strategy as a small point in its band, side by side as far as the band allows."""
    near, far = _BAND
    for place, row in enumerate(rows.itertuples(index=False)):
        aside = near + (far - near) * (place * 7 % 11) / 10  # spread over the band, the same in every run
        height = 1 + aside if row.kind == "hit" else -aside
        axes.plot(row.ratio, height, look.marker, color=look.colour, markersize=3, alpha=0.6, clip_on=False)


def _ring(look: Series) -> dict[str, Any]:
    face = {"markerfacecolor": "none", "markeredgewidth": 1.3, "markersize": 13, "zorder": 2}
    return {"color": look.colour, "marker": "o", "linestyle": "", **face}


def _aside(axes: Axes, look: Series) -> Any:
    from matplotlib.transforms import ScaledTranslation

    return axes.transData + ScaledTranslation(look.aside / 72, 0, axes.figure.dpi_scale_trans)


def _checked(frame: DataFrame, words: Mapping[str, Sequence[str] | None], numbers: Sequence[str]) -> None:
    """Raise `PlotError` for a frame without rows or columns, or with values that are not among those listed."""
    checked(frame, ())
    columns = [*words, *numbers]
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise PlotError(
            f"the frame has no column {listed(missing)}; it has {listed(list(frame.columns)) or 'none at all'}: give "
            "the table of the experiment as it is"
        )
    for column in columns:
        gaps = int(frame[column].isna().sum())
        if gaps:
            raise PlotError(f"the frame: column {column!r} is empty in {gaps} of {len(frame)} rows")
    for column, allowed in words.items():
        wrong = [] if allowed is None else [value for value in frame[column].unique() if value not in allowed]
        if wrong:
            raise PlotError(
                f"the frame: column {column!r} holds {wrong[0]!r}, which is not one of {listed(allowed or ())}"
            )


def _cells(frame: DataFrame, by: Sequence[str], column: str, values: Sequence[str], means: Sequence[str]) -> list[Any]:
    """Return what came of each combination, by name; what counts as a success is also called ``hits``."""
    from ctxcourse.tables import counted as tabulated

    table = tabulated(frame, by, column, values, means=means)
    return list(table.assign(hits=table[_name(values[0])]).itertuples(index=False))


def _name(value: str) -> str:
    return value.replace(" ", "_")


def _hits(cell: Any, noun: str = "hits") -> str:
    return f"{cell.hits} of {cell.n} {noun} (95 % interval {100 * cell.low:.0f} to {percent(cell.high)})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
