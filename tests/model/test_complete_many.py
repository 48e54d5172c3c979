"""Many prompts in one call of the real model: order, errors before any work, store, interrupts, threads, the bar."""

from __future__ import annotations

import copy
import os
import shutil
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from ctxcourse import load_model
from ctxcourse.model import prefixes
from ctxcourse.model.answers import BusyError, Cancelled, Completion, PromptError, WindowError
from ctxcourse.model.completions import CompletionStore, StoredCompletion, StoreWarning
from ctxcourse.model.plain import PlainEngine
from ctxcourse.model.qwen import Model
from ctxcourse.model.tokenizer import ChatTokenizer
from tests.model.prompts import PROMPTS, SESSION
from tests.model.random_models import PLAIN, plain_generate

pytestmark = pytest.mark.model
QUESTIONS = [
    "Name the capital of France.",
    "Name the capital of Italy.",
    "Hi",
    "Name the capital of Portugal.",
    "What is 17 times 23?",
    "Write the word: surprise",
]
NEW = 6
SETTINGS = {"decoding": "greedy", "max_new_tokens": NEW}


@pytest.fixture
def store(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CompletionStore]:
    """A store of the test's own, in the place of the reader's."""
    own = CompletionStore(tmp_path / "completions.sqlite3")
    monkeypatch.setattr(model, "store", own)
    yield own
    own.close()


@pytest.fixture(scope="module")
def expected(model: Model) -> dict[str, Completion]:
    """The answer to each question, asked alone and with nothing known from before."""
    answers = {}
    for question in QUESTIONS:
        model.forget()
        answers[question] = model.complete(question, max_new_tokens=NEW)
    return answers


def no_work() -> bool:
    pytest.fail("work was begun")


class Passes:
    """Counts the passes of a network through its first layer, and breaks off at the ``last`` of them."""

    def __init__(self, model: Model, last: int | None = None) -> None:
        self.layer, self.last, self.number = model.network.model.layers[0], last, 0

    def __enter__(self) -> Passes:
        def hook(*_: Any) -> None:
            self.number += 1
            if self.number == self.last:
                raise KeyboardInterrupt

        self.handle = self.layer.register_forward_pre_hook(hook)
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.remove()


def same(answers: list[Completion], questions: list[str], expected: dict[str, Completion]) -> bool:
    return [(a.text, a.new_ids, a.stop_reason) for a in answers] == [
        (expected[q].text, expected[q].new_ids, expected[q].stop_reason) for q in questions
    ]


# What is asked


def test_answers_come_in_the_order_of_the_prompts(
    model: Model, store: CompletionStore, expected: dict[str, Completion]
) -> None:
    for questions in (QUESTIONS, QUESTIONS[::-1]):
        model.forget()
        answers = model.complete_many(questions, NEW, remember=False)
        assert same(answers, questions, expected)
        assert [a.prompt_tokens for a in answers] == [expected[q].prompt_tokens for q in questions]
        assert {a.fingerprint for a in answers} == {model.fingerprint}
    assert "Paris" in answers[-1].text


def test_of_equal_prompts_the_store_keeps_the_one_that_was_computed(model: Model, store: CompletionStore) -> None:
    model.forget()
    model.complete_many([QUESTIONS[0]] * 3, NEW)
    ids = model.encode_prompt([{"role": "user", "content": QUESTIONS[0]}])
    kept = store.get(model.fingerprint, ids, {"decoding": "greedy", "max_new_tokens": NEW})
    assert kept is not None
    assert kept.seconds > 0


def test_equal_prompts_are_answered_once(model: Model, expected: dict[str, Completion]) -> None:
    model.forget()
    first, other, second = model.complete_many([QUESTIONS[0], QUESTIONS[1], QUESTIONS[0]], NEW, remember=False)
    assert (first.text, first.new_ids, first.stop_reason) == (second.text, second.new_ids, second.stop_reason)
    assert first.computed_tokens + other.computed_tokens == model.engine.profile.prefill_rows
    assert (second.computed_tokens, second.seconds, second.remembered) == (0, 0.0, False)


def test_no_prompts_are_no_work(model: Model, store: CompletionStore) -> None:
    assert model.complete_many([], should_stop=no_work) == []


