"""`ctxcourse needle`: every experiment on a small real model, what it prints and keeps, and what it refuses."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ctxcourse.cli import app
from ctxcourse.loading import load_model
from ctxcourse.model.completions import CompletionStore
from ctxcourse.needle import sweeps, trials
from ctxcourse.plots.pictures import Picture
from tests.small_model import write_small_model

CELL = ["prompt_tokens", "n", "hits", "other_record", "neither", "low", "high"]
PATIENCE = 300  # seconds until a test gives up on a process
EXPERIMENTS: dict[str, tuple[str, list[str], list[dict[str, float]]]] = {
    "position": (
        "position --records 5 --trials 3 --depths 0,1/2,1",
        ["records", "depth", "share"],
        [{"depth": 0}, {"depth": 0.5}, {"depth": 1}],
    ),
    "rows": (
        "position --design rows --records 3 --trials 3",
        ["records", "row", "depth", "share"],
        [{"row": 0, "depth": 0}, {"row": 1, "depth": 0.5}, {"row": 2, "depth": 1}],
    ),
    "length": (
        "length --lengths 1,3 --trials 3",
        ["records", "depth", "share"],
        [{"records": 1, "share": 1}, {"records": 3, "share": 1}],
    ),
    "volume": (
        "volume --lengths 1,3 --trials 3",
        ["records", "depth", "share"],
        [{"records": 1, "share": 0}, {"records": 3, "share": 0}],
    ),
    "interference": (
        "interference --shares 0,1/4,1 --records 5 --trials 3",
        ["records", "depth", "share"],
        [{"share": 0}, {"share": 0.25}, {"share": 1}],
    ),
    "grid": (
        "grid --lengths 3,5 --depths 0,1 --trials 3",
        ["records", "depth", "share"],
        [
            {"records": 3, "depth": 0},
            {"records": 3, "depth": 1},
            {"records": 5, "depth": 0},
            {"records": 5, "depth": 1},
        ],
    ),
}
every_experiment = pytest.mark.parametrize("name", EXPERIMENTS)
OWN = 'name,room\nAda,"0417"\nBo,0007\nCleo,"12, top"\n'


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model(tmp_path_factory.mktemp("model") / "small")


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[Path]:
    """A cache of the tests' own, and the small model as the one that is asked."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("CTXCOURSE_HOME", str(home))
        patch.setenv("CTXCOURSE_MODEL", str(folder))
        yield home


def run(command: str, *more: str) -> Result:
    return CliRunner().invoke(app, ["needle", *shlex.split(command), *more])


# What is printed and kept


@every_experiment
def test_cells_are_printed_as_json_and_agree_with_the_table_that_is_kept(name: str, tmp_path: Path) -> None:
    command, columns, expected = EXPERIMENTS[name]
    done = run(command, "--json", "--csv", str(tmp_path / "t.csv"))
    assert done.exit_code == 0, done.stderr
    printed = json.loads(done.stdout)
    assert [{key: cell[key] for key in want} for cell, want in zip(printed, expected, strict=True)] == expected
    kept = trials.load(tmp_path / "t.csv")
    assert set(kept["experiment"]) == {name}
    for cell in printed:
        assert list(cell) == columns + CELL
        part = kept
        for column in columns:
            part = part[part[column] == cell[column]]
        assert (cell["n"], cell["hits"]) == (len(part), (part["kind"] == "hit").sum()) == (3, cell["hits"])
        assert cell["hits"] + cell["other_record"] + cell["neither"] == cell["n"]
        assert cell["low"] <= cell["hits"] / cell["n"] <= cell["high"]
        assert type(cell["n"]) is type(cell["prompt_tokens"]) is int
    assert "computed now" in done.stderr


@every_experiment
def test_the_command_in_the_provenance_repeats_the_run(name: str, tmp_path: Path) -> None:
    run(EXPERIMENTS[name][0], "--seed", "2", "--csv", str(tmp_path / "first.csv"))
    first = trials.load(tmp_path / "first")
    program, group, *command = shlex.split(first.attrs["provenance"]["command"])
    assert (program, group) == ("ctxcourse", "needle")
    run(shlex.join(command), "--csv", str(tmp_path / "second.csv"))
    second = trials.load(tmp_path / "second")
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    assert second.attrs["provenance"]["command"] == first.attrs["provenance"]["command"]
    assert second.attrs["provenance"]["remembered"] == len(second)
    assert second.attrs["provenance"]["seed"] == 2


