"""The widgets of the needle experiments without a browser, on a small model that skims and is slow on request."""

from __future__ import annotations

import re
import threading
from xml.etree import ElementTree

import ipywidgets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import widgets
from ctxcourse.errors import CourseError
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.needle import DEPTHS, KINDS, SYMBOLS, sweeps, trials
from ctxcourse.needle.shipped import Answered, ShippedError, cells_by
from ctxcourse.needle.sweeps import LENGTHS, SHARES
from ctxcourse.plots.panels import BY_SHARE, FILLER, LOOKALIKES, MEASURED
from ctxcourse.widgets import EveryRow, LengthExplorer, PositionExplorer
from ctxcourse.widgets.cell_view import Current, Line, Point, curve_svg, kinds_bar
from ctxcourse.widgets.point import PointExplorer
from ctxcourse.widgets.register_view import lines_html

PATIENCE = 20  # seconds until a test gives up on a thread
TRIALS = 6


class Skimmer:
    """A model that knows the first lines and the last, and takes the last number it saw for any other.

    It keeps what it is told to remember, as the completion store does, and answers once it is allowed to.
    """

    network = None
    label, fingerprint = "A <small> skimmer", "skimmer@1"

    def __init__(self, attention=2):
        self.attention = attention
        self.store, self.computed = {}, []
        self.may_answer = threading.Semaphore(1_000_000)
        self.failure = None

    def encode_prompt(self, messages, tools=None):
        return [hash(word) for message in messages for word in message["content"].split()]

    def count_prompt(self, messages, tools=None):
        return len(self.encode_prompt(messages))

    pending_tokens = count_prompt

    def complete(self, prompt, tools=None, max_new_tokens=64, should_stop=lambda: False, remember=False):
        [completion] = self.complete_many([prompt], max_new_tokens, remember, should_stop)
        return completion

    def complete_many(
        self,
        prompts,
        max_new_tokens=64,
        remember=True,
        should_stop=lambda: False,
        progress=True,
        finished=lambda number, completion: None,
    ):
        completions = []
        for number, prompt in enumerate(prompts):
            completions.append(self._answer(prompt, remember, should_stop))
            finished(number, completions[-1])
        return completions

    def _answer(self, prompt, remember, should_stop):
        content = prompt[-1]["content"]
        if remember and content in self.store:
            return self._completion(prompt, self.store[content], 0, True)
        while should_stop() or not self.may_answer.acquire(timeout=0.01):
            if should_stop():
                raise Cancelled("stopped")
        if self.failure:
            raise self.failure
        self.computed.append(content)
        text = self._read(content)
        if remember:
            self.store[content] = text
        return self._completion(prompt, text, 7, False)

    def _read(self, content):
        lines = content.split("\n")[1:-2]
        owner = re.search(r"extension of (.+?)\?", content)[1]
        seen = [*lines[: self.attention], *lines[-self.attention :]]
        known = [re.search(r"extension (\d{4})", line)[1] for line in seen if owner in line]
        if known:
            return f"{known[0]}."
        numbers = re.findall(r"extension (\d{4})", "\n".join(seen))
        return numbers[-1] if numbers else "<b>nobody</b>"

    def _completion(self, prompt, text, computed, remembered):
        size = self.count_prompt(prompt)
        return Completion(text, size, computed, 4, 0.25, "stop", self.fingerprint, remembered)


@pytest.fixture(scope="module")
def position():
    return trials.run(sweeps.position(trials=TRIALS), Skimmer())


@pytest.fixture(scope="module")
def tables():
    designs = {
        "length": sweeps.length(trials=TRIALS),
        "volume": sweeps.volume(trials=TRIALS),
        "interference": sweeps.interference(trials=TRIALS),
    }
    return {name: trials.run(calls, Skimmer()) for name, calls in designs.items()}


@pytest.fixture
def model():
    return Skimmer()


@pytest.fixture
def silent(model):
    """A model that must not be asked."""
    model.failure = AssertionError("the model was asked")
    return model


def press(widget):
    widget.runner.run_button.click()
    assert widget.runner.wait(PATIENCE)
    if widget.runner.error:
        raise widget.runner.error


