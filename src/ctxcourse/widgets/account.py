"""What a recorded run comes to under a memory policy, for the playground: the same figures as a bill's, call by call.

Nothing is asked of a model. What this module does not do: draw, or wait for anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxcourse.agent.accounting import Encoder
from ctxcourse.agent.probes import FACTS, Fact, Held, held
from ctxcourse.agent.transcript import Call, Transcript
from ctxcourse.errors import CourseError
from ctxcourse.model.tree import shared
from ctxcourse.policies import Policy, replayed
from ctxcourse.tokens import Buckets, buckets


class PlaygroundError(CourseError, ValueError):
    """A recording with which nothing can be played: the text says why."""


@dataclass(frozen=True)
class Account:
    """What a run comes to under one policy, in tokens.

    ``sizes`` are the prompts of the calls, in order; ``recomputed`` is what a cache of the prompt before would have to
    compute; ``last`` is what fills the last prompt of all. ``held`` says for each fact what the first prompt of the
    last turn holds of it, before the agent has said or called anything in that turn.
    """

    sizes: tuple[int, ...]
    recomputed: int
    last: Buckets
    held: tuple[Held, ...]

    @property
    def billed(self) -> int:
        """The billed input tokens of the run."""
        return sum(self.sizes)


def account(
    transcript: Transcript,
    policy: Policy,
    counter: Encoder,
    facts: Sequence[Fact] = FACTS,
    told: Callable[[float], None] = lambda share: None,
) -> Account:
    """Return what a recorded run comes to under a policy that asks nobody.

    ``told`` is given the share of the work that is done, from 0 to 1, twice for each call: when its prompt is due to be
    made, and when it is due to be encoded; whatever it raises ends the count. Raises `PlaygroundError` for a recording
    without calls.
    """
    calls = checked_calls(transcript)
    due = iter(range(2 * len(calls)))

    def tell() -> None:
        told(next(due) / (2 * len(calls)))

    indices = [call.index for call in calls]
    kept = [each.messages for each in replayed(transcript.messages, policy, counter, indices, tell)[0]]
    sizes, recomputed = [], 0
    before: list[int] = []
    for messages in kept:
        tell()
        ids = counter.encode_prompt(messages, transcript.tools)
        sizes.append(len(ids))
        recomputed += len(ids) - shared(before, ids)
        before = ids
    opens = next(place for place, call in enumerate(calls) if call.turn == calls[-1].turn)
    there = tuple(held(fact, kept[opens]) for fact in facts)
    return Account(tuple(sizes), recomputed, buckets(kept[-1], transcript.tools, counter), there)


def checked_calls(transcript: Transcript) -> list[Call]:
    """Return the calls of a recording, or raise `PlaygroundError` where it has none."""
    calls = transcript.calls()
    if not calls:
        raise PlaygroundError(
            f"none of the {len(transcript.messages)} messages is from the assistant, so that no call was made: give "
            "the transcript of a run"
        )
    return calls
