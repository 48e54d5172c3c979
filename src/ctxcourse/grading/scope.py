"""Which runs and which files are about submissions; imports nothing heavy, since the plugin asks in every run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

SUBMISSIONS = "submissions"
COURSE = Path(__file__).resolve().parents[3]
"""The course's own checkout, if the package is imported from one."""
OWN_FOLDERS = ("exercises", "solutions")
"""Folders of a course that hold exercise notebooks."""

FOREIGN = pytest.StashKey[tuple[Path, ...]]()
"""The folders of the command line that hold exercises which are not the course's own."""


def runs_notebooks(options: Any) -> bool:
    """Whether nbval is switched on."""
    return bool(getattr(options, "nbval", False) or getattr(options, "nbval_lax", False))


def is_grading_run(options: Any) -> bool:
    """Whether an option says that the notebooks of this run are submissions."""
    return any(getattr(options, name, None) for name in ("grades", "solutions", "lesson"))


def is_submission_path(path: Path) -> bool:
    """Whether a path lies in a folder called ``submissions``."""
    return SUBMISSIONS in path.absolute().parts


def is_from_a_submission(path: Path, config: pytest.Config) -> bool:
    """Whether a file or folder may have come with a submission: its Python code must not run in the grader."""
    return is_grading_run(config.option) or is_submission_path(path) or is_in_foreign_folder(path, config)


def is_in_foreign_folder(path: Path, config: pytest.Config) -> bool:
    """Whether a path lies in a folder of the command line that holds exercises which are not the course's own."""
    return any(path.absolute().is_relative_to(folder) for folder in config.stash.get(FOREIGN, ()))


def is_above_foreign_folder(path: Path, config: pytest.Config) -> bool:
    """Whether a folder holds such a folder: it may have been unpacked along with what was handed in."""
    return any(folder.is_relative_to(path.absolute()) for folder in config.stash.get(FOREIGN, ()))


def foreign_folders(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders, of those given, that hold exercise notebooks which are not the course's own.

    For a file that is one, this is the folder that it lies in.
    """
    for path in paths:
        if any(map(_is_foreign, notebooks(path))):
            yield path if path.is_dir() else path.parent


def notebooks(path: Path) -> Iterator[Path]:
    """Yield the notebooks at a path: itself, or those below it that are not in hidden or installed folders."""
    if not path.is_dir():
        yield from [path] if path.suffix == ".ipynb" else []
        return
    for folder, below, files in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".") and name not in ("node_modules", "venv")]
        yield from (Path(folder, name) for name in files if name.endswith(".ipynb"))


def _is_foreign(path: Path) -> bool:
    if path.resolve().parent in [COURSE / name for name in OWN_FOLDERS]:
        return False
    from ctxcourse.grading.notebooks import UnreadableNotebook, read_notebook

    try:
        return read_notebook(path).is_exercise
    except UnreadableNotebook:
        return False
