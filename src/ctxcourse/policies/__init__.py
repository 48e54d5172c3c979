"""What an agent keeps of a conversation from call to call: policies that all follow one protocol, and their replay."""

from ctxcourse.policies.kept import (
    ByCompressor,
    FullHistory,
    GivenMessages,
    SubAgent,
    UserMessages,
    elided_results,
    sliding_window,
)
from ctxcourse.policies.notes import NOTE_TOKENS, NoteTaker, note_of, note_prompt
from ctxcourse.policies.pinned import Pinned
from ctxcourse.policies.protocol import Helper, Kept, Memory, Policy, PolicyError, Stateless, replay, replayed
from ctxcourse.policies.standard import standard_policies
from ctxcourse.policies.summarised import PRESERVE, SUMMARY_TOKENS, Compaction, CompactionWithNotes

__all__ = [
    "NOTE_TOKENS",
    "PRESERVE",
    "SUMMARY_TOKENS",
    "ByCompressor",
    "Compaction",
    "CompactionWithNotes",
    "FullHistory",
    "GivenMessages",
    "Helper",
    "Kept",
    "Memory",
    "NoteTaker",
    "Pinned",
    "Policy",
    "PolicyError",
    "Stateless",
    "SubAgent",
    "UserMessages",
    "elided_results",
    "note_of",
    "note_prompt",
    "replay",
    "replayed",
    "sliding_window",
    "standard_policies",
]
