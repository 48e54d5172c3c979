"""Build the course: ``python -m ctxcourse.authoring.build [STEM…] [--check] [--no-execute] [--force]``.

From ``lessons/NN_slug/{lesson.py, exercise.py, quiz.yaml, wrong_answers.py}`` it makes
``notebooks/NN_slug.ipynb`` (run), ``exercises/NN_slug.ipynb`` (cleared), ``solutions/NN_slug.ipynb`` (run)
and ``src/ctxcourse/questions/NN_slug.json``.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode

from ctxcourse.authoring import notebooks
from ctxcourse.authoring.content import Lesson, load_course
from ctxcourse.authoring.errors import AuthorError
from ctxcourse.authoring.execute import execute, keep_outputs, unchanged
from ctxcourse.authoring.nodes import notebook_text, read_notebook
from ctxcourse.errors import CourseError

QUESTIONS = Path("src/ctxcourse/questions")
_FOLDERS = (
    (Path("notebooks"), "*.ipynb"),
    (Path("exercises"), "*.ipynb"),
    (Path("solutions"), "*.ipynb"),
    (QUESTIONS, "*.json"),
)
_ADVICE = (
    "The generated files differ from lessons/: run `make build`, which writes them again. "
    "What was changed in a generated file itself is lost then, so move it to its source first."
)


def find_root(start: Path | None = None) -> Path:
    """The course's root: the nearest folder with ``lessons/``, at ``start`` or above.

    Without ``start``, the current folder is where it begins, and the checkout that holds this package comes next.

    Raises CourseError where there is none.
    """
    for place in (Path.cwd(), Path(__file__)) if start is None else (start,):
        for folder in (place.resolve(), *place.resolve().parents):
            if (folder / "lessons").is_dir():
                return folder
    raise CourseError(f"no folder lessons/ in {start or Path.cwd()} or above: run this inside a checkout of the course")


def build(
    stems: Sequence[str] = (),
    *,
    root: Path | None = None,
    run: bool = True,
    force: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> list[Path]:
    """Build the lessons named by ``stems`` (default: all, and remove orphans); returns the files that
    changed, sorted.

    ``run=False`` runs nothing and keeps the outputs that still belong to their cells. ``force`` runs what is
    unchanged as well. ``progress`` is told in a line what is being run.

    Raises AuthorError for a mistake in a lesson's source, before anything is written.
    """
    root = find_root(root)
    lessons = load_course(root)
    changed: list[Path] = []
    for lesson in choose(lessons, stems):
        for path, content in generated(lesson).items():
            target = root / path
            if isinstance(content, NotebookNode):
                if content.metadata["ctxcourse"]["kind"] != "exercise":
                    lines = notebooks.source_lines(lesson, content.metadata["ctxcourse"]["kind"])
                    _fill(content, target, root, run, force, progress, lines)
                content = notebook_text(content)
            if not target.is_file() or target.read_text(encoding="utf-8") != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8")
                changed.append(target)
    if not stems:
        for path in orphans(lessons, root):
            (root / path).unlink()
            changed.append(root / path)
    return sorted(changed)


def check(stems: Sequence[str] = (), *, root: Path | None = None) -> str:
    """What differs, outside outputs, between the sources and the generated files: a unified diff, empty where
    nothing does.

    Nothing is run or written. Raises AuthorError for a mistake in a lesson's source.
    """
    root = find_root(root)
    lessons = load_course(root)
    parts = []
    for lesson in choose(lessons, stems):
        for path, content in generated(lesson).items():
            parts.append(_difference(root / path, path.as_posix(), content))
    if not stems:
        parts += [
            f"{path.as_posix()}: generated from nothing under lessons/; delete it\n" for path in orphans(lessons, root)
        ]
    return "".join(parts)


def generated(lesson: Lesson) -> dict[Path, NotebookNode | str]:
    """The files of a lesson, by path under the root: notebooks that have not been run, and JSON text.

    The questions come first: a notebook asks for them when it is run.
    """
    name = f"{lesson.stem}.ipynb"
    files: dict[Path, NotebookNode | str] = {QUESTIONS / f"{lesson.stem}.json": notebooks.questions_json(lesson)}
    files[Path("notebooks", name)] = notebooks.lesson_notebook(lesson)
    if lesson.exercise:
        files[Path("exercises", name)] = notebooks.exercise_notebook(lesson)
        files[Path("solutions", name)] = notebooks.solution_notebook(lesson)
    return files


def orphans(lessons: dict[str, Lesson], root: Path) -> list[Path]:
    """Generated files that no lesson makes any more, by path under the root."""
    expected = {path for lesson in lessons.values() for path in generated(lesson)}
    found = [path.relative_to(root) for folder, pattern in _FOLDERS for path in sorted((root / folder).glob(pattern))]
    return [path for path in found if path not in expected]


def choose(lessons: dict[str, Lesson], stems: Sequence[str]) -> list[Lesson]:
    """The lessons named by ``stems``, all where none is named; CourseError for a name that no lesson has."""
    for stem in stems:
        if stem not in lessons:
            raise CourseError(f"no lesson is called {stem!r}; there are {', '.join(lessons) or 'none'}")
    return [lesson for stem, lesson in lessons.items() if not stems or stem in stems]


def _fill(
    notebook: NotebookNode,
    target: Path,
    root: Path,
    run: bool,
    force: bool,
    progress: Callable[[str], None],
    lines: dict[str, int],
) -> None:
    """Give the notebook its outputs: the stored ones where they still hold, new ones otherwise."""
    stored = _stored(target)
    kept = unchanged(notebook, stored)
    total = sum(cell.cell_type == "code" for cell in notebook.cells)
    if run and (force or kept < total):
        progress(f"running {target.relative_to(root)}")
        execute(notebook, target.parent, root, lines)
    if not force:
        keep_outputs(notebook, stored, kept)


def _stored(path: Path) -> NotebookNode | None:
    if not path.is_file():
        return None
    try:
        return read_notebook(path)
    except Exception:  # a broken file (a conflict, half a write, an edit by hand) is simply built again
        return None


def _difference(path: Path, name: str, content: NotebookNode | str) -> str:
    if not path.is_file():
        return f"{name}: not built yet\n"
    text = path.read_text(encoding="utf-8")
    if isinstance(content, str):
        return _diff(text.splitlines(), content.splitlines(), name)
    stored = _stored(path)
    if stored is None:
        return f"{name}: not a valid notebook\n"
    exercise = content.metadata["ctxcourse"]["kind"] == "exercise"
    difference = _diff([*_flat(stored, exercise)], [*_flat(content, exercise)], name)
    never_run = [cell.get("id") for cell in stored.cells if cell.cell_type == "code" and cell.execution_count is None]
    if not difference and not exercise and never_run:
        return f"{name}: built but not run, from the cell {never_run[0]} on\n"
    return difference


def _diff(stored: list[str], expected: list[str], name: str) -> str:
    lines = difflib.unified_diff(stored, expected, f"{name} (as it is)", f"{name} (from its source)", lineterm="", n=2)
    return "".join(f"{line}\n" for line in lines)


def _flat(notebook: NotebookNode, with_outputs: bool) -> Iterator[str]:
    """A notebook as lines that read well in a diff, outputs left out unless there should be none."""
    yield f"notebook {json.dumps(notebook.metadata, sort_keys=True)} {notebook.nbformat}.{notebook.nbformat_minor}"
    for cell in notebook.cells:
        yield f"--- {cell.cell_type} {cell.get('id')} {json.dumps(cell.metadata, sort_keys=True)}"
        yield from cell.source.splitlines()
        if with_outputs and cell.get("outputs"):
            yield f"{len(cell.outputs)} outputs"
        yield ""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 built or unchanged, 1 different, 2 a mistake in a source."""
    parser = argparse.ArgumentParser(prog="python -m ctxcourse.authoring.build", description=__doc__)
    parser.add_argument(
        "stems", nargs="*", metavar="STEM", help="lessons to build, such as 01_token_budget (default: all)"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; fail where a generated file differs from its source",
    )
    parser.add_argument("--no-execute", action="store_true", help="run nothing; keep the outputs that still hold")
    parser.add_argument("--force", action="store_true", help="run all cells again, unchanged ones too")
    options = parser.parse_args(arguments)

    def tell(line: str) -> None:
        sys.stderr.write(f"{line}\n")

    try:
        if options.check:
            difference = check(options.stems)
            if difference:
                sys.stdout.write(f"{difference}\n{_ADVICE}\n")
            return 1 if difference else 0
        changed = build(
            options.stems,
            run=not options.no_execute,
            force=options.force,
            progress=tell,
        )
    except CourseError as problem:
        tell(str(problem))
        return 2 if isinstance(problem, AuthorError) else 1
    for path in changed:
        sys.stdout.write(f"{'built' if path.exists() else 'removed'} {path}\n")
    if not changed:
        sys.stdout.write("nothing to build\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
