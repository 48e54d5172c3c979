"""Run the calls of an experiment, keep what came of them as a table, and count.

A table has one row a call. Where it came from stands in ``frame.attrs["provenance"]``, which `save` writes beside it.
What this module does not do: say what is asked (see `ctxcourse.needle.sweeps`) or draw (see `ctxcourse.plots.curves`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcourse.needle.registers import KINDS, NEW_TOKENS
from ctxcourse.needle.sweeps import MOST_TRIALS, Call
from ctxcourse.tables import Table, TableError, check_name, provenance

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model
    from ctxcourse.stats import Paired

COLUMNS: dict[str, str] = {
    "experiment": "string",
    "trial": "Int64",
    "seed": "Int64",
    "records": "Int64",
    "share": "float64",
    "depth": "float64",
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
}
"""The columns of a table with their types; ``found`` and ``found_row`` are NA where nothing was found."""
CALL = ("experiment", "seed", "trial", "records", "share", "depth", "row")
"""The columns that tell one call from another."""
TABLE = Table(name="needle trials", columns=COLUMNS, optional=("found", "found_row"), values={"kind": KINDS})


def run(
    calls: Sequence[Call],
    model: Model,
    progress: bool = True,
    should_stop: Callable[[], bool] = lambda: False,
    command: str | None = None,
) -> DataFrame:
    """Ask the model all calls (greedy, 12 new tokens) and return one row a call, in their order, with provenance.

    All prompts are one batch of `Model.complete_many`, which computes what they share once and shows one bar in
    tokens. Finished answers are in the completion store at once, so that an interrupted run goes on where it stopped
    when it is called again. ``command`` is what would repeat the run, for the provenance.

    Raises `TableError` without calls, and what `Model.complete_many` raises (`Cancelled` once ``should_stop`` says
    so).
    """
    if not calls:
        raise TableError("there are no calls to run: make some with ctxcourse.needle.sweeps")
    prompts = [call.messages() for call in calls]
    began = time.perf_counter()
    completions = model.complete_many(
        prompts, max_new_tokens=NEW_TOKENS, remember=True, should_stop=should_stop, progress=progress
    )
    seconds = time.perf_counter() - began
    about = provenance(
        " + ".join(dict.fromkeys(call.experiment for call in calls)),
        model,
        map(model.encode_prompt, prompts),
        completions,
        max_new_tokens=NEW_TOKENS,
        seed=calls[0].seed // MOST_TRIALS,
        arguments=_arguments(calls),
        seconds=seconds,
        command=command,
    )
    return TABLE.frame([_row(call, completion) for call, completion in zip(calls, completions, strict=True)], about)


def _row(call: Call, completion: Completion) -> list[Any]:
    kind, found, found_row = call.score(completion.text)
    asked = [call.experiment, call.trial, call.seed, call.records, call.share, call.depth, call.row]
    answered = [call.needle, call.right, completion.text, kind, found, found_row]
    return [*asked, *answered, completion.prompt_tokens, completion.new_tokens, completion.stop_reason]


def _arguments(calls: Sequence[Call]) -> dict[str, Any]:
    """Return what the calls vary: each value once, in ascending order."""
    return {
        "records": sorted({call.records for call in calls}),
        "shares": sorted({call.share for call in calls}),
        "depths": sorted({call.depth for call in calls}),
        "trials": len({call.trial for call in calls}),
    }


def save(frame: DataFrame, path: str | Path) -> None:
    """Write a table as ``path.csv`` and its provenance as ``path.provenance.json``; ``path`` may end in ``.csv``.

    Raises `TableError` where they cannot be written, or the table is none of `run`; see `Table.save`.
    """
    TABLE.save(frame, path)


def load(path: str | Path) -> DataFrame:
    """Read a table that `save` wrote, with its provenance.

    Raises `TableError` for files that are missing, unreadable or no such table, naming file and column.
    """
    return TABLE.load(path)


def cells(frame: DataFrame, by: str | list[str]) -> DataFrame:
    """Return one row for each value of ``by`` (or each combination): how many trials, and what they were.

    Columns: those of ``by``; ``records``, ``depth`` and ``share`` where every cell has one value of them;
    ``prompt_tokens`` (the mean, as a whole number); ``n``; ``hits``, ``other_record`` and ``neither``, which add up
    to n; ``low`` and ``high``, the Wilson 95 % interval of hits / n, which takes the calls of a cell as independent.
    Cells are in ascending order of ``by``. Raises `TableError` for a table that holds one call twice.
    """
    from pandas import DataFrame

    from ctxcourse.stats import wilson

    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise TableError("by names no column: give at least one, such as 'depth'")
    for name in names:
        check_name(frame, name)
    twice = frame[frame.duplicated(list(CALL))] if set(CALL) <= set(frame.columns) else frame[:0]
    if len(twice):
        said = ", ".join(f"{name} {twice[name].iloc[0]}" for name in CALL)
        raise TableError(f"this table holds one call twice ({said}): each once, or its answer would be counted twice")
    groups = list(frame.groupby(names, sort=True, dropna=False))
    extra = [
        name
        for name in ("records", "depth", "share")
        if name not in names and all(group[name].nunique() == 1 for _, group in groups)
    ]
    counted = []
    for key, group in groups:
        kinds = [int((group["kind"] == kind).sum()) for kind in KINDS]
        interval = wilson(kinds[0], len(group))
        held = [group[name].iloc[0] for name in extra]
        tokens = round(float(group["prompt_tokens"].mean()))
        counted.append([*key, *held, tokens, len(group), *kinds, interval.low, interval.high])
    columns = [*names, *extra, "prompt_tokens", "n", "hits", "other_record", "neither", "low", "high"]
    types = {name: frame[name].dtype for name in (*names, *extra)}
    return DataFrame(counted, columns=columns).astype(types)


def compare(frame: DataFrame, column: str, first: Any, second: Any) -> Paired:
    """Compare the hits at two values of a column by McNemar's exact test, paired by register: seed and trial.

    Raises `TableError` for a value that does not occur, for trials that were asked at one of the two only, and where
    a trial has more than one call at a value (choose one cell of the other columns first).
    """
    from ctxcourse.stats import mcnemar

    check_name(frame, column)
    hits = []
    for value in (first, second):
        part = frame[(frame[column] == value).fillna(False)]
        if part.empty:
            known = ", ".join(str(each) for each in sorted(frame[column].dropna().unique()))
            raise TableError(f"{column} is nowhere {value!r} in this table; there are {known}")
        twice = part[part.duplicated(["seed", "trial"])]
        if len(twice):
            raise TableError(
                f"trial {twice['trial'].iloc[0]} has more than one call at {column} = {value!r}: keep "
                "one value of the other columns, or trials cannot be paired"
            )
        hits.append((part.set_index(["seed", "trial"])["kind"] == "hit").sort_index())
    if list(hits[0].index) != list(hits[1].index):
        seed, trial = min(set(hits[0].index) ^ set(hits[1].index))
        raise TableError(
            f"trial {trial} (seed {seed}) was asked at only one of {column} = {first!r} and {second!r}: no pair"
        )
    return mcnemar([bool(hit) for hit in hits[0]], [bool(hit) for hit in hits[1]])