def rows_marked(widget, mark):
    return [int(row) for row in re.findall(rf'data-row="(\d+)" data-mark="{mark}"', widget.register_view.value)]


def marks(widget):
    return re.findall(r'data-trial="(\d+)" data-kind="([^"]+)" data-chosen="(\w+)"', widget.point_view.value)


def kinds_of_lines(widget):
    return re.findall(r'data-row="\d+" data-kind="([^"]*)"', widget.register_view.value)


def views(widget):
    children = (widget.point_view, widget.question, widget.shipped_view, widget.live_view, widget.register_view)
    return [child.value for child in children]


def controls(widget):
    if not hasattr(widget, "children"):
        return [widget] if hasattr(widget, "description") and type(widget).__name__ != "HTML" else []
    return [control for child in widget.children for control in controls(child)]


# Position


def test_scrubbing_the_depth_shows_the_shipped_results_of_each_and_asks_nothing(position, silent):
    explorer = PositionExplorer(silent, results=position)
    for depth in DEPTHS:
        explorer.depth.value = depth
        here = position[position["depth"] == depth]
        hits = int((here["kind"] == "hit").sum())
        assert f"<b>{hits} of {TRIALS} hits</b>" in explorer.point_view.value
        assert [(int(trial), kind) for trial, kind, _ in marks(explorer)] == list(
            zip(here["trial"], here["kind"], strict=True)
        )
        assert rows_marked(explorer, "needle") == [round(depth * 24)]
    assert explorer.problem.value == ""
    assert explorer.runner.error is None
    assert silent.computed == []


def test_the_chosen_trial_is_framed_and_shown_with_its_answer_class_and_origin(position, silent):
    explorer = PositionExplorer(silent, results=position)
    explorer.depth.value = 0.5
    for trial in range(TRIALS):
        explorer.trial.value = trial
        row = position[(position["depth"] == 0.5) & (position["trial"] == trial)].iloc[0]
        assert [int(number) for number, _, chosen in marks(explorer) if chosen == "true"] == [trial]
        assert f"<code>{row['answer']}</code>" in explorer.shipped_view.value
        assert f"{SYMBOLS[row['kind']]} {row['kind']}" in explorer.shipped_view.value
        assert rows_marked(explorer, "rival") == [row["found_row"]] == [24]
        assert row["right"] in explorer.question.value
        assert f"{row['prompt_tokens']:,} tokens" in explorer.question.value
    about = position.attrs["provenance"]
    for said in ("the position experiment", about["date"][:4], "A &lt;small&gt; skimmer (skimmer@1)"):
        assert said in explorer.shipped_view.value


def test_run_computes_that_very_question_and_agrees_with_the_shipped_answer(position, model):
    explorer = PositionExplorer(model, results=position)
    explorer.depth.value, explorer.trial.value = 0.25, 3
    press(explorer)
    asked = [call for call in sweeps.position(trials=TRIALS) if (call.depth, call.trial) == (0.25, 3)]
    assert model.computed == [call.messages()[-1]["content"] for call in asked]
    for said in ("Computed here", "⇄ other record", "7 of them computed", "0.2 seconds", "It agrees with the shipped"):
        assert said in explorer.live_view.value


@pytest.mark.parametrize(
    ("fingerprint", "reason"), [("other@2", "another model, skimmer@1"), ("skimmer@1", "rounding")]
)
def test_another_answer_than_the_shipped_one_is_said_with_its_reason(position, model, fingerprint, reason):
    model.attention, model.fingerprint = 25, fingerprint  # reads every line
    explorer = PositionExplorer(model, results=position)
    explorer.depth.value = 0.5
    shipped = position[(position["depth"] == 0.5) & (position["trial"] == 0)].iloc[0]
    press(explorer)
    assert "✓ hit" in explorer.live_view.value
    for said in ("differs from the shipped answer", shipped["answer"], f"of the class {shipped['kind']}", reason):
        assert said in explorer.live_view.value


