"""What the builder's check finds: files that are not what their sources make, edited, broken, deleted or left over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from ctxcourse.authoring.build import build, check, main
from tests.authoring.generated import JSON, NOTEBOOKS, contents, read


def test_check_shows_an_edited_notebook_as_a_diff(built: Path) -> None:
    path = built / "exercises/01_turns.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace("Need to implement", "Please implement"), encoding="utf-8")
    before = contents(built)
    difference = check(root=built)
    assert '-    raise NotImplementedError("Please implement turn_bill")' in difference.splitlines()
    assert '+    raise NotImplementedError("Need to implement turn_bill")' in difference.splitlines()
    assert "exercises/01_turns.ipynb" in difference
    assert "solutions/" not in difference
    assert contents(built) == before


def test_the_command_line_tells_who_edits_a_notebook_by_hand(
    built: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = read(built, "notebooks/01_turns")
    assert notebook.cells[1].cell_type == "markdown"
    notebook.cells[1].source += "\n\nOne more thing."
    nbformat.write(notebook, built / "notebooks/01_turns.ipynb")
    monkeypatch.chdir(built)
    assert main(["--check"]) == 1
    shown = capsys.readouterr().out
    assert "-One more thing." in shown.splitlines()
    assert "notebooks/01_turns.ipynb" in shown
    assert "What was changed in a generated file itself is lost then, so move it to its source first." in shown


@pytest.mark.parametrize("name", NOTEBOOKS)
@pytest.mark.parametrize("lost", ["id", "execution_count", "metadata"])
def test_a_notebook_that_lost_fields_is_a_difference_and_built_again(built: Path, name: str, lost: str) -> None:
    path = built / f"{name}.ipynb"
    before, data = path.read_bytes(), json.loads(path.read_text(encoding="utf-8"))
    if lost == "id":
        data["nbformat_minor"] = 4  # the last format without them
    for cell in data["cells"]:
        cell.pop(lost, None)
    path.write_text(json.dumps(data), encoding="utf-8")
    assert f"{name}.ipynb" in check(root=built)
    assert build(root=built) == [path]
    assert path.read_bytes() == before


def test_check_shows_an_edited_source(built: Path, edit: Callable[[str, str, str], int]) -> None:
    edit("quiz.yaml", "text: Once", "text: Never")
    difference = check(root=built)
    assert '-     "text": "Once",' in difference.splitlines()
    assert '+     "text": "Never",' in difference.splitlines()


@pytest.mark.parametrize("name", [f"{name}.ipynb" for name in NOTEBOOKS] + JSON)
def test_check_misses_a_deleted_file(built: Path, name: str) -> None:
    (built / name).unlink()
    assert check(root=built) == f"{name}: not built yet\n"


@pytest.mark.parametrize("name", ["notebooks/09_gone.ipynb", "src/ctxcourse/questions/09_gone.json"])
def test_orphans_are_found_and_removed(built: Path, name: str) -> None:
    (built / name).write_text("{}", encoding="utf-8")
    assert check(root=built) == f"{name}: generated from nothing under lessons/; delete it\n"
    assert build(root=built) == [built / name]
    assert check(root=built) == ""


def test_check_ignores_outputs_but_not_in_exercises(built: Path) -> None:
    for name, clean in [("solutions/01_turns", True), ("exercises/01_turns", False)]:
        notebook = read(built, name)
        notebook.cells[2].outputs = [nbformat.v4.new_output("stream", text="something else")]
        nbformat.write(notebook, built / f"{name}.ipynb")
        assert (check(root=built) == "") is clean


def test_check_finds_widget_state_and_metadata(built: Path) -> None:
    notebook = read(built, "notebooks/01_turns")
    notebook.metadata["widgets"] = {"state": {}}
    nbformat.write(notebook, built / "notebooks/01_turns.ipynb")
    assert '"widgets"' in check(root=built)


def test_a_broken_generated_file_is_built_again(built: Path) -> None:
    path = built / "exercises/01_turns.ipynb"
    path.write_text("<<<<<<< ours", encoding="utf-8")
    assert check(root=built) == "exercises/01_turns.ipynb: not a valid notebook\n"
    assert build(root=built, run=False) == [path]
