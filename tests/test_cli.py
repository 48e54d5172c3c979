"""The command line: what it prints, and what it says to bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ctxcourse.cli import app
from ctxcourse.samples import load_sample

KEYS = ["system", "tools", "conversation", "tool_results", "total"]


def run(*arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(app, arguments, **more)


@pytest.fixture
def session(tmp_path: Path) -> tuple[Path, Path]:
    messages, tools = load_sample("coding_session")
    paths = tmp_path / "messages.json", tmp_path / "tools.json"
    for path, content in zip(paths, (messages, tools), strict=True):
        path.write_text(json.dumps(content), encoding="utf-8")
    return paths


@pytest.mark.model
def test_count_prints_one_object_with_whole_numbers(session: tuple[Path, Path]) -> None:
    from ctxcourse import load_tokenizer

    messages, tools = session
    counted = json.loads(run("count", str(messages), "--tools", str(tools), "--json").stdout)
    assert list(counted) == KEYS
    assert all(type(value) is int for value in counted.values())
    assert sum(counted[key] for key in KEYS[:-1]) == counted["total"] == load_tokenizer().count_prompt(*load_sample())


@pytest.mark.model
def test_count_without_tools_and_for_people(session: tuple[Path, Path]) -> None:
    lines = run("count", str(session[0])).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["system", "tools", "conversation", "tool", "total"]
    assert lines[1].split()[1] == "0"


@pytest.mark.model
def test_count_reads_standard_input() -> None:
    result = run("count", "-", "--json", input='[{"role": "user", "content": "Hi"}]')
    assert json.loads(result.stdout)["total"] == 30


BAD_FILES = {
    "not JSON": ('[{"role": "user",', "not valid JSON"),
    "not a list": ('{"role": "user", "content": "Hi"}', "list"),
    "a bare string": ('"Hi"', "list"),
    "not a dict": ('["Hi"]', "0"),
    "unknown role": ('[{"role": "narrator", "content": "Hi"}]', "narrator"),
    "an orphaned result": ('[{"role": "tool", "tool_call_id": "x9", "content": "Hi"}]', "x9"),
    "arguments that are no JSON": (
        '[{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function",'
        ' "function": {"name": "look", "arguments": "{oops"}}]}, {"role": "tool", "tool_call_id": "a", "content": ""}]',
        "look",
    ),
    "an image part": ('[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]', "image_url"),
    "a lone surrogate": ('[{"role": "user", "content": "\\ud800"}]', "Unicode"),
    "deep nesting": ("[" * 100_000 + "]" * 100_000, "nested"),
}


@pytest.mark.model
@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, name: str) -> None:
    content, named = BAD_FILES[name]
    path = tmp_path / "messages.json"
    path.write_text(content, encoding="utf-8")
    result = run("count", str(path), "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    missing = run("count", str(tmp_path / "none.json"))
    assert missing.exit_code == 2
    assert "none.json" in missing.stderr
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    binary = run("count", str(tmp_path / "binary.json"))
    assert binary.exit_code == 2
    assert "UTF-8" in binary.stderr


@pytest.mark.model
def test_tools_of_one_name_are_refused(session: tuple[Path, Path], tmp_path: Path) -> None:
    twice = tmp_path / "twice.json"
    twice.write_text(json.dumps([load_sample().tools[0]] * 2))
    result = run("count", str(session[0]), "--tools", str(twice))
    assert result.exit_code == 2
    assert "read_file" in result.stderr


def test_an_unknown_model_lists_the_known_ones() -> None:
    result = run("ask", "Hi", "--model", "no-such-model")
    assert result.exit_code == 2
    assert "qwen2.5-coder-0.5b" in result.stderr


def test_an_empty_question_is_refused() -> None:
    assert "empty" in run("ask", "  ").stderr


@pytest.mark.model
def test_ask_answers_and_prints_a_completion_as_json() -> None:
    result = run("ask", "Name the capital of France.", "--max-new-tokens", "12", "--json")
    completion = json.loads(result.stdout)
    assert "Paris" in completion["text"]
    assert completion["stop_reason"] == "stop"
    assert completion["fingerprint"].startswith("qwen2.5-coder-0.5b@")


@pytest.mark.model
def test_doctor_reports_every_finding_and_an_answer() -> None:
    result = run("doctor")
    assert result.exit_code == 0, result.stdout
    found = {line.split()[1]: line for line in result.stdout.splitlines()}
    assert {"python", "packages", "memory", "model", "fingerprint", "answer"} <= set(found)
    assert "Paris" in found["answer"]


def test_doctor_says_what_to_do_where_the_model_cannot_be_had() -> None:
    result = run("doctor", "--model", "/no/such/folder")
    assert result.exit_code == 1
    assert "BAD model" in result.stdout
    assert "ok  python" in result.stdout


@pytest.mark.model
def test_model_info_and_fetch_of_a_model_that_is_here() -> None:
    information = run("model", "info").stdout
    assert "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32" in information
    fetched = run("model", "fetch")
    assert fetched.exit_code == 0
    assert "qwen2.5-coder-0.5b@1d9614638d18" in fetched.stdout


@pytest.mark.model
def test_verify_finds_one_wrong_byte_and_remove_spares_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    from ctxcourse.model.weights import find_model

    here = find_model()
    assert here is not None
    copy = tmp_path / "models" / here.path.name
    shutil.copytree(here.path, copy)
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path))
    assert run("model", "verify").exit_code == 0
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000_000)
        byte = file.read(1)
        file.seek(1_000_000_000)
        file.write(bytes([byte[0] ^ 1]))
    damaged = run("model", "verify")
    assert damaged.exit_code == 1
    assert "model.safetensors" in damaged.stdout
    assert run("model", "remove", "--model", str(copy)).stdout.startswith("0.00 GB")
    assert copy.exists()
    assert run("model", "remove").exit_code == 0
    assert not copy.exists()


def test_help_names_every_command() -> None:
    text = run("--help").stdout
    assert all(name in text for name in ("doctor", "ask", "count", "grade", "release", "model"))
