"""The runs that ship with the course: what they say they are, scored again, and a random part of them asked again."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

import pytest

from ctxcourse import load_tokenizer
from ctxcourse.model.artefacts import find_artefact
from ctxcourse.needle import NEW_TOKENS, sweeps
from ctxcourse.needle.sweeps import Call
from ctxcourse.results import RESULTS, ResultsError, load_results

from .shipped_answers import answered_again

DESIGNS: dict[str, Callable[..., Sequence[Call]]] = {
    "position": sweeps.position,
    "rows": sweeps.rows,
    "length": sweeps.length,
    "volume": sweeps.volume,
    "interference": sweeps.interference,
    "interference_90": partial(sweeps.interference, (0, 1 / 4, 1 / 2, 1), 90),
    "grid": sweeps.grid,
}


def calls_of(name: str) -> Sequence[Call]:
    """Return the calls of a shipped run, drawn again by its design."""
    about = load_results(name).attrs["provenance"]
    return DESIGNS[name](trials=about["arguments"]["trials"], seed=about["seed"])


def a_tenth(name: str, most: int | None = None, longest: int = 140) -> list[tuple[Call, str]]:
    """Return a random tenth of the calls of a run, another one at each test run, each with its shipped answer."""
    answers = load_results(name)["answer"].tolist()
    pairs = [pair for pair in zip(calls_of(name), answers, strict=True) if pair[0].records <= longest]
    return random.Random().sample(pairs, min(most or len(pairs), -(-len(answers) // 10)))


def a_trial_with_hits_and_misses() -> list[tuple[Call, str]]:
    """Return the calls of a random trial of the position run that is right at some depths and wrong at others."""
    frame = load_results("position")
    mixed = frame.groupby("trial")["kind"].agg(lambda kinds: "hit" in set(kinds) and kinds.nunique() > 1)
    trial = random.Random().choice(mixed.index[mixed].tolist())
    pairs = zip(calls_of("position"), frame["answer"], strict=True)
    return [pair for pair in pairs if pair[0].trial == trial]


def test_every_run_is_there_and_no_other() -> None:
    assert set(RESULTS) == set(DESIGNS)
    with pytest.raises(ResultsError, match="no shipped run is called 'depth'"):
        load_results("depth")


@pytest.mark.parametrize("name", RESULTS)
def test_the_calls_are_those_of_the_design_and_the_answers_are_scored_by_its_rules(name: str) -> None:
    frame = load_results(name)
    calls = calls_of(name)
    assert len(frame) == len(calls) == frame.attrs["provenance"]["calls"]
    for call, row in zip(calls, frame.to_dict("records"), strict=True):
        assert row["experiment"] == call.experiment == name.partition("_")[0]
        for column in ("trial", "seed", "records", "share", "depth", "row", "needle", "right"):
            assert row[column] == getattr(call, column)
        kind, found, found_row = call.score(row["answer"])
        there = {column: None if row[column] is None or row[column] != row[column] else row[column] for column in row}
        assert (row["kind"], there["found"] or None, there["found_row"]) == (kind, found, found_row)
        assert 1 <= row["new_tokens"] <= NEW_TOKENS


@pytest.mark.parametrize("name", RESULTS)
def test_the_provenance_says_what_made_it(name: str) -> None:
    frame = load_results(name)
    about = frame.attrs["provenance"]
    artefact = find_artefact("qwen2.5-coder-0.5b")
    assert about["model"] == artefact.label
    assert about["fingerprint"].startswith("qwen2.5-coder-0.5b@")
    assert about["tokens_in_prompts"] == frame["prompt_tokens"].sum()
    assert about["distinct_tokens"] <= about["tokens_in_prompts"]
    assert about["command"].startswith("ctxcourse needle ")
    assert about["decoding"] == "greedy"


@pytest.mark.model
@pytest.mark.parametrize("name", RESULTS)
def test_prompt_sizes_are_those_of_the_tokenizer(name: str) -> None:
    tok, sizes = load_tokenizer(), load_results(name)["prompt_tokens"].tolist()
    for call, size in random.Random().sample(list(zip(calls_of(name), sizes, strict=True)), 12):
        assert tok.count_prompt(call.messages()) == size


def asked_again(pairs: Sequence[tuple[Call, str]], record: Callable[[str, object], None]) -> None:
    tok = load_tokenizer()
    prompts = [tok.encode_prompt(call.messages()) for call, _ in pairs]
    answered_again(prompts, [answer for _, answer in pairs], NEW_TOKENS, record)


@pytest.mark.model
def test_some_answers_are_given_again(record_property: Callable[[str, object], None]) -> None:
    short = [pair for name in ("length", "volume", "grid") for pair in a_tenth(name, most=3, longest=8)]
    asked_again([*short, *a_trial_with_hits_and_misses()], record_property)


@pytest.mark.model
@pytest.mark.full
@pytest.mark.parametrize("name", RESULTS)
def test_a_random_tenth_of_the_answers_is_given_again(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    asked_again(a_tenth(name), record_property)
