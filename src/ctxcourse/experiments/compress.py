"""The compress experiment: twenty documents, four ways to make each shorter, one question, and what the answer was.

Every way but the first has a quarter of the document's tokens, and none is told what will be asked. What this module
does not do: draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxcourse.history.key_sentences import key_sentences
from ctxcourse.history.summaries import summary_prompt
from ctxcourse.needle.sweeps import checked_count
from ctxcourse.samples.documents import KINDS, Document, load_documents
from ctxcourse.tables import Table, TableError, counted, provenance
from ctxcourse.tokens import Counter, truncate

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model

STRATEGIES: tuple[str, ...] = ("full", "truncation", "key sentences", "summary")
DOCUMENTS = 20
SHARE = 4
"""A compressed text has at most one ``SHARE``-th of the document's tokens."""
SUMMARY_TOKENS = 150  # a quarter of 600, which no document exceeds: one limit for all, so that the store knows them
NEW_TOKENS = 24
SYSTEM = "You answer questions about a text, as briefly as possible and in the words of the text."

TABLE = Table(
    name="the compress experiment",
    columns={
        "experiment": "string",
        "document": "string",
        "strategy": "string",
        "tokens_before": "Int64",
        "tokens_after": "Int64",
        "ratio": "float64",
        "spent_tokens": "Int64",
        "holds": "boolean",
        "answer": "string",
        "kind": "string",
        "prompt_tokens": "Int64",
        "new_tokens": "Int64",
        "text": "string",
    },
    values={"strategy": STRATEGIES, "kind": KINDS},
    unit="document",
)
"""One row a call. ``tokens_before`` and ``tokens_after`` are plain text, ``ratio`` the second over the first;
``spent_tokens`` what the summariser read and wrote; ``holds`` whether ``text``, which the model was given, still has
the answer; ``kind`` whether the model found it, by the rule of `Document.kind`."""


@dataclass(frozen=True)
class CompressCall:
    """One document under one strategy; what the model is given depends on it, so that `run` writes the prompt."""

    document: Document
    strategy: str


def calls(documents: int = DOCUMENTS, strategies: Sequence[str] = STRATEGIES) -> list[CompressCall]:
    """Return every strategy for each of the first documents; three in a row have their answers in three places.

    Raises `SweepError` for more documents than there are, `TableError` for a strategy that is none of `STRATEGIES`.

    >>> [call.strategy for call in calls(documents=1)]
    ['full', 'truncation', 'key sentences', 'summary']
    """
    known = load_documents()
    documents = checked_count("documents", documents, 1, len(known))
    for strategy in strategies:
        if strategy not in STRATEGIES:
            raise TableError(f"no strategy is called {strategy!r}; there are {', '.join(STRATEGIES)}")
    return [CompressCall(document, strategy) for document in known[:documents] for strategy in strategies]


def budget(document: Document, counter: Counter) -> int:
    """Return how many tokens a strategy may keep of a document."""
    return max(1, counter.count_text(document.text) // SHARE)


def messages(text: str, question: str) -> list[dict[str, Any]]:
    """Return the prompt that asks a question about a text.

    >>> print(messages("It rained.", "What did it do?")[1]["content"])
    <text>
    It rained.
    </text>
    <BLANKLINE>
    What did it do? Answer in a few words.
    """
    asked = f"<text>\n{text}\n</text>\n\n{question} Answer in a few words."
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": asked}]


def compressed(call: CompressCall, counter: Counter, summary: str = "") -> str:
    """Return what a strategy leaves of a document; ``summary`` is what the summariser answered, if it was asked.

    A summary over its budget is cut to it, as the course's rule has it that a summary must shrink; an empty one is
    refused, and the document stays as it was.
    """
    text, most = call.document.text, budget(call.document, counter)
    if call.strategy == "truncation":
        return truncate(text, most, counter).strip()
    if call.strategy == "key sentences":
        return key_sentences(text, most, counter)
    if call.strategy == "summary":
        return truncate(summary.strip(), most, counter).strip() or text
    return text


def run(
    calls: Sequence[CompressCall],
    model: Model,
    progress: bool = True,
    should_stop: Callable[[], bool] = lambda: False,
    command: str | None = None,
) -> DataFrame:
    """Let the model write the summaries, then ask it all questions, and return one row a call, with provenance.

    All summaries are one batch (at most 150 new tokens), all questions another (24); both greedy. Finished answers are
    in the completion store at once: an interrupted run goes on where it stopped when it is called again. The
    provenance is that of the questions, one a row; ``summaries`` in it says what the first batch was.

    Raises `TableError` without calls, and what `Model.complete_many` raises.
    """
    if not calls:
        raise TableError("there are no calls to run: make some with ctxcourse.experiments.compress.calls")
    began = time.perf_counter()

    def asked(prompts: list[list[dict[str, Any]]], max_new_tokens: int) -> list[Completion]:
        return model.complete_many(
            prompts, max_new_tokens=max_new_tokens, remember=True, should_stop=should_stop, progress=progress
        )

    to_sum_up = list(dict.fromkeys(call.document for call in calls if call.strategy == "summary"))
    summary_prompts = [summary_prompt(document.text, budget(document, model)) for document in to_sum_up]
    answered = asked(summary_prompts, SUMMARY_TOKENS) if summary_prompts else []
    summaries = dict(zip(to_sum_up, answered, strict=True))
    texts = [_text(call, model, summaries) for call in calls]
    prompts = [messages(text, call.document.question) for call, text in zip(calls, texts, strict=True)]
    completions = asked(prompts, NEW_TOKENS)
    about = provenance(
        "compress",
        model,
        map(model.encode_prompt, prompts),
        completions,
        max_new_tokens=NEW_TOKENS,
        seed=0,  # nothing is drawn
        arguments={
            "documents": len({call.document for call in calls}),
            "strategies": list(dict.fromkeys(call.strategy for call in calls)),
        },
        seconds=time.perf_counter() - began,
        command=command,
    )
    about["summaries"] = {
        "max_new_tokens": SUMMARY_TOKENS,
        "calls": len(answered),
        "tokens_in_prompts": sum(completion.prompt_tokens for completion in answered),
        "computed_tokens": sum(completion.computed_tokens for completion in answered),
        "remembered": sum(completion.remembered for completion in answered),
    }
    rows = [
        _row(call, text, completion, summaries, model)
        for call, text, completion in zip(calls, texts, completions, strict=True)
    ]
    return TABLE.frame(rows, about)


def cells(frame: DataFrame) -> DataFrame:
    """Return one row a strategy: means (of ``holds``: the share of texts that do), hits and misses, the interval."""
    means = ["ratio", "tokens_after", "spent_tokens", "holds", "prompt_tokens"]
    return counted(frame, ["strategy"], "kind", KINDS, means=means)


def _text(call: CompressCall, model: Model, summaries: Mapping[Document, Completion]) -> str:
    return compressed(call, model, summaries[call.document].text if call.strategy == "summary" else "")


def _row(
    call: CompressCall, text: str, completion: Completion, summaries: Mapping[Document, Completion], model: Model
) -> list[Any]:
    document, spent = call.document, 0
    if call.strategy == "summary":
        spent = summaries[document].prompt_tokens + summaries[document].new_tokens
    before, after = model.count_text(document.text), model.count_text(text)
    sizes = [before, after, after / before, spent, document.holds(text)]
    answered = [completion.text, document.kind(completion.text), completion.prompt_tokens, completion.new_tokens]
    return ["compress", document.title, call.strategy, *sizes, *answered, text]
