"""What is kept of a conversation: compressors that all follow one protocol, summaries, and key sentences."""

from ctxcourse.history.compressors import SlidingWindow, Truncation
from ctxcourse.history.elision import Elision, elided
from ctxcourse.history.key_sentences import key_sentences
from ctxcourse.history.protocol import Compressed, Compressor, HistoryError, Shorten, joined, parted, step_costs
from ctxcourse.history.rolling import RollingSummary
from ctxcourse.history.sentences import split_sentences
from ctxcourse.history.shortening import Shortening
from ctxcourse.history.summaries import (
    Metered,
    RecursiveSummary,
    Summary,
    SummaryError,
    recursive_summary,
    summary_prompt,
)

__all__ = [
    "Compressed",
    "Compressor",
    "Elision",
    "HistoryError",
    "Metered",
    "RecursiveSummary",
    "RollingSummary",
    "Shorten",
    "Shortening",
    "SlidingWindow",
    "Summary",
    "SummaryError",
    "Truncation",
    "elided",
    "joined",
    "key_sentences",
    "parted",
    "recursive_summary",
    "split_sentences",
    "step_costs",
    "summary_prompt",
]
