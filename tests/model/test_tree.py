"""The tree of token ids, against a set of prefixes: the same tokens, the same ones computed, the same oldest leaf."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ctxcourse.model.keyvalues import Block, KeyValueMemory
from ctxcourse.model.tree import Node, TokenTree

Prefix = tuple[int, ...]
ids = st.lists(st.integers(0, 2), max_size=9).map(tuple)  # of three tokens, so that prompts meet


def tokens_to(node: Node) -> Prefix:
    return tuple(token for each in node.path() for token in each.tokens)


def prefixes(tokens: Prefix, start: int = 0) -> list[Prefix]:
    return [tokens[:end] for end in range(start + 1, len(tokens) + 1)]


class Trees(RuleBasedStateMachine):
    """A tree, and beside it every prefix that is in it, with the time when it was last wanted.

    What a network would write for a token is the prefix that ends with it: ``written`` holds it for each place in the
    memory, and a node must find its own there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tree, self.memory = TokenTree(), KeyValueMemory(1, 1, 1)
        self.wanted: dict[Prefix, int] = {}
        self.done: set[Prefix] = set()
        self.answers: set[Prefix] = set()
        self.written: dict[tuple[Block, int], Prefix] = {}
        self.time = 0

    def inserted(self, prompt: Prefix) -> Node:
        node = self.tree.insert(prompt)
        self.time += 1
        self.wanted |= dict.fromkeys(prefixes(prompt), self.time)
        self.answers -= set(prefixes(prompt))
        return node

    @rule(prompt=ids)
    def insert(self, prompt: Prefix) -> None:
        node = self.inserted(prompt)
        assert (tokens_to(node), node.end) == (prompt, len(prompt))
        assert self.inserted(prompt) is node

    @rule(prompt=ids, upto=st.integers(0, 9), room=st.integers(0, 9))
    def compute(self, prompt: Prefix, upto: int, room: int) -> None:
        """Insert a prompt and compute its tokens ``upto`` one that may lie inside a node."""
        for node in self.inserted(prompt).path():
            if node.span is None:
                above = node.parent.span if node.parent else None
                behind = above.extend(len(node.tokens)) if above else None
                node.span = behind or self.memory.span(len(node.tokens), room)
            while node.pending and node.start + node.done < upto:
                node.done += 1
                prefix = prompt[: node.start + node.done]
                self.written[node.span.block, node.span.start + node.done - 1] = prefix
                self.done.add(prefix)

    @rule(prompt=ids, answer=ids)
    def attach(self, prompt: Prefix, answer: Prefix) -> None:
        attached = self.tree.attach(Node(list(answer), self.inserted(prompt), answer=True))
        assert attached == (answer != () and prompt + answer[:1] not in self.wanted)
        if attached:
            self.time += 1
            self.wanted |= dict.fromkeys(prefixes(prompt + answer, len(prompt)), self.time)
            self.answers |= set(prefixes(prompt + answer, len(prompt)))

    @rule(kept=st.sets(ids, max_size=2))
    def drop_the_oldest_leaf(self, kept: set[Prefix]) -> None:
        ends = [self.inserted(prompt) for prompt in sorted(kept)]
        leaf = self.tree.oldest_leaf({node for end in ends for node in end.path()})
        longer = {prefix[:-1] for prefix in self.wanted}
        free = {prefix: time for prefix, time in self.wanted.items() if prefix not in longer | kept}
        if leaf is None:
            assert not free
            return
        assert free[tokens_to(leaf)] == min(free.values())
        self.tree.remove(leaf)
        for prefix in prefixes(tokens_to(leaf), leaf.start):
            del self.wanted[prefix]
            self.done.discard(prefix)
            self.answers.discard(prefix)

    @rule(prompt=ids)
    def ask_what_is_computed(self, prompt: Prefix) -> None:
        known = [prefix in self.done for prefix in prefixes(prompt)]
        assert self.tree.computed(prompt) == [*known, False].index(False)

    @invariant()
    def the_same_prefixes(self) -> None:
        assert len(self.tree) == len(self.wanted)
        in_nodes = [prefix for node in self.tree.nodes() for prefix in prefixes(tokens_to(node), node.start)]
        assert sorted(in_nodes) == sorted(self.wanted)

    @invariant()
    def every_node_is_whole(self) -> None:
        seen = {self.tree.root}
        for node in self.tree.nodes():
            own = prefixes(tokens_to(node), node.start)
            assert node.parent in seen, "parents come before their children"
            seen.add(node)
            assert node.parent.children[node.tokens[0]] is node
            assert (node.start, node.end) == (node.parent.end, node.start + len(node.tokens))
            assert {self.wanted[prefix] for prefix in own} == {self.wanted[own[0]]}
            assert {prefix in self.answers for prefix in own} == {node.answer}
            assert [prefix in self.done for prefix in own] == [True] * node.done + [False] * node.pending
            if node.span is not None:
                assert node.span.end - node.span.start == len(node.tokens)
                places = [(node.span.block, node.span.start + index) for index in range(node.done)]
                assert [self.written[place] for place in places] == own[: node.done]
            else:
                assert node.done == 0


TestTrees = Trees.TestCase
TestTrees.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)


def test_nothing_is_found_in_an_empty_tree() -> None:
    tree = TokenTree()
    assert (len(tree), list(tree.nodes()), tree.computed([1, 2]), tree.oldest_leaf(set())) == (0, [], 0, None)
    assert tree.insert([]) is tree.root


def test_a_long_prompt_is_one_node_until_another_leaves_it() -> None:
    tree, prompt = TokenTree(), list(range(30_000))
    end = tree.insert(prompt)
    assert list(tree.nodes()) == [end]
    aside = tree.insert([*prompt[:20_000], 7])
    assert [len(node.tokens) for node in tree.nodes()] == [20_000, 10_000, 1]
    assert end.path() == [aside.parent, end]
    assert (end.start, end.end) == (20_000, 30_000)


def test_a_thousand_turns_are_no_recursion() -> None:
    tree = TokenTree()
    for length in range(1, 2_001):
        node = tree.insert([0] * length)
    assert (len(tree), len(node.path())) == (2_000, 2_000)
