"""The order experiment: one register, six arrangements of its lines, one question, and what the answer was.

The lines stand for retrieved documents, scored by BM25 against the question. Every arrangement of a trial holds the
same lines (`top 4` the four best of them), so that trials can be paired. What this module does not do: draw.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxcourse import needle
from ctxcourse.needle import KINDS, LONGEST, NEW_TOKENS, Score, register
from ctxcourse.needle.sweeps import MOST_SEED, MOST_TRIALS, checked_count, trial_seed
from ctxcourse.retrieval.ordering import best_first, reorder
from ctxcourse.retrieval.relevance import bm25_scores
from ctxcourse.tables import Table, TableError, counted, provenance

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model

ARRANGEMENTS: tuple[str, ...] = ("as drawn", "best first", "reordered", "best last", "top 4", "question first")
RECORDS = 50
TRIALS = 20
TOP = 4

TABLE = Table(
    name="the order experiment",
    columns={
        "experiment": "string",
        "trial": "Int64",
        "seed": "Int64",
        "arrangement": "string",
        "records": "Int64",
        "row": "Int64",
        "needle": "string",
        "right": "string",
        "answer": "string",
        "kind": "string",
        "found": "string",
        "found_row": "Int64",
        "prompt_tokens": "Int64",
        "new_tokens": "Int64",
        "stop_reason": "string",
    },
    optional=("found", "found_row"),
    values={"arrangement": ARRANGEMENTS, "kind": KINDS},
)
"""One row a call; ``row`` and ``found_row`` count the lines of the prompt from 0, ``records`` says how many."""


@dataclass(frozen=True)
class OrderCall:
    """One arrangement of one trial's lines, and all that is needed to judge the answer and to tabulate it.

    ``row`` is the needle's line in this arrangement, from 0; ``values`` holds the extension of each line, so that
    ``values[row] == right``.
    """

    trial: int
    seed: int
    arrangement: str
    row: int
    needle: str
    right: str
    lines: tuple[str, ...]
    asked: str
    values: tuple[str, ...]

    def messages(self) -> list[dict[str, Any]]:
        """Return the prompt as messages: that of `needle.messages`, and for `question first` the question before it."""
        system, user = needle.prompt(self.lines, self.asked)
        if self.arrangement == "question first":
            user["content"] = f"{self.asked}\n\n{user['content']}"
        return [system, user]

    def score(self, answer: str) -> Score:
        """Return what an answer is, by the rules of `needle.classify`."""
        return needle.judge(answer, self.asked, self.values, self.row)


def calls(trials: int = TRIALS, records: int = RECORDS, seed: int = 1) -> list[OrderCall]:
    """Return every arrangement of each trial's register; as drawn, its needle stands in a row that is drawn as well.

    No row is the needle's twice before each was it once. `as drawn` leaves the register as it is. `best first` ranks
    its lines by their score, `best last` is the reverse of that, and `reordered` has ranks 1 3 5 … from the front and
    2 4 6 … from the back. The owner's name stands in one line alone, which is therefore rank 1; the other lines differ
    in the length of a name at most, and those that score alike keep their order. Raises `SweepError` for impossible
    arguments.

    >>> [(call.arrangement, call.row) for call in calls(trials=1)]  # doctest: +NORMALIZE_WHITESPACE
    [('as drawn', 8), ('best first', 0), ('reordered', 0), ('best last', 49), ('top 4', 0),
     ('question first', 8)]
    """
    trials = checked_count("trials", trials, 1, MOST_TRIALS)
    records = checked_count("records", records, 1, LONGEST)
    seed = checked_count("seed", seed, 0, MOST_SEED)
    rows = random.Random(seed).sample(range(records), records)
    found = []
    for trial in range(trials):
        own_seed, row = trial_seed(seed, trial), rows[trial % records]
        drawn = register(records, own_seed)
        asked, gold = needle.question(drawn, row), drawn.records[row]
        for arrangement, order in arranged(bm25_scores(asked, drawn.lines)).items():
            placed = [drawn.records[place] for place in order]
            found.append(
                OrderCall(
                    trial=trial,
                    seed=own_seed,
                    arrangement=arrangement,
                    row=placed.index(gold),
                    needle=gold.ticket,
                    right=gold.extension,
                    lines=tuple(record.line for record in placed),
                    asked=asked,
                    values=tuple(record.extension for record in placed),
                )
            )
    return found


def arranged(scores: Sequence[float]) -> dict[str, list[int]]:
    """Return the places of the documents in the order in which each arrangement shows them.

    >>> orders = arranged([0.1, 0.9, 0.5, 0.3, 0.7])
    >>> orders["best first"], orders["reordered"], orders["top 4"]
    ([1, 4, 2, 3, 0], [1, 2, 0, 3, 4], [1, 4, 2, 3])
    """
    drawn, ranked = list(range(len(scores))), best_first(scores)
    return {
        "as drawn": drawn,
        "best first": ranked,
        "reordered": reorder(ranked),
        "best last": ranked[::-1],
        "top 4": ranked[:TOP],
        "question first": drawn,
    }


def run(
    calls: Sequence[OrderCall],
    model: Model,
    progress: bool = True,
    should_stop: Callable[[], bool] = lambda: False,
    command: str | None = None,
) -> DataFrame:
    """Ask the model all calls (greedy, 12 new tokens) and return one row a call, in their order, with provenance.

    Finished answers are in the completion store at once: an interrupted run goes on where it stopped when it is called
    again. Raises `TableError` without calls, and what `Model.complete_many` raises.
    """
    if not calls:
        raise TableError("there are no calls to run: make some with ctxcourse.experiments.order.calls")
    prompts = [call.messages() for call in calls]
    began = time.perf_counter()
    completions = model.complete_many(
        prompts, max_new_tokens=NEW_TOKENS, remember=True, should_stop=should_stop, progress=progress
    )
    seconds = time.perf_counter() - began
    about = provenance(
        "order",
        model,
        map(model.encode_prompt, prompts),
        completions,
        max_new_tokens=NEW_TOKENS,
        seed=calls[0].seed // MOST_TRIALS,
        arguments={
            "arrangements": list(dict.fromkeys(call.arrangement for call in calls)),
            "records": max(len(call.lines) for call in calls),
            "trials": len({call.trial for call in calls}),
        },
        seconds=seconds,
        command=command,
    )
    return TABLE.frame([_row(call, completion) for call, completion in zip(calls, completions, strict=True)], about)


def cells(frame: DataFrame) -> DataFrame:
    """Return one row an arrangement: mean tokens of its prompts, how many trials, what they were, and the interval."""
    return counted(frame, ["arrangement"], "kind", KINDS, means=["prompt_tokens"])


def _row(call: OrderCall, completion: Completion) -> list[Any]:
    kind, found, found_row = call.score(completion.text)
    asked = ["order", call.trial, call.seed, call.arrangement, len(call.lines), call.row, call.needle, call.right]
    answered = [completion.text, kind, found, found_row]
    return [*asked, *answered, completion.prompt_tokens, completion.new_tokens, completion.stop_reason]
