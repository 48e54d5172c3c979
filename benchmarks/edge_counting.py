"""The counter of `edge_cases.py`: every side that takes a counter of messages is given this package's own."""

from __future__ import annotations

from typing import Any

import edge_inputs as given

from ctxcourse import load_tokenizer

TOKENIZER = load_tokenizer()


def rendered(messages: list[dict[str, Any]]) -> int:
    """Return the tokens of the whole rendered prompt; 0 for no messages, as the counters of all peers have it.

    A peer's messages are turned into dicts first. The template renders an orphaned result and an unanswered call where
    they stand, so that whatever part of a conversation a peer tries has a size.
    """
    return TOKENIZER.count_prompt(messages) if messages else 0


def fitted(messages: list[dict[str, Any]], budget: int) -> str:
    """Return what a side kept of a conversation and how large that is as a prompt."""
    size = f" ({rendered(messages)} of {budget} tokens)" if messages else ""
    return given.said(messages) + size
