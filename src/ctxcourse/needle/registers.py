"""One fact among lookalikes: a register of tickets, a question about one owner, and what the answer was.

Every record is one sentence in one pattern, so that the right number has as many rivals as there are other
records. The pattern was chosen by the size of its prompts alone (about 31.5 tokens a record and 65 for the
rest) and is not tuned on how well a model answers. What this module does not do: run many trials, or draw
them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ctxcourse.errors import CourseError
from ctxcourse.needle.owners import OWNERS

if TYPE_CHECKING:
    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model

Kind = Literal["hit", "other record", "neither"]

KINDS: tuple[Kind, ...] = ("hit", "other record", "neither")
SYMBOLS: dict[Kind, str] = {"hit": "✓", "other record": "⇄", "neither": "✗"}
DEPTHS: tuple[float, ...] = tuple(eighth / 8 for eighth in range(9))
LONGEST = 140
NEW_TOKENS = 12

SYSTEM = (
    "You look up telephone extensions in a register of open tickets. "
    "Each line of the register names one ticket, its owner and the extension of that owner."
)
SENTENCE = (
    "Ticket {ticket} is currently assigned to {owner}, who can be reached by phone at internal extension {extension}."
)
QUESTION = "What is the internal extension of {owner}? Answer with the four digits and nothing else."

# A number is a run of digits; a thousands separator joins it only where exactly three digits follow each one.
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?:[,.'’_\u00a0\u2009\u202f]\d{3})+(?!\d)|\d+")
_EXTENSION = re.compile(r"[0-9]{4}")


class RegisterError(CourseError, ValueError):
    """A register, a row or a depth that cannot be: the message says which and what is possible."""


@dataclass(frozen=True)
class Record:
    """One ticket, its owner, and the owner's four-digit extension (text: it is read, not added up)."""

    ticket: str
    owner: str
    extension: str

    @property
    def line(self) -> str:
        """The record as its sentence in the register."""
        return SENTENCE.format(ticket=self.ticket, owner=self.owner, extension=self.extension)


