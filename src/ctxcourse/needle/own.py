"""Readers' own records: a table becomes a list of sentences, and any of them can be asked for.

A sentence and a question are templates with the table's column names in braces; one column holds the answer. What
this module does not do: ask a model (see `ctxcourse.needle.trials`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxcourse.needle import registers
from ctxcourse.needle.own_answers import first_value, folded
from ctxcourse.needle.own_table import OwnError, read_table
from ctxcourse.needle.own_templates import columns_of, filled
from ctxcourse.needle.registers import DEPTHS, NEW_TOKENS, Score
from ctxcourse.needle.sweeps import MOST_TRIALS, Call, SweepError, checked_count, checked_shares, trial_seed
from ctxcourse.plain import MessageError, checked_string, shown

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.tokens import Counter

__all__ = ["OwnCall", "OwnError", "OwnRecords", "first_value", "read_records"]

SYSTEM = "You answer a question about a list of records, one record on each line."
TRIALS = {"move": 32, "rows": 1}


@dataclass(frozen=True)
class OwnCall(Call):
    """A question about readers' own records; an answer is judged by the first of their values in it."""

    def messages(self) -> list[dict[str, Any]]:
        """Return the prompt as messages, in the form of `registers.messages`."""
        content = "The list:\n" + "\n".join(self.lines) + f"\n\n{self.asked}"
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]

    def score(self, answer: str) -> Score:
        """Return what an answer is: a hit, another record's value, or none of the list's (see `first_value`)."""
        values = [value for value in self.values if value is not None]
        return registers.score(first_value(answer, values, self.asked), self.values, self.row)


class _Listed(NamedTuple):
    """Records in the order in which the model reads them, by their numbers."""

    order: tuple[int, ...]
    lines: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class OwnRecords:
    """Records as sentences, with the question about each and its answer; `read_records` makes them.

    ``places`` says where each record stands in its source (``line 2``), ``names`` what its question is about.
    """

    places: tuple[str, ...]
    names: tuple[str, ...]
    lines: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.lines)

    def check_answers(self, counter: Counter) -> None:
        """Raise `OwnError` for an answer that is longer than the 12 tokens in which a model may write it."""
        for place, answer in zip(self.places, self.answers, strict=True):
            size = counter.count_text(answer)
            if size > NEW_TOKENS:
                raise OwnError(
                    f"{place}: the answer {shown(answer)} takes {size} tokens, and a model may write {NEW_TOKENS}: "
                    "ask for something shorter"
                )

    def call(self, row: int, depth: float, trial: int = 0) -> OwnCall:
        """Return the question about one record, moved to a depth; the others keep their order.

        ``row`` counts from 0 in `lines`; ``trial`` is no more than its number in tables. Raises `OwnError` for a row
        that is not there and `SweepError` for a depth outside 0 to 1.
        """
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(self):
            raise OwnError(f"row {row!r}: this list has rows 0 to {len(self) - 1}")
        (depth,) = checked_shares("depth", [depth])
        return self._moved(row, self._others(row), depth, checked_count("trial", trial, 0, MOST_TRIALS - 1), 0)

    def position(self, depths: Sequence[float] = DEPTHS, trials: int | None = None, seed: int = 1) -> list[Call]:
        """Return one record at each depth, another one in each trial, the others in their order.

        Once all records have been asked for, they come again, now among the others in an order that is drawn. No
        trial is like another: one answer would be counted as two. The default is 32 trials, or as many as there can
        be. Raises `SweepError` for impossible arguments.
        """
        depths, trials, draw = checked_shares("depths", depths), self._trials(trials, TRIALS["move"]), _draw(seed)
        needles = draw.sample(range(len(self)), len(self))
        used: set[tuple[int, ...]] = set()
        calls: list[Call] = []
        for trial in range(trials):
            row = needles[trial % len(self)]
            others = self._others(row)
            while (row, *others) in used:
                draw.shuffle(others)
            used.add((row, *others))
            calls += [self._moved(row, others, depth, trial, seed) for depth in depths]
        return calls

    def rows(self, trials: int | None = None, seed: int = 1) -> list[Call]:
        """Return every row asked in turn: first in the list's own order, in each further trial in one that is drawn.

        No order comes twice. The default is one trial. Raises `SweepError` for impossible arguments.
        """
        trials, draw, order = self._trials(trials, TRIALS["rows"]), _draw(seed), list(range(len(self)))
        used: set[tuple[int, ...]] = set()
        calls: list[Call] = []
        for trial in range(trials):
            while tuple(order) in used:
                draw.shuffle(order)
            used.add(tuple(order))
            listed = self._listed(order)
            depths = [row / max(1, len(self) - 1) for row in range(len(self))]
            calls += [self._call("rows", listed, row, depth, trial, seed) for row, depth in enumerate(depths)]
        return calls

    @property
    def most_trials(self) -> int:
        """How many trials are possible: as many as the list has different orders, up to a limit."""
        return min(MOST_TRIALS, math.factorial(min(len(self), 8)))

    def _trials(self, trials: int | None, usual: int) -> int:
        most = self.most_trials
        if isinstance(trials, int) and trials > most and most < MOST_TRIALS:
            raise SweepError(f"trials={trials}: a list of {len(self)} can be asked in {most} different ways, no more")
        return min(usual, most) if trials is None else checked_count("trials", trials, 1, most)

    def _others(self, row: int) -> list[int]:
        return [other for other in range(len(self)) if other != row]

    def _moved(self, row: int, others: Sequence[int], depth: float, trial: int, seed: int) -> OwnCall:
        slot = round(depth * len(others))
        return self._call("position", self._listed([*others[:slot], row, *others[slot:]]), slot, depth, trial, seed)

    def _listed(self, order: Sequence[int]) -> _Listed:
        return _Listed(tuple(order), tuple(self.lines[n] for n in order), tuple(self.answers[n] for n in order))

    def _call(self, experiment: str, listed: _Listed, row: int, depth: float, trial: int, seed: int) -> OwnCall:
        record = listed.order[row]
        return OwnCall(
            experiment=experiment,
            trial=trial,
            seed=trial_seed(seed, trial),
            records=len(self),
            share=1.0,
            depth=depth,
            row=row,
            needle=self.places[record],
            right=self.answers[record],
            owner=self.names[record],
            lines=listed.lines,
            asked=self.questions[record],
            values=listed.values,
        )


