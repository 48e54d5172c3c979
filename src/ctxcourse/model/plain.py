"""Plain greedy decoding, one prompt after the other, for networks whose attention cannot be packed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ctxcourse.model.answers import Answer, Cancelled, Profile
from ctxcourse.model.attention import has_fixed_angles
from ctxcourse.model.openings import Rules, first_token

CHUNK = 512
"""Tokens of a forward pass: bounds the memory of the element-wise work."""


class PlainEngine:
    """Answers prompts with the network's own attention and cache; nothing is kept from one prompt to the next."""

    def __init__(self, network: Any, ends: set[int]) -> None:
        self.network, self.ends = network, ends
        self.profile = Profile()
        self.chunk = CHUNK if has_fixed_angles(network) else network.config.max_position_embeddings

    def forget(self) -> None:
        """Nothing is kept, so there is nothing to drop."""

    def computed(self, ids: Sequence[int]) -> int:
        """Return how many tokens at the beginning of a prompt are known already: none."""
        return 0

    def expected(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> int:
        """Return how many tokens a call computes at most: all of every prompt, and the answers' limit."""
        return sum(len(ids) + max_new_tokens for ids in prompts)

    def run(
        self,
        prompts: Sequence[Sequence[int]],
        max_new_tokens: int,
        finished: Callable[[int, Answer], None],
        should_stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda tokens: None,
        rules: Rules = (),
    ) -> None:
        """Answer prompts given as token ids, as ``PrefixEngine.run`` does; equal prompts are computed again."""
        from transformers import DynamicCache

        self.profile = Profile()
        for number, ids in enumerate(prompts):
            started = time.perf_counter()
            answer = Answer(computed_tokens=len(ids))
            cache = DynamicCache(config=self.network.config)
            logits: Any = None
            for start in range(0, len(ids), self.chunk):
                chunk = ids[start : start + self.chunk]
                logits = self._forward(chunk, cache, should_stop)
                progress(len(chunk))
            self.profile.prefill_rows += len(ids)
            self.profile.prefill_seconds += time.perf_counter() - started
            token = first_token(logits, rules[number] if rules else frozenset())
            while token not in self.ends:
                answer.new_ids.append(token)
                progress(1)
                if len(answer.new_ids) == max_new_tokens:
                    break
                token = int(self._forward([token], cache, should_stop).argmax())
                self.profile.decode_steps += 1
            else:
                answer.stop_reason = "stop"
                progress(max_new_tokens - len(answer.new_ids))
            answer.seconds = time.perf_counter() - started
            finished(number, answer)

    def _forward(self, ids: Sequence[int], cache: Any, should_stop: Callable[[], bool]) -> Any:
        import torch

        if should_stop():
            raise Cancelled("Stopped before the answers were complete.")
        with torch.inference_mode():
            output = self.network(input_ids=torch.tensor([list(ids)]), cache=cache, use_cache=True, logits_to_keep=1)
        return output.logits[0, -1]
