"""Conversations that outgrow their room: their units, what each unit costs, and what every compressor returns.

The unit is the *step*: an assistant message with its tool calls and all their results, or any other single message.
A compressor keeps a step, leaves it out or shortens the texts in it, and never takes it apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

from ctxcourse.errors import CourseError
from ctxcourse.messages import Message, paired, split_system, steps, turns
from ctxcourse.plain import kind, shown
from ctxcourse.tokens import Counter

__all__ = [
    "Compressed",
    "Compressor",
    "HistoryError",
    "Shorten",
    "checked_size",
    "joined",
    "newest",
    "parted",
    "step_costs",
    "steps",
    "turns",
]

_FRAME: Message = {"role": "system", "content": ""}


class HistoryError(CourseError, ValueError):
    """A history that cannot be made to fit, or a compressor with sizes that cannot hold; the text says by how much."""


@dataclass(frozen=True)
class Compressed:
    """What a compressor made of a conversation.

    ``messages`` is the new conversation, in the form of `normalise`, which shares nothing with the old one. Sizes are
    tokens of whole renders, without tools: ``tokens_before`` of the old conversation, ``tokens_after`` of the new.
    ``spent_tokens`` is what the summariser read and wrote for it, refused answers included. ``dropped`` counts the old
    messages that are no longer there in full: left out, shortened, or replaced by a summary or a stub. ``notes`` says
    in words what was done. ``no_summary`` is true where a summary was due and something else had to do.
    """

    messages: list[Message]
    tokens_before: int
    tokens_after: int
    spent_tokens: int = 0
    dropped: int = 0
    notes: tuple[str, ...] = ()
    no_summary: bool = False

    @property
    def ratio(self) -> float:
        """The share of the tokens that is left, from 0 to 1; nothing of nothing is 1."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0


class Compressor(Protocol):
    """Whatever makes a conversation smaller: an object with this one method, and nothing else is asked of it.

    Tools are not counted. Where they go with the conversation, take ``catalogue_cost(tools, counter).total`` off the
    budget.
    """

    def compress(self, messages: Any, counter: Counter) -> Compressed:
        """Return a valid conversation no larger than ``messages``; where nothing has to go, an unchanged copy."""


class Shorten(Protocol):
    """Whatever makes a text shorter: a callable of a text, a budget in tokens and a counter, such as `key_sentences`.

    One that asks a helper has the tokens spent so far in an attribute ``spent``, as `RecursiveSummary` does; a summary
    that is refused is a SummaryError. `Shortening` makes a compressor of it.
    """

    def __call__(self, text: str, budget: int, counter: Counter, /) -> str:
        """Return the text in at most ``budget`` tokens."""


def parted(messages: Any) -> tuple[list[Message], list[list[Message]]]:
    """Return the system messages that open a conversation, which compressors keep, and the steps after them.

    Raises MessageError as `check_pairs` does.

    >>> parted([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])[1]
    [[{'role': 'user', 'content': 'Hi'}]]
    """
    opening, rest = split_system(paired(messages))
    return opening, steps(rest)


def joined(*parts: Sequence[Sequence[Message]]) -> list[Message]:
    """Return the messages of steps, in order.

    >>> joined([["a"], ["b", "c"]], [["d"]])
    ['a', 'b', 'c', 'd']
    """
    return [message for units in parts for unit in units for message in unit]


def newest(units: Sequence[list[Message]], last: int) -> int:
    """Return how many of the last steps hold the last ``last`` messages; the oldest of them may hold more.

    >>> call = [{"role": "assistant"}, {"role": "tool"}, {"role": "tool"}]
    >>> newest([[{"role": "user"}], call, [{"role": "assistant"}]], last=2)
    2
    """
    number = held = 0
    for unit in reversed(units):
        if held >= last:
            break
        number, held = number + 1, held + len(unit)
    return number


def step_costs(units: Iterable[Sequence[Message]], counter: Counter) -> Iterator[int]:
    """Yield, one by one, what each step adds to a prompt: a small render for each, so every message is counted once.

    A step's cost is the size of an empty system message followed by the step, less that of the empty system message.
    Where the template writes each step by itself and closes it with a control token, as ChatML does, the whole render
    of a conversation is *exactly* that of its opening plus these costs. Other templates may part from the sum, so it
    is good for choosing what to keep; the prompt that is kept has to be counted again, whole.

    >>> units = [[{"role": "user", "content": "Hi"}], [{"role": "assistant", "content": "Hello!"}]]
    >>> tok.count_prompt([]) + sum(step_costs(units, tok)) == tok.count_prompt([*units[0], *units[1]])
    True
    """
    frame = counter.count_prompt([_FRAME])
    for unit in units:
        yield counter.count_prompt([_FRAME, *unit]) - frame


def checked_size(value: Any, name: str) -> int:
    """Return ``value`` as an int, or raise HistoryError if it is no integer from 1 up.

    >>> checked_size(0, "the budget")
    Traceback (most recent call last):
        ...
    ctxcourse.history.protocol.HistoryError: the budget must be at least 1, not 0 ...
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise HistoryError(f"{name} must be an integer, not {kind(value)}: {shown(value)}")
    if value < 1:
        raise HistoryError(f"{name} must be at least 1, not {int(value):,} ({1 - int(value):,} too small): raise it")
    return int(value)
