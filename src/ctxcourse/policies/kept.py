"""Policies that keep a part of what was said, word for word, and write nothing of their own but stubs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxcourse.history import Compressor, Elision, SlidingWindow, joined
from ctxcourse.history.protocol import checked_size
from ctxcourse.messages import Message, paired, split_system, steps, turns
from ctxcourse.plain import shown
from ctxcourse.policies.protocol import Kept, PolicyError, Stateless
from ctxcourse.tokens import Counter


@dataclass(frozen=True)
class FullHistory(Stateless):
    """Everything, at every call."""

    name: str = "full history"

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return a copy of the conversation."""
        return Kept(paired(messages))


@dataclass(frozen=True)
class ByCompressor(Stateless):
    """What a compressor of `ctxcourse.history` leaves of the whole conversation, made afresh at every call.

    It suits compressors that ask nobody: a rolling summary would be written again at each call, see `Compaction`.

    >>> from ctxcourse.history import Truncation
    >>> memory = ByCompressor("the last 40 tokens", Truncation(40)).start()
    >>> memory.prompt([{"role": "user", "content": "Hi"}], tok).messages
    [{'role': 'user', 'content': 'Hi'}]
    """

    name: str
    compressor: Compressor

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return what the compressor makes of the conversation, with its notes."""
        made = self.compressor.compress(messages, counter)
        return Kept(made.messages, notes=made.notes)


def sliding_window(last: int = 12) -> ByCompressor:
    """Return the policy that keeps the last messages, whole steps, behind the opening system message.

    Once it slides, the first message behind the system message is another one at each call, so that a prefix cache
    has only the system message and the tools to give.
    """
    return ByCompressor("sliding window", SlidingWindow(last))


def elided_results(after: int = 4) -> ByCompressor:
    """Return the policy that puts a stub of one line in place of tool results older than the newest turns.

    The stub says what was there, how long it was, and how to get it back.
    """
    return ByCompressor("elided tool results", Elision(after))


@dataclass(frozen=True)
class UserMessages(Stateless):
    """All that the user ever said, and the newest ``last`` turns whole.

    Of older turns everything else goes: answers, calls with their results, and system messages in between.

    >>> talk = [{"role": role, "content": f"{role} {n}"} for n in range(3) for role in ("user", "assistant")]
    >>> [message["content"] for message in UserMessages(last=1).prompt(talk, tok).messages]
    ['user 0', 'user 1', 'user 2', 'assistant 2']
    """

    last: int = 4
    name: str = "user messages + last turns"

    def __post_init__(self) -> None:
        object.__setattr__(self, "last", checked_size(self.last, "the number of turns kept whole"))

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return the opening system messages, the older user messages, and the newest turns."""
        opening, rest = split_system(paired(messages))
        parts = turns(rest)
        old = joined(parts[: -self.last])
        said = [message for message in old if message["role"] == "user"]
        gone = len(old) - len(said)
        notes = (f"{gone} messages of {len(parts) - self.last} older turns left out",) if gone else ()
        return Kept([*opening, *said, *joined(parts[-self.last :])], notes=notes)


@dataclass(frozen=True)
class GivenMessages(Stateless):
    """The control of an experiment: chosen messages and the current turn, and nothing that could distract from them.

    Each of ``given`` is the index of a message, whose step is kept whole. What has not been said yet is not there yet.

    >>> talk = [{"role": "user", "content": text} for text in ("It rains.", "It is May.", "How is the weather?")]
    >>> [message["content"] for message in GivenMessages([0]).prompt(talk, tok).messages]
    ['It rains.', 'How is the weather?']
    """

    given: Sequence[int]
    name: str = "control"

    def __post_init__(self) -> None:
        for one in self.given:
            if isinstance(one, bool) or not isinstance(one, int) or one < 0:
                raise PolicyError(f"a given message is named by its index, from 0 up, not by {shown(one)}")
        object.__setattr__(self, "given", tuple(self.given))

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return the opening system messages, the given messages in their order, and the current turn."""
        whole = paired(messages)
        opening, rest = split_system(whole)
        wanted = set(self.given)
        current = len(whole) - len(_current_turn(rest))
        made, at = [], 0
        for step in steps(whole):
            end = at + len(step)
            if end <= len(opening) or at >= current or wanted & set(range(at, end)):
                made += step
            at = end
        gone = len(whole) - len(made)
        return Kept(made, notes=(f"{gone} messages left out",) if gone else ())


@dataclass(frozen=True)
class SubAgent(Stateless):
    """What a sub-agent sees that was sent for one matter: the system message, a few turns, and the question to it.

    ``first`` and ``last`` are turns, counted from 1, both included; the question is the current turn. An assistant's
    words before the first message of the user are no turn.

    >>> talk = [{"role": "user", "content": f"Turn {number}"} for number in range(1, 9)]
    >>> [message["content"] for message in SubAgent(3, 4).prompt(talk, tok).messages]
    ['Turn 3', 'Turn 4', 'Turn 8']
    """

    first: int
    last: int
    name: str = "sub-agent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", checked_size(self.first, "the first turn of a sub-agent"))
        object.__setattr__(self, "last", checked_size(self.last, "the last turn of a sub-agent"))
        if self.last < self.first:
            raise PolicyError(f"a sub-agent sees the turns from {self.first} to {self.last}, which are none: swap them")

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return the opening system messages, the turns and the current one."""
        opening, rest = split_system(paired(messages))
        parts = turns(rest)
        greeting = int(bool(rest) and rest[0]["role"] != "user")  # said before the first turn, so it is turn 0
        seen = [*parts[:-1][self.first - 1 + greeting : self.last + greeting], *parts[-1:]]
        gone = len(parts) - len(seen)
        notes = (f"{gone} of {len(parts)} turns left out",) if gone else ()
        return Kept([*opening, *joined(seen)], notes=notes)


def _current_turn(rest: list[Message]) -> list[Message]:
    """Return the last turn of a conversation without its opening system messages."""
    parts = turns(rest)
    return parts[-1] if parts else []
