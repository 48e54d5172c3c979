"""Pictures of the experiments: what is drawn is what was counted, and a table that cannot be drawn says why."""

from __future__ import annotations

import io
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.experiments import compress, order, tools
from ctxcourse.needle import KINDS
from ctxcourse.plots.experiments import OUTCOME_LOOKS, PROSE_LOOKS, compress_plot, order_plot, tools_plot
from ctxcourse.plots.pictures import PlotError
from ctxcourse.stats import wilson

MODEL = "A model of its own, 4-bit"
ABOUT = {"model": MODEL}


def order_table(kind_of=lambda call: KINDS[(call.trial + call.row) % 5 % 3], trials=6):
    rows = []
    for call in order.calls(trials=trials, records=12):
        asked = ["order", call.trial, call.seed, call.arrangement, len(call.lines), call.row, call.needle, call.right]
        rows.append([*asked, "2201", kind_of(call), None, None, 65 + 31 * len(call.lines), 5, "stop"])
    return order.TABLE.frame(rows, ABOUT)


def compress_table(hits, strategies=compress.STRATEGIES):
    """A table with one document a place of ``hits``; each strategy keeps a document more of them."""
    rows = []
    for number, hit in enumerate(hits):
        for place, strategy in enumerate(strategies):
            before, kind = 400 + number, "hit" if hit and number % 4 >= place else "miss"
            after = before if strategy == "full" else before // 4 - place
            spent = 700 if strategy == "summary" else 0
            sizes = [before, after, after / before, spent, hit]
            rows.append(["compress", f"Document {number}", strategy, *sizes, "x", kind, after + 60, 5, "text"])
    return compress.TABLE.frame(rows, ABOUT)


def tools_table(outcome_of, sizes=(5, 50), selections=tools.SELECTIONS, tasks=8):
    rows = []
    for task in range(tasks):
        for size in sizes:
            for prose in tools.PROSE:
                for selection in selections:
                    cost = size * (100 if prose == "trimmed" else 150)
                    wanted = ["search_logs", True, None, "", outcome_of(task, size, prose, selection)]
                    rows.append(["tools", task, size, prose, selection, *wanted, cost + 90, cost, 20])
    return tools.TABLE.frame(rows, ABOUT)


def in_turn(task, size, prose, selection):
    return tools.OUTCOMES[(task + size + len(prose) + len(selection)) % 5]


def series(axes):
    """What is drawn with whiskers, by label: x, y, and the ends of the whiskers."""
    found = {}
    for container in axes.containers:
        if type(container).__name__ == "ErrorbarContainer" and container.has_yerr:
            line, _, bars = container.lines
            ends = [(low[1], high[1]) for low, high in bars[0].get_segments()]
            found[container.get_label()] = (list(line.get_xdata()), list(line.get_ydata()), ends)
    return found


def rings(axes):
    """Where the rings are, without the one in the legend."""
    lines = [c.lines[0] for c in axes.containers if type(c).__name__ == "ErrorbarContainer" and not c.has_yerr]
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in lines if len(line.get_xdata())]


def dots(axes):
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.lines if line.get_markersize() == 3]


def heights(axes):
    """The bars, as a list of (left edge, bottom, height)."""
    return [(bar.get_x(), bar.get_y(), bar.get_height()) for bar in axes.patches]


