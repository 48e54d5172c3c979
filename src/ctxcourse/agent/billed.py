"""A run's bill: one entry a call to the model, by turn where that is asked for, and what passes what when.

What this module does not do: make a bill (see `ctxcourse.agent.accounting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from pandas import DataFrame


class AccountingError(CourseError, ValueError):
    """A bill that cannot be made, or a question that it cannot answer: the text says which."""


@dataclass(frozen=True)
class BilledCall:
    """One call of a run, in tokens.

    ``turn`` is None where it is not known. The four buckets add up to ``prompt_tokens``. ``helper_tokens`` are the
    prompts of a summariser or note-taker that had to be asked before this call. ``billed_so_far`` is the running sum of
    both: the billed input tokens of the run up to here. ``recomputed`` are the tokens of the prompt behind the longest
    prefix that it shares with the prompt of the call before; the first call computes all of its own. ``output_tokens``
    are those of the answer, as the template writes it and without the markers around it; None where it is not known.
    """

    call: int
    turn: int | None
    system: int
    tools: int
    conversation: int
    tool_results: int
    prompt_tokens: int
    helper_tokens: int
    billed_so_far: int
    recomputed: int
    output_tokens: int | None


@dataclass(frozen=True)
class Bill:
    """The calls of a run, in order, and where the run comes from, which tables carry with them."""

    calls: tuple[BilledCall, ...]
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def billed(self) -> int:
        """The billed input tokens of the run: all its prompts, and those of its helpers."""
        return self.calls[-1].billed_so_far if self.calls else 0

    @property
    def recomputed(self) -> int:
        """The prompt tokens that a prefix cache of the prompt before would have had to compute; helpers left out."""
        return sum(call.recomputed for call in self.calls)

    def frame(self) -> DataFrame:
        """Return the bill as a table, one row a call, with the fields of `BilledCall` as columns.

        The provenance is in ``frame.attrs["provenance"]``.
        """
        return _frame(self, self.calls)


def at_turns(made: Bill) -> DataFrame:
    """Return the last call of every turn, one row a turn, with the columns of `Bill.frame`.

    That is what published figures *by turn* mean: the longest prompt of the turn, with its tool results in it. Raises
    AccountingError for a bill that does not say which turn its calls belong to.
    """
    return _frame(made, _last_calls(made))


def passes(made: Bill, bucket: str, other: str) -> int | None:
    """Return the first turn at whose last call one bucket holds more tokens than another, None where it never does.

    Either may also be ``prompt_tokens`` or another column that holds numbers. Raises AccountingError for a column that
    there is not, and as `at_turns` does.

    >>> calls = [
    ...     BilledCall(turn, turn, 85, 1_817, 50 * turn, 400 * turn, 1_902 + 450 * turn, 0, 0, 0, None)
    ...     for turn in range(1, 41)
    ... ]
    >>> passes(Bill(tuple(calls)), "tool_results", "tools"), passes(Bill(tuple(calls)), "conversation", "tools")
    (5, 37)
    """
    names = [one.name for one in fields(BilledCall) if one.name not in ("call", "turn", "output_tokens")]
    for name in (bucket, other):
        if name not in names:
            raise AccountingError(f"a bill has no column {name!r} to compare; it has {', '.join(names)}")
    return next((call.turn for call in _last_calls(made) if getattr(call, bucket) > getattr(call, other)), None)


def _last_calls(made: Bill) -> list[BilledCall]:
    last: dict[int, BilledCall] = {}
    for call in made.calls:
        if call.turn is None:
            raise AccountingError(
                f"this bill does not say which turn call {call.call} belongs to: give bill_of_prompts the turns"
            )
        last[call.turn] = call
    return list(last.values())


def _frame(made: Bill, calls: Sequence[BilledCall]) -> DataFrame:
    from pandas import DataFrame

    names = [one.name for one in fields(BilledCall)]
    types = {name: "Int64" if name in ("turn", "output_tokens") else "int64" for name in names}
    frame = DataFrame([[getattr(call, name) for name in names] for call in calls], columns=names).astype(types)
    frame.attrs["provenance"] = dict(made.provenance)
    return frame
