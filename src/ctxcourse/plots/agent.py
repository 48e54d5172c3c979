"""Pictures of an agent's run: what fills the window turn by turn, and what memory policies cost and keep.

Colours, paper and alt text are those of `ctxcourse.plots.pictures`; whiskers are Wilson 95 % intervals. What is
published is drawn hollow, and only where it is published. What this module does not do: count (see
`ctxcourse.agent.accounting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcourse.plots.budget import turn_bars
from ctxcourse.plots.cells import checked, counted, listed, measured_by, percent
from ctxcourse.plots.curves import PUBLISHED_BY
from ctxcourse.plots.labels import Labelled, place_labels
from ctxcourse.plots.panels import PUBLISHED, TEXT, TITLE, Series, legend, marks, panels, share_axis
from ctxcourse.plots.pictures import GRID, INK, OVER, PAPER, Picture, PlotError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

_APART = 9.0  # typographic points to the side within which two whiskers or markers cover each other
_LAYERS = 4  # how many widths there are for those that do
BUCKETS = ("system", "tools", "conversation", "tool_results")
# A colour and a marker for each policy, in the order of the table; after the last of them again the first.
POLICY_LOOKS = tuple(
    Series(colour, marker, "")
    for colour, marker in zip(
        ("#1B1B1F", "#332288", "#B84A00", "#00775A", "#882255", "#0072B2", "#A4003D", "#5B5B66", "#6B5B00", "#7A3E9D"),
        ("s", "o", "v", "D", "^", "P", "X", "p", "<", "h"),
        strict=True,
    )
)


def buckets_plot(
    frame: DataFrame,
    published: Mapping[int, int] | None = None,
    mark: Mapping[int, str] | None = None,
    title: str = "What fills the window, turn by turn",
) -> Picture:
    """Return stacked bars of the four buckets, one for the last call of every turn.

    ``frame`` is `Bill.frame` or `at_turns`. ``published`` are published prompt sizes by turn, drawn hollow where the
    run has that turn; ``mark`` are turns to point at, with what happened there. Raises `PlotError` for an empty frame,
    a missing column or value, and a marked turn that the run has not.

    >>> from ctxcourse.agent.accounting import Bill, BilledCall
    >>> calls = [BilledCall(n, n, 85, 1_817, 60 * n, 400 * n, 1_902 + 460 * n, 0, 0, 0, None) for n in range(1, 41)]
    >>> print(buckets_plot(Bill(tuple(calls)).frame(), mark={19: "the shard is named"}).alt.split(". ")[1])
    Turn 1: 2,362 tokens (system 85, tools 1,817, conversation 60, tool results 400)
    """
    checked(frame, ("turn", *BUCKETS), of="Bill.frame")
    rows = {int(row.turn): row for row in frame.itertuples(index=False)}  # of several calls the last
    turns = list(rows)
    sizes = [{name: int(getattr(row, name)) for name in BUCKETS} for row in rows.values()]
    totals = [sum(size.values()) for size in sizes]
    unknown = [turn for turn in mark or () if turn not in rows]
    if unknown:
        raise PlotError(f"turn {unknown[0]} is marked, and this run has the turns {turns[0]} to {turns[-1]}")
    known = {turn: size for turn, size in (published or {}).items() if turn in rows}
    figure = turn_bars(sizes, title="").figure
    figure.set_figheight(4.6)
    model = (frame.attrs.get("provenance") or {}).get("model")
    whose = f"recorded with {model}" if model else ""
    figure.suptitle(f"{title}\n{whose}".strip(), x=0.01, ha="left", fontsize=TITLE, color=INK)
    (axes,) = figure.axes
    _name_turns(axes, turns)
    alt = [f"{title}: stacked bars for the last call of {counted(len(turns), 'turn')}{f', {whose}' if whose else ''}."]
    ends = [0, *([len(turns) - 1] if len(turns) > 1 else [])]
    alt += [f"Turn {turns[at]}: {counted(totals[at], 'token')} ({_parts(sizes[at])})." for at in ends]
    alt += [
        f"{_words(name).capitalize()} pass{'es' if name == 'conversation' else ''} tools in turn {turn}."
        for name in ("tool_results", "conversation")
        if (turn := next((t for t, size in zip(turns, sizes, strict=True) if size[name] > size["tools"]), None))
    ]
    if known:
        _published(axes, {turns.index(turn) + 1: size for turn, size in known.items()})
        figures = [f"turn {turn} {size:,}" for turn, size in known.items()]
        alt.append(f"Hollow, {PUBLISHED_BY}: {listed(figures)} tokens.")
    for turn, words in sorted((mark or {}).items(), reverse=True):  # the earliest on top, so that no line crosses words
        _mark(axes, turns.index(turn) + 1, f"turn {turn}: {words}")
    alt += [f"Marked: turn {turn}, {words}." for turn, words in sorted((mark or {}).items())]
    return Picture(figure, " ".join(alt))


def _name_turns(axes: Axes, turns: Sequence[int]) -> None:
    """Name the bars by their turns: a run may begin with turn 0, or have a turn without a call."""
    places = [int(place) for place in axes.get_xticks()]
    axes.set_xticks(places, [str(turns[place - 1]) for place in places])
    axes.set_xlabel("turn (its last call)", color=INK)


def _published(axes: Axes, known: Mapping[int, int]) -> None:
    """Draw published sizes at their bars; a total that such a mark would hide is written above it."""
    from matplotlib.text import Annotation

    marks(
        axes, list(known), list(known.values()), f"{PUBLISHED_BY}, whole prompt", PUBLISHED._replace(line="", aside=0)
    )
    top = max(axes.get_ylim()[1], 1.12 * max(known.values()))
    axes.set_ylim(0, top)
    for text in axes.texts:
        if isinstance(text, Annotation) and int(text.xy[0]) in known:
            place, height = int(text.xy[0]), text.xy[1]
            if -0.05 * top < known[place] - height < 0.1 * top:
                text.xy = (place, max(height, known[place]))
                text.set_position((0, 7))
    legend(axes)


def _mark(axes: Axes, place: int, words: str) -> None:
    """Draw a line at a bar, up to words in a row of their own above everything that is there."""
    top = axes.get_ylim()[1]
    room = 0.09 * top
    axes.set_ylim(0, top + room)
    axes.plot([place, place], [0, top + room / 2], color=OVER, linewidth=1.4, linestyle=(0, (4, 2)), zorder=5)
    box = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
    style: dict[str, Any] = {"color": OVER, "fontsize": TEXT, "va": "center", "bbox": box, "zorder": 6}
    text = axes.annotate(words, (place, top + room / 2), (5, 0), textcoords="offset points", **style)
    if text.get_window_extent().x1 > axes.get_window_extent().x1:
        text.set(ha="right", position=(-5, 0))


def _parts(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{_words(name)} {size:,}" for name, size in sizes.items())


def _words(name: str) -> str:
    return name.replace("_", " ")


class _Score(NamedTuple):
    """One policy: what its run was billed, and how many of its probes were right."""

    policy: str
    billed: int
    n: int
    hits: int
    low: float
    high: float


def policies_plot(table: DataFrame, title: str = "What a memory policy costs, and what it keeps") -> Picture:
    """Return one labelled point a policy: billed input tokens against the share of probes answered rightly.

    Every point stands at its bill. Where the whiskers of two policies would cover each other, one is drawn wider and
    beneath the other. ``table`` has the columns ``policy``, ``billed_tokens`` (helpers included; of the whole run, or
    of the one prompt of a control or a sub-agent, see `ctxcourse.agent.comparison.bills`), ``n`` (probes) and
    ``correct``; of several rows of one policy, such as one a fact, the probes are added up, and the bill is one. Raises
    `PlotError` for an empty table, a missing column or value, counts that cannot be, and two bills of one policy.

    >>> import pandas as pd
    >>> rows = [["full history", 370_291, 12, 12], ["sliding window", 159_000, 12, 6]]
    >>> picture = policies_plot(pd.DataFrame(rows, columns=["policy", "billed_tokens", "n", "correct"]))
    >>> print(picture.alt.split("; ")[1])
    sliding window: 159,000 tokens billed, 6 of 12 right (95 % interval 25 to 75 %).
    """
    found = _scores(table)
    figure, (axes,) = panels(5.4, f"{title}\n{measured_by(table)}")
    most = max(score.billed for score in found)
    axes.set_xlim(-0.02 * most, 1.12 * most + 1)
    share_axis(axes, "share of right answers to the probes")
    axes.set_ylim(-0.1, 1.28)  # room for labels above the points of 100 %
    axes.spines["left"].set_bounds(0, 1)
    axes.grid(axis="x", color=GRID, linewidth=0.7)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("billed input tokens, helpers included", color=INK, fontsize=TEXT)
    looks = [POLICY_LOOKS[place % len(POLICY_LOOKS)] for place in range(len(found))]
    for score, look, layer in zip(found, looks, _layers(figure, axes, found), strict=True):
        _point(axes, score, look, layer)
    points = [
        Labelled(score.policy, score.billed, score.hits / score.n, score.low, score.high, look)
        for score, look in zip(found, looks, strict=True)
    ]
    place_labels(figure, axes, points)
    told = [
        f"{score.policy}: {score.billed:,} tokens billed, {score.hits} of {score.n} right "
        f"(95 % interval {100 * score.low:.0f} to {percent(score.high)})"
        for score in found
    ]
    whose = measured_by(table)
    return Picture(figure, f"{title}. {whose[:1].upper()}{whose[1:]}. {'; '.join(told)}.")


def _layers(figure: Figure, axes: Axes, found: Sequence[_Score]) -> list[int]:
    """Return in which layer each policy is drawn, 0 on top: those that would cover each other are in different ones.

    Of two, that with the longer interval is beneath; past `_LAYERS` policies at one place, some share the lowest.
    """
    figure.draw_without_rendering()
    right = [float(axes.transData.transform((score.billed, 0))[0]) * 72 / figure.dpi for score in found]
    layers: dict[int, int] = {}
    for place in sorted(range(len(found)), key=lambda one: found[one].high - found[one].low):
        here = found[place]
        taken = {
            layer
            for other, layer in layers.items()
            if abs(right[place] - right[other]) < _APART
            and max(here.low, found[other].low) <= min(here.high, found[other].high)
        }
        layers[place] = min(max(taken, default=-1) + 1, _LAYERS - 1)
    return [layers[place] for place in range(len(found))]


def _point(axes: Axes, score: _Score, look: Series, layer: int) -> None:
    """Draw a policy's share with its whisker: wider and paler in a lower layer, in full colour at its ends."""
    share = score.hits / score.n
    reach = [[max(0.0, share - score.low)], [max(0.0, score.high - share)]]
    style: dict[str, Any] = {"label": score.policy, "color": look.colour, "linestyle": "", "marker": look.marker}
    style |= {"markersize": 9 + 3 * layer, "markeredgecolor": PAPER, "markeredgewidth": 1}
    style |= {"elinewidth": 1.4 + 2.6 * layer, "capsize": 4 + 2 * layer, "capthick": 1.4}
    drawn = axes.errorbar([score.billed], [share], reach, zorder=3 + (_LAYERS - layer) / 10, **style)
    drawn.lines[2][0].set_alpha(0.5 if layer else 1)


def _scores(table: DataFrame) -> list[_Score]:
    from ctxcourse.stats import StatsError, wilson

    made_by = "probe_table.cells, merged with that of bills,"
    checked(table, ("billed_tokens", "n", "correct"), "the table", made_by, "policy or fact")
    if "policy" not in table.columns or table["policy"].isna().any():
        raise PlotError("the table: every row needs the name of its policy, in the column 'policy'")
    scores = []
    for name, rows in table.groupby("policy", sort=False):
        billed = sorted({int(value) for value in rows["billed_tokens"]})
        if len(billed) > 1:
            shown = listed([f"{value:,}" for value in billed])
            raise PlotError(
                f"the table: policy {name!r} has several bills ({shown}): a run has one, in each of its rows"
            )
        if billed[0] < 0:
            raise PlotError(f"the table: policy {name!r} has a bill of {billed[0]:,} tokens: none is below zero")
        n, hits = int(rows["n"].sum()), int(rows["correct"].sum())
        try:
            low, high = wilson(hits, n)
        except StatsError as error:
            raise PlotError(f"the table: policy {name!r}: {error}") from None
        scores.append(_Score(str(name), billed[0], n, hits, low, high))
    return scores
