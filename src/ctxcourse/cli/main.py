"""The command line: ``ctxcourse --help`` lists what it does."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ctxcourse.cli.agent import agent_app
from ctxcourse.cli.common import ModelName, clear_errors
from ctxcourse.cli.experiment import experiment_app
from ctxcourse.cli.needle import needle_app
from ctxcourse.errors import CourseError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Context engineering for language models: the workbook's command line.",
)
model_app = typer.Typer(no_args_is_help=True, help="Fetch, describe, check or remove the model's files.")
app.add_typer(model_app, name="model")
cache_app = typer.Typer(no_args_is_help=True, help="Describe or clear the completions that are remembered on the disk.")
app.add_typer(cache_app, name="cache")
app.add_typer(needle_app, name="needle")
app.add_typer(agent_app, name="agent")
app.add_typer(experiment_app, name="experiment")


@app.command()
def doctor(model: ModelName = None) -> None:
    """Check the set-up: versions, model, fingerprint, memory, and one answer from the model."""
    from ctxcourse.doctor import examine

    with clear_errors():
        healthy = True
        for finding in examine(model):
            healthy &= finding.good
            typer.echo(f"{'ok ' if finding.good else 'BAD'} {finding.what:<12} {finding.text}")
        if not healthy:
            raise typer.Exit(1)


@app.command()
def ask(
    question: str,
    model: ModelName = None,
    max_new_tokens: Annotated[int, typer.Option(help="Where the answer is cut off, in tokens.")] = 200,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole completion as one JSON object.")] = False,
) -> None:
    """Ask the model one question and print its answer."""
    from dataclasses import asdict

    from ctxcourse.loading import load_model

    with clear_errors():
        if not question.strip():
            raise CourseError("The question is empty. Give it as one argument, in quotes.")
        typer.echo("reading the weights, then the question …", err=True)
        completion = load_model(model).complete(question, max_new_tokens=max_new_tokens)
        typer.echo(json.dumps(asdict(completion), ensure_ascii=False) if as_json else completion.text)


@app.command()
def count(
    messages: Annotated[
        Path,
        typer.Argument(
            help="A JSON file: a list of messages, or a request with `messages` and `tools` (-: standard input)."
        ),
    ],
    tools: Annotated[Path | None, typer.Option(help="A JSON file with a list of tool schemas.")] = None,
    model: ModelName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with whole numbers.")] = False,
) -> None:
    """Count a prompt to the token, in four buckets: system, tools, conversation, tool results."""
    from ctxcourse.loading import load_tokenizer
    from ctxcourse.plain import MessageError
    from ctxcourse.samples import named, read_json, read_request
    from ctxcourse.tokens import buckets

    with clear_errors():
        request = read_request(messages)
        schemas = read_json(tools) if tools else request.tools
        try:
            parts = buckets(request.messages, schemas, load_tokenizer(model)).as_dict()
        except MessageError as error:
            raise CourseError(f"{named(messages)}: {error}") from None
        if as_json:
            typer.echo(json.dumps(parts))
            return
        for name, tokens in parts.items():
            share = f"{tokens / parts['total']:6.1%}" if name != "total" else ""
            typer.echo(f"{name.replace('_', ' '):<13}{tokens:>9,}  {share}".rstrip())


@app.command()
def grade(
    paths: Annotated[list[Path], typer.Argument(help="Submissions: notebooks, or folders of them.")],
    grades: Annotated[Path | None, typer.Option(help="Write the marks to this .json or .csv file.")] = None,
    solutions: Annotated[Path | None, typer.Option(help="The folder of solution notebooks.")] = None,
    lesson: Annotated[str | None, typer.Option(help="Grade everything as this lesson's exercises.")] = None,
    junitxml: Annotated[Path | None, typer.Option(help="Write a JUnit report to this file.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many submissions to grade at once.")] = 1,
    timeout: Annotated[float, typer.Option(help="Seconds that one cell of a submission may take.")] = 60.0,
    sandbox: Annotated[
        Literal["auto", "require", "none"], typer.Option(help="auto: bubblewrap where it works; require; none.")
    ] = "auto",
    show_hidden: Annotated[bool, typer.Option("--show-hidden", help="Show failed hidden tests, here only.")] = False,
) -> None:
    """Grade submissions: the same as `pytest --nbval`, with good defaults. Exit status 0: every point earned."""
    from ctxcourse.grading.run import grade as run

    with clear_errors():
        status = run(
            paths,
            grades=grades,
            solutions=solutions,
            lesson=lesson,
            junitxml=junitxml,
            workers=workers,
            timeout=timeout,
            sandbox=sandbox,
            show_hidden=show_hidden,
        )
    raise typer.Exit(status)


@app.command()
def release(destination: Path) -> None:
    """Make the student release in a new folder: everything but solutions, hidden tests and their sources."""
    with clear_errors():
        try:
            from ctxcourse.authoring.release import release as make
        except ModuleNotFoundError as error:
            raise CourseError(
                "This is a student release already, or the extra packages for instructors are missing."
            ) from error
        typer.echo(f"{len(make(destination))} files in {destination}")


@model_app.command("fetch")
def model_fetch(model: ModelName = None) -> None:
    """Bring the model to this machine and convert it; does nothing where that has been done."""
    from ctxcourse.model.weights import ensure_model, find_model
    from ctxcourse.progress import ProgressBar

    with clear_errors():
        found = find_model(model)
        if found is None:
            with ProgressBar() as bar:
                found = ensure_model(model, bar)
            for note in found.notes:
                typer.echo(note, err=True)
        typer.echo(f"{found.artefact.label}\n{found.fingerprint} in {found.path}")


@model_app.command("info")
def model_info(model: ModelName = None) -> None:
    """Say what the model is, where it comes from, and whether it is on this machine."""
    from ctxcourse.model.artefacts import find_artefact
    from ctxcourse.model.weights import find_model, model_path

    with clear_errors():
        artefact, found = find_artefact(model), find_model(model)
        typer.echo(f"name         {artefact.name}\nmodel        {artefact.label}")
        if artefact.repo:
            where = f"{artefact.repo}" + (f", file {artefact.filename}" if artefact.filename else "")
            typer.echo(f"published    {where}\nrevision     {artefact.revision or 'the newest (not pinned)'}")
        if artefact.sha256:
            typer.echo(f"sha256       {artefact.sha256}\nsize         {artefact.size:,} bytes")
        typer.echo(f"folder       {model_path(artefact)}")
        typer.echo(f"fingerprint  {found.fingerprint if found else 'not on this machine yet: ctxcourse model fetch'}")


@model_app.command("verify")
def model_verify(model: ModelName = None) -> None:
    """Read every file of the model again and compare it with its recorded digest."""
    from ctxcourse.model.weights import verify_model
    from ctxcourse.progress import ProgressBar

    with clear_errors():
        with ProgressBar() as bar:
            wrong = verify_model(model, bar)
        for line in wrong:
            typer.echo(f"BAD {line}")
        if wrong:
            raise typer.Exit(1)
        typer.echo("ok  every file is as recorded")


@model_app.command("remove")
def model_remove(model: ModelName = None) -> None:
    """Delete the model's files from the cache (never a folder of your own)."""
    from ctxcourse.model.weights import remove_model

    with clear_errors():
        freed = remove_model(model)
        typer.echo(
            f"{freed / 1e9:.2f} GB freed" if freed else "nothing to remove: what is not in the cache is left alone"
        )


