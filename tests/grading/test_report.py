"""Marks from outcomes."""

from __future__ import annotations

import csv
import json

from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.grading.report import COLUMNS, Ledger, table, write_grades

OUTCOMES = ["passed", "failed", "not attempted", "skipped", "missing", "not counted", "not graded"]


def facts(declared, **more):
    return {
        "submission": "submissions/alice.ipynb", "lesson": "01_x", "problem": "",
        "isolation": "bubblewrap", "isolation_reason": "", "notices": [], "attempted": [], "declared": declared, **more,
    }  # fmt: skip


def case(ledger, base, test, number, cases, outcome):
    ledger.add(
        f"alice::{test}[{number}]",
        {"facts": base, "test": test, "cases": cases, "outcome": outcome, "cause": "because"},
    )


cases = st.lists(st.sampled_from(OUTCOMES), max_size=4)


tests_of_a_notebook = st.dictionaries(
    st.sampled_from(["test_a", "test_b", "test_c"]), st.tuples(st.integers(1, 5), cases, st.integers(0, 2)), min_size=1
)


@given(tests_of_a_notebook)
def test_every_declared_test_is_there_once_and_earns_only_if_all_its_cases_passed(tests):
    base = facts([[name, "q" if name == "test_a" else "r", worth, "", ""] for name, (worth, _, _) in tests.items()])
    ledger = Ledger()
    ledger.add("alice::submission", {"facts": base})
    for name, (_, outcomes, lost) in tests.items():
        for number, outcome in enumerate(outcomes):
            case(ledger, base, name, number, len(outcomes) + lost, outcome)
    rows = ledger.rows()
    assert sorted(test["test"] for row in rows for test in row["tests"]) == sorted(tests)
    for row in rows:
        assert list(row) == list(COLUMNS)
        assert row["max"] == sum(test["max"] for test in row["tests"])
        assert row["points"] == sum(test["points"] for test in row["tests"])
        assert (row["status"] == "full") == (row["points"] == row["max"])
        for test in row["tests"]:
            worth, outcomes, lost = tests[test["test"]]
            assert test["points"] == (worth if outcomes and not lost and set(outcomes) == {"passed"} else 0)


def test_a_failure_in_teardown_takes_the_points_away():
    base, ledger = facts([["test_a", "q", 1, "", ""]]), Ledger()
    case(ledger, base, "test_a", 1, 1, "passed")
    assert ledger.rows()[0]["points"] == 1
    case(ledger, base, "test_a", 1, 1, "failed")
    case(ledger, base, "test_a", 1, 1, "passed")
    assert ledger.rows()[0]["points"] == 0


def test_a_changed_answer_without_its_name_was_attempted():
    for attempted, status in (([], "not attempted"), (["q"], "wrong")):
        base, ledger = facts([["test_a", "q", 1, "", ""]], attempted=attempted), Ledger()
        case(ledger, base, "test_a", 1, 1, "missing")
        assert ledger.rows()[0]["status"] == status


def test_files_and_table_hold_the_rows(tmp_path):
    base, ledger = facts([["test_a", "q", 1, "A, “title”", "Why?"]], notices=["odd\x1b[31m"]), Ledger()
    case(ledger, base, "test_a", 1, 1, "failed")
    ledger.add(
        "bob::submission",
        {"facts": facts([["test_a", "q", 3, "", ""]], submission="bob.ipynb", problem="the file is empty")},
    )
    rows = ledger.rows()
    write_grades(rows, tmp_path / "g.json")
    assert json.loads((tmp_path / "g.json").read_text()) == rows
    write_grades(rows, tmp_path / "g.csv")
    with (tmp_path / "g.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["submission"] for row in read] == ["submissions/alice.ipynb", "bob.ipynb"]
    assert read[0]["tests"] == "test_a: 0/1 failed"
    assert read[1]["reason"] == "the file is empty"
    assert read[1]["exercise"] == ""
    lines = "\n".join(table(rows))
    assert "bob.ipynb   0 of 3 points" in lines
    assert "\x1b" not in lines
