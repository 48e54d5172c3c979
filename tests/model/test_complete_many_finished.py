"""Hearing of each answer of one call as soon as it is there, on a small model: computed, remembered, before a stop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcourse import load_model
from ctxcourse.model.answers import BusyError, Cancelled, Completion
from ctxcourse.model.completions import CompletionStore
from ctxcourse.model.qwen import Model
from tests.small_model import write_small_model

PROMPTS = ["one", "two and a half", "one", "three"]
MANY = [f"number {number}" for number in range(80)]  # more than are answered side by side
NEW = 4


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Model:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(write_small_model(home / "small")))


@pytest.fixture
def small(loaded: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """A real model of random weights that knows nothing yet, with a store of the test's own."""
    store = CompletionStore(tmp_path / "completions.sqlite3")
    monkeypatch.setattr(loaded, "store", store)
    loaded.forget()
    yield loaded
    store.close()


class Heard(dict[int, Completion]):
    """What was told, by number; no number is told twice."""

    def __call__(self, number: int, completion: Completion) -> None:
        assert number not in self
        self[number] = completion


def test_each_prompt_is_told_once_with_the_completion_that_is_returned(small: Model) -> None:
    for remember, remembered in ((False, False), (True, False), (True, True)):
        heard = Heard()
        returned = small.complete_many(PROMPTS, NEW, remember=remember, finished=heard)
        assert [heard[number] for number in range(len(PROMPTS))] == returned
        assert len(heard) == len(PROMPTS)
        assert {completion.remembered for completion in returned} == {remembered}


def test_remembered_ones_are_told_before_the_others_are_computed(small: Model) -> None:
    small.complete_many(PROMPTS[1:2], NEW)
    heard: list[tuple[int, bool]] = []
    small.complete_many(PROMPTS, NEW, finished=lambda number, one: heard.append((number, one.remembered)))
    assert heard[0] == (1, True)
    assert len(heard) == 4
    assert sorted(heard[1:]) == [(0, False), (2, False), (3, False)]


def test_what_was_told_before_a_stop_is_what_the_store_has_with_its_true_account(small: Model) -> None:
    heard = Heard()
    small.complete_many(MANY[:1], NEW)
    with pytest.raises(Cancelled):
        small.complete_many(MANY, NEW, finished=heard, should_stop=lambda: len(heard) > 1)
    assert 1 < len(heard) < len(MANY)
    assert [number for number, one in heard.items() if one.remembered] == [0]
    assert all(one.computed_tokens > 0 for one in heard.values() if not one.remembered)
    again = small.complete_many(MANY, NEW)
    assert [number for number, one in enumerate(again) if one.remembered] == sorted(heard)
    assert all(again[number].new_ids == one.new_ids for number, one in heard.items())


def test_an_answer_is_in_the_store_when_it_is_told_and_an_error_of_the_listener_ends_the_call(small: Model) -> None:
    def fail(number: int, completion: Completion) -> None:
        raise RuntimeError("heard enough")

    with pytest.raises(RuntimeError, match="heard enough"):
        small.complete_many(["only this"], NEW, finished=fail)
    assert small.complete("only this", max_new_tokens=NEW, remember=True).remembered


def test_the_listener_may_not_ask_and_is_called_in_the_thread_that_asked(small: Model) -> None:
    threads = set()

    def ask(number: int, completion: Completion) -> None:
        threads.add(threading.get_ident())
        small.complete("another")

    with pytest.raises(BusyError):
        small.complete_many(["this"], NEW, finished=ask)
    assert threads == {threading.get_ident()}
