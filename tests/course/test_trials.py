"""Running, keeping and counting: tables, provenance, files, cells and pairs; on small models."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ctxcourse import load_model, needle, stats
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.model.qwen import Model
from ctxcourse.needle import KINDS, sweeps
from ctxcourse.needle.trials import COLUMNS, TableError, cells, compare, load, run, save
from ctxcourse.results import ResultsError, load_results
from tests.small_model import write_small_model


class Reader:
    """A model that gives the asked owner's number from the first ``reach`` lines, and else the first number it saw.

    Its tokens are characters; like the real one it computes what prompts of a call share once, and remembers.
    """

    label, fingerprint = "a reader of few lines", "reader@1"

    def __init__(self, reach: int) -> None:
        self.reach = reach
        self.remembered: set[str] = set()

    def encode_prompt(self, messages: list[dict[str, Any]]) -> list[int]:
        return [ord(character) for message in messages for character in message["content"]]

    def complete_many(
        self,
        prompts: Iterable[list[dict[str, Any]]],
        max_new_tokens: int,
        remember: bool,
        should_stop: Any,
        progress: bool,
    ) -> list[Completion]:
        known: set[str] = set()
        answers = []
        for messages in prompts:
            if should_stop():
                raise Cancelled("Stopped.")
            text = "".join(message["content"] for message in messages)
            beginnings = {text[:end] for end in range(1, len(text) + 1)}
            old = text in self.remembered
            computed = 0 if old else len(beginnings - known)
            known |= set() if old else beginnings
            self.remembered.add(text)
            answer = self.answer(messages[-1]["content"])[:max_new_tokens]
            size = len(answer)
            answers.append(Completion(answer, len(text), computed, size, 0.5, "stop", self.fingerprint, remembered=old))
        return answers

    def answer(self, content: str) -> str:
        register, asked = content.split("\n\n")
        lines = register.split("\n")[1 : 1 + self.reach]
        owner = re.search(r"of (.+)\? Answer", asked)[1]
        right = [line for line in lines if owner in line]
        found = re.findall(r"extension (\d{4})", "\n".join(right + lines))
        return f"{found[0]}." if found else "I do not\nknow"


@pytest.fixture
def reader() -> Reader:
    return Reader(reach=5)


@pytest.fixture
def frame(reader: Reader) -> pd.DataFrame:
    return run(sweeps.position(9, 4), reader)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A real model of random weights, with a store of its own."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:  # the store keeps its place; other tests keep their own cache
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(write_small_model(home / "small")))


# run


def test_a_table_has_one_row_a_call_in_order_with_what_was_asked_and_answered(reader: Reader) -> None:
    calls = [*sweeps.position(9, 4), *sweeps.volume((1, 8), 2)]
    frame = run(calls, reader)
    assert list(frame.columns) == list(COLUMNS)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == COLUMNS
    assert len(frame) == len(calls)
    for call, row in zip(calls, frame.itertuples(), strict=True):
        for field in ("experiment", "trial", "seed", "records", "share", "depth", "row", "needle", "right"):
            assert getattr(row, field) == getattr(call, field)
        assert row.answer == reader.answer(call.messages()[-1]["content"])
        kind, found, found_row = call.score(row.answer)
        assert row.kind == kind
        assert (None if pd.isna(row.found) else row.found) == found
        assert (None if pd.isna(row.found_row) else row.found_row) == found_row
        assert row.prompt_tokens == len(reader.encode_prompt(call.messages()))
        assert (row.new_tokens, row.stop_reason) == (len(row.answer), "stop")


def test_what_the_reader_can_reach_is_a_hit_and_the_rest_the_first_record(frame: pd.DataFrame) -> None:
    assert set(frame["kind"][frame["row"] < 5]) == {"hit"}
    assert set(frame["kind"][frame["row"] >= 5]) == {"other record"}
    assert set(frame["found_row"][frame["row"] >= 5]) == {0}


def test_provenance_counts_tokens_exactly_and_says_where_a_table_came_from(reader: Reader) -> None:
    calls = sweeps.position(9, 4, (0, 0.5, 1), seed=6)
    texts = ["".join(message["content"] for message in call.messages()) for call in calls]
    about = run(calls, reader, command="ctxcourse needle position").attrs["provenance"]
    assert about["tokens_in_prompts"] == sum(map(len, texts))
    distinct = len({text[:end] for text in texts for end in range(1, len(text) + 1)})
    assert about["distinct_tokens"] == about["computed_tokens"] == distinct
    assert about["remembered"] == 0
    assert about["calls"] == 12
    assert about["arguments"] == {"records": [9], "shares": [1.0], "depths": [0.0, 0.5, 1.0], "trials": 4}
    assert (about["experiment"], about["seed"]) == ("position", 6)
    assert (about["model"], about["fingerprint"]) == (reader.label, reader.fingerprint)
    assert (about["decoding"], about["max_new_tokens"]) == ("greedy", needle.NEW_TOKENS)
    assert about["command"] == "ctxcourse needle position"
    assert (about["torch"], about["version"]) == (version("torch"), version("ctxcourse"))
    assert datetime.fromisoformat(about["date"]).utcoffset().total_seconds() == 0
    again = run(calls, reader).attrs["provenance"]
    assert (again["remembered"], again["computed_tokens"], again["distinct_tokens"]) == (12, 0, distinct)


def test_no_calls_are_refused(reader: Reader) -> None:
    with pytest.raises(TableError, match="no calls"):
        run([], reader)


def test_the_small_model_computes_what_is_distinct_and_remembers_it(small: Model, capfd: Any) -> None:
    calls = sweeps.interference((0, 0.5, 1), records=5, trials=3)
    first, second = run(calls, small), run(calls, small)
    assert_frame_equal(first, second)
    about, again = first.attrs["provenance"], second.attrs["provenance"]
    assert about["distinct_tokens"] == about["computed_tokens"] == again["distinct_tokens"]
    assert about["tokens_in_prompts"] == first["prompt_tokens"].sum() > about["distinct_tokens"]
    assert (again["computed_tokens"], again["remembered"]) == (0, 9)
    alone = [small.complete(call.messages(), max_new_tokens=needle.NEW_TOKENS).text for call in calls]
    assert list(first["answer"]) == alone
    assert capfd.readouterr().out == ""


def test_a_run_that_is_stopped_goes_on_where_it_stopped(small: Model) -> None:
    calls = sweeps.rows(records=8, trials=9)
    few = small.store.info().completions + 5

    def enough() -> bool:
        return small.store.info().completions >= few

    with pytest.raises(Cancelled):
        run(calls, small, should_stop=enough)
    about = run(calls, small).attrs["provenance"]
    assert 5 <= about["remembered"] < len(calls)
    assert 0 < about["computed_tokens"] < about["distinct_tokens"]


# save and load

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    [
        "0417",
        "NA",
        "nan",
        "None",
        "null",
        "",
        " ",
        '"',
        "'",
        ",",
        "\n",
        "\r\n",
        "\r",
        "# no",
        "1e3",
        "\ufeff",
        "\0",
        "=1",
    ]
)
floats = st.floats(0, 1)
numbers = st.integers(0, 10**9)
rows = st.fixed_dictionaries(
    {
        name: {"Int64": numbers, "float64": floats, "string": texts}[kind]
        for name, kind in COLUMNS.items()
        if name not in ("kind", "found", "found_row")
    }
    | {
        "kind": st.sampled_from(KINDS),
        "found": st.none() | texts.filter(bool),
        "found_row": st.none() | numbers,
    }
)


def table(content: list[dict[str, Any]], about: dict[str, Any] | None = None) -> pd.DataFrame:
    frame = pd.DataFrame(content, columns=list(COLUMNS)).astype(COLUMNS)
    frame.attrs["provenance"] = about or {}
    return frame


@given(st.lists(rows, min_size=1, max_size=4), st.dictionaries(texts, texts | st.integers() | st.lists(floats)))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_saved_is_loaded_unchanged(tmp_path: Path, content: list[Any], about: dict[str, Any]) -> None:
    about |= {"calls": len(content), "model": "a model", "fingerprint": "m@1", "date": "2026-11-30T10:00:00+00:00"}
    frame = table(content, about)
    save(frame, tmp_path / "t.csv")
    back = load(tmp_path / "t.csv")
    assert_frame_equal(back, frame, check_exact=True)
    assert back.attrs["provenance"] == about
    assert [None if pd.isna(found) else found for found in back["found"]] == [row["found"] for row in content]
    assert list(back["answer"]) == [row["answer"] for row in content]


def test_a_table_of_a_run_is_two_readable_files_and_nothing_else(frame: pd.DataFrame, tmp_path: Path) -> None:
    save(frame, tmp_path / "position")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["position.csv", "position.provenance.json"]
    assert_frame_equal(load(tmp_path / "position.csv"), frame)
    lines = (tmp_path / "position.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == ",".join(COLUMNS)
    assert json.loads((tmp_path / "position.provenance.json").read_text()) == frame.attrs["provenance"]
    assert load(str(tmp_path / "position")).attrs == frame.attrs


def test_a_file_that_cannot_be_replaced_is_left_whole_and_nothing_half_written_beside_it(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "t.csv" / "inside").mkdir(parents=True)
    with pytest.raises(TableError, match=r"t\.csv cannot be written"):
        save(frame, tmp_path / "t.csv")
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(TableError, match="cannot be written"):
        save(frame, tmp_path / "no such folder" / "t.csv")


def test_a_frame_that_is_no_table_of_trials_is_not_saved(frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no column 'kind'"):
        save(frame.drop(columns="kind"), tmp_path / "t.csv")
    del frame.attrs["provenance"]
    with pytest.raises(TableError, match="where it came from"):
        save(frame, tmp_path / "t.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("t.csv", None, r"t\.csv does not exist"),
        ("t.provenance.json", None, r"t\.provenance\.json does not exist"),
        ("t.provenance.json", lambda text: text[:-9], "not valid JSON"),
        ("t.csv", lambda text: "", "no table of needle trials"),
        ("t.csv", lambda text: text.replace('"kind"', '"kin"', 1), "has no column 'kind'"),
        ("t.csv", lambda text: text.replace('"other record"', '"other"'), "trial 0: kind is 'other'"),
        ("t.csv", lambda text: text.replace("10001", "ten", 1), "no table of needle trials: .*ten"),
        ("t.csv", lambda text: text.encode("utf-16"), "cannot be read"),
    ],
)
def test_files_that_are_missing_or_spoiled_are_named(
    frame: pd.DataFrame, tmp_path: Path, name: str, change: Any, said: str
) -> None:
    save(frame, tmp_path / "t.csv")
    path = tmp_path / name
    if change is None:
        path.unlink()
    else:
        text = change(path.read_text())
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TableError, match=said) as caught:
        load(tmp_path / "t.csv")
    assert name in str(caught.value)


# cells


@given(st.lists(rows, min_size=1, max_size=12), st.sampled_from([["depth"], ["row"], ["records", "share"], ["needle"]]))
@settings(max_examples=40, deadline=None)
def test_cells_agree_with_a_plain_recount(content: list[dict[str, Any]], by: list[str]) -> None:
    for trial, row in enumerate(content):  # few values, so that cells hold several rows
        row["trial"] = trial
        row["depth"], row["share"] = round(row["depth"]), round(row["share"])
        row["row"], row["records"], row["needle"] = row["row"] % 3, row["records"] % 2, row["needle"][:1]
    found = cells(table(content), by if len(by) > 1 else by[0])
    recount = Counter(tuple(row[name] for name in by) for row in content)
    assert [tuple(getattr(cell, name) for name in by) for cell in found.itertuples()] == sorted(recount)
    for cell in found.itertuples():
        inside = [row for row in content if all(row[name] == getattr(cell, name) for name in by)]
        kinds = Counter(row["kind"] for row in inside)
        assert cell.n == len(inside)
        assert [cell.hits, cell.other_record, cell.neither] == [kinds[kind] for kind in KINDS]
        assert cell.prompt_tokens == round(sum(row["prompt_tokens"] for row in inside) / len(inside))
        assert (cell.low, cell.high) == stats.wilson(kinds["hit"], len(inside))
        for name in {"records", "share", "depth"} & set(found.columns):
            assert {row[name] for row in inside} == {getattr(cell, name)}
    for name in {"records", "share", "depth"} - set(found.columns):
        groups = table(content).groupby(by)[name].nunique()
        assert groups.max() > 1


def test_cells_of_a_run(frame: pd.DataFrame) -> None:
    found = cells(frame, "depth")
    assert list(found.columns) == [
        *("depth", "records", "share", "prompt_tokens", "n", "hits", "other_record", "neither", "low", "high")
    ]
    assert list(found["hits"]) == [4] * 5 + [0] * 4
    assert list(found["other_record"]) == [0] * 5 + [4] * 4
    assert "depth" not in cells(frame, "records").columns


def test_cells_by_what_is_not_there_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"no column 'dept'.*depth"):
        cells(frame, "dept")
    with pytest.raises(TableError, match="names no column"):
        cells(frame, [])


# compare


def answered(hits: dict[float, dict[int, bool]]) -> pd.DataFrame:
    """Return a table with trials that hit or miss at each depth."""
    plain = {name: {"Int64": 1, "float64": 0.0, "string": "x"}[kind] for name, kind in COLUMNS.items()}
    return table(
        [
            plain | {"depth": depth, "trial": trial, "kind": "hit" if hit else "neither"}
            for depth, by_trial in hits.items()
            for trial, hit in by_trial.items()
        ]
    )


@given(st.dictionaries(st.integers(0, 50), st.tuples(st.booleans(), st.booleans()), min_size=1), st.randoms())
@settings(max_examples=50, deadline=None)
def test_comparison_pairs_by_trial_whatever_the_order_of_rows(pairs: dict[int, tuple[bool, bool]], random: Any) -> None:
    frame = answered({0.0: {t: pair[0] for t, pair in pairs.items()}, 1.0: {t: pair[1] for t, pair in pairs.items()}})
    order = list(range(len(frame)))
    random.shuffle(order)
    found = compare(frame.iloc[order], "depth", 0.0, 1.0)
    counted = Counter(pairs.values())
    assert (found.both, found.only_first, found.only_second, found.neither) == (
        *(counted[True, True], counted[True, False], counted[False, True], counted[False, False]),
    )
    assert found == stats.mcnemar([pair[0] for pair in pairs.values()], [pair[1] for pair in pairs.values()])


def test_comparison_of_a_run(frame: pd.DataFrame) -> None:
    found = compare(frame, "depth", 0, 1)
    assert (found.only_first, found.both, found.p) == (4, 0, 0.125)


def test_what_cannot_be_paired_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"depth is nowhere 0\.3 .*0\.125"):
        compare(frame, "depth", 0.3, 1)
    with pytest.raises(TableError, match="no column 'place'"):
        compare(frame, "place", 0, 1)
    with pytest.raises(TableError, match="trial 0 has more than one call at records = 9"):
        compare(frame, "records", 9, 9)
    alone = answered({0.0: {1: True, 2: True}, 1.0: {2: True, 3: False}})
    with pytest.raises(TableError, match=r"trial 1 \(seed 1\) was asked at only one of depth = 0"):
        compare(alone, "depth", 0, 1)


# Shipped runs


def test_an_unknown_shipped_run_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        ResultsError, match=r"'positions'.*position, rows, length, volume, interference, interference_90, grid"
    ):
        load_results("positions")


def test_a_copy_without_the_files_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcourse.results.FOLDER", tmp_path)
    with pytest.raises(ResultsError, match="'grid' is not in"):
        load_results("grid")


def test_a_call_that_occurs_twice_is_not_counted_twice(frame: pd.DataFrame) -> None:
    with pytest.raises(TableError, match=r"holds one call twice .*trial 0"):
        cells(pd.concat([frame, frame]), "depth")


def test_registers_of_another_seed_are_no_pairs(frame: pd.DataFrame) -> None:
    other = frame[frame["depth"] == 1.0].copy()
    other["seed"] += 10_000
    with pytest.raises(TableError, match="only one of depth"):
        compare(pd.concat([frame[frame["depth"] == 0.0], other]), "depth", 0.0, 1.0)


def test_a_part_of_a_run_is_not_saved_with_the_provenance_of_the_whole(frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"provenance is that of \d+ calls, and the table has 9"):
        save(frame[frame["trial"] == 0], tmp_path / "part")
    assert list(tmp_path.iterdir()) == []