@every_experiment
def test_the_table_for_people_has_a_line_a_cell_and_says_what_it_cost(name: str) -> None:
    command, _, expected = EXPERIMENTS[name]
    done = run(command)
    head, *lines = done.stdout.splitlines()
    assert re.split(" {2,}", head)[-6:] == ["n", "hits", "other record", "neither", "right", "95 % interval"]
    cells, account = lines[: len(expected)], lines[len(expected) :]
    assert all(re.search(r"\d+% +\d+% to \d+%$", line) for line in cells)
    assert load_model().fingerprint in account[0]
    assert re.fullmatch(r"\d+ calls, [\d,]+ tokens in their prompts, [\d,]+ of them distinct, .*", account[1])
    assert "--csv" in account[2]


def test_the_defaults_are_the_designs_and_quick_takes_fewer_of_their_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def note(calls: Any, *_: Any, **more: Any) -> Any:
        asked.append((calls, more["command"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(trials, "run", note)
    for command, design in (
        ("position --design move", sweeps.position()),
        ("position --design rows", sweeps.rows()),
        ("length", sweeps.length()),
        ("volume", sweeps.volume()),
        ("interference", sweeps.interference()),
        ("grid", sweeps.grid()),
    ):
        done = run(command)
        assert done.exit_code == 130
        assert "the same command goes on from there" in done.stderr
        assert asked[-1][0] == design
        run(command, "--quick")
        name = command.rpartition(" ")[-1]
        assert len({call.trial for call in asked[-1][0]}) == sweeps.QUICK[name] < sweeps.TRIALS[name]
        assert asked[-1][0] == design[: len(asked[-1][0])]
        assert f"--trials {len({call.trial for call in asked[-1][0]})}" in asked[-1][1]


@pytest.mark.parametrize("name", ["position", "rows", "length", "volume", "grid"])
def test_a_picture_is_drawn_where_it_is_told_to(name: str, tmp_path: Path) -> None:
    done = run(EXPERIMENTS[name][0], "--plot", str(tmp_path / "p.png"))
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_interference_is_drawn_beside_the_shipped_runs_and_says_which_model_made_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[str] = []
    monkeypatch.setattr(Picture, "save", lambda picture, path: saved.append(picture.alt))
    monkeypatch.setattr("ctxcourse.results.FOLDER", tmp_path)
    command, plot = EXPERIMENTS["interference"][0], ["--plot", str(tmp_path / "p.png")]
    assert "the shipped run 'length' is not in" in run(command, *plot).stderr
    for name in ("length", "volume"):
        assert run(f"{name} --lengths 1,3,5 --trials 3", "--csv", str(tmp_path / f"{name}.csv")).exit_code == 0
    done = run(command, *plot)
    assert done.exit_code == 0, done.stderr
    one_model = saved.pop()
    about = json.loads((tmp_path / "volume.provenance.json").read_text())
    (tmp_path / "volume.provenance.json").write_text(json.dumps({**about, "model": "Another model"}))
    assert run(command, *plot).exit_code == 0
    assert "Another model" in saved[0]
    assert "Another model" not in one_model


def test_a_picture_is_the_one_of_the_design(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    saved: list[str] = []
    monkeypatch.setattr(Picture, "save", lambda picture, path: saved.append(picture.alt))
    for name in ("position", "rows", "grid"):
        assert run(EXPERIMENTS[name][0], "--plot", str(tmp_path / "p.png")).exit_code == 0
    assert len(set(saved)) == 3


@pytest.mark.parametrize("name", ["length", "volume", "interference"])
def test_a_design_of_one_depth_can_have_another(name: str, tmp_path: Path) -> None:
    size = "--records 3 --shares 0,1" if name == "interference" else "--records 3,5"
    done = run(f"{name} {size} --depths 1 --trials 2 --json --csv", str(tmp_path / "t.csv"))
    assert done.exit_code == 0, done.stderr
    assert {cell["depth"] for cell in json.loads(done.stdout)} == {1.0}
    kept = trials.load(tmp_path / "t.csv")
    assert (kept["row"] == kept["records"] - 1).all()
    assert "--depths 1" in kept.attrs["provenance"]["command"]


# Interrupts


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent to a process as a signal, which Windows has not")
def test_ctrl_c_keeps_finished_answers_and_the_same_command_goes_on(folder: Path, tmp_path: Path) -> None:
    arguments = ["needle", "position", "--records", "15", "--trials", "16", "--csv", str(tmp_path / "t.csv")]
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from ctxcourse.cli import app; app()"
    )
    store = CompletionStore()
    before = store.info().completions
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while store.info().completions < before + 5 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, errors
    assert "stopped; finished answers are remembered: the same command goes on from there" in errors
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.stderr
    about = trials.load(tmp_path / "t.csv").attrs["provenance"]
    assert 5 <= about["remembered"] < about["calls"] == 16 * 9


# Readers' own records


def test_own_records_are_asked_and_keep_their_leading_zeros(tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text(OWN)
    own = ["--own", str(tmp_path / "rooms.csv"), "--sentence", "{name} sits in room {room}.", "--answer", "room"]
    own += ["--question", "Where does {name} sit?"]
    done = run("position --depths 0,1 --trials 3 --json", *own, "--csv", str(tmp_path / "t.csv"))
    assert done.exit_code == 0, done.stderr
    assert [(cell["depth"], cell["n"], cell["records"]) for cell in json.loads(done.stdout)] == [(0, 3, 3), (1, 3, 3)]
    kept = trials.load(tmp_path / "t.csv")
    assert set(kept["right"]) == {"0417", "0007", "12, top"}
    command = kept.attrs["provenance"]["command"]
    assert "--own rooms.csv --sentence '{name} sits in room {room}.'" in command
    assert str(tmp_path) not in command
    every = run("position --design rows --json", *own)
    assert [cell["row"] for cell in json.loads(every.stdout)] == [0, 1, 2]
    quick = run("position --quick --depths 0 --json", *own)
    assert [cell["n"] for cell in json.loads(quick.stdout)] == [sweeps.QUICK["move"]]


def test_results_are_not_written_over_the_records(tmp_path: Path) -> None:
    own = tmp_path / "rooms.csv"
    own.write_text(OWN)
    command = ["--sentence", "{name} sits in room {room}.", "--answer", "room", "--question", "Where does {name} sit?"]
    done = run("position --own", str(own), *command, "--csv", str(tmp_path / "." / "rooms.csv"))
    assert done.exit_code == 2
    assert "that is the file of your records" in done.stderr
    assert own.read_text() == OWN


def test_cells_are_printed_where_their_table_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "save", lambda *_: (_ for _ in ()).throw(OSError("no space left")))
    done = run(EXPERIMENTS["length"][0], "--csv", str(tmp_path / "t.csv"))
    assert done.exit_code != 0
    assert "right" in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "--own needs --sentence, --question and --answer"),
        (["--sentence", "{name} {room}", "--question", "{name}?"], "--own needs"),
        (["--sentence", "{nam} {room}", "--question", "{name}?", "--answer", "room"], "nam"),
        (["--sentence", "{name} {room}", "--question", "{name}?", "--answer", "room", "--records", "3"], "--records"),
    ],
)
def test_own_records_that_are_not_described_are_refused(tmp_path: Path, more: list[str], said: str) -> None:
    (tmp_path / "rooms.csv").write_text(OWN)
    done = run("position --own", str(tmp_path / "rooms.csv"), *more)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


