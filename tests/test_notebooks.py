"""What the generated notebooks must and must not hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted(
    path for folder in ("notebooks", "exercises", "solutions") for path in (ROOT / folder).glob("*.ipynb")
)

IGNORED = {
    # cells whose output nbval does not compare, by their first line, and why
    "notebooks/00_start_here.ipynb": {
        "import pandas as pd": "describes this machine",
        "from ctxcourse.widgets import ask_box": "a widget",
        "from ctxcourse.widgets import needle_explorer": "a widget",
        "from ctxcourse.quiz import quiz": "a widget",
    },
    "notebooks/01_token_budget.ipynb": {
        "from ctxcourse.widgets import budget_explorer": "a widget",
        "from tqdm.auto import tqdm": "times",
        'story = model.complete("Write a short story about an invoice.", max_new_tokens=50)': "times",
        "from ctxcourse.quiz import quiz": "a widget",
    },
    "notebooks/02_lost_in_the_middle.ipynb": {
        "from ctxcourse.widgets import order_explorer": "a widget",
        "live = order.run(order.calls(trials=20 if FULL else 1), model)": "live answers",
        "from ctxcourse.quiz import quiz": "a widget",
        "from ctxcourse.needle.own import read_records": "live answers",
    },
    "notebooks/03_conversation_compressor.ipynb": {
        "from ctxcourse.history import Metered, summary_prompt": "live answers",
        "import pandas as pd": "live answers",
        "from ctxcourse.widgets import history_explorer": "a widget",
        "from ctxcourse.experiments import compress": "times",
        "from ctxcourse.quiz import quiz": "a widget",
        "from ctxcourse import samples": "live answers",
    },
    "notebooks/04_tool_pruning.ipynb": {
        "from ctxcourse.widgets import tool_budget_explorer": "a widget",
        "from ctxcourse import load_model": "live answers",
        "from ctxcourse.quiz import quiz": "a widget",
    },
    "notebooks/05_needle_position.ipynb": {
        "from ctxcourse.widgets import position_explorer": "a widget",
        "from ctxcourse.needle.trials import cells, compare, run": "times",
        "from ctxcourse.widgets import every_row": "a widget",
        "from ctxcourse.quiz import quiz": "a widget",
        "from ctxcourse.needle.own import read_records": "live answers",
    },
    "notebooks/06_needle_length.ipynb": {
        "from ctxcourse.needle.trials import cells, run": "times",
        'cells(live, "records")': "live answers",
        'both = live.merge(length, on=["trial", "records"], suffixes=("", "_shipped"))': "live answers",
        "from ctxcourse.widgets import length_explorer": "a widget",
        "from ctxcourse import needle": "live answers",
        "from ctxcourse.quiz import quiz": "a widget",
        "rooms = pd.DataFrame(": "live answers",
    },
    "notebooks/07_forty_turns.ipynb": {
        "from ctxcourse.widgets import turn_explorer": "a widget",
        "from ctxcourse.quiz import quiz": "a widget",
    },
    "notebooks/08_context_policies.ipynb": {
        "from ctxcourse.widgets import policy_playground": "a widget",
        "live = probe_table.run([GivenMessages(given)], run.messages, run.tools, model)": "live answers",
        "from ctxcourse.quiz import quiz": "a widget",
    },
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def cells(path: Path) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return content


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_the_cells_that_nbval_does_not_compare_are_the_listed_ones(path: Path) -> None:
    tags = {"nbval-ignore-output", "nbval-skip", "raises-exception"}
    found = [
        "".join(cell["source"]).splitlines()[0]
        for cell in cells(path)
        if cell["cell_type"] == "code" and tags & set(cell["metadata"].get("tags", []))
    ]
    assert found == list(IGNORED.get(name(path), {}))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_no_widget_state_no_machine_paths_no_large_files(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 500_000
    assert "widget-state" not in text
    assert "widget-view" not in text
    assert not re.search(r"/(root|home|Users)/\w", text)
    assert str(ROOT) not in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_pictures_have_words(path: Path) -> None:
    """A picture's ``text/plain`` says what it shows, so that those who cannot see it are told."""
    for cell in cells(path):
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                words = "".join(output["data"]["text/plain"])
                assert len(words) > 40
                assert not words.startswith("<")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    for cell in cells(path):
        if cell["cell_type"] == "markdown":
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", "".join(cell["source"])):
                assert target.startswith("http") or (path.parent / target).exists(), target


def test_links_of_the_documents_lead_somewhere() -> None:
    for document in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#\s]+)", (ROOT / document).read_text(encoding="utf-8")):
            assert target.startswith("http") or (ROOT / target).exists(), f"{document}: {target}"
