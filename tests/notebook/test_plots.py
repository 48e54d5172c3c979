"""Pictures: what is drawn adds up, labels do not collide, nothing is left open, alt text says the figures."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.needle import KINDS, SYMBOLS
from ctxcourse.plots import PlotError, budget_bar, turn_bars
from ctxcourse.plots.pictures import OUTCOME_COLOURS, PART_STYLES, part_style, spread

EXAMPLE = {"system": 500, "tools": 8_000, "documents": 4_000, "history": 6_000, "query": 200, "generation": 4_000}


class FourBuckets:
    def as_dict(self):
        return {"system": 85, "tools": 1_732, "conversation": 120, "tool_results": 610, "total": 2_547}


def luminance(colour):
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("kind", KINDS)
def test_white_text_is_legible_on_every_outcome_colour(kind):
    assert 1.05 / (luminance(OUTCOME_COLOURS[kind]) + 0.05) >= 4.5  # WCAG 2.1, AA


def test_outcomes_differ_in_symbol_as_well_as_in_colour():
    assert len(set(SYMBOLS.values())) == len(set(OUTCOME_COLOURS.values())) == len(KINDS)


def test_parts_of_one_look_are_the_same_part_under_two_names():
    assert part_style("history") == part_style("conversation")
    assert len(set(PART_STYLES.values())) == len(PART_STYLES)


def widths(picture, height):
    """Widths of the bars at a height, left to right, as shares of the whole."""
    axes = picture.figure.axes[0]
    bars = [patch for patch in axes.patches if abs(patch.get_y() + patch.get_height() / 2 - height) < 0.01]
    return [bar.get_width() for bar in sorted(bars, key=lambda bar: bar.get_x())]


sizes = st.dictionaries(
    st.sampled_from([*PART_STYLES, "history", "notes", "few_shot"]), st.integers(0, 10**6), max_size=9
)


@settings(max_examples=25, deadline=None)
@given(sizes, st.none() | st.integers(1, 10**6))
def test_bars_are_to_scale_and_every_number_is_in_the_alt_text(parts, window):
    picture = budget_bar(parts, window=window)
    used = sum(parts.values())
    drawn = widths(picture, 0)
    assert drawn == pytest.approx([size / used for size in parts.values() if size])
    for name, size in parts.items():
        assert f"{name.replace('_', ' ')} {size:,}" in picture.alt
    if window:
        assert sum(widths(picture, 1.2)) == pytest.approx(1)


def test_labels_of_thin_parts_do_not_overlap():
    picture = budget_bar(dict.fromkeys(PART_STYLES, 1) | {"history": 10**6}, window=32_768)
    renderer = picture.figure.canvas.get_renderer()
    picture.figure.draw_without_rendering()
    boxes = [text.get_window_extent(renderer) for text in picture.figure.axes[0].texts if text.get_text()]
    pairs = [(a, b) for place, a in enumerate(boxes) for b in boxes[:place]]
    assert len(boxes) == len(PART_STYLES) + 2  # each part, history, and what is too many
    assert not [pair for pair in pairs if pair[0].overlaps(pair[1])]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 0.3)), max_size=12))
def test_spread_labels_keep_their_order_and_never_overlap(labels):
    centres = sorted(centre for centre, _ in labels)
    extents = [size for _, size in labels]
    places = spread(centres, extents, 0.0, 1.0)
    for index in range(1, len(places)):
        distance = places[index] - places[index - 1]
        assert distance >= (extents[index] + extents[index - 1]) / 2 - 1e-9
    if sum(extents) <= 1 and places:
        assert places[0] - extents[0] / 2 >= -1e-9
        assert places[-1] + extents[-1] / 2 <= 1 + 1e-9


def test_buckets_are_taken_as_they_come_and_their_total_is_not_a_part():
    picture = budget_bar(FourBuckets())
    assert "total" not in picture.alt
    assert "2,547 in all" in picture.alt


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: budget_bar({"tools": -3}), "'tools' is -3"),
        (lambda: budget_bar({"tools": 3}, window=0), "window=0"),
        (lambda: turn_bars([]), "no turn"),
        (lambda: turn_bars([{"system": 1}, {"tools": 1}]), "turn 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(PlotError, match=message) as caught:
        call()
    assert isinstance(caught.value, CourseError)


def test_turns_are_stacked_to_their_totals():
    turns = [{"system": 85, "tools": 1_732, "conversation": 50 * n, "tool_results": 9 * n} for n in range(1, 41)]
    picture = turn_bars(turns)
    tops: dict[int, float] = {}
    for bar in picture.figure.axes[0].patches:
        place = round(bar.get_x() + bar.get_width() / 2)
        tops[place] = max(tops.get(place, 0), bar.get_y() + bar.get_height())
    assert tops == {n: sum(turn.values()) for n, turn in enumerate(turns, start=1)}
    assert "40 turns" in picture.alt
    assert f"{sum(turns[-1].values()):,}" in picture.alt


def test_a_notebook_shows_one_image_with_its_alt_text():
    picture = budget_bar(EXAMPLE, window=128_000)
    data, metadata = picture._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}
    assert data["text/plain"] == metadata["image/png"]["alt"] == picture.alt
    assert f'alt="{picture.alt}"' in picture.html()


def test_the_background_is_opaque_and_the_saved_file_carries_the_description(tmp_path):
    from PIL import Image

    picture = budget_bar(EXAMPLE, window=128_000)
    picture.save(tmp_path / "budget.png")
    image = Image.open(io.BytesIO((tmp_path / "budget.png").read_bytes()))
    assert image.text["Description"] == picture.alt
    assert image.convert("RGBA").getextrema()[3] == (255, 255)


def test_importing_plots_is_cheap_and_drawing_leaves_no_figure_open():
    code = (
        "import sys; from ctxcourse import plots; assert 'matplotlib' not in sys.modules\n"
        "plots.budget_bar({'tools': 5}, window=9).png(); assert 'matplotlib' in sys.modules\n"
        "import matplotlib.pyplot as plt; assert plt.get_fignums() == []"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
