"""What has been computed: a tree of prefixes, the memory in which it lies, and what gives way to what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxcourse.model.keyvalues import KeyValueMemory, Span
from ctxcourse.model.tree import Node, TokenTree, shared

GROUP = 32
"""Prompts that are decoded together, at most."""
SPARE = 256
"""Tokens of room for answers that stay behind a prompt, beside a quarter of its length."""


class Prefixes:
    """Prompts as a tree of token ids, their keys and values in memory, and no more of them than a limit allows.

    Args:
        memory: makes the blocks.
        limit: tokens to keep; a single prompt that needs more is held until a later call needs room.
    """

    def __init__(self, memory: KeyValueMemory, limit: int) -> None:
        self.memory, self.limit = memory, limit
        self.tree = TokenTree()

    def forget(self) -> None:
        """Drop everything that was computed, and give its memory back."""
        before, self.tree = self.tree, TokenTree()
        for node in before.nodes():
            node.span = None
        self.memory.empty()

    def computed(self, ids: Sequence[int]) -> int:
        """Return how many tokens at the beginning of a prompt are known already."""
        return self.tree.computed(ids)

    def placed(
        self, prompts: list[tuple[int, ...]], reserve: int
    ) -> Iterator[tuple[list[tuple[int, ...]], list[Node], int]]:
        """Yield groups of sorted prompts with room for them: the prompts, where each ends, and the room behind each.

        ``reserve`` is the room for an answer. A group is placed when it is asked for.
        """
        waiting = self.groups(prompts, reserve)[::-1]
        while waiting:
            group = waiting.pop()
            found = self.place(group, reserve)
            if found is None:
                half = len(group) // 2
                waiting += [group[half:], group[:half]]
            else:
                yield group, *found

    def groups(self, prompts: list[tuple[int, ...]], reserve: int) -> list[list[tuple[int, ...]]]:
        """Cut sorted prompts into groups that fit the memory together, with ``reserve`` tokens for each answer."""
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

    def place(self, group: list[tuple[int, ...]], reserve: int) -> tuple[list[Node], int] | None:
        """Put prompts into the tree and make room in memory; return where they end, and the room behind each.

        Return None where several prompts do not fit beside the blocks that hold what is known of them: fewer may. For
        one prompt that does not, what is known is dropped, and computed again.
        """
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
            self.drop(leaf)
            needed = self._needed(ends, reserve)
        if self.memory.tokens + needed > self.limit >= whole:
            if len(group) > 1:
                return None
            for node in kept:  # their blocks are kept whole for what little of them is wanted: compute it again
                node.span, node.done = None, 0
            needed = whole
        return ends, reserve + max(0, min(room, self.limit - self.memory.tokens - needed))

    def _needed(self, ends: list[Node], reserve: int) -> int:
        """Return the tokens of new memory that prompts and their answers need, where the old has no room for them.

        The nodes come in the order in which they are read, and find room as ``span`` finds it for them.
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

    def span(self, node: Node, size: int, room: int) -> Span:
        """Return memory for a node: behind its parent's tokens where there is room, or a block of its own."""
        parent = node.parent
        if parent is None or parent.span is None:
            return self.memory.span(size, room)
        answer = self._answer_behind(parent)
        if answer is not None and answer is not node:
            self.drop(answer)
        return parent.span.extend(size) or self.memory.span(size, room)

    def shrink(self, node: Node) -> None:
        """Give back what an answer was allowed and did not take, but for some room, where a block ends with it."""
        span, room = node.span, SPARE + node.end // 4
        if span and span.room == span.block.capacity > span.end + room:
            span.block.shrink(span.end + room)
            span.room = span.end + room

    def drop(self, leaf: Node) -> None:
        """Take a leaf out of the tree."""
        self.tree.remove(leaf)
        self.give_back(leaf)

    def drop_unread(self) -> None:
        """Take out of the tree what was put in and never computed."""
        for node in reversed(list(self.tree.nodes())):  # children before their parents
            if not node.children and not node.done:
                self.drop(node)

    def give_back(self, node: Node) -> None:
        """Let a node that is in the tree no more give the room that it took behind its parent's tokens back to them."""
        above, span = node.parent.span if node.parent else None, node.span
        if above and span and (above.block, above.room) == (span.block, span.start):
            above.room = span.room
        node.span = None
