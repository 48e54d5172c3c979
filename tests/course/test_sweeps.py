"""The designs of the needle experiments: what stays the same within a trial, and what differs; no model."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import needle
from ctxcourse.errors import CourseError
from ctxcourse.needle import DEPTHS, numbers, register, sweeps
from ctxcourse.needle.sweeps import Call, SweepError

DESIGNS = {
    "position": lambda **more: sweeps.position(trials=2, **more),
    "rows": lambda **more: sweeps.rows(trials=2, **more),
    "length": lambda **more: sweeps.length(trials=2, **more),
    "volume": lambda **more: sweeps.volume(trials=2, **more),
    "interference": lambda **more: sweeps.interference(trials=2, **more),
    "grid": lambda **more: sweeps.grid(trials=2, **more),
}
every_design = pytest.mark.parametrize("name", DESIGNS)

sizes = st.integers(1, needle.LONGEST)
few_sizes = st.lists(sizes, min_size=1, max_size=4, unique=True)
some_depths = st.lists(st.floats(0, 1) | st.sampled_from(DEPTHS), min_size=1, max_size=5, unique=True)
some_shares = st.lists(st.floats(0, 1) | st.sampled_from(sweeps.SHARES), min_size=1, max_size=5, unique=True)
some_trials = st.integers(1, 3)
seeds = st.integers(0, 50)


def by_trial(calls: list[Call]) -> list[list[Call]]:
    trials: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        trials[call.trial].append(call)
    assert list(trials) == list(range(len(trials)))
    return list(trials.values())


def others(call: Call) -> list[str]:
    return [*call.lines[: call.row], *call.lines[call.row + 1 :]]


def drawn(call: Call) -> needle.Register:
    return register(needle.LONGEST, call.seed)


# What every call is


@every_design
@given(seed=seeds)
@settings(max_examples=5, deadline=None)
def test_a_call_is_of_one_piece(name: str, seed: int) -> None:
    for call in DESIGNS[name](seed=seed):
        assert call.experiment == name
        assert call.seed == seed * 10_000 + call.trial
        assert call.records == len(call.lines) == len(call.values) == len(set(call.lines))
        assert call.row == round(call.depth * (call.records - 1))
        assert call.values[call.row] == call.right
        assert call.needle in call.lines[call.row]
        assert call.owner in call.asked
        assert [line for line in call.lines if call.owner in line] == [call.lines[call.row]]
        for line, value in zip(call.lines, call.values, strict=True):
            held = [number for number in numbers(line) if len(number) == 4]
            assert held == ([] if value is None else [value])


@every_design
def test_the_same_seed_gives_the_same_calls_and_another_one_other_registers(name: str) -> None:
    one, same, another = (DESIGNS[name](seed=seed) for seed in (3, 3, 4))
    assert one == same
    assert {call.lines for call in one}.isdisjoint({call.lines for call in another})


@every_design
def test_trials_have_registers_and_needles_of_their_own_and_more_trials_change_no_earlier_one(name: str) -> None:
    first, second = by_trial(DESIGNS[name]())
    assert {call.lines for call in first}.isdisjoint({call.lines for call in second})
    assert {call.needle for call in first}.isdisjoint({call.needle for call in second})
    alone = getattr(sweeps, name)(trials=1)
    assert alone == first


@every_design
def test_without_filler_prompt_and_score_are_those_of_the_register(name: str) -> None:
    for call in DESIGNS[name]():
        if None in call.values:
            continue
        by_line = {record.line: record for record in drawn(call).records}
        same = needle.Register(tuple(by_line[line] for line in call.lines))
        assert call.messages() == needle.messages(same, call.row)
        for answer in (call.right, f"{call.asked} {call.values[-1]}", "4", "", f"{call.owner}: 12345, {call.right}"):
            assert call.score(answer).kind == needle.classify(answer, same, call.row)


@every_design
@given(st.data())
@settings(max_examples=10, deadline=None)
def test_every_answer_is_scored_by_the_first_number_of_four_digits(name: str, data: st.DataObject) -> None:
    call = data.draw(st.sampled_from(DESIGNS[name]()))
    row = data.draw(st.integers(0, call.records - 1))
    said = call.values[row]
    if said is None:
        assert None not in [call.score(line).kind for line in call.lines]
        assert call.score(call.lines[row]) == ("neither", None, None)
    else:
        kind = "hit" if row == call.row else "other record"
        assert call.score(f"Extension {said}, and not {call.right}.") == (kind, said, row)
    nobody = next(str(n) for n in range(1_000, 10_000) if str(n) not in call.values)
    assert call.score(nobody) == ("neither", nobody, None)


def test_the_defaults_are_the_published_designs() -> None:
    assert len(sweeps.position()) == 32 * 9
    assert {call.records for call in sweeps.position()} == {25}
    assert len(sweeps.length()) == len(sweeps.volume()) == 20 * 7
    assert sorted({call.records for call in sweeps.length()}) == [1, 3, 8, 25, 50, 90, 140]
    assert len({call.needle for call in sweeps.position()}) == 32


# position


@given(sizes, some_trials, some_depths, seeds)
@settings(max_examples=30, deadline=None)
def test_position_moves_one_line_and_leaves_the_others_in_their_order(
    records: int, trials: int, depths: list[float], seed: int
) -> None:
    calls = sweeps.position(records, trials, depths, seed)
    assert len(calls) == trials * len(depths)
    for trial in by_trial(calls):
        assert [call.depth for call in trial] == depths
        gold = register(records, trial[0].seed).records[0]
        assert {(call.needle, call.right, call.owner) for call in trial} == {(gold.ticket, gold.extension, gold.owner)}
        assert len({frozenset(call.lines) for call in trial}) == 1
        assert len({tuple(others(call)) for call in trial}) == 1
        assert [call.row for call in trial] == [round(depth * (records - 1)) for depth in depths]
        assert {call.share for call in trial} == {1.0}


# rows


@given(sizes, some_trials, seeds)
@settings(max_examples=20, deadline=None)
def test_rows_ask_every_row_of_one_register_once(records: int, trials: int, seed: int) -> None:
    for trial in by_trial(sweeps.rows(records, trials, seed)):
        assert {call.lines for call in trial} == {tuple(register(records, trial[0].seed).lines)}
        assert [call.row for call in trial] == list(range(records))
        assert len({call.right for call in trial}) == records
        assert (trial[0].depth, trial[-1].depth) == (0.0, 1.0 if records > 1 else 0.0)


# length and volume


@given(few_sizes, some_trials, seeds)
@settings(max_examples=30, deadline=None)
def test_a_shorter_list_is_the_beginning_of_a_longer_one_but_for_the_needle(
    lengths: list[int], trials: int, seed: int
) -> None:
    for trial in by_trial(sweeps.length(lengths, trials, seed)):
        assert [call.records for call in trial] == lengths
        assert len({call.needle for call in trial}) == 1
        assert {call.depth for call in trial} == {0.5}
        rising = sorted(trial, key=lambda call: call.records)
        for shorter, longer in pairwise(rising):
            assert others(longer)[: shorter.records - 1] == others(shorter)


@given(few_sizes, some_trials, seeds)
@settings(max_examples=30, deadline=None)
def test_volume_keeps_the_needle_and_the_question_and_nothing_else_that_answers(
    lengths: list[int], trials: int, seed: int
) -> None:
    looking, filled = sweeps.length(lengths, trials, seed), sweeps.volume(lengths, trials, seed)
    assert len(looking) == len(filled)
    owners = {record.owner for record in drawn(looking[0]).records}
    for a, b in zip(looking, filled, strict=True):
        assert (a.trial, a.seed, a.records, a.row, a.needle, a.right, a.asked) == (
            *(b.trial, b.seed, b.records, b.row, b.needle, b.right, b.asked),
        )
        assert a.lines[a.row] == b.lines[b.row]
        assert (a.share, b.share) == (1.0, 0.0)
        assert [value for value in b.values if value is not None] == [b.right]
        assert set(others(a)).isdisjoint(others(b))
        assert not any(owner in line for line in others(b) for owner in owners)


# interference


@given(some_shares, st.integers(2, needle.LONGEST), some_trials, seeds)
@settings(max_examples=30, deadline=None)
def test_lookalikes_are_nested_and_their_number_alone_changes(
    shares: list[float], records: int, trials: int, seed: int
) -> None:
    for trial in by_trial(sweeps.interference(shares, records, trials, seed)):
        assert [call.share for call in trial] == shares
        assert {(call.records, call.row, call.needle) for call in trial} == {
            (records, round(0.5 * (records - 1)), trial[0].needle)
        }
        kept = {}
        for call in trial:
            kept[call.share] = {(row, value) for row, value in enumerate(call.values) if value is not None}
            assert len(kept[call.share]) == 1 + round(call.share * (records - 1))
        for lower, higher in pairwise(sorted(shares)):
            assert kept[lower] <= kept[higher]
        by_row = [{call.lines[row] for call in trial} for row in range(records)]
        assert all(len(lines) <= 2 for lines in by_row)


def test_the_ends_of_interference_are_calls_of_volume_and_of_length() -> None:
    mixed = sweeps.interference((0, 1), records=25, trials=2)
    ends = [sweeps.volume((25,), trials=2), sweeps.length((25,), trials=2)]
    for share, same in enumerate(ends):
        assert [call.lines for call in mixed if call.share == share] == [call.lines for call in same]
    middle = [call for call in sweeps.position(25, trials=2) if call.depth == 0.5]
    assert [call.lines for call in middle] == [call.lines for call in ends[1]]


# grid


@given(few_sizes, some_depths, some_trials, seeds)
@settings(max_examples=20, deadline=None)
def test_the_grid_is_every_length_at_every_depth(
    lengths: list[int], depths: list[float], trials: int, seed: int
) -> None:
    for trial in by_trial(sweeps.grid(lengths, depths, trials, seed)):
        assert [(call.records, call.depth) for call in trial] == [(n, depth) for n in lengths for depth in depths]
        assert len({call.needle for call in trial}) == 1
        for call in trial:
            assert frozenset(call.lines) == frozenset(register(call.records, call.seed).lines)


# Arguments


@every_design
@pytest.mark.parametrize("trials", [0, -1, 1.5, True, "3", None, 10_001])
def test_impossible_trials_are_refused(name: str, trials: object) -> None:
    with pytest.raises(SweepError, match=r"trials=.*whole number from 1 to 10,000"):
        getattr(sweeps, name)(trials=trials)


@every_design
@pytest.mark.parametrize("seed", [-1, 0.5, None, True, "1"])
def test_impossible_seeds_are_refused(name: str, seed: object) -> None:
    with pytest.raises(SweepError, match=r"seed=.*whole number from 0"):
        getattr(sweeps, name)(seed=seed)


@pytest.mark.parametrize(("name", "least"), [("position", 1), ("rows", 1), ("interference", 2)])
@pytest.mark.parametrize("records", [0, -3, 141, 2.0, True, None])
def test_impossible_sizes_are_refused(name: str, least: int, records: object) -> None:
    with pytest.raises(SweepError, match=f"records=.*from {least} to 140"):
        getattr(sweeps, name)(records=records)


@pytest.mark.parametrize("name", ["length", "volume", "grid"])
@pytest.mark.parametrize(
    ("lengths", "said"),
    [
        ((), "lengths is empty"),
        ((3, 0), "lengths=0: it is a whole number from 1 to 140"),
        ((3, 141), "lengths=141"),
        ((3, 2.5), "lengths=2.5"),
        ((3, 8, 3), "lengths has 3 twice"),
        (3, "lengths=3: give a list"),
        ("38", "give a list"),
    ],
)
def test_impossible_lengths_are_refused(name: str, lengths: object, said: str) -> None:
    with pytest.raises(SweepError, match=said):
        getattr(sweeps, name)(lengths)


@pytest.mark.parametrize(("name", "argument"), [("position", "depths"), ("grid", "depths"), ("interference", "shares")])
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((), "is empty"),
        ((0, 1.5), "1.5 is out of range"),
        ((-0.1,), "-0.1 is out of range"),
        ((float("nan"),), "nan is no number"),
        ((0.5, "1"), "'1' is no number"),
        ((True,), "True is no number"),
        ((0.5, 1 / 2), "0.5 twice"),
        (0.5, "give a list"),
        ("0,1", "give a list"),
    ],
)
def test_impossible_depths_and_shares_are_refused_by_name(name: str, argument: str, values: object, said: str) -> None:
    with pytest.raises(CourseError, match=f"{argument}.*{said}"):
        getattr(sweeps, name)(**{argument: values})


@pytest.mark.model
@pytest.mark.parametrize("records", [1, 3, 8, 25, 50, 90, 140])
def test_filler_makes_prompts_as_long_as_lookalikes_do(records: int) -> None:
    from ctxcourse import load_tokenizer

    count = load_tokenizer().count_prompt
    looking, filled = (design((records,), trials=12) for design in (sweeps.length, sweeps.volume))
    for a, b in zip(looking, filled, strict=True):
        expected, found = count(a.messages()), count(b.messages())
        assert abs(found - expected) <= 0.03 * expected, (a.trial, expected, found)


def test_numbers_of_a_table_are_taken_as_they_are():
    table = pd.DataFrame({"records": [1, 3, 8], "share": [0.0, 0.5, 1.0]}).astype({"records": "Int64"})
    assert sweeps.length(table["records"].unique(), trials=2) == sweeps.length((1, 3, 8), trials=2)
    assert sweeps.length(table["records"].to_numpy(), trials=2) == sweeps.length((1, 3, 8), trials=2)
    assert sweeps.interference(table["share"].to_numpy(), trials=2) == sweeps.interference((0, 0.5, 1), trials=2)
