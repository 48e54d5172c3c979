"""Prefix reuse on random networks: the plain greedy answers, whatever was asked before, cut short, or dropped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count, pairwise
from types import FrameType
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ctxcourse.model import attention, plain, prefix, prefixes
from ctxcourse.model.answers import Answer, Cancelled
from ctxcourse.model.attention import Piece, packed_attention, packed_forward, supports_packing
from ctxcourse.model.keyvalues import Block, KeyValueMemory
from ctxcourse.model.plain import PlainEngine
from ctxcourse.model.prefix import PrefixEngine
from ctxcourse.model.tree import Node, TokenTree
from tests.model.random_models import (
    ENDS,
    PACKED,
    PLAIN,
    VOCABULARY,
    assert_greedy,
    plain_generate,
    plain_logits,
    prepared,
    stem,
    untouched,
)

AMPLE = 100_000
CLOSE = 1e-4
REAL_CHUNK, REAL_GROUP = prefix.CHUNK, prefixes.GROUP

kinds = st.sampled_from(sorted(PACKED))
fresh = st.builds(
    lambda seed, length, rest: [*stem(seed, length), *rest] or [0],
    st.integers(0, 2),
    st.integers(0, 45),
    st.lists(st.integers(0, VOCABULARY - 1), max_size=5),
)
many_fresh = st.lists(fresh, min_size=1, max_size=8)


@pytest.fixture(autouse=True, scope="module")
def one_thread_and_no_luck() -> Iterator[None]:
    """Compute with one thread, for a pass of two threads waits for both; and fill new memory with NaN."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


def engine_for(kind: str, limit: int = AMPLE) -> PrefixEngine:
    """Return an engine that may keep ``limit`` tokens."""
    engine = PrefixEngine(prepared(kind), set(ENDS))
    return PrefixEngine(prepared(kind), set(ENDS), limit * engine.prefixes.memory.token_bytes)


def fits(engine: PrefixEngine, prompts: Sequence[Sequence[int]], new: int) -> bool:
    """Return whether each prompt alone, with the room for its answer, needs no more than the limit."""
    return max(map(len, prompts)) + new <= engine.prefixes.limit


def ask(engine: PrefixEngine | PlainEngine, prompts: Sequence[Sequence[int]], new: int, **how: Any) -> list[Answer]:
    found: dict[int, Answer] = {}
    engine.run(prompts, new, found.__setitem__, **how)
    return [found.pop(number) for number in range(len(prompts))]


def ask_and_check(engine: PrefixEngine, kind: str, prompts: Sequence[Sequence[int]], new: int) -> list[Answer]:
    answers = ask(engine, prompts, new)
    for ids, answer in zip(prompts, answers, strict=True):
        assert_greedy(untouched(kind), ids, answer, new)
    return answers


def assert_sound(engine: PrefixEngine) -> None:
    """Assert what holds between calls: a tree of whole nodes, and no two of them in the same place of the memory."""
    assert engine.network.config._attn_implementation == untouched("qwen2").config._attn_implementation
    places: dict[Block, list[tuple[int, int]]] = {}
    for node in engine.prefixes.tree.nodes():
        assert node.parent is not None
        assert node.parent.children[node.tokens[0]] is node
        assert node.start == node.parent.end
        assert 0 <= node.done <= (len(node.tokens) if node.span else 0)
        if node.span is not None:
            assert node.span.end - node.span.start == len(node.tokens)
            places.setdefault(node.span.block, []).append((node.span.start, node.span.room))
    for block, taken in places.items():
        taken.sort()
        assert all(room <= start for (_, room), (start, _) in pairwise(taken))
        assert taken[-1][1] <= block.capacity


def distinct_tokens(prompts: Sequence[Sequence[int]]) -> int:
    return len({tuple(ids[:end]) for ids in prompts for end in range(1, len(ids) + 1)})


# One call


