"""What widgets do whose counting takes long: at once where it is short, and else with a bar, Stop and nothing stale."""

from __future__ import annotations

import re
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.agent.accounting import Remembering, bill
from ctxcourse.agent.probes import Fact
from ctxcourse.agent.transcript import Transcript
from ctxcourse.policies import FullHistory, sliding_window
from ctxcourse.widgets import running, turn_explorer
from ctxcourse.widgets.account import account
from ctxcourse.widgets.playground import POLICIES, PolicyPlayground
from ctxcourse.widgets.running import Recounter, Runner

PATIENCE = 20  # seconds until a test gives up on a thread
FACT = Fact("room", "7061", ("Which number?",), says=("room",))


class Words:
    """A counter that counts words; it encodes a prompt once it is allowed to."""

    def __init__(self):
        self.may_encode = threading.Semaphore(1_000_000)
        self.prompts = 0

    def count_text(self, text):
        return len(text.split())

    def token_spans(self, text):
        return [match.span() for match in re.finditer(r"\S+", text)]

    def encode_prompt(self, messages, tools=None):
        assert self.may_encode.acquire(timeout=PATIENCE)
        self.prompts += 1
        return [hash(word) for message in messages for word in f"{message['role']} {message['content']} .".split()]

    def count_prompt(self, messages, tools=None):
        return sum(len(f"{message['role']} {message['content']} .".split()) for message in messages)


def talk(turns):
    made = [{"role": "system", "content": "Be brief."}]
    for turn in range(1, turns + 1):
        said = "The room's number is 7061." if turn == 2 else f"Is {turn} open?"
        made += [{"role": "user", "content": said}, {"role": "assistant", "content": f"Yes, {turn} is."}]
    return Transcript(made)


@pytest.fixture(scope="module")
def run():
    return talk(8)


@pytest.fixture
def hurry(monkeypatch):
    """Counting is late at once, and the bar is drawn often."""
    monkeypatch.setattr(running, "SHOW_AFTER", 0.02)
    monkeypatch.setattr(running, "TICK", 0.01)


def shown(recounter):
    return recounter.row.layout.display != "none"


def eventually(is_so):
    waited = threading.Event()
    for _ in range(PATIENCE * 100):
        if is_so():
            return True
        waited.wait(0.01)
    return False


# The runner


def test_short_work_is_done_when_again_returns_and_no_button_appears():
    results, late = [], []
    recounter = Recounter(lambda: (0, lambda should_stop: 7), results.append, late=lambda: late.append(1))
    recounter.again()
    assert results == [7]
    assert not shown(recounter)
    assert late == []
    assert recounter.bar.value == recounter.status.value == ""


def test_long_work_goes_on_with_a_bar_of_its_share_and_hides_the_buttons_at_its_end(hurry):
    gate, results, late = threading.Event(), [], []
    recounter = Recounter(
        lambda: (0, lambda should_stop: gate.wait(PATIENCE)), results.append, late=lambda: late.append(1)
    )
    recounter.again()
    assert recounter.running
    assert results == []
    assert eventually(lambda: shown(recounter))
    recounter.share = 0.4
    assert eventually(lambda: 'value="0.40"' in recounter.bar.value)
    assert "40% done" in recounter.bar.value
    gate.set()
    assert recounter.wait(PATIENCE)
    assert results == [True]
    assert late == [1]
    assert not shown(recounter)
    assert recounter.bar.value == ""


def test_a_second_start_stops_the_first_and_shows_the_second_alone(hurry):
    begun, results = [], []

    def prepare():
        number = len(begun)
        begun.append(number)

        def work(should_stop):
            while number == 0 and not should_stop():
                threading.Event().wait(0.01)
            return number

        return 0, work

    recounter = Recounter(prepare, results.append)
    recounter.again()
    assert recounter.running
    recounter.again()
    assert recounter.wait(PATIENCE)
    assert results == [1]
    assert not shown(recounter)


def test_the_explorer_says_what_a_counter_lacks(run):
    class Counts(Words):
        encode_prompt = property(lambda self: self.missing)

        def render(self, messages, tools=None):
            return ""

        split_prompt = labelled = lambda self, messages, tools=None: []

    with pytest.raises(AttributeError):
        Counts().encode_prompt  # noqa: B018
    assert "a Counts has no encode_prompt(messages, tools)" in str(turn_explorer(run, Counts()).runner.error)


