"""The command line of the agent: ``ctxcourse agent --help`` lists what can be run, billed and probed."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcourse.agent.loop import CALLS_PER_TURN
from ctxcourse.cli.cells import check_targets, plain_cells, save_picture, tell
from ctxcourse.cli.common import GO_ON, AsJson, CsvFile, ModelName, PlotFile, clear_errors
from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from ctxcourse.agent.loop import Step
    from ctxcourse.agent.transcript import Transcript

agent_app = typer.Typer(
    no_args_is_help=True,
    help="Run the forty-turn agent, see what its run is billed, and ask what each memory policy still knows.",
)
TranscriptFile = Annotated[
    Path | None, typer.Argument(help="A transcript, or any conversation in OpenAI's format. Default: the shipped run.")
]


@agent_app.command()
def run(
    out: Annotated[Path, typer.Argument(help="Where the transcript is written: a .jsonl file.")],
    turns: Annotated[int | None, typer.Option(help="Only the first turns. Default: all forty.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed draws other noise in logs and metrics.")] = 1,
    calls_per_turn: Annotated[int, typer.Option(help="The most answers with calls in a turn.")] = CALLS_PER_TURN,
    model: ModelName = None,
) -> None:
    """Let the model work through the incident, turn by turn, and write the transcript."""
    from ctxcourse.agent.environment import Environment
    from ctxcourse.agent.loop import run as run_agent
    from ctxcourse.agent.scenario import incident
    from ctxcourse.agent.transcript import save_transcript
    from ctxcourse.loading import load_model

    with clear_errors(GO_ON):
        if out.suffix != ".jsonl" or not out.parent.is_dir():
            raise CourseError(f"{out}: name a .jsonl file in a folder that exists.")
        system, talk = incident()
        if turns is not None and not 1 <= turns <= len(talk):
            raise CourseError(f"--turns {turns}: the incident has {len(talk)} turns; give a number from 1 up.")
        said = [*([f"--turns {turns}"] if turns else []), f"--seed {seed}", f"--calls-per-turn {calls_per_turn}"]
        chosen = [f"--model {shlex.quote(model)}"] if model else []

        def watch(step: Step) -> None:
            done = step.completion
            typer.echo(
                f"turn {step.turn:>2}, call {step.call:>2}: {done.prompt_tokens:>6,} tokens, "
                f"{done.computed_tokens:>5,} computed; {' '.join(done.text.split())[:70]}",
                err=True,
            )

        command = " ".join(["ctxcourse agent run", *said, *chosen, "FILE"])
        made = run_agent(
            load_model(model),
            talk[:turns],
            Environment(seed),
            system=system,
            calls_per_turn=calls_per_turn,
            watch=watch,
            command=command,
        )
        save_transcript(made, out)
        typer.echo(f"{len(talk[:turns])} turns, {len(made.calls())} calls: {out}")


@agent_app.command()
def bill(
    transcript: TranscriptFile = None,
    by_tool: Annotated[bool, typer.Option("--tools", help="One row a tool in place of one a call.")] = False,
    as_json: AsJson = False,
    model: ModelName = None,
) -> None:
    """Count what every call of a run was sent: four buckets, the sum so far, and what a prefix cache spares."""
    from ctxcourse.agent.accounting import bill as billed
    from ctxcourse.agent.comparison import calls_made
    from ctxcourse.agent.tool_use import tool_bill
    from ctxcourse.loading import load_tokenizer

    with clear_errors():
        read, counter = _read(transcript), load_tokenizer(model)
        calls_made(read)  # without a call there is nothing to bill
        frame = tool_bill(read, counter).frame() if by_tool else billed(read, counter).frame()
        if as_json:
            typer.echo(frame.to_json(orient="records"))
        else:
            typer.echo(frame.to_string(index=False))


@agent_app.command()
def probe(
    transcript: TranscriptFile = None,
    policy: Annotated[str, typer.Option(help='The name of a policy, such as "sliding window", or "all".')] = "all",
    as_json: AsJson = False,
    csv: CsvFile = None,
    bills_csv: Annotated[
        Path | None, typer.Option("--bills", help="Write the bills, one row a policy, and their provenance here.")
    ] = None,
    plot: PlotFile = None,
    model: ModelName = None,
) -> None:
    """Ask for both planted facts, in six wordings each, of what a policy has kept, and count what it is billed."""
    from ctxcourse.agent import probe_table
    from ctxcourse.agent.comparison import BILLS, bills, compared_policies
    from ctxcourse.loading import load_model
    from ctxcourse.plots.agent import policies_plot

    with clear_errors(GO_ON):
        check_targets(csv, plot, bills=bills_csv)
        read, asked = _read(transcript), load_model(model)
        chosen = compared_policies(asked, read, [] if policy == "all" else [policy])
        said = [f"--policy {shlex.quote(policy)}", *([f"--model {shlex.quote(model)}"] if model else [])]
        named = [] if transcript is None else [shlex.quote(transcript.name)]
        command = " ".join(["ctxcourse agent probe", *named, *said])
        frame = probe_table.run(chosen, read.messages, read.tools, asked, command=command)
        if csv is not None:
            probe_table.TABLE.save(frame, csv)
        billed = bills(read, chosen, asked, command)
        if bills_csv is not None:
            BILLS.save(billed, bills_csv)
            typer.echo(f"bills and their provenance: {bills_csv}", err=True)
        cells = probe_table.cells(frame).merge(billed, on="policy")
        tell(plain_cells(cells), frame.attrs["provenance"], csv, as_json)
        if plot is not None:
            cells.attrs["provenance"] = {**billed.attrs["provenance"], **frame.attrs["provenance"]}
            save_picture(policies_plot(cells), plot)


def _read(path: Path | None) -> Transcript:
    from ctxcourse.agent.scenario import shipped_run
    from ctxcourse.agent.transcript import read_transcript

    return shipped_run() if path is None else read_transcript(path)