@settings(max_examples=40, deadline=None)
@given(
    kind=kinds,
    shared=st.integers(1, 60),
    own=st.lists(st.integers(1, 60), min_size=2, max_size=30),
    more=st.integers(0, 200),
)
@example(kind="qwen2", shared=50, own=[60] + [20] * 20, more=0)
def test_a_beginning_that_all_share_is_computed_once_if_two_of_the_prompts_fit(
    kind: str, shared: int, own: list[int], more: int
) -> None:
    prompts = [[*stem(0, shared), number, *stem(1, length)] for number, length in enumerate(own)]
    engine = engine_for(kind, 2 * (shared + 1 + max(own) + 5) + more)
    answers = ask(engine, prompts, 5)
    assert sum(answer.computed_tokens for answer in answers) == distinct_tokens(prompts)
    assert engine.prefixes.memory.tokens <= engine.prefixes.limit
    assert_sound(engine)


@pytest.mark.parametrize("kind", PACKED)
def test_the_answers_are_those_of_generate(kind: str) -> None:
    prompts = [stem(seed, length) for seed in (0, 1) for length in (1, 2, 30, 31, 90)]
    answers = ask(engine_for(kind), prompts, 20)
    plainly = [plain_generate(untouched(kind), ids, ENDS, 20) for ids in prompts]
    assert [answer.new_ids for answer in answers] == plainly
    assert [answer.stop_reason for answer in answers] == ["stop" if len(new) < 20 else "length" for new in plainly]


def test_some_answers_of_these_networks_end_early_and_some_do_not() -> None:
    lengths = [len(answer.new_ids) for answer in ask(engine_for("qwen3"), [stem(s, 30) for s in range(30)], 20)]
    assert min(lengths) < 20 == max(lengths)


@settings(max_examples=40, deadline=None)
@given(kind=kinds, prompts=many_fresh, new=st.integers(1, 12))
def test_each_distinct_token_is_computed_once(kind: str, prompts: list[list[int]], new: int) -> None:
    engine, told = engine_for(kind), [0]
    expected = engine.expected(prompts, new)
    answers = ask(engine, prompts, new, progress=told.append)
    distinct = {tuple(ids) for ids in prompts}
    assert sum(answer.computed_tokens for answer in answers) == distinct_tokens(prompts) == engine.profile.prefill_rows
    assert sum(told) == expected == distinct_tokens(prompts) + new * len(distinct)
    profile = engine.profile
    seconds = sum(answer.seconds for answer in answers)
    assert seconds == pytest.approx(profile.prefill_seconds + profile.decode_seconds)
    for number, ids in enumerate(prompts):
        if ids in prompts[:number]:
            assert (answers[number].computed_tokens, answers[number].seconds) == (0, 0.0)

    again = ask(engine, prompts, new)
    assert sum(answer.computed_tokens for answer in again) == len(distinct)  # the last token of each, for its logits
    assert [answer.new_ids for answer in again] == [answer.new_ids for answer in answers]


@settings(max_examples=60, deadline=None)
@given(kind=kinds, prompts=many_fresh, rows=st.integers(1, 30), part=st.sampled_from([2, 5, 256]), data=st.data())
def test_logits_after_every_token_are_those_of_a_plain_pass(
    kind: str, prompts: list[list[int]], rows: int, part: int, data: st.DataObject
) -> None:
    """Passes of ``rows`` rows over a tree whose nodes lie in blocks of their own, or behind their parents."""
    config, tree = untouched(kind).config, TokenTree()
    memory = KeyValueMemory(config.num_hidden_layers, config.num_key_value_heads, attention_dim(config))
    ends = {tuple(ids): tree.insert(ids) for ids in prompts}
    passes, room = cut(tree, rows), data.draw(st.integers(0, 20))
    after: dict[tuple[Node, int], Any] = {}
    with pytest.MonkeyPatch.context() as patch, torch.inference_mode(), packed_attention(prepared(kind)):
        patch.setattr(attention, "CAUSAL", part)
        for node in tree.nodes():
            assert node.parent is not None
            behind = node.parent.span.extend(len(node.tokens)) if node.parent.span else None
            node.span = behind or memory.span(len(node.tokens), room)
        for pieces in passes:
            total = sum(len(piece.ids) for piece in pieces)
            logits = iter(packed_forward(prepared(kind), pieces, range(total)))
            after |= {(p.node, p.offset + i): next(logits) for p in pieces for i in range(len(p.ids))}
    for ids, end in ends.items():
        packed = torch.stack([after[node, index] for node in end.path() for index in range(len(node.tokens))])
        assert (packed - plain_logits(untouched(kind), ids)).abs().max() < CLOSE