def test_moving_a_slider_stops_a_run_and_no_answer_stands_under_another_question(position, model):
    explorer = PositionExplorer(model, results=position)
    model.may_answer = threading.Semaphore(0)
    explorer.runner.run_button.click()
    explorer.depth.value = 1.0
    assert explorer.runner.wait(PATIENCE)
    assert "the question has changed" in explorer.runner.status.value
    assert explorer.live_view.value == ""
    assert explorer.live == {}
    assert rows_marked(explorer, "needle") == [24]


def test_a_live_answer_is_there_again_when_its_point_is(position, model):
    explorer = PositionExplorer(model, results=position)
    press(explorer)
    answered = explorer.live_view.value
    explorer.trial.value = 2
    assert explorer.live_view.value == ""
    explorer.trial.value = 0
    assert explorer.live_view.value == answered != ""


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(DEPTHS), st.integers(0, TRIALS - 1)), min_size=1, max_size=6))
def test_what_is_shown_depends_on_where_the_sliders_are_and_not_on_how_they_came_there(position, moves):
    moved, fresh = (PositionExplorer(Skimmer(), results=position) for _ in range(2))
    for depth, trial in moves:
        moved.depth.value, moved.trial.value = depth, trial
    fresh.trial.value, fresh.depth.value = moves[-1][1], moves[-1][0]
    assert views(moved) == views(fresh)


def test_without_results_this_is_said_and_run_works(position, model, monkeypatch):
    def missing(name):
        raise CourseError(f"no results of {name} <here>")

    monkeypatch.setattr("ctxcourse.results.load_results", missing)
    for explorer in (PositionExplorer(model), LengthExplorer(model)):
        assert "no shipped results" in explorer.point_view.value
        assert "&lt;here&gt;" in explorer.note_view.value
        assert "ctx-shipped" not in explorer.shipped_view.value
        press(explorer)
        assert "Computed here" in explorer.live_view.value
        assert "shipped" not in explorer.live_view.value
    assert PositionExplorer(model, results=position.iloc[:0]).trials == 32


def test_a_depth_or_trial_without_a_result_says_so(position, silent):
    explorer = PositionExplorer(silent, results=position[position["depth"].isin([0, 1])])
    explorer.depth.value = 0.5
    assert "no shipped results" in explorer.point_view.value
    assert "0.000, 1.000" in explorer.point_view.value
    explorer = PositionExplorer(silent, results=position[(position["depth"] > 0) | (position["trial"] != 2)])
    explorer.trial.value = 2
    assert "No shipped result of trial 2" in explorer.shipped_view.value
    assert len(marks(explorer)) == TRIALS - 1


def test_results_of_other_lists_are_not_taken_for_answers_to_these(position, silent):
    other = position.assign(needle="INC-00000")
    explorer = PositionExplorer(silent, results=other)
    explorer.depth.value = 0.5
    assert "made with other lists" in explorer.shipped_view.value
    assert rows_marked(explorer, "rival") == []
    assert len(marks(explorer)) == TRIALS


def answered(call, **changed):
    fields = {name: getattr(call, name) for name in Answered._fields if hasattr(call, name)}
    told = {"answer": call.right, "kind": "hit", "found_row": call.row, "prompt_tokens": 9}
    return Answered(**(fields | told | changed))


def test_an_answer_belongs_to_the_same_needle_in_the_same_lines_only():
    alike, filler = sweeps.length((25,), trials=1)[0], sweeps.volume((25,), trials=1)[0]
    assert (alike.needle, alike.right, alike.row) == (filler.needle, filler.right, filler.row)
    assert answered(filler).belongs_to(filler)
    assert not answered(filler).belongs_to(alike)
    for changed in ({"records": 26}, {"seed": 7}, {"needle": "INC-1"}, {"right": "0"}, {"row": 0}, {"share": 0.5}):
        assert not answered(alike, **changed).belongs_to(alike)
    low, lower = sweeps.interference((1 / 8, 0), records=3, trials=1)
    assert low.lines == lower.lines
    assert answered(low).belongs_to(lower)


