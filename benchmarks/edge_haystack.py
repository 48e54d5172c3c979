"""What haystack-ai returns for the inputs of `edge_cases.py`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import edge_inputs as given
from edge_counting import fitted, rendered
from haystack import Document
from haystack.components.agents import Agent
from haystack.components.evaluators import AnswerExactMatchEvaluator
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.hooks.compaction import (
    CompactionHook,
    Compactor,
    SlidingWindowCompactor,
    SummarizationCompactor,
    ToolResultPruningCompactor,
)
from haystack.token_counters import ApproximateTokenCounter, TokenCounter
from haystack.tools import Tool, Toolset

NAME = "haystack-ai"
logging.getLogger("haystack").setLevel(logging.ERROR)  # a refused summary is a warning there


def _plain(messages: list[ChatMessage]) -> list[dict[str, Any]]:
    """Return messages as dicts in OpenAI's form, the arguments of calls as they are held."""
    plain = []
    for message in messages:
        results = message.tool_call_results
        made: dict[str, Any] = {"role": message.role.value}
        if results:
            made |= {"content": results[0].result, "tool_call_id": results[0].origin.id}
        else:
            made["content"] = message.texts if len(message.texts) > 1 else message.text or ""
        calls = [{"name": each.tool_name, "arguments": each.arguments} for each in message.tool_calls]
        if calls:
            ids = [each.id for each in message.tool_calls]
            made["tool_calls"] = [{"id": i, "type": "function", "function": c} for i, c in zip(ids, calls, strict=True)]
        plain.append(made)
    return plain


def _messages(messages: Any) -> list[ChatMessage]:
    return [ChatMessage.from_openai_dict_format(message) for message in messages]


def read(messages: Any) -> str:
    return given.said(_plain(_messages(messages)))


class _Rendered(TokenCounter):
    """Its protocol of a counter, with this package's count of whole prompts."""

    def count(self, messages: list[ChatMessage], tools: Any = None) -> int:
        return rendered(_plain(messages))


def _by(compactor: Compactor, budget: int) -> Callable[[list[ChatMessage]], list[ChatMessage]]:
    """Return how its hook has a conversation compacted: where the compactor declines, it stays as it is."""
    return lambda messages: compactor.compact(messages, budget, _Rendered()) or messages


def _trimmed(messages: Any, budget: int = given.BUDGET, compactor: Compactor | None = None) -> str:
    return fitted(_plain(_by(compactor or SlidingWindowCompactor(), budget)(_messages(messages))), budget)


def _approximate(text: str) -> int:
    """Return the tokens of a text without those of the message around it."""
    counter = ApproximateTokenCounter()
    return counter.count([ChatMessage.from_user(text)]) - counter.count([ChatMessage.from_user("")])


def default_system() -> str:
    return f"{ApproximateTokenCounter().count(_messages(given.TALK))}, approximately"


def dense_text() -> str:
    return ", ".join(f"{name} {_approximate(text)}" for name, text in given.DENSE.items()) + ", approximately"


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, given.ROOM)


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM)


def first_tool() -> str:
    both = [ApproximateTokenCounter().count([], tools=_tools()[:number]) for number in (1, 2)]
    return f"first {both[0]}, second {both[1] - both[0]}, approximately"


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK])


def reserve_too_large() -> str:
    """Start compaction at none of the window, which keeps all of it for the answer."""
    hook = CompactionHook(SlidingWindowCompactor(), context_window=given.WINDOW, compact_at=0.0)
    return f"made, compacts at {hook.compact_at}"


def _hook(window: int) -> str:
    return f"made, a window of {CompactionHook(SlidingWindowCompactor(), context_window=window).context_window}"


def zero_budget() -> str:
    return _hook(0)


def negative_budget() -> str:
    return _hook(-5)


def message_uncut() -> str:
    return _trimmed(given.LONG)


def _retelling(summariser: given.Summariser) -> SummarizationCompactor:
    return SummarizationCompactor(MockChatGenerator(response_fn=lambda messages: summariser(messages)))