def attention_dim(config: Any) -> int:
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def cut(tree: TokenTree, rows: int) -> list[list[Piece]]:
    """Return passes of ``rows`` rows each over all tokens of a tree."""
    passes: list[list[Piece]] = []
    left = 0
    for node in tree.nodes():
        offset = 0
        while offset < len(node.tokens):
            if not left:
                passes.append([])
                left = rows
            ids = node.tokens[offset : offset + left]
            passes[-1].append(Piece(node, offset, ids))
            offset, left = offset + len(ids), left - len(ids)
    return passes


def test_no_logits_are_computed_where_none_are_wanted() -> None:
    tree, memory = TokenTree(), KeyValueMemory(2, 2, 8)
    node = tree.insert(stem(0, 9))
    node.span = memory.span(9)
    with torch.inference_mode(), packed_attention(prepared("qwen2")):
        assert packed_forward(prepared("qwen2"), [Piece(node, 0, node.tokens)], []).shape == (0, VOCABULARY)


def test_the_latest_answer_is_reported_before_the_next_group_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefixes, "GROUP", 2)
    engine, heard = engine_for("qwen2"), []
    asked = iter(range(10**6))
    engine.run(
        [stem(0, 9), stem(1, 9), stem(2, 9), stem(3, 9)],
        4,
        lambda number, _: heard.append((number, next(asked))),
        should_stop=lambda: next(asked) < 0,
    )
    order = sorted(range(4), key=lambda seed: stem(seed, 9))
    assert {number for number, _ in heard[:2]} == set(order[:2])
    assert heard[2][1] - heard[1][1] > 1  # passes lie between them


def test_guesses_copied_from_the_prompt_save_steps_and_change_nothing() -> None:
    kind = "qwen3"
    looping = next(ids for ids in (stem(seed, 30) for seed in count()) if loops(kind, ids))
    engine = engine_for(kind)
    ask_and_check(engine, kind, [looping], 40)
    assert engine.profile.taken > 10
    assert engine.profile.decode_steps < 30
    assert engine.profile.guessed >= engine.profile.taken


def loops(kind: str, ids: list[int]) -> bool:
    new = plain_generate(untouched(kind), ids, ENDS, 40)
    return len(new) == 40 and len({tuple(new[i : i + 3]) for i in range(38)}) < 12


# Many calls on one engine


Turn = tuple[int, int, list[int]]
"""An earlier prompt (counted back from the latest), how much of its answer follows, and what comes then."""
turns = st.tuples(
    st.integers(0, 6),
    st.sampled_from([-2, -1, 0, 0, 1, 2, 4]),  # tokens of the answer's end left out; or the first few
    st.lists(st.integers(0, VOCABULARY - 1), max_size=4),
)
mixed = st.lists(fresh | turns, min_size=1, max_size=6)
limits = st.sampled_from([1, 30, 60, 120, 300, AMPLE])