def test_a_trial_with_two_questions_in_one_place_is_refused(tables):
    from pandas import concat

    for first, second in (
        (tables["length"], tables["volume"]),
        (tables["volume"], trials.run(sweeps.volume(trials=1, seed=2), Skimmer())),
    ):
        with pytest.raises(ShippedError, match=r"trial 0 has two questions in one place: .*lookalikes.* and INC-"):
            cells_by(concat([first, second]), lambda one: one.records)
    grid = trials.run(sweeps.grid((8,), trials=1), Skimmer())
    with pytest.raises(ShippedError, match=r"in line 1 of 8 .*in line 3 of 8"):
        LengthExplorer(Skimmer(), results={"length": grid})
    one_list = trials.run(sweeps.interference((0, 1 / 8), records=3, trials=2), Skimmer())
    assert {key: cell.n for key, cell in cells_by(one_list, lambda one: one.records).items()} == {3: 2}


def test_depths_are_explored_among_lookalikes_alone(tables, model):
    for name in ("volume", "interference"):
        with pytest.raises(ShippedError, match=r"share of lookalikes of 0.0.*keep the rows whose share is 1"):
            PositionExplorer(model, results=tables[name])


def test_the_seed_and_the_length_of_the_lists_are_those_of_the_results(model):
    frame = trials.run(sweeps.position(records=8, trials=2, seed=7), Skimmer())
    explorer = PositionExplorer(model, results=frame)
    press(explorer)
    assert "It agrees with the shipped answer." in explorer.live_view.value
    assert explorer.trial.max == 1
    assert PositionExplorer(model, results=frame, records=25).cells == {}


def test_results_without_a_column_are_refused_by_name(position, model):
    for name in ("kind", "records"):
        with pytest.raises(ShippedError, match=f"'{name}'"):
            PositionExplorer(model, results=position.drop(columns=name))


def test_errors_are_shown_in_the_widget_and_gone_with_the_next_move(position, model):
    model.failure = RuntimeError("no <room>")
    explorer = PositionExplorer(model, results=position.iloc[:0])
    explorer.runner.run_button.click()
    assert explorer.runner.wait(PATIENCE)
    assert "no &lt;room&gt;" in explorer.runner.status.value
    model.count_prompt = None
    explorer.depth.value = 0.5
    assert "TypeError" in explorer.problem.value
    del model.count_prompt
    explorer.depth.value = 1.0
    assert explorer.problem.value == ""


# Length


def test_every_length_and_share_shows_its_own_table_or_says_that_there_is_none(tables, silent):
    explorer = LengthExplorer(silent, results=tables)
    for lines in LENGTHS:
        for share in SHARES:
            explorer.length.value, explorer.share.value = lines, float(share)
            lookalikes = round(share * (lines - 1))
            name = "length" if lookalikes == lines - 1 else "interference" if lookalikes else "volume"
            here = tables[name]
            here = here[(here["records"] == lines) & ((here["share"] == share) | (name != "interference"))]
            values = explorer.call.values
            assert len(values) == lines
            assert sum(value is not None for value in values) == 1 + lookalikes
            if here.empty:
                assert "no shipped results" in explorer.point_view.value
                assert marks(explorer) == []
            else:
                hits = int((here["kind"] == "hit").sum())
                assert f"<b>{hits} of {TRIALS} hits</b>" in explorer.point_view.value
                assert f"the {name} experiment" in explorer.shipped_view.value
                assert [kind for _, kind, _ in marks(explorer)] == list(here["kind"])
            assert rows_marked(explorer, "needle") == [explorer.call.row]
            assert explorer.register_view.value.count("data-faint") == lines - 1 - lookalikes
    assert explorer.problem.value == ""


def test_run_answers_at_a_list_that_no_table_has_and_at_one_that_a_table_has(tables, model):
    explorer = LengthExplorer(model, results=tables)
    explorer.length.value, explorer.share.value = 50, 0.5
    assert "0 and 49 lookalikes" in explorer.point_view.value
    press(explorer)
    assert "Computed here" in explorer.live_view.value
    assert "shipped" not in explorer.live_view.value
    for lines, share in ((8, 1.0), (50, 0.0), (25, 0.5)):
        explorer.length.value, explorer.share.value = lines, share
        press(explorer)
        assert "It agrees with the shipped answer." in explorer.live_view.value


