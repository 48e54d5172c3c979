"""Pictures of a run: what is drawn is what was billed, labels stand clear of each other, and the alt text says it."""

from __future__ import annotations

import io
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.agent.accounting import Bill, BilledCall, at_turns
from ctxcourse.plots.agent import BUCKETS, POLICY_LOOKS, buckets_plot, policies_plot
from ctxcourse.plots.pictures import PlotError, part_style
from ctxcourse.stats import wilson

MODEL = "A model of its own, 4-bit"
POLICIES = [
    ["full history", 370_291, 12, 12],
    ["sliding window", 159_000, 12, 6],
    ["elided tool results", 230_000, 12, 12],
    ["compaction", 181_000, 12, 6],
    ["compaction + notes", 184_500, 12, 5],
    ["user messages + last four turns", 168_550, 12, 12],
    ["pinned, in the system message", 187_000, 12, 10],
    ["pinned, at the end", 187_300, 12, 12],
    ["control: the two messages", 1_981, 12, 12],
    ["sub-agent", 2_737, 12, 6],
]


def run(turns=40, first=1, calls_a_turn=2, **about):
    """A bill whose conversation and results grow with every call."""
    calls = []
    for number in range(turns * calls_a_turn):
        talk, results = 79 + 30 * number, 55 * number
        turn = first + number // calls_a_turn
        calls.append(BilledCall(number + 1, turn, 85, 1_817, talk, results, 1_902 + talk + results, 0, 0, 0, None))
    return Bill(tuple(calls), about)


def policies(rows=POLICIES, **about):
    table = pd.DataFrame(rows, columns=["policy", "billed_tokens", "n", "correct"])
    table.attrs["provenance"] = about
    return table


def bars(picture):
    """What is drawn of each bar: a list of (bottom, height, colour, hatch), by its place."""
    found = {}
    for bar in picture.figure.axes[0].patches:
        place = round(bar.get_x() + bar.get_width() / 2)
        found.setdefault(place, []).append((bar.get_y(), bar.get_height(), bar.get_facecolor(), bar.get_hatch()))
    return found


def drawn(picture):
    """Where the points are, by the label of their series: x, y, and the ends of their whiskers."""
    found = {}
    for container in picture.figure.axes[0].containers:
        if type(container).__name__ == "ErrorbarContainer":
            line, _, whiskers = container.lines
            ends = [(low[1], high[1]) for low, high in whiskers[0].get_segments()] if whiskers else []
            found[container.get_label()] = (list(line.get_xdata()), list(line.get_ydata()), ends)
    return found


def boxes(picture):
    """The places of all texts in the axes, as they are on paper, by their words."""
    picture.figure.draw_without_rendering()
    texts = [text for text in picture.figure.axes[0].texts if text.get_text()]
    return {text.get_text(): text.get_window_extent() for text in texts}


def overlapping(extents):
    return [pair for pair in combinations(extents, 2) if extents[pair[0]].overlaps(extents[pair[1]])]


# What fills the window


@settings(max_examples=10, deadline=None)
@given(st.integers(1, 45), st.integers(0, 1), st.integers(1, 3))
def test_each_turn_is_a_stack_of_the_buckets_of_its_last_call(turns, first, calls_a_turn):
    from matplotlib.colors import to_rgba

    made = run(turns, first, calls_a_turn)
    picture = buckets_plot(made.frame())
    stacks = bars(picture)
    assert list(stacks) == list(range(1, turns + 1))
    for place, row in zip(stacks, at_turns(made).to_dict("records"), strict=True):
        bottom = 0
        for name, (low, height, colour, hatch) in zip(BUCKETS, stacks[place], strict=True):
            assert (low, height) == (bottom, row[name])
            assert (colour, hatch or "") == (to_rgba(part_style(name)[0]), part_style(name)[1])
            bottom += height
        assert bottom == row["prompt_tokens"]
    axes = picture.figure.axes[0]
    for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True):
        assert label.get_text() == str(int(place) - 1 + first)


def test_a_table_of_turns_gives_the_same_picture_as_one_of_calls():
    made = run(12)
    assert buckets_plot(made.frame()).alt == buckets_plot(at_turns(made)).alt