class Calls(RuleBasedStateMachine):
    """Calls on one engine, in any order; chunks, groups and memory are small, so that they are cut everywhere."""

    @initialize(
        kind=kinds,
        chunk=st.sampled_from([2, 3, 7, 16, REAL_CHUNK]),
        group=st.sampled_from([1, 2, 3, REAL_GROUP]),
        part=st.sampled_from([2, 5, 256]),
        limit=limits,
    )
    def begin(self, kind: str, chunk: int, group: int, part: int, limit: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(prefix, "CHUNK", chunk)
        self.patch.setattr(prefixes, "GROUP", group)
        self.patch.setattr(attention, "CAUSAL", part)
        self.kind, self.group = kind, group
        self.engine = engine_for(kind, limit)
        self.earlier: list[tuple[list[int], list[int]]] = [([0], [])]

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()

    def prompts(self, drawn: list[list[int] | Turn]) -> list[list[int]]:
        made = []
        for each in drawn:
            if isinstance(each, tuple):
                back, part, rest = each
                before, new = self.earlier[-1 - back % len(self.earlier)]
                each = [*before, *(new[:part] if part > 0 else new[: len(new) + part]), *rest]
            made.append(each[-150:])
        return made

    @rule(drawn=mixed, new=st.integers(1, 20))
    def ask(self, drawn: list[list[int] | Turn], new: int) -> None:
        self.check(self.prompts(drawn), new)

    def check(self, prompts: list[list[int]], new: int) -> None:
        told, most = [0], 0
        expected = self.engine.expected(prompts, new)

        def progress(tokens: int) -> None:
            nonlocal most
            told.append(tokens)
            most = max(most, self.engine.prefixes.memory.tokens)

        answers = ask(self.engine, prompts, new, progress=progress)
        for ids, answer in zip(prompts, answers, strict=True):
            assert_greedy(untouched(self.kind), ids, answer, new)
            self.earlier.append((ids, answer.new_ids))
        computed, distinct = sum(answer.computed_tokens for answer in answers), len({tuple(ids) for ids in prompts})
        assert computed == self.engine.profile.prefill_rows
        assert sum(told) == computed + new * distinct
        if self.engine.prefixes.limit == AMPLE and distinct <= self.group:
            assert sum(told) == expected
        if fits(self.engine, prompts, new):
            assert max(most, self.engine.prefixes.memory.tokens) <= self.engine.prefixes.limit

    @rule(
        drawn=mixed,
        new=st.integers(1, 20),
        where=st.sampled_from(["should_stop", "progress", "finished", "layer"]),
        at=st.integers(0, 40),
    )
    def break_off(self, drawn: list[list[int] | Turn], new: int, where: str, at: int) -> None:
        prompts = self.prompts(drawn)
        done = broken_off(self.engine, prompts, new, where, at)
        for number, answer in done.items():
            assert_greedy(untouched(self.kind), prompts[number], answer, new)
        self.sound()
        self.check(prompts, new)

    @rule()
    def forget(self) -> None:
        self.engine.forget()
        assert self.engine.prefixes.memory.tokens == 0

    @invariant()
    def sound(self) -> None:
        if hasattr(self, "engine"):
            assert_sound(self.engine)


def broken_off(
    engine: PrefixEngine,
    prompts: Sequence[Sequence[int]],
    new: int,
    where: str,
    at: int,
    kept: list[BaseException] | None = None,
) -> dict[int, Answer]:
    """Ask, break off at the ``at``-th chance that ``where`` gives, and return what was finished until then."""
    done: dict[int, Answer] = {}
    chances = count()

    def interrupt(*_: object) -> None:
        if next(chances) == at:
            raise KeyboardInterrupt

    def finished(number: int, answer: Answer) -> None:
        done[number] = answer
        if where == "finished":
            interrupt()

    how: dict[str, Callable[..., Any]] = {}
    if where == "should_stop":
        how = {"should_stop": lambda: next(chances) == at}
    if where == "progress":
        how = {"progress": interrupt}
    layers = engine.network.model.layers if where == "layer" else []
    hooks = [layer.mlp.register_forward_pre_hook(interrupt) for layer in layers]
    try:
        engine.run(prompts, new, finished, **how)
    except (Cancelled, KeyboardInterrupt) as caught:
        assert isinstance(caught, Cancelled) == (where == "should_stop")  # noqa: PT017
        if kept is not None:
            kept.append(caught)
    finally:
        for hook in hooks:
            hook.remove()
    return done


class ManyCalls(Calls):
    """The same, at length."""


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=20, stateful_step_count=5, deadline=None)
TestManyCalls = pytest.mark.full(ManyCalls.TestCase)
TestManyCalls.settings = settings(max_examples=300, stateful_step_count=8, deadline=None)