def test_shares_that_make_the_same_list_show_the_same_results(tables, silent):
    explorer = LengthExplorer(silent, results=tables)
    explorer.length.value, explorer.share.value = 3, 0.0
    filler_alone = views(explorer)
    explorer.share.value = 1 / 8
    assert views(explorer) == filler_alone
    explorer.length.value = 1
    alone = views(explorer)
    explorer.share.value = 1.0
    assert views(explorer) == alone
    assert "without other lines" in explorer.point_view.value


def test_the_curve_over_the_shares_is_marked_at_the_length_where_they_were_varied(tables, silent):
    explorer = LengthExplorer(silent, results=tables)
    for lines, marked in ((50, 1), (25, 2)):
        explorer.length.value = lines
        assert explorer.point_view.value.count("<svg") == 2
        assert explorer.point_view.value.count('class="current"') == marked
    assert "25 lines" in explorer.point_view.value
    alone = LengthExplorer(silent, results={"length": tables["length"]})
    assert alone.varied == ()
    assert alone.point_view.value.count("<svg") == 1


def test_a_table_that_cannot_be_read_is_mentioned_though_another_has_cells(tables, silent, monkeypatch):
    def one_missing(name):
        if name == "volume":
            raise CourseError("no volume <today>")
        return tables.get(name, tables["interference"])

    monkeypatch.setattr("ctxcourse.results.load_results", one_missing)
    explorer = LengthExplorer(silent)
    assert marks(explorer)
    assert "no volume &lt;today&gt;" in explorer.note_view.value
    assert explorer.note_view in explorer.children
    assert LengthExplorer(silent, results=tables).note_view.value == ""


def test_a_table_by_an_unknown_name_is_refused_with_the_names(tables, model):
    with pytest.raises(ShippedError, match="'lenght'; the names are length, volume, interference, interference_90"):
        LengthExplorer(model, results={"lenght": tables["length"]})


def test_the_cell_of_the_filler_curve_keeps_its_square_and_the_alt_text_names_each_place(tables, silent):
    explorer = LengthExplorer(silent, results=tables)
    explorer.length.value = 25
    drawn = {}
    for share in (0.0, 0.5, 1.0):
        explorer.share.value = share
        by_length, by_share = map(
            ElementTree.fromstring, re.findall(r"<svg.*?</svg>", explorer.point_view.value.replace("&nbsp;", " "))
        )
        drawn[share] = len(by_length.findall("circle")), len(by_length.findall("polygon"))
    rounds = len(LENGTHS) + 2  # the key and the ring
    assert drawn == {0.0: (rounds, 0), 0.5: (rounds, 1), 1.0: (rounds, 0)}
    for name in ("length", "volume"):
        here = tables[name][tables[name]["records"] == 25]
        said = by_length.get("aria-label").split("; ")[name == "volume"]
        assert f"{(here['kind'] == 'hit').mean():.0%} at 25" in said
    half = tables["interference"][tables["interference"]["share"] == 0.5]
    assert f"{(half['kind'] == 'hit').mean():.0%} at 12 of 24" in by_share.get("aria-label")


def test_the_explorer_opens_where_every_stop_of_both_sliders_has_shipped_results(silent):
    explorer = LengthExplorer(silent)
    assert explorer.length.value == 25
    for control in (explorer.share, explorer.length):
        start = control.value
        for _, value in control.options:
            control.value = value
            assert marks(explorer), value
            assert "no shipped results" not in explorer.point_view.value
        control.value = start
    assert explorer.problem.value == ""


def test_a_list_without_shipped_results_says_which_have_some_and_to_press_run(silent):
    explorer = LengthExplorer(silent)
    explorer.length.value, explorer.share.value = 8, 0.5
    said = "For 8 lines there are some with 0 and 7 lookalikes; more shares were measured at 25 and 90 lines. Run asks"
    assert said in explorer.point_view.value
    explorer.length.value, explorer.share.value = 90, 0.75
    assert "and 89 lookalikes; more shares were measured at 25 lines. Run asks" in explorer.point_view.value


