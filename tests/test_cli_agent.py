"""`ctxcourse agent` on files, without weights: what a run is billed, and what is refused before a model is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ctxcourse import load_tokenizer
from ctxcourse.agent.comparison import BILLS
from ctxcourse.agent.environment import Environment
from ctxcourse.agent.transcript import read_transcript
from ctxcourse.cli import app
from ctxcourse.model.completions import CompletionStore
from ctxcourse.policies import FullHistory, Pinned, UserMessages, elided_results, replay, sliding_window
from ctxcourse.results import load_results
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
    done = RUNNER.invoke(app, ["agent", "bill", str(session), "--by-tool"])
    assert done.exit_code == 0, done.output
    names = [tool["function"]["name"] for tool in load_sample().tools]
    assert all(name in done.stdout for name in names)
    done = RUNNER.invoke(app, ["agent", "bill", str(session), "--by-tool", "--json"])
    rows, _ = billed(str(session))
    preamble = int(done.stderr.strip().split()[-1].replace(",", ""))
    assert sum(row["billed_tokens"] for row in json.loads(done.stdout)) + preamble == sum(row["tools"] for row in rows)


@pytest.mark.model
def test_a_transcript_is_read_from_standard_input(session: Path) -> None:
    done = RUNNER.invoke(app, ["agent", "bill", "-", "--json"], input=session.read_bytes())
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == billed(str(session))[0]


@pytest.mark.model
def test_older_requests_have_functions_and_a_system_text_beside_the_messages_is_refused(tmp_path: Path) -> None:
    sample, path = load_sample(), tmp_path / "request.json"
    functions = [tool["function"] for tool in sample.tools]
    path.write_text(json.dumps({"messages": sample.messages, "functions": functions}), encoding="utf-8")
    counted = json.loads(RUNNER.invoke(app, ["count", str(path), "--json"]).stdout)
    assert counted["tools"] == billed(str(path))[0][0]["tools"] > 0
    path.write_text(json.dumps({"system": "Be brief.", "messages": sample.messages}), encoding="utf-8")
    for command in (["count", str(path)], ["agent", "bill", str(path)]):
        done = RUNNER.invoke(app, command)
        assert done.exit_code == 2
        assert f"{path} has a 'system' text beside its messages" in done.stderr


@pytest.fixture
def parted(tmp_path: Path) -> tuple[str, str]:
    """The messages and the tools of the session in two files, as `ctxcourse count` takes them."""
    sample = load_sample()
    for name, held in sample._asdict().items():
        (tmp_path / f"{name}.json").write_text(json.dumps(held), encoding="utf-8")
    return str(tmp_path / "messages.json"), str(tmp_path / "tools.json")


def billed(*arguments: str) -> tuple[list[dict[str, Any]], str]:
    done = RUNNER.invoke(app, ["agent", "bill", *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr


@pytest.mark.model
def test_tools_in_a_file_of_their_own_are_billed_as_count_has_them(session: Path, parted: tuple[str, str]) -> None:
    messages, tools = parted
    together, said = billed(str(session))
    assert billed(messages, "--tools", tools) == (together, said) == (together, "")
    assert billed(str(session), "--tools", tools) == (together, "")
    sample = load_sample()
    last = [place for place, message in enumerate(sample.messages) if message["role"] == "assistant"][-1]
    Path(messages).write_text(json.dumps(sample.messages[:last]), encoding="utf-8")
    counted = json.loads(RUNNER.invoke(app, ["count", messages, "--tools", tools, "--json"]).stdout)
    assert together[-1]["prompt_tokens"] == counted.pop("total")
    assert counted.items() <= together[-1].items()


@pytest.mark.model
def test_calls_without_tools_are_billed_with_a_warning(parted: tuple[str, str], tmp_path: Path) -> None:
    rows, said = billed(parted[0])
    assert {row["tools"] for row in rows} == {0}
    assert "tool calls and defines no tools" in said
    assert "--tools FILE" in said
    talk = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    (tmp_path / "talk.json").write_text(json.dumps(talk), encoding="utf-8")
    assert billed(str(tmp_path / "talk.json"))[1] == ""


@pytest.mark.model
def test_other_tools_than_the_transcripts_own_are_taken_and_that_is_said(
    session: Path, parted: tuple[str, str]
) -> None:
    messages, tools = parted
    Path(tools).write_text(json.dumps(load_sample().tools[:3]), encoding="utf-8")
    rows, said = billed(str(session), "--tools", tools)
    assert "own tools (8) are others: those of --tools are taken" in said
    assert rows == billed(messages, "--tools", tools)[0]


@pytest.mark.model
def test_an_interrupted_file_is_billed_to_its_last_whole_step_where_that_is_asked_for(tmp_path: Path) -> None:
    talk = [{"role": role, "content": f"{role} {n}"} for n in range(3) for role in ("user", "assistant")]
    path = tmp_path / "broken.jsonl"
    path.write_text("\n".join(map(json.dumps, talk)) + '\n{"role": "assist', encoding="utf-8")
    for command in ("bill", "probe"):
        done = RUNNER.invoke(app, ["agent", command, str(path)])
        assert done.exit_code == 2
        assert re.search(r"line 7 is not valid JSON.*the option --repair or read_transcript\(", done.stderr)
    rows, said = billed(str(path), "--repair")
    assert len(rows) == 3
    assert "left out, and not billed: line 7, which is not valid JSON" in said
    done = RUNNER.invoke(app, ["agent", "probe", str(path), "--repair"])
    assert "no message of the user says what 4417 is" in done.stderr


@pytest.mark.model
@pytest.mark.parametrize("policy", [FullHistory(), sliding_window(), elided_results(), UserMessages(), "pinned"])
def test_calls_are_billed_as_a_policy_would_have_sent_them(policy: Any, session: Path) -> None:
    tok, sample, more = load_tokenizer(), load_sample(), []
    if policy == "pinned":
        policy, more = Pinned("Nobody works on Sundays.", "end"), ["--pinned", "Nobody works on Sundays."]
    rows, said = billed(str(session), "--policy", policy.name, *more)
    answers = [place for place, message in enumerate(sample.messages) if message["role"] == "assistant"]
    sent = [kept.messages for kept in replay(sample.messages, policy, tok, answers)]
    assert [row["prompt_tokens"] for row in rows] == [tok.count_prompt(prompt, sample.tools) for prompt in sent]
    assert [row["turn"] for row in rows] == [row["turn"] for row in billed(str(session))[0]]
    assert said == ""


@pytest.mark.model
def test_the_shipped_run_is_billed_under_a_policy_as_the_shipped_table_has_it() -> None:
    table = load_results("bills").set_index("policy")["billed_tokens"]
    assert billed("--policy", "pinned at the end")[0][-1]["billed_so_far"] == table["pinned at the end"]


def test_summaries_are_asked_of_the_model_billed_and_remembered(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / "home"))
    small = str(write_small_model(tmp_path / "small"))
    talk = [{"role": role, "content": f"{role} {n} " * 60} for n in range(8) for role in ("user", "assistant")]
    (tmp_path / "long.json").write_text(json.dumps(talk), encoding="utf-8")
    asked = [str(tmp_path / "long.json"), "--model", small, "--policy", "compaction"]
    rows, said = billed(*asked)
    assert sum(row["helper_tokens"] for row in rows) > 0
    assert rows[-1]["billed_so_far"] == sum(row["prompt_tokens"] + row["helper_tokens"] for row in rows)
    assert "the model writes it now" in said
    assert CompletionStore().info().completions > 0
    before = CompletionStore().info().completions
    assert billed(*asked)[0] == rows
    assert CompletionStore().info().completions == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["agent", "run", "notes.txt"], "name a .jsonl file in a folder that exists"),
        (["agent", "run", "no/such/run.jsonl"], "name a .jsonl file in a folder that exists"),
        (["agent", "run", "run.jsonl", "--turns", "41"], "the incident has 40 turns"),
        (["agent", "bill", "missing.jsonl"], "missing.jsonl"),
        (["agent", "bill", "--tools", "missing.json"], "missing.json cannot be read"),
        (["agent", "bill", "--by-tool", "--policy", "sliding window"], "leave it out, or --policy"),
        (["agent", "bill", "--policy", "sliding window", "--pinned", "x"], "'pinned at the end' alone"),
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
    assert "'control'" in done.stderr
    done = RUNNER.invoke(app, ["agent", "bill", str(path), "--policy", "forgetting"])
    assert done.exit_code == 2
    assert "no policy is called 'forgetting'; there are 'full history', 'sliding window'" in done.stderr
    assert "'control'" not in done.stderr  # which needs the facts
    done = RUNNER.invoke(app, ["agent", "bill", str(path), "--policy", "pinned at the end"])
    assert done.exit_code == 2
    assert "give yours with --pinned" in done.stderr


def test_tools_that_are_none_are_refused_by_the_name_of_their_file(session: Path, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"name": "look"}', encoding="utf-8")
    done = RUNNER.invoke(app, ["agent", "bill", str(session), "--tools", str(tmp_path / "odd.json")])
    assert done.exit_code == 2
    assert "odd.json: tools must be a list" in done.stderr


def test_a_conversation_in_which_the_facts_are_never_said_is_refused_before_the_model_is_asked(session: Path) -> None:
    done = RUNNER.invoke(app, ["agent", "probe", str(session), "--policy", "sliding window"])
    assert done.exit_code == 2
    assert "no message of the user says what 4417 is" in done.stderr
    assert "ctxcourse agent bill FILE --policy NAME" in done.stderr


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


def test_a_run_that_was_interrupted_is_taken_up_by_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control-C comes with the third turn; a second folder has a run without any."""
    made = {}
    for name in ("whole", "stopped"):
        home = tmp_path / name
        home.mkdir()
        monkeypatch.setenv("CTXCOURSE_HOME", str(home))
        asked = ["agent", "run", str(home / "run.jsonl"), "--turns", "3"]
        asked += ["--model", str(write_small_model(home / "small"))]
        if name == "stopped":
            with monkeypatch.context() as patch:
                patch.setattr(Environment, "at", interrupting(Environment.at, 3))
                done = RUNNER.invoke(app, asked)
            assert done.exit_code == 130
            assert "the same command goes on from there" in done.stderr
            assert not (home / "run.jsonl").exists()
            reached = CompletionStore().info().completions
        done = RUNNER.invoke(app, asked)
        assert done.exit_code == 0, done.output
        made[name] = read_transcript(home / "run.jsonl")
    whole, stopped = made["whole"], made["stopped"]
    assert (stopped.messages, stopped.tools) == (whole.messages, whole.tools)
    assert whole.provenance["remembered"] == 0
    assert 2 <= stopped.provenance["remembered"] == reached < len(whole.calls())


def interrupting(method: Any, number: int) -> Any:
    """A method as it is, until its call of a number, which the user interrupts."""
    calls = iter(range(1, number))

    def until(*arguments: Any) -> Any:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return method(*arguments)

    return until
