"""Hidden tests as pytest items: compiled from the cells of the solution notebook, run in the grader's process.

Nothing is written to disk, and nothing of the tests' text is put into a report: see `ctxcourse.grading.session`.
"""

from __future__ import annotations

import ast
import dataclasses
import linecache
import types
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading.points import GRADER, points

TAG = "hidden-tests"


class HiddenTestsInvalid(CourseError):
    """The hidden cells of a solution notebook are no tests; the instructor has to mend them."""


@dataclasses.dataclass(frozen=True)
class HiddenCell:
    """A hidden cell: its index in the notebook, the question it belongs to, and its code."""

    index: int
    question: str
    source: str


@dataclasses.dataclass(frozen=True)
class TestSpec:
    """A declared hidden test."""

    __test__ = False  # not a test class, whatever pytest makes of the name

    name: str
    question: str
    points: float
    title: str
    hint: str


def compile_cells(
    cells: Sequence[HiddenCell], place: str, config: pytest.Config | None = None, show: bool = False
) -> tuple[types.ModuleType, list[TestSpec]]:
    """Compile and execute hidden cells as one module, and return it with its tests in order.

    Args:
        cells: the cells.
        place: the notebook's name, for messages.
        config: with it, assertions are rewritten as pytest does.
        show: let tracebacks find the source.

    Raises:
        HiddenTestsInvalid: on a syntax error, a test without points, or two tests of one name. The text quotes no code.
    """
    module = types.ModuleType("hidden_tests")
    module.__dict__.update({GRADER: True, "pytest": pytest, "points": points})
    where: dict[str, HiddenCell] = {}
    for cell in cells:
        filename = f"<{place}, hidden cell {cell.index}>"
        try:
            tree = ast.parse(cell.source, filename)
        except SyntaxError as error:
            raise HiddenTestsInvalid(f"{place}: hidden cell {cell.index}, line {error.lineno}: syntax error") from None
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                raise HiddenTestsInvalid(f"{place}: {node.name} is a class; hidden tests are functions with @points")
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                if node.name in where:
                    raise HiddenTestsInvalid(
                        f"{place}: {node.name} is defined in two hidden cells; give one another name"
                    )
                where[node.name] = cell
        if show:
            linecache.cache[filename] = (len(cell.source), None, cell.source.splitlines(True), filename)
        if config is not None:
            from _pytest.assertion.rewrite import rewrite_asserts

            rewrite_asserts(tree, cell.source.encode(), filename, config)
        try:
            exec(compile(tree, filename, "exec", dont_inherit=True), module.__dict__)
        except Exception as error:
            line = error.__traceback__.tb_next.tb_lineno if error.__traceback__ and error.__traceback__.tb_next else 0
            text = f"{place}: hidden cell {cell.index}, line {line}: {type(error).__name__} when it is loaded"
            raise HiddenTestsInvalid(text) from None
    return module, [_spec(module.__dict__[name], name, cell.question, place) for name, cell in where.items()]


def _spec(function: Any, name: str, question: str, place: str) -> TestSpec:
    marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "points"]
    if len(marks) != 1:
        raise HiddenTestsInvalid(f"{place}: {name} has {len(marks)} @points(…), and needs one")
    mark = marks[0]
    return TestSpec(name, question, mark.args[0], mark.kwargs.get("title", ""), mark.kwargs.get("hint", ""))


class HiddenFunction(pytest.Function):
    """One case of a hidden test: case ``number`` of ``cases``."""

    parent: HiddenModule
    spec: TestSpec
    number: int
    cases: int


class HiddenModule(pytest.Module):
    """The hidden tests of one solution notebook, bound to one submission."""

    cells: Sequence[HiddenCell]
    show: bool
    failed: set[str]
    """The names of the tests of which a case did not pass."""

    @classmethod
    def of_cells(
        cls,
        parent: pytest.Collector,
        path: Path,
        cells: Sequence[HiddenCell],
        nodeid: str | None = None,
        show: bool = True,
    ) -> HiddenModule:
        """Return the collector of the tests in ``cells``; ``show`` lets tracebacks quote them."""
        more: Any = {"nodeid": nodeid} if nodeid else {}
        module: HiddenModule = cls.from_parent(parent, path=path, name="hidden", **more)
        module.cells, module.show, module.failed = cells, show, set()
        return module

    def _getobj(self) -> types.ModuleType:
        try:
            module, specs = compile_cells(self.cells, self.path.name, self.config, self.show)
        except HiddenTestsInvalid as error:
            raise self.CollectError(str(error)) from None
        self.specs = {spec.name: spec for spec in specs}
        return module

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Collect the cases of the declared tests; their ids hold a number, not the values they are called with."""
        counts: Counter[str] = Counter()
        items = [
            item for item in super().collect() if isinstance(item, pytest.Function) and item.originalname in self.specs
        ]
        totals = Counter(item.originalname for item in items)
        for item in items:
            name = item.originalname
            counts[name] += 1
            number = counts[name]
            spec = getattr(item, "callspec", None)
            more: dict[str, Any] = {}
            if spec is not None and spec._idlist:
                more = {"callspec": dataclasses.replace(spec, _idlist=(str(number),))}
            case: HiddenFunction = HiddenFunction.from_parent(
                self,
                name=f"{name}[{number}]" if more else name,
                fixtureinfo=item._fixtureinfo,
                originalname=name,
                **more,
            )
            case.spec, case.number, case.cases = self.specs[name], number, totals[name]
            yield case
