"""Answers that came with the course, by the point they belong to: what a widget shows without asking the model.

A table has one row a call (see `ctxcourse.trials`); a widget asks for all trials of one point at a time, many times a
second. What this module does not do: find the tables (see `ctxcourse.results`) or draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ctxcourse.errors import CourseError
from ctxcourse.needle import KINDS, Kind
from ctxcourse.stats import Interval, wilson
from ctxcourse.sweeps import MOST_TRIALS, Call

if TYPE_CHECKING:
    from pandas import DataFrame

K = TypeVar("K", bound=Hashable)


class ShippedError(CourseError, ValueError):
    """A table that holds no answers: the message says which column is missing."""


class Answered(NamedTuple):
    """One answer as a table keeps it; ``found_row`` is the line whose value it gave, None where that is no line."""

    trial: int
    seed: int
    records: int
    share: float
    depth: float
    row: int
    needle: str
    right: str
    answer: str
    kind: Kind
    found_row: int | None
    prompt_tokens: int

    def belongs_to(self, call: Call) -> bool:
        """Return whether this is an answer to the very question of a call."""
        return (self.needle, self.right, self.row) == (call.needle, call.right, call.row)


@dataclass(frozen=True)
class Cell:
    """The answers of one point, by trial; ``experiment`` and ``provenance`` say where they come from."""

    answers: Mapping[int, Answered]
    experiment: str
    provenance: Mapping[str, Any]

    @property
    def n(self) -> int:
        """How many trials there are."""
        return len(self.answers)

    @cached_property
    def counts(self) -> dict[Kind, int]:
        """How many answers are of each kind."""
        kinds = [answered.kind for answered in self.answers.values()]
        return {kind: kinds.count(kind) for kind in KINDS}

    @property
    def share(self) -> float:
        """The share of hits."""
        return self.counts["hit"] / self.n

    @cached_property
    def interval(self) -> Interval:
        """Wilson's 95 % interval of the share of hits."""
        return wilson(self.counts["hit"], self.n)


def cells_by(frame: DataFrame, point: Callable[[Answered], K]) -> dict[K, Cell]:
    """Return the cells of a table with one row a call; ``point`` says to which of them an answer belongs.

    Raises `ShippedError` for a table without the columns of `ctxcourse.trials`.
    """
    names = ["experiment", *Answered._fields]
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ShippedError(f"these results have no column {missing[0]!r}: use a table of ctxcourse.trials.run or load")
    values = [frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in names]
    collected: dict[K, dict[int, Answered]] = {}
    experiments: dict[K, str] = {}
    for experiment, *fields in zip(*values, strict=True):
        answered = Answered(*fields)
        collected.setdefault(point(answered), {})[answered.trial] = answered
        experiments.setdefault(point(answered), experiment)
    provenance = frame.attrs.get("provenance", {})
    return {key: Cell(answers, experiments[key], provenance) for key, answers in collected.items()}


def trials_and_seed(cells: Mapping[Any, Cell], trials: int, seed: int = 1) -> tuple[int, int]:
    """Return how many trials a design has and its seed, as its cells tell it; without cells what is given."""
    answers = [answered for cell in cells.values() for answered in cell.answers.values()]
    if not answers:
        return trials, seed
    return 1 + max(answered.trial for answered in answers), answers[0].seed // MOST_TRIALS


def provenance_text(cell: Cell) -> str:
    """Return where a remembered result comes from, in words: experiment, day and model.

    >>> about = {"model": "A model", "fingerprint": "m@1", "date": "2026-11-29T10:00:00+00:00"}
    >>> provenance_text(Cell({}, "length", about))
    'Remembered result of the length experiment, computed on 29 November 2026 by A model (m@1)'
    """
    about = cell.provenance
    text = f"Remembered result of the {cell.experiment} experiment"
    if not about:
        return f"{text}, whose provenance is not known"
    day = datetime.fromisoformat(about["date"])
    return f"{text}, computed on {day.day} {day:%B %Y} by {about['model']} ({about['fingerprint']})"
