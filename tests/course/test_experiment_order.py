"""The order experiment: what is arranged and how, what is asked, and the table that comes of it; on a small model."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ctxcourse import load_model, needle
from ctxcourse.experiments import EXPERIMENTS, ExperimentError, experiment, table_of
from ctxcourse.experiments.order import ARRANGEMENTS, TABLE, OrderCall, arranged, calls, cells, run
from ctxcourse.model.answers import Cancelled
from ctxcourse.model.qwen import Model
from ctxcourse.needle import trials
from ctxcourse.needle.sweeps import SweepError
from ctxcourse.results import RESULTS, ResultsError, load_results, shipped_results
from ctxcourse.stats import mcnemar, wilson
from ctxcourse.tables import Table, TableError, counted
from tests.small_model import write_small_model


def by_trial(asked: list[OrderCall]) -> list[dict[str, OrderCall]]:
    """Return the calls of each trial by their arrangement."""
    found: dict[int, dict[str, OrderCall]] = defaultdict(dict)
    for call in asked:
        found[call.trial][call.arrangement] = call
    return list(found.values())


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A real model of random weights, with a store of its own."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(write_small_model(home / "small")))


@pytest.fixture(scope="module")
def frame(small: Model) -> pd.DataFrame:
    return run(calls(3, records=6), small, command="ctxcourse experiment order")


# What is asked


@given(st.integers(1, 60), st.integers(0, 500))
@settings(max_examples=15, deadline=None)
def test_all_arrangements_of_a_trial_hold_the_same_lines_and_ask_the_same(records: int, seed: int) -> None:
    for trial in by_trial(calls(1, records, seed)):
        assert tuple(trial) == ARRANGEMENTS
        drawn = trial["as drawn"]
        assert len({(call.needle, call.right, call.asked, call.seed) for call in trial.values()}) == 1
        for name, call in trial.items():
            assert call.values[call.row] == call.right
            assert all(value in line for value, line in zip(call.values, call.lines, strict=True))
            if name == "top 4":
                assert len(call.lines) == min(4, records)
                assert set(call.lines) <= set(drawn.lines)
            else:
                assert sorted(call.lines) == sorted(drawn.lines)


@given(st.integers(1, 60), st.integers(0, 500))
@settings(max_examples=15, deadline=None)
def test_the_needle_is_rank_1_and_stands_where_its_arrangement_puts_rank_1(records: int, seed: int) -> None:
    (trial,) = by_trial(calls(1, records, seed))
    first = {name: trial[name].row for name in ARRANGEMENTS}
    assert (first["best first"], first["reordered"], first["top 4"]) == (0, 0, 0)
    assert first["best last"] == records - 1
    assert first["as drawn"] == first["question first"]
    assert trial["best last"].lines == trial["best first"].lines[::-1]
    assert trial["top 4"].lines == trial["best first"].lines[:4]
    assert trial["reordered"].lines == trial["best first"].lines[0::2] + trial["best first"].lines[1::2][::-1]


def test_lines_that_score_alike_keep_their_order() -> None:
    assert arranged([1.0, 2.0, 1.0, 1.0])["best first"] == [1, 0, 2, 3]
    assert arranged([1.0, 2.0, 1.0, 1.0])["as drawn"] == [0, 1, 2, 3]


def test_no_row_is_drawn_twice_before_each_was_drawn_once() -> None:
    rows = [trial["as drawn"].row for trial in by_trial(calls(14, records=7))]
    assert sorted(rows[:7]) == sorted(rows[7:]) == list(range(7))
    assert rows[:7] != list(range(7))


def test_the_same_seed_asks_the_same_and_fewer_trials_are_the_first_of_more() -> None:
    assert calls(5, seed=3) == calls(20, seed=3)[: 5 * len(ARRANGEMENTS)]
    assert calls(2, seed=3) != calls(2, seed=4)
    assert len({call.seed for call in calls(20)}) == 20


def test_the_prompt_is_that_of_the_needle_and_the_question_may_stand_before_it_too() -> None:
    (trial,) = by_trial(calls(1, records=6))
    plain, asked = trial["as drawn"].messages(), trial["as drawn"].asked
    assert plain == needle.prompt(trial["as drawn"].lines, asked)
    assert plain[1]["content"].count(asked) == 1
    system, user = trial["question first"].messages()
    assert system == plain[0]
    assert user["content"] == f"{asked}\n\n{plain[1]['content']}"


def test_an_answer_is_scored_by_the_rules_of_the_needle() -> None:
    (trial,) = by_trial(calls(1, records=6))
    call = trial["best last"]
    assert call.score(f"It is {call.right}.") == ("hit", call.right, 5)
    assert call.score(call.values[2]) == ("other record", call.values[2], 2)
    assert call.score(f"{call.asked} 0000") == ("neither", "0000", None)
    left_out = next(value for value in trial["as drawn"].values if value not in trial["top 4"].values)
    assert trial["top 4"].score(left_out) == ("neither", left_out, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"trials": 0}, "trials=0"),
        ({"trials": True}, "trials=True"),
        ({"records": 0}, "records=0"),
        ({"records": 141}, "records=141: it is a whole number from 1 to 140"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, r"seed=1\.5"),
    ],
)
def test_impossible_arguments_are_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(SweepError, match=said):
        calls(**arguments)


# The table


def test_a_table_has_one_row_a_call_in_order_with_what_was_asked_and_answered(
    frame: pd.DataFrame, small: Model
) -> None:
    asked = calls(3, records=6)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == TABLE.columns
    assert set(frame["experiment"]) == {"order"}
    for call, row in zip(asked, frame.itertuples(), strict=True):
        for field in ("trial", "seed", "arrangement", "row", "needle", "right"):
            assert getattr(row, field) == getattr(call, field)
        assert row.records == len(call.lines)
        completion = small.complete(call.messages(), max_new_tokens=needle.NEW_TOKENS)
        assert (row.answer, row.prompt_tokens) == (completion.text, completion.prompt_tokens)
        assert (row.new_tokens, row.stop_reason) == (completion.new_tokens, completion.stop_reason)
        assert row.kind == call.score(row.answer).kind


def test_provenance_says_what_was_asked_of_whom_and_what_it_cost(frame: pd.DataFrame, small: Model) -> None:
    about = frame.attrs["provenance"]
    assert about["arguments"] == {"arrangements": list(ARRANGEMENTS), "records": 6, "trials": 3}
    assert (about["experiment"], about["seed"], about["calls"]) == ("order", 1, 18)
    assert (about["fingerprint"], about["command"]) == (small.fingerprint, "ctxcourse experiment order")
    assert about["tokens_in_prompts"] == frame["prompt_tokens"].sum() > about["distinct_tokens"]
    assert about["computed_tokens"] == about["distinct_tokens"]


def test_a_table_is_kept_as_two_files_and_comes_back_unchanged(frame: pd.DataFrame, tmp_path: Path) -> None:
    TABLE.save(frame, tmp_path / "order.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["order.csv", "order.provenance.json"]
    back = TABLE.load(tmp_path / "order")
    assert_frame_equal(back, frame)
    assert back.attrs == frame.attrs


def test_tables_of_another_experiment_or_with_an_unknown_arrangement_are_refused(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    TABLE.save(frame, tmp_path / "t")
    with pytest.raises(TableError, match=r"t\.csv has no column 'share'; a table of needle trials has experiment, "):
        trials.load(tmp_path / "t")
    path = tmp_path / "t.csv"
    path.write_text(path.read_text().replace('"best last"', '"worst first"'))
    with pytest.raises(TableError, match=r"t\.csv, trial 0: arrangement is 'worst first'; it is one of as drawn, best"):
        TABLE.load(path)


def test_a_run_that_is_stopped_goes_on_where_it_stopped(small: Model) -> None:
    asked = calls(12, records=12, seed=9)
    few = small.store.info().completions + 3
    with pytest.raises(Cancelled):
        run(asked, small, should_stop=lambda: small.store.info().completions >= few)
    about = run(asked, small).attrs["provenance"]
    assert 3 <= about["remembered"] < len(asked)
    assert run(asked, small).attrs["provenance"]["remembered"] == len(asked)


def test_no_calls_are_refused(small: Model) -> None:
    with pytest.raises(TableError, match="no calls"):
        run([], small)


# Counting


def answered(frame: pd.DataFrame, hits: dict[str, list[bool]]) -> pd.DataFrame:
    """Return the table with these hits in place of the small model's answers, by arrangement and trial."""
    kinds = ["hit" if hits[row.arrangement][row.trial] else "other record" for row in frame.itertuples()]
    return frame.assign(kind=pd.array(kinds, dtype="string"))


