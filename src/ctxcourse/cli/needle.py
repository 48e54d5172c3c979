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
    count,
    listed,
    numbers,
    whole_numbers,
)
from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from ctxcourse.needle.own import OwnRecords
    from ctxcourse.needle.sweeps import Call

needle_app = typer.Typer(
    no_args_is_help=True,
    help="Ask for one fact among lookalikes, and count the right answers. An interrupted run goes on where it stopped.",
)
Records = Annotated[int | None, typer.Option(help="Lines of the list. Default: 25.")]
Trials = Annotated[int | None, typer.Option(help="Registers to draw. Default: that of the design, 8 to 32.")]
Depths = Annotated[str | None, typer.Option(help="Where the answer stands: 0,1/8,0.5,1 (0: first line, 1: last).")]
Depth = Annotated[str | None, typer.Option("--depths", help="Where the answer stands, one depth. Default: 0.5.")]
Lengths = Annotated[str | None, typer.Option("--records", "--lengths", help="Numbers of lines: 1,3,8.")]
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
            if csv is not None and csv.resolve() == own.expanduser().resolve():
                raise CourseError(f"--csv {csv}: that is the file of your records; give the results another name.")
            found = _own_records(own, sentence, question, answer, model)
            if quick:
                few = min(sweeps.QUICK[design], OWN_TRIALS[design], found.most_trials)
                trials = count("trials", trials, few, few, quick)
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
            drawn = _trials(design, trials, quick)
            calls = sweeps.position(records, drawn, where, seed) if moving else sweeps.rows(records, drawn, seed)
        said.append(f"--trials {len({call.trial for call in calls})}")

        draw = partial(plots.position_plot, published=own is None) if moving else plots.rows_plot
        run = NeedleRun("position", said, seed, model, as_json, csv, plot, draw)
        run.report(calls, "depth" if moving else "row")


@needle_app.command()
def length(
    lengths: Lengths = None,
    depths: Depth = None,
    trials: Trials = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for one record, the middle one by default, of a list that grows."""
    from ctxcourse import plots
    from ctxcourse.needle import sweeps

    with clear_errors(GO_ON):
        drawn, (depth, at) = _trials("length", trials, quick), _depth(depths)
        sizes = whole_numbers("--lengths", lengths, sweeps.LENGTHS)
        said = [f"--lengths {listed(sizes)}", *at, f"--trials {drawn}"]
        run = NeedleRun("length", said, seed, model, as_json, csv, plot, plots.length_plot)
        run.report(sweeps.length(sizes, drawn, seed, depth), "records")


@needle_app.command()
def volume(
    lengths: Lengths = None,
    depths: Depth = None,
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
        drawn, (depth, at) = _trials("volume", trials, quick), _depth(depths)
        sizes = whole_numbers("--lengths", lengths, sweeps.LENGTHS)
        said = [f"--lengths {listed(sizes)}", *at, f"--trials {drawn}"]
        run = NeedleRun("volume", said, seed, model, as_json, csv, plot, plots.length_plot)
        run.report(sweeps.volume(sizes, drawn, seed, depth), "records")


@needle_app.command()
def interference(
    shares: Shares = None,
    records: Records = None,
    depths: Depth = None,
    trials: Trials = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for the middle of lists of one length, of which a growing share looks like the answer.

    A picture shows it beside the runs of length and volume that ship with the course, and names the model of each.
    """
    from ctxcourse import plots
    from ctxcourse.needle import sweeps
    from ctxcourse.results import load_results

    with clear_errors(GO_ON):
        records = sweeps.RECORDS if records is None else records
        drawn, (depth, at) = _trials("interference", trials, quick), _depth(depths)
        parts = numbers("--shares", shares, sweeps.SHARES)
        said = [f"--shares {listed(parts)}", f"--records {records}", *at, f"--trials {drawn}"]
        if plot is not None and at:
            raise CourseError("--plot draws it beside shipped runs with the answer in the middle: leave --depths out.")
        shipped = [load_results(name) for name in ("length", "volume")] if plot is not None else []
        run = NeedleRun(
            "interference", said, seed, model, as_json, csv, plot, partial(plots.interference_plot, *shipped)
        )
        run.report(sweeps.interference(parts, records, drawn, seed, depth), "share")


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
        drawn = _trials("grid", trials, quick)
        sizes = whole_numbers("--lengths", lengths, sweeps.GRID_LENGTHS)
        where = numbers("--depths", depths, sweeps.GRID_DEPTHS)
        said = [f"--lengths {listed(sizes)}", f"--depths {listed(where)}", f"--trials {drawn}"]
        run = NeedleRun("grid", said, seed, model, as_json, csv, plot, plots.heat_map)
        run.report(sweeps.grid(sizes, where, drawn, seed), ["records", "depth"])


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


def _trials(design: str, trials: int | None, quick: bool) -> int:
    from ctxcourse.needle import sweeps

    return count("trials", trials, sweeps.TRIALS[design], sweeps.QUICK[design], quick)


def _depth(text: str | None) -> tuple[float, list[str]]:
    """Return the one depth of a design, and how a command says it where it is not the usual one."""
    from ctxcourse.needle import sweeps

    found = numbers("--depths", text, [sweeps.MIDDLE])
    if len(found) > 1:
        raise CourseError(f"--depths {text}: this design has one; `ctxcourse needle grid` asks at several.")
    return found[0], [] if found[0] == sweeps.MIDDLE else [f"--depths {listed(found)}"]
