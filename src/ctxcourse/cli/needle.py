"""The command line of the needle experiments: ``ctxcourse needle --help`` lists them.

Each command asks the model all calls of one design, prints how many answers were right in each cell, and keeps the
table, its provenance and a picture where it is told to.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ctxcourse.cli.cells import NeedleRun
from ctxcourse.cli.common import (
    GO_ON,
    AsJson,
    CsvFile,
    ModelName,
    PlotFile,
    Quick,
    Seed,
    clear_errors,
    listed,
    numbers,
    whole_numbers,
)
from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.needle.own import OwnRecords
    from ctxcourse.needle.sweeps import Call

needle_app = typer.Typer(
    no_args_is_help=True,
    help="Ask for one fact among lookalikes, and count the right answers. An interrupted run goes on where it stopped.",
)
Records = Annotated[int | None, typer.Option(help="Lines of the list. Default: 25.")]
Trials = Annotated[int | None, typer.Option(help="Registers to draw. Default: that of the design.")]
Depths = Annotated[str | None, typer.Option(help="Where the answer stands: 0,1/8,0.5,1 (0: first line, 1: last).")]
Lengths = Annotated[str | None, typer.Option(help="Numbers of lines: 1,3,8.")]
Shares = Annotated[str | None, typer.Option(help="Shares of lookalikes among the other lines: 0,1/4,1.")]


@needle_app.command()
def position(
    records: Records = None,
    trials: Trials = None,
    depths: Depths = None,
    design: Annotated[
        Literal["move", "rows"], typer.Option(help="move: one needle at each depth. rows: every row of a list asked.")
    ] = "move",
    own: Annotated[Path | None, typer.Option(help="A CSV file with your own records, one a line.")] = None,
    sentence: Annotated[str | None, typer.Option(help='A record as a line: "{name} sits in room {room}."')] = None,
    question: Annotated[str | None, typer.Option(help='What is asked: "In which room is {name}?"')] = None,
    answer: Annotated[str | None, typer.Option(help="The column that holds the answer: room.")] = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for one record of a list at each depth (or every row in turn)."""
    from ctxcourse import plots
    from ctxcourse.needle import DEPTHS, sweeps
    from ctxcourse.needle.own import TRIALS as OWN_TRIALS

    with clear_errors(GO_ON):
        moving = design == "move"
        if depths is not None and not moving:
            raise CourseError("--depths belongs to --design move: with rows, every row is asked.")
        where = numbers("--depths", depths, DEPTHS) if moving else ()
        said = [f"--design {design}", *([f"--depths {listed(where)}"] if moving else [])]
        calls: Sequence[Call]
        if own is not None:
            if records is not None:
                raise CourseError("--records does not go with --own: the list is as long as the file.")
            found = _own_records(own, sentence, question, answer, model)
            if quick:
                trials = min(_trials(trials, OWN_TRIALS[design], quick), found.most_trials)
            calls = found.position(where, trials, seed) if moving else found.rows(trials, seed)
            given = {"own": own.name, "sentence": sentence, "question": question, "answer": answer}
            said += [f"--{name} {shlex.quote(str(value))}" for name, value in given.items()]
        elif sentence or question or answer:
            raise CourseError(
                "--sentence, --question and --answer describe your own records: name the file with --own."
            )
        else:
            records = sweeps.RECORDS if records is None else records
            said.append(f"--records {records}")
            count = _trials(trials, sweeps.TRIALS[design], quick)
            calls = sweeps.position(records, count, where, seed) if moving else sweeps.rows(records, count, seed)
        said.append(f"--trials {len({call.trial for call in calls})}")

        draw = partial(plots.position_plot, published=own is None) if moving else plots.rows_plot
        run = NeedleRun("position", said, seed, model, as_json, csv, plot, draw)
        run.report(calls, "depth" if moving else "row")


