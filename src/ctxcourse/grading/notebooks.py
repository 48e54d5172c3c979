"""Reads notebooks that may be anything, and the solution notebooks that say what is to be graded."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.grading.hidden import TAG, HiddenCell, TestSpec, compile_cells

MAX_BYTES = 50 * 2**20
"""Largest notebook that is opened."""
MAX_CELLS = 2_000
"""Most cells of a notebook that is graded."""
STUB = "Need to implement"
"""How the message of the NotImplementedError begins that an answer cell is handed out with."""
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
"""The lines between which a hidden cell's tests stand."""

AGAIN = "Open it in Jupyter, save it, and hand it in again"


class UnreadableNotebook(CourseError):
    """A file is no notebook that can be graded; the text is the reason, for the report."""


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook, whatever state its metadata is in.

    Attributes:
        index: its place in the notebook, from 0, all cells counted.
        number: its place among the code cells, as nbval counts them; -1 for other cells.
        role: ``"answer"``, ``"check"``, ``"hidden"``, ``"setup"`` or ``""``.
        question: the question that it belongs to, or ``""``.
    """

    index: int
    number: int
    kind: str
    source: str
    id: str
    grade_id: str
    tags: frozenset[str]
    role: str
    question: str

    @property
    def normal(self) -> str:
        """The source without differences that do not matter."""
        return "\n".join(line.rstrip() for line in self.source.strip().splitlines())

    @property
    def stub(self) -> bool:
        """Whether this is the answer cell as it was handed out."""
        return f'raise NotImplementedError("{STUB}' in self.source

    @property
    def names(self) -> frozenset[str]:
        """The functions, classes and variables that the cell defines at its top level."""
        return defined_names(self.source)

    @property
    def has_code(self) -> bool:
        """Whether there is anything but comments in a code cell."""
        return any(line.strip() and not line.strip().startswith("#") for line in self.source.splitlines())


@dataclass(frozen=True)
class Notebook:
    """A notebook that was read: its cells, its node as nbformat has it, and what was odd about it."""

    path: Path
    node: Any
    cells: tuple[Cell, ...]
    kind: str
    stem: str
    notices: tuple[str, ...] = ()

    @property
    def is_exercise(self) -> bool:
        """Whether its metadata or one of its cells says that it is an exercise, answered or not."""
        return self.kind in ("exercise", "solution") or (
            self.kind != "lesson" and any(cell.role in ("answer", "hidden") for cell in self.cells)
        )


def read_notebook(path: Path) -> Notebook:
    """Read a notebook of any format version, with whatever is missing filled in; the file is not changed.

    Raises:
        UnreadableNotebook: if it is too large, empty, no JSON or no notebook; the text says which.
    """
    try:
        if path.is_symlink() or not path.is_file():
            raise UnreadableNotebook("it is a link or a special file, not a file of its own")
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UnreadableNotebook(
                f"it has {size / 2**20:.0f} MB, and more than {MAX_BYTES // 2**20} are not opened: "
                "clear its outputs and hand it in again"
            )
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableNotebook("it is not a text file, so no notebook") from None
    except OSError as error:
        raise UnreadableNotebook(f"it cannot be read: {error.strerror}") from None
    if not text.strip():
        raise UnreadableNotebook("the file is empty")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise UnreadableNotebook(f"it is not valid JSON{where}, so no notebook") from None
    if not isinstance(data, dict) or not ("cells" in data or "worksheets" in data):
        raise UnreadableNotebook("it is JSON, but no notebook: it has no cells")
    if isinstance(data.get("cells"), list) and len(data["cells"]) > MAX_CELLS:
        raise UnreadableNotebook(f"it has {len(data['cells'])} cells, and more than {MAX_CELLS} are not run")
    flaw = _flaw(data)
    if flaw:
        raise UnreadableNotebook(f"it is not a valid notebook: {flaw}. {AGAIN}")
    try:
        return _notebook(path, data)
    except Exception:  # hand-made notebooks fail in many ways inside nbformat
        raise UnreadableNotebook(f"it is not a valid notebook of format {data.get('nbformat', 4)}. {AGAIN}") from None


def _flaw(data: dict[str, Any]) -> str:
    """Return what is wrong with a notebook's structure, in words for the student, or an empty text."""
    version = data.get("nbformat", 4)
    if isinstance(version, str) and version.strip().isdecimal():
        version = data["nbformat"] = int(version)
    if type(version) is not int or not 1 <= version <= 4:
        return f"its field nbformat is {_shown(version)}, and should be the number 4"
    if version != 4:
        return ""
    if not isinstance(data.get("cells"), list):
        return f"its field cells is {_shown(data.get('cells'))}, and should be a list"
    for number, cell in enumerate(data["cells"], 1):
        if not isinstance(cell, dict):
            return f"cell {number} is {_shown(cell)}, and should be an object with the fields cell_type and source"
        source = cell.get("source", "")
        lines = source if isinstance(source, list) else [source]
        wrong = [line for line in lines if not isinstance(line, str)]
        if wrong:
            return f"the source of cell {number} holds {_shown(wrong[0])}, and should be text"
    return ""


