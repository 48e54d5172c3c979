"""The sizes of needle prompts by the real tokenizer, and the real model's answer to one question."""

from __future__ import annotations

import pytest

from ctxcourse import load_model, load_tokenizer, needle
from ctxcourse.model.answers import Cancelled
from ctxcourse.needle.owners import OWNERS

pytestmark = pytest.mark.model

PUBLISHED = {1: 97, 3: 159, 8: 315, 25: 853, 140: 4_477}


@pytest.mark.parametrize(("records", "published"), PUBLISHED.items())
def test_prompt_sizes_are_within_three_percent_of_the_published_ones(records, published):
    tok = load_tokenizer()
    for seed in range(40 if records < 140 else 4):
        for row in {0, records // 2, records - 1}:
            size = tok.count_prompt(needle.messages(needle.register(records, seed), row))
            assert abs(size - published) <= 0.03 * published, (seed, row, size)


def test_every_name_is_three_or_four_tokens():
    tok = load_tokenizer()
    assert {owner: tok.count_text(" " + owner) for owner in OWNERS if tok.count_text(" " + owner) not in (3, 4)} == {}


def test_the_model_answers_about_a_short_register():
    register = needle.register(records=3, seed=1)
    model = load_model()
    outcome = needle.ask(model, register, row=1)
    assert outcome.completion.prompt_tokens == model.count_prompt(needle.messages(register, 1))
    assert 1 <= outcome.completion.new_tokens <= needle.NEW_TOKENS
    assert outcome.answer == outcome.completion.text
    assert outcome.right == register.records[1].extension
    assert outcome.kind == needle.classify(outcome.answer, register, row=1)
    assert (outcome.found == outcome.right) == (outcome.kind == "hit")
    assert outcome.kind in repr(outcome)
    assert outcome.symbol in repr(outcome)


def test_asking_can_be_stopped():
    with pytest.raises(Cancelled):
        needle.ask(load_model(), needle.register(3), row=0, should_stop=lambda: True)