@pytest.mark.parametrize("where", ["should_stop", "progress", "finished", "layer"])
def test_an_exception_that_is_kept_keeps_no_memory(where: str) -> None:
    """A notebook keeps the last exception, its frames, and what these hold."""
    engine, kept = engine_for("qwen2", 300), []
    prompts = [stem(seed, 100) for seed in (1, 2)]
    for at in range(1, 4):
        broken_off(engine, prompts, 20, where, at, kept)
        assert engine.prefixes.memory.tokens == sum(
            block.capacity for block in {n.span.block for n in engine.prefixes.tree.nodes() if n.span}
        )
        ask_and_check(engine, "qwen2", prompts, 20)
        assert engine.prefixes.memory.tokens <= 300
    assert kept


def test_a_prompt_below_one_whose_last_token_was_being_computed_again() -> None:
    engine, short = engine_for("qwen2"), stem(0, 20)
    below = [*short, 9, 9]
    ask(engine, [short, below], 4)
    assert broken_off(engine, [short], 4, "should_stop", 0) == {}
    ask_and_check(engine, "qwen2", [below], 4)


@pytest.mark.parametrize("seed", range(4))
def test_a_prompt_that_ends_where_an_earlier_answer_ends_keeps_its_place_in_memory(seed: int) -> None:
    engine, ids = engine_for("qwen2"), stem(seed, 20)
    [answer] = ask(engine, [ids], 8)
    whole = [*ids, *answer.new_ids][: engine.computed([*ids, *answer.new_ids])]
    aside = [*ids, (answer.new_ids[0] + 1) % VOCABULARY, 5, 6, 7]
    ask_and_check(engine, "qwen2", [whole, aside], 8)
    assert_sound(engine)


def test_a_conversation_that_grows_computes_its_new_tokens_alone() -> None:
    engine, ids = engine_for("llama"), stem(0, 40)
    for turn in range(6):
        known = engine.computed(ids)
        assert known >= (len(ids) - 6 if turn else 0)  # five new tokens, and the one that was chosen last
        [answer] = ask_and_check(engine, "llama", [ids], 7)
        assert answer.computed_tokens == len(ids) - known
        ids = [*ids, *answer.new_ids, *stem(turn + 1, 5)]


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("limit", [160, 220, 400])
def test_a_growing_conversation_that_fits_is_computed_once_and_lies_in_few_pieces(limit: int, silent: bool) -> None:
    engine, ids = engine_for("qwen2", limit), stem(0, 30)
    ask(engine, [stem(seed, 40) for seed in (7, 8)], 3)  # what was there before gives way
    computed, seeds = 0, count()
    while len(ids) < 120:
        ids = [*ids, *stem(next(seeds), 6)]  # and not with the model's answer
        if silent and plain_generate(untouched("qwen2"), ids, ENDS, 1):
            ids = ids[:-6]
            continue
        [answer] = ask_and_check(engine, "qwen2", [ids], 3)
        computed += answer.computed_tokens
        assert len(answer.new_ids) == 0 or not silent
        assert engine.prefixes.memory.tokens <= limit
    assert len(ids) <= computed <= len(ids) + (len(ids) if limit == 160 else 6)
    assert len({node.span.block for node in engine.prefixes.tree.insert(ids).path() if node.span}) <= 8


