"""The policies that lesson 08 compares, in the order of the published table."""

from __future__ import annotations

from ctxcourse.policies.kept import FullHistory, UserMessages, elided_results, sliding_window
from ctxcourse.policies.pinned import Pinned
from ctxcourse.policies.protocol import Helper, Policy
from ctxcourse.policies.summarised import SUMMARY_TOKENS, Compaction, CompactionWithNotes


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
    compaction = Compaction(summarise, threshold, summary_tokens=min(SUMMARY_TOKENS, max(1, threshold // 10)))
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
