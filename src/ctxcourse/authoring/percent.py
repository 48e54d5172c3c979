"""Read a percent script: jupytext splits it into cells, this module adds lines and checks tags and syntax."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxcourse.authoring.errors import AuthorError

NBVAL_TAGS = frozenset({"nbval-ignore-output", "nbval-skip", "raises-exception"})
LESSON_TAGS = NBVAL_TAGS | {"check", "hint", "practice", "practice-solution"}
EXERCISE_TAGS = NBVAL_TAGS | {"answer", "check", "hidden-tests", "hint", "setup"}

_HEADER = re.compile(r"^\s*# ?%%")
_MAGIC = re.compile(r"^# (?=%{1,2}[A-Za-z_]\w*(\s|$))", re.MULTILINE)
_JUPYTEXT_NOTES = {"lines_to_next_cell", "cell_marker", "title"}
_FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}


@dataclass(frozen=True)
class SourceCell:
    """One cell of a percent script; ``line`` is the line of its ``# %%`` header in the file ``path``."""

    kind: str
    source: str
    path: str
    line: int
    tags: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def question(self) -> str | None:
        """The id of the question that the cell belongs to, if it names one."""
        question = self.metadata.get("question")
        return None if question is None else str(question)

    def error(self, message: str, line: int | None = None) -> AuthorError:
        """An error at this cell, or at the given line of its source (from 1)."""
        return AuthorError(message, self.path, self.line + (line or 0))


def read_cells(
    path: Path, root: Path, tags: Collection[str], metadata: Collection[str] = ("question", "jupyter")
) -> list[SourceCell]:
    """Split the percent script at ``path`` into its cells, in order.

    Comments above the first ``# %%`` are notes to authors (``# ruff: noqa``) and belong to no cell. A comment
    ``# %matplotlib inline`` becomes the magic. Empty cells are dropped.

    Raises AuthorError for code above the first header, unknown tags or metadata, broken headers, code that
    does not compile.
    """
    import jupytext

    name = path.relative_to(root).as_posix()
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    body = _first_header(lines, name)
    notebook = jupytext.reads("\n".join(lines[body:]) + "\n", fmt=_FORMAT)
    cells = []
    cursor = body
    for raw in notebook.cells:
        cursor = next((n for n in range(cursor, len(lines)) if _HEADER.match(lines[n])), cursor)
        text = raw.source.strip("\n")
        source = _MAGIC.sub("", text) if raw.cell_type == "code" else text
        given = {key: value for key, value in raw.metadata.items() if key not in _JUPYTEXT_NOTES}
        cell = SourceCell(
            kind=raw.cell_type,
            source=source,
            path=name,
            line=cursor + 1,
            tags=tuple(given.pop("tags", ())),
            metadata=given,
        )
        cursor += 1 + len(raw.source.splitlines())
        _check_header(cell, tags, metadata)
        if cell.kind == "code":
            check_syntax(cell, cell.source)
        if source.strip():
            cells.append(cell)
    if not cells:
        raise AuthorError("all cells are empty", name)
    return cells


def check_syntax(cell: SourceCell, source: str, what: str = "") -> ast.Module:
    """Parse a cell's code as IPython would run it (magics, top-level await); a syntax error names its line."""
    from IPython.core.inputtransformer2 import TransformerManager

    code = TransformerManager().transform_cell(source)
    try:
        tree = compile(code, cell.path, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as problem:
        shown = (problem.text or "").strip()
        detail = f": {shown}" if shown else ""
        raise cell.error(f"{what}{type(problem).__name__}: {problem.msg}{detail}", problem.lineno) from None
    assert isinstance(tree, ast.Module)
    return tree


def _first_header(lines: list[str], name: str) -> int:
    for number, line in enumerate(lines):
        if _HEADER.match(line):
            return number
        if line.strip() and not line.startswith("#"):
            raise AuthorError("there is code above the first cell; begin the cell with a line `# %%`", name, number + 1)
    raise AuthorError("no cells: a cell begins with a line `# %%` or `# %% [markdown]`", name)


def _check_header(cell: SourceCell, tags: Collection[str], metadata: Collection[str]) -> None:
    if "incorrectly_encoded_metadata" in cell.metadata:
        raise cell.error(
            f"this cell header cannot be read: {cell.metadata['incorrectly_encoded_metadata']} "
            '(write `# %% [markdown] tags=["hint"] question="name"`, the cell type first)'
        )
    for kind, given, known in (("tag", cell.tags, tags), ("metadata", cell.metadata, metadata)):
        for word in given:
            if word not in known:
                near = difflib.get_close_matches(word, sorted(known), n=1)
                advice = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(sorted(known))}"
                raise cell.error(f"unknown {kind} {word!r}; {advice}")
    question = cell.question
    if question is not None and not question.isidentifier():
        raise cell.error(f"the question id {question!r} must be a Python name, such as turn_bill")