def test_the_alt_text_says_the_first_and_the_last_turn_and_what_passes_what():
    alt = buckets_plot(run(model=MODEL).frame(), mark={2: "the rule is given"}, published={1: 2_547, 40: 10_632}).alt
    assert "last call of 40 turns" in alt
    assert f"recorded with {MODEL}" in alt
    assert "Turn 1: 2,066 tokens (system 85, tools 1,817, conversation 109, tool results 55)." in alt
    assert "Turn 40: 8,696 tokens (system 85, tools 1,817, conversation 2,449, tool results 4,345)." in alt
    assert "Tool results pass tools in turn 18." in alt  # 55 × 35; in turn 17 they are 1,815
    assert "Conversation passes tools in turn 30." in alt  # 79 + 30 × 59
    assert "turn 1 2,547, turn 40 10,632 tokens" in alt
    assert "Marked: turn 2, the rule is given." in alt
    assert "pass" not in buckets_plot(run(3).frame()).alt


def test_published_sizes_are_drawn_hollow_and_only_where_the_run_has_the_turn():
    picture = buckets_plot(run(30).frame(), published={1: 2_547, 40: 10_632})
    (label,) = drawn(picture)
    assert label.startswith("published: Qwen2.5-0.5B-Instruct")
    assert drawn(picture)[label][:2] == ([1], [2_547])
    (line,) = [c.lines[0] for c in picture.figure.axes[0].containers if type(c).__name__ == "ErrorbarContainer"]
    assert line.get_markerfacecolor() == "#FFFFFF"
    assert "turn 40" not in picture.alt
    assert "published" not in buckets_plot(run(30).frame(), published={40: 10_632}).alt
    high = buckets_plot(run(3).frame(), published={3: 50_000}).figure.axes[0]
    assert high.get_ylim()[1] > 50_000


@pytest.mark.parametrize("sizes", [{1: 2_547, 40: 10_632}, {1: 2_070}, {40: 8_900, 1: 2_300}])
def test_a_published_mark_hides_no_total(sizes):
    picture = buckets_plot(run().frame(), published=sizes)
    extents = boxes(picture)
    axes = picture.figure.axes[0]
    for turn, size in sizes.items():
        x, y = axes.transData.transform((turn, size))
        half = 4.5 * picture.figure.dpi / 72
        for total in ("2,066", "8,696"):
            box = extents[total]
            beside = box.x1 < x - half or box.x0 > x + half
            assert beside or box.y0 > y + half or box.y1 < y - half


MARKS = {
    2: "the rule is given",
    12: "the first summary is written",
    19: "the shard is named",
    40: "a ticket needs both",
}


