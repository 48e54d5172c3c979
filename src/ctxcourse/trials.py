"""Run the calls of an experiment, keep what came of them as a table, and count.

A table has one row a call. Where it came from stands in ``frame.attrs["provenance"]``, which `save` writes beside it.
What this module does not do: say what is asked (see `ctxcourse.sweeps`) or draw (see `ctxcourse.needle_plots`).
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError
from ctxcourse.model.tree import TokenTree
from ctxcourse.needle import KINDS, NEW_TOKENS
from ctxcourse.sweeps import MOST_TRIALS, Call

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
OPTIONAL = ("found", "found_row")


class TrialsError(CourseError, ValueError):
    """A table, a file or a question about them that cannot be: the message says which and what is possible."""


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

    Raises `TrialsError` without calls, and what `Model.complete_many` raises (`Cancelled` once ``should_stop`` says
    so).
    """
    from pandas import DataFrame

    if not calls:
        raise TrialsError("there are no calls to run: make some with ctxcourse.sweeps")
    prompts = [call.messages() for call in calls]
    began = time.perf_counter()
    completions = model.complete_many(
        prompts, max_new_tokens=NEW_TOKENS, remember=True, should_stop=should_stop, progress=progress
    )
    seconds = time.perf_counter() - began
    rows = [_row(call, completion) for call, completion in zip(calls, completions, strict=True)]
    frame = DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)
    distinct = TokenTree()
    for prompt in prompts:
        distinct.insert(model.encode_prompt(prompt))
    frame.attrs["provenance"] = {
        "experiment": " + ".join(dict.fromkeys(call.experiment for call in calls)),
        "model": model.label,
        "fingerprint": model.fingerprint,
        "decoding": "greedy",
        "max_new_tokens": NEW_TOKENS,
        "seed": calls[0].seed // MOST_TRIALS,
        "arguments": _arguments(calls),
        "calls": len(calls),
        "tokens_in_prompts": sum(completion.prompt_tokens for completion in completions),
        "distinct_tokens": len(distinct),
        "computed_tokens": sum(completion.computed_tokens for completion in completions),
        "remembered": sum(completion.remembered for completion in completions),
        "seconds": round(seconds, 1),
        "version": version("ctxcourse"),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
    }
    return frame


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

    Each file is written beside its place and then renamed, so that neither is ever there by half. Raises
    `TrialsError` where they cannot be written, or the table is none of `run`.
    """
    table, about = _paths(path)
    _check_columns(frame, "this table")
    if "provenance" not in frame.attrs:
        raise TrialsError('this table does not say where it came from: frame.attrs["provenance"] is missing')
    provenance = json.dumps(frame.attrs["provenance"], ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    text = frame[list(COLUMNS)].to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    for target, content in ((about, provenance), (table, text)):
        _write(target, content)


def _write(path: Path, content: str) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(content, encoding="utf-8", newline="")
        beside.replace(path)
    except OSError as error:
        raise TrialsError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


def load(path: str | Path) -> DataFrame:
    """Read a table that `save` wrote, with its provenance.

    Raises `TrialsError` for files that are missing, unreadable or no such table, naming file and column.
    """
    from pandas import read_csv

    table, about = _paths(path)
    try:
        provenance = json.loads(_read(about))
    except ValueError as error:
        raise TrialsError(f"{about} is not valid JSON: {error}") from error
    missing = {name: [""] for name in OPTIONAL}
    try:
        frame = read_csv(io.StringIO(_read(table), newline=""), dtype=COLUMNS, keep_default_na=False, na_values=missing)
    except (ValueError, TypeError) as error:  # pandas' own errors of parsing are ValueErrors
        raise TrialsError(f"{table} is no table of needle trials: {error}") from error
    _check_columns(frame, str(table))
    unknown = frame[~frame["kind"].isin(KINDS)]
    if len(unknown):
        raise TrialsError(
            f"{table}, trial {unknown['trial'].iloc[0]}: kind is {unknown['kind'].iloc[0]!r}; it is one of "
            f"{', '.join(KINDS)}"
        )
    frame.attrs["provenance"] = provenance
    return frame[list(COLUMNS)]


def cells(frame: DataFrame, by: str | list[str]) -> DataFrame:
    """Return one row for each value of ``by`` (or each combination): how many trials, and what they were.

    Columns: those of ``by``; ``records``, ``depth`` and ``share`` where every cell has one value of them;
    ``prompt_tokens`` (the mean, as a whole number); ``n``; ``hits``, ``other_record`` and ``neither``, which add up
    to n; ``low`` and ``high``, the Wilson 95 % interval of hits / n. Cells are in ascending order of ``by``.
    """
    from pandas import DataFrame

    from ctxcourse.stats import wilson

    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise TrialsError("by names no column: give at least one, such as 'depth'")
    for name in names:
        _check_name(frame, name)
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
    """Compare the hits at two values of a column by McNemar's exact test, paired by trial.

    Raises `TrialsError` for a value that does not occur, for trials that were asked at one of the two only, and where
    a trial has more than one call at a value (choose one cell of the other columns first).
    """
    from ctxcourse.stats import mcnemar

    _check_name(frame, column)
    hits = []
    for value in (first, second):
        part = frame[(frame[column] == value).fillna(False)]
        if part.empty:
            known = ", ".join(str(each) for each in sorted(frame[column].dropna().unique()))
            raise TrialsError(f"{column} is nowhere {value!r} in this table; there are {known}")
        twice = part["trial"][part["trial"].duplicated()]
        if len(twice):
            raise TrialsError(
                f"trial {twice.iloc[0]} has more than one call at {column} = {value!r}: keep one value of the other "
                "columns, or trials cannot be paired"
            )
        hits.append((part.set_index("trial")["kind"] == "hit").sort_index())
    if list(hits[0].index) != list(hits[1].index):
        alone = sorted(set(hits[0].index) ^ set(hits[1].index))
        raise TrialsError(f"trial {alone[0]} was asked at only one of {column} = {first!r} and {second!r}: no pair")
    return mcnemar([bool(hit) for hit in hits[0]], [bool(hit) for hit in hits[1]])


def _paths(path: str | Path) -> tuple[Path, Path]:
    """Return where the table is, and where its provenance."""
    path = Path(path)
    stem = path.name.removesuffix(".csv")
    return path.with_name(f"{stem}.csv"), path.with_name(f"{stem}.provenance.json")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise TrialsError(f"{path} does not exist; a table and its provenance lie side by side") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TrialsError(f"{path} cannot be read: {error}") from error


def _check_columns(frame: DataFrame, where: str) -> None:
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise TrialsError(f"{where} has no column {missing[0]!r}; a table of trials has {', '.join(COLUMNS)}")


def _check_name(frame: DataFrame, name: str) -> None:
    if name not in frame.columns:
        raise TrialsError(f"there is no column {name!r} in this table; there are {', '.join(frame.columns)}")