@cache_app.command("info")
def cache_info(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; sizes in bytes.")] = False,
) -> None:
    """Say where the completion store is, how large it is, and how many completions of each model it holds."""
    from dataclasses import asdict

    from ctxcourse.model.completions import CompletionStore

    with clear_errors():
        found = CompletionStore().info()
        if as_json:
            typer.echo(json.dumps({**asdict(found), "path": str(found.path)}))
            return
        typer.echo(f"path         {found.path}\ncompletions  {found.completions:,}")
        typer.echo(f"size         {found.bytes / 1e6:.2f} MB")
        if found.oldest:
            typer.echo(f"oldest       {found.oldest}")
        for name, completions in found.per_model.items():
            typer.echo(f"model        {name}  {completions:,}")


@cache_app.command("clear")
def cache_clear(
    model: Annotated[
        str | None, typer.Option(metavar="FINGERPRINT", help="Only the completions of this model; see `cache info`.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove the remembered completions, which are then computed again. The model's files are left alone."""
    from ctxcourse.model.completions import CompletionStore

    with clear_errors():
        store = CompletionStore()
        found = store.info()
        count, whose = (found.per_model.get(model, 0), f" of {model}") if model else (found.completions, "")
        if not count:
            known = f"; it holds those of {', '.join(found.per_model)}" if found.per_model else ""
            typer.echo(f"nothing to remove: no completions{whose} in {found.path}{known}")
            return
        if not yes:
            what = f"{count:,} completion{'s' if count > 1 else ''}{whose}"
            if not sys.stdin.isatty():
                raise CourseError(f"Nothing was removed. Add --yes to remove {what} without being asked.")
            typer.confirm(f"Remove {what} from {found.path}? The model's files are left alone.", abort=True)
        typer.echo(f"completions removed: {store.clear(model):,}; the model's files were left alone")
