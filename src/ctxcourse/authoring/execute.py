"""Run a generated notebook and keep what is worth keeping of its outputs.

A stored output is kept as long as its cell and all code cells above it are unchanged, so that a rebuild
changes nothing that the author did not change.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from ctxcourse.authoring.errors import AuthorError

UNTIL_RUN = "(A widget stands here once the cell has run: the page needs a kernel for it.)"
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
IGNORED = "nbval-ignore-output"


def unchanged(new: NotebookNode, stored: NotebookNode | None) -> int:
    """How many code cells, from the top, are the same in both notebooks and have been run in the stored one."""
    if stored is None:
        return 0
    count = 0
    for ours, theirs in zip(_code(new), _code(stored), strict=False):
        same = ours.source == theirs.source and ours.metadata.get("tags") == theirs.metadata.get("tags")
        if not same or theirs.execution_count is None:
            break
        count += 1
    return count


def keep_outputs(new: NotebookNode, stored: NotebookNode | None, cells: int) -> None:
    """Copy the outputs of the first ``cells`` code cells from the stored notebook into the new one."""
    if stored is None:
        return
    for ours, theirs in list(zip(_code(new), _code(stored), strict=False))[:cells]:
        ours.outputs = copy.deepcopy(theirs.outputs)
        ours.execution_count = theirs.execution_count


def execute(notebook: NotebookNode, folder: Path, root: Path, lines: Mapping[str, int], timeout: int = 900) -> None:
    """Run all cells in place, in a fresh kernel that works in ``folder``, and clean their outputs.

    ``lines`` gives the line of each cell's source, for errors; ``timeout`` is in seconds for each cell.

    Raises AuthorError, naming the source and the cell, where a cell fails that is not tagged ``raises-exception``,
    shows a widget without the tag ``nbval-ignore-output``, or shows a path of this machine.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    folder.mkdir(parents=True, exist_ok=True)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        store_widget_state=False,
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    with tempfile.TemporaryDirectory(prefix="ctxcourse-ipython-") as profile:
        try:
            client.execute(env={**os.environ, "IPYTHONDIR": profile, "PYTHONHASHSEED": "0"})
        except CellExecutionError as problem:
            raise _failure(notebook, lines, f"{problem.ename}: {problem.evalue}") from None
        except CellTimeoutError:
            raise _failure(notebook, lines, f"not finished after {timeout} s") from None
        except DeadKernelError:
            raise _failure(notebook, lines, "the kernel died") from None
    _clean(notebook, lines, root)


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _failure(notebook: NotebookNode, lines: Mapping[str, int], reason: str) -> AuthorError:
    """Name the cell that was running: the last one with an execution count or an error."""
    cells = _code(notebook)
    failed = [cell for cell in cells if any(output.output_type == "error" for output in cell.outputs)]
    failed = [cell for cell in failed if "raises-exception" not in cell.metadata.get("tags", [])]
    running = failed[-1:] or [cell for cell in cells if cell.execution_count is not None][-1:] or cells[:1]
    return _error(notebook, running[0], lines, f"fails with {reason}")


def _error(notebook: NotebookNode, cell: NotebookNode, lines: Mapping[str, int], what: str) -> AuthorError:
    text = f"the cell {cell.id} {what}\n\n{cell.source}"
    return AuthorError(text, notebook.metadata["ctxcourse"]["source"], lines.get(cell.id))


def _clean(notebook: NotebookNode, lines: Mapping[str, int], root: Path) -> None:
    """Drop what changes from run to run or from machine to machine."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for number, cell in enumerate(_code(notebook), start=1):
        cell.metadata.pop("execution", None)
        cell.execution_count = number
        outputs, widget = [], False
        for output in cell.outputs:
            if _WIDGET_VIEW in output.get("data", {}):
                if IGNORED not in cell.metadata.get("tags", []):
                    raise _error(notebook, cell, lines, f'shows a widget and needs the tag "{IGNORED}"')
                widget = True
                continue
            if "execution_count" in output:
                output["execution_count"] = number
            shown = _shows_path(output, root)
            if shown:
                raise _error(notebook, cell, lines, f"shows a path of this machine: {shown}")
            outputs.append(output)
        if widget and not outputs:  # and no progress bar above what came of it
            outputs = [new_output("display_data", {"text/plain": UNTIL_RUN})]
        cell.outputs = outputs


def _shows_path(output: NotebookNode, root: Path) -> str | None:
    """The first line with the course's own path; in tracebacks, which nothing compares, the path is taken out."""
    if output.output_type == "error":
        output["traceback"] = [line.replace(f"{root}/", "") for line in output["traceback"]]
    lines = (line for text in _texts(output) for line in text.splitlines())
    return next((line.strip() for line in lines if str(root) in line), None)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in inner for text in _texts(item)]
