"""The memory for keys and values: no place is handed out twice, and what is dropped is given back."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ctxcourse.model.keyvalues import Block, KeyValueMemory, Span


class Spans(RuleBasedStateMachine):
    """Spans that are made, extended, split and dropped, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = KeyValueMemory(2, 3, 4)
        self.spans: list[Span] = []

    @rule(tokens=st.integers(0, 9), room=st.integers(0, 9))
    def make(self, tokens: int, room: int) -> None:
        span = self.memory.span(tokens, room)
        assert (span.start, span.end, span.room) == (0, tokens, tokens + room)
        assert all(span.block is not other.block for other in self.spans)
        self.spans.append(span)

    @rule(which=st.integers(0, 99), tokens=st.integers(0, 9))
    def extend(self, which: int, tokens: int) -> None:
        if not self.spans:
            return
        span = self.spans[which % len(self.spans)]
        start, end, room = span.start, span.end, span.room
        behind = span.extend(tokens)
        if end + tokens > room:
            assert behind is None
            assert (span.start, span.end, span.room) == (start, end, room)
            return
        assert behind is not None
        assert (behind.block, behind.start, behind.end, behind.room) == (span.block, end, end + tokens, room)
        assert (span.start, span.end, span.room) == (start, end, end)
        self.spans.append(behind)

    @rule(which=st.integers(0, 99), at=st.integers(0, 9))
    def split(self, which: int, at: int) -> None:
        if not self.spans:
            return
        span = self.spans.pop(which % len(self.spans))
        at = min(at, span.end - span.start)
        first, rest = span.split(at)
        assert (first.start, first.end, first.room) == (span.start, span.start + at, span.start + at)
        assert (rest.start, rest.end, rest.room) == (span.start + at, span.end, span.room)
        self.spans += [first, rest]

    @rule(which=st.integers(0, 99))
    def drop(self, which: int) -> None:
        if self.spans:
            del self.spans[which % len(self.spans)]

    @invariant()
    def no_place_belongs_to_two(self) -> None:
        blocks: dict[Block, list[Span]] = {}
        for span in self.spans:
            assert 0 <= span.start <= span.end <= span.room <= span.block.capacity
            blocks.setdefault(span.block, []).append(span)
        for spans in blocks.values():
            spans.sort(key=lambda span: (span.start, span.room))
            assert all(one.room <= other.start for one, other in pairwise(spans))

    @invariant()
    def the_living_blocks_are_counted(self) -> None:
        assert self.memory.tokens == sum({span.block: span.block.capacity for span in self.spans}.values())


TestSpans = Spans.TestCase
TestSpans.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


@pytest.mark.parametrize(("layers", "heads", "dim"), [(24, 2, 64), (2, 3, 4), (1, 1, 1)])
def test_a_token_takes_the_bytes_that_are_stated(layers: int, heads: int, dim: int) -> None:
    memory = KeyValueMemory(layers, heads, dim)
    block = memory.span(5, 2).block
    assert block.keys.shape == block.values.shape == (layers, heads, 7, dim)
    assert block.keys.nbytes + block.values.nbytes == 7 * memory.token_bytes