@needle_app.command()
def length(
    lengths: Lengths = None,
    trials: Trials = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for the record in the middle of a list that grows."""
    from ctxcourse import plots
    from ctxcourse.needle import sweeps

    with clear_errors(GO_ON):
        count = _trials(trials, sweeps.TRIALS["length"], quick)
        sizes = whole_numbers("--lengths", lengths, sweeps.LENGTHS)
        said = [f"--lengths {listed(sizes)}", f"--trials {count}"]
        run = NeedleRun("length", said, seed, model, as_json, csv, plot, plots.length_plot)
        run.report(sweeps.length(sizes, count, seed), "records")


@needle_app.command()
def volume(
    lengths: Lengths = None,
    trials: Trials = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask the same of lists as long, in which the other lines do not look like the answer."""
    from ctxcourse import plots
    from ctxcourse.needle import sweeps

    with clear_errors(GO_ON):
        count = _trials(trials, sweeps.TRIALS["volume"], quick)
        sizes = whole_numbers("--lengths", lengths, sweeps.LENGTHS)
        said = [f"--lengths {listed(sizes)}", f"--trials {count}"]
        run = NeedleRun("volume", said, seed, model, as_json, csv, plot, plots.length_plot)
        run.report(sweeps.volume(sizes, count, seed), "records")


@needle_app.command()
def interference(
    shares: Shares = None,
    records: Records = None,
    trials: Trials = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for the middle of lists of one length, of which a growing share looks like the answer.

    A picture shows it beside the runs of length and volume that ship with the course.
    """
    from ctxcourse import plots
    from ctxcourse.needle import sweeps

    with clear_errors(GO_ON):
        records = sweeps.RECORDS if records is None else records
        count = _trials(trials, sweeps.TRIALS["interference"], quick)
        parts = numbers("--shares", shares, sweeps.SHARES)
        said = [f"--shares {listed(parts)}", f"--records {records}", f"--trials {count}"]
        shipped = _shipped(("length", "volume"), model) if plot is not None else []
        run = NeedleRun(
            "interference", said, seed, model, as_json, csv, plot, partial(plots.interference_plot, *shipped)
        )
        run.report(sweeps.interference(parts, records, count, seed), "share")


@needle_app.command()
def grid(
    lengths: Lengths = None,
    depths: Depths = None,
    trials: Trials = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask at every length and every depth: the map of both."""
    from ctxcourse import plots
    from ctxcourse.needle import sweeps

    with clear_errors(GO_ON):
        count = _trials(trials, sweeps.TRIALS["grid"], quick)
        sizes = whole_numbers("--lengths", lengths, sweeps.GRID_LENGTHS)
        where = numbers("--depths", depths, sweeps.GRID_DEPTHS)
        said = [f"--lengths {listed(sizes)}", f"--depths {listed(where)}", f"--trials {count}"]
        run = NeedleRun("grid", said, seed, model, as_json, csv, plot, plots.heat_map)
        run.report(sweeps.grid(sizes, where, count, seed), ["records", "depth"])


def _own_records(
    own: Path, sentence: str | None, question: str | None, answer: str | None, model: str | None
) -> OwnRecords:
    """Return a reader's own records, whose answers are short enough for the model to write."""
    from ctxcourse.loading import load_tokenizer
    from ctxcourse.needle.own import read_records

    if sentence is None or question is None or answer is None:
        raise CourseError("--own needs --sentence, --question and --answer: what a line says and what is asked of it.")
    found = read_records(own, sentence, question, answer)
    found.check_answers(load_tokenizer(model))
    return found


def _shipped(names: Sequence[str], model: str | None) -> list[DataFrame]:
    """Return shipped runs to draw beside a new one; raises `CourseError` where they are another model's."""
    from ctxcourse.loading import load_model
    from ctxcourse.results import load_results

    frames, asked = [load_results(name) for name in names], load_model(model)
    for name, about in ((name, frame.attrs["provenance"]) for name, frame in zip(names, frames, strict=True)):
        if about["fingerprint"] != asked.fingerprint:
            raise CourseError(
                f"--plot draws this beside the shipped run of {name}, which is by {about['fingerprint']} and not by "
                f"{asked.fingerprint}. Leave --plot out, and draw with ctxcourse.plots.curves from runs of one model."
            )
    return frames


def _trials(trials: int | None, usual: int, quick: bool) -> int:
    if trials is not None and quick:
        raise CourseError("--quick is a quarter of the default trials: give it or --trials, not both.")
    return trials if trials is not None else max(1, usual // 4) if quick else usual
