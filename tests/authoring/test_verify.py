"""The proof that answers are graded right finds answers that are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ctxcourse.authoring.content import load_course
from ctxcourse.authoring.standins import passing, public_callables
from ctxcourse.authoring.verify import grade_all, problems, submissions, verify


def test_small_course_is_graded_right(course: Path) -> None:
    assert verify(root=course) == []


def test_weak_tests_and_wrong_promises_are_found(course: Path, edit: Callable[[str, str, str], int]) -> None:
    edit("wrong_answers.py", "return sum(calls), sum(calls[1:])", "return sum(calls), sum(calls[:-1])")
    edit("exercise.py", "([3, 9, 9], 1), ", "([3, 9, 9], 2), ")
    full, _, wrong, *_ = submissions(load_course(course)["01_turns"])
    table = grade_all([full, wrong])
    assert [*problems(full, table[full.name])] == [
        "01_turns-full: the solution of dearest_call has 0 of 1 points, status 'wrong'; it fails test_dearest"
    ]
    assert "01_turns-turn_bill-wrong-1 (line 3): passes test_growing_turn, which it should fail" in [
        *problems(wrong, table[wrong.name])
    ]


def test_each_submission_changes_one_answer(course: Path) -> None:
    lesson = load_course(course)["01_turns"]
    full, stub, *wrong = submissions(lesson)
    assert (full.name, stub.name) == ("01_turns-full", "01_turns-stub")
    assert len(wrong) == len(lesson.wrong_answers) == 7
    for item in wrong:
        pairs = zip(full.notebook.cells, item.notebook.cells, strict=True)
        assert [ours.metadata["ctxcourse"]["question"] for ours, theirs in pairs if ours != theirs] == [
            item.wrong.question
        ]
    assert all("test_" not in cell.source for item in (full, stub, *wrong) for cell in item.notebook.cells)


def test_an_answer_from_the_package_is_found(course: Path) -> None:
    def bill(calls):
        return sum(calls), sum(calls[:-1])

    lesson = load_course(course)["01_turns"]
    assert passing(lesson, {"ours.bill": bill, "builtins.len": len}) == {"turn_bill": ["ours.bill"], "dearest_call": []}


def test_public_callables_are_those_of_context_and_course() -> None:
    found = public_callables()
    assert {
        "ctxcourse.tokens.buckets",
        "ctxcourse.budget.ContextBudget",
        "ctxcourse.needle.registers.register",
        "ctxcourse.history.compressors.Truncation",
        "ctxcourse.agent.loop.run",
        "ctxcourse.messages.normalise",
    } <= found.keys()
    assert not any(name.startswith(("ctxcourse.learn.", "ctxcourse.model", "ctxcourse.cli")) for name in found)
