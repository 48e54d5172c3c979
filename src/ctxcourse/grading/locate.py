"""Decides which notebooks are graded, and by which solution; trusts nothing that lies in a submission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading.matching import ENOUGH, resemblance
from ctxcourse.grading.notebooks import Notebook, Solution, UnreadableNotebook, read_notebook, read_solution

SUBMISSIONS = "submissions"


@dataclass(frozen=True)
class Job:
    """A notebook to grade.

    Attributes:
        path: the file.
        notebook: its content; None if it could not be read.
        solution: what it is graded by; None if that could not be found.
        trusted: it is the instructor's own solution: its saved outputs are compared as well.
        problem: why it cannot be graded; empty if it can.
    """

    path: Path
    notebook: Notebook | None
    solution: Solution | None
    trusted: bool = False
    problem: str = ""


def is_submission_path(path: Path) -> bool:
    """Whether a path lies in a folder called ``submissions``."""
    return SUBMISSIONS in path.absolute().parts


def is_grading_run(config: pytest.Config) -> bool:
    """Whether an option says that the notebooks of this run are submissions."""
    return any(config.getoption(name, None) for name in ("grades", "solutions", "exercise"))


def find_solutions(path: Path, config: pytest.Config) -> Path | None:
    """Return the folder of solution notebooks.

    The first of: ``--solutions``; a folder ``solutions`` named on the command line; one in the current folder or
    above it; one beside the folder ``exercises`` or ``submissions`` that holds the notebook; that of the checkout
    which the package is imported from. A folder inside a submission is never taken: its tests would run in the
    grader's process.
    """
    given = config.getoption("solutions", None)
    if given:
        return Path(given).resolve()
    return next(
        (place for place in _candidates(path.absolute(), config) if not is_submission_path(place) and place.is_dir()),
        None,
    )


def _candidates(path: Path, config: pytest.Config) -> Iterator[Path]:
    here = config.invocation_params.dir
    for argument in config.args:
        place = (here / argument.split("::")[0]).resolve()
        yield from (candidate for candidate in (place, place.parent) if candidate.name == "solutions")
    for folder in (here, *here.parents):
        yield (folder / "solutions").resolve()
    parts = path.parts
    for name in ("exercises", SUBMISSIONS):
        if name in parts[:-1]:
            for folder in Path(*parts[: parts.index(name) + 1]).parents:
                yield (folder / "solutions").resolve()
    yield Path(__file__).resolve().parents[3] / "solutions"


def find_job(path: Path, config: pytest.Config) -> Job | None:
    """Return what to grade a notebook by, or None if it is none of ours: nbval then runs it as any other."""
    grading = is_grading_run(config) or is_submission_path(path)
    try:
        notebook = read_notebook(path)
    except UnreadableNotebook as error:
        return _unreadable(path, config, str(error)) if grading else None
    ours = notebook.kind in ("exercise", "solution") or any(
        cell.role in ("answer", "hidden") for cell in notebook.cells
    )
    if notebook.kind == "lesson" and (not grading or path.parent.name == "notebooks"):
        return None
    if not grading and not ours:
        return None
    folder = find_solutions(path, config)
    if folder is None:
        return Job(path, notebook, None, problem="no folder of solutions was found; name it with --solutions=DIR")
    try:
        if path.resolve().parent == folder:
            return Job(path, notebook, read_solution(path), trusted=True)
        solution = _identify(notebook, path, folder, config.getoption("exercise", None))
    except CourseError as error:
        return Job(path, notebook, _by_name(path, folder, config), problem=str(error))
    return Job(path, notebook, solution)


def _unreadable(path: Path, config: pytest.Config, problem: str) -> Job:
    folder = find_solutions(path, config)
    return Job(path, None, _by_name(path, folder, config) if folder else None, problem=problem)


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.ipynb"))


def _by_name(path: Path, folder: Path, config: pytest.Config) -> Solution | None:
    """Return the solution that a file's name, or the grader, points to, or None."""
    stems = _stems(folder)
    wanted = config.getoption("exercise", None)
    named = [
        stem for stem in stems if stem == wanted or (not wanted and (stem in path.stem or stem in path.parent.name))
    ]
    named = named or (stems if len(stems) == 1 and not wanted else [])
    try:
        return read_solution(folder / f"{named[0]}.ipynb") if len(named) == 1 else None
    except (CourseError, OSError):
        return None


def _identify(notebook: Notebook, path: Path, folder: Path, wanted: str | None) -> Solution:
    stems = _stems(folder)
    if wanted and wanted not in stems:
        raise CourseError(f"there is no solution {wanted}.ipynb in {folder}; there are: {_listed(stems)}")
    if not stems:
        raise CourseError(f"there are no solution notebooks in {folder}")
    claimed = [stem for stem in stems if stem == notebook.stem] or [stem for stem in stems if stem in path.stem]
    claimed = [wanted] if wanted else claimed
    likeness = {}
    for stem in stems:
        try:
            likeness[stem] = resemblance(notebook, read_solution(folder / f"{stem}.ipynb"))
        except CourseError:
            if stem in claimed:
                raise
    best = max(likeness, key=lambda stem: likeness[stem], default="")
    # Metadata and file name are the student's to change: they only decide between exercises that are about as like.
    close = [stem for stem in claimed if likeness[stem] >= likeness[best] - ENOUGH]
    chosen = close[0] if close else best
    if likeness.get(chosen, 0) < ENOUGH:
        raise CourseError(f"this is the notebook of none of the exercises {_listed(stems)}")
    if wanted and chosen != wanted:
        raise CourseError(f"this is the notebook of {chosen}, not of {wanted}")
    return read_solution(folder / f"{chosen}.ipynb")


def _listed(stems: Sequence[str]) -> str:
    return ", ".join(stems[:8]) + (", …" if len(stems) > 8 else "")
