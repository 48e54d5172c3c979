"""Needle pictures: what is drawn is what was counted, published figures stand apart, no word is over another."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.needle import DEPTHS, KINDS, SYMBOLS, published, sweeps, trials
from ctxcourse.plots.cells import cells
from ctxcourse.plots.curves import heat_map, interference_plot, length_plot, position_plot, rows_plot
from ctxcourse.plots.pictures import OUTCOME_COLOURS, PlotError
from ctxcourse.stats import wilson

HIT, OTHER, NEITHER = KINDS
MODEL = "A model of its own, 4-bit"


def table(calls, kind_of, model=MODEL):
    """A table as `trials.run` returns it, with answers of the kinds that a rule gives."""
    from pandas import DataFrame

    rows = []
    for call in calls:
        others = [value for value in call.values if value not in (None, call.right)]
        kind = kind_of(call)
        answer = call.right if kind == HIT else others[0] if kind == OTHER and others else "0000"
        found = call.score(answer)
        asked = [call.experiment, call.trial, call.seed, call.records, call.share, call.depth, call.row, call.needle]
        told = [call.right, answer, found.kind, found.found, found.found_row]
        rows.append([*asked, *told, 65 + round(31.5 * call.records), 5, "stop"])
    frame = DataFrame(rows, columns=list(trials.COLUMNS)).astype(trials.COLUMNS)
    if model:
        frame.attrs["provenance"] = {"model": model}
    return frame


def in_turn(call):
    """Some of each kind everywhere, and not the same number of each."""
    return KINDS[(call.trial * call.trial + call.row + call.records) % 5 % 3]


def always_right(call):
    return HIT


POSITION = table(sweeps.position(trials=8), in_turn)
EVERY_ROW = table(sweeps.rows(trials=4), in_turn)
LENGTH = table(sweeps.length(trials=8), in_turn)
VOLUME = table(sweeps.volume(trials=8), always_right)
INTERFERENCE = table(sweeps.interference(trials=8), in_turn)
GRID = table(sweeps.grid(trials=6), in_turn)


def shares(frame, by):
    """Hits and trials of every cell, counted without the package."""
    counts = {}
    for value, kind in zip(frame[by], frame["kind"], strict=True):
        hits, n = counts.get(float(value), (0, 0))
        counts[float(value)] = hits + (kind == HIT), n + 1
    return dict(sorted(counts.items()))


def series(axes):
    """What is drawn with whiskers, by label: x, y, and the ends of the whiskers, if there are any."""
    found = {}
    for container in axes.containers:
        if type(container).__name__ != "ErrorbarContainer":
            continue
        line, _, bars = container.lines
        ends = [(low[1], high[1]) for low, high in bars[0].get_segments()] if bars else None
        found[container.get_label()] = (list(line.get_xdata()), list(line.get_ydata()), ends)
    return found


def line(axes, label):
    return next(container.lines[0] for container in axes.containers if container.get_label() == label)


def stacks(axes):
    """Heights of the bars of each kind, bottom and top, from left to right."""
    bars = [container for container in axes.containers if type(container).__name__ == "BarContainer"]
    return [[(bar.get_y(), bar.get_y() + bar.get_height()) for bar in container] for container in bars]


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels() if label.get_text()]


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def measured(model=MODEL):
    return f"measured: {model}"


def assert_counted(drawn, frame, by):
    x, y, ends = drawn
    expected = shares(frame, by)
    assert x == pytest.approx(list(expected))
    assert y == pytest.approx([hits / n for hits, n in expected.values()])
    assert ends == [pytest.approx(wilson(hits, n)) for hits, n in expected.values()]


# Accuracy by position


def test_each_depth_is_drawn_with_its_share_and_its_interval():
    upper, _ = position_plot(POSITION).figure.axes
    assert_counted(series(upper)[measured()], POSITION, "depth")


kinds_of_calls = st.lists(st.sampled_from(KINDS), min_size=27, max_size=27)


@settings(max_examples=10, deadline=None)
@given(kinds_of_calls)
def test_bars_of_kinds_add_up_to_all_answers_and_counts_stand_below_them(kinds):
    frame = table(sweeps.position(trials=3), always_right)
    frame["kind"] = kinds
    picture = position_plot(frame)
    axes = picture.figure.axes[1]
    counts = [[kinds[place::9].count(kind) for place in range(9)] for kind in KINDS]
    floor = [0.0] * 9
    for drawn, expected in zip(stacks(axes), counts, strict=True):
        assert [low for low, _ in drawn] == pytest.approx(floor)
        assert [high - low for low, high in drawn] == pytest.approx([count / 3 for count in expected])
        floor = [high for _, high in drawn]
    assert floor == pytest.approx([1.0] * 9)
    texts = [text.get_text() for text in axes.texts]
    assert texts == [text for kind, row in zip(KINDS, counts, strict=True) for text in (SYMBOLS[kind], *map(str, row))]
    for place, (hits, other, neither) in enumerate(zip(*counts, strict=True)):
        depth = ("0", "1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8", "1")[place]
        assert f"depth {depth} (place {3 * place + 1}): {hits} of 3 hits" in picture.alt
        assert f"{other} other record, {neither} neither" in picture.alt


def test_depths_are_named_with_the_places_they_are():
    lower = position_plot(POSITION).figure.axes[1]
    assert labels(lower.xaxis) == [
        "0\n1",
        "1/8\n4",
        "1/4\n7",
        "3/8\n10",
        "1/2\n13",
        "5/8\n16",
        "3/4\n19",
        "7/8\n22",
        "1\n25",
    ]


def test_the_two_published_figures_stand_where_they_were_published_and_nowhere_else():
    upper = position_plot(POSITION).figure.axes[0]
    drawn = series(upper)
    assert list(drawn) == [
        measured(),
        "published: Qwen2.5-0.5B-Instruct, first position (27 of 32)",
        "published: Qwen2.5-0.5B-Instruct, the other eight depths together (51 of 256)",
    ]
    assert legend(upper) == list(drawn)
    _, first, others = drawn.values()
    assert first == ([0.0], [27 / 32], [pytest.approx(wilson(27, 32))])
    assert others == ([DEPTHS[1], DEPTHS[-1]], [51 / 256] * 2, None)


def test_published_figures_differ_from_measured_ones_in_more_than_colour():
    upper = position_plot(POSITION).figure.axes[0]
    ours, first, others = (line(upper, label) for label in series(upper))
    assert ours.get_markerfacecolor() == ours.get_color() != first.get_markerfacecolor()
    assert ours.get_marker() != first.get_marker()
    assert ours.get_linestyle() == "-" != others.get_linestyle()


@pytest.mark.parametrize(
    "plot", [lambda: position_plot(POSITION, published=False), lambda: length_plot(LENGTH, published=False)]
)
def test_published_figures_can_be_left_out(plot):
    picture = plot()
    assert list(series(picture.figure.axes[0])) == [measured()]
    assert "published" not in picture.alt


@pytest.mark.parametrize(
    "plot",
    [
        lambda: position_plot(table(sweeps.position(records=8, trials=2), in_turn)),
        lambda: length_plot(table(sweeps.volume(lengths=(1, 3, 8), trials=2), in_turn)),
    ],
    ids=["another number of records", "filler"],
)
def test_published_figures_do_not_stand_beside_another_design(plot):
    assert "published" not in plot().alt


def test_published_figures_are_in_the_alt_text():
    assert "first position 27 of 32" in position_plot(POSITION).alt
    assert "(51 hits)" in position_plot(POSITION).alt
    for known in published.LENGTHS:
        assert (known.words in length_plot(LENGTH).alt) == (known.share is not None)


def test_a_table_that_names_no_model_is_not_given_one():
    picture = position_plot(table(sweeps.position(trials=1), always_right, model=None))
    assert legend(picture.figure.axes[0])[0] == "measured (the table does not say by which model)"
    assert picture.figure.axes[0].get_legend() is not None


def test_every_row_of_a_register_is_a_depth_of_its_own():
    picture = position_plot(EVERY_ROW)
    upper, lower = picture.figure.axes
    assert_counted(series(upper)[measured()], EVERY_ROW, "depth")
    assert labels(lower.xaxis) == [str(place) for place in range(1, 26)]
    assert "25 cells with 100 answers" in picture.alt
    lowest = min(hits / n for hits, n in shares(EVERY_ROW, "depth").values())
    assert f": {round(4 * lowest)} of 4 hits" in picture.alt


@pytest.mark.parametrize("kind", KINDS)
def test_one_trial_at_one_depth_is_enough(kind):
    picture = position_plot(table(sweeps.position(trials=1, depths=(0.5,)), lambda call: kind))
    upper, lower = picture.figure.axes
    share = float(kind == HIT)
    assert series(upper)[measured()] == ([0.5], [share], [pytest.approx(wilson(int(share), 1))])
    assert [high - low for (low, high), *_ in stacks(lower)] == [float(kind == each) for each in KINDS]
    assert labels(lower.xaxis) == ["1/2\n13"]
    assert "1 trial at each depth" in picture.alt


def test_numbers_of_trials_may_differ_between_depths():
    frame = POSITION[(POSITION["depth"] == 0) | (POSITION["trial"] < 3)]
    assert "3 to 8 trials at each depth" in position_plot(frame).alt


@pytest.mark.parametrize("plot", [position_plot, rows_plot])
def test_the_order_of_rows_does_not_matter(plot):
    assert plot(POSITION.sample(frac=1, random_state=3)).alt == plot(POSITION).alt


# Accuracy by length


def test_each_length_is_drawn_on_a_log_scale_with_its_tokens():
    upper, lower = length_plot(LENGTH).figure.axes
    assert_counted(series(upper)[measured()], LENGTH, "records")
    assert upper.get_xscale() == lower.get_xscale() == "log"
    tokens = ["97", "159", "317", "853", "1,640", "2,900", "4,475"]
    assert labels(lower.xaxis) == [f"{n}\n{size}" for n, size in zip(sweeps.LENGTHS, tokens, strict=True)]


def test_the_three_published_lengths_are_drawn_and_no_others():
    drawn = series(length_plot(LENGTH).figure.axes[0])
    assert drawn["published: Qwen2.5-0.5B-Instruct"] == ([1, 3, 8], [0.90, 0.55, 0.15], None)
    assert len(drawn) == 2


def test_bars_of_a_log_scale_stand_on_their_lengths_and_apart():
    lower = length_plot(LENGTH).figure.axes[1]
    hits = next(container for container in lower.containers if type(container).__name__ == "BarContainer")
    edges = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in hits]
    assert [(low * high) ** 0.5 for low, high in edges] == pytest.approx(sweeps.LENGTHS)
    assert all(before[1] < after[0] for before, after in pairwise(edges))
    left, right = lower.get_xlim()
    assert left < edges[0][0]
    assert edges[-1][1] < right


def test_lengths_need_not_be_those_of_the_lesson():
    frame = table(sweeps.length(lengths=(2, 5, 120, 140), trials=3), in_turn)
    upper, lower = length_plot(frame).figure.axes
    assert series(upper)[measured()][0] == [2, 5, 120, 140]
    assert "8\n315" in labels(lower.xaxis)  # published, with its own tokens
    assert labels(length_plot(frame, published=False).figure.axes[1].xaxis)[:2] == ["2\n128", "5\n223"]


def test_a_list_of_one_line_has_any_depth():
    frame = LENGTH.copy()
    frame.loc[frame["records"] == 1, "depth"] = 0.0
    assert series(length_plot(frame).figure.axes[0])[measured()][0] == list(sweeps.LENGTHS)


def test_the_title_says_what_the_needle_stands_among():
    quarter = INTERFERENCE[INTERFERENCE["share"] == 0.25]
    for frame, words in (
        (LENGTH, "among lookalikes,"),
        (VOLUME, "among filler,"),
        (quarter, "lookalikes (1/4) and filler,"),
    ):
        picture = length_plot(frame)
        assert words in picture.figure.get_suptitle()
        assert words in picture.alt


# Lookalikes and filler


def test_lookalikes_and_filler_are_drawn_at_the_same_lengths_and_shares_beside_them():
    left, right = interference_plot(LENGTH, VOLUME, INTERFERENCE).figure.axes
    drawn = series(left)
    assert list(drawn) == ["all other lines are lookalikes", "all other lines are filler"]
    assert_counted(drawn["all other lines are lookalikes"], LENGTH, "records")
    assert_counted(drawn["all other lines are filler"], VOLUME, "records")
    assert_counted(series(right)["always 25 lines"], INTERFERENCE, "share")
    assert labels(right.xaxis) == ["0", "1/8", "1/4", "1/2", "3/4", "1"]
    assert labels(left.xaxis)[-3:] == ["50\n1,640", "90", "140\n4,475"]  # no room for the tokens of 90
    assert "other 24 lines" in right.get_xlabel()


def test_the_two_series_differ_in_marker_line_and_place():
    axes = interference_plot(LENGTH, VOLUME).figure.axes[0]
    one, other = (line(axes, label) for label in series(axes))
    assert one.get_marker() != other.get_marker()
    assert one.get_linestyle() != other.get_linestyle()
    points = [each.get_transform().transform([(25, 0.5)])[0] for each in (one, other)]
    assert 3 < (points[1][0] - points[0][0]) * 72 / axes.figure.dpi < 10  # typographic points
    assert points[1][1] == points[0][1]


def test_without_the_third_experiment_there_is_one_panel():
    assert len(interference_plot(LENGTH, VOLUME).figure.axes) == 1


def test_interference_is_told_in_words():
    alt = interference_plot(LENGTH, VOLUME, INTERFERENCE).alt
    hits, n = shares(LENGTH, "records")[90]
    assert f"90 lines: {hits} of {n} hits" in alt
    assert "Among filler: 1 line: 8 of 8 hits" in alt
    hits, n = shares(INTERFERENCE, "share")[0.75]
    assert f"3/4 lookalikes: {hits} of {n} hits" in alt
    assert alt.count(MODEL) == 1


def test_tables_of_two_models_are_labelled_each_with_its_own():
    other = table(sweeps.volume(trials=2), always_right, model="Another one")
    picture = interference_plot(LENGTH, other, INTERFERENCE)
    _, *lines = picture.figure.get_suptitle().splitlines()
    assert lines == [f"lookalikes, {measured()}", "filler, measured: Another one", f"by share, {measured()}"]
    picture.figure.draw_without_rendering()
    first, second = (axes.get_legend().get_window_extent() for axes in picture.figure.axes)
    assert first.x1 < second.x0 < second.x1 < picture.figure.bbox.x1
    assert "Among filler, measured: Another one: 1 line: 2 of 2 hits" in picture.alt


# Position by length


def test_the_map_has_every_share_at_its_depth_and_length():
    picture = heat_map(GRID)
    axes = picture.figure.axes[0]
    drawn = axes.images[0].get_array()
    assert drawn.shape == (5, 5)
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    for row, depth in enumerate(sweeps.GRID_DEPTHS):
        for column, length in enumerate(sweeps.GRID_LENGTHS):
            kinds = list(GRID[(GRID["depth"] == depth) & (GRID["records"] == length)]["kind"])
            assert drawn[row, column] == pytest.approx(kinds.count(HIT) / 6)
            assert texts[column, row].endswith(f"%\n{kinds.count(HIT)} of 6")
    assert labels(axes.yaxis) == ["0", "1/4", "1/2", "3/4", "1"]
    assert axes.yaxis_inverted()
    assert labels(axes.xaxis) == ["3\n159", "8\n317", "25\n853", "50\n1,640", "90\n2,900"]


def test_a_combination_that_was_not_run_is_hatched_and_has_no_figure():
    whole, holed = GRID, GRID[(GRID["records"] != 25) | (GRID["depth"] != 0.5)]
    axes = heat_map(holed).figure.axes[0]
    assert [patch.get_xy() for patch in axes.patches if patch.get_hatch()] == [(1.5, 1.5)]
    assert axes.images[0].get_array().mask.sum() == 1
    assert len(axes.texts) == 24
    assert "hatched: not run" in heat_map(holed).alt
    assert "hatched" not in heat_map(whole).alt


def test_the_map_is_told_cell_by_cell_or_length_by_length_where_cells_are_many():
    told = heat_map(GRID).alt
    for length, depth in ((3, 0), (90, 1)):
        kinds = list(GRID[(GRID["depth"] == depth) & (GRID["records"] == length)]["kind"])
        assert f"depth {depth} {kinds.count(HIT)} of 6" in told.split(f"{length} lines: ")[1]
    many = table(sweeps.grid(lengths=range(2, 30, 2), depths=[k / 8 for k in range(9)], trials=1), always_right)
    assert "; 4 lines: 9 of 9 over 9 depths;" in heat_map(many).alt


def contrast(first, second):
    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def test_figures_are_legible_on_every_shade():
    from matplotlib.colors import to_rgb

    twenty = table(sweeps.grid(lengths=range(21, 37), depths=(0, 1), trials=20), always_right)
    twenty["kind"] = [
        HIT if t < r - 18 + 9 * d else OTHER
        for t, r, d in zip(*(twenty[c] for c in ("trial", "records", "depth")), strict=True)
    ]
    axes = heat_map(twenty).figure.axes[0]
    image = axes.images[0]
    assert len({text.get_color() for text in axes.texts}) == 2
    for text in axes.texts:
        column, row = text.get_position()
        assert contrast(to_rgb(text.get_color()), image.to_rgba(image.get_array())[row, column]) >= 4.5  # WCAG 2.1, AA


# Every row of every register


def test_every_row_has_one_mark_of_its_kind():
    axes = rows_plot(EVERY_ROW).figure.axes[0]
    drawn = set()
    for kind, container in zip(KINDS, axes.containers, strict=True):
        for bar in container:
            assert bar.get_facecolor()[:3] == pytest.approx(
                [int(OUTCOME_COLOURS[kind][i : i + 2], 16) / 255 for i in (1, 3, 5)]
            )
            drawn.add((round(bar.get_y() + bar.get_height() / 2), round(bar.get_x() + bar.get_width() / 2), kind))
    expected = set(zip(EVERY_ROW["trial"], EVERY_ROW["row"], EVERY_ROW["kind"], strict=True))
    assert drawn == expected
    symbols = {(text.get_position()[1], text.get_position()[0], text.get_text()) for text in axes.texts[:100]}
    assert symbols == {(trial, row, SYMBOLS[kind]) for trial, row, kind in expected}
    assert legend(axes) == ["✓ hit", "⇄ other record", "✗ neither"]


def test_trials_are_counted_from_zero_rows_from_one_and_their_hits_stand_beside_them():
    picture = rows_plot(EVERY_ROW)
    axes = picture.figure.axes[0]
    assert labels(axes.yaxis) == ["0", "1", "2", "3"]
    assert labels(axes.xaxis)[0] == "1"
    assert labels(axes.xaxis)[-1] == "25"
    for trial, text in enumerate(axes.texts[100:]):
        asked = EVERY_ROW[EVERY_ROW["trial"] == trial]
        hits = int((asked["kind"] == HIT).sum())
        assert text.get_text().strip() == f"{hits} of 25"
        missed = ", ".join(str(row + 1) for row in asked[asked["kind"] == NEITHER]["row"])
        assert f"trial {trial}: {hits} of 25 hits" in picture.alt
        assert f"neither at {missed}" in picture.alt


def test_rows_that_were_not_asked_stay_empty():
    axes = rows_plot(POSITION).figure.axes[0]
    places = {round(bar.get_x() + bar.get_width() / 2) for container in axes.containers for bar in container}
    assert places == {0, 3, 6, 9, 12, 15, 18, 21, 24}
    assert axes.get_xlim() == (-0.6, 24.6)


def test_in_a_long_register_kinds_differ_in_shape_and_the_legend_says_how():
    axes = rows_plot(table(sweeps.rows(records=140, trials=2), in_turn)).figure.axes[0]
    extents = [
        {(round(bar.get_y() % 1, 2), round(bar.get_height(), 2)) for bar in container} for container in axes.containers
    ]
    assert [len(extent) for extent in extents] == [1, 1, 1]
    assert len(set.union(*extents)) == 3
    assert legend(axes) == ["✓ hit (short)", "⇄ other record (tall)", "✗ neither (upper half)"]
    assert SYMBOLS[HIT] not in {text.get_text() for text in axes.texts}


def test_a_register_of_one_record_is_one_mark():
    picture = rows_plot(table(sweeps.rows(records=1, trials=1), always_right))
    assert "1 trial with 1 record" in picture.alt
    assert "1 answer: 1 hit, 0 other record, 0 neither" in picture.alt


# What cannot be drawn

PLOTS = {
    "position": (position_plot, POSITION),
    "length": (length_plot, LENGTH),
    "map": (heat_map, GRID),
    "rows": (rows_plot, EVERY_ROW),
    "among lookalikes": (lambda frame: interference_plot(frame, VOLUME), LENGTH),
    "among filler": (lambda frame: interference_plot(LENGTH, frame), VOLUME),
    "shares": (lambda frame: interference_plot(LENGTH, VOLUME, frame), INTERFERENCE),
}


@pytest.mark.parametrize(("plot", "frame"), PLOTS.values(), ids=PLOTS)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda frame: frame.iloc[:0], "has no rows"),
        (lambda frame: frame.drop(columns=["kind"]), "has no column kind; it has experiment, trial"),
        (lambda frame: frame.drop(columns=["share", "row"]), "has no column .*row"),
        (lambda frame: frame.drop(columns=list(frame.columns)), "it has none at all"),
        (
            lambda frame: frame.assign(kind="miss"),
            "'kind' holds 'miss', which is not one of hit, other record, neither",
        ),
        (lambda frame: frame.assign(kind=frame["kind"].where(frame["trial"] > 0)), "'kind' is empty in [1-9]"),
        (lambda frame: frame.assign(records=0), "'records' holds '0', which is not a number from 1 up"),
        (lambda frame: frame.assign(share=1.5), "'share' holds '1.5', which is not a number from 0 to 1"),
        (lambda frame: frame.assign(row="first"), "'row' holds 'first', which is not a number"),
        (lambda frame: frame.to_dict("records"), "is a list: give a table with one row a call"),
    ],
    ids=["empty", "no kind", "no share", "no columns", "a kind", "no value", "records", "share", "text", "no table"],
)
def test_a_table_that_cannot_be_drawn_is_refused_by_name(plot, frame, spoil, message):
    with pytest.raises(PlotError, match=message) as caught:
        plot(spoil(frame))
    assert isinstance(caught.value, CourseError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: position_plot(GRID),
            r"mixes 5 values of 'records' \(3, 8, 25, 50, 90\): keep one of them, or use heat_map",
        ),
        (lambda: position_plot(INTERFERENCE), "mixes 6 values of 'share'.* or use interference_plot"),
        (lambda: length_plot(GRID), "mixes 5 values of 'depth'.* or use heat_map"),
        (lambda: length_plot(INTERFERENCE), "mixes 6 values of 'share'"),
        (lambda: heat_map(INTERFERENCE), "mixes 6 values of 'share'"),
        (lambda: rows_plot(LENGTH), "mixes 7 values of 'records'"),
        (lambda: position_plot(LENGTH), "mixes 7 values of 'records'"),
        (lambda: interference_plot(VOLUME, LENGTH), "length: the share of lookalikes is 0 and has to be 1"),
        (lambda: interference_plot(LENGTH, LENGTH), "volume: the share of lookalikes is 1 and has to be 0"),
        (lambda: interference_plot(LENGTH, VOLUME, GRID), "interference mixes 5 values of 'records'"),
        (lambda: interference_plot(GRID, VOLUME), "length mixes 5 values of 'depth'"),
        (
            lambda: rows_plot(table(sweeps.position(records=3, trials=1), always_right)),
            "trial 0 has row 0 more than once",
        ),
    ],
)
def test_what_would_be_mixed_up_in_one_cell_is_refused(call, message):
    with pytest.raises(PlotError, match=message):
        call()


# What all of them share

PICTURES = {
    "position": lambda: position_plot(POSITION),
    "one depth": lambda: position_plot(table(sweeps.position(trials=1, depths=(0.3,)), in_turn)),
    "every row": lambda: position_plot(EVERY_ROW),
    "every row of 140": lambda: position_plot(table(sweeps.rows(records=140, trials=2), in_turn)),
    "hundreds of trials": lambda: position_plot(table(sweeps.position(records=9, trials=300, depths=DEPTHS), in_turn)),
    "length": lambda: length_plot(LENGTH),
    "one length": lambda: length_plot(table(sweeps.length(lengths=(25,), trials=2), in_turn), published=False),
    "crowded lengths": lambda: length_plot(table(sweeps.length(lengths=(2, 3, 100, 120, 130, 140), trials=2), in_turn)),
    "interference": lambda: interference_plot(LENGTH, VOLUME, INTERFERENCE),
    "two curves": lambda: interference_plot(LENGTH, VOLUME),
    "map": lambda: heat_map(GRID),
    "map of one": lambda: heat_map(table(sweeps.grid(lengths=(25,), depths=(0.5,), trials=1), in_turn)),
    "large map": lambda: heat_map(
        table(sweeps.grid(lengths=range(2, 140, 6), depths=[k / 24 for k in range(25)], trials=1), in_turn)
    ),
    "rows": lambda: rows_plot(EVERY_ROW),
    "rows of 140": lambda: rows_plot(table(sweeps.rows(records=140, trials=2), in_turn)),
    "rows of 45": lambda: rows_plot(table(sweeps.rows(records=45, trials=2), in_turn)),
    "one record": lambda: rows_plot(table(sweeps.rows(records=1, trials=1), in_turn)),
}


@pytest.mark.filterwarnings("error::UserWarning")  # a layout that does not fit, a sign that the font has not
@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_words_are_neither_clipped_nor_over_each_other_nor_tiny(draw):
    figure = draw().figure
    renderer = figure.canvas.get_renderer()
    figure.draw_without_rendering()
    words = [figure._suptitle]
    for axes in figure.axes:
        words += [
            axes.xaxis.label,
            axes.yaxis.label,
            *axes.texts,
            *(axes.get_legend().get_texts() if axes.get_legend() else []),
        ]
        for axis in (axes.xaxis, axes.yaxis):
            words += [
                label
                for label in axis.get_ticklabels()
                if label.get_visible() and axis.get_tick_params()["labelleft" if axis is axes.yaxis else "labelbottom"]
            ]
    words = [text for text in words if text.get_text().strip()]
    assert min(text.get_fontsize() for text in words) >= 9
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in words]
    page = figure.bbox
    outside = [
        text for text, box in boxes if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    assert outside == []
    assert [(a[0], b[0]) for a, b in combinations(boxes, 2) if a[1].overlaps(b[1])] == []


@pytest.mark.parametrize("draw", [PICTURES[name] for name in ("position", "interference", "map", "rows")])
def test_pictures_bring_their_own_paper_for_dark_notebooks(draw):
    from PIL import Image

    image = Image.open(io.BytesIO(draw().png())).convert("RGBA")
    assert image.getextrema()[3] == (255, 255)
    assert {image.getpixel((x, y)) for x in (0, image.width - 1) for y in (0, image.height - 1)} == {(255,) * 4}


@pytest.mark.parametrize("name", ["position", "length", "map", "interference", "rows"])
def test_the_model_is_named_in_the_picture_and_in_its_alt_text(name):
    picture = PICTURES[name]()
    axes = picture.figure.axes[0]
    seen = [picture.figure.get_suptitle(), *(legend(axes) if axes.get_legend() else [])]
    assert any(MODEL in words for words in seen)
    assert MODEL in picture.alt


def test_kinds_differ_in_hatch_and_symbol_as_well_as_in_colour():
    lower = position_plot(POSITION).figure.axes[1]
    hatches = [container[0].get_hatch() for container in lower.containers if type(container).__name__ == "BarContainer"]
    assert len({hatch or "" for hatch in hatches}) == 3
    assert [handle.get_hatch() or "" for handle in lower.get_legend().get_patches()] == [
        hatch or "" for hatch in hatches
    ]


def test_drawing_leaves_the_table_as_it_was():
    before = POSITION.copy()
    position_plot(POSITION)
    rows_plot(POSITION)
    assert POSITION.equals(before)
    assert POSITION.attrs == {"provenance": {"model": MODEL}}


def test_cells_are_those_of_the_table_of_trials():
    hits = [cell.hits for cell in cells(POSITION, "depth")]
    assert hits == [hits for hits, _ in shares(POSITION, "depth").values()]


def test_importing_is_cheap_and_drawing_leaves_no_figure_open():
    code = (
        "import sys; from ctxcourse.plots import curves as needle_plots\n"
        "assert not {'matplotlib', 'pandas', 'scipy'} & set(sys.modules)\n"
        "from pandas import DataFrame\n"
        "call = {'records': 3, 'share': 1.0, 'depth': 0.5, 'row': 1, 'prompt_tokens': 159, 'kind': 'hit'}\n"
        "needle_plots.position_plot(DataFrame([call])).png()\n"
        "import matplotlib.pyplot as plt; assert plt.get_fignums() == []"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