@pytest.mark.parametrize(("kind", "step"), [("qwen2", 17), pytest.param("llama", 1, marks=pytest.mark.full)])
def test_an_interrupt_at_any_line_leaves_an_engine_that_answers_right(kind: str, step: int) -> None:
    """A KeyboardInterrupt comes between any two lines; here at every ``step``-th that a call runs through."""
    before, short = [stem(0, 12), stem(0, 12) + stem(1, 5)], stem(0, 6)
    prompts = [short + stem(2, 4), stem(0, 12), stem(0, 12) + stem(1, 3) + stem(2, 2), stem(3, 4)]
    line, reached = 1, True
    kept: list[BaseException] = []  # as a notebook keeps them
    while reached:
        engine = engine_for(kind, 60 if line % 2 else AMPLE)
        ask(engine, before, 2)
        reached = interrupted_at_line(line, lambda engine=engine: ask(engine, prompts, 3), kept)
        assert_sound(engine)
        assert not reached or engine.prefixes.memory.tokens == 0
        ask_and_check(engine, kind, [*prompts, *before], 3)
        line += step
    assert line > 1_000


def interrupted_at_line(wanted: int, call: Callable[[], object], kept: list[BaseException]) -> bool:
    """Call, with a KeyboardInterrupt at the ``wanted``-th line of the engine; return whether there were that many.

    The lines of ``run`` and of its ``with`` block are left out: a trace may come between the block's end and its exit,
    where no signal is handled.
    """
    lines, before, outside = count(1), sys.gettrace(), ("run", "packed_attention")

    def each_line(frame: FrameType, event: str, _: object) -> Any:
        if event == "line" and next(lines) == wanted:
            raise KeyboardInterrupt
        return each_line

    def each_call(frame: FrameType, event: str, _: object) -> Any:
        inside = "/ctxcourse/model/" in frame.f_code.co_filename and frame.f_code.co_name not in outside
        return each_line if inside else None

    sys.settrace(each_call)
    try:
        call()
    except KeyboardInterrupt as error:
        kept[:] = [error]
        return True
    finally:
        sys.settrace(before)
    return False


# Memory


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        (90, [[stem(0, 70)]]),  # alone: the room for a conversation that goes on is no more than there is
        (60, [[stem(0, 20), stem(0, 22)]]),
        (100, [[stem(0, 80)], *([stem(0, 1) + stem(seed, 40)] for seed in range(1, 5))]),  # one token of a long one
        (60, [[stem(0, 20)]] * 3),
        (200, [[stem(seed, 30) for seed in range(20)]] * 2),
    ],
    ids=["alone", "nested", "a small part of a large block", "again", "more than fit"],
)
def test_the_limit_holds_at_every_pass(limit: int, calls: list[list[list[int]]]) -> None:
    engine = engine_for("qwen2", limit)
    held = [0]
    for prompts in calls:
        assert fits(engine, prompts, 4)
        answers = ask(engine, prompts, 4, progress=lambda _: held.append(engine.prefixes.memory.tokens))
        for ids, answer in zip(prompts, answers, strict=True):
            assert_greedy(untouched("qwen2"), ids, answer, 4)
        assert max(held) <= limit
        assert_sound(engine)


@settings(max_examples=40, deadline=None)
@given(limit=st.integers(20, 150), new=st.integers(1, 8), calls=st.lists(many_fresh, min_size=1, max_size=3))
def test_the_limit_holds_for_random_tries(limit: int, new: int, calls: list[list[list[int]]]) -> None:
    engine = engine_for("mistral", limit)
    for prompts in calls:
        held = [0]
        ask(engine, prompts, new, progress=lambda _, held=held: held.append(engine.prefixes.memory.tokens))
        assert max(held) <= limit or not fits(engine, prompts, new)


def test_a_prompt_that_needs_more_than_the_limit_is_answered_and_then_makes_room() -> None:
    engine = engine_for("qwen2", 50)
    ask_and_check(engine, "qwen2", [stem(0, 150)], 4)
    ask_and_check(engine, "qwen2", [stem(1, 10)], 4)
    assert engine.prefixes.memory.tokens <= 50
    assert engine.computed(stem(0, 150)) == 0


def test_what_was_wanted_last_is_kept_longest() -> None:
    engine = engine_for("qwen2", 150)
    for seed in (0, 1, 0, 2):  # two prompts fit, three do not
        ask(engine, [stem(seed, 40)], 4)
    assert [engine.computed(stem(seed, 40)) for seed in range(3)] == [40, 0, 40]


