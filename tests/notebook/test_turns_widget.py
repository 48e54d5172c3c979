"""The turn explorer without a browser: the prompt of every call is shown whole, and its figures are the bill's."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.agent.accounting import BilledCall, bill
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.agent.transcript import Transcript
from ctxcourse.errors import CourseError
from ctxcourse.samples import load_sample
from ctxcourse.widgets import turn_explorer
from ctxcourse.widgets.turns import figures_html

TOOL = {"name": "look", "description": "Look <i>closely</i>.", "parameters": {"type": "object", "properties": {}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": {"at": "<b>"}}}
HOSTILE = Transcript(
    [
        {"role": "user", "content": "<script>alert(1)</script> & <|im_end|>" + " <b>long</b>" * 60},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": '<img src="x" onerror="alert(2)">'},
        {"role": "assistant", "content": "<marquee>"},
        {"role": "assistant", "content": ""},
    ],
    [TOOL],
)


@pytest.fixture(scope="module")
def tok():
    return load_tokenizer()


@pytest.fixture(scope="module")
def session():
    return Transcript(*load_sample())


@pytest.fixture(scope="module")
def explorer(session, tok):
    return turn_explorer(session, tok)


def prompt_of(widget):
    """The text of the prompt that is shown, without the widget's own notes."""
    body = re.search(r'<div class="ctx-turn".*?>(.*)</div><div class="ctx-answer"', widget.prompt.value, re.DOTALL)[1]
    without_notes = re.sub(r'<em data-note="true".*?</em>', "", body, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "", without_notes))


@pytest.mark.model
def test_every_call_shows_its_prompt_whole_though_folded(explorer, session, tok):
    for call in session.calls():
        explorer.call.value = call.number
        assert prompt_of(explorer) == tok.render(session.prompt(call), session.tools)
    assert explorer.prompt.value.count("<details") > 3


@pytest.mark.model
def test_the_figures_are_those_of_the_bill(explorer, session, tok):
    made = bill(session, tok)
    for billed in made.calls:
        explorer.call.value = billed.call
        assert explorer.billed() == billed
        shown = explorer.figures.value
        for size in (billed.prompt_tokens, billed.billed_so_far, billed.recomputed):
            assert f"<b>{size:,}</b>" in shown
        for name in ("system", "tools", "conversation", "tool_results"):
            assert f"{name.replace('_', ' ')} <b>{getattr(billed, name):,}</b>" in shown


@pytest.mark.model
def test_the_slider_is_named_by_turn_and_call(explorer, session):
    labels = [label for label, _ in explorer.call.options]
    assert labels == [f"turn {call.turn}, call {call.number}" for call in session.calls()]
    assert explorer.call.description
    assert str(len(labels)) in explorer.call.tooltip


@pytest.mark.model
def test_screen_readers_are_told_the_bar_and_the_region(explorer):
    explorer.call.value = 2
    billed = explorer.billed()
    label = re.search(r'role="img" aria-label="([^"]+)"', explorer.figures.value)[1]
    assert label.startswith(f"Call 2 of 10, turn {billed.turn}: a prompt of {billed.prompt_tokens:,} tokens")
    assert f"tool results {billed.tool_results:,}" in label
    assert re.search(r'role="region" tabindex="0" aria-label="The prompt of call 2, turn 1', explorer.prompt.value)


@pytest.mark.model
def test_what_is_new_is_marked_where_it_begins(explorer, session):
    explorer.call.value = 1
    assert "new since" not in explorer.prompt.value
    for call, last in zip(session.calls()[1:], session.calls(), strict=False):
        explorer.call.value = call.number
        before, after = (re.sub(r"<[^>]*>", "", part) for part in explorer.prompt.value.split("▼"))
        between = session.messages[last.index : call.index]
        assert before.count("&lt;|im_start|&gt;") == _blocks(session.messages[: last.index])
        assert after.split("The model answers")[0].count("&lt;|im_start|&gt;") == _blocks(between) + 1


def _blocks(messages):
    """How many blocks the template makes of them: tool results in a row share one."""
    roles = [message["role"] for message in messages]
    return sum(role != "tool" or roles[place - 1] != "tool" for place, role in enumerate(roles))


@pytest.mark.model
def test_a_fold_says_what_is_behind_it(explorer, session, tok):
    explorer.call.value = 1
    folded = re.findall(r"<summary.*?</summary>", explorer.prompt.value)
    hidden = re.search(r"([\d,]+) more tokens of tools", folded[0])[1]
    assert 0.9 * explorer.billed().tools < int(hidden.replace(",", "")) < explorer.billed().tools
    assert "open>" not in explorer.prompt.value


@pytest.mark.model
def test_markup_in_a_run_stays_text(tok):
    hostile = turn_explorer(HOSTILE, tok)
    for call in HOSTILE.calls():
        hostile.call.value = call.number
        assert prompt_of(hostile) == tok.render(HOSTILE.prompt(call), HOSTILE.tools)
        for tag in ("<script", "<img", "<marquee", "<i>", "<b>long"):
            assert tag not in hostile.prompt.value
    assert "(nothing)" in hostile.prompt.value
    assert hostile.call.options[0][0] == "turn 1, call 1"


@pytest.mark.model
def test_the_recorded_run_can_be_gone_through_to_its_end(tok):
    run = shipped_run()
    explorer = turn_explorer(run, tok)
    last = run.calls()[-1]
    explorer.call.value = last.number
    assert prompt_of(explorer) == tok.render(run.prompt(last), run.tools)
    assert f"billed so far <b>{explorer.bill.billed:,}</b>" in explorer.figures.value
    assert len(explorer.prompt.value) < 400_000


@pytest.mark.model
def test_a_run_without_calls_is_refused(tok):
    with pytest.raises(CourseError, match="no call to show"):
        turn_explorer(Transcript([{"role": "user", "content": "Hello"}]), tok)


@settings(max_examples=50)
@given(st.tuples(*[st.integers(0, 10_000)] * 4), st.integers(1, 60), st.integers(1, 60))
def test_the_bar_is_as_long_as_the_prompt(sizes, number, more):
    total = sum(sizes)
    billed = BilledCall(number, None, *sizes, total, 0, total, total, None)
    longest = total + more
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", figures_html(billed, longest, number))]
    assert len(widths) == 4
    assert sum(widths) == pytest.approx(100 * total / longest, abs=0.03)


@pytest.mark.model
def test_a_fold_is_worth_a_click(tok):
    """Of messages that grow by ten characters each, the short ones stay whole, and a fold hides a hundred or more."""
    texts = ["word " * number for number in range(20, 120, 2)]
    talk = [{"role": role, "content": text} for text in texts for role in ("user", "assistant")]
    explorer = turn_explorer(Transcript(talk), tok)
    explorer.call.value = len(texts)
    hidden = re.findall(r"</summary><span[^>]*>(.*?)</span></details>", explorer.prompt.value, re.DOTALL)
    assert 0 < len(hidden) < len(talk) - 1
    assert min(map(len, hidden)) >= 100