def _shown(value: object) -> str:
    """Return a value of a JSON file as text for a message: short, and not as Python writes it."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _notebook(path: Path, data: dict[str, Any]) -> Notebook:
    import nbformat

    notices = []
    version = data.get("nbformat", 4)
    if version != 4:
        notices.append(f"the notebook is in the old format {version}, and was converted")
    elif any("id" not in cell for cell in data["cells"]):
        notices.append("cells have no ids")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = nbformat.from_dict(data) if version == 4 else nbformat.reads(json.dumps(data), as_version=4)
        with contextlib.suppress(KeyError, TypeError, AttributeError):
            node = nbformat.v4.rwbase.rejoin_lines(node)
    meta = node["metadata"] = _mapping(node.get("metadata"))
    kernel = _mapping(meta.get("kernelspec")).get("name", "python3")
    if kernel != "python3":
        notices.append(f"the notebook asks for the kernel {str(kernel)[:40]!r}; the grader's own was used")
    course = _mapping(meta.get("ctxcourse"))
    cells = tuple(_cells(node))
    return Notebook(path, node, cells, str(course.get("kind", "")), str(course.get("stem", "")), tuple(notices))


def _cells(node: Any) -> Iterator[Cell]:
    number = -1
    for index, cell in enumerate(node["cells"]):
        kind = str(cell.get("cell_type", "raw"))
        source = cell.get("source", "")
        source = "".join(source) if isinstance(source, list) else str(source)
        cell["source"], cell["metadata"] = source, _mapping(cell.get("metadata"))
        if kind == "code":
            number += 1
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)
        meta = cell["metadata"]
        found = meta.get("tags")
        tags = frozenset(map(str, found)) if isinstance(found, list) else frozenset()
        grade_id = str(_mapping(meta.get("nbgrader")).get("grade_id", ""))
        question = str(_mapping(meta.get("ctxcourse")).get("question", ""))
        yield Cell(
            index,
            number if kind == "code" else -1,
            kind,
            source,
            str(cell.get("id", "")),
            grade_id,
            tags,
            _role(tags, grade_id, _mapping(meta.get("nbgrader")), source),
            question or grade_id.removesuffix("-tests").removesuffix("-check"),
        )


def _role(tags: frozenset[str], grade_id: str, nbgrader: dict[str, Any], source: str) -> str:
    if TAG in tags or BEGIN_HIDDEN in source or grade_id.endswith("-tests"):
        return "hidden"
    if "answer" in tags or (grade_id and nbgrader.get("solution") is True):
        return "answer"
    if "check" in tags or grade_id.endswith("-check"):
        return "check"
    return "setup" if "setup" in tags else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


@functools.lru_cache(maxsize=4096)
def defined_names(source: str) -> frozenset[str]:
    """Return the functions, classes and variables that a cell defines at its top level; none if it does not parse."""
    code = "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in source.splitlines())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = set()
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            names.add(statement.name)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(names)


@dataclass(frozen=True)
class Solution:
    """An instructor's notebook: the canonical cells, and the hidden tests."""

    notebook: Notebook
    hidden: tuple[HiddenCell, ...]
    tests: tuple[TestSpec, ...]

    @property
    def stem(self) -> str:
        """The exercise's name, that of the file."""
        return self.notebook.path.stem


def read_solution(path: Path) -> Solution:
    """Read a solution notebook and load its hidden tests.

    Raises:
        UnreadableNotebook: if it cannot be read.
        HiddenTestsInvalid: if its hidden cells are no tests.
    """
    status = path.stat()
    return _read_solution(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=256)
def _read_solution(path: Path, *status: int) -> Solution:
    notebook = read_notebook(path)
    answer, hidden = "", []
    for cell in notebook.cells:
        if cell.role == "answer":
            answer = cell.question or answer
        elif cell.role == "hidden" and cell.kind == "code" and cell.has_code:
            hidden.append(HiddenCell(cell.index, cell.question or answer or notebook.path.stem, cell.source))
    tests = compile_cells(hidden, path.name)[1]
    return Solution(notebook, tuple(hidden), tuple(tests))
