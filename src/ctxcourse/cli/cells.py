"""What the commands of experiments do with their calls: ask them, keep the table and a picture, and print the cells."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.needle.sweeps import Call
    from ctxcourse.plots.pictures import Picture


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
        from ctxcourse.loading import load_model
        from ctxcourse.needle import trials

        check_targets(self.csv, self.plot)
        frame = trials.run(calls, load_model(self.model), command=self.command)
        tell(_plain(trials.cells(frame, by)), frame.attrs["provenance"], self.csv, self.as_json)
        if self.csv is not None:
            trials.save(frame, self.csv)
        if self.plot is not None:
            save_picture(self.draw(frame), self.plot)


def check_targets(csv: Path | None, plot: Path | None, **more: Path | None) -> None:
    """Raise `CourseError` where a file to be written has another ending or no folder: before anything is asked.

    ``more`` are CSV files of other options, by their names; no two files may be the same.
    """
    tables = {"--csv": csv, **{f"--{name}": path for name, path in more.items()}}
    named = [path.resolve() for path in tables.values() if path is not None]
    if len(set(named)) < len(named):
        raise CourseError(f"{' and '.join(tables)} name one file, {named[0].name}: give each a file of its own.")
    targets = [*((option, path, ".csv") for option, path in tables.items()), ("--plot", plot, ".png")]
    for option, path, suffix in targets:
        if path is not None:
            check_target(option, path, suffix)
            if suffix == ".csv":
                check_target(option, path.with_suffix(".provenance.json"), ".json")


def check_target(option: str, path: Path, suffix: str) -> None:
    """Raise `CourseError` where a file cannot be written; ``option`` says in its message what named it."""
    try:
        fits = path.suffix == suffix and path.parent.is_dir() and not path.is_dir()
    except OSError as error:
        raise CourseError(f"{option} {path}: {error.strerror}.") from None
    if not fits:
        raise CourseError(f"{option} {path}: name a {suffix} file in a folder that exists.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CourseError(f"{option} {path}: it cannot be written there.")


def tell(found: Sequence[Mapping[str, Any]], about: dict[str, Any], csv: Path | None, as_json: bool) -> None:
    """Print cells as JSON or as a table, and what the run cost, where it is not in the way of the JSON."""
    typer.echo(json.dumps(found) if as_json else table(found))
    typer.echo(account(about, csv), err=as_json)


def save_picture(picture: Picture, path: Path) -> None:
    """Write a picture; raises `CourseError` where that cannot be done."""
    try:
        picture.save(path)
    except OSError as error:
        raise CourseError(f"--plot {path} cannot be written: {error.strerror or error}") from error


def _plain(cells: DataFrame) -> list[dict[str, int | float]]:
    """Return cells as dicts of Python's own numbers, in the order in which people read them."""
    real = ("depth", "share", "low", "high")
    order = [name for name in ("records", "row", "depth", "share") if name in cells.columns]
    order += [name for name in cells.columns if name not in order]
    rows = cells[order].to_dict("records")
    return [{name: float(row[name]) if name in real else int(row[name]) for name in order} for row in rows]


def plain_cells(cells: DataFrame) -> list[dict[str, Any]]:
    """Return cells as dicts of Python's own strings and numbers."""
    rows = cells.to_dict("records")
    return [
        {str(name): value.item() if hasattr(value, "item") else value for name, value in row.items()} for row in rows
    ]


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """Return cells as a table for people, the share of the first count after ``n`` with its Wilson 95 % interval.

    >>> cell = {"depth": 0.5, "prompt_tokens": 1234, "n": 4, "hits": 1, "neither": 3, "low": 0.05, "high": 0.7}
    >>> print(table([cell]))
    depth  tokens  n  hits  neither  right  95 % interval
      0.5   1,234  4     1        3    25%      5% to 70%
    """
    names = [name for name in found[0] if name not in ("low", "high")]
    right = names[names.index("n") + 1]
    heads = ["tokens" if name == "prompt_tokens" else name.replace("_", " ") for name in names]
    lines = [[*heads, "right", "95 % interval"]]
    for cell in found:
        interval = f"{cell['low']:.0%} to {cell['high']:.0%}"
        lines.append([*(_shown(cell[name]) for name in names), f"{cell[right] / cell['n']:.0%}", interval])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    words = [isinstance(found[0].get(name), str) for name in (*names, "right", "interval")]
    return "\n".join(
        "  ".join(
            text.ljust(width) if word else text.rjust(width)
            for text, width, word in zip(line, widths, words, strict=True)
        )
        for line in lines
    )


def _shown(value: str | int | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def account(about: dict[str, Any], csv: Path | None) -> str:
    """Return what the run cost, and where its provenance is."""
    kept = f"{csv} and {csv.with_suffix('.provenance.json').name}" if csv else "nowhere; --csv FILE keeps both"
    return (
        f"{about['model']} ({about['fingerprint']})\n"
        f"{about['calls']:,} calls, {about['tokens_in_prompts']:,} tokens in their prompts, "
        f"{about['distinct_tokens']:,} of them distinct, {about['computed_tokens']:,} computed now; "
        f"{about['remembered']:,} answers remembered; {about['seconds']:,} seconds\n"
        f"table and provenance: {kept}"
    )