def summary_grows() -> str:
    return _trimmed(given.LONG_CHAT, given.ROOM, _retelling(given.Summariser(given.LONG_SUMMARY)))


def tail_too_large() -> str:
    asked = given.Summariser(given.SHORT_SUMMARY)
    return given.rounds(_by(_retelling(asked), given.ROOM), _messages(given.TAIL), asked, _plain)


def fewer_turns() -> str:
    """Keep more steps than there are, over the budget, as below it nothing is looked at."""
    return _trimmed(given.CHAT, compactor=SlidingWindowCompactor(min_keep_steps=given.KEEP))


def no_user_turn() -> str:
    return _trimmed(given.NO_USER, given.ROOM)


def no_user_over() -> str:
    return _trimmed(given.NO_USER)


def empty_history() -> str:
    return _trimmed([])


def stub_longer() -> str:
    return _trimmed(given.SHORT_RESULT, compactor=ToolResultPruningCompactor())


def emoji() -> str:
    """Cut by words, its default; it counts tokens only in vocabularies that it would have to fetch."""
    pieces = DocumentSplitter(split_length=given.BUDGET).run([Document(content=given.EMOJI)])["documents"]
    return given.ends(str(pieces[0].content), f"{given.BUDGET} words")


def even_number() -> str:
    documents = [[Document(content=text) for text in texts] for texts in (given.FOUR, given.FIVE)]
    found = [LostInTheMiddleRanker().run(documents=each)["documents"] for each in documents]
    return "; ".join(" ".join(str(each.content) for each in ordered) for ordered in found)


def _ranked(documents: list[Document]) -> str:
    """Sort by score as its joiner of result lists does, here of a single one."""
    return " ".join(str(each.content) for each in DocumentJoiner().run(documents=[documents])["documents"])


def ties_and_nan() -> str:
    return _ranked([Document(content=text, score=score) for text, score in zip(*given.TIED, strict=True)])


def dict_items() -> str:
    """Its documents are made of dicts by its own reader."""
    return _ranked([Document.from_dict({**item, "score": score}) for item, score in zip(*given.DICTS, strict=True)])


def _found(query: str, documents: list[str]) -> str:
    store = InMemoryDocumentStore(shared=False)
    store.write_documents([Document(content=text) for text in documents])
    found = InMemoryBM25Retriever(store).run(query=query)["documents"]
    return f"{len(found)} documents, scores {[round(each.score, 2) for each in found]}"


def empty_query() -> str:
    return _found("", given.DOCUMENTS)


def stop_words() -> str:
    return _found(given.STOP_WORDS, given.DOCUMENTS)


def empty_documents() -> str:
    return _found(given.QUERY, given.NO_TEXT)


def _tools(tools: list[dict[str, Any]] = given.TOOLS) -> list[Tool]:
    functions = [each["function"] for each in tools]
    return [Tool(each["name"], each["description"], each["parameters"], print) for each in functions]


def _selected(names: list[str]) -> str:
    """Run its agent with the named tools of those it has; the model in it says how many it was given."""
    model = MockChatGenerator(response_fn=lambda messages, tools: f"{len(tools or [])} tools")
    agent = Agent(chat_generator=model, tools=_tools())
    return str(agent.run(messages=_messages(given.TALK), tools=names)["last_message"].text)


def no_tools() -> str:
    return _selected([])


def unknown_tool() -> str:
    return _selected([given.UNKNOWN])


def twice() -> str:
    return f"{len(Toolset(_tools(given.TWICE)))} tools"


def needle_answers() -> str:
    """Compare answers exactly, the one comparison here that asks no model."""
    right = [given.RIGHT] * len(given.ANSWERS)
    found = AnswerExactMatchEvaluator().run(ground_truth_answers=right, predicted_answers=given.ANSWERS)
    return "exact match: " + ", ".join(str(each) for each in found["individual_scores"])
