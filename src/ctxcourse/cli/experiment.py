"""The command line of the experiments of lessons 02 to 04: ``ctxcourse experiment --help`` lists them.

Each command asks the model all calls of one experiment, prints what came of them in each cell, and keeps the table, its
provenance and a picture where it is told to.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ctxcourse.cli.cells import check_targets, plain_cells, save_picture, tell
from ctxcourse.cli.common import GO_ON, AsJson, CsvFile, ModelName, PlotFile, Quick, Seed, clear_errors, count

QUICK = {"order": 2, "compress": 5, "tools": 4}  # trials, documents, tasks: under three minutes
experiment_app = typer.Typer(
    no_args_is_help=True,
    help="Order documents, compress them, offer tools, and count what comes of it. An interrupted run goes on where it "
    "stopped.",
)


@experiment_app.command()
def order(
    trials: Annotated[int | None, typer.Option(help="Registers to draw. Default: 20, quick 2.")] = None,
    records: Annotated[int | None, typer.Option(help="Lines of the list. Default: 50.")] = None,
    seed: Seed = 1,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for one record of a list whose lines are arranged in six ways."""
    with clear_errors(GO_ON):
        given = {
            "trials": count("trials", trials, 20, QUICK["order"], quick),
            "records": 50 if records is None else records,
            "seed": seed,
        }
        ExperimentRun("order", given, model, as_json, csv, plot).report()


@experiment_app.command()
def compress(
    documents: Annotated[int | None, typer.Option(help="Documents to compress. Default: 20, quick 5.")] = None,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask about documents that were compressed to a quarter of their tokens, by each strategy."""
    with clear_errors(GO_ON):
        given = {"documents": count("documents", documents, 20, QUICK["compress"], quick)}
        ExperimentRun("compress", given, model, as_json, csv, plot).report()


@experiment_app.command()
def tools(
    tasks: Annotated[int | None, typer.Option(help="Tasks to give. Default: 20, quick 4.")] = None,
    quick: Quick = False,
    as_json: AsJson = False,
    csv: CsvFile = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Give tasks that need one tool, with catalogues of 5 to 50 tools, full or trimmed, all of it or a selection."""
    with clear_errors(GO_ON):
        given = {"tasks": count("tasks", tasks, 20, QUICK["tools"], quick)}
        ExperimentRun("tools", given, model, as_json, csv, plot).report()


@dataclass(frozen=True)
class ExperimentRun:
    """An experiment, the arguments of its calls, and what is to be done with the answers: kept, drawn and printed."""

    name: str
    given: dict[str, int]
    model: str | None
    as_json: bool
    csv: Path | None
    plot: Path | None

    @property
    def command(self) -> str:
        """The command that repeats the run, without the files it was written to."""
        said = [f"--{name} {value}" for name, value in self.given.items()]
        chosen = [f"--model {shlex.quote(self.model)}"] if self.model else []
        return " ".join(["ctxcourse experiment", self.name, *said, *chosen])

    def report(self) -> None:
        """Ask the calls, keep what is to be kept, and print the cells."""
        from ctxcourse.experiments import experiment
        from ctxcourse.loading import load_model

        check_targets(self.csv, self.plot)
        module = experiment(self.name)
        calls = module.calls(**self.given)
        frame = module.run(calls, load_model(self.model), command=self.command)
        tell(plain_cells(module.cells(frame)), frame.attrs["provenance"], self.csv, self.as_json)
        if self.csv is not None:
            module.TABLE.save(frame, self.csv)
        if self.plot is not None:
            from ctxcourse.plots import experiments as experiment_plots

            save_picture(getattr(experiment_plots, f"{self.name}_plot")(frame), self.plot)