def _draw(seed: int) -> random.Random:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise SweepError(f"seed={seed!r}: a seed is a whole number from 0 up")
    return random.Random(seed)


def read_records(source: str | Path | DataFrame, sentence: str, question: str, answer: str) -> OwnRecords:
    """Read records from a CSV file, CSV lines or a DataFrame, and write each as a sentence.

    ``sentence`` and ``question`` are templates: a column's name in braces stands for its value (``{{`` and ``}}`` for
    braces). ``answer`` names the column whose value is asked for. Values stay the text that they are, ``007`` too;
    see `read_table` for files.

    Raises `OwnError`, with line and column, for what no experiment can be made of: an unknown or repeated column, a
    cell that is empty or has a line break, a sentence without its answer, a question that gives it away, and
    questions or answers that two records share.

    >>> text = "name,room\\nAda,007\\nBo,12\\n"
    >>> rooms = read_records(text, "{name} sits in room {room}.", "Where is {name}?", "room")
    >>> rooms.lines[0], rooms.call(0, depth=1.0).lines[0]
    ('Ada sits in room 007.', 'Bo sits in room 12.')
    >>> rooms.call(0, depth=1.0).score("In room 12.").kind
    'other record'
    """
    spoken, asked = columns_of("sentence", sentence), columns_of("question", question)
    if answer in asked:
        raise OwnError(f"the question holds {{{answer}}}, which is the answer: ask without it")
    names = list(dict.fromkeys([*spoken, *asked, answer]))
    table = read_table(source, names)
    records = table.columns(names)
    for place, record in zip(table.places, records, strict=True):
        for column, value in record.items():
            _check_cell(f"{table.name}, {place}, column {column!r}", value)
    found = OwnRecords(
        places=table.places,
        names=tuple(", ".join(record[column] for column in dict.fromkeys(asked)) for record in records),
        lines=tuple(filled(sentence, record) for record in records),
        questions=tuple(filled(question, record) for record in records),
        answers=tuple(record[answer] for record in records),
    )
    for place, line, asks, value in zip(found.places, found.lines, found.questions, found.answers, strict=True):
        if first_value(line, [value]) is None:
            raise OwnError(
                f"{table.name}, {place}: the sentence {shown(line)} does not hold the answer {shown(value)} as a word "
                f"of its own: write {{{answer}}} in it"
            )
        if first_value(asks, [value]) is not None:
            raise OwnError(
                f"{table.name}, {place}: the question {shown(asks)} holds the answer {shown(value)}: ask without it"
            )
    _check_distinct(table.name, found.places, "question", found.questions, str)
    _check_distinct(table.name, found.places, f"answer (column {answer!r})", found.answers, _alike)
    return found


def _check_cell(where: str, value: str) -> None:
    if not value.strip():
        raise OwnError(f"{where} is empty: fill it in, or leave the record out")
    if "\n" in value or "\r" in value:
        raise OwnError(f"{where} has a line break: a record is one line")
    try:
        checked_string(value, where)
    except MessageError as error:
        raise OwnError(str(error)) from None


def _alike(value: str) -> str:
    return " ".join(folded(value).split())


def _check_distinct(
    name: str, places: Sequence[str], what: str, values: Sequence[str], alike: Callable[[str], str]
) -> None:
    seen: dict[str, str] = {}
    for place, value in zip(places, values, strict=True):
        if alike(value) in seen:
            raise OwnError(
                f"{name}, {seen[alike(value)]} and {place}: the same {what}, {shown(value)}; make them differ, or "
                "nobody could tell which record is meant"
            )
        seen[alike(value)] = place
