"""The widgets without a browser: what buttons and sliders do, on a small model that is slow on request."""

from __future__ import annotations

import re
import threading

import pytest

from ctxcourse import needle
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.widgets import BudgetExplorer, NeedleExplorer, budget_explorer
from ctxcourse.widgets.needle import register_html
from ctxcourse.widgets.running import Runner, bar_html, error_html

PATIENCE = 20  # seconds until a test gives up on a thread


class LastNumber:
    """A model that answers with the last record's number, once it is allowed to."""

    network = None

    def __init__(self):
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.failure = None

    def count_prompt(self, messages, tools=None):
        return sum(len(message["content"].split()) for message in messages)

    pending_tokens = count_prompt

    def complete(self, prompt, tools=None, max_new_tokens=64, should_stop=lambda: False):
        while not self.may_answer.wait(0.01):
            if should_stop():
                raise Cancelled("stopped")
        if self.failure:
            raise self.failure
        answer = re.findall(r"extension (\d{4})", prompt[-1]["content"])[-1]
        return Completion(answer, self.count_prompt(prompt), 7, 4, 0.25, "stop", "test")


@pytest.fixture
def model():
    return LastNumber()


@pytest.fixture
def explorer(model):
    return NeedleExplorer(model, length=9, depth=0.5, seed=3)


def marked(view, mark):
    return [int(row) for row in re.findall(rf'data-row="(\d+)" data-mark="{mark}"', view.value)]


def run(explorer):
    explorer.runner.run_button.click()
    assert explorer.runner.wait(PATIENCE)


def test_moving_a_slider_redraws_the_register_at_once_and_asks_nothing(explorer, model):
    model.failure = AssertionError("the model was asked")
    question = needle.question(*explorer.current())
    for depth in needle.DEPTHS:
        explorer.depth.value = depth
        assert marked(explorer.register_view, "needle") == [round(depth * 8)]
        assert question in explorer.question.value
    explorer.length.value = 140
    assert marked(explorer.register_view, "needle") == [139]
    assert explorer.register_view.value.count("data-row=") == 140
    assert explorer.outcome is None
    assert explorer.runner.error is None


def test_an_answer_is_shown_with_its_class_tokens_and_seconds(explorer):
    explorer.depth.value = 1
    run(explorer)
    assert explorer.outcome.kind == "hit"
    for shown in (explorer.outcome.right, "✓ hit", "7 of them computed", "0.2 seconds"):
        assert shown in explorer.answer.value
    assert marked(explorer.register_view, "rival") == []


def test_the_record_whose_number_was_given_instead_is_marked(explorer):
    run(explorer)
    assert explorer.outcome.kind == "other record"
    assert "⇄ other record" in explorer.answer.value
    assert marked(explorer.register_view, "rival") == [8]
    assert marked(explorer.register_view, "needle") == [4]


def test_moving_a_slider_takes_the_answer_away_and_the_table_keeps_it(explorer):
    run(explorer)
    answered = explorer.outcome.answer
    explorer.seed.value = 4
    assert explorer.outcome is None
    assert "Press Run" in explorer.answer.value
    assert marked(explorer.register_view, "rival") == []
    assert answered in explorer.history.value


def test_run_is_disabled_while_running_and_the_stale_answer_is_gone(explorer, model):
    run(explorer)
    model.may_answer.clear()
    explorer.runner.run_button.click()
    assert explorer.runner.run_button.disabled
    assert not explorer.runner.stop_button.disabled
    assert explorer.answer.value == ""
    assert explorer.outcome is None
    model.may_answer.set()
    assert explorer.runner.wait(PATIENCE)
    assert not explorer.runner.run_button.disabled
    assert explorer.runner.stop_button.disabled
    assert explorer.outcome is not None


def test_stop_ends_a_run_without_an_answer_and_the_next_run_works(explorer, model):
    model.may_answer.clear()
    explorer.runner.run_button.click()
    explorer.runner.stop_button.click()
    assert explorer.runner.wait(PATIENCE)
    assert explorer.runner.status.value == "Stopped."
    assert explorer.outcome is None
    model.may_answer.set()
    run(explorer)
    assert explorer.outcome is not None
    assert explorer.runner.status.value == ""


def test_moving_a_slider_stops_a_run_for_the_old_register(explorer, model):
    model.may_answer.clear()
    explorer.runner.run_button.click()
    explorer.depth.value = 1
    assert marked(explorer.register_view, "needle") == [8]
    assert explorer.runner.wait(PATIENCE)
    assert "register has changed" in explorer.runner.status.value
    assert explorer.outcome is None