def test_a_list_without_shipped_results_where_no_length_has_more_shares_names_its_own_alone(tables, silent):
    explorer = LengthExplorer(silent, results={"length": tables["length"], "volume": tables["volume"]})
    explorer.share.value = 0.5
    assert "For 25 lines there are some with 0 and 24 lookalikes. Run asks" in explorer.point_view.value


def test_lines_look_as_they_do_in_the_course_s_figures(position, tables, silent):
    def looks(widget):
        drawn = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", widget.point_view.value)]
        lines = [svg.findall("polyline") for svg in drawn]
        return [[(line.get("stroke"), line.get("stroke-dasharray")) for line in each] for each in lines]

    explorer = LengthExplorer(silent, results=tables)
    lookalikes, filler, by_share, hits = (series.colour for series in (LOOKALIKES, FILLER, BY_SHARE, MEASURED))
    assert looks(explorer) == [[(lookalikes, None), (filler, "2.25 2.25")], [(by_share, "9 2.25 2.25 2.25")]]
    squares, triangles = (
        re.findall(rf'<{shape} [^>]*fill="(#\w+)" stroke="(#\w+)"', explorer.point_view.value)
        for shape in ("rect", "polygon")
    )
    assert set(squares) == {("#FFFFFF", filler)}
    assert set(triangles) == {(by_share, by_share)}
    assert looks(PositionExplorer(silent, results=position)) == [[(hits, None)]]


# Every row


def test_every_row_is_asked_in_one_go_and_painted_by_its_kind(model):
    widget = EveryRow(model, records=9, seed=3)
    assert kinds_of_lines(widget) == [""] * 9
    press(widget)
    calls = sweeps.rows(9, trials=1, seed=3)
    assert model.computed == [call.messages()[-1]["content"] for call in calls]
    answers = trials.run(calls, Skimmer())
    assert kinds_of_lines(widget) == list(answers["kind"])
    assert len(set(answers["kind"])) > 1
    assert f"<b>{list(answers['kind']).count('hit')} of 9 hits</b>" in widget.summary.value
    about = answers.attrs["provenance"]
    for tokens in ("tokens_in_prompts", "distinct_tokens"):
        assert f"{about[tokens]:,}" in widget.summary.value
    assert f"{9 * 7} computed" in widget.summary.value
    assert "answered 9 of 9 prompts" in widget.summary.value
    for answer, found in zip(answers["answer"], answers["found_row"], strict=True):
        assert f"<code>{answer}</code>" in widget.register_view.value
        assert found in (0, 1, 7, 8)
    assert "</code> of line 9</span>" in widget.register_view.value


def test_stop_keeps_what_was_answered_and_the_next_run_asks_the_rest(model):
    widget = EveryRow(model, records=9)
    model.may_answer = threading.Semaphore(4)
    widget.runner.run_button.click()
    while len(model.computed) < 4:
        assert widget.runner.running
    widget.runner.stop_button.click()
    assert widget.runner.wait(PATIENCE)
    assert widget.runner.status.value == "Stopped."
    assert [bool(kind) for kind in kinds_of_lines(widget)] == [True] * 4 + [False] * 5
    assert "5 rows have no answer yet" in widget.summary.value
    assert "answered 4 of 9 prompts" in widget.summary.value
    assert f"{4 * 7} computed for these answers, {4 * 4} new; 1.0 seconds." in widget.summary.value
    model.may_answer = threading.Semaphore(100)
    press(widget)
    assert len(model.computed) == len(set(model.computed)) == 9
    assert all(kinds_of_lines(widget))
    assert f"{5 * 7} computed for these answers, {5 * 4} new" in widget.summary.value
    assert "4 of 9 answers from the completion store" in widget.summary.value
    assert "no answer yet" not in widget.summary.value


