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


@pytest.mark.model
def test_count_takes_a_whole_request_and_a_byte_order_mark(tmp_path: Path) -> None:
    messages, tools = load_sample("coding_session")
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"model": "any", "messages": messages, "tools": tools}), encoding="utf-8-sig")
    assert json.loads(run("count", str(path), "--json").stdout)["total"] == 2_794


BAD_FILES = {
    "not JSON": ('[{"role": "user",', "not valid JSON"),
    "a message, not a list": ('{"role": "user", "content": "Hi"}', "list"),
    "a bare string": ('"Hi"', "list"),
    "messages that are no list": ('{"messages": "Hi"}', "list"),
    "not a dict": ('["Hi"]', "0"),
    "unknown role": ('[{"role": "narrator", "content": "Hi"}]', "narrator"),
    "an orphaned result": ('[{"role": "tool", "tool_call_id": "x9", "content": "Hi"}]', "x9"),
    "arguments that are no JSON": (
        '[{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function",'
        ' "function": {"name": "look", "arguments": "{oops"}}]}, {"role": "tool", "tool_call_id": "a", "content": ""}]',
        "look",
    ),
    "an image part": ('[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]', "image_url"),
    "a key twice": ('[{"role": "user", "content": "Hi", "content": "Ho"}]', "twice"),
    "a huge number": ("[" + "9" * 5_000 + "]", "cannot be taken"),
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
    assert "left alone" in run("model", "remove", "--model", str(copy)).stdout
    assert copy.exists()
    assert run("model", "remove").exit_code == 0
    assert not copy.exists()


def test_help_names_every_command() -> None:
    commands = {
        line.split()[1] for line in run("--help").stdout.splitlines() if line.startswith("│ ") and line[2:3].isalpha()
    }
    assert {"doctor", "ask", "count", "grade", "release", "model"} <= commands


def test_grade_passes_every_option_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from ctxcourse.grading import run as grading

    given: dict[str, Any] = {}
    monkeypatch.setattr(grading, "grade", lambda paths, **options: given.update(options, paths=paths) or 0)
    options = {
        "grades": tmp_path / "g.json", "solutions": tmp_path, "lesson": "01_token_budget",
        "junitxml": tmp_path / "j.xml", "workers": 2, "timeout": 5.0, "sandbox": "require",
    }  # fmt: skip
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    assert run("grade", "here", *words, "--show-hidden").exit_code == 0
    assert given == {**options, "show_hidden": True, "paths": [Path("here")]}


def test_grade_refuses_an_unknown_sandbox_and_paths_that_are_not_there(tmp_path: Path) -> None:
    assert run("grade", "here", "--sandbox", "requird").exit_code == 2
    missing = run("grade", str(tmp_path / "none"))
    assert missing.exit_code == 2
    assert "none" in missing.stderr


def broken_models(folder: Path) -> dict[str, Path]:
    """Files and folders that look like models and are none, by name."""
    made = {}
    for name, content in {
        "empty": b"",
        "random": bytes(range(256)) * 40,
        "cut": b"GGUF\x03\x00\x00\x00" + b"\x01" * 900,
    }.items():
        made[f"{name}.gguf"] = folder / f"{name}.gguf"
        made[f"{name}.gguf"].write_bytes(content)
    for name, files in {
        "empty": {},
        "tokenizer {}": {"tokenizer.json": "{}", "tokenizer_config.json": "{}"},
        "tokenizer []": {"tokenizer.json": "[]", "chat_template.jinja": "x"},
        "template": {"tokenizer.json": "{}", "chat_template.jinja": "{% for"},
    }.items():
        made[name] = folder / name
        made[name].mkdir()
        for file, text in {"model.safetensors": "x", "config.json": "{}", **files}.items():
            if name != "empty":
                (made[name] / file).write_text(text)
    return made


@pytest.mark.parametrize(
    "name", ["empty.gguf", "random.gguf", "cut.gguf", "empty", "tokenizer {}", "tokenizer []", "template"]
)
def test_a_model_that_is_none_is_one_clear_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / "home"))
    path = broken_models(tmp_path)[name]
    counted = run("count", "-", "--model", str(path), input='[{"role": "user", "content": "Hi"}]')
    assert counted.exit_code == 2, counted.exception
    assert str(path) in counted.stderr
    examined = run("doctor", "--model", str(path))
    assert examined.exit_code == 1
    assert "BAD model" in examined.stdout
    assert not list((tmp_path / "home").glob("models/*.unfinished"))


@pytest.mark.model
@pytest.mark.parametrize("damage", ["config.json", "model.safetensors"])
def test_damaged_weights_are_one_clear_sentence(tmp_path: Path, damage: str) -> None:
    from ctxcourse.model.weights import find_model

    here = find_model()
    assert here is not None
    for file in here.path.iterdir():
        if file.name != "ctxcourse.json":
            (tmp_path / file.name).symlink_to(file)
    (tmp_path / damage).unlink()
    (tmp_path / damage).write_text("[]")
    asked = run("ask", "Hi", "--model", str(tmp_path))
    assert asked.exit_code == 2, asked.exception
    assert str(tmp_path) in asked.stderr


@pytest.mark.parametrize("home", ["a file", "a file/below", "/proc/nothing"])
def test_a_home_that_can_be_no_folder_is_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    (tmp_path / "a file").write_text("x")
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / home))
    result = run("model", "fetch")
    assert result.exit_code == 2, result.exception
    assert "CTXCOURSE_HOME" in result.stderr


@pytest.mark.parametrize("name", ["x" * 500, "a/" + "b" * 300, "nul\0", "~nobody-at-all/x/y"])
def test_names_that_no_model_can_have(name: str) -> None:
    result = run("ask", "Hi", "--model", name)
    assert result.exit_code == 2, result.exception
    assert "There is no model" in result.stderr


def test_release_into_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = run("release", str(tmp_path / "file" / "below"))
    assert result.exit_code == 2, result.exception
