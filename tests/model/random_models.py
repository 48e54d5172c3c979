"""Small networks with random weights, made from their configurations: nothing to fetch, and a millisecond a pass."""

from __future__ import annotations

import copy
import random
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    LlamaConfig,
    MistralConfig,
    Phi3Config,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
)

from ctxcourse.model.answers import Answer
from ctxcourse.model.products import pack_linear_layers

VOCABULARY = 64
ENDS = frozenset({1, 2, 3})
TIE = 1e-4
"""How far below the best logit a chosen one may lie: thirty times what was seen, and a hundredth of a usual gap."""
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 4096,
    "initializer_range": 0.3,  # ten times the usual: attention that is not flat, logits that lie apart
    "tie_word_embeddings": False,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10_000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "short_factor": [1.0, 1.2, 1.5, 2.0],
    "long_factor": [2.0, 4.0, 6.0, 8.0],
}
YARN = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 1024}

PACKED: dict[str, PreTrainedConfig] = {
    "qwen2": Qwen2Config(**SIZES, num_key_value_heads=2),
    "qwen2, yarn": Qwen2Config(**SIZES, num_key_value_heads=1, rope_parameters=YARN),
    "qwen3": Qwen3Config(**SIZES, num_key_value_heads=1, head_dim=16),
    "llama": LlamaConfig(
        **(SIZES | {"num_hidden_layers": 3, "hidden_size": 64, "initializer_range": 0.2}), num_key_value_heads=4
    ),
    "llama, scaled": LlamaConfig(**SIZES, num_key_value_heads=2, rope_parameters=LLAMA3),
    "mistral": MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=None),
}
"""Networks whose attention can be packed; with as many key-value heads as heads, with half of them, and with one."""
PLAIN: dict[str, PreTrainedConfig] = {
    "mistral, sliding": MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=16),
    "gemma2": Gemma2Config(**SIZES, num_key_value_heads=2, head_dim=8, sliding_window=16),
    "qwen2, sliding": Qwen2Config(
        **SIZES, num_key_value_heads=2, use_sliding_window=True, sliding_window=16, max_window_layers=1
    ),
    "llama, dynamic": LlamaConfig(
        **SIZES,
        num_key_value_heads=2,
        rope_parameters={"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 2.0},
    ),
    "phi3, longrope": Phi3Config(
        **SIZES, num_key_value_heads=2, rope_parameters=LONGROPE, original_max_position_embeddings=32
    ),
}
"""Networks whose attention cannot: a row does not see all before it, or its angles depend on the prompt's length."""


@cache
def untouched(kind: str) -> Any:
    """Return a random network as transformers makes it."""
    torch.manual_seed(sorted(PACKED | PLAIN).index(kind))
    config = copy.deepcopy((PACKED | PLAIN)[kind])
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


@cache
def prepared(kind: str) -> Any:
    """Return the same network as the package uses it, with its products."""
    network = copy.deepcopy(untouched(kind))
    pack_linear_layers(network)
    return network


def stem(seed: int, length: int) -> list[int]:
    """Return the beginning of one of several long sequences of token ids."""
    return random.Random(seed).choices(range(VOCABULARY), k=200)[:length]


def plain_logits(network: Any, ids: Sequence[int]) -> Any:
    """Return the logits after every token, from one forward pass with the network's own attention."""
    with torch.inference_mode():
        return network(input_ids=torch.tensor([list(ids)]), use_cache=False).logits[0]


def plain_generate(
    network: Any, ids: Sequence[int], ends: Collection[int], max_new_tokens: int, **more: Any
) -> list[int]:
    """Return the new tokens of transformers' own ``generate``, greedily, without the one that ends them."""
    with torch.inference_mode():
        out = network.generate(
            torch.tensor([list(ids)]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            do_sample=False,
            max_new_tokens=max_new_tokens,
            eos_token_id=sorted(ends),
            pad_token_id=0,
            **more,
        )
    new: list[int] = out[0, len(ids) :].tolist()
    return new[:-1] if new[-1] in ends else new


def assert_greedy(
    network: Any, ids: Sequence[int], answer: Answer, max_new_tokens: int, ends: Collection[int] = ENDS
) -> None:
    """Assert that an answer is the greedy one: its every token is the best one after those before it.

    One pass over prompt and answer gives what a loop of passes would, token by token, for the answer itself is what
    such a loop would append. ``TIE`` allows for two logits that are as good as equal.
    """
    new = answer.new_ids
    logits = plain_logits(network, [*ids, *new])[len(ids) - 1 :]
    for position, token in enumerate(new):
        gap = float(logits[position].max() - logits[position, token])
        assert gap <= TIE, f"token {position} of the answer is {gap} below the best"
    assert not set(new) & set(ends)
    if answer.stop_reason == "stop":
        assert len(new) < max_new_tokens
        assert float(logits[-1].max() - logits[-1, sorted(ends)].max()) <= TIE
    else:
        assert (answer.stop_reason, len(new)) == ("length", max_new_tokens)