def test_what_is_on_the_page_stays_when_a_second_run_is_stopped_and_the_store_is_gone(model):
    widget = EveryRow(model, records=3)
    press(widget)
    painted = kinds_of_lines(widget)
    model.store.clear()
    model.may_answer = threading.Semaphore(0)
    widget.runner.run_button.click()
    widget.runner.stop_button.click()
    assert widget.runner.wait(PATIENCE)
    assert kinds_of_lines(widget) == painted
    assert all(painted)
    assert "of 3 hits" in widget.summary.value
    assert "no answer yet" not in widget.summary.value


def test_what_was_answered_before_an_error_is_shown(model):
    widget = EveryRow(model, records=4)
    model.may_answer = threading.Semaphore(2)
    widget.runner.run_button.click()
    while len(model.computed) < 2:
        assert widget.runner.running
    model.failure = RuntimeError("no room")
    model.may_answer.release()
    assert widget.runner.wait(PATIENCE)
    assert "no room" in widget.runner.status.value
    assert [bool(kind) for kind in kinds_of_lines(widget)] == [True] * 2 + [False] * 2
    assert f"{2 * 7} computed" in widget.summary.value


def test_stopped_before_the_first_answer_says_so(model):
    widget = EveryRow(model, records=3)
    model.may_answer = threading.Semaphore(0)
    widget.runner.run_button.click()
    widget.runner.stop_button.click()
    assert widget.runner.wait(PATIENCE)
    assert "before the first of 3 answers" in widget.summary.value or "Nothing has been asked" in widget.summary.value


def test_another_register_stops_the_run_and_the_first_one_keeps_its_answers(model):
    widget = EveryRow(model, records=9)
    model.may_answer = threading.Semaphore(2)
    widget.runner.run_button.click()
    while len(model.computed) < 2:
        assert widget.runner.running
    widget.seed.value = 2
    assert widget.runner.wait(PATIENCE)
    assert "the register has changed" in widget.runner.status.value
    assert kinds_of_lines(widget) == [""] * 9
    assert "Nothing has been asked" in widget.summary.value
    widget.seed.value = 1
    assert [bool(kind) for kind in kinds_of_lines(widget)] == [True] * 2 + [False] * 7


def test_a_register_of_one_and_the_largest_can_be_asked(model):
    widget = EveryRow(model, records=1)
    press(widget)
    assert kinds_of_lines(widget) == ["hit"]
    widget.records.value = widget.records.max
    assert kinds_of_lines(widget) == [""] * 50
    press(widget)
    assert all(kind in KINDS for kind in kinds_of_lines(widget))


def test_an_error_of_the_model_is_shown_and_the_button_comes_back(model):
    widget = EveryRow(model, records=3)
    model.failure = RuntimeError("no <room>")
    widget.runner.run_button.click()
    assert widget.runner.wait(PATIENCE)
    assert "no &lt;room&gt;" in widget.runner.status.value
    model.failure = None
    press(widget)
    assert all(kinds_of_lines(widget))


# What all of them share


def test_every_control_has_a_name_and_says_what_it_does(position, tables, model):
    for widget in (PositionExplorer(model, position), LengthExplorer(model, tables), EveryRow(model)):
        found = controls(widget)
        assert len(found) >= 4
        for control in found:
            assert control.description
            assert control.tooltip or control.icon


def test_the_lessons_functions_return_the_widgets(model):
    for made, kind in (
        (widgets.position_explorer(model), PositionExplorer),
        (widgets.length_explorer(model), LengthExplorer),
        (widgets.every_row(model), EveryRow),
    ):
        assert isinstance(made, kind)


def test_widgets_can_be_made_after_all_others_were_closed(position, tables, model):
    for kind, results in ((PositionExplorer, [position]), (LengthExplorer, [tables]), (EveryRow, [])):
        first = kind(model, *results)
        ipywidgets.Widget.close_all()
        second = kind(model, *results)
        for before, after in zip(controls(first), controls(second), strict=True):
            assert after.layout is not before.layout
            assert after.comm is not None
            assert after.layout.comm is not None
    explorer = PositionExplorer(model, position)
    assert explorer.depth.layout is not explorer.trial.layout
    assert explorer.depth.layout.width == explorer.trial.layout.width == "30em"


