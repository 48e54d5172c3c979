"""The files that the builder makes of the small course in these tests."""

from __future__ import annotations

from pathlib import Path

import nbformat

NOTEBOOKS = ["notebooks/00_start", "notebooks/01_turns", "exercises/01_turns", "solutions/01_turns"]
JSON = ["src/ctxcourse/questions/00_start.json", "src/ctxcourse/questions/01_turns.json"]


def read(root: Path, name: str) -> nbformat.NotebookNode:
    return nbformat.read(root / f"{name}.ipynb", as_version=4)


def contents(root: Path) -> dict[str, bytes]:
    files = [f"{name}.ipynb" for name in NOTEBOOKS] + JSON
    return {name: (root / name).read_bytes() for name in files}
