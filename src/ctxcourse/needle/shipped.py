"""Answers that came with the course, by the point they belong to: what a widget shows without asking the model.

A table has one row a call (see `ctxcourse.needle.trials`); a widget asks for all trials of one point at a time, many
times a second. What this module does not do: read the tables (see `ctxcourse.results`) or draw.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ctxcourse.errors import CourseError
from ctxcourse.needle.registers import KINDS, Kind
from ctxcourse.needle.sweeps import MOST_TRIALS, Call
from ctxcourse.stats import Interval, wilson

if TYPE_CHECKING:
    from pandas import DataFrame

K = TypeVar("K", bound=Hashable)


class ShippedError(CourseError, ValueError):
    """A table that does not hold what is asked of it: the message says what is missing, or what is too much."""


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
        """Return whether this is an answer to the very question of a call: the same needle in the same lines."""
        return _question(self) == _question(call)


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


def lookalikes(one: Answered | Call) -> int:
    """Return how many of a list's lines are records like the needle's; shares that round to one number are one list.

    >>> from ctxcourse.needle.sweeps import interference
    >>> [lookalikes(call) for call in interference((0, 1 / 8, 1 / 4), records=3, trials=1)]
    [0, 0, 0]
    """
    return round(one.share * (one.records - 1))


def question_text(one: Answered | Call) -> str:
    """Return in words what was asked: all that tells two questions of the experiments apart.

    >>> from ctxcourse.needle.sweeps import volume
    >>> question_text(volume((25,), trials=1)[0])
    'INC-85748 (8493) in line 13 of 25 (0 of them lookalikes, seed 10000)'
    """
    alike = f"({lookalikes(one)} of them lookalikes, seed {one.seed})"
    return f"{one.needle} ({one.right}) in line {one.row + 1} of {one.records} {alike}"


def _question(one: Answered | Call) -> tuple[str, str, int, int, int, int]:
    return one.needle, one.right, one.row, one.records, one.seed, lookalikes(one)


def cells_by(frame: DataFrame, point: Callable[[Answered], K]) -> dict[K, Cell]:
    """Return the cells of a table with one row a call; ``point`` says to which of them an answer belongs.

    Raises `ShippedError` for a table without the columns of `ctxcourse.needle.trials`, and where a trial has two
    questions in one cell: one of the two answers would be lost.
    """
    names = ["experiment", *Answered._fields]
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise ShippedError(
            f"these results have no column {missing[0]!r}: use a table of ctxcourse.needle.trials.run or load"
        )
    values = [frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in names]
    collected: dict[K, dict[int, Answered]] = {}
    experiments: dict[K, str] = {}
    for experiment, *fields in zip(*values, strict=True):
        answered = Answered(*fields)
        key = point(answered)
        other = collected.setdefault(key, {}).setdefault(answered.trial, answered)
        if _question(other) != _question(answered):
            raise ShippedError(
                f"trial {answered.trial} has two questions in one place: {question_text(other)}; and "
                f"{question_text(answered)}. Keep the rows of one design and one seed"
            )
        experiments.setdefault(key, experiment)
    provenance = frame.attrs.get("provenance", {})
    return {key: Cell(answers, experiments[key], provenance) for key, answers in collected.items()}


def results_or_reason(name: str) -> tuple[DataFrame | None, str]:
    """Return the results of an experiment that came with the course, or None and why there are none."""
    from ctxcourse.results import load_results

    try:
        return load_results(name), ""
    except CourseError as error:
        return None, str(error)


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