def test_an_error_of_the_model_is_shown_escaped_and_the_button_comes_back(explorer, model):
    model.failure = RuntimeError("no room for <b>this</b>")
    run(explorer)
    assert "no room for &lt;b&gt;this&lt;/b&gt;" in explorer.runner.status.value
    assert explorer.runner.error is model.failure
    assert not explorer.runner.run_button.disabled
    model.failure = None
    run(explorer)
    assert explorer.runner.error is None
    assert explorer.outcome is not None


def test_an_error_while_redrawing_is_shown(explorer, model):
    def broken(messages, tools=None):
        raise needle.RegisterError("cannot count")

    model.count_prompt = broken
    explorer.depth.value = 0
    assert "cannot count" in explorer.runner.status.value


def test_an_error_before_the_work_is_shown_and_the_button_comes_back():
    def refuse():
        raise ValueError("nothing to do")

    runner = Runner(refuse, lambda result: None)
    runner.run_button.click()
    assert runner.wait(PATIENCE)
    assert "nothing to do" in runner.status.value
    assert not runner.run_button.disabled


def test_an_error_while_showing_a_result_is_shown():
    def show(result):
        raise KeyError("colour")

    runner = Runner(lambda: (1, lambda should_stop: 1), show)
    runner.run_button.click()
    assert runner.wait(PATIENCE)
    assert "KeyError" in runner.status.value


def test_two_widgets_compute_one_after_the_other():
    at_once, most = 0, 0
    both = threading.Barrier(2)

    def work(should_stop):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        threading.Event().wait(0.05)
        at_once -= 1

    def prepare():
        return 1, work

    runners = [Runner(prepare, lambda result: None) for _ in range(2)]
    starters = [threading.Thread(target=lambda r=r: (both.wait(), r.start())) for r in runners]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    assert all(runner.wait(PATIENCE) for runner in runners)
    assert most == 1


def test_a_second_start_during_a_run_changes_nothing():
    runs = []
    gate = threading.Event()
    runner = Runner(lambda: (1, lambda should_stop: gate.wait(PATIENCE)), runs.append)
    runner.start()
    runner.start()
    gate.set()
    assert runner.wait(PATIENCE)
    assert runs == [True]


def test_the_bar_is_filled_only_by_what_is_known():
    assert "value=" not in bar_html(3.0, None)
    assert 'value="0.75"' in bar_html(3.0, 4.0)
    assert "value=" not in bar_html(9.0, 4.0)
    assert "stopping" in bar_html(3.0, 4.0, stopping=True)


def test_errors_of_the_course_are_shown_as_text_and_others_with_their_traceback():
    for error, with_traceback in ((needle.RegisterError("row 7"), False), (ValueError("row 7"), True)):
        try:
            raise error
        except ValueError as caught:
            shown = error_html(caught)
        assert "row 7" in shown
        assert ("Traceback" in shown) == with_traceback


def test_long_registers_are_folded_and_marks_stay_in_sight():
    register = needle.register(records=140, seed=1)
    found = register.records[100].extension
    shown = register_html(register, row=50, found=found)
    outside_folds = re.sub(r"<details>.*?</details>", "", shown, flags=re.S)
    assert shown.count("data-row=") == 140
    for row in (0, 50, 100, 139):
        assert f'data-row="{row}"' in outside_folds
    assert outside_folds.count("data-row=") < 40
    counts = [int(number) for number in re.findall(r"… (\d+) more records", shown)]
    assert sum(counts) + outside_folds.count("data-row=") == 140


def test_the_budget_starts_at_the_published_example():
    explorer = budget_explorer()
    assert explorer.parts() == {
        "system": 500,
        "tools": 8_000,
        "documents": 4_000,
        "history": 6_000,
        "query": 200,
        "generation": 4_000,
    }
    for figure in ("22,700", "17.7 %", "105,300"):
        assert figure in explorer.figures.value
    assert "22,700 of a window of 128,000 (18 %)" in explorer.picture.value


def test_picture_and_figures_follow_every_slider():
    explorer = BudgetExplorer(window=32_768)
    for slider in explorer.sliders[:-1]:
        before = explorer.figures.value, explorer.picture.value
        slider.value += slider.step * 4
        assert explorer.figures.value != before[0]
        assert explorer.picture.value != before[1]
    explorer.window.value = 4_096
    over = sum(explorer.parts().values()) - 4_096
    assert f"{over:,} too many" in explorer.picture.value
    assert "too many" in explorer.figures.value
    assert explorer.problem.value == ""


def test_the_budget_takes_a_readers_own_figures():
    explorer = budget_explorer(tools=12, tokens_per_tool=151, system=9_999, window=32_768)
    assert explorer.parts()["tools"] == 1_812
    assert explorer.parts()["system"] == 9_999
    assert explorer.window.value == 32_768
