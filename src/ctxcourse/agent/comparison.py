"""All policies on one recorded run: what each is billed, and what it still knows.

The recording does not change between policies: only what each keeps of it does. Helpers (summariser, note-taker) are
the model itself, their answers remembered, so that a comparison goes on where it was interrupted. What this module does
not do: say what a policy keeps (see `ctxcourse.policies`) or what an answer is (see `ctxcourse.agent.probes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctxcourse.agent.accounting import Encoder, bill_of_prompts
from ctxcourse.agent.probes import FACTS
from ctxcourse.agent.scenario import FACT_TURN
from ctxcourse.errors import CourseError
from ctxcourse.policies import Helper, Policy, control, replay, standard_policies, sub_agent

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.agent.transcript import Transcript
    from ctxcourse.messages import Message
    from ctxcourse.model.qwen import Model

PINNED = (
    "What must not be lost:\n"
    "- Every ticket is filed under employee number 4417.\n"
    "- The affected shard is pay-shard-7, confirmed by the payments team."
)
"""The pinned block. A person wrote it who knew what would be asked for: that is the policy's strength and its limit."""
SUMMARY_TOKENS = 500
NOTE_TOKENS = 40


class ComparisonError(CourseError, ValueError):
    """No policy has the name that was asked for; the text lists those there are."""


def helper(model: Model, max_new_tokens: int) -> Helper:
    """Return the model as a helper, greedy, its answers remembered by the completion store."""

    def ask(prompt: list[Message]) -> str:
        return model.complete(prompt, max_new_tokens=max_new_tokens, remember=True).text

    return ask


def compared_policies(model: Model, names: Sequence[str] = ()) -> list[Policy]:
    """Return the eight policies, the control and the sub-agent, or those of them that are named.

    The control is given the two planted messages, the sub-agent the turns 17 to 19. Raises `ComparisonError` for a
    name that none of them has.
    """
    known = [
        *standard_policies(helper(model, SUMMARY_TOKENS), helper(model, NOTE_TOKENS), PINNED),
        control([fact.answer for fact in FACTS]),
        sub_agent(FACT_TURN - 2, FACT_TURN),
    ]
    for name in names:
        if name not in [policy.name for policy in known]:
            listed = ", ".join(repr(policy.name) for policy in known)
            raise ComparisonError(f"no policy is called {name!r}; there are {listed}, and 'all'")
    return [policy for policy in known if not names or policy.name in names]


def bills(transcript: Transcript, policies: Sequence[Policy], counter: Encoder) -> DataFrame:
    """Return what the recorded run would be billed under each policy, one row a policy.

    Columns: ``policy``; ``billed_tokens``, all prompts of the run and those of the helpers; ``helper_tokens``, the
    helpers' part; ``recomputed_tokens``, what a cache of the prompt before would have to compute; ``last_prompt``, the
    tokens of the last call's. Helpers are asked here.
    """
    from pandas import DataFrame

    calls = transcript.calls()
    rows: list[list[Any]] = []
    for policy in policies:
        kept = replay(transcript.messages, policy, counter, [call.index for call in calls])
        spent = [each.helper_tokens for each in kept]
        made = bill_of_prompts([each.messages for each in kept], transcript.tools, counter, None, spent)
        rows.append([policy.name, made.billed, sum(spent), made.recomputed, made.calls[-1].prompt_tokens])
    columns = ["policy", "billed_tokens", "helper_tokens", "recomputed_tokens", "last_prompt"]
    frame = DataFrame(rows, columns=columns)
    frame.attrs["provenance"] = dict(transcript.provenance)
    return frame
