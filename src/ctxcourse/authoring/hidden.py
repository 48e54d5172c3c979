"""Read, without running it, what a cell of hidden tests promises: names, points, titles and hints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctxcourse.authoring.percent import SourceCell, check_syntax
from ctxcourse.grading.notebooks import BEGIN_HIDDEN, END_HIDDEN

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"

_SHAPE = '@points(1, title="…", hint="…")'


@dataclass(frozen=True)
class HiddenTest:
    """One pytest function of a hidden cell; a parametrized one counts once, for all its cases."""

    name: str
    points: int
    title: str
    hint: str
    line: int


def hidden_tests(cell: SourceCell) -> list[HiddenTest]:
    """The tests that a hidden cell declares, in order.

    Raises AuthorError where a test has no points, title or hint, stands outside the markers, or is no plain function.
    """
    regions(cell, BEGIN_HIDDEN, END_HIDDEN)
    outside = re.sub(rf"{BEGIN_HIDDEN}.*?{END_HIDDEN}", "", cell.source, flags=re.DOTALL)
    if outside.strip():
        raise cell.error(
            f"code outside {BEGIN_HIDDEN} … {END_HIDDEN} would reach the student: "
            f"{outside.strip().splitlines()[0]!r}; move it between the markers"
        )
    tests = [_read_test(cell, function) for function in _test_functions(cell)]
    if not tests:
        raise cell.error("a cell of hidden tests without a function test_…")
    return tests


def regions(cell: SourceCell, begin: str, end: str) -> list[tuple[int, int]]:
    """The line ranges (from 1) between the markers; AuthorError where markers are missing or unbalanced."""
    found: list[tuple[int, int]] = []
    opened: int | None = None
    for number, line in enumerate(cell.source.splitlines(), start=1):
        if begin in line:
            if opened is not None:
                raise cell.error(f"{begin} stands twice without {end} between", number)
            opened = number
        elif end in line:
            if opened is None:
                raise cell.error(f"{end} without {begin} before it", number)
            found.append((opened + 1, number - 1))
            opened = None
    if opened is not None:
        raise cell.error(f"{begin} without {end} after it", opened)
    if not found:
        raise cell.error(f"the markers {begin} and {end} are missing in this cell")
    return found


def _test_functions(cell: SourceCell) -> Iterator[ast.FunctionDef]:
    for node in check_syntax(cell, cell.source).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            raise cell.error(f"{node.name} is a class, which is not graded: write its tests as functions", node.lineno)
        elif isinstance(node, ast.AsyncFunctionDef) and node.name.startswith("test"):
            raise cell.error(f"{node.name} is async, which is not graded: write `def {node.name}`", node.lineno)


def _read_test(cell: SourceCell, function: ast.FunctionDef) -> HiddenTest:
    calls = [
        decorator
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).split(".")[-1] == "points"
    ]
    if len(calls) != 1:
        raise cell.error(f"the hidden test {function.name} needs one decorator {_SHAPE}", function.lineno)
    call = calls[0]
    try:
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        values = [ast.literal_eval(argument) for argument in call.args]
    except ValueError:
        raise cell.error(f"the points of {function.name} must be written out: {_SHAPE}", call.lineno) from None
    number = values[0] if len(values) == 1 else None
    if type(number) is not int or number < 1:
        raise cell.error(
            f"the points of {function.name} must be a whole number from 1, the only argument without a name: {_SHAPE}",
            call.lineno,
        )
    for key in given.keys() - {"title", "hint"}:
        raise cell.error(f"the points of {function.name} take no argument {key!r}: {_SHAPE}", call.lineno)
    for key in ("title", "hint"):
        if not isinstance(given.get(key), str) or not given[key].strip():
            raise cell.error(f"the hidden test {function.name} needs a {key}: {_SHAPE}", call.lineno)
    return HiddenTest(function.name, number, given["title"], given["hint"], cell.line + function.lineno)
