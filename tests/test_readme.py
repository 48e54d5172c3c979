"""Every command in the README is run, from the folder and with the files that it names."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from ctxcourse.samples import load_sample

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.S) for line in block.splitlines() if line]

ELSEWHERE = {
    # commands that this test does not run as they stand, and what checks them instead
    "make lab": "test_make_lab_serves_the_start_page",
    "make test": "test_make_test_collects_what_it_says",
    "conda env create -f environment.yml": "tests/test_environment.py: conda cannot be installed as a package",
    "conda activate ctxcourse": "the same",
    "jupyter lab": "test_make_lab_serves_the_start_page",
    "pytest --nbval notebooks solutions": "make test runs it",
}
FAILING = {  # submissions that are not perfect: the exit status says so
    "pytest --nbval submissions/": 1,
    "pytest --nbval submissions/ --grades=grades.csv --junitxml=grades.xml": 1,
    "ctxcourse grade submissions/ --grades grades.json": 1,
}
BIN = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def test_the_readme_has_commands_and_none_is_forgotten() -> None:
    assert len(COMMANDS) >= 12
    assert set(ELSEWHERE) <= set(COMMANDS)
    assert set(FAILING) <= set(COMMANDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the README's commands name."""
    here = tmp_path_factory.mktemp("readme")
    messages, tools = load_sample()
    (here / "messages.json").write_text(json.dumps(messages), encoding="utf-8")
    (here / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    (here / "submissions" / "ada").mkdir(parents=True)
    shutil.copy(ROOT / "exercises" / "01_token_budget.ipynb", here / "submissions" / "ada")
    return here


@pytest.mark.model
@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ELSEWHERE])
def test_a_command_of_the_readme(command: str, folder: Path) -> None:
    done = subprocess.run(command, shell=True, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == FAILING.get(command, 0), done.stdout + done.stderr
    assert done.stdout.strip()
    assert "Traceback" not in done.stdout + done.stderr
    if "grade" in command:
        assert "0 of 12 points" in done.stdout
    for name in re.findall(r"grades\.\w+", command):
        assert (folder / name).stat().st_size > 100


def test_release_is_named_as_the_command_line_has_it(tmp_path: Path) -> None:
    command = re.search(r"`(ctxcourse release) [^`]+`", README)
    assert command
    done = subprocess.run(
        f"{command[1]} {tmp_path / 'course'}", shell=True, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "course" / "exercises" / "01_token_budget.ipynb").exists()
    assert not (tmp_path / "course" / "solutions").exists()


@pytest.mark.model
def test_make_lab_serves_the_start_page(tmp_path: Path) -> None:
    """``make lab`` in this checkout's environment: the server answers and knows the start page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = f"--no-browser --port={port} --IdentityProvider.token= --ServerApp.port_retries=0"
    command = ["make", "lab", f"VENV={BIN.parent}", f"ARGS={arguments}"]
    log = tmp_path / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=ROOT, env=ENVIRONMENT, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        address = f"http://127.0.0.1:{port}"
        page = wait_for(f"{address}/", server, log)
        assert page.endswith("/lab/tree/notebooks/00_start_here.ipynb")
        for path in ("notebooks/00_start_here.ipynb", "exercises/01_token_budget.ipynb"):
            content = json.loads(urllib.request.urlopen(f"{address}/api/contents/{path}?content=0").read())
            assert content["type"] == "notebook"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait(timeout=30)


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> str:
    """Return the address that ``address`` leads to, as soon as the server answers."""
    end = time.monotonic() + seconds
    while server.poll() is None and time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            return str(answer.url)
        time.sleep(0.2)
    return pytest.fail(f"{address} does not answer:\n{log.read_text()}")


def test_make_test_collects_what_it_says() -> None:
    """``make test`` without running the tests: both of its commands find theirs, and the long ones are left out."""
    printed = subprocess.run(
        ["make", "-n", "test"], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True
    ).stdout
    assert '-m "not full"' in printed
    assert "--nbval notebooks solutions" in printed
    collected = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "--collect-only", "-q", "notebooks", "solutions"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for stem in (p.name for p in (ROOT / "lessons").iterdir() if p.is_dir()):
        assert f"notebooks/{stem}.ipynb" in collected
    assert "hidden::test_turns_add_up" in collected