def test_pairs_bring_tools_of_their_own(model: Model, store: CompletionStore) -> None:
    messages, tools = PROMPTS["one tool"]
    bare, with_tools, none = model.complete_many([messages, (messages, tools), (messages, None)], NEW)
    assert bare.prompt_tokens == none.prompt_tokens == model.count_prompt(messages)
    assert with_tools.prompt_tokens == model.count_prompt(messages, tools)
    assert with_tools.new_ids == model.complete(messages, tools, max_new_tokens=NEW).new_ids
    assert bare.new_ids == none.new_ids


def test_texts_messages_and_token_ids_are_the_same_prompt(model: Model, expected: dict[str, Completion]) -> None:
    text = QUESTIONS[0]
    messages = [{"role": "user", "content": text}]
    prompts: list[Any] = [text, messages, model.encode_prompt(messages), (model.encode_prompt(messages), None)]
    answers = model.complete_many(prompts, NEW, remember=False)
    assert same(answers, [text] * 4, expected)
    assert sum(answer.computed_tokens > 0 for answer in answers) == 1


@pytest.mark.parametrize("ids", [(9_707, 11, 1_879), (9_707, 11)])
def test_token_ids_may_be_a_tuple_as_those_of_a_completion_are(model: Model, ids: tuple[int, ...]) -> None:
    [answer] = model.complete_many([ids], 2, remember=False)
    assert answer.prompt_tokens == len(ids)
    assert answer.new_ids == model.complete(list(ids), max_new_tokens=2).new_ids


# What is refused, before any work


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_prompt_that_is_too_long_is_named(model: Model, store: CompletionStore, place: int) -> None:
    prompts: list[Any] = ["Hi", "Hello"]
    prompts.insert(place, [5] * model.context_window)
    with pytest.raises(WindowError, match=rf"^Prompt {place} \(of 3, counted from 0\): .*32,768.*64 more than"):
        model.complete_many(prompts, 64, should_stop=no_work)
    assert store.info().completions == 0


def test_the_longest_prompt_that_fits_is_not_refused(model: Model) -> None:
    class Stop(Exception):
        pass

    def begun() -> bool:
        raise Stop

    longest = [5] * (model.context_window - 2)
    with pytest.raises(Stop):
        model.complete_many([longest], 2, remember=False, should_stop=begun)
    with pytest.raises(WindowError, match=r"1 more than the window"):
        model.complete_many([longest], 3, remember=False, should_stop=no_work)
    model.forget()


@pytest.mark.parametrize("nothing", [[], (), ([], None)])
def test_an_empty_prompt_is_named(model: Model, nothing: Any) -> None:
    with pytest.raises(PromptError, match=r"^Prompt 1 \(of 2, counted from 0\): There is nothing to answer"):
        model.complete_many(["Hi", nothing], NEW, should_stop=no_work)
    with pytest.raises(PromptError, match=r"^There is nothing to answer"):
        model.complete_many([nothing], NEW, should_stop=no_work)


@pytest.mark.parametrize("token", [-1, 151_936, True, 1.5, None, 2**40])
@pytest.mark.parametrize("position", [0, 2])
def test_what_is_no_token_id_is_named(model: Model, token: Any, position: int) -> None:
    ids: list[Any] = [5, 6]
    ids.insert(position, token)
    with pytest.raises(PromptError, match=rf"^Prompt 1 \(of 2, counted from 0\): Token {position} is {token!r}"):
        model.complete_many(["Hi", ids], NEW, should_stop=no_work)


@pytest.mark.parametrize("limit", [True, False, "8", None, 0, -3, 2.0, [4]])
def test_a_senseless_limit_is_refused(model: Model, limit: Any) -> None:
    with pytest.raises(PromptError, match="max_new_tokens must be a whole number of at least 1"):
        model.complete_many(["Hi"], limit, should_stop=no_work)


# The store


def test_what_was_computed_once_is_remembered(
    model: Model, store: CompletionStore, expected: dict[str, Completion]
) -> None:
    computed = model.complete_many(QUESTIONS, NEW)
    assert not any(answer.remembered for answer in computed)
    model.forget()
    with Passes(model) as passes:
        began = time.perf_counter()
        again = model.complete_many(QUESTIONS, NEW, should_stop=no_work)
        took = time.perf_counter() - began
    assert passes.number == 0
    assert took < 0.5
    assert all(answer.remembered for answer in again)
    assert [answer.computed_tokens for answer in again] == [0] * len(QUESTIONS)
    assert [answer.prompt_tokens for answer in again] == [answer.prompt_tokens for answer in computed]
    assert sum(answer.seconds for answer in again) <= took
    assert same(computed, QUESTIONS, expected)
    assert same(again, QUESTIONS, expected)


