"""What this package returns for the inputs of `edge_cases.py`."""

from __future__ import annotations

from typing import Any

import edge_inputs as given

from ctxcourse import buckets, catalogue_cost, load_tokenizer, needle
from ctxcourse.budget import ContextBudget
from ctxcourse.history import Elision, RollingSummary, SlidingWindow, Truncation
from ctxcourse.messages import normalise, paired
from ctxcourse.retrieval import bm25_scores, dedup, intent, rank, reorder
from ctxcourse.tokens import count_text, truncate
from ctxcourse.tools import Toolset, trim_prose

NAME = "ctxcourse"
TOKENIZER = load_tokenizer()


def read(messages: Any) -> str:
    return given.said(normalise(messages))


def _trimmed(messages: Any, budget: int = given.BUDGET, may_cut: bool = True) -> str:
    made = Truncation(budget, may_cut=may_cut).compress(messages, TOKENIZER)
    return f"{given.said(made.messages)} ({made.tokens_after} of {budget} tokens)"


def default_system() -> str:
    found = buckets(given.TALK, [], TOKENIZER)
    parts = ", ".join(f"{name} {size}" for name, size in found.as_dict().items() if size)
    return f"{found.total}: {parts}"


def dense_text() -> str:
    return f"{count_text(given.DENSE, TOKENIZER)}"


def orphan_result() -> str:
    return given.said(paired(given.ORPHAN))


def unanswered_call() -> str:
    return given.said(paired(given.UNANSWERED))


def parallel_calls() -> str:
    return _trimmed(given.PARALLEL, 130)


def control_tokens() -> str:
    start = TOKENIZER.encode_prompt(given.TALK)[0]
    begun = [TOKENIZER.encode_prompt(each).count(start) for each in (given.CONTROL, given.TALK)]
    return f"counted as text: {begun[0]} messages begin in the prompt, {begun[1]} with a harmless document"


def no_messages() -> str:
    return given.said(Truncation(given.BUDGET).compress([], TOKENIZER).messages)


def only_system() -> str:
    return _trimmed(given.ONLY_SYSTEM)


def first_tool() -> str:
    cost = catalogue_cost(given.TOOLS, TOKENIZER)
    each = ", ".join(f"{name} {size}" for name, size in cost.per_tool.items())
    return f"preamble {cost.preamble}, {each}"


def system_too_large() -> str:
    return _trimmed([*given.SYSTEM, *given.TALK])


def reserve_too_large() -> str:
    return str(ContextBudget(window=4_096, generation=4_096).room)


def message_too_large() -> str:
    return _trimmed(given.LONG)


def summary_grows() -> str:
    compressor = RollingSummary(given.written, threshold=90, keep_last=2, summary_tokens=30)
    return given.said(compressor.compress(given.CHAT, TOKENIZER).messages)


def empty_history() -> str:
    return given.said(SlidingWindow(last=4).compress([], TOKENIZER).messages)


def stub_longer() -> str:
    made = Elision(after=1).compress(given.SHORT_RESULT, TOKENIZER)
    return given.said(made.messages)


def emoji() -> str:
    cut = truncate(given.EMOJI, 20, TOKENIZER)
    return f"{TOKENIZER.count_text(cut)} tokens, …{cut[-8:]!r}"


def even_number() -> str:
    return " ".join(reorder(given.FOUR)) + "; " + " ".join(reorder(given.FIVE))


def ties_and_nan() -> str:
    return " ".join(rank(*given.TIED))


def empty_query() -> str:
    return str([bm25_scores(query, given.DOCUMENTS) for query in ("", "the of and")])


def near_copies() -> str:
    made = dedup(*given.COPIES, count=TOKENIZER.count_text)
    return f"kept {made.kept}"


def intent_words() -> str:
    return str(intent(given.QUERY, given.KEYWORDS))


def schema() -> str:
    made = trim_prose(given.SCHEMA)
    return given.schema_said(made)


def no_tools() -> str:
    return f"{Toolset(given.TOOLS).select([])!r}"


def unknown_tool() -> str:
    return f"{Toolset(given.TOOLS).select(['read_status'])!r}"


def twice() -> str:
    return f"{Toolset(given.TWICE)!r}"


def needle_answers() -> str:
    three = needle.register(3, seed=1)
    right, other = three.records[0].extension, three.records[1].extension
    answers = (f"{right[0]},{right[1:]}", f"{other}, not {right}", "", needle.question(three, 0) + f" {right}")
    return ", ".join(needle.classify(answer, three, 0) for answer in answers)
