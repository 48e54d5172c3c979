"""A tree of token ids: every prefix that prompts share is one node, and holds what was computed for it once.

Each node carries the tokens that its path adds to its parent's, as in a radix tree; a node is split where a new
prompt leaves it. Nothing here knows of a network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxcourse.model.keyvalues import Span


class Node:
    """A run of tokens, after those of its parents.

    Attributes:
        tokens: token ids that this node adds.
        start: tokens before it, from the root.
        done: how many of its tokens have keys and values in ``span``.
        used: when it was last wanted; a counter, not a time.
        answer: whether a model generated the tokens, and no prompt has taken them up: they may be overwritten.
    """

    __slots__ = ("answer", "children", "done", "parent", "span", "start", "tokens", "used")

    def __init__(self, tokens: list[int], parent: Node | None, answer: bool = False) -> None:
        self.tokens, self.parent, self.answer = tokens, parent, answer
        self.start: int = parent.end if parent else 0
        self.children: dict[int, Node] = {}
        self.span: Span | None = None
        self.done = self.used = 0

    @property
    def end(self) -> int:
        """Tokens from the root to the end of this node."""
        return self.start + len(self.tokens)

    @property
    def pending(self) -> int:
        """Tokens of this node that have not been computed."""
        return len(self.tokens) - self.done

    def path(self) -> list[Node]:
        """Return the nodes from below the root down to this one."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


class TokenTree:
    """All prompts that are known, as one tree. The root has no tokens.

    >>> tree = TokenTree()
    >>> [tree.insert(ids).end for ids in ([1, 2, 3], [1, 2, 4], [1, 2])]
    [3, 3, 2]
    >>> len(tree)
    4
    """

    def __init__(self) -> None:
        self.root = Node([], None)
        self._clock = 0

    def __len__(self) -> int:
        """Distinct tokens: those of all nodes."""
        return sum(len(node.tokens) for node in self.nodes())

    def nodes(self) -> Iterator[Node]:
        """Yield every node but the root, parents before their children."""
        stack = list(reversed(self.root.children.values()))
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children.values()))

    def insert(self, ids: Sequence[int]) -> Node:
        """Return the node at which ``ids`` end, made where it was not there; its path counts as just used."""
        node, position = self._descend(ids)
        if position < len(ids):
            child = Node(list(ids[position:]), node)
            node.children[ids[position]] = child
            node = child
        self._clock += 1
        for visited in node.path():
            visited.used, visited.answer = self._clock, False
        return node

    def computed(self, ids: Sequence[int]) -> int:
        """Return how many tokens at the beginning of ``ids`` have been computed; changes nothing."""
        node, position = self.root, 0
        while position < len(ids):
            child = node.children.get(ids[position])
            if child is None:
                break
            alike = shared(child.tokens, ids, position)
            if alike < len(child.tokens) or child.pending:
                return position + min(alike, child.done)
            node, position = child, position + alike
        return position

    def attach(self, node: Node) -> bool:
        """Make a node, built apart, a child of its parent, unless a child begins with the same token already."""
        assert node.parent is not None
        if not node.tokens or node.tokens[0] in node.parent.children:
            return False
        node.parent.children[node.tokens[0]] = node
        self._clock += 1
        node.used = self._clock
        return True

    def remove(self, node: Node) -> None:
        """Take a node, and all below it, out of the tree."""
        assert node.parent is not None
        del node.parent.children[node.tokens[0]]

    def oldest_leaf(self, kept: set[Node]) -> Node | None:
        """Return the leaf that was not wanted for the longest time, those in ``kept`` apart."""
        leaves = (node for node in self.nodes() if not node.children and node not in kept)
        return min(leaves, key=lambda node: node.used, default=None)

    def _descend(self, ids: Sequence[int]) -> tuple[Node, int]:
        node, position = self.root, 0
        while position < len(ids) and (child := node.children.get(ids[position])) is not None:
            alike = shared(child.tokens, ids, position)
            if alike < len(child.tokens):
                child = _split(child, alike)
            node, position = child, position + alike
        return node, position


def _split(node: Node, at: int) -> Node:
    """Split a node after ``at`` of its tokens, and return the upper half."""
    assert node.parent is not None
    upper = Node(node.tokens[:at], node.parent, node.answer)
    node.parent.children[upper.tokens[0]] = upper
    upper.used, upper.done = node.used, min(node.done, at)
    node.tokens, node.start, node.parent = node.tokens[at:], node.start + at, upper
    node.done -= upper.done
    if node.span is not None:
        upper.span, node.span = node.span.split(at)
    upper.children[node.tokens[0]] = node
    return upper


def shared(tokens: Sequence[object], ids: Sequence[object], position: int = 0) -> int:
    """Return how many of the first ``tokens`` are found in ``ids`` from ``position`` on."""
    length = min(len(tokens), len(ids) - position)
    for index in range(length):
        if tokens[index] != ids[position + index]:
            return index
    return length


def distinct_tokens(prompts: Iterable[Sequence[int]]) -> int:
    """Return how many tokens would be computed if every prefix that prompts share were computed once.

    >>> distinct_tokens([[1, 2, 3], [1, 2, 4], [1, 2]])
    4
    """
    tree = TokenTree()
    for ids in prompts:
        tree.insert(ids)
    return len(tree)