def test_an_error_is_shown_with_the_button_that_starts_again():
    failing, late = [True], []

    def work(should_stop):
        if failing:
            raise RuntimeError("no <room>")

    recounter = Recounter(lambda: (0, work), lambda _: None, late=lambda: late.append(1))
    recounter.again()
    assert "no &lt;room&gt;" in recounter.status.value
    assert shown(recounter)
    assert late == [1]
    failing.clear()
    recounter.run_button.click()
    assert recounter.wait(PATIENCE)
    assert recounter.status.value == ""
    assert not shown(recounter)


def test_counting_does_not_wait_for_the_answer_of_another_widget():
    gate, results = threading.Event(), []
    answering = Runner(lambda: (0, lambda should_stop: gate.wait(PATIENCE)), lambda _: None)
    answering.start()
    counting = Recounter(lambda: (0, lambda should_stop: 7), results.append)
    counting.again()
    counted = list(results)
    gate.set()
    assert answering.wait(PATIENCE)
    assert counted == [7]


# The account


def test_an_account_tells_how_far_it_is_and_ends_where_it_is_told_to(run):
    shares = []
    account(run, FullHistory(), Words(), [FACT], shares.append)
    assert shares == [part / 16 for part in range(16)]

    def stop(share):
        if share >= 0.5:
            raise InterruptedError

    counter = Words()
    with pytest.raises(InterruptedError):
        account(run, FullHistory(), counter, [FACT], stop)
    assert counter.prompts == 0


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab \N{SNOWMAN}"), st.sampled_from(["", "t"])), min_size=1, max_size=12),
)
def test_remembered_sizes_are_those_of_the_counter(asked):
    plain, remembering = Words(), Remembering(Words())
    for content, name in asked:
        messages, tools = [{"role": "user", "content": content}], [{"name": name}] if name else None
        assert remembering.count_prompt(messages, tools) == plain.count_prompt(messages, tools)
        assert remembering.count_text(content) == plain.count_text(content)