@dataclass(frozen=True)
class Register:
    """Records in the order in which the model reads them; no ticket, owner or extension occurs twice.

    Raises `RegisterError` for an empty register, for duplicates, and for an extension that is not four
    digits.

    >>> Register((Record("INC-10001", "Ada Ives", "2201"),)).lines[0][:43]
    'Ticket INC-10001 is currently assigned to A'
    """

    records: tuple[Record, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", tuple(self.records))
        if not self.records:
            raise RegisterError("a register needs at least one record, and this one has none")
        for field in ("ticket", "owner", "extension"):
            seen: dict[str, int] = {}
            for row, record in enumerate(self.records):
                value = getattr(record, field)
                if field == "extension" and not _EXTENSION.fullmatch(value):
                    raise RegisterError(f"row {row}: extension {value!r} is not four digits from 0 to 9")
                if value in seen:
                    raise RegisterError(
                        f"rows {seen[value]} and {row} have the same {field}, {value!r}: make them differ, "
                        "or the question has two right answers"
                    )
                seen[value] = row

    def __len__(self) -> int:
        return len(self.records)

    @property
    def lines(self) -> list[str]:
        """One sentence per record, in order."""
        return [record.line for record in self.records]

    def text(self) -> str:
        """The register as the model reads it: one sentence a line."""
        return "\n".join(self.lines)

    def row(self, row: int) -> Record:
        """Return the record of a row, counted from 0; raises `RegisterError` where there is none."""
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < len(self):
            raise RegisterError(f"row {row!r}: this register has rows 0 to {len(self) - 1}")
        return self.records[row]

    def slot(self, depth: float) -> int:
        """Return the row of a depth, ``round(depth × (N − 1))``; depth 0 is the first row and 1 the last.

        >>> [register(records=25).slot(depth) for depth in (0, 1 / 8, 1 / 2, 1)]
        [0, 3, 12, 24]
        """
        if not (isinstance(depth, int | float) and math.isfinite(depth) and 0 <= depth <= 1):
            raise RegisterError(f"depth {depth!r}: it is a number from 0 (first row) to 1 (last row)")
        return round(depth * (len(self) - 1))

    def move(self, row: int, depth: float) -> Register:
        """Return a register with one record moved to ``slot(depth)`` and all others in their old order."""
        record = self.row(row)
        others = [*self.records[:row], *self.records[row + 1 :]]
        others.insert(self.slot(depth), record)
        return Register(tuple(others))


def register(records: int = 25, seed: int = 1) -> Register:
    """Draw a register: the same seed gives the same one, and a shorter one is the beginning of a longer one.

    Tickets are five digits after ``INC-``, extensions four that stand in none of the tickets drawn.
    Raises `RegisterError` for fewer than 1 or more than 140 records, or a seed that is no whole number from 0 up.

    >>> register(records=2, seed=1).records == register(records=140, seed=1).records[:2]
    True
    """
    if isinstance(records, bool) or not isinstance(records, int) or not 1 <= records <= LONGEST:
        raise RegisterError(f"records={records!r}: a register has from 1 to {LONGEST} records")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise RegisterError(f"seed={seed!r}: a seed is a whole number from 0 up")
    draw = random.Random(seed)
    tickets = draw.sample(range(10_000, 100_000), LONGEST)
    owners = draw.sample(OWNERS, LONGEST)
    inside_tickets = {number for ticket in tickets for number in (ticket // 10, ticket % 10_000)}
    free = [number for number in range(1_000, 10_000) if number not in inside_tickets]
    drawn = zip(tickets, owners, draw.sample(free, LONGEST), strict=True)
    everybody = [Record(f"INC-{ticket}", owner, str(extension)) for ticket, owner, extension in drawn]
    return Register(tuple(everybody[:records]))


def question(register: Register, row: int) -> str:
    """Return the question about the extension of one row's owner."""
    return QUESTION.format(owner=register.row(row).owner)


def messages(register: Register, row: int) -> list[dict[str, Any]]:
    """Return the prompt as messages: what the register is, the register, and the question about one row.

    >>> [message["role"] for message in messages(register(records=3), row=0)]
    ['system', 'user']
    """
    return prompt(register.lines, question(register, row))


def prompt(lines: Sequence[str], asked: str) -> list[dict[str, Any]]:
    """Return the same prompt of any lines and a question: lines that are no records may be among them."""
    content = "The register:\n" + "\n".join(lines) + f"\n\n{asked}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


def numbers(text: str) -> list[str]:
    """Return every number in a text as plain digits, in order.

    A number is an unbroken run of digits, of any script. Thousands separators (comma, point, apostrophe,
    underscore, no-break and thin space) belong to it where one to three digits stand before the first and
    exactly three after each; an ordinary space never joins.

    >>> numbers("INC-48213: extension 7,305, or 73 05")
    ['48213', '7305', '73', '05']
    """
    runs = (match.group() for match in _NUMBER.finditer(text))
    return ["".join(str(int(character)) for character in run if character.isdecimal()) for run in runs]


def first_extension(answer: str, asked: str = "") -> str | None:
    """Return the first number of exactly four digits in an answer, the question itself set aside, or None.

    Shorter and longer runs of digits (a ticket, a number with a digit too many) are passed over: five
    digits never count as four of them.
    """
    if asked:
        answer = answer.replace(asked, " ")
    return next((number for number in numbers(answer) if len(number) == 4), None)


def classify(answer: str, register: Register, row: int) -> Kind:
    """Return what an answer is: ``hit``, ``other record`` or ``neither``.

    The rules, in order: the question repeated word for word is set aside; the first number of exactly four
    digits counts, and whatever follows it does not (see `numbers` for what a number is); it is a ``hit`` if
    it is the extension of the row, ``other record`` if it is another row's, and ``neither`` if it is
    nobody's or if there is no such number at all.

    >>> three = register(records=3, seed=1)
    >>> right, wrong = three.records[0].extension, three.records[2].extension
    >>> [classify(answer, three, row=0) for answer in (f"It is {right}, not {wrong}.", wrong, "")]
    ['hit', 'other record', 'neither']
    """
    return _judged(answer, register, row).kind


def _judged(answer: str, register: Register, row: int) -> Score:
    return judge(answer, question(register, row), [record.extension for record in register.records], row)


class Score(NamedTuple):
    """What an answer is: its kind, the value found in it (or None), and the row that holds this value (or None)."""

    kind: Kind
    found: str | None
    found_row: int | None


def score(found: str | None, values: Sequence[str | None], row: int) -> Score:
    """Return what a found value is, where each line holds one of ``values`` (or None), and ``row`` the right one.

    >>> score("4411", ["7305", None, "4411"], row=0)
    Score(kind='other record', found='4411', found_row=2)
    """
    if found is None or found not in values:
        return Score("neither", found, None)
    if found == values[row]:
        return Score("hit", found, row)
    return Score("other record", found, values.index(found))


def judge(answer: str, asked: str, values: Sequence[str | None], row: int) -> Score:
    """Return what an answer to the question ``asked`` is, by the rules of `classify`."""
    return score(first_extension(answer, asked), values, row)


@dataclass(frozen=True)
class Outcome:
    """One answer, its kind, the number found in it (or None), the right one, and the model's `Completion`."""

    answer: str
    kind: Kind
    found: str | None
    right: str
    completion: Completion

    @property
    def symbol(self) -> str:
        """The sign that stands for the kind wherever colour might not be seen: ✓, ⇄ or ✗."""
        return SYMBOLS[self.kind]

    def __repr__(self) -> str:
        size = f"{self.completion.prompt_tokens:,} prompt tokens, {self.completion.seconds:.1f} s"
        return f"{self.symbol} {self.kind}: the answer {self.answer!r}, the right number {self.right} ({size})"


def ask(model: Model, register: Register, row: int, *, should_stop: Callable[[], bool] = lambda: False) -> Outcome:
    """Ask the model for the extension of one row's owner (12 new tokens, greedy) and classify the answer.

    ``should_stop`` is looked at while the model computes; once it returns true, the model's `Cancelled` is
    raised.
    """
    completion = model.complete(messages(register, row), max_new_tokens=NEW_TOKENS, should_stop=should_stop)
    kind, found, _ = _judged(completion.text, register, row)
    return Outcome(completion.text, kind, found, register.row(row).extension, completion)
