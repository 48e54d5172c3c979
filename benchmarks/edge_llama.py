"""What llama-index-core returns for the inputs of `edge_cases.py`.

Its memories count texts (`Memory` also what goes with them), by a function from a text to tokens: it is given this
package's tokenizer, and can be given no count of whole prompts.
"""

from __future__ import annotations

from typing import Any

import edge_inputs as given
from edge_counting import TOKENIZER, fitted
from llama_index.core import PromptTemplate, SimpleKeywordTableIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock
from llama_index.core.indices.prompt_helper import PromptHelper
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatSummaryMemoryBuffer, Memory
from llama_index.core.postprocessor import LongContextReorder
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, ToolSelection
from llama_index.core.tools.calling import call_tool_with_selection
from llama_index.core.utilities.token_counting import TokenCounter

NAME = "llama-index-core"
LACKS = ("unknown_part",)
"""Its readers of OpenAI's parts are in another package; here text parts are put in the blocks that they become."""


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
    """Return messages as dicts, without the name of the session, which a memory adds to what it archives."""
    extras = [{k: v for k, v in each.additional_kwargs.items() if k != "session_id"} for each in messages]
    return [{"role": m.role.value, "content": m.content, **extra} for m, extra in zip(messages, extras, strict=True)]


def read(messages: Any) -> str:
    return given.said(_plain(_messages(messages)))


def _trimmed(messages: Any, budget: int = given.BUDGET) -> str:
    memory = Memory.from_defaults(token_limit=budget, tokenizer_fn=TOKENIZER.encode)
    memory.put_messages(_messages(messages))
    return fitted(_plain(memory.get()), budget)


def default_system() -> str:
    return str(TokenCounter(TOKENIZER.encode).estimate_tokens_in_messages(_messages(given.TALK)))


def dense_text() -> str:
    counter = TokenCounter(TOKENIZER.encode)
    return ", ".join(f"{name} {counter.get_string_tokens(text)}" for name, text in given.DENSE.items())


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, given.ROOM)


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM)


def first_tool() -> str:
    counter = TokenCounter(TOKENIZER.encode)
    both = [counter.estimate_tokens_in_tools(given.TOOLS[:number]) for number in (1, 2)]
    return f"first {both[0]}, second {both[1] - both[0]}"


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK])


def _helper(window: int, reserve: int) -> PromptHelper:
    return PromptHelper(context_window=window, num_output=reserve, tokenizer=TOKENIZER.encode)


def reserve_too_large() -> str:
    helper = _helper(given.WINDOW, given.WINDOW)
    try:
        return str(helper.truncate(PromptTemplate("{text}"), [given.TALK[0]["content"]]))
    except ValueError as error:
        return f"made; when it is used, {given.failed(error)}"


def zero_budget() -> str:
    return _trimmed(given.TALK, 0)


def negative_budget() -> str:
    return _trimmed(given.TALK, -5)


def _cut(text: str) -> str:
    """Cut a text to the budget, nothing being kept for an answer."""
    return str(_helper(given.BUDGET, 0).truncate(PromptTemplate("{text}"), [text])[0])


def message_too_large() -> str:
    return fitted([{**given.LONG[0], "content": _cut(given.LONG[0]["content"])}], given.BUDGET)


def message_uncut() -> str:
    return _trimmed(given.LONG)


def _summarising(messages: Any, summariser: given.Summariser) -> ChatSummaryMemoryBuffer:
    """Return the one memory here that has a conversation retold; it is deprecated, in favour of one that does not."""

    class Writing(MockLLM):
        def chat(self, messages: Any, **_: Any) -> ChatResponse:
            return ChatResponse(message=ChatMessage(role="assistant", content=summariser(messages)))

    return ChatSummaryMemoryBuffer.from_defaults(
        _messages(messages),
        llm=Writing(),
        token_limit=given.ROOM,
        tokenizer_fn=TOKENIZER.encode,
    )


def summary_grows() -> str:
    asked = given.Summariser(given.LONG_SUMMARY)
    return fitted(_plain(_summarising(given.LONG_CHAT, asked).get()), given.ROOM)


