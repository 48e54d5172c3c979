"""Turns the outcomes of hidden tests into marks: rows, a table, and files."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

COLUMNS = ("submission", "lesson", "exercise", "points", "max", "status", "reason", "isolation", "notices", "tests")
NOT_RUN = "not run"
NOT_ATTEMPTED = "not attempted"

Row = dict[str, Any]


class Ledger:
    """Collects what the reports of a run say, and makes the rows.

    Every declared test of a submission is in its rows once. A test earns its points if all its cases ran in the
    grader and passed; whatever else became of it earns nothing.
    """

    def __init__(self) -> None:
        self.facts: dict[str, dict[str, Any]] = {}
        self.cases: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
        self.expected: dict[tuple[str, str], int] = {}
        self.notices: dict[str, list[str]] = defaultdict(list)

    def add(self, nodeid: str, entry: Mapping[str, Any]) -> None:
        """Take in what a report carries: the submission's facts, notices, the outcome of a case."""
        facts = entry["facts"]
        submission = facts["submission"]
        self.facts.setdefault(submission, dict(facts))
        for notice in entry.get("notices", ()):
            if notice not in self.notices[submission]:
                self.notices[submission].append(notice)
        if "test" in entry:
            key = (submission, entry["test"])
            self.expected[key] = entry["cases"]
            before = self.cases[key].get(nodeid)
            if before is None or before[0] == "passed":  # a failure in set-up or tear-down takes the points away
                self.cases[key][nodeid] = (entry["outcome"], entry["cause"])

    def rows(self) -> list[Row]:
        """Return a row per submission and exercise; a submission that could not be graded has one, of no exercise."""
        rows: list[Row] = []
        for submission, facts in self.facts.items():
            common = {
                "submission": submission,
                "lesson": facts["lesson"],
                "isolation": facts["isolation"],
                "notices": [*facts["notices"], *self.notices[submission]],
            }
            if facts["problem"]:
                rows.append(
                    {
                        **common,
                        "exercise": "",
                        "points": 0,
                        "max": sum(points for _, _, points, _, _ in facts["declared"]),
                        "status": "not graded",
                        "reason": facts["problem"],
                        "tests": [],
                    }
                )
                continue
            tests = defaultdict(list)
            for name, question, points, title, hint in facts["declared"]:
                outcome, cause = self._outcome(submission, name)
                earned = points if outcome == "passed" else 0
                test = {
                    "test": name,
                    "title": title,
                    "points": earned,
                    "max": points,
                    "outcome": outcome,
                    "reason": cause,
                    "hint": "" if earned else hint,
                }
                tests[question].append(test)
            for question, entries in tests.items():
                status, reason = _status(entries, question in facts["attempted"])
                rows.append(
                    {
                        **common,
                        "exercise": question,
                        "points": sum(t["points"] for t in entries),
                        "max": sum(t["max"] for t in entries),
                        "status": status,
                        "reason": reason,
                        "tests": entries,
                    }
                )
        return [{column: row[column] for column in COLUMNS} for row in rows]

    def _outcome(self, submission: str, test: str) -> tuple[str, str]:
        key = (submission, test)
        cases = list(self.cases[key].values())
        for outcome, cause in cases:
            if outcome != "passed":
                return outcome, cause
        if cases and len(cases) == self.expected[key]:
            return "passed", ""
        return NOT_RUN, "the test was not run" if not cases else "not all its cases were run"


def _status(tests: list[dict[str, Any]], attempted: bool) -> tuple[str, str]:
    points, most = sum(test["points"] for test in tests), sum(test["max"] for test in tests)
    reason = "; ".join(dict.fromkeys(test["reason"] for test in tests if test["reason"]))
    if points == most:
        return "full", reason
    if points > 0:
        return "partial", reason
    outcomes = {test["outcome"] for test in tests}
    if outcomes <= {NOT_ATTEMPTED} or (outcomes <= {NOT_ATTEMPTED, "missing"} and not attempted):
        return NOT_ATTEMPTED, reason
    if outcomes <= {NOT_RUN, "not graded"}:
        return "not graded", reason
    return "wrong", reason


def write_grades(rows: Iterable[Row], path: Path) -> None:
    """Write rows to a file: as a list of objects if its name ends in ``.json``, as a table if in ``.csv``.

    The file is written beside and renamed: an older one stays whole until the new one is.

    Raises:
        OSError: if it cannot be written.
    """
    target = path.resolve()
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        beside.write_text(_as_text(list(rows), path.suffix.lower()), encoding="utf-8", newline="")
        beside.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _as_text(rows: list[Row], suffix: str) -> str:
    if suffix == ".json":
        return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for row in rows:
        tests = "; ".join(f"{t['test']}: {t['points']:g}/{t['max']:g} {t['outcome']}" for t in row["tests"])
        writer.writerow({**row, "notices": "; ".join(row["notices"]), "tests": tests})
    return text.getvalue()


def table(rows: Iterable[Row]) -> list[str]:
    """Return the lines of a table per submission, with totals."""
    by_submission: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_submission[row["submission"]].append(row)
    width = max((len(row["exercise"]) for part in by_submission.values() for row in part), default=0)
    lines: list[str] = []
    for submission, part in by_submission.items():
        points, most = sum(row["points"] for row in part), sum(row["max"] for row in part)
        lines += ["", f"{_printable(submission)}   {points:g} of {most:g} points"]
        for row in part:
            reason = "" if row["reason"] == row["status"] else row["reason"]
            mark = f"{row['points']:>5g} / {row['max']:<5g}"
            lines.append(f"  {row['exercise'] or '—':<{max(width, 8)}} {mark} {row['status']:<13} {reason}".rstrip())
        lines += [f"  note: {_printable(notice)}" for notice in part[0]["notices"]]
    return lines


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text)
