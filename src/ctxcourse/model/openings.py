"""How an answer may begin: with a call of a tool, without one, and unlike what was said before.

Greedy decoding of a small model falls into repetition, and it calls a tool where it was to speak. Both are decided at
the first token, so a rule is a set of tokens that may not come first (transformers' ``begin_suppress_tokens``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Literal

from ctxcourse.model.answers import PromptError
from ctxcourse.model.tokenizer import ChatTokenizer

ToolChoice = Literal["auto", "none", "required"]
CALL = "<tool_call>"


Rules = Sequence[frozenset[int]]
"""For each prompt of a call the tokens that may not begin its answer; empty where there is no rule for any."""


def first_token(logits: Any, refused: frozenset[int]) -> int:
    """Return the best of the tokens that are not refused; ``logits`` has the shape (vocabulary,)."""
    import torch

    if refused:
        logits = logits.index_fill(-1, torch.tensor(list(refused)), float("-inf"))
    return int(logits.argmax())


def begin_suppress_tokens(
    tokenizer: ChatTokenizer, vocabulary: int, tool_choice: str | None, unlike: Sequence[str] = ()
) -> frozenset[int]:
    """Return the token ids, below ``vocabulary``, that may not come first under a tool choice.

    ``auto`` asks for an answer that is not empty: a call or a text. ``none`` asks for one that begins with a letter or
    a digit, which no call does. ``required`` leaves the token ``<tool_call>`` alone, or, for a model that has none,
    those that begin with a brace. ``None`` is no rule. Under ``auto`` and ``none`` an answer may not begin with the
    first token of a text in ``unlike`` either, in upper or lower case. A rule that would leave no token is none.

    Raises:
        PromptError: another tool choice, or ``unlike`` without one or holding something else than strings.
    """
    if not isinstance(unlike, list | tuple) or not all(isinstance(text, str) for text in unlike):
        raise PromptError(f"unlike is a list of texts, not {unlike!r:.80}.")
    if unlike and tool_choice not in ("auto", "none"):
        raise PromptError('unlike is for answers that may be a text: give tool_choice="auto" or "none" with it.')
    if tool_choice is None:
        return frozenset()
    call = tokenizer.control_tokens.get(CALL)
    texts = _texts(tokenizer, vocabulary)
    if tool_choice == "required":
        braces = {number for number, text in texts.items() if text.startswith("{")}
        return _possible(frozenset(range(vocabulary)) - ({call} if call is not None else braces), vocabulary)
    if tool_choice not in ("auto", "none"):
        raise PromptError(f'tool_choice must be "auto", "none" or "required", not {tool_choice!r}.')
    openings = {texts.get(ids[0], "").strip().casefold() for text in unlike if (ids := tokenizer.encode(text))}
    refused = frozenset(
        number
        for number in range(vocabulary)
        if (number != call or tool_choice == "none")
        and (number not in texts or _is_refused(texts[number], tool_choice, openings))
    )
    return _possible(refused, vocabulary)


def settings_of(max_new_tokens: int, refused: frozenset[int]) -> dict[str, Any]:
    """Return what tells an answer from another to the same prompt, for the completion store."""
    settings: dict[str, Any] = {"decoding": "greedy", "max_new_tokens": max_new_tokens}
    return {**settings, "begin_suppress_tokens": sorted(refused)} if refused else settings


def of_one_rule(numbers: list[int], ids: list[list[int]], rules: Rules) -> list[list[int]]:
    """Return the numbers of prompts in parts in which equal prompts have equal rules: nearly always one."""
    known: dict[tuple[int, ...], list[frozenset[int]]] = {}
    parts: dict[int, list[int]] = {}
    for number in numbers:
        seen = known.setdefault(tuple(ids[number]), [])
        if rules[number] not in seen:
            seen.append(rules[number])
        parts.setdefault(seen.index(rules[number]), []).append(number)
    return list(parts.values())


def _possible(refused: frozenset[int], vocabulary: int) -> frozenset[int]:
    return refused if len(refused) < vocabulary else frozenset()


def _is_refused(text: str, tool_choice: str, openings: Collection[str]) -> bool:
    begins = text[:1].isalnum() if tool_choice == "none" else text.strip()
    return not begins or text.strip().casefold() in openings


@lru_cache(maxsize=4)
def _texts(tokenizer: ChatTokenizer, vocabulary: int) -> dict[int, str]:
    """Return the text of every token that is no control token."""
    control = set(tokenizer.control_tokens.values())
    return {number: tokenizer.decode([number]) for number in range(vocabulary) if number not in control}
