"""What this package returns for the inputs of `edge_cases.py`."""

from __future__ import annotations

from typing import Any

import edge_inputs as given
from edge_counting import TOKENIZER, fitted

from ctxcourse import buckets, catalogue_cost, needle
from ctxcourse.budget import ContextBudget
from ctxcourse.history import Elision, RollingSummary, SlidingWindow, Truncation
from ctxcourse.messages import normalise, paired, repair
from ctxcourse.retrieval import bm25_scores, dedup, intent, rank, relevant, reorder
from ctxcourse.tokens import count_text, truncate
from ctxcourse.tools import Toolset, trim_prose

NAME = "ctxcourse"


def read(messages: Any) -> str:
    return given.said(normalise(messages))


def _trimmed(messages: Any, budget: int = given.BUDGET, may_cut: bool = True) -> str:
    return fitted(Truncation(budget, may_cut=may_cut).compress(messages, TOKENIZER).messages, budget)


def default_system() -> str:
    found = buckets(given.TALK, [], TOKENIZER)
    parts = ", ".join(f"{name} {size}" for name, size in found.as_dict().items() if size and name != "total")
    return f"{found.total}: {parts}"


def dense_text() -> str:
    return ", ".join(f"{name} {count_text(text, TOKENIZER)}" for name, text in given.DENSE.items())


def orphan_result() -> str:
    return given.said(paired(given.ORPHAN))


def unanswered_call() -> str:
    return given.said(paired(given.UNANSWERED))


def repaired() -> str:
    return " / ".join(given.said(repair(talk)) for talk in (given.ORPHAN, given.UNANSWERED))


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, given.ROOM)


def control_tokens() -> str:
    start = TOKENIZER.encode_prompt(given.TALK)[0]
    begun = [TOKENIZER.encode_prompt(each).count(start) for each in (given.CONTROL, given.TALK)]
    return f"counted as text: {begun[0]} messages begin in the prompt, {begun[1]} with a harmless document"


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM)


def first_tool() -> str:
    cost = catalogue_cost(given.TOOLS, TOKENIZER)
    each = ", ".join(f"{name} {size}" for name, size in cost.per_tool.items())
    return f"preamble {cost.preamble}, {each}"


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK])


def reserve_too_large() -> str:
    return str(ContextBudget(window=given.WINDOW, generation=given.WINDOW).room)


def zero_budget() -> str:
    return _trimmed(given.TALK, 0)


def negative_budget() -> str:
    return _trimmed(given.TALK, -5)


def message_too_large() -> str:
    return _trimmed(given.LONG)


def message_uncut() -> str:
    return _trimmed(given.LONG, may_cut=False)


def summary_grows() -> str:
    asked = given.Summariser(given.LONG_SUMMARY)
    compressor = RollingSummary(asked, threshold=given.ROOM, keep_last=2, summary_tokens=30)
    return given.said(compressor.compress(given.LONG_CHAT, TOKENIZER).messages)


def tail_too_large() -> str:
    asked = given.Summariser(given.SHORT_SUMMARY)
    compressor = RollingSummary(asked, threshold=given.ROOM, keep_last=2, summary_tokens=30)
    return given.rounds(lambda talk: compressor.compress(talk, TOKENIZER).messages, given.TAIL, asked, list)


def fewer_turns() -> str:
    return given.said(SlidingWindow(last=given.KEEP).compress(given.CHAT, TOKENIZER).messages)


def no_user_turn() -> str:
    return _trimmed(given.NO_USER, given.ROOM)


def no_user_over() -> str:
    return _trimmed(given.NO_USER)


def empty_history() -> str:
    return _trimmed([])


def stub_longer() -> str:
    return fitted(Elision(after=1).compress(given.SHORT_RESULT, TOKENIZER).messages, given.BUDGET)


def emoji() -> str:
    cut = truncate(given.EMOJI, given.BUDGET, TOKENIZER)
    return given.ends(cut, f"{TOKENIZER.count_text(cut)} tokens")


def even_number() -> str:
    return " ".join(reorder(given.FOUR)) + "; " + " ".join(reorder(given.FIVE))


def ties_and_nan() -> str:
    return " ".join(rank(*given.TIED))


def dict_items() -> str:
    return " ".join(each["content"] for each in rank(*given.DICTS))


def _found(query: str, documents: list[str]) -> str:
    scores = bm25_scores(query, documents)
    kept = relevant(documents, scores, query=query)
    order = ", in their order" if kept and rank(kept, scores) == documents else ""
    return f"{len(kept)} documents{order}, scores {scores}"


def empty_query() -> str:
    return _found("", given.DOCUMENTS)


def stop_words() -> str:
    return _found(given.STOP_WORDS, given.DOCUMENTS)


def empty_documents() -> str:
    return _found(given.QUERY, given.NO_TEXT)


def near_copies() -> str:
    return f"kept {dedup(*given.COPIES, count=TOKENIZER.count_text).kept}"


def intent_words() -> str:
    return str(intent(given.QUERY, given.KEYWORDS))


def schema() -> str:
    return given.schema_said(trim_prose(given.SCHEMA))


def no_tools() -> str:
    return f"{len(Toolset(given.TOOLS).select([]).tools)} tools"


def unknown_tool() -> str:
    return f"{Toolset(given.TOOLS).select([given.UNKNOWN])!r}"


def twice() -> str:
    return f"{Toolset(given.TWICE)!r}"


def needle_answers() -> str:
    return ", ".join(needle.classify(answer, given.REGISTER, 0) for answer in given.ANSWERS)
