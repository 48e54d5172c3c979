"""What llama-index-core returns for the inputs of `edge_cases.py`."""

from __future__ import annotations

from typing import Any

import edge_inputs as given
from edge_ours import TOKENIZER
from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer
from llama_index.core.postprocessor import LongContextReorder, SimilarityPostprocessor
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.text_splitter import TokenTextSplitter
from llama_index.core.utilities.token_counting import TokenCounter

NAME = "llama-index-core"
LACKS = ("unknown_part",)


def _messages(messages: Any) -> list[ChatMessage]:
    """Build messages as its own readers of the OpenAI form do: text as content, everything else as extra fields."""
    found = []
    for message in messages:
        extra = {key: value for key, value in message.items() if key not in ("role", "content")}
        content = message["content"]
        if isinstance(content, list):
            content = [TextBlock(text=part["text"]) for part in content]
        found.append(ChatMessage(role=message["role"], content=content, additional_kwargs=extra))
    return found


def _plain(messages: list[ChatMessage]) -> list[dict[str, Any]]:
    return [{"role": each.role.value, "content": each.content, **each.additional_kwargs} for each in messages]


def read(messages: Any) -> str:
    return given.said(_plain(_messages(messages)))


def _trimmed(messages: Any, budget: int = given.BUDGET) -> str:
    memory = ChatMemoryBuffer.from_defaults(_messages(messages), token_limit=budget, tokenizer_fn=TOKENIZER.encode)
    return given.said(_plain(memory.get()))


def _nodes(texts: list[str], scores: list[float]) -> list[NodeWithScore]:
    pairs = zip(texts, scores, strict=True)
    return [NodeWithScore(node=TextNode(text=text), score=score) for text, score in pairs]


def _reordered(texts: list[str], scores: list[float]) -> str:
    found = LongContextReorder().postprocess_nodes(_nodes(texts, scores))
    return " ".join(each.node.get_content() for each in found)


def default_system() -> str:
    return str(TokenCounter(TOKENIZER.encode).estimate_tokens_in_messages(_messages(given.TALK)))


def dense_text() -> str:
    return str(TokenCounter(TOKENIZER.encode).get_string_tokens(given.DENSE))


def orphan_result() -> str:
    return _trimmed(given.ORPHAN)


def unanswered_call() -> str:
    return _trimmed(given.UNANSWERED)


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, 30)


def no_messages() -> str:
    return _trimmed([])


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM)


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK])


def reserve_too_large() -> str:
    memory = ChatMemoryBuffer.from_defaults(_messages(given.TALK), token_limit=100, tokenizer_fn=TOKENIZER.encode)
    return given.said(_plain(memory.get(initial_token_count=101)))


def message_too_large() -> str:
    return _trimmed(given.LONG)


def summary_grows() -> str:
    memory = ChatSummaryMemoryBuffer.from_defaults(
        _messages(given.CHAT), llm=_Wordy(), token_limit=30, tokenizer_fn=TOKENIZER.encode
    )
    return given.said(_plain(memory.get()))


class _Wordy(MockLLM):
    """A summariser that writes more than it was given."""

    def chat(self, messages: Any, **_: Any) -> Any:
        from llama_index.core.base.llms.types import ChatResponse

        return ChatResponse(message=ChatMessage(role="assistant", content=given.written(messages)))


def empty_history() -> str:
    return _trimmed([])


def emoji() -> str:
    pieces = TokenTextSplitter(chunk_size=20, chunk_overlap=0, tokenizer=TOKENIZER.encode).split_text(given.EMOJI)
    return f"{len(pieces)} pieces, the first ends in {pieces[0][-8:]!r}"


def even_number() -> str:
    return "; ".join(_reordered(texts, [1 - int(text) / 10 for text in texts]) for texts in (given.FOUR, given.FIVE))


def ties_and_nan() -> str:
    return _reordered(*given.TIED)


def near_copies() -> str:
    found = SimilarityPostprocessor(similarity_cutoff=0.0).postprocess_nodes(_nodes(*given.COPIES))
    return f"{len(found)} of 2 kept"
