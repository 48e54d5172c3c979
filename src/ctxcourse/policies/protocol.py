"""Memory policies: what each call to a model is given of the conversation so far.

A compressor (see `ctxcourse.history`) makes one conversation smaller. A policy decides at *every* call of a run, so it
may have a memory of its own, and helpers (a summariser, a note-taker) whose prompts are billed like any other. What
this module does not do: ask the model that the prompts are for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ctxcourse.errors import CourseError
from ctxcourse.messages import Message, normalise
from ctxcourse.plain import kind, shown
from ctxcourse.tokens import Counter

Helper: TypeAlias = Callable[[list[Message]], str]
"""A model in a helper's place: it is given the messages of a prompt and returns the text of its answer."""


class PolicyError(CourseError, ValueError):
    """A policy or a replay that cannot be: the text says what is wrong, with which value, and what to do."""


@dataclass(frozen=True)
class Kept:
    """What one call to the model is given.

    ``messages`` is a valid conversation, in the form of `normalise`, which shares nothing with what came in.
    ``helper_tokens`` are the prompts of the ``helper_calls`` that were made for this prompt, in tokens: they belong to
    the billed input. ``notes`` says in words what was done. ``no_summary`` is true where a summary was due for this
    prompt and none came of it: it was refused, or there was no room for one.
    """

    messages: list[Message]
    helper_tokens: int = 0
    notes: tuple[str, ...] = ()
    helper_calls: int = 0
    no_summary: bool = False


class Memory(Protocol):
    """What a policy remembers in one run.

    ``copy.copy(memory)`` must be a memory that goes on by itself, which is the case where ``prompt`` gives its
    attributes new values and never changes the old ones in place. Probes need that: each is asked of a copy.
    """

    def prompt(self, messages: list[Message], counter: Counter) -> Kept:
        """Return what the model is given of a conversation that ends right before it is called.

        It is asked once for each call, in order, always with the whole conversation, which has grown since.
        """


class Policy(Protocol):
    """A rule for what is kept, under a name that tables and plots show."""

    @property
    def name(self) -> str:
        """The name, such as ``"sliding window"``."""

    def start(self) -> Memory:
        """Return a fresh memory for one run."""


class Stateless:
    """A policy that looks at the conversation and nothing else, and so is its own memory."""

    def start(self: Any) -> Memory:
        """Return the policy itself: there is nothing to remember."""
        memory: Memory = self
        return memory


def replay(messages: Any, policy: Policy, counter: Counter, call_indices: Iterable[int]) -> list[Kept]:
    """Return what a policy would have given the model at each call of a recorded conversation.

    ``call_indices`` are the places of the assistant messages that the calls brought forth, in order; each prompt is
    made of what stands before it. The length of the conversation is the place of a call that is yet to be made. The
    recording does not change: every policy is shown the same, whatever the model would have said to *its* prompts.

    Raises PolicyError for an index at which no call was made, MessageError for messages that are no valid conversation,
    and whatever a helper raises.

    >>> from ctxcourse.policies import FullHistory
    >>> talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
    >>> [len(kept.messages) for kept in replay(talk, FullHistory(), tok, [1, 2])]
    [1, 2]
    """
    return replayed(messages, policy, counter, call_indices)[0]


def replayed(
    messages: Any,
    policy: Policy,
    counter: Counter,
    call_indices: Iterable[int],
    before_each: Callable[[], None] = lambda: None,
) -> tuple[list[Kept], Memory]:
    """Return what `replay` returns, and the memory as it is then, which goes on from there.

    ``before_each`` is called before each prompt is made; whatever it raises ends the replay.
    """
    whole = normalise(messages)
    memory = policy.start()
    kept = []
    for index in checked_calls(whole, call_indices):
        before_each()
        kept.append(memory.prompt(whole[:index], counter))
    return kept, memory


def checked_calls(messages: Sequence[Message], call_indices: Iterable[int]) -> list[int]:
    """Return the indices as a list, or raise PolicyError at the first before which no model was called."""
    indices = list(call_indices)
    last = -1
    for index in indices:
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index <= len(messages):
            raise PolicyError(f"a call's index must be an integer from 0 to {len(messages)}, not {shown(index)}")
        if index <= last:
            raise PolicyError(f"the call at {index} comes after that at {last}: give the indices in order, each once")
        if index < len(messages) and messages[index]["role"] != "assistant":
            raise PolicyError(
                f"message {index} is from {messages[index]['role']!r}, so no call to the model ends there: give the "
                "indices of the assistant messages"
            )
        last = index
    return indices


def checked_helper(helper: Any, what: str) -> None:
    """Raise PolicyError unless a helper can be called."""
    if not callable(helper):
        raise PolicyError(f"{what} must be a callable that takes messages, not {kind(helper)}: {shown(helper)}")
