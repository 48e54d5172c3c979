"""The student release holds what students need and no trace of an answer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
import yaml

from ctxcourse.authoring.build import build, find_root
from ctxcourse.authoring.content import load_course
from ctxcourse.authoring.handout import makefile
from ctxcourse.authoring.release import distinctive, leaks, release
from ctxcourse.errors import CourseError

ROOT = find_root()


@pytest.fixture
def ready(built: Path) -> Path:
    """A built course with the files of a whole repository around it."""
    for name in (
        "README.md",
        ".ci/run",
        "tests/test_x.py",
        "src/ctxcourse/budget.py",
        "src/ctxcourse/authoring/build.py",
        "src/ctxcourse/__pycache__/budget.pyc",
        ".venv/bin/python",
        "src/ctxcourse.egg-info/PKG-INFO",
        "CONTRIBUTING.md",
        ".pre-commit-config.yaml",
        "benchmarks/speed.py",
        "docs/unseen.png",
        "tools/bootstrap.py",
        "tools/lock.py",
        "tools/screenshots.py",
    ):
        path = built / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# nothing\n", encoding="utf-8")
    return built


EXPECTED = [
    "README.md",
    "exercises/01_turns.ipynb",
    "notebooks/00_start.ipynb",
    "notebooks/01_turns.ipynb",
    "src/ctxcourse/budget.py",
    "src/ctxcourse/questions/00_start.json",
    "src/ctxcourse/questions/01_turns.json",
    "tools/bootstrap.py",
]


def test_what_is_released(ready: Path, tmp_path: Path) -> None:
    copied = release(tmp_path / "out", root=ready)
    assert [path.relative_to(tmp_path / "out").as_posix() for path in copied] == EXPECTED
    assert sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file()) == copied


def test_what_git_ignores_stays_behind(ready: Path, tmp_path: Path) -> None:
    (ready / ".gitignore").write_text(".venv\n__pycache__\nmarks.csv\n*.egg-info\n", encoding="utf-8")
    (ready / "marks.csv").write_text("alice,3\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(ready)], check=True)
    copied = release(ready / "dist" / "students", root=ready)
    assert [path.relative_to(ready / "dist/students").as_posix() for path in copied] == [".gitignore", *EXPECTED]


def test_no_trace_of_answers_or_hidden_tests(ready: Path, tmp_path: Path) -> None:
    release(tmp_path / "out", root=ready)
    everything = b"\n".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()).decode()
    for trace in (
        "test_growing_turn",
        "test_single_call",
        "test_dearest",
        "min(before, after)",
        "calls.__getitem__",
        "BEGIN HIDDEN TESTS",
    ):
        assert trace not in everything
    assert "Need to implement turn_bill" in everything


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.md", "saved = sum(min(before, after) for before, after in zip(calls, calls[1:]))"),
        ("notes.md", "look at test_growing_turn"),
        (
            "src/ctxcourse/budget.py",
            "def bill(calls):\n        return  max(range(len(calls)), key=calls.__getitem__, default=None)\n",
        ),
        ("data.json", '{"a": ["saved = sum(min(before, after) for before, ", "after in zip(calls, calls[1:]))"]}'),
    ],
)
def test_a_leak_stops_the_release(ready: Path, tmp_path: Path, name: str, text: str) -> None:
    (ready / name).write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match="no release was made") as caught:
        release(tmp_path / "out", root=ready)
    assert name in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_release_of_a_course_that_is_not_built(
    ready: Path, tmp_path: Path, edit: Callable[[str, str, str], int]
) -> None:
    edit("exercise.py", "Pair each call", "Pair every call")
    with pytest.raises(CourseError, match="make build"):
        release(tmp_path / "out", root=ready)
    build(root=ready, run=False)
    assert release(tmp_path / "out", root=ready)


def test_a_folder_in_use_is_left_alone(ready: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(CourseError, match="not an empty folder"):
        release(tmp_path, root=ready)
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "keep"


def test_pictures_come_along_where_a_document_shows_them(ready: Path, tmp_path: Path) -> None:
    (ready / "docs/seen.png").write_bytes(b"a picture")
    (ready / "docs/notes.md").write_text("![A picture](seen.png)", encoding="utf-8")
    (ready / "docs/more.md").write_text("Write `![A picture](unseen.png)` to show one.", encoding="utf-8")
    release(tmp_path / "out", root=ready)
    assert sorted(path.name for path in (tmp_path / "out/docs").iterdir()) == ["more.md", "notes.md", "seen.png"]


@pytest.mark.parametrize("target", ["../CONTRIBUTING.md", "../solutions/01_turns.ipynb#bill", "gone.md", "../.."])
def test_a_link_to_what_is_not_released_stops_the_release(ready: Path, tmp_path: Path, target: str) -> None:
    (ready / "docs/notes.md").write_text(f"[there](https://example.org/) and [here]({target})", encoding="utf-8")
    with pytest.raises(CourseError, match=r"these links would lead to what is not in it:\ndocs/notes\.md: ") as caught:
        release(tmp_path / "out", root=ready)
    assert len(str(caught.value).splitlines()) == 2
    assert not (tmp_path / "out").exists()


def test_the_readme_leads_to_lessons_and_exercises(ready: Path, tmp_path: Path) -> None:
    release(tmp_path / "out", root=ready)
    text = (tmp_path / "out/README.md").read_text(encoding="utf-8")
    assert "[first lesson](notebooks/00_start.ipynb)" in text
    assert "(notebooks/01_turns.ipynb) | [2 questions, 4 points](exercises/01_turns.ipynb) |" in text


def test_notes_of_the_notebooks_send_no_student_to_the_sources(ready: Path, tmp_path: Path) -> None:
    release(tmp_path / "out", root=ready)
    for name in ("notebooks/01_turns.ipynb", "exercises/01_turns.ipynb"):
        before = nbformat.read(ready / name, as_version=4)
        after = nbformat.read(tmp_path / "out" / name, as_version=4)
        assert "lessons/" in before.cells[0].source
        assert "lessons/" not in after.cells[0].source
        assert "make build" not in after.cells[0].source
        assert after.cells[1:] == before.cells[1:]


def test_makefile_keeps_settings_and_three_targets() -> None:
    course = "# all\nPYTHON ?= python3\n.PHONY: lab test\n\nenvironment:\n\t@$(PYTHON) x\n\nsetup: environment\n\n"
    course += "lab: setup  # open\n\techo lab\n\n# more\ntest: setup\n\techo test\n"
    assert makefile(course) == (
        "# make lab      ARGS=… is passed on\n\nPYTHON ?= python3\n\n.PHONY: environment setup lab\n\n"
        "environment:\n\t@$(PYTHON) x\n\nsetup: environment\n\nlab: setup  # open\n\techo lab\n"
    )
    with pytest.raises(CourseError, match="no target lab"):
        makefile(course.replace("lab: setup", "book: setup"))


def test_short_solutions_are_recognised_by_pairs_of_lines() -> None:
    assert distinctive("    return 1") == []
    assert distinctive("    # why\n    return calls[-1] or 0") == ["return calls[-1] or 0"]
    assert distinctive("total = 0\nfor call in calls:\n    total += call\nreturn total") == [
        "for call in calls:\ntotal += call"
    ]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release of the course itself."""
    out = tmp_path_factory.mktemp("released") / "out"
    release(out, root=ROOT)
    return out


