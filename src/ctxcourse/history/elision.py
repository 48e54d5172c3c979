"""Old tool results replaced by stubs: what a tool returned once it can return again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctxcourse.history.protocol import Compressed, checked_size, joined, parted, step_costs
from ctxcourse.messages import Message, turns
from ctxcourse.pairing import calls_of
from ctxcourse.tokens import Counter

_MARK = "[elided: "


@dataclass(frozen=True)
class Elision:
    """Replace the tool results older than the newest ``after`` turns by a stub of one line, where that gains tokens.

    A turn is a user message and everything up to the next. The stub says what was there, how long it was and how to get
    it back; the call stays. A result that is hardly longer than its stub is left alone, and a stub is never replaced.

    >>> Elision(after=4).compress([], tok).messages
    []
    """

    after: int = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "after", checked_size(self.after, "the number of turns kept whole"))

    def compress(self, messages: Any, counter: Counter) -> Compressed:
        """Return the conversation with its old results elided; an unchanged copy where there are none."""
        opening, units = parted(messages)
        rest = joined(units)
        before = counter.count_prompt([*opening, *rest])
        old = sum(map(len, turns(rest)[: -self.after]))
        cleared, dropped = elided(rest[:old], counter)
        if not dropped:
            return Compressed([*opening, *rest], before, before)
        made = [*opening, *cleared, *rest[old:]]
        notes = (f"{dropped} old tool results elided",)
        return Compressed(made, before, counter.count_prompt(made), dropped=dropped, notes=notes)


def elided(messages: Sequence[Message], counter: Counter) -> tuple[list[Message], int]:
    """Return the messages, whole steps, with every tool result a stub where this gains tokens, and how many there are.

    The gain is the difference of two renders of the result behind its call.
    """
    made: list[Message] = []
    calls: dict[str, dict[str, Any]] = {}
    number = 0
    for message in messages:
        calls.update((call["id"], call) for call in calls_of(message))
        made.append(message)
        if message["role"] != "tool" or message["content"].startswith(_MARK):
            continue
        call = calls[message["tool_call_id"]]
        name = " ".join(call["function"]["name"].split())
        size = counter.count_text(message["content"])
        stub = {**message, "content": f"{_MARK}{size:,} tokens of {name}; call it again to see them]"}
        asking = {"role": "assistant", "content": "", "tool_calls": [call]}
        whole, short = step_costs([[asking, message], [asking, stub]], counter)
        if short < whole:
            made[-1] = stub
            number += 1
    return made, number