def test_another_call_computes_what_is_missing(
    model: Model, store: CompletionStore, expected: dict[str, Completion]
) -> None:
    model.complete_many(QUESTIONS[1:3], NEW)
    answers = model.complete_many([*QUESTIONS, QUESTIONS[0]], NEW)
    assert [answer.remembered for answer in answers] == [False, True, True, False, False, False, False]
    assert same(answers, [*QUESTIONS, QUESTIONS[0]], expected)
    assert store.info().completions == len(QUESTIONS)


def test_messages_in_a_tuple_are_messages(model: Model, store: CompletionStore) -> None:
    two = ({"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTIONS[0]})
    assert model.complete_many([two], NEW)[0].text == model.complete_many([list(two)], NEW, remember=False)[0].text


def test_another_limit_or_other_tools_are_another_question(model: Model, store: CompletionStore) -> None:
    model.complete_many(["Hi"], NEW)
    for prompts, limit in ((["Hi"], NEW - 1), ([("Hi", SESSION.tools[-1:])], NEW), (["Hi "], NEW)):
        [answer] = model.complete_many(prompts, limit)
        assert not answer.remembered


def test_nothing_is_remembered_where_it_is_not_wanted(
    model: Model, store: CompletionStore, expected: dict[str, Completion]
) -> None:
    question = QUESTIONS[0]
    answers = [*model.complete_many([question], NEW, remember=False), model.complete(question, max_new_tokens=NEW)]
    assert not store.path.exists()
    ids = model.encode_prompt([{"role": "user", "content": question}])
    store.put(model.fingerprint, ids, SETTINGS, StoredCompletion((9_707,), "length", 1.0))
    answers += [*model.complete_many([question], NEW, remember=False), model.complete(question, max_new_tokens=NEW)]
    assert same(answers, [question] * 4, expected)
    assert model.complete(question, max_new_tokens=NEW, remember=True).new_ids == (9_707,)


def test_a_store_that_cannot_be_written_costs_no_answer(
    model: Model, expected: dict[str, Completion], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a file").write_text("no folder")
    monkeypatch.setattr(model, "store", CompletionStore(tmp_path / "a file" / "completions.sqlite3"))
    with pytest.warns(StoreWarning, match="answers are computed and not remembered"):
        assert same(model.complete_many(QUESTIONS[:2], NEW), QUESTIONS[:2], expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is told once
        assert same(model.complete_many(QUESTIONS[:2], NEW), QUESTIONS[:2], expected)


# Interrupts


def by_a_pass(model: Model) -> Callable[[], Any]:
    """Break off in the middle of a network's pass, after the first group."""

    def ask() -> None:
        with Passes(model, last=NEW + 4):
            model.complete_many(QUESTIONS, NEW)

    return ask


def by_should_stop(model: Model) -> Callable[[], Any]:
    questions = count()
    return lambda: model.complete_many(QUESTIONS, NEW, should_stop=lambda: next(questions) == NEW + 4)


class ImpatientStore(CompletionStore):
    """A store in which the reader interrupts the third completion."""

    puts = 0

    def put(self, *what: Any) -> None:
        self.puts += 1
        if self.puts == 3:
            raise KeyboardInterrupt
        super().put(*what)


def by_the_store(model: Model) -> Callable[[], Any]:
    def ask() -> None:
        store, model.store = model.store, ImpatientStore(model.store.path)
        try:
            model.complete_many(QUESTIONS, NEW)
        finally:
            model.store = store

    return ask


@pytest.mark.parametrize("broken_off", [by_a_pass, by_should_stop, by_the_store])
def test_a_call_that_was_broken_off_goes_on_where_it_stopped(
    model: Model,
    store: CompletionStore,
    expected: dict[str, Completion],
    monkeypatch: pytest.MonkeyPatch,
    broken_off: Callable[[Model], Callable[[], Any]],
) -> None:
    monkeypatch.setattr(prefixes, "GROUP", 2)
    model.forget()
    with pytest.raises(Cancelled if broken_off is by_should_stop else KeyboardInterrupt):
        broken_off(model)()
    finished = store.info().completions
    assert 2 <= finished < len(QUESTIONS)
    answers = model.complete_many(QUESTIONS, NEW)
    assert sum(answer.remembered for answer in answers) == finished
    assert same(answers, QUESTIONS, expected)
    assert same(model.complete_many(QUESTIONS, NEW, remember=False), QUESTIONS, expected)


def test_two_threads_may_ask_at_once(model: Model, store: CompletionStore, expected: dict[str, Completion]) -> None:
    model.forget()
    ready = threading.Barrier(2)

    def ask(questions: list[str]) -> list[Completion]:
        ready.wait(timeout=60)
        return model.complete_many(questions, NEW)

    halves = [QUESTIONS[:4], QUESTIONS[2:]]
    with ThreadPoolExecutor(2) as threads:
        for questions, answers in zip(halves, threads.map(ask, halves), strict=True):
            assert same(answers, questions, expected)


@pytest.mark.parametrize("call", ["complete", "forget"])
def test_a_call_from_within_a_call_is_refused_and_not_waited_for(
    model: Model, store: CompletionStore, expected: dict[str, Completion], call: str
) -> None:
    def ask_again() -> bool:
        if call == "forget":
            model.forget()
        model.complete("Hi", max_new_tokens=1)
        return False

    with pytest.raises(BusyError, match="in this very thread"):
        model.complete_many(QUESTIONS[:1], NEW, remember=False, should_stop=ask_again)
    assert same(model.complete_many(QUESTIONS[:1], NEW), QUESTIONS[:1], expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_is_told_why_it_cannot_ask(model: Model) -> None:
    model.complete("Hi", max_new_tokens=1)
    reading, writing = os.pipe()
    with warnings.catch_warnings(action="ignore"):  # of threads that are not in the child
        child = os.fork()
    if not child:
        try:
            model.complete("Hi", max_new_tokens=1)
        except BusyError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert "spawn" in answer.read()
    os.waitpid(child, 0)


# A network whose attention cannot be packed


def test_a_model_that_cannot_be_packed_answers_plainly(
    tok: ChatTokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "gemma2"
    config = copy.deepcopy(PLAIN["gemma2"])
    config.vocab_size, config.eos_token_id = 151_936, tok.control_tokens["<|im_end|>"]
    torch.manual_seed(0)
    AutoModelForCausalLM.from_config(config, dtype=torch.float32).save_pretrained(folder)
    for file in tok.folder.glob("*"):
        if file.name.startswith(("tokenizer", "chat_template")):
            shutil.copy(file, folder)
    model = load_model(str(folder))
    assert isinstance(model.engine, PlainEngine)
    model.store = CompletionStore(tmp_path / "completions.sqlite3")
    answers = model.complete_many([*QUESTIONS, "Hi"], NEW)
    network = AutoModelForCausalLM.from_pretrained(folder)
    for question, answer in zip([*QUESTIONS, "Hi"], answers, strict=True):
        ids = model.encode_prompt([{"role": "user", "content": question}])
        assert list(answer.new_ids) == plain_generate(network, ids, model.engine.ends, NEW)
    assert all(answer.remembered for answer in model.complete_many(QUESTIONS, NEW, should_stop=no_work))


# The bar


def slowly() -> bool:
    time.sleep(0.4)
    return False


def test_a_long_call_shows_its_progress_in_tokens(model: Model, capfd: pytest.CaptureFixture[str]) -> None:
    model.forget()
    ids = model.encode_prompt([{"role": "user", "content": "Count to a hundred."}])
    model.complete_many([ids], 10, remember=False, should_stop=slowly)
    shown = capfd.readouterr()
    assert f"/{len(ids) + 10} [" in shown.err
    assert "token" in shown.err
    assert shown.out == ""


def test_no_progress_is_shown_where_none_is_wanted(model: Model, capfd: pytest.CaptureFixture[str]) -> None:
    model.complete_many(["Count to a hundred."], 10, remember=False, should_stop=slowly, progress=False)
    assert capfd.readouterr() == ("", "")


def test_a_short_call_shows_nothing(model: Model, capfd: pytest.CaptureFixture[str]) -> None:
    ready = model.complete_many(["Count to ten."], 2, remember=False, progress=False)
    model.complete_many(["Count to ten."], 2, remember=False)
    assert ready
    assert capfd.readouterr() == ("", "")
