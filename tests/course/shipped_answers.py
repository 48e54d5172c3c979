"""Ask shipped calls again, and hold each answer against the one that ships."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ctxcourse import load_model, load_tokenizer
from ctxcourse.model.weights import find_model

NEAR_TIE = 1e-3


def answered_again(
    prompts: Sequence[list[int]], shipped: Sequence[str], max_new_tokens: int, record: Callable[[str, object], None]
) -> None:
    """Ask the prompts (token ids) of the default model; only where two tokens tie may an answer be another one.

    ``record`` is pytest's ``record_property``; ties are listed at the end of the tests.
    """
    model, tok = load_model(), load_tokenizer()
    found = find_model("qwen2.5-coder-0.5b")
    if found is None or found.fingerprint != model.fingerprint:
        pytest.fail("the shipped runs are the default model's: unset CTXCOURSE_MODEL")
    completions = model.complete_many(list(prompts), max_new_tokens, remember=False, progress=False)
    record("compared", len(completions))
    for ids, text, completion in zip(prompts, shipped, completions, strict=True):
        if completion.text != text:
            gap = _gap(model, ids, tok.encode(text), completion.new_ids)
            record("tie", f"{completion.text!r}, shipped {text!r}: the two best logits lie {gap:.6f} apart")
            assert gap < NEAR_TIE, "an answer that differs by more than the rounding between two best tokens"


def _gap(model: Any, ids: list[int], shipped: Sequence[int], ours: Sequence[int]) -> float:
    """Return how far apart the two best logits are where two answers part, or infinity if those two are others."""
    import torch

    place = next((i for i, (a, b) in enumerate(zip(shipped, ours, strict=False)) if a != b), None)
    if place is None:
        place = min(len(shipped), len(ours))
    with torch.inference_mode():
        logits = model.network(torch.tensor([[*ids, *ours[:place]]]), logits_to_keep=1).logits[0, -1]
    best = logits.topk(2)
    taken = {answer[place] for answer in (shipped, ours) if place < len(answer)}
    return float(best.values[0] - best.values[1]) if taken <= set(best.indices.tolist()) else float("inf")