# What is refused, before anything is asked


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("position --records 0", "records=0: it is a whole number from 1 to 140"),
        ("position --trials 0", "trials=0"),
        ("position --depths 2", "depths: 2.0 is out of range"),
        ("position --depths 0,,1", "--depths 0,,1: '' is no number"),
        ("position --depths 1/0", "'1/0' is no number"),
        ("position --depths nan", "'nan' is no number"),
        ("position --depths 1e999", "'1e999' is no number"),
        ("position --depths 0,0", "depths has 0.0 twice"),
        ("position --design rows --depths 0", "--depths belongs to --design move"),
        ("position --answer room", "name the file with --own"),
        ("position --own nowhere.csv --sentence {a}{b} --question {a} --answer b", "nowhere.csv"),
        ("position --quick --trials 3", "give it or --trials, not both"),
        ("position --seed -1", "seed=-1"),
        ("length --seed 922337203685478", "seed=922337203685478"),
        (f"grid --csv {'n' * 300}.csv", "File name too long"),
        ("length --lengths 1,2.5", "2.5 is no whole number"),
        ("length --lengths 141", "lengths=141"),
        ("length --records 141", "lengths=141"),
        ("length --depths 0,1", "--depths 0,1: this design has one; `ctxcourse needle grid` asks at several"),
        ("volume --depths 2", "depth: 2.0 is out of range"),
        ("interference --depths 0 --plot t.png", "leave --depths out"),
        ("volume --lengths three", "'three' is no number"),
        ("interference --records 1", "records=1: it is a whole number from 2"),
        ("interference --shares -1/4", "-0.25 is out of range"),
        ("grid --depths ''", "'' is no number"),
        ("grid --csv nowhere/t.csv", "--csv nowhere/t.csv: name a .csv file in a folder that exists"),
        ("grid --csv t.txt", "name a .csv file"),
        ("grid --plot t.pdf", "--plot t.pdf: name a .png file"),
    ],
)
def test_impossible_arguments_are_one_clear_sentence(command: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "run", lambda *_, **__: pytest.fail("the model was asked"))
    done = run(command)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
