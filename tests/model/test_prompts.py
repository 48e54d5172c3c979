"""What counts as a prompt, and what is said of that which is none. No weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.errors import CourseError
from ctxcourse.model.answers import PromptError
from ctxcourse.model.prompts import checked_prompts, prompt_ids
from ctxcourse.model.tokenizer import ChatTokenizer

pytestmark = pytest.mark.model
VOCABULARY = 151_936
HELLO = [{"role": "user", "content": "Hi"}]
TOOL = {"name": "get_time", "description": "The time.", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture(scope="module")
def tokenizer() -> ChatTokenizer:
    return load_tokenizer()


def ids_of(tokenizer: ChatTokenizer, prompt: Any, tools: Any = None) -> list[int]:
    return prompt_ids(tokenizer, VOCABULARY, prompt, tools, "here: ")


def test_the_ways_to_say_the_same(tokenizer: ChatTokenizer) -> None:
    ids = tokenizer.encode_prompt(HELLO)
    same = ("Hi", HELLO, tuple(HELLO), iter(HELLO), ids, tuple(ids), iter(ids), np.array(ids), torch.tensor(ids))
    for prompt in same:
        found = ids_of(tokenizer, prompt)
        assert found == ids
        assert {type(token) for token in found} == {int}
    assert ids_of(tokenizer, HELLO, [TOOL]) == tokenizer.encode_prompt(HELLO, [TOOL])


@given(ids=st.lists(st.integers(0, VOCABULARY - 1), min_size=1))
def test_token_ids_stay_what_they_are(tokenizer: ChatTokenizer, ids: list[int]) -> None:
    assert ids_of(tokenizer, ids) == ids


@pytest.mark.parametrize(
    ("prompt", "tools", "words"),
    [
        (HELLO[0], None, "single message"),
        (b"hi", None, r"This is b'hi'\. A prompt is"),
        ({1, 2}, None, "This is {1, 2}"),
        (None, None, "This is None"),
        (5, None, "This is 5"),
        (["Hi"], None, "texts in it"),
        (["Hi", HELLO], None, "texts in it"),
        ([], None, "nothing to answer"),
        (iter(()), None, "nothing to answer"),
        ([5, -1], None, "Token 1 is -1"),
        ([5, True], None, "Token 1 is True"),
        ([5, 2.0], None, r"Token 1 is 2\.0"),
        ([VOCABULARY], None, "Token 0 is 151936: .* from 0 to 151,935"),
        (np.array([0.5]), None, "Token 0 is"),
        ([1, 2, 3], [TOOL], "Tools cannot be added to token ids"),
        ([*HELLO, 5], None, "message 1"),
        ([{"role": "user", "content": "a\ud83d"}], None, "message 0"),
    ],
    ids=repr,
)
def test_what_is_no_prompt_is_named(tokenizer: ChatTokenizer, prompt: Any, tools: Any, words: str) -> None:
    with pytest.raises(CourseError, match=f"^here: .*{words}"):
        ids_of(tokenizer, prompt, tools)


@pytest.mark.parametrize("prompts", ["hi you", b"hi", {"role": "user"}, {"a", "b"}, None, 5], ids=repr)
def test_what_is_no_list_of_prompts_is_refused(prompts: Any) -> None:
    with pytest.raises(PromptError, match=r"^prompts must be a list of prompts"):
        checked_prompts(prompts)


def test_pairs_are_a_prompt_and_its_tools() -> None:
    pairs = [("Hi", None), (HELLO, [TOOL]), ([1, 2], ()), (np.array([1, 2]), None)]
    assert checked_prompts(iter(pairs)) == pairs
    alone = [[HELLO, [TOOL]], (1, 2), (HELLO[0], HELLO[0]), "Hi", [1, 2], np.int64(3)]
    assert [(prompt, tools) for prompt, tools in checked_prompts(alone)] == [(prompt, None) for prompt in alone]


@pytest.mark.parametrize("tools", [[4, 5], "you", 5, {"name": "x"}], ids=repr)
def test_a_pair_whose_second_is_no_tools_is_refused(tools: Any) -> None:
    with pytest.raises(PromptError, match=r"^Prompt 1 .*: The second of a pair is the prompt's tools"):
        checked_prompts(["Hi", ([1, 2, 3], tools)])