def test_a_prompt_is_counted_once_and_another_one_by_itself():
    counter = Words()
    counted = []
    counter.count_prompt = lambda messages, tools=None: counted.append((messages, tools)) or len(counted)
    remembering = Remembering(counter)
    one, other = [{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]
    sizes = [remembering.count_prompt(*prompt) for prompt in ((one,), (other,), (one, []), (one, [{"name": "t"}]))]
    assert sizes == [1, 2, 1, 3]


# The playground


def test_a_long_count_is_shown_when_it_is_done_and_is_that_of_a_short_one(run, hurry):
    counter = Words()
    counter.may_encode = threading.Semaphore(3)
    playground = PolicyPlayground(run, counter, [FACT])
    assert playground.runner.running
    assert playground.view.value == ""
    assert eventually(lambda: "% done" in playground.runner.bar.value)
    assert shown(playground.runner)
    counter.may_encode.release(1_000)
    assert playground.runner.wait(PATIENCE)
    assert not shown(playground.runner)
    short = PolicyPlayground(run, Words(), [FACT])
    assert short.runner.wait(PATIENCE)
    assert playground.view.value == short.view.value != ""


def test_figures_of_another_setting_are_taken_away_and_a_stopped_count_can_be_taken_up(run, hurry):
    counter = Words()
    playground = PolicyPlayground(run, counter, [FACT])
    assert playground.runner.wait(PATIENCE)
    first = playground.view.value
    counter.may_encode = threading.Semaphore(0)
    playground.last.value = 3
    assert eventually(lambda: playground.view.value == "")
    playground.runner.stop_button.click()
    counter.may_encode.release(1)
    assert playground.runner.wait(PATIENCE)
    assert playground.runner.status.value == "Stopped."
    assert playground.view.value == ""
    assert shown(playground.runner)
    counter.may_encode.release(1_000)
    counter.prompts = 0
    playground.runner.run_button.click()
    assert playground.runner.wait(PATIENCE)
    assert counter.prompts == len(run.calls())  # full history was counted, and stays counted
    assert playground.runner.status.value == ""
    assert playground.view.value not in ("", first)
    assert not shown(playground.runner)


def test_a_move_stops_the_count_of_the_setting_before(run, hurry):
    counter = Words()
    playground = PolicyPlayground(run, counter, [FACT])
    assert playground.runner.wait(PATIENCE)
    counter.may_encode = threading.Semaphore(0)
    playground.last.value = 3
    assert playground.runner.running
    counter.may_encode.release(1_000)
    playground.policy.value = "user messages + last turns"
    assert playground.runner.wait(PATIENCE)
    assert playground.runner.error is None
    fresh = PolicyPlayground(run, Words(), [FACT])
    fresh.policy.value = "user messages + last turns"
    assert fresh.runner.wait(PATIENCE)
    assert playground.view.value == fresh.view.value != ""


MOVES = st.one_of(
    st.tuples(st.just("policy"), st.sampled_from(list(POLICIES))),
    st.tuples(st.just("last"), st.integers(1, 12)),
    st.tuples(st.just("turns"), st.integers(1, 20)),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(MOVES, max_size=6))
def test_what_is_shown_depends_on_where_the_controls_are_and_not_on_what_was_interrupted(moves):
    run = talk(4)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(running, "SHOW_AFTER", 0)  # no move waits for its count
        moved, fresh = (PolicyPlayground(run, Words(), [FACT]) for _ in range(2))
        for control, value in moves:
            getattr(moved, control).value = value
        for control in ("last", "turns", "policy"):
            getattr(fresh, control).value = getattr(moved, control).value
        assert moved.runner.wait(PATIENCE)
        assert fresh.runner.wait(PATIENCE)
    assert moved.view.value == fresh.view.value != ""
    assert not shown(moved.runner)


def test_the_last_call_of_a_window_is_the_figure_that_is_shown(run):
    playground = PolicyPlayground(run, Words(), [FACT])
    playground.last.value = 2
    assert playground.runner.wait(PATIENCE)
    made = account(run, sliding_window(2), Words(), [FACT])
    assert playground.account() == made
    assert f"{made.billed:,}" in playground.view.value


# The turn explorer


class Slow:
    """The course's tokenizer, which encodes prompts for a bill once it may."""

    def __init__(self, tokenizer, allowed):
        self.tokenizer, self.may_encode = tokenizer, threading.Semaphore(allowed)

    def __getattr__(self, name):
        return getattr(self.tokenizer, name)

    def encode_prompt(self, messages, tools=None):
        assert self.may_encode.acquire(timeout=PATIENCE)
        return self.tokenizer.encode_prompt(messages, tools)


@pytest.mark.model
def test_the_prompt_of_a_call_is_there_while_a_long_run_is_billed(run, hurry):
    slow = Slow(load_tokenizer(), 4)
    explorer = turn_explorer(run, slow)
    assert explorer.runner.running
    assert eventually(lambda: "% done" in explorer.runner.bar.value)
    explorer.call.value = 5
    assert "The prompt of call 5" in explorer.prompt.value
    assert "when the whole run has been billed" in explorer.figures.value
    slow.may_encode.release(1_000)
    made = bill(run, load_tokenizer())
    assert explorer.bill == made
    assert f"<b>{made.calls[4].billed_so_far:,}</b>" in explorer.figures.value
    assert not shown(explorer.runner)


@pytest.mark.model
def test_a_bill_that_was_stopped_is_made_when_it_is_asked_for(run, hurry):
    slow = Slow(load_tokenizer(), 4)
    explorer = turn_explorer(run, slow)
    explorer.runner.stop_button.click()
    slow.may_encode.release(1)
    assert explorer.runner.wait(PATIENCE)
    assert explorer.runner.status.value == "Stopped."
    assert "has been billed" in explorer.figures.value
    slow.may_encode.release(1_000)
    assert explorer.billed() == bill(run, load_tokenizer()).calls[0]
    assert "has been billed" not in explorer.figures.value


@pytest.mark.model
def test_an_error_at_a_move_is_shown_and_gone_with_the_next(run, monkeypatch):
    explorer = turn_explorer(run, load_tokenizer())
    monkeypatch.setattr(explorer, "_prompt_html", lambda call: 1 / 0)
    explorer.call.value = 2
    assert "ZeroDivisionError" in explorer.problem.value
    monkeypatch.undo()
    explorer.call.value = 3
    assert explorer.problem.value == ""
