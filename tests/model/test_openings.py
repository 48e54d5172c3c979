"""How an answer may begin: rules as sets of tokens, and both engines under them beside transformers' ``generate``."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.model.answers import PromptError
from ctxcourse.model.openings import begin_suppress_tokens
from ctxcourse.model.plain import PlainEngine
from ctxcourse.model.prefix import PrefixEngine
from ctxcourse.model.qwen import Model
from ctxcourse.model.tokenizer import ChatTokenizer
from tests.model.random_models import ENDS, PACKED, VOCABULARY, plain_generate, prepared, stem, untouched

ROOM = 151_936
TOOL = {
    "type": "function",
    "function": {
        "name": "get_current_time",
        "description": "Return the time in a zone.",
        "parameters": {"type": "object", "properties": {"timezone": {"type": "string"}}, "required": ["timezone"]},
    },
}


@given(
    kind=st.sampled_from(sorted(PACKED)),
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    refused=st.lists(st.frozensets(st.integers(0, VOCABULARY - 1), max_size=VOCABULARY - 1), min_size=4, max_size=4),
)
@settings(max_examples=40, deadline=None)
def test_both_engines_begin_as_generate_does_under_the_same_rule(
    kind: str, lengths: list[int], refused: list[frozenset[int]]
) -> None:
    prompts = [stem(seed, length) for seed, length in enumerate(lengths)]
    rules = refused[: len(prompts)]
    plainly = [
        plain_generate(untouched(kind), ids, ENDS, 6, **({"begin_suppress_tokens": sorted(rule)} if rule else {}))
        for ids, rule in zip(prompts, rules, strict=True)
    ]
    for make in (PrefixEngine, PlainEngine):
        engine, found = make(prepared(kind), set(ENDS)), {}
        for _ in range(2):  # the second time every prompt is known to its end
            engine.run(prompts, 6, found.__setitem__, rules=rules)
            assert [found[number].new_ids for number in range(len(prompts))] == plainly


@pytest.mark.parametrize("make", [PrefixEngine, PlainEngine])
def test_a_rule_holds_for_one_call(make: type[PrefixEngine] | type[PlainEngine]) -> None:
    engine, found = make(prepared("qwen2"), set(ENDS)), {}
    prompt = stem(0, 20)
    free = plain_generate(untouched("qwen2"), prompt, ENDS, 4)
    engine.run([prompt], 4, found.__setitem__, rules=[frozenset({free[0]})])
    assert found[0].new_ids[0] != free[0]
    engine.run([prompt], 4, found.__setitem__)
    assert found[0].new_ids == free


@pytest.mark.model
def test_what_each_choice_leaves(tok: ChatTokenizer) -> None:
    call = tok.control_tokens["<tool_call>"]
    everything = set(range(ROOM))
    assert begin_suppress_tokens(tok, ROOM, None) == frozenset()
    assert everything - begin_suppress_tokens(tok, ROOM, "required") == {call}
    auto = everything - begin_suppress_tokens(tok, ROOM, "auto")
    assert call in auto
    assert all(tok.decode([token]).strip() for token in auto)
    none = everything - begin_suppress_tokens(tok, ROOM, "none")
    assert none < auto - {call}
    assert all(tok.decode([token])[0].isalnum() for token in none)
    assert {tok.encode(word)[0] for word in ("The", "7", "pay", "決")} <= none
    assert not none & set(tok.control_tokens.values())


@pytest.mark.model
@given(st.lists(st.text(max_size=12), max_size=5), st.sampled_from(["auto", "none"]))
@settings(max_examples=25, deadline=None)
def test_no_answer_begins_as_a_text_that_it_is_to_be_unlike(texts: list[str], choice: str) -> None:
    tok = load_tokenizer()
    left = set(range(ROOM)) - begin_suppress_tokens(tok, ROOM, choice, texts)
    first = [tok.encode(text)[0] for text in texts if text]
    openings = {tok.decode([token]).strip().casefold() for token in first}
    assert left
    assert not left & (set(first) - {tok.control_tokens["<tool_call>"]})
    assert not openings & {tok.decode([token]).strip().casefold() for token in left}


@pytest.mark.model
@pytest.mark.parametrize(
    ("choice", "unlike", "said"),
    [
        ("never", [], "tool_choice must be"),
        (True, [], "tool_choice must be"),
        ("auto", "The", "unlike is a list of texts"),
        ("auto", [3], "unlike is a list of texts"),
        (None, ["The"], "give tool_choice="),
    ],
)
def test_what_is_no_rule_is_refused(tok: ChatTokenizer, choice: str, unlike: list[str], said: str) -> None:
    with pytest.raises(PromptError, match=re.escape(said)):
        begin_suppress_tokens(tok, ROOM, choice, unlike)


@pytest.mark.model
def test_the_model_calls_where_it_has_to_and_speaks_where_it_may_not(model: Model) -> None:
    talk = [{"role": "user", "content": "What time is it in Lisbon?"}]
    called = model.complete(talk, [TOOL], 40, tool_choice="required").text
    assert called.startswith("<tool_call>")
    spoken = model.complete(talk, [TOOL], 12, tool_choice="none").text
    assert spoken[0].isalnum()
    again = model.complete(talk, [TOOL], 12, tool_choice="none", unlike=[spoken]).text
    assert again.split()[0].casefold() != spoken.split()[0].casefold()
    assert model.complete(talk, [TOOL], 12, tool_choice="none").text == spoken


@pytest.mark.model
def test_the_completion_store_keeps_the_choices_apart(model: Model) -> None:
    talk = [{"role": "user", "content": "What time is it in Rome?"}]
    made = {
        choice: model.complete(talk, [TOOL], 8, remember=True, tool_choice=choice)
        for choice in (None, "required", "none")
    }
    for choice, first in made.items():
        again = model.complete(talk, [TOOL], 8, remember=True, tool_choice=choice)
        assert again.remembered
        assert again.text == first.text
    assert made["required"].text != made["none"].text


@pytest.mark.model
def test_many_prompts_have_a_rule_each_equal_ones_too(model: Model) -> None:
    talk = [{"role": "user", "content": "What time is it in Oslo?"}]
    other = [{"role": "user", "content": "What time is it in Bern?"}]
    unlike = [[], ["The time"], ["I am"], ["The time", "I am"], []]
    prompts = [(messages, [TOOL]) for messages in (talk, talk, other, talk, talk)]
    made = model.complete_many(prompts, 8, remember=False, tool_choice="none", unlike=unlike)
    for (messages, tools), texts, completion in zip(prompts, unlike, made, strict=True):
        assert completion.text == model.complete(messages, tools, 8, tool_choice="none", unlike=texts).text
    assert made[0].text == made[4].text
    assert made[4].computed_tokens == 0


@pytest.mark.model
def test_texts_for_fewer_prompts_than_there_are_are_refused(model: Model) -> None:
    with pytest.raises(PromptError, match="unlike has 1 lists of texts for 2 prompts"):
        model.complete_many(["Hello", "Hi"], 4, tool_choice="none", unlike=[["Hello"]])
