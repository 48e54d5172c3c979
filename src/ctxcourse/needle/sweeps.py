"""What the needle experiments ask: lists of calls, each with its lines, its question and the right answer.

Every design draws a fresh register for each trial and compares within it: the same needle at every depth, the same
lines in a shorter and a longer list, the same places filled with records or with filler. What this module does not
do: ask a model (see `ctxcourse.needle.trials`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

from ctxcourse.errors import CourseError
from ctxcourse.needle import registers
from ctxcourse.needle.filler import filler
from ctxcourse.needle.registers import DEPTHS, LONGEST, Record, Register, Score, register

RECORDS = 25
TRIALS = {"move": 32, "rows": 8, "length": 20, "volume": 20, "interference": 20, "grid": 8}
QUICK = {"move": 4, "rows": 2, "length": 2, "volume": 2, "interference": 4, "grid": 1}  # trials in under three minutes
LENGTHS: tuple[int, ...] = (1, 3, 8, 25, 50, 90, LONGEST)
SHARES: tuple[float, ...] = (0, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
GRID_LENGTHS: tuple[int, ...] = (3, 8, 25, 50, 90)
GRID_DEPTHS: tuple[float, ...] = (0, 0.25, 0.5, 0.75, 1)
MOST_TRIALS = 10_000  # a trial's seed is seed * 10_000 + trial
MOST_SEED = 10**9
MIDDLE = 0.5

V = TypeVar("V", int, float)


class SweepError(CourseError, ValueError):
    """An argument of an experiment that cannot be: the message names it, its value and what is possible."""


@dataclass(frozen=True)
class Call:
    """One question to the model, and all that is needed to judge the answer and to tabulate it.

    ``seed`` is that of the trial's register; ``records`` counts all lines, filler included; ``share`` is the share of
    lookalikes among the lines that are not the needle (for a list of one line: what its design has in longer ones).
    ``row`` is the needle's line, from 0, and ``needle`` its name in tables. ``values`` holds what each line would
    answer, None for filler, so that ``values[row] == right``.
    """

    experiment: str
    trial: int
    seed: int
    records: int
    share: float
    depth: float
    row: int
    needle: str
    right: str
    owner: str
    lines: tuple[str, ...]
    asked: str
    values: tuple[str | None, ...]

    def messages(self) -> list[dict[str, Any]]:
        """Return the prompt as messages; without filler it is that of `registers.messages`."""
        return registers.prompt(self.lines, self.asked)

    def score(self, answer: str) -> Score:
        """Return what an answer is, by the rules of `registers.classify`."""
        return registers.judge(answer, self.asked, self.values, self.row)


def position(
    records: int = RECORDS, trials: int = TRIALS["move"], depths: Sequence[float] = DEPTHS, seed: int = 1
) -> list[Call]:
    """Return the published design: a trial's needle (its first record) at each depth, the others in their old order.

    Raises `SweepError` for impossible arguments, as all designs do.

    >>> calls = position(trials=2)
    >>> len(calls), [call.row for call in calls[:9]]
    (18, [0, 3, 6, 9, 12, 15, 18, 21, 24])
    """
    records = checked_count("records", records, 1, LONGEST)
    depths = checked_shares("depths", depths)
    calls = []
    for trial, drawn in _registers(records, trials, seed):
        calls += [_placed("position", trial, seed, drawn, depth) for depth in depths]
    return calls


def rows(records: int = RECORDS, trials: int = TRIALS["rows"], seed: int = 1) -> list[Call]:
    """Return every row of each trial's register asked in turn; nothing moves, so a trial has one register.

    >>> [(call.row, call.depth) for call in rows(records=3, trials=1)]
    [(0, 0.0), (1, 0.5), (2, 1.0)]
    """
    records = checked_count("records", records, 1, LONGEST)
    return [
        _call("rows", trial, seed, drawn.records, row, row / max(1, records - 1))
        for trial, drawn in _registers(records, trials, seed)
        for row in range(records)
    ]


def length(
    lengths: Sequence[int] = LENGTHS, trials: int = TRIALS["length"], seed: int = 1, depth: float = MIDDLE
) -> list[Call]:
    """Return a growing register, the needle at one depth of each; a shorter one is the beginning of a longer one.

    >>> [(call.records, call.row) for call in length(trials=1)][:4]
    [(1, 0), (3, 1), (8, 4), (25, 12)]
    """
    sizes, (depth,) = _lengths(lengths), checked_shares("depth", [depth])
    return [
        _placed("length", trial, seed, Register(drawn.records[:size]), depth)
        for trial, drawn in _registers(max(sizes), trials, seed)
        for size in sizes
    ]


def volume(
    lengths: Sequence[int] = LENGTHS, trials: int = TRIALS["volume"], seed: int = 1, depth: float = MIDDLE
) -> list[Call]:
    """Return the needles, sizes and questions of `length`, every line but the needle's replaced by filler.

    >>> two = zip(length(trials=1), volume(trials=1))
    >>> all(a.lines[a.row] == b.lines[b.row] and a.row == b.row and a.asked == b.asked for a, b in two)
    True
    """
    sizes, (depth,) = _lengths(lengths), checked_shares("depth", [depth])
    return [
        _mixed("volume", trial, seed, Register(drawn.records[:size]), 0.0, frozenset(), depth)
        for trial, drawn in _registers(max(sizes), trials, seed)
        for size in sizes
    ]


def interference(
    shares: Sequence[float] = SHARES,
    records: int = RECORDS,
    trials: int = TRIALS["interference"],
    seed: int = 1,
    depth: float = MIDDLE,
) -> list[Call]:
    """Return lists of one size in which a share of the other lines are lookalikes and the rest filler.

    The needle stands at one depth. Of the ``records - 1`` others, ``round(share * (records - 1))`` are records; one
    that is there at some share is there, in the same line, at every higher one. At share 1 it is the register of
    `position` at that depth.
    """
    records, shares = checked_count("records", records, 2, LONGEST), checked_shares("shares", shares)
    (depth,) = checked_shares("depth", [depth])
    calls = []
    for trial, drawn in _registers(records, trials, seed):
        order = list(range(records - 1))
        random.Random(trial_seed(seed, trial)).shuffle(order)
        for share in shares:
            kept = frozenset(order[: round(share * (records - 1))])
            calls.append(_mixed("interference", trial, seed, drawn, share, kept, depth))
    return calls


def grid(
    lengths: Sequence[int] = GRID_LENGTHS,
    depths: Sequence[float] = GRID_DEPTHS,
    trials: int = TRIALS["grid"],
    seed: int = 1,
) -> list[Call]:
    """Return every length at every depth, the same needle in all of a trial.

    In a short list two depths may round to one row; they are then one prompt, asked under two names.
    """
    sizes, depths = _lengths(lengths), checked_shares("depths", depths)
    return [
        _placed("grid", trial, seed, Register(drawn.records[:size]), depth)
        for trial, drawn in _registers(max(sizes), trials, seed)
        for size in sizes
        for depth in depths
    ]


# One call


def _placed(experiment: str, trial: int, seed: int, drawn: Register, depth: float) -> Call:
    """Return the call in which the first record stands at ``depth``."""
    moved = drawn.move(0, depth)
    return _call(experiment, trial, seed, moved.records, drawn.slot(depth), depth)


def _mixed(
    experiment: str, trial: int, seed: int, drawn: Register, share: float, kept: frozenset[int], depth: float
) -> Call:
    """Return the call in which, of the others in their order, those not in ``kept`` have given way to filler."""
    row = drawn.slot(depth)
    text = filler(len(drawn) - 1, trial_seed(seed, trial))
    others: list[Record | str] = [
        record if place in kept else text[place] for place, record in enumerate(drawn.records[1:])
    ]
    return _call(experiment, trial, seed, [*others[:row], drawn.records[0], *others[row:]], row, depth, share)


def _call(
    experiment: str,
    trial: int,
    seed: int,
    content: Sequence[Record | str],
    row: int,
    depth: float,
    share: float = 1.0,
) -> Call:
    gold = content[row]
    assert isinstance(gold, Record)
    return Call(
        experiment=experiment,
        trial=trial,
        seed=trial_seed(seed, trial),
        records=len(content),
        share=float(share),
        depth=float(depth),
        row=row,
        needle=gold.ticket,
        right=gold.extension,
        owner=gold.owner,
        lines=tuple(line.line if isinstance(line, Record) else line for line in content),
        asked=registers.QUESTION.format(owner=gold.owner),
        values=tuple(line.extension if isinstance(line, Record) else None for line in content),
    )


def trial_seed(seed: int, trial: int) -> int:
    """Return the seed of one trial's register: no two trials of a run, and no two runs, have the same."""
    return seed * MOST_TRIALS + trial