def test_cells_count_each_arrangement_in_the_order_of_the_design(frame: pd.DataFrame) -> None:
    hits = {name: [index > 1, index > 2, index > 4] for index, name in enumerate(ARRANGEMENTS)}
    found = cells(answered(frame, hits))
    assert list(found["arrangement"]) == list(ARRANGEMENTS)
    assert list(found.columns) == [
        *("arrangement", "prompt_tokens", "n", "hit", "other_record", "neither", "low", "high")
    ]
    assert list(found["hit"]) == [0, 0, 1, 2, 2, 3]
    assert list(found["other_record"]) == [3, 3, 2, 1, 1, 0]
    assert set(found["n"]) == {3}
    for cell in found.itertuples():
        assert (cell.low, cell.high) == wilson(cell.hit, 3)
        part = frame[frame["arrangement"] == cell.arrangement]
        assert cell.prompt_tokens == pytest.approx(part["prompt_tokens"].mean())


def test_trials_are_paired_between_arrangements(frame: pd.DataFrame) -> None:
    hits = {name: [True, name == "best first", False] for name in ARRANGEMENTS}
    found = trials.compare(answered(frame, hits), "arrangement", "best first", "as drawn")
    assert found == mcnemar([True, True, False], [True, False, False])


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["yes", "no", "not sure"])), min_size=1))
@settings(max_examples=30, deadline=None)
def test_counts_agree_with_a_plain_recount(rows: list[tuple[str, str]]) -> None:
    found = counted(pd.DataFrame(rows, columns=["group", "said"]), ["group"], "said", ["yes", "no", "not sure"])
    assert list(found["group"]) == list(dict.fromkeys(group for group, _ in rows))
    for cell in found.itertuples():
        inside = [said for group, said in rows if group == cell.group]
        assert (cell.n, cell.yes) == (len(inside), inside.count("yes"))
        assert (cell.no, cell.not_sure) == (inside.count("no"), inside.count("not sure"))
        assert (cell.low, cell.high) == wilson(inside.count("yes"), len(inside))


def test_counting_by_what_is_not_there_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"no column 'strategy'.*arrangement"):
        counted(frame, ["strategy"], "kind", ["hit"])


# Names and shipped runs


def test_an_experiment_is_found_by_its_name() -> None:
    assert experiment("order").calls is calls
    assert table_of("order") is TABLE
    assert isinstance(TABLE, Table)
    with pytest.raises(ExperimentError, match="'ordering'; there are order, compress, tools"):
        experiment("ordering")


def test_a_run_is_shipped_where_its_files_are(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxcourse.results.FOLDER", tmp_path)
    assert shipped_results() == []
    with pytest.raises(ResultsError, match="'order' is not in"):
        load_results("order")
    TABLE.save(frame, tmp_path / "order")
    assert shipped_results() == ["order"]
    assert_frame_equal(load_results("order"), frame)


def test_every_needle_run_is_shipped_and_every_shipped_experiment_can_be_loaded() -> None:
    assert set(RESULTS) <= set(shipped_results())
    for name in set(EXPERIMENTS) & set(shipped_results()):
        assert load_results(name).attrs["provenance"]["experiment"] == name
