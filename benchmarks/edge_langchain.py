"""What langchain-core returns for the inputs of `edge_cases.py`."""

from __future__ import annotations

from typing import Any

import edge_inputs as given
from edge_ours import TOKENIZER
from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.utils.function_calling import convert_to_openai_tool

NAME = "langchain-core"


def _plain(messages: Any) -> list[dict[str, Any]]:
    return [dict(each) for each in convert_to_openai_messages(list(messages))]


def read(messages: Any) -> str:
    return given.said(_plain(convert_to_messages(messages)))


def _trimmed(messages: Any, budget: int = given.BUDGET, **more: Any) -> str:
    kept = trim_messages(convert_to_messages(messages), max_tokens=budget, token_counter=_loose, **more)
    return given.said(_plain(kept))


def _loose(messages: Any) -> int:
    """Count as the course does; results without their call, which the template renders, are counted alone."""
    return sum(TOKENIZER.count_text(str(each.content)) + 5 for each in messages)


def default_system() -> str:
    return f"{count_tokens_approximately(given.TALK)}, approximately"


def dense_text() -> str:
    return f"{count_tokens_approximately([given.DENSE])}, approximately"


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, 30)


def no_messages() -> str:
    return _trimmed([])


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM, include_system=True)


def first_tool() -> str:
    both = [count_tokens_approximately([], tools=given.TOOLS[:number]) for number in (1, 2)]
    return f"first {both[0]}, second {both[1] - both[0]}, approximately"


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK], include_system=True)


def message_too_large() -> str:
    return _trimmed(given.LONG) + "; with allow_partial: " + _trimmed(given.LONG, allow_partial=True)


def empty_history() -> str:
    return _trimmed([])


def emoji() -> str:
    return _trimmed([{"role": "user", "content": given.EMOJI}], 25, allow_partial=True, text_splitter=list)


def schema() -> str:
    return given.schema_said(convert_to_openai_tool(given.SCHEMA))


def twice() -> str:
    return f"{len([convert_to_openai_tool(each) for each in given.TWICE])} tools of one name"
