"""What langchain-core, and langchain-community where it has more, return for the inputs of `edge_cases.py`.

Conversations are trimmed as the documentation of `trim_messages` advises for a history that goes back to a model
(`ADVISED`), and with its bare defaults, which are shown beside it where they return something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import edge_inputs as given
from edge_counting import fitted, rendered
from langchain_community.document_transformers import EmbeddingsRedundantFilter, LongContextReorder
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.messages import trim_messages as trim
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.output_parsers.openai_tools import PydanticToolsParser
from langchain_core.outputs import ChatGeneration
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from ctxcourse.retrieval import words

NAME = "langchain"
PACKAGES = ("langchain-core", "langchain-community")
ADVISED = {"start_on": "human", "include_system": True}


def _plain(messages: Iterable[BaseMessage]) -> list[dict[str, Any]]:
    """Return messages as its own converter writes them, but for the arguments of calls, which stay as they are held."""
    plain = []
    for message in messages:
        made = dict(convert_to_openai_messages(message))
        for written, held in zip(made.get("tool_calls", []), getattr(message, "tool_calls", []), strict=True):
            written["function"]["arguments"] = held["args"]
        plain.append(made)
    return plain


def read(messages: Any) -> str:
    return given.said(_plain(convert_to_messages(messages)))


def _count(messages: list[BaseMessage]) -> int:
    return rendered(_plain(messages))


def _trimmed(messages: Any, budget: int = given.BUDGET, **options: Any) -> str:
    found = [
        fitted(_plain(trim(convert_to_messages(messages), max_tokens=budget, token_counter=_count, **more)), budget)
        for more in ({**ADVISED, **options}, options)
    ]
    return found[0] if found[0] == found[1] else f"{found[0]}; with bare defaults: {found[1]}"


def _approximate(text: str) -> int:
    """Return the tokens of a text without those of the message around it."""
    return count_tokens_approximately([HumanMessage(text)]) - count_tokens_approximately([HumanMessage("")])


def default_system() -> str:
    return f"{count_tokens_approximately(given.TALK)}, approximately"


def dense_text() -> str:
    return ", ".join(f"{name} {_approximate(text)}" for name, text in given.DENSE.items()) + ", approximately"


def parts() -> str:
    message = convert_to_messages(given.PARTS)[0]
    return f"{read(given.PARTS)}; its text: {message.text!r}"


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, given.ROOM)


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM)


def first_tool() -> str:
    both = [count_tokens_approximately([], tools=given.TOOLS[:number]) for number in (1, 2)]
    return f"first {both[0]}, second {both[1] - both[0]}, approximately"


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK])


def zero_budget() -> str:
    return _trimmed(given.TALK, 0)


def negative_budget() -> str:
    return _trimmed(given.TALK, -5)


def message_too_large() -> str:
    """Cut with the default splitter, at line ends, of which this text has none."""
    return _trimmed(given.LONG, allow_partial=True)


def message_uncut() -> str:
    return _trimmed(given.LONG)


def fewer_turns() -> str:
    kept = trim(convert_to_messages(given.CHAT), max_tokens=given.KEEP, token_counter=len, **ADVISED)
    return given.said(_plain(kept))


def no_user_turn() -> str:
    return _trimmed(given.NO_USER, given.ROOM)


def no_user_over() -> str:
    return _trimmed(given.NO_USER)


def empty_history() -> str:
    return _trimmed([])


def emoji() -> str:
    """Cut as in `message_too_large`."""
    return _trimmed([{"role": "user", "content": given.EMOJI}], allow_partial=True)


def _texts(documents: Iterable[Document]) -> list[str]:
    return [document.page_content for document in documents]


def even_number() -> str:
    documents = [[Document(text) for text in texts] for texts in (given.FOUR, given.FIVE)]
    return "; ".join(" ".join(_texts(LongContextReorder().transform_documents(each))) for each in documents)


class _WordCounts(Embeddings):
    """Embed a text as how often it has each word, which is what these two documents have in common."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        every = sorted({word for text in texts for word in words(text)})
        return [[float(words(text).count(word)) for word in every] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def near_copies() -> str:
    """Filter documents that come, as a retriever returns them, with the best first."""
    best_first = sorted(zip(*given.COPIES, strict=True), key=lambda pair: -pair[1])
    kept = EmbeddingsRedundantFilter(embeddings=_WordCounts()).transform_documents([Document(t) for t, _ in best_first])
    return f"kept {_texts(kept)}"


def schema() -> str:
    """Strip what its converter strips from the schema of a tool: the titles."""
    function = given.SCHEMA["function"]
    tool = StructuredTool.from_function(
        print, name=function["name"], description=function["description"], args_schema=function["parameters"]
    )
    return given.schema_said(convert_to_openai_tool(tool))


def unknown_tool() -> str:
    """Parse a call of the unknown tool, the one place where it looks a tool up by its name."""
    asking = AIMessage("", tool_calls=[{"name": given.UNKNOWN, "args": {}, "id": "a"}])
    tools = [type(each["function"]["name"], (BaseModel,), {}) for each in given.TOOLS]
    return str(PydanticToolsParser(tools=tools).parse_result([ChatGeneration(message=asking)]))