def tail_too_large() -> str:
    asked = given.Summariser(given.SHORT_SUMMARY)
    memory = _summarising(given.TAIL, asked)
    return given.rounds(lambda _: memory.get(), None, asked, _plain)


def no_user_turn() -> str:
    return _trimmed(given.NO_USER, given.ROOM)


def no_user_over() -> str:
    return _trimmed(given.NO_USER)


def empty_history() -> str:
    """Put nothing in a memory, then put an empty list in it."""
    memory = Memory.from_defaults(token_limit=given.BUDGET, tokenizer_fn=TOKENIZER.encode)
    untouched = given.said(_plain(memory.get()))
    try:
        return f"{untouched}; with an empty list put: {_trimmed([])}"
    except Exception as error:
        return f"{untouched}; with an empty list put: {given.failed(error)}"


def emoji() -> str:
    cut = _cut(given.EMOJI)
    return given.ends(cut, f"{TOKENIZER.count_text(cut)} tokens")


def _nodes(texts: list[str], scores: list[float]) -> list[NodeWithScore]:
    pairs = zip(texts, scores, strict=True)
    return [NodeWithScore(node=TextNode(text=text), score=score) for text, score in pairs]


def _reordered(texts: list[str]) -> str:
    nodes = _nodes(texts, [1 - int(text) / 10 for text in texts])
    return " ".join(each.node.get_content() for each in LongContextReorder().postprocess_nodes(nodes))


def even_number() -> str:
    return "; ".join(_reordered(texts) for texts in (given.FOUR, given.FIVE))


class _Retriever(BaseRetriever):
    """A retriever that has found its nodes before."""

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        self.nodes = nodes
        super().__init__()

    def _retrieve(self, _: Any) -> list[NodeWithScore]:
        return self.nodes


def _ranked(nodes: list[NodeWithScore]) -> str:
    """Sort by score as its fusion of retrievers does, here of a single one, all of what it found and for one query."""
    ranker = QueryFusionRetriever(
        [_Retriever(nodes)], llm=MockLLM(), num_queries=1, similarity_top_k=len(nodes), use_async=False
    )
    return " ".join(each.node.get_content() for each in ranker.retrieve(given.QUERY))


def ties_and_nan() -> str:
    return _ranked(_nodes(*given.TIED))


def dict_items() -> str:
    """Its nodes are made of dicts by its own reader."""
    pairs = zip(*given.DICTS, strict=True)
    return _ranked([NodeWithScore(node=TextNode.from_dict({"text": d["content"]}), score=s) for d, s in pairs])


def _found(query: str, documents: list[str]) -> str:
    """Look documents up by the words of a query; no score comes of it."""
    index = SimpleKeywordTableIndex([TextNode(text=text) for text in documents], llm=MockLLM())
    return f"{len(index.as_retriever(retriever_mode='simple').retrieve(query))} documents"


def empty_query() -> str:
    return _found("", given.DOCUMENTS)


def stop_words() -> str:
    return _found(given.STOP_WORDS, given.DOCUMENTS)


def empty_documents() -> str:
    return _found(given.QUERY, given.NO_TEXT)


def _tools(tools: list[dict[str, Any]]) -> list[FunctionTool]:
    functions = [each["function"] for each in tools]
    return [FunctionTool.from_defaults(print, name=each["name"], description=each["description"]) for each in functions]


def _agent(tools: list[dict[str, Any]]) -> str:
    return f"{len(FunctionAgent(tools=_tools(tools), llm=MockLLM()).tools)} tools"


def no_tools() -> str:
    return _agent([])


def twice() -> str:
    return _agent(given.TWICE)


def unknown_tool() -> str:
    """Run a call of the unknown tool, the one place where it looks a tool up by its name."""
    asked = ToolSelection(tool_id="a", tool_name=given.UNKNOWN, tool_kwargs={})
    return str(call_tool_with_selection(asked, _tools(given.TOOLS)))
