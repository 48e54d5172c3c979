"""What a needle command does with its calls: ask them, keep the table and a picture, and print the cells."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.pictures import Picture
    from ctxcourse.sweeps import Call


@dataclass(frozen=True)
class NeedleRun:
    """What is to be done with the answers: kept, drawn and printed."""

    name: str
    said: list[str]
    seed: int
    model: str | None
    as_json: bool
    csv: Path | None
    plot: Path | None
    draw: Callable[[DataFrame], Picture]

    @property
    def command(self) -> str:
        """The command that repeats the run, without the files it was written to."""
        chosen = [f"--model {shlex.quote(self.model)}"] if self.model else []
        return " ".join(["ctxcourse needle", self.name, *self.said, f"--seed {self.seed}", *chosen])

    def report(self, calls: Sequence[Call], by: str | list[str]) -> None:
        """Ask the calls, keep what is to be kept, and print the cells."""
        from ctxcourse import trials
        from ctxcourse.loading import load_model

        for option, path, suffix in (("--csv", self.csv, ".csv"), ("--plot", self.plot, ".png")):
            if path is not None and (path.suffix != suffix or not path.parent.is_dir() or path.is_dir()):
                raise CourseError(f"{option} {path}: name a {suffix} file in a folder that exists.")
        frame = trials.run(calls, load_model(self.model), command=self.command)
        if self.csv is not None:
            trials.save(frame, self.csv)
        found = _plain(trials.cells(frame, by))
        typer.echo(json.dumps(found) if self.as_json else _table(found))
        typer.echo(_account(frame.attrs["provenance"], self.csv), err=self.as_json)
        if self.plot is not None:
            try:
                self.draw(frame).save(self.plot)
            except OSError as error:
                raise CourseError(f"--plot {self.plot} cannot be written: {error.strerror or error}") from error


def _plain(cells: DataFrame) -> list[dict[str, int | float]]:
    """Return cells as dicts of Python's own numbers, in the order in which people read them."""
    real = ("depth", "share", "low", "high")
    order = [name for name in ("records", "row", "depth", "share") if name in cells.columns]
    order += [name for name in cells.columns if name not in order]
    rows = cells[order].to_dict("records")
    return [{name: float(row[name]) if name in real else int(row[name]) for name in order} for row in rows]


def _table(found: list[dict[str, int | float]]) -> str:
    """Return cells as a table for people: shares of hits with their Wilson 95 % interval."""
    places = [name for name in ("records", "row", "depth", "share") if name in found[0]]
    heads = [*places, "tokens", "n", "hits", "other record", "neither", "right", "95 % interval"]
    lines = [heads]
    for cell in found:
        counts = [f"{cell[name]:,}" for name in ("prompt_tokens", "n", "hits", "other_record", "neither")]
        interval = f"{cell['low']:.0%} to {cell['high']:.0%}"
        lines.append([*(f"{cell[name]:g}" for name in places), *counts, f"{cell['hits'] / cell['n']:.0%}", interval])
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines)


def _account(about: dict[str, Any], csv: Path | None) -> str:
    """Return what the run cost, and where its provenance is."""
    kept = f"{csv} and {csv.with_suffix('.provenance.json').name}" if csv else "nowhere; --csv FILE keeps both"
    return (
        f"{about['model']} ({about['fingerprint']})\n"
        f"{about['calls']:,} calls, {about['tokens_in_prompts']:,} tokens in their prompts, "
        f"{about['distinct_tokens']:,} of them distinct, {about['computed_tokens']:,} computed now; "
        f"{about['remembered']:,} answers remembered; {about['seconds']:,} seconds\n"
        f"table and provenance: {kept}"
    )
