"""`ctxcourse cache`: what it prints, what it asks, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxcourse.cli import app
from ctxcourse.model.completions import CompletionStore, StoredCompletion


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["cache", *arguments])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def store(home: Path) -> CompletionStore:
    """1,200 completions of one model and one of another, beside a model's file."""
    (home / "models" / "a").mkdir(parents=True)
    (home / "models" / "a" / "model.safetensors").write_bytes(b"weights")
    store = CompletionStore()
    for i in range(1_201):
        store.put("a@1" if i else "b@2", [i], {"n": 12}, StoredCompletion((1, 2), "stop", 0.5))
    return store


def test_info_of_no_store_makes_none(home: Path) -> None:
    result = run("info")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        f"path         {home / 'completions.sqlite3'}",
        "completions  0",
        "size         0.00 MB",
    ]
    assert list(home.iterdir()) == []


def test_info_for_people(store: CompletionStore) -> None:
    lines = run("info").stdout.splitlines()
    assert lines[:2] == [f"path         {store.path}", "completions  1,201"]
    assert re.fullmatch(r"size         \d+\.\d\d MB", lines[2])
    assert lines[3:] == [
        time.strftime("oldest       %Y-%m-%d", time.gmtime()),
        "model        a@1  1,200",
        "model        b@2  1",
    ]


def test_info_for_programs(store: CompletionStore) -> None:
    found = json.loads(run("info", "--json").stdout)
    assert found["path"] == str(store.path)
    assert found["completions"] == 1_201
    assert found["per_model"] == {"a@1": 1_200, "b@2": 1}
    assert found["bytes"] >= store.path.stat().st_size > 0


def test_clear_removes_the_completions_of_one_model_or_all_and_no_file_of_a_model(
    store: CompletionStore, home: Path
) -> None:
    one = run("clear", "--model", "b@2", "--yes")
    assert (one.exit_code, one.stdout) == (0, "completions removed: 1; the model's files were left alone\n")
    assert store.info().per_model == {"a@1": 1_200}
    rest = run("clear", "--yes")
    assert (rest.exit_code, rest.stdout) == (0, "completions removed: 1,200; the model's files were left alone\n")
    assert store.info().completions == 0
    assert (home / "models" / "a" / "model.safetensors").read_bytes() == b"weights"


def test_clear_of_nothing_asks_nothing_and_names_what_there_is(store: CompletionStore) -> None:
    unknown = run("clear", "--model", "a")
    assert unknown.exit_code == 0
    assert "nothing to remove: no completions of a in" in unknown.stdout
    assert "a@1, b@2" in unknown.stdout
    store.clear()
    assert run("clear").stdout.startswith("nothing to remove: no completions in")


def test_clear_without_a_terminal_needs_yes(store: CompletionStore) -> None:
    result = run("clear")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Add --yes to remove 1,201 completions" in result.stderr
    assert store.info().completions == 1_201


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made with a pseudo-terminal, which Windows has not")
@pytest.mark.parametrize(("answer", "status", "left"), [("y", 0, 1_200), ("n", 1, 1_201), ("", 1, 1_201)])
def test_clear_asks_on_a_terminal(store: CompletionStore, answer: str, status: int, left: int) -> None:
    keyboard, terminal = os.openpty()
    os.write(keyboard, f"{answer}\n".encode())
    command = [sys.executable, "-c", "from ctxcourse.cli import app; app()", "cache", "clear", "--model", "b@2"]
    done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, timeout=60)
    os.close(keyboard)
    os.close(terminal)
    assert done.returncode == status, done.stderr
    assert f"Remove 1 completion of b@2 from {store.path}? The model's files are left alone." in done.stdout
    assert store.info().completions == left


@pytest.mark.parametrize("command", [["info"], ["info", "--json"], ["clear", "--yes"]])
def test_a_damaged_store_is_one_clear_sentence(home: Path, command: list[str]) -> None:
    path = home / "completions.sqlite3"
    path.write_bytes(b"no database")
    result = run(*command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert str(path) in result.stderr
    assert "damaged" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert path.read_bytes() == b"no database"


@pytest.mark.parametrize("place", ["~nobody-of-this-name/x", "loop"])
def test_a_home_that_cannot_be_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    monkeypatch.setenv("CTXCOURSE_HOME", place if place.startswith("~") else str(tmp_path / place))
    result = run("info")
    assert result.exit_code == 2
    assert "CTXCOURSE_HOME is" in result.stderr
