"""What haystack-ai returns for the inputs of `edge_cases.py`."""

from __future__ import annotations

from typing import Any

import edge_inputs as given
from haystack import Document
from haystack.components.preprocessors import RecursiveDocumentSplitter
from haystack.components.rankers import LostInTheMiddleRanker, MetaFieldRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import Tool, Toolset

NAME = "haystack-ai"


def read(messages: Any) -> str:
    read = [ChatMessage.from_openai_dict_format(message) for message in messages]
    return given.said([message.to_openai_dict_format() for message in read])


def _middle(documents: list[Document]) -> str:
    return " ".join(str(each.content) for each in LostInTheMiddleRanker().run(documents=documents)["documents"])


def no_messages() -> str:
    return read([])


def only_system() -> str:
    return read(given.ONLY_SYSTEM)


def emoji() -> str:
    splitter = RecursiveDocumentSplitter(split_length=20, split_unit="char", separators=["\n"])
    splitter.warm_up()
    pieces = splitter.run([Document(content=given.EMOJI)])["documents"]
    return f"{len(pieces)} pieces, the first ends in {str(pieces[0].content)[-8:]!r}"


def even_number() -> str:
    return "; ".join(_middle([Document(content=text) for text in texts]) for texts in (given.FOUR, given.FIVE))


def ties_and_nan() -> str:
    documents = [
        Document(content=text, meta={"score": score}) for text, score in zip(*given.TIED, strict=True)
    ]  # fmt: skip
    found = MetaFieldRanker(meta_field="score", weight=1.0).run(documents=documents)["documents"]
    return " ".join(str(each.content) for each in found)


def empty_query() -> str:
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=text) for text in given.DOCUMENTS])
    retriever = InMemoryBM25Retriever(store)
    found = [retriever.run(query=query)["documents"] for query in ("the of and", "")]
    return str([[each.score for each in documents] for documents in found])


def near_copies() -> str:
    texts, scores = given.COPIES
    documents = [Document(content=text, score=score) for text, score in zip(texts, scores, strict=True)]
    return f"{len(LostInTheMiddleRanker().run(documents=documents)['documents'])} of 2 kept"


def no_tools() -> str:
    return f"{len(Toolset([]))} tools"


def unknown_tool() -> str:
    return f"'read_status' in the tools: {'read_status' in Toolset([_tool(), _other()])}"


def twice() -> str:
    return f"{len(Toolset([_tool(), _tool()]))} tools"


def schema() -> str:
    function = given.SCHEMA["function"]
    tool = Tool(function["name"], function["description"], function["parameters"], print)
    return given.schema_said({"function": tool.tool_spec})


def _tool() -> Tool:
    function = given.TOOLS[0]["function"]
    return Tool(function["name"], function["description"], function["parameters"], print)


def _other() -> Tool:
    function = given.TOOLS[1]["function"]
    return Tool(function["name"], function["description"], function["parameters"], print)