def test_marks_stand_at_their_turns_and_their_words_clear_of_each_other_and_of_the_bars():
    made = run()
    picture = buckets_plot(made.frame(), mark=MARKS)
    axes = picture.figure.axes[0]
    dashed = {line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"}
    assert dashed == set(MARKS)
    extents = boxes(picture)
    words = {f"turn {turn}: {what}" for turn, what in MARKS.items()}
    assert words < set(extents)
    assert not overlapping({text: box for text, box in extents.items() if "tool" not in text and "system" not in text})
    top = axes.transData.transform((1, at_turns(made)["prompt_tokens"].max()))[1]
    for text in words:
        assert extents[text].y0 > top
        assert axes.bbox.x0 <= extents[text].x0
        assert extents[text].x1 <= axes.bbox.x1


def test_a_line_crosses_no_words():
    picture = buckets_plot(run().frame(), mark=MARKS)
    extents, axes = boxes(picture), picture.figure.axes[0]
    for line in axes.lines:
        if line.get_linestyle() == "--":
            (x, _), (_, top) = axes.transData.transform(line.get_xydata())
            for text, box in extents.items():
                if re.match("turn (2|12|19):", text):  # the last one has no room on its right
                    assert not (box.x0 < x < box.x1 and box.y0 < top)


# What policies cost and keep


def test_each_policy_is_a_point_with_its_interval_and_its_label():
    picture = policies_plot(policies(model=MODEL))
    points = drawn(picture)
    for name, billed, n, correct in POLICIES:
        x, y, ends = points[name]
        assert (x, y) == ([billed], [pytest.approx(correct / n)])
        assert ends == [pytest.approx(wilson(correct, n))]
        low, high = (round(100 * end) for end in wilson(correct, n))
        told = f"{name}: {billed:,} tokens billed, {correct} of {n} right (95 % interval {low} to {high} %)"
        assert told in picture.alt
    assert {name for name, *_ in POLICIES} == set(boxes(picture))
    assert f"Measured: {MODEL}." in picture.alt


def test_the_facts_of_one_policy_are_added_up():
    rows = [[name, billed, n, 6 - place % 7] for place, (name, billed, n, _) in enumerate(POLICIES * 2)]
    points = drawn(policies_plot(policies(rows)))
    for place, (name, _, n, _) in enumerate(POLICIES):
        hits = 6 - place % 7 + 6 - (place + len(POLICIES)) % 7
        assert points[name][1] == [pytest.approx(hits / (2 * n))]


def test_policies_differ_in_marker_and_in_colour():
    assert len({look.colour for look in POLICY_LOOKS}) == len({look.marker for look in POLICY_LOOKS}) == 10


shares = st.sampled_from([0, 3, 6, 10, 11, 12])
bills = st.one_of(st.integers(0, 400_000), st.sampled_from([1_981, 180_000, 181_000, 187_000, 187_300, 370_291]))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(bills, shares), min_size=1, max_size=10))
def test_labels_hide_neither_points_nor_each_other_and_stay_on_the_paper(given_policies):
    names = [name for name, *_ in POLICIES]
    rows = [[names[place], billed, 12, hits] for place, (billed, hits) in enumerate(given_policies)]
    picture = policies_plot(policies(rows))
    extents = boxes(picture)
    assert set(extents) == set(names[: len(rows)])
    assert not overlapping(extents)
    axes = picture.figure.axes[0]
    half = 3 * picture.figure.dpi / 72
    for container in axes.containers:
        line = container.lines[0]
        x, y = line.get_transform().transform(line.get_xydata())[0]
        assert axes.bbox.x0 - 1 <= x <= axes.bbox.x1
        assert not [
            name for name, box in extents.items() if box.x0 < x + half and box.x1 > x - half and box.y0 < y < box.y1
        ]
    for box in extents.values():
        assert axes.bbox.x0 <= box.x0
        assert box.x1 <= axes.bbox.x1
        assert axes.bbox.y0 <= box.y0
        assert box.y1 <= axes.bbox.y1


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(bills, shares), min_size=1, max_size=10))
def test_points_whiskers_and_their_ends_are_drawn_at_the_bill(given_policies):
    rows = [[name, billed, 12, hits] for (name, *_), (billed, hits) in zip(POLICIES, given_policies, strict=False)]
    picture = policies_plot(policies(rows))
    picture.figure.draw_without_rendering()
    axes = picture.figure.axes[0]
    for (_, billed, n, hits), container in zip(rows, axes.containers, strict=True):
        line, ends, (whisker,) = container.lines
        x, y = axes.transData.transform((billed, hits / n))
        assert line.get_transform().transform(line.get_xydata()) == pytest.approx(np.array([[x, y]]))
        (segment,) = whisker.get_segments()
        drawn_at = [*whisker.get_transform().transform(segment)]
        drawn_at += [end.get_transform().transform(end.get_xydata())[0] for end in ends]
        assert len(drawn_at) == 4
        assert [place[0] for place in drawn_at] == pytest.approx([x] * 4)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([5_000, 5_020, 5_050]), shares), min_size=2, max_size=4))
def test_of_policies_that_would_cover_each_other_the_lower_shows_around_the_upper(given_policies):
    rows = [[name, billed, 12, hits] for (name, *_), (billed, hits) in zip(POLICIES, given_policies, strict=False)]
    *containers, _ = policies_plot(policies([*rows, ["far off", 9_000, 12, 9]])).figure.axes[0].containers
    for (one, (*_, n, hits)), (other, (*_, hits_too)) in combinations(zip(containers, rows, strict=True), 2):
        (low, high), (low_too, high_too) = wilson(hits, n), wilson(hits_too, n)
        if low <= high_too and low_too <= high:
            upper, lower = sorted((one, other), key=lambda each: each.lines[0].get_zorder(), reverse=True)
            assert lower.lines[0].get_zorder() < upper.lines[0].get_zorder()
            assert lower.lines[0].get_markersize() > upper.lines[0].get_markersize() + 2
            assert lower.lines[2][0].get_linewidth()[0] > upper.lines[2][0].get_linewidth()[0] + 2
            assert lower.lines[1][0].get_markersize() > upper.lines[1][0].get_markersize() + 2  # the whisker's ends


