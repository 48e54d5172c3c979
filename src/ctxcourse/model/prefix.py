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
from ctxcourse.model.keyvalues import KeyValueMemory, Span
from ctxcourse.model.lockstep import Live, Lockstep
from ctxcourse.model.tree import Node, TokenTree, shared

CHUNK = 512
"""Rows of a forward pass: enough to compute near the machine's peak, few enough to stay in its cache."""
GROUP = 32
"""Prompts that are decoded together, at most."""
MEMORY_LIMIT = 384 * 2**20
"""Bytes of keys and values that are kept; a single prompt that needs more is held until a later call needs room."""


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
        self.memory = KeyValueMemory(config.num_hidden_layers, config.num_key_value_heads, dim)
        self.limit = memory_limit // self.memory.token_bytes
        self.tree = TokenTree()
        self.profile = Profile()

    def forget(self) -> None:
        """Drop everything that was computed, and give its memory back."""
        before, self.tree = self.tree, TokenTree()
        for node in before.nodes():
            node.span = None  # nodes refer to each other in circles, and would be cleared away some time later

    def computed(self, ids: Sequence[int]) -> int:
        """Return how many tokens at the beginning of a prompt are known already."""
        return self.tree.computed(ids)

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
    ) -> None:
        """Answer prompts given as token ids; ``finished(number, answer)`` hears of each as soon as it is complete.

        Equal prompts are answered once. ``progress(tokens)`` is told of every token of the prompts when it has been
        computed and of every token of the answers, those that an early end leaves out included.

        Raises:
            Cancelled: ``should_stop`` said so; the answers given so far stand, and what was computed of the prompts
                does, too. Any other exception, Ctrl-C as well, leaves the answers and forgets what was computed.
        """
        import torch

        self.profile = Profile()
        self._should_stop, self._progress = should_stop, progress
        numbers: dict[tuple[int, ...], list[int]] = {}
        for number, ids in enumerate(prompts):
            numbers.setdefault(tuple(ids), []).append(number)
        lives: list[Live] = []
        try:
            with torch.inference_mode(), packed_attention(self.network):
                for group in self._groups(sorted(numbers), max_new_tokens):
                    ends, room = self._place(group, max_new_tokens)
                    lives = [Live(ids, end, numbers[ids]) for ids, end in zip(group, ends, strict=True)]
                    self._prefill(lives, room)
                    self._decode(lives, max_new_tokens, finished)
        except BaseException as error:
            lives = []
            traceback.clear_frames(error.__traceback__)  # a notebook keeps it, and with it what its frames hold
            if not isinstance(error, Cancelled):  # Ctrl-C may come anywhere, in the middle of a change to the tree too
                self.forget()
            raise

    # Groups, and memory for them

    def _groups(self, prompts: list[tuple[int, ...]], reserve: int) -> list[list[tuple[int, ...]]]:
        """Cut sorted prompts into groups that fit the memory together."""
        groups: list[list[tuple[int, ...]]] = []
        tokens = 0
        for prompt in prompts:
            before = groups[-1][-1] if groups else ()
            new = len(prompt) - shared(before, prompt) + reserve
            if groups and len(groups[-1]) < GROUP and tokens + new <= self.limit:
                groups[-1].append(prompt)
                tokens += new
            else:
                groups.append([prompt])
                tokens = len(prompt) + reserve
        return groups

    def _place(self, group: list[tuple[int, ...]], reserve: int) -> tuple[list[Node], int]:
        """Put prompts into the tree and make room in memory; return where they end, and the room behind each."""
        ends = [self.tree.insert(prompt) for prompt in group]
        kept = {node for end in ends for node in end.path()}
        whole = sum(len(node.tokens) for node in kept) + reserve * len(group)
        needed = self._needed(ends, reserve)
        # a prompt that is alone may be the beginning of a conversation: what follows will lie behind it
        room = max(0, min(ends[0].end // 4, self.limit - whole)) if len(group) == 1 and needed else 0
        while self.memory.tokens + needed + room > self.limit:
            leaf = self.tree.oldest_leaf(kept)
            if leaf is None:
                break
            self._drop(leaf)
            needed = self._needed(ends, reserve)
        if self.memory.tokens + needed > self.limit >= whole:
            for node in kept:  # their blocks are kept whole for what little of them is wanted: compute it again
                node.span, node.done = None, 0
            needed = whole
        return ends, reserve + max(0, min(room, self.limit - self.memory.tokens - needed))

    def _needed(self, ends: list[Node], reserve: int) -> int:
        """Return the tokens of new memory that prompts and their answers need, where the old has no room for them.

        The nodes come in the order of ``_prefill``, and find room as ``_span`` finds it for them.
        """
        behind: dict[Node | None, int] = {}
        needed = 0
        for node in (node for end in ends for node in end.path()):
            if node in behind:
                continue
            if node.span is not None:
                answer = self._answer_behind(node)
                behind[node] = (answer.span if answer and answer.span else node.span).room - node.span.end
            elif len(node.tokens) <= behind.get(node.parent, 0):
                behind[node], behind[node.parent] = behind[node.parent] - len(node.tokens), 0
            else:
                behind[node] = 0
                needed += len(node.tokens)
        return needed + sum(reserve for end in ends if behind[end] < reserve)

    def _answer_behind(self, node: Node) -> Node | None:
        """Return the answer that lies right behind a node in its block, and that no conversation went on with."""
        span = node.span
        answers = [child for child in node.children.values() if child.answer and not child.children]
        inside = (each for each in answers if span and each.span and each.span.block is span.block)
        return next((each for each in inside if each.span and span and each.span.start == span.end), None)

    def _span(self, node: Node, size: int, room: int) -> Span:
        """Return memory for a node: behind its parent's tokens where there is room, or a block of its own."""
        parent = node.parent
        if parent is None or parent.span is None:
            return self.memory.span(size, room)
        answer = self._answer_behind(parent)
        if answer is not None and answer is not node:
            self._drop(answer)
        return parent.span.extend(size) or self.memory.span(size, room)

    def _drop(self, leaf: Node) -> None:
        self.tree.remove(leaf)
        self._give_back(leaf)

    def _give_back(self, node: Node) -> None:
        """Let a node that is in the tree no more give the room that it took behind its parent's tokens back to them."""
        above, span = node.parent.span if node.parent else None, node.span
        if above and span and (above.block, above.room) == (span.block, span.start):
            above.room = span.room
        node.span = None

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
                    node.span = self._span(node, len(node.tokens), below + (0 if live.end.children else room))
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
        for live, token in zip(finishing, logits.argmax(-1).tolist() if wanted else [], strict=True):
            live.next = token
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
            live.tail.span = self._span(live.tail, max_new_tokens, 0)
        lockstep = Lockstep(self._forward, self.ends, max_new_tokens, self._progress, self.profile)
        try:
            for live in lockstep.run(lives):
                tail = live.tail
                assert tail.span is not None
                tail.span.end = tail.span.start + len(tail.tokens)
                if not self.tree.attach(tail):  # for a conversation that goes on with this answer
                    self._give_back(tail)
                first, *equal = live.numbers
                finished(first, live.answer)
                for number in equal:
                    finished(number, replace(live.answer, computed_tokens=0, seconds=0.0))
        except Cancelled:
            for live in lives:
                if live.next >= 0:
                    self._give_back(live.tail)
            raise

    def _forward(self, pieces: list[Piece], wanted: list[int]) -> tuple[Any, float]:
        """Run one pass; return the logits after the ``wanted`` rows, of shape (wanted, vocabulary), and the seconds."""
        if self._should_stop():
            raise Cancelled("Stopped before the answers were complete.")
        started = time.perf_counter()
        return packed_forward(self.network, pieces, wanted), time.perf_counter() - started
