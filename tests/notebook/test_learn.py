"""What a student reads from check(), hint() and solution()."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

from ctxcourse import learn, questions
from ctxcourse.errors import CourseError
from ctxcourse.learn import CheckFailed, NoSolution, NotAttempted, case, check, hint, solution
from ctxcourse.mistakes import difference


def failure(function, *cases) -> str:
    with pytest.raises(CheckFailed) as caught:
        check(function, *cases)
    return str(caught.value)


def bill(calls):
    return sum(calls), sum(calls[1:])


def test_passing_cases_are_ticked() -> None:
    result = check(bill, case([5], gives=(5, 0)), case([], gives=(0, 0)))
    *ticks, closing = repr(result).splitlines()
    assert ticks == ["✓ bill([5]) gives (5, 0)", "✓ bill([]) gives (0, 0)"]
    assert closing.startswith("All 2 examples pass")
    assert result._repr_html_().count("<li>✓") == 2


def test_html_is_escaped() -> None:
    assert "<b>" not in check(lambda text: text, case("<b>", gives="<b>"))._repr_html_()


def test_first_failing_case_ends_the_list() -> None:
    text = failure(bill, case([5], gives=(5, 0)), case([1, 2], gives=(3, 1), hint="Reuse."), case([], gives=(0, 0)))
    assert text.splitlines() == [
        "✓ bill([5]) gives (5, 0)",
        "✗ bill([1, 2]) returns (3, 2); expected is (3, 1): [1] is 2; expected is 1. That is off by one.",
        "  Reuse.",
        "· 1 more case not tried yet",
    ]


def test_known_mistake_is_named_instead_of_the_hint() -> None:
    one = case([1, 2], gives=(3, 1), hint="The hint.", mistakes=[((3, 2), "That saves all of the second prompt.")])
    text = failure(bill, one)
    assert "That saves all of the second prompt." in text
    assert "The hint." not in text
    assert "The hint." in failure(lambda calls: (3, 7), one)


def stub(calls):
    """Return something."""
    raise NotImplementedError("Need to implement stub")


def empty(calls):
    """Return something."""


def ellipsis(calls): ...


@pytest.mark.parametrize("function", [stub, empty, ellipsis])
@pytest.mark.parametrize("one", [case([1], gives=1), case([1], raises=ValueError)])
def test_unattempted_is_not_incorrect(function, one) -> None:
    with pytest.raises(NotAttempted, match="not attempted yet"):
        check(function, one)
    assert not issubclass(NotAttempted, CheckFailed)


def test_none_on_purpose_is_not_unattempted() -> None:
    assert "✓ empty([1]) gives None\n" in repr(check(empty, case([1], gives=None)))
    assert "`return` missing" in failure(lambda x: print(end=""), case([1], gives=1))


@pytest.mark.parametrize(
    ("value", "expected", "says"),
    [
        ([1, 2], (1, 2), "returns a list, [1, 2]; expected is a tuple, (1, 2)"),
        ((1, 2), [1, 2], "returns a tuple"),
        ([2, 1], [1, 2], "the right values in another order"),
        ([1], [1, 2], "it has 1 item, not 2"),
        ([1, 2, 2], [1, 2], "it has 3 items, not 2"),
        ((i for i in [1]), [1], "a generator, not a list"),
        (bill, 3, "the function bill itself. Are its parentheses missing?"),
        (3, (3, 0), "returns 3 alone; 2 values are asked for"),
        ((3,), 3, "a comma behind the value"),
        ("3", 3, "returns '3'; expected is 3"),
        (3, "3", "returns a whole number, 3; expected is a text, '3'"),
        (1, True, "expected is a truth value"),
        (50.0, 0.5, "100 times too large: a percentage instead of a fraction?"),
        (0.5, 50.0, "100 times too small"),
        (-4, 4, "The sign is the wrong way round"),
        (5, 4, "off by one"),
        (2, 2.5, "divided with `//`?"),
        (0.31, 0.3, "(within 1e-09)"),
        ({"a": 1}, {"a": 1, "b": 2}, "lacks the key 'b'"),
        ({"a": 1, "c": 2}, {"a": 1}, "has the key 'c', which nobody asked for"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 7]}}, "['a']['b'][1] is 2; expected is 7"),
        ({1, 2}, {2, 3}, "it lacks 3 and has 1 too many"),
        ("Text ", "Text", "white space at the ends"),
        ("TEXT", "text", "upper and lower case"),
        (np.array([1, 2]), [1, 2], "an object of type ndarray"),
        (4, None, "returns a whole number, 4; expected is None."),
    ],
)
def test_wrong_values_name_the_likely_mistake(value, expected, says: str) -> None:
    text = failure(lambda: value, case(gives=expected))
    assert says in text
    assert "0x" not in text, "an address makes the text different in every run"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1 + 0.2, 0.3),
        (np.float64(0.1) + 0.2, 0.3),
        (np.int64(3), 3),
        (np.True_, True),
        (math.nan, math.nan),
        (3, 3.0),
        ([{"a": (1, {2})}], [{"a": (1, {2})}]),
        ([math.inf], [math.inf]),
    ],
)
def test_equal_values_pass(value, expected) -> None:
    assert check(lambda: value, case(gives=expected)).lines


def test_tolerance_is_what_the_case_says() -> None:
    assert check(lambda: 0.33, case(gives=1 / 3, tolerance=0.01)).lines
    assert "(within 0.001)" in failure(lambda: 0.33, case(gives=1 / 3, tolerance=0.001))
    assert "expected is 100000000000" in failure(lambda: 100000000001, case(gives=100000000000))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda x: x / 0, "nothing to divide by"),
        (lambda x: [][x], "is the list shorter than you think"),
        (lambda x: {}[x], "look with `in`"),
        (lambda x: None + x, "A value is None here"),
        (lambda: 1, "take the arguments that the question names"),
        (lambda x: not_defined, "was the cell that defines it run"),  # noqa: F821
        (lambda x: x.nothing, "of the type that you expect"),
    ],
)
def test_exceptions_are_explained(function, says: str) -> None:
    text = failure(function, case(1, gives=1, hint="The hint."))
    assert says.lower() in text.lower()
    assert "The hint." not in text, "it is about a value, and there is none"


def test_exception_shows_the_line_of_the_student() -> None:
    def outer(calls):
        total = 0
        return total + max(calls)

    assert "in line 3 of outer: return total + max(calls)" in failure(outer, case([], gives=0))


def test_exception_type_and_text_are_checked() -> None:
    def refuse(n):
        raise ValueError("n is negative")

    assert "✓ refuse(-1) raises ValueError\n" in repr(check(refuse, case(-1, raises=ValueError, match="negative")))
    assert "lacks 'too large'" in failure(refuse, case(-1, raises=ValueError, match="too large"))
    assert "It should raise KeyError here" in failure(refuse, case(-1, raises=KeyError))
    assert "returns 3; it should raise ValueError" in failure(lambda n: 3, case(-1, raises=ValueError, hint="Look."))


def test_changed_arguments_are_reported() -> None:
    def first(rows, *, extra=None):
        rows[0]["cost"] = 0
        return len(rows)

    rows = [{"cost": 3}]
    text = failure(first, case(rows, gives=1))
    assert "changes its argument 1 from [{'cost': 3}] to [{'cost': 0}]" in text
    assert rows == [{"cost": 3}]
    assert "changes its argument items" in failure(lambda items: items.sort() or 1, case(items=[2, 1], gives=1))
    assert check(lambda items: sorted(items), case([2, 1], gives=[1, 2])).lines


def test_objects_are_handed_over_as_they_are() -> None:
    counter = object()
    assert check(
        lambda given, more: given is counter and more[0] is counter, case(counter, [counter], gives=True)
    ).lines


def test_a_case_says_what_it_expects() -> None:
    for wrong in ({}, {"gives": 1, "raises": ValueError}):
        with pytest.raises(CourseError, match="either gives"):
            case(1, **wrong)
    assert "leave its parentheses out" in failure(bill([1]), case([1], gives=(1, 0)))
    with pytest.raises(CourseError, match="at least one case"):
        check(bill)


@pytest.mark.parametrize("error", [CheckFailed("✗ first\n  second"), NotAttempted("○ not yet"), NoSolution("no")])
def test_notebooks_show_no_traceback(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    shell = InteractiveShell()
    shell.user_ns["error"] = error
    shell.run_cell("raise error")
    shown = capsys.readouterr().out
    assert str(error) in shown
    assert "Traceback" not in shown
    assert "raise error" not in shown


def values(allow_nan: bool):
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=allow_nan) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
        max_leaves=8,
    )


@given(value=values(allow_nan=True))
def test_a_value_never_differs_from_its_copy(value) -> None:
    assert difference(learn.copy_data(value), value, 1e-9) is None


@given(one=values(allow_nan=False), other=values(allow_nan=False))
def test_different_values_are_told_apart_in_one_line(one, other) -> None:
    found = difference(one, other, 0.0)
    if one != other:
        assert found is not None
        assert "\n" not in found
        assert found.endswith((".", "?"))


@pytest.mark.parametrize("pair", [(10**400, 1.0), (1.0, 10**400), (1, math.inf), (math.inf, 1), (1, math.nan)])
def test_numbers_at_the_edge_of_floats(pair) -> None:
    assert difference(*pair, 1e-9) is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = {
        "stem": "01_turns",
        "title": "Turns",
        "questions": {
            "turn_bill": {"title": "Question 1", "points": 3, "hints": ["Pair them.", "Use `zip`."]},
            "last_prompt": {
                "title": "Practice",
                "points": 0,
                "hints": ["Think."],
                "solution": "def last_prompt(c):\n    return c[-1]",
            },
        },
        "quiz": [],
    }
    (tmp_path / "01_turns.json").write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.setattr(questions, "FOLDER", tmp_path)
    monkeypatch.setattr(learn, "_hints_seen", {})
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_hints_come_one_at_a_call() -> None:
    shown = [repr(hint("turn_bill")) for _ in range(3)]
    assert shown == [
        "**Hint 1 of 2.** Pair them.",
        "**Hint 2 of 2, the last.** Use `zip`.",
        "**Hint 2 of 2, the last.** Use `zip`.",
    ]
    assert repr(hint("last_prompt")) == "**Hint 1 of 1.** Think."
    assert hint("last_prompt")._repr_markdown_() == "**Hint 1 of 1.** Think."


@pytest.mark.usefixtures("folder")
def test_solutions_are_for_practice_only() -> None:
    assert repr(solution("last_prompt")) == "```python\ndef last_prompt(c):\n    return c[-1]\n```"
    with pytest.raises(NoSolution, match=r"Question 1 is graded.*hint\('turn_bill'\) helps"):
        solution("turn_bill")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("ask", [hint, solution])
def test_unknown_questions_get_a_suggestion(ask) -> None:
    with pytest.raises(questions.UnknownQuestion, match="no question is called 'turn_bil'; did you mean 'turn_bill'"):
        ask("turn_bil")
    with pytest.raises(questions.UnknownQuestion, match="there are last_prompt, turn_bill"):
        ask("zzz")


def test_an_exception_that_is_returned_is_not_raised() -> None:
    text = failure(lambda: ValueError("no room"), case(raises=ValueError))
    assert "it should raise ValueError" in text


def test_arrays_are_compared_by_value_and_their_changes_are_seen() -> None:
    same = case(np.array([2, 1]), gives=np.array([1, 2]))
    assert "✓" in repr(check(lambda a: np.sort(a), same))
    text = failure(lambda a: a.sort() or a, same)
    assert "changes its argument 1 from array([2, 1]) to array([1, 2])" in text


def test_leaving_python_is_explained_and_a_truth_value_is_no_number() -> None:
    import sys

    assert "SystemExit" in failure(lambda: sys.exit(3), case(gives=1))
    assert "truth value" in failure(lambda: True, case(gives=1))


def test_a_long_list_in_the_wrong_order_is_told_at_once() -> None:
    calls = list(range(3_000))
    assert "[0] is 2999; expected is 0" in failure(lambda: calls[::-1], case(gives=calls))
