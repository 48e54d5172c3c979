"""The shipped runs of lessons 02 to 04: drawn and scored again, and a random part of them asked again."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from ctxcourse import load_tokenizer
from ctxcourse.experiments import EXPERIMENTS, compress, experiment, order, tools
from ctxcourse.model.artefacts import find_artefact
from ctxcourse.needle import NEW_TOKENS
from ctxcourse.results import load_results
from ctxcourse.tools import ToolCosts

from .shipped_answers import answered_again

LIMITS = {"order": NEW_TOKENS, "compress": compress.NEW_TOKENS, "tools": tools.NEW_TOKENS}


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a shipped run, with None for what is not there."""
    found = load_results(name).to_dict("records")
    return [{key: None if value is None or value != value else value for key, value in row.items()} for row in found]


def prompts(name: str, chosen: list[int]) -> list[list[int]]:
    """Return the token ids of some rows' prompts, made again from the design."""
    tok, calls = load_tokenizer(), experiment(name).calls()
    if name == "order":
        return [tok.encode_prompt(calls[row].messages()) for row in chosen]
    if name == "tools":
        some = [calls[row] for row in chosen]
        given = tools.offered(some, ToolCosts(tok))
        return [tok.encode_prompt(call.messages(), part) for call, part in zip(some, given, strict=True)]
    table = rows(name)
    return [tok.encode_prompt(compress.messages(table[row]["text"], calls[row].document.question)) for row in chosen]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_provenance_says_what_made_it(name: str) -> None:
    frame = load_results(name)
    about = frame.attrs["provenance"]
    assert about["calls"] == len(frame) == len(experiment(name).calls())
    assert about["model"] == find_artefact("qwen2.5-coder-0.5b").label
    assert about["fingerprint"].startswith("qwen2.5-coder-0.5b@")
    assert about["tokens_in_prompts"] == frame["prompt_tokens"].sum()
    assert about["command"].startswith(f"ctxcourse experiment {name} ")
    assert frame["new_tokens"].between(1, LIMITS[name]).all()


def test_the_orders_are_those_of_the_design_and_scored_by_its_rules() -> None:
    for call, row in zip(order.calls(), rows("order"), strict=True):
        for column in ("trial", "seed", "arrangement", "row", "needle", "right"):
            assert row[column] == getattr(call, column)
        assert row["records"] == len(call.lines)
        assert (row["kind"], row["found"], row["found_row"]) == call.score(row["answer"])


@pytest.mark.model
def test_what_compressed_texts_hold_and_whether_it_was_found_is_scored_by_the_rules() -> None:
    tok = load_tokenizer()
    for call, row in zip(compress.calls(), rows("compress"), strict=True):
        document = call.document
        assert (row["document"], row["strategy"]) == (document.title, call.strategy)
        assert (row["holds"], row["kind"]) == (document.holds(row["text"]), document.kind(row["answer"]))
        assert (row["tokens_before"], row["tokens_after"]) == (
            tok.count_text(document.text),
            tok.count_text(row["text"]),
        )
        if call.strategy == "summary":
            assert row["spent_tokens"] > row["tokens_before"]
            assert row["tokens_after"] <= compress.budget(document, tok)
        else:
            assert row["text"] == compress.compressed(call, tok)
            assert row["spent_tokens"] == 0


@pytest.mark.model
def test_the_tool_calls_are_scored_by_the_rules() -> None:
    calls = tools.calls()
    given = tools.offered(calls, ToolCosts(load_tokenizer()))
    for call, part, row in zip(calls, given, rows("tools"), strict=True):
        names = [tool["function"]["name"] for tool in part]
        assert (row["task"], row["tools"], row["prose"], row["selection"], row["wanted"], row["offered"]) == (
            call.number, call.tools, call.prose, call.selection, call.task.tool, call.task.tool in names,
        )  # fmt: skip
        assert (row["outcome"], row["called"]) == tools.outcome(call.task, names, row["answer"])


@pytest.mark.model
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_prompt_sizes_are_those_of_the_tokenizer(name: str) -> None:
    table = rows(name)
    chosen = random.Random().sample(range(len(table)), 12)
    assert [len(ids) for ids in prompts(name, chosen)] == [table[row]["prompt_tokens"] for row in chosen]


def asked_again(name: str, chosen: list[int], record: Callable[[str, object], None]) -> None:
    table = rows(name)
    answered_again(prompts(name, chosen), [table[row]["answer"] for row in chosen], LIMITS[name], record)


@pytest.mark.model
def test_some_short_answers_are_given_again(record_property: Callable[[str, object], None]) -> None:
    for name, longest in (("compress", 300), ("tools", 800)):
        short = [place for place, row in enumerate(rows(name)) if row["prompt_tokens"] <= longest]
        asked_again(name, random.Random().sample(short, 3), record_property)


@pytest.mark.model
@pytest.mark.full
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_random_tenth_of_the_answers_is_given_again(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    number = len(rows(name))
    asked_again(name, random.Random().sample(range(number), -(-number // 10)), record_property)