def test_the_course_itself_can_be_released_without_a_trace(released: Path) -> None:
    copied = [path for path in released.rglob("*") if path.is_file()]
    assert leaks(released, load_course(ROOT)) == []
    names = {path.relative_to(released).as_posix() for path in copied}
    assert {"README.md", "pyproject.toml", "src/ctxcourse/learn.py", "exercises/01_token_budget.ipynb"} <= names
    assert not any(
        name.startswith(("lessons/", "solutions/", "tests/", ".ci/", "src/ctxcourse/authoring/")) for name in names
    )
    everything = "\n".join(path.read_text(encoding="utf-8", errors="ignore") for path in copied)
    for lesson in load_course(ROOT).values():
        for question in lesson.graded.values():
            for test in question.tests:
                assert test.name not in everything


def documents(folder: Path) -> dict[Path, str]:
    """The prose of Markdown files and notebooks."""
    found = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}
    for path in folder.rglob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        found[path] = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return found


def test_released_documents_lead_somewhere(released: Path) -> None:
    seen = 0
    for path, text in documents(released).items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if not target.startswith(("#", "http://", "https://")):
                seen += 1
                assert (path.parent / target.split("#")[0]).exists(), f"{path.relative_to(released)}: {target}"
    assert seen >= 6


def test_released_documents_name_only_what_there_is(released: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (released / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(targets) == ["environment", "lab", "setup"]
    for path, text in documents(released).items():
        commands = re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)
        assert set(commands) <= set(targets), path
        folders = re.findall(r"\b(?:lessons|solutions|tests|benchmarks|tools)/\S*", text)
        assert all((released / name.strip("`)")).exists() for name in folders), (path, folders)


@pytest.mark.parametrize("target", ["environment", "setup", "lab"])
def test_released_makefile_does_what_that_of_the_course_does(released: Path, target: str) -> None:
    shown = []
    for folder in (released, ROOT):
        done = subprocess.run(["make", "-n", target], cwd=folder, capture_output=True, text=True, check=True)
        shown.append(done.stdout.replace(str(folder), ""))
    assert shown[0] == shown[1]
    named = re.findall(r"(?:notebooks|exercises|lessons|solutions|tests|tools|src)/[\w./-]+", shown[0])
    assert named
    assert all((released / name).is_file() for name in named), named


def test_released_environment_has_no_extras(released: Path) -> None:
    wanted = yaml.safe_load((released / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    assert next(item for item in wanted if isinstance(item, dict))["pip"] == ["-e ."]
    assert [item for item in wanted if isinstance(item, str)] == [
        item
        for item in yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
        if isinstance(item, str)
    ]


def test_released_package_works_without_the_packages_of_authors(released: Path) -> None:
    """All modules but the model's, and the pytest plugin that the release's pyproject.toml names."""
    settings = tomllib.loads((released / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugin = settings["entry-points"]["pytest11"]["ctxcourse"]
    code = f"""if True:
        import importlib, pkgutil, sys
        for name in ("nbgrader", "jupytext", "yaml", "xdist", "hypothesis", "playwright"):
            sys.modules[name] = None
        import ctxcourse
        names = [module.name for module in pkgutil.walk_packages(ctxcourse.__path__, "ctxcourse.")]
        names = [name for name in names if not name.startswith("ctxcourse.model")]
        for name in names:
            importlib.import_module(name)
        assert {plugin!r} in names and "ctxcourse.learn" in names
        sys.stdout.write(ctxcourse.__file__)
    """
    settings = {**os.environ, "PYTHONPATH": str(released / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == str(released / "src/ctxcourse/__init__.py")