def test_policies_that_cover_nobody_are_drawn_alike():
    picture = policies_plot(policies([["a", 5_000, 12, 0], ["b", 5_000, 12, 9], ["c", 9_000, 12, 9]]))
    assert len({container.lines[0].get_markersize() for container in picture.figure.axes[0].containers}) == 1


def test_the_line_to_a_point_that_others_cover_crosses_no_label():
    rows = [["sliding window", 5_000, 12, 9], ["compaction", 5_000, 12, 9], ["notes", 5_000, 12, 9]]
    rows += [["pinned", 5_010, 12, 10], ["full history", 9_000, 12, 12]]
    picture = policies_plot(policies(rows))
    extents = boxes(picture)
    assert not overlapping(extents)
    lines = [text.arrow_patch for text in picture.figure.axes[0].texts if text.arrow_patch is not None]
    paths = [line.get_transform().transform_path(line.get_path()) for line in lines]
    assert paths
    assert not [name for path in paths for name, box in extents.items() if path.intersects_bbox(box, filled=False)]


# Both


TABLES = {
    "buckets": (buckets_plot, run(5, model=MODEL).frame(), "turn", "Bill.frame"),
    "policies": (policies_plot, policies(model=MODEL), "billed_tokens", "probe_table.cells"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_picture_can_be_saved_and_says_whose_figures_it_has(name, tmp_path):
    from PIL import Image

    plot, frame, *_ = TABLES[name]
    before = frame.copy()
    picture = plot(frame, title="A title of its own")
    assert frame.equals(before)
    assert picture.alt.startswith("A title of its own")
    assert MODEL in picture.alt
    picture.save(tmp_path / "picture.png")
    with Image.open(io.BytesIO((tmp_path / "picture.png").read_bytes())) as image:
        assert image.text["Description"] == picture.alt
        assert image.convert("RGBA").getextrema()[3] == (255, 255)


@pytest.mark.parametrize("name", TABLES)
def test_what_cannot_be_drawn_is_said(name):
    plot, frame, column, maker = TABLES[name]
    with pytest.raises(PlotError, match="no rows"):
        plot(frame[:0])
    with pytest.raises(PlotError, match=f"no column {column}.* give the table of {maker}"):
        plot(frame.drop(columns=column))
    with pytest.raises(PlotError, match="'many', which is not a number"):
        plot(frame.assign(**{column: "many"}))
    gap = frame.astype({column: "Int64"})
    gap.loc[0, column] = pd.NA
    with pytest.raises(PlotError, match=f"'{column}' is empty in 1 of {len(frame)} rows"):
        plot(gap)
    with pytest.raises(PlotError, match="is a list"):
        plot([])


def test_a_mark_at_a_turn_that_is_not_there_is_refused():
    with pytest.raises(PlotError, match="turn 6 is marked, and this run has the turns 1 to 5"):
        buckets_plot(run(5).frame(), mark={2: "early", 6: "late"})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", 10, 6, 7]], "policy 'a': hits=7: of 6 trials"),
        ([["a", 10, 0, 0]], "policy 'a': n=0"),
        ([["a", -10, 6, 6]], "policy 'a' has a bill of -10 tokens"),
        ([["a", 10, 6, 6], ["a", 2_000, 6, 6]], r"policy 'a' has several bills \(10, 2,000\)"),
        ([[None, 10, 6, 6]], "name of its policy"),
    ],
)
def test_scores_that_cannot_be_are_refused(rows, message):
    with pytest.raises(PlotError, match=message):
        policies_plot(policies(rows))


def test_the_module_is_imported_without_matplotlib():
    import subprocess
    import sys

    code = (
        "import sys, ctxcourse.plots.agent; print([m for m in ('matplotlib', 'pandas', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
