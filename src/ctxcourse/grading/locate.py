"""Decides which notebooks are graded, and by which solution; trusts nothing that lies in a submission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxcourse.errors import CourseError
from ctxcourse.grading import scope
from ctxcourse.grading.matching import ENOUGH, resemblance
from ctxcourse.grading.notebooks import Notebook, Solution, UnreadableNotebook, read_notebook, read_solution

UNEXPECTED = (
    "graded because it is an exercise, though it lies in no folder called submissions; Python files around it were not"
    " run"
)


@dataclass(frozen=True)
class Job:
    """A notebook to grade.

    Attributes:
        path: the file.
        notebook: its content; None if it could not be read.
        solution: what it is graded by; None if that could not be found.
        trusted: it is the instructor's own solution: its saved outputs are compared as well.
        problem: why it cannot be graded; empty if it can.
        notices: what was odd about where it lies.
    """

    path: Path
    notebook: Notebook | None
    solution: Solution | None
    trusted: bool = False
    problem: str = ""
    notices: tuple[str, ...] = ()


def nearest_solutions(start: Path) -> Path | None:
    """Return the folder ``solutions`` in a folder or above it, never one inside a submission."""
    for folder in (start.absolute(), *start.absolute().parents):
        place = folder / "solutions"
        if _is_trusted(place):
            return place.resolve()
    return None


def course_solutions() -> Path | None:
    """Return the solutions of the checkout which the package is imported from, if there is one."""
    place = scope.COURSE / "solutions"
    return place if place.is_dir() else None


def _is_trusted(place: Path) -> bool:
    """Whether tests may be taken from a folder: those of a submission would run in the grader's process."""
    inside = scope.is_submission_path(place) or scope.is_submission_path(place.resolve())
    return place.is_dir() and not inside


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
    return next((place for place in _candidates(path.absolute(), config) if place is not None), None)


def _candidates(path: Path, config: pytest.Config) -> Iterator[Path | None]:
    here = config.invocation_params.dir
    for argument in config.args:
        place = here / argument.split("::")[0]
        named = [folder for folder in (place, place.parent) if folder.name == "solutions" and _is_trusted(folder)]
        yield from (folder.resolve() for folder in named)
    yield nearest_solutions(here)
    for name in ("exercises", scope.SUBMISSIONS):
        if name in path.parts[:-1]:
            beside = nearest_solutions(Path(*path.parts[: path.parts.index(name)]))
            yield beside if beside is not None and not scope.is_in_foreign_folder(beside, config) else None
    yield course_solutions()


def find_job(path: Path, config: pytest.Config) -> Job | None:
    """Return what to grade a notebook by, or None if it is none of ours: nbval then runs it as any other."""
    grading = scope.is_grading_run(config.option) or scope.is_submission_path(path)
    try:
        notebook = read_notebook(path)
    except UnreadableNotebook as error:
        return _unreadable(path, config, str(error)) if grading else None
    if notebook.kind == "lesson" and (not grading or path.parent.name == "notebooks"):
        return None
    if not grading and not notebook.is_exercise:
        return None
    expected = grading or path.absolute().parent.name in scope.OWN_FOLDERS
    notices = () if expected else (UNEXPECTED,)
    folder = find_solutions(path, config)
    if folder is None:
        return Job(
            path,
            notebook,
            None,
            notices=notices,
            problem="no folder of solutions was found; name it with --solutions=DIR",
        )
    try:
        if path.resolve().parent == folder:
            return Job(path, notebook, read_solution(path), trusted=True)
        solution = _identify(notebook, path, folder, config.getoption("lesson", None))
    except CourseError as error:
        return Job(path, notebook, _by_name(path, folder, config), problem=str(error), notices=notices)
    return Job(path, notebook, solution, notices=notices)


def _unreadable(path: Path, config: pytest.Config, problem: str) -> Job:
    folder = find_solutions(path, config)
    return Job(path, None, _by_name(path, folder, config) if folder else None, problem=problem)


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.ipynb"))


def _by_name(path: Path, folder: Path, config: pytest.Config) -> Solution | None:
    """Return the solution that a file's name, or the grader, points to, or None."""
    stems = _stems(folder)
    wanted = config.getoption("lesson", None)
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
