"""The least that a set of prompts can cost: its distinct tokens, their work, and the peak of the machine.

Work is counted in floating-point operations, a multiplication and an addition being two. The peak is that of
single-precision matrix products at the shapes of the model's layers, measured in the run that is compared with it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROWS = 512
"""Rows of the products whose speed is the peak: a chunk of a prompt."""
SECONDS = 0.15
"""Time for each form of each product."""

Ids = Sequence[int]


def shared(first: Ids, second: Ids) -> int:
    """Return how many tokens two prompts begin with in common.

    >>> shared((1, 2, 3), (1, 2, 4, 5))
    2
    """
    same = zip(first, second, strict=False)
    return next((i for i, (a, b) in enumerate(same) if a != b), min(len(first), len(second)))


def new_spans(prompts: Sequence[Ids]) -> Iterator[tuple[int, int]]:
    """Yield, for each prompt in sorted order, the positions ``(start, end)`` that no earlier one shares.

    Sorted, each prompt follows the one that it has most in common with, so the spans are the trie of the prompts.

    >>> list(new_spans([(1, 2, 3), (1, 2, 4, 5), (1, 2)]))
    [(0, 2), (2, 3), (2, 4)]
    """
    before: Ids = ()
    for prompt in sorted(map(tuple, prompts)):
        yield shared(before, prompt), len(prompt)
        before = prompt


def distinct_tokens(prompts: Sequence[Ids]) -> int:
    """Return the size of the trie over the prompts.

    >>> distinct_tokens([(1, 2, 3), (1, 2, 4, 5), (1, 2)])
    5
    """
    return sum(end - start for start, end in new_spans(prompts))


def computed_in_order(prompts: Sequence[Ids]) -> int:
    """Return how many tokens are computed when each prompt reuses what it shares with the one before it alone."""
    before: Ids = ()
    total = 0
    for prompt in prompts:
        total += max(1, len(prompt) - shared(before, prompt))  # the last token gives the logits, so one is computed
        before = prompt
    return total


@dataclass(frozen=True)
class Work:
    """Operations of a forward pass: for a token, for its logits, and for each token that attention sees from it."""

    linear: int
    head: int
    attention: int
    shapes: dict[tuple[int, int], int]  # (outputs, inputs) of the products in the layers, and how many there are

    @staticmethod
    def of(folder: Path, config: Any) -> Work:
        """Count from the weights on the disk (their shapes alone are read) and the configuration beside them."""
        from safetensors import safe_open

        heads = config.num_attention_heads
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
        shapes: Counter[tuple[int, int]] = Counter()
        for file in sorted(folder.glob("*.safetensors")):
            with safe_open(file, framework="pt") as weights:
                found = [weights.get_slice(name).get_shape() for name in weights.keys() if ".layers." in name]  # noqa: SIM118
            shapes.update((shape[0], shape[1]) for shape in found if len(shape) == 2)
        return Work(
            linear=2 * sum(outputs * inputs * times for (outputs, inputs), times in shapes.items()),
            head=2 * config.vocab_size * config.hidden_size,
            attention=4 * heads * head_dim * config.num_hidden_layers,
            shapes=dict(sorted(shapes.items())),
        )

    def of_prompts(self, prompts: Sequence[Ids]) -> int:
        """Return the operations of the distinct tokens of the prompts, without attention and without logits."""
        return distinct_tokens(prompts) * self.linear

    def of_answers(self, prompts: Sequence[Ids], answers: Sequence[Ids]) -> int:
        """Return all operations: the distinct tokens of prompts and answers, attention, and the logits of the answers.

        The last token of an answer is chosen and never read.
        """
        read = [(*prompt, *answer[:-1]) for prompt, answer in zip(prompts, answers, strict=True)]
        tokens = seen = 0
        for start, end in new_spans(read):
            tokens += end - start
            seen += (end * (end + 1) - start * (start + 1)) // 2  # position p, counted from 0, sees p + 1 tokens
        logits = sum(max(1, len(answer)) for answer in answers)
        return tokens * self.linear + seen * self.attention + logits * self.head


class Peak:
    """The best speed seen at each shape, in GFLOP/s, over every way of writing the product and every measurement."""

    def __init__(self, shapes: Mapping[tuple[int, int], int]):
        import torch

        self.shapes = shapes

        draw = torch.Generator().manual_seed(1)
        self.products = []
        for outputs, inputs in shapes:
            x, weight = torch.randn(ROWS, inputs, generator=draw), torch.randn(outputs, inputs, generator=draw)
            self.products.append(((outputs, inputs), forms(x, weight)))
        self.best: dict[tuple[int, int], tuple[float, str]] = {}
        self.measured: list[float] = []

    @property
    def gflops(self) -> float:
        """The best of all shapes: the peak that limits are computed with."""
        return max(speed for speed, _ in self.best.values())

    @property
    def gflops_of_layers(self) -> float:
        """The speed of a layer's products in their numbers, each at the best of its own shape."""
        work = {shape: shape[0] * shape[1] * times for shape, times in self.shapes.items()}
        return sum(work.values()) / sum(work[shape] / speed for shape, (speed, _) in self.best.items())

    def measure(self) -> float:
        """Measure once, in about three seconds, and return the best speed of this time."""
        import torch

        found = 0.0
        with torch.inference_mode():
            for (outputs, inputs), ways in self.products:
                for name, multiply in ways.items():
                    speed = 2e-9 * ROWS * outputs * inputs / fastest(multiply)
                    self.best[outputs, inputs] = max(self.best.get((outputs, inputs), (0.0, "")), (speed, name))
                    found = max(found, speed)
        self.measured.append(found)
        return found


def forms(x: Any, weight: Any) -> dict[str, Callable[[], Any]]:
    """Return ways to compute ``x @ weight.T``: as the layers do, and as libraries may do faster."""
    import torch

    columns, transposed = x.T.contiguous(), weight.T.contiguous()
    ways: dict[str, Callable[[], Any]] = {
        "linear(x, w)": lambda: torch.nn.functional.linear(x, weight),
        "mm(w, x.T)": lambda: torch.mm(weight, x.T),
        "mm(w, columns)": lambda: torch.mm(weight, columns),
        "mm(x, w transposed)": lambda: torch.mm(x, transposed),
    }
    if torch.backends.mkldnn.is_available():
        packed = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
        ways["oneDNN, w packed"] = lambda: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")
    return ways


def fastest(work: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of many runs."""
    work()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while (started := time.perf_counter()) < end:
        work()
        best = min(best, time.perf_counter() - started)
    return best