def words(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


# The order of documents


def test_each_arrangement_is_drawn_with_its_share_and_its_interval():
    frame = order_table()
    picture = order_plot(frame)
    upper, lower = picture.figure.axes
    x, y, ends = series(upper)[f"measured: {MODEL}"]
    assert x == list(range(len(order.ARRANGEMENTS)))
    for place, arrangement in enumerate(order.ARRANGEMENTS):
        kinds = list(frame.loc[frame["arrangement"] == arrangement, "kind"])
        hits = kinds.count("hit")
        assert y[place] == pytest.approx(hits / 6)
        assert ends[place] == pytest.approx(wilson(hits, 6))
        tokens = 65 + 31 * (4 if arrangement == "top 4" else 12)
        assert words(lower)[place] == f"{arrangement}\n{tokens}"
        assert f"{arrangement}: {hits} of 6 hits" in picture.alt
        assert f"{kinds.count('other record')} other record, {kinds.count('neither')} neither" in picture.alt


def test_arrangements_are_not_joined_by_a_line():
    upper = order_plot(order_table()).figure.axes[0]
    assert all(container.lines[0].get_linestyle() == "None" for container in upper.containers)


def test_one_arrangement_alone_can_be_drawn():
    frame = order_table()
    picture = order_plot(frame[frame["arrangement"] == "top 4"])
    assert "the best documents" in picture.alt


def test_lists_of_several_lengths_are_not_mixed():
    import pandas as pd

    with pytest.raises(PlotError, match="mixes lists of 12, 25 lines"):
        order_plot(pd.concat([order_table(), order_table().assign(records=25)]))


# Compression against retention


@settings(max_examples=10, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_each_strategy_stands_where_its_ratio_and_its_hits_are(hits):
    frame = compress_table(hits)
    picture = compress_plot(frame)
    (axes,) = picture.figure.axes
    drawn = series(axes)
    assert set(drawn) == {f"{name}: found" for name in ("truncation", "key sentences", "summary")}
    for name in ("truncation", "key sentences", "summary"):
        rows = frame[frame["strategy"] == name]
        found = int((rows["kind"] == "hit").sum())
        x, y, ends = drawn[f"{name}: found"]
        assert (x, y) == ([pytest.approx(rows["ratio"].mean())], [pytest.approx(found / len(hits))])
        assert ends == [pytest.approx(wilson(found, len(hits)))]
        assert (pytest.approx(x[0]), pytest.approx(sum(hits) / len(hits))) in rings(axes)
        assert f"{found} of {len(hits)} hits" in picture.alt


def test_documents_left_whole_are_a_line_and_no_point():
    (axes,) = compress_plot(compress_table([True, False, True, True])).figure.axes
    line = next(line for line in axes.lines if line.get_label() == "documents left whole: found")
    assert list(line.get_ydata()) == [0.75, 0.75]
    assert axes.get_xlim()[1] < 0.5  # the room is for what was shortened


def test_every_document_has_a_point_above_where_found_and_below_where_not():
    frame = compress_table([True, True, False, True, False], strategies=("truncation", "summary"))
    (axes,) = compress_plot(frame).figure.axes
    points = dots(axes)
    assert len(points) == len(frame)
    assert sum(height > 1 for _, height in points) == int((frame["kind"] == "hit").sum())
    assert all(height > 1 or height < 0 for _, height in points)
    assert sorted(x for x, _ in points) == pytest.approx(sorted(frame["ratio"]))
    low, high = axes.get_ylim()
    assert all(low < height < high for _, height in points)


def test_a_strategy_of_ones_own_and_whole_documents_alone_are_drawn():
    frame = compress_table([True, False], strategies=("full",))
    assert series(compress_plot(frame).figure.axes[0]).keys() == {"full: found"}
    assert series(compress_plot(frame.assign(strategy="by hand")).figure.axes[0]).keys() == {"by hand: found"}


# The number of tools


def test_each_catalogue_is_drawn_with_its_right_calls_in_its_panel():
    frame = tools_table(in_turn)
    picture = tools_plot(frame)
    for place, selection in enumerate(tools.SELECTIONS):
        drawn = series(picture.figure.axes[place])
        for prose in tools.PROSE:
            x, y, ends = drawn[f"{prose} prose"]
            for at, size in enumerate((5, 50)):
                rows = frame[(frame["tools"] == size) & (frame["prose"] == prose) & (frame["selection"] == selection)]
                right = int((rows["outcome"] == "right call").sum())
                assert y[at] == pytest.approx(right / 8)
                assert ends[at] == pytest.approx(wilson(right, 8))
                assert abs(x[at] - at) < 0.25
                assert f"{right} of 8 right" in picture.alt


def test_outcomes_are_stacked_to_all_answers():
    picture = tools_plot(tools_table(in_turn))
    for axes in picture.figure.axes[2:]:
        bars = {}
        for left, bottom, height in heights(axes):
            assert bottom == pytest.approx(bars.get(left, 0.0))
            bars[left] = bottom + height
        assert len(bars) == 2 * len(PROSE_LOOKS)
        assert list(bars.values()) == pytest.approx([1.0] * 4)
        assert words(axes) == ["5\n750 / 500", "50\n7,500 / 5,000"]


def test_one_selection_gives_one_column():
    picture = tools_plot(tools_table(in_turn, selections=("all",)))
    assert len(picture.figure.axes) == 2
    assert "a selection offered" not in picture.alt


def test_every_outcome_has_a_look_of_its_own():
    assert tuple(OUTCOME_LOOKS) == tools.OUTCOMES
    assert len(set(OUTCOME_LOOKS.values())) == len({colour for colour, _ in OUTCOME_LOOKS.values()}) == 5
    assert len({hatch for _, hatch in OUTCOME_LOOKS.values()}) == 5


# All three


TABLES = {
    "order": (order_plot, order_table(), "kind"),
    "compress": (compress_plot, compress_table([True, False, True]), "kind"),
    "tools": (tools_plot, tools_table(in_turn), "outcome"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_picture_says_whose_figures_it_has_and_can_be_saved(name, tmp_path):
    plot, frame, _ = TABLES[name]
    picture = plot(frame)
    assert MODEL in picture.alt
    picture.save(tmp_path / "picture.png")
    from PIL import Image

    with Image.open(io.BytesIO((tmp_path / "picture.png").read_bytes())) as image:
        assert image.text["Description"] == picture.alt
        assert image.width > 1_000


@pytest.mark.parametrize("name", TABLES)
def test_words_stay_on_the_paper_and_off_each_other(name):
    plot, frame, _ = TABLES[name]
    figure = plot(frame).figure
    figure.canvas.draw()
    paper = figure.bbox
    for axes in figure.axes:
        low, high = axes.get_xlim()
        labels = [
            label for label in axes.get_xticklabels() if label.get_text() and low <= label.get_position()[0] <= high
        ]
        boxes = [label.get_window_extent() for label in labels]
        assert all(box.x0 >= 0 and box.x1 <= paper.x1 and box.y0 >= 0 for box in boxes)
        assert all(left.x1 <= right.x0 for left, right in pairwise(boxes))


@pytest.mark.parametrize("name", TABLES)
def test_what_cannot_be_drawn_is_said(name):
    plot, frame, column = TABLES[name]
    with pytest.raises(PlotError, match="no rows"):
        plot(frame[:0])
    with pytest.raises(PlotError, match=f"no column {column}"):
        plot(frame.drop(columns=column))
    with pytest.raises(PlotError, match="'maybe', which is not one of"):
        plot(frame.assign(**{column: "maybe"}))
    gap = frame.copy()
    gap.loc[0, column] = None
    with pytest.raises(PlotError, match=f"'{column}' is empty in 1 of {len(frame)} rows"):
        plot(gap)
    with pytest.raises(CourseError, match="is a list"):
        plot([])


@pytest.mark.parametrize("name", TABLES)
def test_the_table_is_left_as_it_was(name):
    plot, frame, _ = TABLES[name]
    before = frame.copy()
    plot(frame)
    assert frame.equals(before)
