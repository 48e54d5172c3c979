"""The few calls of nbformat that the builder needs, with types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode


def new_cell(kind: str, source: str, cell_id: str, metadata: dict[str, Any] | None = None) -> NotebookNode:
    """A cell of the kind ``markdown`` or ``code``, not run."""
    cell: dict[str, Any] = {"cell_type": kind, "id": cell_id, "metadata": metadata or {}, "source": source}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return _node(cell)


def new_notebook(cells: list[NotebookNode], metadata: dict[str, Any]) -> NotebookNode:
    """A notebook in the format 4.5, the first whose cells have ids."""
    return _node({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def read_notebook(path: Path) -> NotebookNode:
    """The notebook stored at ``path``; whatever nbformat raises where it is none, or not a valid one."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert isinstance(notebook, NotebookNode)
    return notebook


def notebook_text(notebook: NotebookNode) -> str:
    """The notebook as JSON with sorted keys and a final newline: the same text for the same notebook."""
    nbformat.validate(notebook)
    return f"{nbformat.writes(notebook)}\n"


def _node(value: dict[str, Any]) -> NotebookNode:
    node = nbformat.from_dict(value)
    assert isinstance(node, NotebookNode)
    return node
