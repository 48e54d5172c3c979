"""The playground of memory policies without a browser: its figures are those of the bill, at every setting."""

from __future__ import annotations

import re

import ipywidgets as W
import pytest

from ctxcourse import load_tokenizer
from ctxcourse.agent.accounting import bill, bill_of_prompts
from ctxcourse.agent.probes import Fact, held
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.agent.transcript import Transcript
from ctxcourse.policies import FullHistory, Pinned, UserMessages, elided_results, replay, sliding_window
from ctxcourse.widgets import policy_playground
from ctxcourse.widgets.account import account
from ctxcourse.widgets.playground import PLACES, POLICIES, PlaygroundError, PolicyPlayground

pytestmark = pytest.mark.model

PATIENCE = 20  # seconds until a test gives up on a thread
ROOM = Fact("employee number", "7061", ("Which number?",), says=("room",))


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer()


@pytest.fixture(scope="module")
def run():
    """Turns with a call each; the second says what is asked for later, and the newest name it without saying it."""
    messages = [{"role": "system", "content": "Be brief."}]
    for turn in range(1, 9):
        said = "The room's number is 7061." if turn == 2 else f"Is <b>{turn}</b> open? Log 7061 & co."
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "look", "arguments": {"at": turn}}}
        messages += [
            {"role": "user", "content": said if turn in (2, 8) else f"Is <b>{turn}</b> open?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": f"It is open. {'The sign says so. ' * 20}"},
            {"role": "assistant", "content": "Yes."},
        ]
    tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
    return Transcript(messages, [tool])


@pytest.fixture
def playground(run, tokenizer):
    return PolicyPlayground(run, tokenizer, [ROOM], block="The room: 7061.")


def choose(widget, policy, last=12, turns=4, place="in the system message"):
    widget.last.value, widget.turns.value, widget.place.value = last, turns, place
    widget.policy.value = policy
    assert widget.runner.wait(PATIENCE)
    return widget.account()


def shown(widget, row):
    cells = re.search(rf'data-row="{row}">.*?</tr>', widget.view.value)[0]
    return [int(text.replace(",", "")) for text in re.findall(r">([\d,]+)<", cells)]


@pytest.mark.parametrize(
    ("setting", "policy"),
    [
        ({"policy": "full history"}, FullHistory()),
        ({"policy": "sliding window", "last": 5}, sliding_window(5)),
        ({"policy": "elided tool results", "turns": 2}, elided_results(2)),
        ({"policy": "user messages + last turns", "turns": 3}, UserMessages(3)),
        ({"policy": "pinned block", "last": 5}, Pinned("The room: 7061.", "system", 5)),
        (
            {"policy": "pinned block", "last": 3, "place": "at the end of the prompt"},
            Pinned("The room: 7061.", "end", 3),
        ),
    ],
    ids=lambda value: value.get("policy", "") if isinstance(value, dict) else "",
)
def test_the_figures_are_those_of_the_bill(playground, run, tokenizer, setting, policy):
    made = choose(playground, **setting)
    assert playground.runner.error is None
    kept = [each.messages for each in replay(run.messages, policy, tokenizer, [call.index for call in run.calls()])]
    billed = bill_of_prompts(kept, run.tools, tokenizer)
    assert (made.billed, made.recomputed) == (billed.billed, billed.recomputed)
    assert list(made.sizes) == [call.prompt_tokens for call in billed.calls]
    assert made.last.total == billed.calls[-1].prompt_tokens
    assert made.held == (held(ROOM, kept[-2]),)
    full = bill(run, tokenizer)
    assert shown(playground, "billed input tokens") == [billed.billed, full.billed]
    assert shown(playground, "a prefix cache recomputes") == [billed.recomputed, full.recomputed]
    assert shown(playground, "– tool results") == [billed.calls[-1].tool_results, full.calls[-1].tool_results]
    assert f"{billed.billed / full.billed:.0%}" in playground.view.value


