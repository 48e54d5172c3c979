"""All policies on one recorded run: what each is billed, and what it still knows.

The recording does not change between policies: only what each keeps of it does. Helpers (summariser, note-taker) are
the model itself, their answers remembered, so that a comparison goes on where it was interrupted. What this module does
not do: say what a policy keeps (see `ctxcourse.policies`) or what an answer is (see `ctxcourse.agent.probes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ctxcourse.agent.accounting import Bill, bill_of_prompts
from ctxcourse.agent.probes import before_last_turn, planted
from ctxcourse.errors import CourseError
from ctxcourse.policies import (
    NOTE_TOKENS,
    SUMMARY_TOKENS,
    GivenMessages,
    Helper,
    Policy,
    SubAgent,
    replay,
    standard_policies,
)
from ctxcourse.tables import Table
from ctxcourse.tokens import catalogue_cost

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.agent.transcript import Call, Transcript
    from ctxcourse.messages import Message, Tool
    from ctxcourse.model.qwen import Model

BILLS = Table(
    name="the bills",
    columns={
        "policy": "string",
        "prompts": "Int64",
        "billed_tokens": "Int64",
        "helper_tokens": "Int64",
        "helper_calls": "Int64",
        "no_summary": "Int64",
        "recomputed_tokens": "Int64",
        "last_prompt": "Int64",
    },
    unit="policy",
)
"""One row a policy, see `bills`."""
PINNED = (
    "What must not be lost:\n"
    "- Every ticket is filed under employee number 4417.\n"
    "- The affected shard is pay-shard-7, confirmed by the payments team."
)
"""The pinned block. A person wrote it who knew what would be asked for: that is the policy's strength and its limit."""
COMPACTED_AT = 5_000
"""The tokens of a prompt, tools included, past which both compactions set in, as far as the tools leave them room."""
LEAST_COMPACTED_AT = 1_000
"""The threshold, without tools, where those take nearly all of it."""
ROOM = 2
"""How many times its limit a helper may write: what is too long has to be seen as such and refused, not cut to fit."""
_SUB_AGENT_TURNS = 3


class ComparisonError(CourseError, ValueError):
    """A comparison that cannot be made: no policy has the name that was asked for, or the recording has no calls."""


def helper(model: Model, max_new_tokens: int) -> Helper:
    """Return the model as a helper, greedy, its answers remembered by the completion store."""

    def ask(prompt: list[Message]) -> str:
        return model.complete(prompt, max_new_tokens=max_new_tokens, remember=True).text

    return ask


def compared_policies(model: Model, transcript: Transcript, names: Sequence[str] = ()) -> list[Policy]:
    """Return the eight policies, the control and the sub-agent, or those of them that are named.

    The control is given the two messages in which the facts are planted, the sub-agent the turn of the later one and
    the two turns before it. Both compactions set in at `COMPACTED_AT` tokens. Nobody is asked anything here. Raises
    `ComparisonError` for a recording without calls and for a name that no policy has, ProbeError for a recording of
    fewer than two turns, or one in which a fact is not said before the last turn.
    """
    calls_made(transcript)
    given = planted(before_last_turn(transcript.messages))
    turn = sum(message["role"] == "user" for message in transcript.messages[: max(given) + 1])
    sub_agent = SubAgent(max(1, turn - _SUB_AGENT_TURNS + 1), turn)
    known = [*conversation_policies(model, transcript.tools), GivenMessages(given), sub_agent]
    for name in names:
        policy_called(name, known)
    return [policy for policy in known if not names or policy.name in names]


def conversation_policies(model: Model, tools: Sequence[Tool], pinned: str = PINNED) -> list[Policy]:
    """Return the eight policies that can hold any conversation with these tools, ``pinned`` the text of the block.

    Nobody is asked anything here. Raises what `standard_policies` raises.
    """
    left = COMPACTED_AT - catalogue_cost(tools, model).total
    helpers = helper(model, ROOM * SUMMARY_TOKENS), helper(model, ROOM * NOTE_TOKENS)
    return standard_policies(*helpers, pinned, threshold=max(LEAST_COMPACTED_AT, left))


def policy_called(name: str, known: Sequence[Policy]) -> Policy:
    """Return the policy of a name; raises `ComparisonError`, with the names that there are, where none has it."""
    for policy in known:
        if policy.name == name:
            return policy
    raise ComparisonError(f"no policy is called {name!r}; there are {', '.join(repr(one.name) for one in known)}")


def bill_under(transcript: Transcript, policy: Policy, model: Model) -> Bill:
    """Return what a recorded run is billed, call by call, when a policy decides what each call is sent.

    ``output_tokens`` are left out: to another prompt the model would have given another answer. Helpers are asked here,
    and whatever they raise is passed on. Raises `ComparisonError` for a recording without calls.
    """
    calls = calls_made(transcript)
    kept = replay(transcript.messages, policy, model, [call.index for call in calls])
    prompts, turns = [each.messages for each in kept], [call.turn for call in calls]
    made = bill_of_prompts(prompts, transcript.tools, model, turns, [each.helper_tokens for each in kept])
    return Bill(made.calls, transcript.provenance)


def bills(transcript: Transcript, policies: Sequence[Policy], model: Model, command: str | None = None) -> DataFrame:
    """Return what the recorded run would be billed under each policy, one row a policy.

    The control and the sub-agent are no way to hold a conversation: they are billed for one prompt, that of the last
    turn's first call. Columns: ``policy``; ``prompts``, how many are billed; ``billed_tokens``, all of these and those
    of the helpers; ``helper_tokens`` and ``helper_calls``, the helpers' part; ``no_summary``, the prompts for which a
    summary was due and none came of it, see `ctxcourse.policies.Kept`; ``recomputed_tokens``, what a cache of the
    prompt before would have to compute, the helpers' prompts included, each of them whole; ``last_prompt``, the tokens
    of the last call's.

    Helpers are asked here. The provenance names the model that counted, ``command``, which would repeat the bills, and,
    in ``recording``, the provenance of the run; its ``calls`` is the number of rows.
    Raises `ComparisonError` for a recording without calls.
    """
    calls = calls_made(transcript)
    last = next(call for call in calls if call.turn == calls[-1].turn)
    rows: list[list[Any]] = []
    for policy in policies:
        billed = [last] if isinstance(policy, GivenMessages | SubAgent) else calls
        kept = replay(transcript.messages, policy, model, [call.index for call in billed])
        spent = [each.helper_tokens for each in kept]
        made = bill_of_prompts([each.messages for each in kept], transcript.tools, model, None, spent)
        helped = [sum(spent), sum(each.helper_calls for each in kept), sum(each.no_summary for each in kept)]
        size = made.calls[-1].prompt_tokens
        rows.append([policy.name, len(kept), made.billed, *helped, made.recomputed + sum(spent), size])
    about = {
        "model": model.label,
        "fingerprint": model.fingerprint,
        "calls": len(rows),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "recording": dict(transcript.provenance),
    }
    return BILLS.frame(rows, about)


def calls_made(transcript: Transcript) -> list[Call]:
    """Return the calls of a recording; raises `ComparisonError` where there are none."""
    calls = transcript.calls()
    if not calls:
        raise ComparisonError(
            f"none of the {len(transcript.messages)} messages is from the assistant, so no call to a model can be "
            "billed: give the transcript of a run"
        )
    return calls
