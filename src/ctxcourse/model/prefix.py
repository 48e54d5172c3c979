"""Exact prefix reuse: many prompts answered greedily, every shared prefix computed once.

The prompts form a tree of token ids. What has been computed of it stays for later calls, up to a stated limit of
memory: a growing conversation, or a list in which one record moves, pays for its new tokens alone. The answers are
those of one plain ``generate`` per prompt, up to rounding where the two best logits are as good as equal.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ctxcourse.model.answers import Answer, Cancelled, Profile
from ctxcourse.model.attention import Piece, packed_attention, packed_forward
from ctxcourse.model.keyvalues import KeyValueMemory
from ctxcourse.model.lockstep import Live, Lockstep
from ctxcourse.model.openings import Rules, first_token
from ctxcourse.model.prefixes import Prefixes
from ctxcourse.model.tree import Node, shared

CHUNK = 512
"""Rows of a forward pass: enough to compute near the machine's peak, few enough to stay in its cache."""
MEMORY_LIMIT = 384 * 2**20
"""Bytes of keys and values that are kept; a single prompt that needs more is held until a later call needs room."""


def _never() -> bool:
    return False


def _nothing(tokens: int) -> None:
    """Tell nobody."""


class PrefixEngine:
    """Answers prompts over one tree of token ids.

    Args:
        network: a causal language model of transformers whose attention ``supports_packing``.
        ends: token ids that end an answer.
        memory_limit: bytes of keys and values to keep.
    """

    def __init__(self, network: Any, ends: set[int], memory_limit: int = MEMORY_LIMIT) -> None:
        config = network.config
        heads = config.num_attention_heads
        dim = getattr(config, "head_dim", None) or config.hidden_size // heads
        self.network, self.ends = network, ends
        memory = KeyValueMemory(config.num_hidden_layers, config.num_key_value_heads, dim)
        self.prefixes = Prefixes(memory, memory_limit // memory.token_bytes)
        self.profile = Profile()
        self._should_stop: Callable[[], bool] = _never
        self._progress: Callable[[int], None] = _nothing
        self._rules: Rules = ()

    def forget(self) -> None:
        """Drop everything that was computed, and give its memory back."""
        self.prefixes.forget()

    def computed(self, ids: Sequence[int]) -> int:
        """Return how many tokens at the beginning of a prompt are known already."""
        return self.prefixes.computed(ids)

    def expected(self, prompts: Sequence[Sequence[int]], max_new_tokens: int) -> int:
        """Return how many tokens a call computes if memory keeps what is shared: new ones, and the answers' limit."""
        total = 0
        before: tuple[int, ...] = ()
        for prompt in sorted({tuple(ids) for ids in prompts}):
            known = max(self.computed(prompt), shared(before, prompt))
            total, before = total + max(1, len(prompt) - known) + max_new_tokens, prompt
        return total

    def run(
        self,
        prompts: Sequence[Sequence[int]],
        max_new_tokens: int,
        finished: Callable[[int, Answer], None],
        should_stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda tokens: None,
        rules: Rules = (),
    ) -> None:
        """Answer prompts given as token ids; ``finished(number, answer)`` hears of each as soon as it is complete.

        Equal prompts are answered once. ``progress(tokens)`` is told of every token of the prompts when it has been
        computed and of every token of the answers, those that an early end leaves out included. ``rules`` are
        those of `ctxcourse.model.openings`, one a prompt; those of equal prompts are equal.

        Raises:
            Cancelled: ``should_stop`` said so; the answers given so far stand, and what was computed of the prompts
                does, too. Any other exception, Ctrl-C as well, leaves the answers and forgets what was computed.
        """
        import torch

        self.profile = Profile()
        self._should_stop, self._progress, self._rules = should_stop, progress, rules
        numbers: dict[tuple[int, ...], list[int]] = {}
        for number, ids in enumerate(prompts):
            numbers.setdefault(tuple(ids), []).append(number)
        lives: list[Live] = []
        try:
            with torch.inference_mode(), packed_attention(self.network):
                for group, ends, room in self.prefixes.placed(sorted(numbers), max_new_tokens):
                    lives = [Live(ids, end, numbers[ids]) for ids, end in zip(group, ends, strict=True)]
                    self._prefill(lives, room)
                    self._decode(lives, max_new_tokens, finished)
        except BaseException as error:
            lives = []
            traceback.clear_frames(error.__traceback__)  # a notebook keeps it, and with it what its frames hold
            if isinstance(error, Cancelled):
                self.prefixes.drop_unread()
            else:  # Ctrl-C may come anywhere, in the middle of a change to the tree as well
                self.forget()
            raise
        finally:
            self._should_stop, self._progress, self._rules = _never, _nothing, ()

    # Reading the prompts

    def _prefill(self, lives: list[Live], room: int) -> None:
        pieces: list[Piece] = []
        owners: list[Live] = []
        planned: dict[Node, int] = {}  # tokens of a node that are computed, or in a pass that is being put together
        rows = 0

        def flush() -> None:
            nonlocal pieces, owners, rows
            if pieces:
                self._read(pieces, owners, {live.end: live for live in lives})
            pieces, owners, rows = [], [], 0

        for live in lives:
            path = [node for node in live.end.path() if planned.setdefault(node, node.done) < len(node.tokens)]
            for node in path:
                if node.span is None:
                    below = live.end.end - node.end  # a path lies in one piece, and its answer behind it
                    node.span = self.prefixes.span(node, len(node.tokens), below + (0 if live.end.children else room))
                offset = planned[node]
                while offset < len(node.tokens):
                    count = min(len(node.tokens) - offset, CHUNK - rows)
                    pieces.append(Piece(node, offset, node.tokens[offset : offset + count]))
                    owners.append(live)
                    offset, rows = offset + count, rows + count
                    planned[node] = offset
                    if rows == CHUNK:
                        flush()
            if live.end not in path:  # known to its end: its last token is computed again, for the logits after it
                pieces.append(Piece(live.end, len(live.end.tokens) - 1, live.end.tokens[-1:]))
                owners.append(live)
                rows += 1
                if rows == CHUNK:
                    flush()
        flush()

    def _read(self, pieces: list[Piece], owners: list[Live], ends: dict[Node, Live]) -> None:
        """Run one pass over pieces of prompts, and take the first new token of those that end in it."""
        wanted, finishing, row = [], [], 0
        for piece in pieces:
            row += len(piece.ids)
            if piece.node in ends and piece.offset + len(piece.ids) == len(piece.node.tokens):
                wanted.append(row - 1)
                finishing.append(ends[piece.node])
        logits, seconds = self._forward(pieces, wanted)
        for live, after in zip(finishing, logits if wanted else [], strict=True):
            live.next = first_token(after, self._rules[live.numbers[0]] if self._rules else frozenset())
        for piece, owner in zip(pieces, owners, strict=True):
            piece.node.done = max(piece.node.done, piece.offset + len(piece.ids))
            owner.answer.computed_tokens += len(piece.ids)
            owner.answer.seconds += seconds * len(piece.ids) / row
        self.profile.prefill_seconds += seconds
        self.profile.prefill_rows += row
        self._progress(row)

    # Writing the answers

    def _decode(self, lives: list[Live], max_new_tokens: int, finished: Callable[[int, Answer], None]) -> None:
        for live in lives:
            live.tail.span = self.prefixes.span(live.tail, max_new_tokens, 0)
        lockstep = Lockstep(self._forward, self.ends, max_new_tokens, self._progress, self.profile)
        try:
            for live in lockstep.run(lives):
                tail = live.tail
                assert tail.span is not None
                tail.span.end = tail.span.start + len(tail.tokens)
                if not self.prefixes.tree.attach(tail):  # for a conversation that goes on with this answer
                    self.prefixes.give_back(tail)
                first, *equal = live.numbers
                finished(first, live.answer)
                for number in equal:
                    finished(number, replace(live.answer, computed_tokens=0, seconds=0.0))
            for live in lives:
                self.prefixes.shrink(live.tail if live.tail.span else live.end)
        except Cancelled:
            for live in lives:
                if live.next >= 0:
                    self.prefixes.give_back(live.tail)
            raise

    def _forward(self, pieces: list[Piece], wanted: list[int]) -> tuple[Any, float]:
        """Run one pass; return the logits after the ``wanted`` rows, of shape (wanted, vocabulary), and the seconds."""
        if self._should_stop():
            raise Cancelled("Stopped before the answers were complete.")
        started = time.perf_counter()
        return packed_forward(self.network, pieces, wanted), time.perf_counter() - started
