"""A block of text that is always there, whatever the sliding window lets go: at the front, or at the very end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ctxcourse.history import SlidingWindow
from ctxcourse.messages import Message, paired, split_system
from ctxcourse.plain import checked_string
from ctxcourse.policies.protocol import Kept, PolicyError, Stateless
from ctxcourse.tokens import Counter

_NAMES = {"system": "pinned in the system message", "end": "pinned at the end"}


@dataclass(frozen=True)
class Pinned(Stateless):
    """A sliding window of the last ``last`` messages, and a block of text that stands in every prompt.

    The text of the block is an argument, because a person chose it. The policy does not find out what is worth pinning,
    and a score that it earns says where a fact should stand, not that anything knew it would be needed.

    In the ``"system"`` place the block follows the text of the first system message behind an empty line; where there
    is none, it becomes one, and the template's own default goes. At the ``"end"`` it is the last thing that the model
    reads. Where the prompt ends with a message from the user, the block follows its text behind an empty line; where it
    ends with tool results, as it does between the calls of a turn, the block is a message of its own from the user,
    since inside a result it would look like something that a tool returned. It moves on at each call, so a prefix cache
    has to read again whatever it stood in.

    >>> Pinned("Speak softly.", "end").prompt([{"role": "user", "content": "Hi"}], tok).messages
    [{'role': 'user', 'content': 'Hi\\n\\nSpeak softly.'}]
    """

    block: str
    place: Literal["system", "end"] = "system"
    last: int = 12

    def __post_init__(self) -> None:
        if self.place not in _NAMES:
            raise PolicyError(f"a block is pinned in the place 'system' or 'end', not {self.place!r}")
        if not checked_string(self.block, "the pinned block").strip():
            raise PolicyError("the pinned block is empty: give the text that every prompt is to hold")
        SlidingWindow(self.last)  # checks the size

    @property
    def name(self) -> str:
        """The name, which says where the block stands."""
        return _NAMES[self.place]

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return the window's end of the conversation with the block in its place."""
        made = SlidingWindow(self.last).compress(messages, counter)
        whole = made.messages
        if self.place == "system":
            opens = split_system(paired(messages))[0]  # what the window begins with is another matter
            host, rest = (whole[:1], whole[1:]) if opens else ([], whole)
            return Kept([*self._added(host, "system"), *rest], notes=made.notes)
        return Kept([*whole[:-1], *self._added(whole[-1:], "user")], notes=made.notes)

    def _added(self, host: list[Message], role: str) -> list[Message]:
        """Return a message, or none, with the block in it if it has the role, and else beside it in one of its own."""
        if host and host[0]["role"] == role:
            content = host[0]["content"]
            return [{**host[0], "content": f"{content}\n\n{self.block}" if content else self.block}]
        own: Message = {"role": role, "content": self.block}
        return [own, *host] if role == "system" else [*host, own]
