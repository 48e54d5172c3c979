"""What a prompt may be, and what each becomes: token ids, or an error that says which prompt is wrong and how."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.model.answers import PromptError
from ctxcourse.model.tokenizer import ChatTokenizer, Message

# messages, a string taken as one user message, or token ids
Prompt = str | Sequence[Message] | Sequence[int]
# the same, or a pair of it and tools of its own
PromptOrPair = Prompt | tuple[Prompt, Sequence[Message] | None]

FORMS = "A prompt is a list of messages, a string, or a list of token ids"


def checked_prompts(prompts: Iterable[PromptOrPair]) -> list[tuple[Prompt, Any]]:
    """Return prompts as pairs with their tools. Raises `PromptError` for what is not a list of prompts."""
    if isinstance(prompts, str | bytes | Mapping | Set) or not isinstance(prompts, Iterable):
        raise PromptError(
            f"prompts must be a list of prompts, not {type(prompts).__name__}; `complete` answers a single one."
        )
    made = list(prompts)
    return [_pair(prompt, which(number, len(made))) for number, prompt in enumerate(made)]


def _pair(prompt: Any, where: str) -> tuple[Any, Any]:
    if not (isinstance(prompt, tuple) and len(prompt) == 2) or isinstance(prompt[0], Mapping) or _is_id(prompt[0]):
        return prompt, None
    tools = prompt[1]
    if tools is None or (isinstance(tools, list | tuple) and all(isinstance(tool, Mapping) for tool in tools)):
        return prompt
    raise PromptError(
        f"{where}The second of a pair is the prompt's tools: a list of dicts or None, not {_shown(tools)}."
    )


def prompt_ids(tokenizer: ChatTokenizer, vocabulary: int, prompt: Any, tools: Any, where: str = "") -> list[int]:
    """Return the token ids of a prompt; ``where`` begins an error's text.

    Raises `PromptError` for what is no prompt, and what `ChatTokenizer.encode_prompt` raises.
    """
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    if isinstance(prompt, Mapping):
        raise PromptError(f"{where}This is a single message or a dict of something else. {FORMS}: put it into a list.")
    if isinstance(prompt, bytes | Set) or not isinstance(prompt, Iterable):
        raise PromptError(f"{where}This is {_shown(prompt)}. {FORMS}.")
    parts = list(prompt)
    if not parts:
        raise PromptError(f"{where}There is nothing to answer: the prompt has no messages and no tokens. Give one.")
    if any(isinstance(part, Mapping) for part in parts):
        try:
            return tokenizer.encode_prompt(parts, tools)
        except CourseError as error:
            raise type(error)(f"{where}{error}") from error
    if any(isinstance(part, str) for part in parts):
        raise PromptError(f"{where}This is a list with texts in it. {FORMS}; `complete_many` takes a list of prompts.")
    ids = [_checked_id(part, place, vocabulary, where) for place, part in enumerate(parts)]
    if tools:
        raise PromptError(
            f"{where}Tools cannot be added to token ids: render both, with `encode_prompt(messages, tools)`."
        )
    return ids


def whole_number(value: Any) -> int | None:
    """Return a whole number of any kind, numpy's as well, as an int; None for what is none, True and False included."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def which(number: int, count: int) -> str:
    """Return how an error begins that is about one of several prompts."""
    return f"Prompt {number} (of {count}, counted from 0): " if count > 1 else ""


def _is_id(value: Any) -> bool:
    return whole_number(value) is not None


def _checked_id(part: Any, place: int, vocabulary: int, where: str) -> int:
    number = whole_number(part)
    if number is None or not 0 <= number < vocabulary:
        raise PromptError(
            f"{where}Token {place} is {part!r}: a token id is a whole number from 0 to {vocabulary - 1:,}. {FORMS}."
        )
    return number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
