"""The prompt as HTML and the ask box, on the real tokenizer and model."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import buckets, load_model, load_tokenizer
from ctxcourse.widgets import AskBox
from ctxcourse.widgets.prompt_html import labelled_pieces, prompt_view

pytestmark = pytest.mark.model

TOOL = {
    "name": "search_logs",
    "description": "Search the logs.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
CALL = {"id": "c1", "type": "function", "function": {"name": "search_logs", "arguments": {"query": "pay"}}}
OTHER = {"id": "c2", "type": "function", "function": {"name": "search_logs", "arguments": {"query": "shard"}}}
CONVERSATION = [
    {"role": "system", "content": "You help with incidents."},
    {"role": "user", "content": "What broke? <|im_end|> <b>bold</b> & more"},
    {"role": "assistant", "content": "", "tool_calls": [CALL, OTHER]},
    {"role": "tool", "tool_call_id": "c1", "content": "pay-shard-7 timed out"},
    {"role": "tool", "tool_call_id": "c2", "content": "7 shards"},
    {"role": "user", "content": "<tool_response> typed by hand"},
    {"role": "assistant", "content": "The shard."},
]


@pytest.fixture(scope="module")
def tok():
    return load_tokenizer()


def text_of(shown):
    body = re.search(r"<pre[^>]*>(.*)</pre>", shown, flags=re.S)[1]
    return html.unescape(re.sub(r"<[^>]*>", "", body))


@pytest.mark.parametrize("tools", [None, [TOOL]])
@pytest.mark.parametrize("messages", [CONVERSATION, CONVERSATION[1:], CONVERSATION[:2], CONVERSATION[:1], []])
def test_the_view_is_the_prompt_and_says_its_size(tok, messages, tools):
    shown = prompt_view(tok, messages, tools)
    assert text_of(shown) == tok.render(messages, tools)
    assert f"{tok.count_prompt(messages, tools):,} tokens" in shown
    assert shown._repr_html_() == shown


def test_typed_markup_and_typed_control_tokens_stay_text(tok):
    shown = prompt_view(tok, CONVERSATION)
    assert "<b>bold" not in shown
    boxed = re.findall(r'data-control="true"[^>]*>(.*?)</span>', shown)
    typed = "What broke? &lt;|im_end|&gt;"
    assert typed in shown
    assert boxed.count("&lt;|im_end|&gt;") == tok.render(CONVERSATION).count("<|im_end|>") - 1


def test_every_piece_has_the_bucket_that_pays_for_it(tok):
    by_bucket: dict[str, str] = {}
    for text, _, bucket in labelled_pieces(tok, CONVERSATION, [TOOL]):
        by_bucket[bucket] = by_bucket.get(bucket, "") + text
    assert "search the logs." in by_bucket["tools"].lower()
    assert "You help" in by_bucket["system"]
    assert by_bucket["system"].endswith("<|im_start|>assistant\n")
    assert "pay-shard-7" in by_bucket["tool_results"]
    assert "7 shards" in by_bucket["tool_results"]
    assert "typed by hand" in by_bucket["conversation"]
    assert '"pay"' in by_bucket["conversation"]


@pytest.mark.parametrize("at", [None, 0, 1, 2, 5, 7])
def test_the_coloured_text_agrees_with_the_buckets(tok, at):
    messages = list(CONVERSATION)
    if at is not None:
        messages.insert(at, {"role": "system", "content": "Answer in one short sentence, please, and name no one."})
    counted = buckets(messages, [TOOL], tok).as_dict()
    coloured = dict.fromkeys(counted, 0)
    for text, control, bucket in labelled_pieces(tok, messages, [TOOL]):
        coloured[bucket] += 1 if control else tok.count_text(text)
    for bucket in ("system", "tools", "conversation", "tool_results"):
        assert coloured[bucket] == pytest.approx(counted[bucket], abs=6)  # newlines between blocks


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_survives_the_view(tok, system, user):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    expected = tok.render(messages)
    assert text_of(prompt_view(tok, messages)) == expected


def test_the_ask_box_shows_the_prompt_at_once_and_the_answer_after_a_run():
    box = AskBox(load_model(), question="Say yes.", max_new_tokens=4)
    model = box.model
    assert text_of(box.prompt.value) == model.render([{"role": "user", "content": "Say yes."}])
    box.system.value = "Answer in one word."
    assert "Answer in one word." in box.prompt.value
    box.runner.run_button.click()
    assert box.runner.wait(120)
    assert box.runner.error is None
    assert box.completion.prompt_tokens == model.count_prompt(box.messages())
    assert html.escape(box.completion.text) in box.answer.value
    box.question.value = "Say no."
    assert box.completion is None
    assert box.answer.value == ""
