"""What commands share: options that mean the same everywhere, lists of numbers, and how errors are shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ctxcourse.errors import CourseError

ModelName = Annotated[
    str | None,
    typer.Option("--model", help="A course model, a Hub id, a folder or a .gguf file. Default: CTXCOURSE_MODEL."),
]
Seed = Annotated[int, typer.Option(help="Another seed draws other registers.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer trials: at the default sizes under three minutes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print a list of JSON objects, one a cell.")]
CsvFile = Annotated[Path | None, typer.Option("--csv", help="Keep one row a call in this file; provenance beside it.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", help="Draw the cells to this .png file.")]
GO_ON = "stopped; finished answers are remembered: the same command goes on from there"


@contextmanager
def clear_errors(interrupted: str = "stopped") -> Iterator[None]:
    """Show an error meant for the user as its text alone, and exit with status 2; Ctrl-C says ``interrupted``."""
    try:
        yield
    except CourseError as error:
        typer.echo(f"ctxcourse: {error}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo(f"ctxcourse: {interrupted}", err=True)
        raise typer.Exit(130) from None


def count(option: str, given: int | None, usual: int, few: int, quick: bool) -> int:
    """Return how many trials, documents or tasks to take; raises `CourseError` where two options say it."""
    if given is not None and quick:
        raise CourseError(f"--quick takes {few} {option}: give it or --{option}, not both.")
    return given if given is not None else few if quick else usual


def numbers(option: str, text: str | None, usual: Sequence[float]) -> Sequence[float]:
    """Return the numbers of a list such as ``0,1/8,0.5``; raises `CourseError` for what is none."""
    if text is None:
        return usual
    return [_number(option, text, part.strip()) for part in text.split(",")]


def whole_numbers(option: str, text: str | None, usual: Sequence[int]) -> Sequence[int]:
    """Return the whole numbers of a list such as ``1,3,8``; raises `CourseError` for what is none."""
    found = numbers(option, text, usual)
    broken = next((number for number in found if number != int(number)), None)
    if broken is not None:
        raise CourseError(f"{option} {text}: {broken:g} is no whole number. Write them as 1,3,8.")
    return [int(number) for number in found]


def listed(values: Sequence[float]) -> str:
    """Return numbers as an option takes them, each exactly.

    >>> listed([0.0, 0.125, 3])
    '0,0.125,3'
    """
    return ",".join(str(int(value)) if value == int(value) else repr(value) for value in values)


def _number(option: str, text: str, part: str) -> float:
    above, slash, below = part.partition("/")
    try:
        value = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    if not math.isfinite(value):
        raise CourseError(f"{option} {text}: {part!r} is no number. Write them as 0,1/8,0.5.")
    return value
