"""Tables of an experiment, one row a call: their columns, how they are kept on the disk, and where they came from.

A table is a CSV file that any program reads, and its provenance a JSON file beside it; in memory the provenance stands
in ``frame.attrs["provenance"]``. What this module does not do: say what an experiment's columns are (each says its
own, see `ctxcourse.needle.trials`) or run one.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError
from ctxcourse.model.tree import distinct_tokens

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model


class TableError(CourseError, ValueError):
    """A table, a file or a question about them that cannot be: the message says which and what is possible."""


@dataclass(frozen=True)
class Table:
    """What the tables of one experiment look like.

    ``name`` says what they are, in error messages; ``columns`` holds the columns with their pandas types;
    ``optional`` those that may be NA; ``values`` what a column's values are confined to; ``unit`` the column that
    tells a row by which a reader finds it.
    """

    name: str
    columns: Mapping[str, str]
    optional: Sequence[str] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unit: str = "trial"

    def frame(self, rows: Iterable[Sequence[Any]], provenance: Mapping[str, Any]) -> DataFrame:
        """Return rows, each with its values in the order of the columns, as a table with its provenance."""
        from pandas import DataFrame

        frame = DataFrame(list(rows), columns=list(self.columns)).astype(dict(self.columns))
        frame.attrs["provenance"] = dict(provenance)
        return frame

    def save(self, frame: DataFrame, path: str | Path) -> None:
        """Write a table as ``path.csv`` and its provenance as ``path.provenance.json``; ``path`` may end in ``.csv``.

        Each file is written beside its place and then renamed, so that neither is ever there by half. Raises
        `TableError` where they cannot be written, or the table lacks a column or its provenance.
        """
        table, about = _paths(path)
        self._check_columns(frame, "this table")
        if "provenance" not in frame.attrs:
            raise TableError('this table does not say where it came from: frame.attrs["provenance"] is missing')
        _check_size(frame, frame.attrs["provenance"], "this table")
        provenance = json.dumps(frame.attrs["provenance"], ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        text = frame[list(self.columns)].to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        for target, content in ((about, provenance), (table, text)):
            _write(target, content)

    def load(self, path: str | Path) -> DataFrame:
        """Read a table that `save` wrote, with its provenance.

        Raises `TableError` for files that are missing, unreadable or no such table, naming file and column.
        """
        from pandas import read_csv

        table, about = _paths(path)
        try:
            provenance = json.loads(_read(about))
        except ValueError as error:
            raise TableError(f"{about} is not valid JSON: {error}") from error
        missing = {name: [""] for name in self.optional}
        text = io.StringIO(_read(table), newline="")
        try:
            frame = read_csv(text, dtype=dict(self.columns), keep_default_na=False, na_values=missing)
        except (ValueError, TypeError) as error:  # pandas' own errors of parsing are ValueErrors
            raise TableError(f"{table} is no table of {self.name}: {error}") from error
        self._check_columns(frame, str(table))
        self._check_values(frame, str(table))
        _check_size(frame, provenance, str(about))
        frame.attrs["provenance"] = provenance
        return frame[list(self.columns)]

    def _check_columns(self, frame: DataFrame, where: str) -> None:
        missing = [name for name in self.columns if name not in frame.columns]
        if missing:
            raise TableError(
                f"{where} has no column {missing[0]!r}; a table of {self.name} has {', '.join(self.columns)}"
            )

    def _check_values(self, frame: DataFrame, where: str) -> None:
        for name, allowed in self.values.items():
            unknown = frame[~frame[name].isin(list(allowed))]
            if len(unknown):
                row = unknown.iloc[0]
                raise TableError(
                    f"{where}, {self.unit} {row[self.unit]}: {name} is {row[name]!r}; it is one of {', '.join(allowed)}"
                )


def provenance(
    experiment: str,
    model: Model,
    prompts: Iterable[Sequence[int]],
    completions: Sequence[Completion],
    *,
    max_new_tokens: int,
    seed: int,
    arguments: Mapping[str, Any],
    seconds: float,
    command: str | None,
) -> dict[str, Any]:
    """Return where a table came from: what was asked of which model, what it cost, when, and by which versions.

    ``prompts`` are the token ids of all calls, from which the distinct tokens are counted: those that would be
    computed if every shared prefix were computed once. ``command`` is what would repeat the run.
    """
    return {
        "experiment": experiment,
        "model": model.label,
        "fingerprint": model.fingerprint,
        "decoding": "greedy",
        "max_new_tokens": max_new_tokens,
        "seed": seed,
        "arguments": dict(arguments),
        "calls": len(completions),
        "tokens_in_prompts": sum(completion.prompt_tokens for completion in completions),
        "distinct_tokens": distinct_tokens(prompts),
        "computed_tokens": sum(completion.computed_tokens for completion in completions),
        "remembered": sum(completion.remembered for completion in completions),
        "seconds": round(seconds, 1),
        "version": version("ctxcourse"),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
    }


def counted(
    frame: DataFrame, by: Sequence[str], column: str, values: Sequence[str], means: Sequence[str] = ()
) -> DataFrame:
    """Return one row for each combination of ``by`` that occurs, in the order of its first row: what came of its calls.

    Columns: those of ``by``; the mean of each of ``means``; ``n``; one count for each of ``values`` of ``column``
    (named like it, ``_`` for a space), which add up to n; ``low`` and ``high``, the Wilson 95 % interval of the share
    of the first of ``values``. Raises `TableError` for a column that is not there.
    """
    from pandas import DataFrame

    from ctxcourse.stats import wilson

    for name in (*by, column, *means):
        check_name(frame, name)
    rows = []
    for key, group in frame.groupby(list(by), sort=False, dropna=False):
        counts = [int((group[column] == value).sum()) for value in values]
        interval = wilson(counts[0], len(group))
        averages = [float(group[name].mean()) for name in means]
        rows.append([*key, *averages, len(group), *counts, interval.low, interval.high])
    columns = [*by, *means, "n", *(value.replace(" ", "_") for value in values), "low", "high"]
    return DataFrame(rows, columns=columns).astype({name: frame[name].dtype for name in by})


def check_name(frame: DataFrame, name: str) -> None:
    """Raise `TableError` where a table has no such column."""
    if name not in frame.columns:
        raise TableError(f"there is no column {name!r} in this table; there are {', '.join(frame.columns)}")


def _check_size(frame: DataFrame, about: Any, where: str) -> None:
    """Raise `TableError` for a provenance that is none, or that of another table."""
    missing = [name for name in ("calls", "model", "fingerprint", "date") if name not in about] if about else ["calls"]
    if not isinstance(about, dict) or missing:
        raise TableError(
            f"{where}: the provenance does not say {missing[0] if missing else 'calls'}; write it with save"
        )
    if about["calls"] != len(frame):
        raise TableError(
            f"{where}: the provenance is that of {about['calls']} calls, and the table has {len(frame)}: they do not "
            "belong together. Save a part of a table without it: frame.to_csv"
        )


def _write(path: Path, content: str) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(content, encoding="utf-8", newline="")
        beside.replace(path)
    except OSError as error:
        raise TableError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


def _paths(path: str | Path) -> tuple[Path, Path]:
    """Return where the table is, and where its provenance."""
    path = Path(path)
    stem = path.name.removesuffix(".csv")
    return path.with_name(f"{stem}.csv"), path.with_name(f"{stem}.provenance.json")


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise TableError(f"{path} does not exist; a table and its provenance lie side by side") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path} cannot be read: {error}") from error