def test_stated_present_and_absent_are_told_apart(playground):
    def state(**setting):
        choose(playground, **setting)
        return re.search(r'data-fact="employee number" data-state="(\w+)"', playground.view.value)[1]

    assert state(policy="full history") == "stated"
    assert state(policy="user messages + last turns", turns=1) == "stated"
    assert state(policy="sliding window", last=4) == "present"
    assert state(policy="pinned block", last=1) == "stated"


def test_a_fact_that_is_nowhere_in_the_last_turn_is_absent(run, tokenizer):
    other = Fact("employee number", "5555", ("Which number?",), says=("room",))
    widget = PolicyPlayground(run, tokenizer, [other])
    assert widget.runner.wait(PATIENCE)
    assert 'data-state="absent"' in widget.view.value


@pytest.mark.parametrize("policy", POLICIES)
def test_a_control_that_the_policy_does_not_heed_is_disabled(playground, policy):
    choose(playground, policy)
    for name in ("last", "turns", "place"):
        assert getattr(playground, name).disabled == (name not in POLICIES[policy])


def test_the_line_has_a_point_for_each_call(playground, run):
    made = choose(playground, "sliding window", last=2)
    drawn = re.findall(r'points="([^"]+)"', playground.view.value)
    assert [len(points.split()) for points in drawn] == [len(run.calls())] * 2
    assert f"at most {max(made.sizes):,}" in re.search(r'role="img" aria-label="([^"]+)"', playground.view.value)[1]


def test_a_setting_is_counted_once(playground, monkeypatch):
    choose(playground, "user messages + last turns", turns=2)
    first = playground.view.value
    choose(playground, "full history")
    monkeypatch.setattr("ctxcourse.widgets.playground.account", lambda *_: 1 / 0)
    choose(playground, "user messages + last turns", turns=2)
    assert playground.view.value == first
    assert playground.runner.status.value == ""
    playground.turns.value = 5
    assert playground.runner.wait(PATIENCE)
    assert "ZeroDivisionError" in playground.runner.status.value
    assert "alert" in playground.runner.status.value
    assert playground.view.value == ""


def test_what_a_fact_says_is_escaped(run, tokenizer):
    widget = PolicyPlayground(run, tokenizer, [Fact("employee number", "<script>7061", ("Which?",))])
    assert widget.runner.wait(PATIENCE)
    assert "<script" not in widget.view.value
    assert "&lt;script&gt;7061" in widget.view.value


def test_controls_have_names_and_say_what_they_do(playground):
    grid = playground.children[0]
    assert isinstance(grid, W.HBox)
    for control in grid.children:
        assert control.description
        assert control.tooltip
    assert playground.last.max == 33
    assert list(playground.place.options) == list(PLACES)


def test_a_recording_without_calls_is_refused(tokenizer):
    with pytest.raises(PlaygroundError, match="none of the 1 messages is from the assistant"):
        policy_playground(Transcript([{"role": "user", "content": "Hello?"}]), tokenizer)


def test_one_call_is_a_run(tokenizer):
    run = Transcript([{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi."}])
    made = account(run, FullHistory(), tokenizer)
    assert made.billed == made.recomputed == made.last.total == tokenizer.count_prompt(run.messages[:1])
    playground = policy_playground(run, tokenizer)
    assert playground.runner.wait(PATIENCE)
    assert playground.runner.error is None
    assert playground.view.value


def test_the_shipped_run_keeps_both_facts_with_what_the_user_said_and_neither_in_a_window(tokenizer):
    widget = policy_playground(shipped_run(), tokenizer)
    states = {}
    for policy in ("sliding window", "user messages + last turns"):
        choose(widget, policy)
        states[policy] = re.findall(r'data-state="(\w+)"', widget.view.value)
    assert states == {"sliding window": ["absent", "absent"], "user messages + last turns": ["stated", "stated"]}
