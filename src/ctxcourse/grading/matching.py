"""Matches a submission with the exercise that it answers, however its cells were moved, copied, retyped or stripped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ctxcourse.grading.notebooks import BEGIN_HIDDEN, Cell, Notebook, Solution

ENOUGH = 0.2
"""Share of an exercise's own cells that has to be found for a notebook to be taken for it."""


@dataclass(frozen=True)
class PlannedCell:
    """A cell to run: its name in reports, its number among the code cells, its source and where it comes from."""

    name: str
    number: int
    source: str
    cell: Cell


@dataclass
class Plan:
    """What to run of a submission, and what was found.

    Attributes:
        cells: the cells to run, in order.
        attempted: the questions whose answer cell was changed.
        notices: what was odd, in sentences for the report.
    """

    cells: list[PlannedCell] = field(default_factory=list)
    attempted: set[str] = field(default_factory=set)
    notices: list[str] = field(default_factory=list)


def resemblance(notebook: Notebook, solution: Solution) -> float:
    """Return how much of an exercise a notebook holds, 0 to 1: by grade ids, unchanged cells and answered names."""
    grade_ids = {cell.grade_id for cell in solution.notebook.cells if cell.grade_id}
    fixed = {
        cell.normal
        for cell in solution.notebook.cells
        if cell.role not in ("answer", "hidden") and len(cell.normal) >= 20
    }
    names = {name for cell in solution.notebook.cells if cell.role == "answer" for name in cell.names}
    shares = [0.0]
    for wanted, found in (
        (grade_ids, {cell.grade_id for cell in notebook.cells}),
        (fixed, {cell.normal for cell in notebook.cells}),
        (names, {name for cell in notebook.cells for name in cell.names}),
    ):
        if wanted:
            shares.append(len(wanted & found) / len(wanted))
    return max(shares)


def make_plan(notebook: Notebook, solution: Solution) -> Plan:
    """Decide which cells of a submission to run, as what, and say what was found on the way."""
    plan = Plan(notices=list(notebook.notices))
    matched = _match(notebook, solution.notebook)
    replaced: set[int] = set()
    as_code: set[int] = set()
    if not any(cell.grade_id or cell.role for cell in notebook.cells):
        plan.notices.append("the cells' metadata is gone; they were matched by what they hold and where they stand")
    for canonical in solution.notebook.cells:
        copies = [notebook.cells[index] for index in matched[canonical.index]]
        if canonical.kind != "code":
            turned = [copy.index for copy in copies if copy.kind == "code" and copy.normal == canonical.normal]
            if turned:
                replaced.update(turned)
                plan.notices.append(f"text cell {turned[0] + 1} was turned into code; it was not run")
            continue
        label = (
            f"the {canonical.role} cell of {canonical.question}" if canonical.question else f"the {canonical.role} cell"
        )
        if not copies and canonical.role in ("answer", "check"):
            plan.notices.append(f"{label} is missing")
        if canonical.role == "answer":
            written = [copy for copy in copies if not copy.stub and copy.normal]
            if written:
                plan.attempted.add(canonical.question)
                replaced.update(copy.index for copy in copies if copy not in written)
        if canonical.role in ("answer", "setup") and len(copies) > 1:
            plan.notices.append(f"{label} is there {len(copies)} times; what runs last counts")
        for copy in copies:
            if copy.kind != "code" and canonical.role in ("answer", "setup"):
                as_code.add(copy.index)
                plan.notices.append(f"{label} was turned into a {copy.kind} cell; it was run as code")
    _note_order(plan, matched, solution.notebook)
    setups = [cell for cell in solution.notebook.cells if cell.role == "setup" and cell.kind == "code"]
    first: set[int] = set()
    for setup in setups:
        found = matched[setup.index]
        if found:
            first.update(found[:1])
        else:
            plan.notices.append("the setup cell is missing; the exercise's own was run")
            plan.cells.append(PlannedCell("setup", -1, setup.source, setup))
    ordered = [notebook.cells[index] for index in sorted(first)]
    ordered += [cell for cell in notebook.cells if cell.index not in first]
    for cell in ordered:
        if cell.index in replaced or (cell.kind != "code" and cell.index not in as_code):
            continue
        if cell.role == "hidden" and (BEGIN_HIDDEN in cell.source or not cell.has_code):
            continue
        name = f"Cell {cell.number}" if cell.kind == "code" else f"{cell.kind} cell {cell.index}"
        plan.cells.append(PlannedCell(name, cell.number, cell.source, cell))
    return plan


def _note_order(plan: Plan, matched: dict[int, list[int]], canonical: Notebook) -> None:
    places = [matched[cell.index][0] for cell in canonical.cells if cell.role and matched[cell.index]]
    if places != sorted(places):
        plan.notices.append("the cells stand in another order than in the exercise; they were run as they stand")


def _match(notebook: Notebook, canonical: Notebook) -> dict[int, list[int]]:
    """Return, for each canonical cell, the cells of the submission that are it, by the strongest sign there is."""
    taken: set[int] = set()
    matched: dict[int, list[int]] = {cell.index: [] for cell in canonical.cells}
    for same in _signs(notebook, canonical):
        claimed: set[int] = set()
        for cell in canonical.cells:
            if not matched[cell.index]:
                found = [other.index for other in notebook.cells if other.index not in taken and same(cell, other)]
                matched[cell.index] = found
                claimed.update(found)
        taken |= claimed
    return matched


def _signs(notebook: Notebook, canonical: Notebook) -> Sequence[Callable[[Cell, Cell], bool]]:
    same_length = len(notebook.cells) == len(canonical.cells)
    return (
        lambda a, b: bool(a.grade_id) and a.grade_id == b.grade_id,
        lambda a, b: bool(a.role and a.question) and (a.role, a.question) == (b.role, b.question),
        lambda a, b: bool(a.id) and a.id == b.id,
        lambda a, b: a.role == "answer" and bool(a.names & b.names),
        lambda a, b: a.role != "answer" and len(a.normal) >= 20 and a.normal == b.normal,
        lambda a, b: same_length and a.index == b.index and a.kind == b.kind,
    )
