"""`ctxcourse experiment`: each experiment on a small real model, what it prints and keeps, and what it refuses."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ctxcourse.cli import app
from ctxcourse.cli.experiment import QUICK
from ctxcourse.experiments import EXPERIMENTS, experiment, order, table_of
from ctxcourse.loading import load_model
from ctxcourse.stats import wilson
from tests.small_model import write_small_model

COMMANDS = {"order": "order --trials 2 --records 6", "compress": "compress --documents 2", "tools": "tools --tasks 1"}
CELLS = {
    "order": (["arrangement"], ["hit", "other_record", "neither"], 6, 2),
    "compress": (["strategy"], ["hit", "miss"], 4, 2),
    "tools": (
        ["tools", "prose", "selection"],
        ["right_call", "wrong_arguments", "other_tool", "unknown_tool", "no_call"],
        16,
        1,
    ),
}
every_experiment = pytest.mark.parametrize("name", EXPERIMENTS)


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of the tests' own, and the small model as the one that is asked."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.setenv("CTXCOURSE_HOME", str(home))
        patch.setenv("CTXCOURSE_MODEL", str(write_small_model(home / "small")))
        yield home


def run(command: str, *more: str) -> Result:
    return CliRunner().invoke(app, ["experiment", *shlex.split(command), *more])


# What is printed and kept


@every_experiment
def test_cells_are_printed_as_json_and_agree_with_the_table_that_is_kept(name: str, tmp_path: Path) -> None:
    places, outcomes, count, each = CELLS[name]
    done = run(COMMANDS[name], "--json", "--csv", str(tmp_path / "t.csv"))
    assert done.exit_code == 0, done.stderr
    printed = json.loads(done.stdout)
    kept = table_of(name).load(tmp_path / "t.csv")
    assert set(kept["experiment"]) == {name}
    assert len(printed) == count
    for cell in printed:
        assert [key for key in cell if key in (*places, "n", *outcomes, "low", "high")] == [
            *(*places, "n", *outcomes, "low", "high")
        ]
        part = kept
        for column in places:
            part = part[part[column] == cell[column]]
        column = "outcome" if name == "tools" else "kind"
        assert cell["n"] == len(part) == each == sum(cell[outcome] for outcome in outcomes)
        for outcome in outcomes:
            assert cell[outcome] == (part[column] == outcome.replace("_", " ")).sum()
        assert (cell["low"], cell["high"]) == wilson(cell[outcomes[0]], each)
        assert cell["prompt_tokens"] == pytest.approx(part["prompt_tokens"].mean())
    assert "computed now" in done.stderr


@every_experiment
def test_the_command_in_the_provenance_repeats_the_run_from_what_is_remembered(name: str, tmp_path: Path) -> None:
    assert run(COMMANDS[name], "--csv", str(tmp_path / "first.csv")).exit_code == 0
    first = table_of(name).load(tmp_path / "first").attrs["provenance"]
    program, group, *command = shlex.split(first["command"])
    assert (program, group) == ("ctxcourse", "experiment")
    assert run(shlex.join(command), "--csv", str(tmp_path / "second.csv")).exit_code == 0
    second = table_of(name).load(tmp_path / "second").attrs["provenance"]
    assert (tmp_path / "first.csv").read_bytes() == (tmp_path / "second.csv").read_bytes()
    assert second["command"] == first["command"]
    assert (second["computed_tokens"], second["remembered"]) == (0, second["calls"])
    assert str(tmp_path) not in first["command"]


@every_experiment
def test_the_table_for_people_has_a_line_a_cell_and_says_what_it_cost(name: str) -> None:
    places, outcomes, count, _ = CELLS[name]
    done = run(COMMANDS[name])
    assert done.exit_code == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    heads = re.split(" {2,}", head.strip())
    assert heads[: len(places)] == places
    assert heads[-len(outcomes) - 3 :] == [
        *("n", *(outcome.replace("_", " ") for outcome in outcomes), "right", "95 % interval")
    ]
    cells, account = lines[:count], lines[count:]
    assert all(re.search(r"\d+% +\d+% to \d+%$", line) for line in cells)
    assert len({len(line) for line in (head, *cells)}) == 1
    assert load_model().fingerprint in account[0]
    assert re.match(r"\d+ calls, [\d,]+ tokens in their prompts", account[1])
    assert "--csv" in account[2]


def test_another_seed_draws_other_registers(tmp_path: Path) -> None:
    assert run(COMMANDS["order"], "--seed", "2", "--csv", str(tmp_path / "t.csv")).exit_code == 0
    frame = order.TABLE.load(tmp_path / "t")
    assert list(frame["needle"]) == [call.needle for call in order.calls(2, records=6, seed=2)]
    assert frame.attrs["provenance"]["command"] == "ctxcourse experiment order --trials 2 --records 6 --seed 2"


@every_experiment
def test_the_defaults_are_the_design_and_quick_takes_fewer_of_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def note(calls: Any, *_: Any, **more: Any) -> Any:
        asked.append((calls, more["command"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment(name), "run", note)
    done = run(name)
    assert done.exit_code == 130
    assert "stopped; finished answers are remembered: the same command goes on from there" in done.stderr
    run(name, "--quick")
    (full, _), (quick, command) = asked
    assert full == experiment(name).calls()
    number = QUICK[name]
    assert 20 * len(quick) == number * len(full)
    assert quick == full[: len(quick)]
    assert re.search(rf"--(trials|documents|tasks) {number}\b", command)


@every_experiment
def test_a_picture_is_drawn_where_it_is_told_to(name: str, tmp_path: Path) -> None:
    done = run(COMMANDS[name], "--plot", str(tmp_path / "p.png"))
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


# What is refused, before anything is asked


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("order --trials 0", "trials=0: it is a whole number from 1"),
        ("order --records 141", "records=141: it is a whole number from 1 to 140"),
        ("order --seed -1", "seed=-1"),
        ("order --quick --trials 3", "--quick takes 2 trials: give it or --trials, not both"),
        ("compress --documents 21", "documents=21: it is a whole number from 1 to 20"),
        ("compress --quick --documents 1", "--documents, not both"),
        ("tools --tasks 0", "tasks=0: it is a whole number from 1 to 20"),
        ("order --csv nowhere/t.csv", "--csv nowhere/t.csv: name a .csv file in a folder that exists"),
        ("compress --csv t.txt", "name a .csv file"),
        ("tools --plot t.pdf", "--plot t.pdf: name a .png file"),
    ],
)
def test_impossible_arguments_are_one_clear_sentence(command: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = experiment(command.partition(" ")[0])
    monkeypatch.setattr(module, "run", lambda *_, **__: pytest.fail("the model was asked"))
    done = run(command)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_experiment_that_there_is_not_is_refused_with_the_list() -> None:
    done = run("ordering")
    assert done.exit_code == 2
    assert "ordering" in done.stderr
