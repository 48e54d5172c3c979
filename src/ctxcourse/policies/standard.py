"""The policies that lesson 08 compares, in the order of the published table, and its two rows beside them."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcourse.policies.kept import FullHistory, GivenMessages, SubAgent, UserMessages, elided_results, sliding_window
from ctxcourse.policies.pinned import Pinned
from ctxcourse.policies.protocol import Helper, Policy
from ctxcourse.policies.summarised import Compaction, CompactionWithNotes


def standard_policies(summarise: Helper, take_note: Helper, pinned: str, threshold: int = 5_000) -> list[Policy]:
    """Return the eight policies, as far as they were published in that order.

    ``pinned`` is the text of the pinned block, which a person chose; ``threshold`` the tokens, without tools, past
    which both compactions set in. Elision has no published score. Raises PolicyError or HistoryError for arguments that
    cannot be.

    >>> for policy in standard_policies(lambda prompt: "Rain.", lambda prompt: "NONE", "Speak softly."):
    ...     print(policy.name)
    full history
    sliding window
    elided tool results
    compaction
    compaction + notes
    user messages + last turns
    pinned in the system message
    pinned at the end
    """
    compaction = Compaction(summarise, threshold, summary_tokens=min(500, max(1, threshold // 10)))
    return [
        FullHistory(),
        sliding_window(),
        elided_results(),
        compaction,
        CompactionWithNotes(compaction, take_note),
        UserMessages(),
        Pinned(pinned, "system"),
        Pinned(pinned, "end"),
    ]


def control(given: Sequence[int | str]) -> GivenMessages:
    """Return the control row: the given messages, by index or by words of the user, and the current turn alone."""
    return GivenMessages(given)


def sub_agent(first: int, last: int) -> SubAgent:
    """Return the sub-agent's row: the turns from ``first`` to ``last``, counted from 1, and the question."""
    return SubAgent(first, last)