def test_room_that_answers_did_not_take_is_given_back() -> None:
    engine, short = engine_for("qwen3"), 20
    every = [stem(seed, 30) for seed in range(30)]
    prompts = [ids for ids in every if len(plain_generate(untouched("qwen3"), ids, ENDS, short)) < short]
    assert len(prompts) > 3
    ask_and_check(engine, "qwen3", prompts, 1_500)
    assert engine.prefixes.memory.tokens <= len(prompts) * (30 + short + prefixes.SPARE + 12)
    again = ask_and_check(engine, "qwen3", prompts, 1_500)
    assert [answer.computed_tokens for answer in again] == [1] * len(prompts)


def test_a_call_that_was_cancelled_leaves_nothing_unread_in_the_tree() -> None:
    engine = engine_for("qwen2")
    for at in range(6):
        broken_off(engine, [stem(seed, 60) for seed in range(20)], 20, "should_stop", at)
        assert all(node.done or node.children for node in engine.prefixes.tree.nodes())
        assert_sound(engine)


def test_forgetting_gives_everything_back() -> None:
    engine = engine_for("qwen2")
    ask(engine, [stem(seed, 40) for seed in range(5)], 4)
    assert engine.prefixes.memory.tokens >= 200
    engine.forget()
    assert engine.prefixes.memory.tokens == 0
    assert engine.computed(stem(0, 40)) == 0


def test_the_limit_is_stated_in_bytes() -> None:
    engine = PrefixEngine(prepared("qwen3"), set(ENDS), 100_000)
    assert engine.prefixes.memory.token_bytes == 2 * 2 * 1 * 16 * 4  # keys and values, layers, heads, dim, bytes
    assert engine.prefixes.limit == 100_000 // engine.prefixes.memory.token_bytes


# Networks whose attention cannot be packed


@pytest.mark.parametrize("kind", sorted(PACKED | PLAIN))
def test_only_plain_full_attention_is_packed(kind: str) -> None:
    assert supports_packing(untouched(kind)) == (kind in PACKED)


@pytest.mark.parametrize("chunk", [8, plain.CHUNK])
@pytest.mark.parametrize("kind", sorted(PACKED | PLAIN))
def test_a_plain_engine_gives_the_answers_of_generate(monkeypatch: pytest.MonkeyPatch, kind: str, chunk: int) -> None:
    monkeypatch.setattr(plain, "CHUNK", chunk)
    # with longrope, generate reads a prompt again when its answer passes 32 tokens; none of these does
    prompts = [stem(seed, length) for seed, length in enumerate((1, 6, 20, 33, 46, 70, 91))]
    engine, told = PlainEngine(prepared(kind), set(ENDS)), []
    answers = ask(engine, prompts, 12, progress=told.append)
    plainly = [plain_generate(untouched(kind), ids, ENDS, 12) for ids in prompts]
    assert [answer.new_ids for answer in answers] == plainly
    assert [answer.stop_reason for answer in answers] == ["stop" if len(new) < 12 else "length" for new in plainly]
    assert [answer.computed_tokens for answer in answers] == [len(ids) for ids in prompts]
    assert sum(told) == engine.expected(prompts, 12) == sum(map(len, prompts)) + 12 * len(prompts)
    assert engine.profile.prefill_rows == sum(map(len, prompts))


def test_a_plain_engine_stops_when_it_is_told_to_and_goes_on() -> None:
    engine, done = PlainEngine(prepared("gemma2"), set(ENDS)), {}
    with pytest.raises(Cancelled):
        engine.run([stem(0, 9), stem(1, 9)], 30, done.__setitem__, should_stop=lambda: len(done) == 1)
    assert list(done) == [0]
    [answer] = ask(engine, [stem(1, 9)], 30)
    assert answer.new_ids == plain_generate(untouched("gemma2"), stem(1, 9), ENDS, 30)