def test_an_explorer_has_to_say_what_its_points_are(position, model):
    class Unfinished(PointExplorer):
        pass

    explorer = PositionExplorer(model, position)
    unfinished = Unfinished(model, [], explorer.cells, explorer._calls)
    assert "NotImplementedError" in unfinished.problem.value
    for ask in (
        lambda: unfinished.point,
        lambda: unfinished.make_calls(0),
        lambda: unfinished.title(explorer.call),
        unfinished.curves,
        unfinished.without_cell,
    ):
        with pytest.raises(NotImplementedError):
            ask()


@pytest.mark.parametrize("kind", [PositionExplorer, LengthExplorer])
def test_every_shipped_answer_is_to_the_very_question_that_run_would_ask(kind, silent):
    explorer = kind(silent)
    assert explorer.notes == ()
    for point, cell in explorer.cells.items():
        for trial, answered in cell.answers.items():
            call = explorer._calls[point][trial]
            assert answered.belongs_to(call)
            assert call.score(answered.answer)[::2] == (answered.kind, answered.found_row)


def test_markup_in_an_answer_stays_text(tables, silent):
    explorer = LengthExplorer(silent, results=tables)
    explorer.length.value, explorer.share.value = 50, 0.0
    assert "&lt;b&gt;nobody" in explorer.shipped_view.value
    assert "✗ neither" in explorer.shipped_view.value
    assert "<b>nobody" not in "".join(views(explorer))


@given(st.lists(st.integers(0, 200), min_size=3, max_size=3).filter(any))
def test_the_bar_is_as_long_as_the_shares(numbers):
    counts = dict(zip(KINDS, numbers, strict=True))
    shown = kinds_bar(counts)
    widths = dict(re.findall(r'data-kind="([^"]+)" style="width:([\d.]+)%', shown))
    assert set(widths) == {kind for kind in KINDS if counts[kind]}
    for kind, width in widths.items():
        assert float(width) == pytest.approx(100 * counts[kind] / sum(numbers), abs=0.01)
    for kind in KINDS:
        assert f"{counts[kind]} {kind}" in shown


def test_curves_are_well_formed_and_hold_every_point_inside(position):
    cells = cells_by(position, lambda answered: answered.depth)
    line = Line("hits <all>", [Point(depth, f"depth {depth}", cells[depth]) for depth in sorted(cells)])
    elsewhere = cells_by(position[position["depth"] == 0], lambda answered: answered.depth)[0.0]
    currents = ((Current(0.5, cells[0.5]), 1), (Current(0.3, elsewhere), 2), (Current(0.3), 0), (None, 0))
    for current, marks_of_it in currents:
        both = [line, line._replace(look=FILLER)]
        drawn = ElementTree.fromstring(curve_svg(both, current, ((0, "0"), (1, "1")), "&"))
        width, height = float(drawn.get("width")), float(drawn.get("height"))
        circles, squares = drawn.findall("circle"), drawn.findall("rect")[1:]
        assert len(circles) == len(cells) + 1 + marks_of_it
        told = [f"{cells[depth].share:.0%} at depth {depth}" for depth in sorted(cells)]
        assert drawn.get("aria-label") == f"&: hits <all>, {', '.join(told)}; hits <all>, {', '.join(told)}"
        assert len(squares) == len(cells) + 1
        assert len(drawn.findall("line[@class='current']")) == (current is not None)
        assert all(0 < float(c.get("cx")) < width and 0 < float(c.get("cy")) < height for c in circles)
    assert "no results to draw" in curve_svg([Line("hits", [])], Current(0), ((0, "1"),), "title")


def test_filler_is_printed_paler_and_folds_keep_the_marks_in_sight():
    lines = [f"line {number}" for number in range(140)]
    shown = lines_html(lines, 50, {100}, set(range(0, 140, 2)) - {50, 100})
    outside = re.sub(r"<details>.*?</details>", "", shown, flags=re.S)
    assert 'data-row="50" data-mark="needle"' in outside
    assert 'data-row="100" data-mark="rival"' in outside
    assert shown.count("data-faint") == 68
    assert "more lines" in shown
