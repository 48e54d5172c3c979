"""`ctxcourse agent` on files, without weights: what a run is billed, and what is refused before a model is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ctxcourse import load_tokenizer
from ctxcourse.agent.comparison import BILLS
from ctxcourse.agent.transcript import read_transcript
from ctxcourse.cli import app
from ctxcourse.samples import load_sample
from tests.small_model import write_small_model

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
        (["agent", "probe", "missing.jsonl", "--bills", "bills.txt"], "--bills bills.txt"),
        (["agent", "probe", "missing.jsonl", "--csv", "a.csv", "--bills", "a.csv"], "name one file, a.csv"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = RUNNER.invoke(app, arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_an_unknown_policy_is_refused_with_the_names_of_all(tmp_path: Path) -> None:
    facts = "Tickets go under employee number 4417. The affected shard is pay-shard-7."
    talk = [{"role": "user", "content": facts}, {"role": "assistant", "content": "So be it."}]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps([*talk, {"role": "user", "content": "Thank you."}]), encoding="utf-8")
    done = RUNNER.invoke(app, ["agent", "probe", str(path), "--policy", "forgetting"])
    assert done.exit_code == 2
    assert "no policy is called 'forgetting'" in done.stderr
    assert "'sliding window'" in done.stderr


def test_a_conversation_in_which_the_facts_are_never_said_is_refused_before_the_model_is_asked(session: Path) -> None:
    done = RUNNER.invoke(app, ["agent", "probe", str(session), "--policy", "sliding window"])
    assert done.exit_code == 2
    assert "no message of the user says what 4417 is" in done.stderr


def test_a_conversation_without_a_call_is_refused_before_the_model_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "asking.json"
    path.write_text(json.dumps([{"role": "user", "content": "Is anybody there?"}] * 2), encoding="utf-8")
    done = RUNNER.invoke(app, ["agent", "probe", str(path)])
    assert done.exit_code == 2
    assert "none of the 2 messages is from the assistant" in done.stderr


def test_a_conversation_without_a_call_has_no_bill(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text("[]", encoding="utf-8")
    done = RUNNER.invoke(app, ["agent", "bill", str(path)])
    assert done.exit_code == 2
    assert "none of the 0 messages is from the assistant" in done.stderr


def test_a_policy_is_probed_and_billed_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    small = write_small_model(tmp_path / "small")
    facts = "Tickets go under employee number 4417. The affected shard is pay-shard-7."
    talk = [{"role": "user", "content": facts}, {"role": "assistant", "content": "So be it."}]
    talk += [{"role": "user", "content": "File it."}, {"role": "assistant", "content": "Done."}]
    (tmp_path / "facts.json").write_text(json.dumps(talk), encoding="utf-8")
    files = ["--csv", "p.csv", "--bills", "b.csv", "--plot", "p.png"]
    asked = ["facts.json", "--policy", "control", "--model", str(small), "--json", *files]
    done = RUNNER.invoke(app, ["agent", "probe", *asked])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [(row["policy"], row["fact"], row["n"]) for row in rows] == [
        ("control", fact, 6) for fact in ("employee number", "shard")
    ]
    assert all(row["present"] == row["stated"] == row["prompts"] == 1 for row in rows)
    assert {row["billed_tokens"] for row in rows} == {row["recomputed_tokens"] for row in rows}
    assert (tmp_path / "p.csv").is_file()
    assert (tmp_path / "p.png").is_file()
    assert list(BILLS.load("b.csv")["billed_tokens"]) == [rows[0]["billed_tokens"]]
    assert BILLS.load("b.csv").attrs["provenance"]["command"].startswith("ctxcourse agent probe facts.json")


def test_the_agent_runs_and_its_transcript_is_billed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / "home"))
    small, out = write_small_model(tmp_path / "small"), tmp_path / "run.jsonl"
    asked = ["agent", "run", str(out), "--turns", "2", "--calls-per-turn", "2", "--model", str(small)]
    done = RUNNER.invoke(app, asked)
    assert done.exit_code == 0, done.output
    made = read_transcript(out)
    assert f"2 turns, {len(made.calls())} calls" in done.stdout
    assert made.provenance["arguments"]["calls_per_turn"] == 2
    assert "--turns 2 --seed 1 --calls-per-turn 2" in made.provenance["command"]
    again = RUNNER.invoke(app, asked)
    assert again.exit_code == 0, again.output
    assert read_transcript(out).messages == made.messages
    assert read_transcript(out).provenance["remembered"] == len(made.calls())
    refused = RUNNER.invoke(app, [*asked, "--calls-per-turn", "0"])
    assert refused.exit_code == 2
    assert "calls_per_turn=0" in refused.stderr
