"""The command line of the agent: ``ctxcourse agent --help`` lists what can be run, billed and probed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ctxcourse.agent.loop import CALLS_PER_TURN
from ctxcourse.cli.cells import check_target, check_targets, plain_cells, save_picture, tell
from ctxcourse.cli.common import GO_ON, AsJson, CsvFile, ModelName, PlotFile, clear_errors
from ctxcourse.errors import CourseError

if TYPE_CHECKING:
    from ctxcourse.agent.loop import Step
    from ctxcourse.agent.transcript import Transcript
    from ctxcourse.model.qwen import Model
    from ctxcourse.policies import Policy

agent_app = typer.Typer(
    no_args_is_help=True,
    help="Run the forty-turn agent, see what its run is billed, and ask what each memory policy still knows.",
)
ToolsFile = Annotated[
    Path | None,
    typer.Option("--tools", help="A JSON file with a list of tool schemas, in place of the transcript's own."),
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Read a file that an interrupted run left behind up to its last whole step.")
]
_PINNING = ("pinned in the system message", "pinned at the end")


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
        check_target("FILE", out, ".jsonl")
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
    transcript: Annotated[
        Path | None,
        typer.Argument(
            help="A transcript, or any conversation in OpenAI's format (-: standard input). Default: the shipped run."
        ),
    ] = None,
    tools: ToolsFile = None,
    by_tool: Annotated[bool, typer.Option("--by-tool", help="One row a tool in place of one a call.")] = False,
    policy: Annotated[
        str | None,
        typer.Option(help='Bill what a policy, such as "sliding window", would have sent. Summaries need the model.'),
    ] = None,
    pinned: Annotated[
        str | None, typer.Option(help="The text that a pinned policy repeats. Default, for the shipped run: its own.")
    ] = None,
    repair: Repair = False,
    as_json: AsJson = False,
    model: ModelName = None,
) -> None:
    """Count what every call of a run was sent: four buckets, the sum so far, and what a prefix cache spares."""
    from ctxcourse.agent.accounting import bill as billed
    from ctxcourse.agent.comparison import bill_under, calls_made
    from ctxcourse.agent.tool_use import tool_bill
    from ctxcourse.loading import load_model, load_tokenizer

    with clear_errors(GO_ON if policy else "stopped"):
        if by_tool and policy is not None:
            raise CourseError("--by-tool says what the tools cost as the run was sent; leave it out, or --policy.")
        if pinned is not None and policy not in _PINNING:
            raise CourseError(f"--pinned is the text of the policies {' and '.join(map(repr, _PINNING))} alone.")
        read = _read(transcript, tools, repair)
        calls_made(read)  # without a call there is nothing to bill
        if policy is not None:
            asked = load_model(model)
            chosen = _policy(policy, pinned, transcript, read, asked)
            frame = bill_under(read, chosen, asked).frame()
        elif by_tool:
            made = tool_bill(read, load_tokenizer(model))
            frame = made.frame()
            if made.preamble:
                typer.echo(
                    f"beside these, a preamble of {made.preamble:,} tokens goes before the tools in each of "
                    f"{made.requests:,} requests: {made.preamble * made.requests:,}",
                    err=True,
                )
        else:
            frame = billed(read, load_tokenizer(model)).frame()
        typer.echo(frame.to_json(orient="records") if as_json else frame.to_string(index=False))


@agent_app.command()
def probe(
    transcript: Annotated[
        Path | None,
        typer.Argument(
            help="A transcript whose user says, before the last turn, that the employee number is 4417 and the "
            "affected shard pay-shard-7. Default: the shipped run."
        ),
    ] = None,
    tools: ToolsFile = None,
    policy: Annotated[str, typer.Option(help='The name of a policy, such as "sliding window", or "all".')] = "all",
    as_json: AsJson = False,
    csv: CsvFile = None,
    bills_csv: Annotated[
        Path | None, typer.Option("--bills", help="Write the bills, one row a policy, and their provenance here.")
    ] = None,
    plot: PlotFile = None,
    repair: Repair = False,
    model: ModelName = None,
) -> None:
    """Ask for both planted facts, in six wordings each, of what a policy has kept, and count what it is billed.

    The facts are those of the incident; for any other conversation, `agent bill --policy` says what it is billed.
    """
    from ctxcourse.agent import probe_table
    from ctxcourse.agent.comparison import BILLS, bills, compared_policies
    from ctxcourse.agent.probes import ProbeError
    from ctxcourse.loading import load_model
    from ctxcourse.plots.agent import policies_plot

    with clear_errors(GO_ON):
        check_targets(csv, plot, bills=bills_csv)
        read, asked = _read(transcript, tools, repair), load_model(model)
        try:
            chosen = compared_policies(asked, read, [] if policy == "all" else [policy])
        except ProbeError as error:
            raise CourseError(f"{error}. `ctxcourse agent bill FILE --policy NAME` needs no facts.") from None
        said = [] if transcript is None else [shlex.quote(transcript.name)]
        said += [f"--tools {shlex.quote(tools.name)}"] if tools else []
        said += ["--repair"] if repair else []
        said += [f"--policy {shlex.quote(policy)}", *([f"--model {shlex.quote(model)}"] if model else [])]
        command = " ".join(["ctxcourse agent probe", *said])
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


def _policy(name: str, pinned: str | None, path: Path | None, read: Transcript, model: Model) -> Policy:
    """Return the policy that a run is to be billed under, and say so where the model will be asked."""
    from ctxcourse.agent.comparison import PINNED, conversation_policies, policy_called
    from ctxcourse.policies import Compaction, CompactionWithNotes

    if pinned is None and path is not None and name in _PINNING:
        raise CourseError(f"--policy {name!r} repeats a text at every call: give yours with --pinned.")
    chosen = policy_called(name, conversation_policies(model, read.tools, PINNED if pinned is None else pinned))
    if isinstance(chosen, Compaction | CompactionWithNotes):
        typer.echo("where a summary or a note is due that is not remembered, the model writes it now …", err=True)
    return chosen


def _read(path: Path | None, tools: Path | None, repair: bool) -> Transcript:
    """Return the transcript to be counted, with the tools of ``--tools`` if given, and say what may surprise."""
    from ctxcourse.agent.scenario import shipped_run
    from ctxcourse.agent.transcript import read_and_tell
    from ctxcourse.pairing import calls_of

    if repair and path is None:
        raise CourseError("--repair reads a file up to its last whole step: name the file.")
    read, left_out = (shipped_run(), []) if path is None else read_and_tell(path, repair)
    for part in left_out:
        typer.echo(f"ctxcourse: left out, and not billed: {part}", err=True)
    if tools is not None:
        read = _with_tools(read, tools)
    if tools is None and not read.tools and any(calls_of(message) for message in read.messages):
        typer.echo(
            "ctxcourse: the transcript has tool calls and defines no tools, so none are billed: give them with "
            "--tools FILE",
            err=True,
        )
    return read


def _with_tools(read: Transcript, path: Path) -> Transcript:
    from ctxcourse.messages import normalise_tools
    from ctxcourse.plain import MessageError
    from ctxcourse.samples import read_json

    try:
        tools = normalise_tools(read_json(path))
    except MessageError as error:
        raise CourseError(f"--tools {path}: {error}") from None
    if read.tools and read.tools != tools:
        typer.echo(
            f"ctxcourse: the transcript's own tools ({len(read.tools)}) are others: those of --tools are taken",
            err=True,
        )
    return replace(read, tools=tools)
