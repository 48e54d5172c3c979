"""What a run is billed: the buckets of every call's prompt, their running sum, and what a prefix cache would not spare.

Every size is that of a whole render, or the difference of two, see `ctxcourse.tokens`. What this module does not do:
say which tool spent what (see `ctxcourse.agent.tool_use`), or bill the probes of an experiment, which are no part of a
run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from ctxcourse.agent.transcript import Transcript
from ctxcourse.errors import CourseError
from ctxcourse.messages import Message, Tool, normalise_tools, paired
from ctxcourse.model.tree import shared
from ctxcourse.plain import MessageError, shown
from ctxcourse.tokens import Counter, buckets

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


class Encoder(Counter, Protocol):
    """A counter that also gives the tokens themselves: the course's tokenizer and its model for two."""

    def encode_prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> list[int]:
        """Return the token ids of the rendered prompt, as many as ``count_prompt`` says."""


def bill(transcript: Transcript, counter: Encoder) -> Bill:
    """Return what a run is billed when every call is sent the whole conversation so far, with all tools.

    Raises AccountingError for a counter without ``encode_prompt``.
    """
    calls = transcript.calls()
    answers = [_answer_tokens(transcript.messages[call.index], counter) for call in calls]
    prompts = [transcript.prompt(call) for call in calls]
    made = _billed(prompts, transcript.tools, counter, [call.turn for call in calls], [0] * len(calls), answers)
    return Bill(made, transcript.provenance)


def bill_of_prompts(
    prompts: Sequence[list[Message]],
    tools: Any,
    counter: Encoder,
    turns: Sequence[int] | None = None,
    helper_tokens: Sequence[int] | None = None,
) -> Bill:
    """Return what a run is billed whose calls are sent these prompts, such as a policy made of a conversation.

    The prompts need not grow: what a policy changes near the beginning is what a prefix cache has to compute again.
    ``turns`` are the turns of the calls and ``helper_tokens`` the helpers' prompt tokens for each; both have one number
    a prompt. Raises AccountingError where they have not, for a number below zero and for a counter without
    ``encode_prompt``; MessageError for a prompt that is no conversation.
    """
    count = len(prompts)
    helpers = [0] * count if helper_tokens is None else _numbers("helper_tokens", helper_tokens, count)
    of_turn = [None] * count if turns is None else _numbers("turns", turns, count)
    return Bill(_billed(prompts, tools, counter, of_turn, helpers, [None] * count))


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


def _billed(
    prompts: Sequence[list[Message]],
    tools: Any,
    counter: Encoder,
    turns: Sequence[int | None],
    helpers: Sequence[int],
    answers: Sequence[int | None],
) -> tuple[BilledCall, ...]:
    check_encoder(counter)
    catalogue, renders = normalise_tools(tools), Remembering(counter)
    made: list[BilledCall] = []
    before: list[int] = []
    so_far = 0
    for number, prompt in enumerate(prompts, start=1):
        try:
            ready = paired(prompt)
        except MessageError as error:
            raise MessageError(f"prompt {number}: {error}") from None
        ids = renders.encode_prompt(ready, catalogue)
        parts = buckets(ready, catalogue, renders)
        so_far += len(ids) + helpers[number - 1]
        made.append(
            BilledCall(
                call=number,
                turn=turns[number - 1],
                **asdict(parts),
                prompt_tokens=parts.total,
                helper_tokens=helpers[number - 1],
                billed_so_far=so_far,
                recomputed=len(ids) - shared(before, ids),
                output_tokens=answers[number - 1],
            )
        )
        before = ids
    return tuple(made)


def check_encoder(counter: Any) -> None:
    """Raise AccountingError for a counter that gives no tokens."""
    if not hasattr(counter, "encode_prompt"):
        raise AccountingError(
            f"a {type(counter).__name__} has no encode_prompt(messages, tools), without which nobody can say what a "
            "prefix cache would spare: use load_tokenizer(), or add that method"
        )


class Remembering:
    """A counter that counts each text and each prompt once, and what it has encoded not at all.

    Of the four renders of a call two are new; and every setting of a policy has the whole conversation counted before
    each call, and elision the same results too.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._texts: dict[str, int] = {}
        self._prompts: dict[bytes, int] = {}
        self.token_spans = encoder.token_spans

    def count_text(self, text: str) -> int:
        """Return the tokens of plain text."""
        if text not in self._texts:
            self._texts[text] = self._encoder.count_text(text)
        return self._texts[text]

    def encode_prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> list[int]:
        """Return the token ids of the rendered prompt, whose number is remembered."""
        ids = self._encoder.encode_prompt(messages, tools)
        self._prompts[_key(messages, tools)] = len(ids)
        return ids

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> int:
        """Return the tokens of the rendered prompt; a digest of what it is made of is remembered, not the prompt."""
        key = _key(messages, tools)
        if key not in self._prompts:
            self._prompts[key] = self._encoder.count_prompt(messages, tools)
        return self._prompts[key]


def _key(messages: Sequence[Message], tools: Sequence[Tool] | None) -> bytes:
    return hashlib.sha256(json.dumps([messages, tools or []]).encode()).digest()


def _answer_tokens(answer: Message, counter: Counter) -> int:
    return counter.count_prompt([answer]) - counter.count_prompt([{"role": "assistant", "content": ""}])


def _numbers(name: str, given: Sequence[int], count: int) -> list[int]:
    """Return numbers as Python's own; those of numpy, as tables hold them, are whole numbers too."""
    if len(given) != count:
        raise AccountingError(f"{name} has {len(given)} numbers for {count} prompts: give one for each")
    for number in given:
        if isinstance(number, bool) or not hasattr(number, "__index__") or int(number) < 0:
            raise AccountingError(f"{name} holds {shown(number)}: each is a whole number from 0 up")
    return [int(number) for number in given]


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