def _registers(records: int, trials: int, seed: int) -> Iterator[tuple[int, Register]]:
    seed = checked_count("seed", seed, 0, MOST_SEED)
    for trial in range(checked_count("trials", trials, 1, MOST_TRIALS)):
        yield trial, register(records, trial_seed(seed, trial))


# Arguments


def checked_count(name: str, value: int, least: int, most: int) -> int:
    """Return a whole number within its bounds; raises `SweepError` with the argument's name and value."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= most:
        raise SweepError(f"{name}={value!r}: it is a whole number from {least} to {most:,}")
    return int(value)


def _lengths(lengths: Sequence[int]) -> list[int]:
    return _distinct("lengths", lengths, lambda value: checked_count("lengths", value, 1, LONGEST))


def checked_shares(name: str, values: Sequence[float]) -> list[float]:
    """Return distinct numbers from 0 to 1; raises `SweepError` with the argument's name and the value at fault."""

    def checked(value: float) -> float:
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise SweepError(f"{name}: {value!r} is no number; each is one from 0 to 1")
        if not 0 <= value <= 1:
            raise SweepError(f"{name}: {value!r} is out of range; each is a number from 0 to 1")
        return float(value)

    return _distinct(name, values, checked)


def _distinct(name: str, values: Iterable[V], checked: Callable[[V], V]) -> list[V]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SweepError(f"{name}={values!r}: give a list of numbers")
    found = [checked(value) for value in values]
    if not found:
        raise SweepError(f"{name} is empty: give at least one")
    twice = next((value for place, value in enumerate(found) if value in found[:place]), None)
    if twice is not None:
        raise SweepError(f"{name} has {twice!r} twice: each once, or its answers would be counted twice")
    return found
