"""Memory for keys and values: blocks of a known size, handed out in spans; `Prefixes` decides how much is kept.

A span is a run of tokens that lie one after the other in one block. A span may have room behind it, into which the
tokens that follow it can be written, so that a growing conversation stays in one piece.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import Any


class Block:
    """Keys and values of ``capacity`` tokens, for every layer: two tensors of shape (layers, heads, capacity, dim)."""

    __slots__ = ("__weakref__", "capacity", "keys", "values")

    def __init__(self, layers: int, heads: int, capacity: int, dim: int) -> None:
        import torch

        self.capacity = capacity
        self.keys: Any = torch.empty(layers, heads, capacity, dim, dtype=torch.float32, device="cpu")
        self.values: Any = torch.empty(layers, heads, capacity, dim, dtype=torch.float32, device="cpu")

    def shrink(self, capacity: int) -> None:
        """Give back what lies behind the first ``capacity`` tokens."""
        self.keys, self.values = (part[:, :, :capacity].clone() for part in (self.keys, self.values))
        self.capacity = capacity


@dataclass
class Span:
    """Tokens ``start`` to ``end`` of a block; behind them, up to ``room``, nothing else has been written."""

    block: Block
    start: int
    end: int
    room: int

    def split(self, at: int) -> tuple[Span, Span]:
        """Return the first ``at`` tokens and the rest, which keeps the room."""
        middle = self.start + at
        return Span(self.block, self.start, middle, middle), Span(self.block, middle, self.end, self.room)

    def extend(self, tokens: int) -> Span | None:
        """Take ``tokens`` of the room behind this span for a span of its own, or None if there is too little."""
        if self.end + tokens > self.room:
            return None
        behind = Span(self.block, self.end, self.end + tokens, self.room)
        self.room = self.end
        return behind


class KeyValueMemory:
    """Makes blocks, and knows how many tokens the living ones have room for.

    Args:
        layers: layers of the network.
        heads: key-value heads of a layer.
        dim: numbers in a key, and in a value.
    """

    def __init__(self, layers: int, heads: int, dim: int) -> None:
        self._shape = layers, heads, dim
        self._blocks: weakref.WeakSet[Block] = weakref.WeakSet()

    @property
    def token_bytes(self) -> int:
        """Bytes that one token takes, in float32."""
        layers, heads, dim = self._shape
        return 2 * layers * heads * dim * 4

    @property
    def tokens(self) -> int:
        """Tokens for which there is room in the blocks that are in use."""
        return sum(block.capacity for block in self._blocks)

    def empty(self) -> None:
        """Give all memory back, also that of blocks which a kept traceback still refers to."""
        for block in list(self._blocks):
            block.keys = block.values = None
        self._blocks.clear()

    def span(self, tokens: int, room: int = 0) -> Span:
        """Return a span of ``tokens`` in a block of its own, with room for ``room`` more."""
        layers, heads, dim = self._shape
        block = Block(layers, heads, tokens + room, dim)
        self._blocks.add(block)
        return Span(block, 0, tokens, tokens + room)
