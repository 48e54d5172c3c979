"""`ctxcourse agent` on files, without weights: what a run is billed, and what is refused before a model is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ctxcourse import load_tokenizer
from ctxcourse.cli import app
from ctxcourse.samples import load_sample

RUNNER = CliRunner()


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_text(json.dumps(load_sample()._asdict()), encoding="utf-8")
    return path


@pytest.mark.model
def test_every_call_of_any_transcript_is_billed_to_the_token(session: Path) -> None:
    done = RUNNER.invoke(app, ["agent", "bill", str(session), "--json"])
    assert done.exit_code == 0, done.output
    rows, tok, sample = json.loads(done.stdout), load_tokenizer(), load_sample()
    answers = [place for place, message in enumerate(sample.messages) if message["role"] == "assistant"]
    assert [row["prompt_tokens"] for row in rows] == [
        tok.count_prompt(sample.messages[:place], sample.tools) for place in answers
    ]
    assert all(
        row["system"] + row["tools"] + row["conversation"] + row["tool_results"] == row["prompt_tokens"] for row in rows
    )
    assert rows[-1]["billed_so_far"] == sum(row["prompt_tokens"] for row in rows)


@pytest.mark.model
def test_every_tool_has_its_row(session: Path) -> None:
    done = RUNNER.invoke(app, ["agent", "bill", str(session), "--tools"])
    assert done.exit_code == 0, done.output
    names = [tool["function"]["name"] for tool in load_sample().tools]
    assert all(name in done.stdout for name in names)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["agent", "run", "notes.txt"], "name a .jsonl file in a folder that exists"),
        (["agent", "run", "no/such/run.jsonl"], "name a .jsonl file in a folder that exists"),
        (["agent", "run", "run.jsonl", "--turns", "41"], "the incident has 40 turns"),
        (["agent", "bill", "missing.jsonl"], "missing.jsonl"),
        (["agent", "probe", "missing.jsonl", "--csv", "probes.txt"], "--csv probes.txt"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = RUNNER.invoke(app, arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_an_unknown_policy_is_refused_with_the_names_of_all(session: Path) -> None:
    done = RUNNER.invoke(app, ["agent", "probe", str(session), "--policy", "forgetting"])
    assert done.exit_code == 2
    assert "no policy is called 'forgetting'" in done.stderr
    assert "'sliding window'" in done.stderr
