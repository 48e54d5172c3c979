"""Prefix reuse on the real model: the answers of one plain ``generate`` per prompt by an untouched network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from ctxcourse.model.qwen import Model
from ctxcourse.model.tokenizer import ChatTokenizer
from tests.model.many_prompts import FAMILIES, Named, everyday_prompts, many_prompts
from tests.model.prompts import SESSION

pytestmark = pytest.mark.model
TIE = 1e-3
"""Two logits that lie closer than this are as good as equal: rounding decides which token is taken."""


@dataclass(frozen=True)
class Difference:
    """Where an answer leaves the plain one: the token taken, the plain one, and the plain logits' gap between them."""

    prompt: str
    position: int
    ours: int | None
    plain: int | None
    gap: float

    def __str__(self) -> str:
        place = f"{self.prompt}: new token {self.position} is {self.ours}, plainly {self.plain}"
        return f"{place}; the two best logits are {self.gap:.2e} apart"


class Plain:
    """The network as transformers loads it, and its own ``generate``; equal prompts are answered once."""

    def __init__(self, model: Model) -> None:
        from transformers import AutoModelForCausalLM

        self.network: Any = AutoModelForCausalLM.from_pretrained(model.folder.path, dtype=torch.float32).eval()
        self.ends = sorted(model.engine.ends)
        self.known: dict[tuple[tuple[int, ...], int], list[int]] = {}

    def generate(self, ids: list[int], new_tokens: int) -> list[int]:
        """Return the new tokens, with the one that ends them."""
        key = tuple(ids), new_tokens
        if key not in self.known:
            with torch.inference_mode():
                out = self.network.generate(
                    torch.tensor([ids]),
                    attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                    do_sample=False,
                    repetition_penalty=1.0,
                    max_new_tokens=new_tokens,
                    eos_token_id=self.ends,
                )
            self.known[key] = out[0, len(ids) :].tolist()
        return self.known[key]

    def difference(self, name: str, ids: list[int], new_tokens: int, ours: tuple[int, ...]) -> Difference | None:
        """Return where ``ours``, given without an end token, leaves the plain answer, or None where it does not.

        A token other than the plain model's two best is a gap of infinity.
        """
        plain = self.generate(ids, new_tokens)
        mine = [*ours, *plain[-1:]] if len(ours) < new_tokens and plain[-1] in self.ends else list(ours)
        if mine == plain:
            return None
        position = next((i for i, (one, other) in enumerate(zip(mine, plain, strict=False)) if one != other), None)
        if position is None:
            position = min(len(mine), len(plain))
        with torch.inference_mode():
            logits = self.network(torch.tensor([[*ids, *plain[:position]]]), logits_to_keep=1).logits[0, -1]
        best = logits.topk(2)
        token = mine[position] if position < len(mine) else None
        among = set(best.indices.tolist()) & ({token} if token is not None else set(self.ends))
        gap = float(best.values[0] - best.values[1]) if among else float("inf")
        return Difference(name, position, token, plain[position] if position < len(plain) else None, gap)


@pytest.fixture(scope="module")
def plain(model: Model) -> Plain:
    return Plain(model)


def compare(model: Model, plain: Plain, prompts: Named, new_tokens: int, record: Callable[[str, object], None]) -> None:
    """Assert that one call for all prompts gives the plain answers, but for ties; list those."""
    answers = model.complete_many(list(prompts.values()), new_tokens, remember=False, progress=False)
    found = []
    for (name, ids), answer in zip(prompts.items(), answers, strict=True):
        assert answer.prompt_tokens == len(ids)
        assert answer.text == model.decode(list(answer.new_ids))
        difference = plain.difference(name, ids, new_tokens, answer.new_ids)
        if difference is not None:
            found.append(difference)
            continue
        ended = plain.generate(ids, new_tokens)[-1] in plain.ends
        assert answer.stop_reason == ("stop" if ended else "length")
        assert answer.new_tokens == len(answer.new_ids) == len(plain.generate(ids, new_tokens)) - ended
    record("compared", len(prompts))
    for difference in found:
        record("tie", str(difference))
    assert not [str(difference) for difference in found if difference.gap > TIE]


def distinct_tokens(prompts: Named) -> int:
    return len({tuple(ids[:end]) for ids in prompts.values() for end in range(1, len(ids) + 1)})


def test_thirty_prompts_of_every_kind(
    model: Model, plain: Plain, tok: ChatTokenizer, record_property: Callable[[str, object], None]
) -> None:
    prompts = everyday_prompts(tok)
    assert len(prompts) == 30
    model.forget()
    compare(model, plain, prompts, 8, record_property)
    assert model.engine.profile.prefill_rows == distinct_tokens(prompts)


def test_there_are_more_than_three_hundred_prompts(tok: ChatTokenizer) -> None:
    prompts = many_prompts(tok)
    assert len(prompts) >= 300
    assert len({tuple(ids) for ids in prompts.values()}) >= 295
    assert sum(4_000 <= len(ids) <= 8_000 for ids in prompts.values()) >= 5


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
def test_all_prompts(
    model: Model, plain: Plain, tok: ChatTokenizer, family: str, record_property: Callable[[str, object], None]
) -> None:
    """Families follow one another on one warm model, whose memory holds what earlier ones left."""
    compare(model, plain, FAMILIES[family].prompts(tok), FAMILIES[family].new_tokens, record_property)


@pytest.mark.full
def test_an_agents_calls_one_after_the_other(
    model: Model, plain: Plain, tok: ChatTokenizer, record_property: Callable[[str, object], None]
) -> None:
    """The model's own answers become part of the conversation, as in an agent's loop, and are not computed again."""
    model.forget()
    results = [message["content"] for message in SESSION.messages if message["role"] == "tool"]
    messages = SESSION.messages[:2]
    found = []
    for turn, result in enumerate(results[:6]):
        ids = tok.encode_prompt(messages, SESSION.tools[:3])
        known = model.engine.computed(ids)
        answer = model.complete(ids, max_new_tokens=24)
        assert answer.computed_tokens == len(ids) - known
        assert known > len(ids) / 2 or not turn
        found.append(plain.difference(f"turn {turn}", ids, 24, answer.new_ids))
        follow_up = {"role": "user", "content": f"This came back:\n{result}\nGo on."}
        messages = [*messages, {"role": "assistant", "content": answer.text}, follow_up]
    for difference in filter(None, found):
        record_property("tie", str(difference))
        print(difference)
    assert not [str(difference) for difference in found if difference and difference.gap > TIE]
