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
from ctxcourse.policies.protocol import Helper, HelperMeter, Kept, Memory, Policy, PolicyError, Stateless, replay
from ctxcourse.policies.standard import control, standard_policies, sub_agent
from ctxcourse.policies.summarised import PRESERVE, Compaction, CompactionWithNotes

__all__ = [
    "NOTE_TOKENS",
    "PRESERVE",
    "ByCompressor",
    "Compaction",
    "CompactionWithNotes",
    "FullHistory",
    "GivenMessages",
    "Helper",
    "HelperMeter",
    "Kept",
    "Memory",
    "NoteTaker",
    "Pinned",
    "Policy",
    "PolicyError",
    "Stateless",
    "SubAgent",
    "UserMessages",
    "control",
    "elided_results",
    "note_of",
    "note_prompt",
    "replay",
    "sliding_window",
    "standard_policies",
    "sub_agent",
]
