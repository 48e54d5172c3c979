"""Hidden cells in the instructor's own notebook, and what they may look like."""

from __future__ import annotations

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading import contract
from ctxcourse.grading.hidden import HiddenCell, HiddenTestsInvalid, compile_cells
from ctxcourse.grading.inplace import GRADER, HiddenTestsFailed, points, run_here, run_source
from ctxcourse.grading.kernel import StudentKernel
from ctxcourse.grading.sandbox import find_sandbox

TESTS = """
@points(2, title="Doubles", hint="Twice?")
@pytest.mark.parametrize("n", [1, 2])
def test_double(student, n):
    assert student.double(n) == 2 * n

@points(1, title="Nothing")
def test_nothing(student):
    assert student.double(0) == 0
"""


def test_the_summary_is_the_same_in_every_run():
    summary = run_source(TESTS, {"double": lambda n: 2 * n})
    assert repr(summary) == "✓ Doubles (2)\n✓ Nothing (1)\n3 of 3 points"
    assert repr(run_source(TESTS, {"double": lambda n: n + n})) == repr(summary)


def test_a_failing_test_shows_what_pytest_says():
    with pytest.raises(HiddenTestsFailed, match=r"assert 5 == \(2 \* 2\)|assert 5 == 4"):
        run_source(TESTS, {"double": lambda n: 2 * n if n != 2 else 5})
    with pytest.raises(HiddenTestsFailed, match="skipped"):
        run_source(TESTS + "\n@points(1)\ndef test_s():\n    pytest.skip('no')\n", {"double": lambda n: 2 * n})


def test_it_does_nothing_in_the_grader():
    assert run_here({GRADER: True}) is None


def test_in_a_notebook_cell():
    kernel = StudentKernel(find_sandbox())
    try:
        kernel.run("def double(n):\n    return 2 * n", 20)
        cell = f"import pytest\nfrom ctxcourse.grading.inplace import points, run_here\n{TESTS}\nrun_here(globals())"
        result = kernel.run(cell, 60)
        assert result.message == ""
        assert result.outputs[-1]["data"]["text/plain"].endswith("3 of 3 points")
        kernel.run("def double(n):\n    return n", 20)
        assert kernel.run(cell, 60).message.startswith("HiddenTestsFailed")
    finally:
        kernel.stop()


@pytest.mark.parametrize("number", [0, -1, True, "2", None, float("nan"), float("inf")])
def test_points_are_numbers_above_zero(number):
    with pytest.raises(CourseError, match="above zero"):
        points(number)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("def test_a(student): pass", "test_a has 0 @points"),
        ("@points(1)\n@points(2)\ndef test_a(student): pass", "test_a has 2 @points"),
        ("@points(1)\ndef test_a(student): pass\n@points(1)\ndef test_a(student): pass", "two hidden cells"),
        ("class TestA: pass", "TestA is a class"),
        ("x =", "hidden cell 4, line 1: syntax error"),
        ("x = 1\nx.secret", "hidden cell 4, line 2: AttributeError"),
    ],
)
def test_what_is_no_test_is_refused_without_quoting_it(source, text):
    with pytest.raises(HiddenTestsInvalid) as info:
        compile_cells([HiddenCell(4, "q", source)], "01_x.ipynb")
    assert text in str(info.value)
    assert "secret" not in str(info.value)


def test_nbval_is_the_one_that_grading_knows():
    contract.check_nbval()


def test_another_nbval_is_refused_by_name(monkeypatch):
    import nbval.plugin

    monkeypatch.delattr(nbval.plugin, "coalesce_streams")
    monkeypatch.setattr(nbval.plugin.IPyNbCell, "compare_outputs", lambda self, test, reference: True)
    with pytest.raises(contract.NbvalChanged) as info:
        contract.check_nbval()
    assert "coalesce_streams(outputs)" in str(info.value)
    assert "IPyNbCell.compare_outputs" in str(info.value)
    assert "nbval==0.11" in str(info.value)
