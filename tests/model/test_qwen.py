"""The model's answers are those of one plain ``generate`` for each prompt; its limits are errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxcourse.model.answers import Cancelled, PromptError, WindowError
from ctxcourse.model.qwen import Model
from tests.model.prompts import PROMPTS

pytestmark = pytest.mark.model
NEW_TOKENS = 16


def plain_generate(model: Model, ids: list[int]) -> list[int]:
    """Return what transformers' own ``generate`` makes of a prompt, greedily and without penalties."""
    import torch

    with torch.inference_mode():
        out = model.network.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            do_sample=False,
            repetition_penalty=1.0,
            max_new_tokens=NEW_TOKENS,
        )
    return out[0, len(ids) :].tolist()


@pytest.mark.parametrize("name", PROMPTS)
def test_same_text_as_plain_generate(model: Model, published: Any, name: str) -> None:
    messages, tools = PROMPTS[name]
    answer = model.complete(messages, tools, max_new_tokens=NEW_TOKENS)
    ids = model.encode_prompt(messages, tools)
    expected = plain_generate(model, ids)
    assert answer.text == published.decode(expected, skip_special_tokens=True)
    assert answer.prompt_tokens == len(ids)
    ended = expected[-1] == published.eos_token_id
    assert answer.stop_reason == ("stop" if ended else "length")
    assert answer.new_tokens == len(expected) - ended


def test_the_same_answer_every_time(model: Model) -> None:
    first, second = (model.complete("Name three colours.", max_new_tokens=12) for _ in range(2))
    assert (first.text, first.new_tokens, first.stop_reason) == (second.text, second.new_tokens, second.stop_reason)


def test_a_limit_of_new_tokens_is_kept_and_named(model: Model) -> None:
    answer = model.complete("Count from one to a hundred.", max_new_tokens=5)
    assert (answer.new_tokens, answer.stop_reason) == (5, "length")


def test_a_prompt_beyond_the_window_is_refused_before_any_work(model: Model) -> None:
    long = "surprise " * 33_000
    with pytest.raises(WindowError, match=r"more than the window of 32,768") as caught:
        model.complete(long, max_new_tokens=10, should_stop=lambda: pytest.fail("work was begun"))
    over = model.count_prompt([{"role": "user", "content": long}]) + 10 - 32_768
    assert f"{over:,}" in str(caught.value)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, None, "10"])
def test_a_senseless_limit_is_refused(model: Model, limit: Any) -> None:
    with pytest.raises(PromptError, match="max_new_tokens"):
        model.complete("Hi", max_new_tokens=limit)


def test_a_remembered_answer_needs_neither_weights_nor_torch(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from ctxcourse import load_model
from ctxcourse.model.completions import CompletionStore, StoredCompletion

model = load_model()
model.store = CompletionStore(Path({str(tmp_path)!r}) / "completions.sqlite3")
settings = {{"decoding": "greedy", "max_new_tokens": 12}}
ids, answer = model.encode_prompt([{{"role": "user", "content": "Hi"}}]), tuple(model.encode("Hello!"))
model.store.put(model.fingerprint, ids, settings, StoredCompletion(answer, "stop", 1))
print(model.complete("Hi", max_new_tokens=12, remember=True).text, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["Hello!", "False"], done.stderr


def test_no_messages_are_refused(model: Model) -> None:
    with pytest.raises(PromptError, match="no messages"):
        model.complete([])


def test_stopping_leaves_a_usable_model(model: Model) -> None:
    calls = iter([False, False, True])
    with pytest.raises(Cancelled, match="before the answers were complete"):
        model.complete("Tell me a long story.", max_new_tokens=50, should_stop=lambda: next(calls))
    assert "Paris" in model.complete("Name the capital of France.", max_new_tokens=12).text


def test_kv_bytes_are_those_of_a_real_cache(model: Model) -> None:
    import torch
    from transformers import DynamicCache

    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model.network(input_ids=torch.tensor([[1, 2, 3, 4, 5]]), cache=cache, use_cache=True)
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert held == 5 * model.kv_bytes_per_token
