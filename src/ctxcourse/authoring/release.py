"""The student release: a course that works without sources, solutions, tests and builder, and holds no answer."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxcourse.authoring.build import check, find_root
from ctxcourse.authoring.content import Lesson, load_course
from ctxcourse.authoring.handout import student_version
from ctxcourse.authoring.hidden import BEGIN_SOLUTION, END_SOLUTION, regions
from ctxcourse.authoring.links import links
from ctxcourse.errors import CourseError

LEFT_OUT = (
    "lessons",
    "solutions",
    "tests",
    "submissions",
    ".ci",
    ".git",
    ".github",
    ".pre-commit-config.yaml",
    "CONTRIBUTING.md",
    "benchmarks",
    "tools/lock.py",
    "tools/screenshots.py",
    "src/ctxcourse/authoring",
)
_PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp"}
_DEBRIS = re.compile(
    r"(^|/)(\.[^/]*_cache|\.hypothesis|\.ipynb_checkpoints|__pycache__|\.venv|[^/]*\.egg-info|\.DS_Store)(/|$)"
)
_LONG_LINE, _LONG_PAIR, _ONLY_LINE = 40, 30, 15


@dataclass(frozen=True)
class Leak:
    """A trace of an answer in a released file."""

    path: Path
    question: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: holds a trace of the answer to {self.question}: {self.text!r}"


def release(destination: Path, root: Path | None = None) -> list[Path]:
    """Copy the student release into the folder ``destination``, which must not exist or be empty; returns its
    files.

    Left out are the lessons' sources, solutions, tests, the builder, pictures that no document shows, and whatever git
    ignores; some files have a version for students (see ``ctxcourse.authoring.handout``).

    Raises CourseError where the destination is in use, the generated files are not up to date, or a copied
    file holds a trace of an answer or a hidden test or a link to what is not in the release; nothing is left at the
    destination then.
    """
    root = find_root(root)
    destination = destination.resolve()
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise CourseError(f"{destination} is not an empty folder: name a new one for the release")
    if check(root=root):
        raise CourseError("the generated files differ from lessons/: run `make build`, then make the release again")
    lessons = load_course(root)
    files = _files(root, destination)
    versions = {path: student_version(path, root, lessons) for path in files}
    files = _linked(files, root, versions)
    try:
        _copy(files, versions, root, destination)
    except OSError as error:
        raise CourseError(f"the release cannot be written to {destination}: {error.strerror}") from error
    found = leaks(destination, lessons)
    if found:
        shutil.rmtree(destination)
        listed = "\n".join(str(leak) for leak in found[:20])
        raise CourseError(f"no release was made, since {len(found)} traces of answers would be in it:\n{listed}")
    return [destination / path for path in files]


def _copy(files: list[Path], versions: dict[Path, str | None], root: Path, destination: Path) -> None:
    for path in files:
        target, text = destination / path, versions[path]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target)
        if text is not None:
            target.write_text(text, encoding="utf-8")


def leaks(folder: Path, lessons: dict[str, Lesson]) -> list[Leak]:
    """Traces of graded answers in the files under ``folder``: distinctive lines, names of hidden tests, the
    markers' content.

    Text inside notebooks and other JSON is looked at as it would be read, and white space does not count.
    """
    traces = [trace for lesson in lessons.values() for trace in _traces(lesson)]
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            text = _readable(path)
            found += [
                Leak(path.relative_to(folder), question, shown) for question, shown, how in traces if how.search(text)
            ]
    return found


def distinctive(source: str) -> list[str]:
    """The parts by which a solution can be recognised: long lines, and neighbouring pairs of shorter ones."""
    lines = [line for line in map(_squeeze, source.splitlines()) if line and not line.startswith("#")]
    if len(lines) == 1:
        return [line for line in lines if len(line) >= _ONLY_LINE]
    long = [line for line in lines if len(line) >= _LONG_LINE]
    pairs = [f"{one}\n{two}" for one, two in itertools.pairwise(lines)]
    return long + [pair for pair in pairs if len(pair) >= _LONG_PAIR]


def _traces(lesson: Lesson) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    for name, question in lesson.graded.items():
        lines = question.cell.source.splitlines()
        for first, last in regions(question.cell, BEGIN_SOLUTION, END_SOLUTION):
            for part in distinctive("\n".join(lines[first - 1 : last])):
                yield name, part, re.compile(re.escape(part))
        for test in question.tests:
            yield name, test.name, re.compile(rf"\b{re.escape(test.name)}\b")


def _readable(path: Path) -> str:
    """The file's text, one squeezed line a line; for JSON also every string in it."""
    text = path.read_bytes().decode("utf-8", errors="ignore")
    if path.suffix in (".json", ".ipynb"):
        with contextlib.suppress(ValueError):
            text = "\n".join([text, *_strings(json.loads(text))])
    return "\n".join(line for line in map(_squeeze, text.splitlines()) if line)


def _strings(value: Any) -> Iterator[str]:
    """All strings of a JSON value; a list of strings, as notebooks store a text, is put together first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield "".join(value)
        yield from value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)


def _squeeze(line: str) -> str:
    return " ".join(line.split())


def _linked(files: list[Path], root: Path, versions: Mapping[Path, str | None]) -> list[Path]:
    """The files without the pictures that no document links; CourseError for links that would lead nowhere."""
    linked = {
        path: set(links(path, versions[path] or (root / path).read_text(encoding="utf-8")))
        for path in files
        if path.suffix in (".md", ".ipynb")
    }
    targets = set[Path]().union(*linked.values())
    kept = [path for path in files if path.suffix not in _PICTURES or path.parts[0] == "src" or path in targets]
    there = {place for path in kept for place in (path, *path.parents)}
    dead = [f"{path}: {target}" for path in linked for target in sorted(linked[path] - there)]
    if dead:
        listed = "\n".join(dead)
        raise CourseError(f"no release was made, since these links would lead to what is not in it:\n{listed}")
    return kept


def _files(root: Path, destination: Path) -> list[Path]:
    """The files to copy, relative to the root: what git knows or would add; without a repository, everything."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = None
    if (root / ".git").exists():
        listed = subprocess.run(command, capture_output=True, check=False)
    if listed is not None and listed.returncode == 0:
        paths = [Path(name) for name in listed.stdout.decode().split("\0") if name]
    else:
        paths = [path.relative_to(root) for path in root.rglob("*")]
    return sorted(
        path
        for path in set(paths)
        if (root / path).is_file()
        and not (root / path).is_relative_to(destination)
        and not _DEBRIS.search(path.as_posix())
        and not any(path.is_relative_to(left) for left in LEFT_OUT)
    )
