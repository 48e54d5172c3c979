"""The files that a student release has in a version of its own: they name only what students have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ctxcourse.authoring.content import Lesson
from ctxcourse.authoring.nodes import notebook_text, read_notebook
from ctxcourse.errors import CourseError

TARGETS = ("environment", "setup", "lab")
"""The targets of the Makefile that students have."""

_NOTES = {
    "lesson": "Run the cells from the top down, with Shift+Enter. Change what you like: this is your copy.",
    "exercise": "Write your answers in the cells that say what to implement.",
}

_README = """\
# Context engineering for language models

A workbook: Jupyter lessons in which you fill, cut, order and measure the context of a real model, which runs on the
CPU of an ordinary laptop, and exercises that are graded.

## Begin

You need Python 3.11 or newer, `make`, 6 GB of disk and 5 GB of free memory; Linux or macOS (on Windows, in WSL).

```sh
make lab
```

makes a virtual environment with pinned packages, fetches the model, and opens JupyterLab on the
[first lesson](notebooks/{first}.ipynb). The second time it starts in seconds. On a server:
`make lab ARGS=--no-browser`. With conda instead of make:

```sh
conda env create -f environment.yml
conda activate ctxcourse
jupyter lab
```

Where something does not work, `.venv/bin/ctxcourse doctor` (with conda: `ctxcourse doctor`) says what.

## Lessons and exercises

The lessons are in [`notebooks/`](notebooks), the exercises in [`exercises/`](exercises).

| lesson | exercise |
|---|---|
{table}

## Check your answers

Write each answer in the cell that says `Need to implement`, run it, and run the check below it: it tries your
function on examples and says what is likely wrong. `hint("…")`, with the name of the question, helps a little more at
each call.

Before you hand an exercise in, choose *Kernel › Restart Kernel and Run All Cells*: what works only in the order in
which you happened to run the cells does not work for the grader either. A cell may take a minute, and the grader's
kernel has no network.

## Hand in

Save the notebook and hand in the file itself, under the name it has in `exercises/`. Cells of your own are welcome;
leave the others where they are. Points are given by other tests than those you see, on other inputs.
"""


def student_version(path: Path, root: Path, lessons: dict[str, Lesson]) -> str | None:
    """The text that the course's file ``path`` (relative to ``root``) has in a release; None where it is a plain copy.

    Raises CourseError where the Makefile lacks a target that students need.
    """
    if path == Path("README.md"):
        return readme(lessons.values())
    if path == Path("Makefile"):
        return makefile((root / path).read_text(encoding="utf-8"))
    if path == Path("environment.yml"):
        text = (root / path).read_text(encoding="utf-8")
        return re.sub(r"-e \.\[[\w,-]+\]", "-e .", text)
    if str(path.parent) in ("notebooks", "exercises") and path.suffix == ".ipynb" and path.stem in lessons:
        notebook = read_notebook(root / path)
        notebook.cells[0].source = f"<small>{_NOTES[notebook.metadata['ctxcourse']['kind']]}</small>"
        return notebook_text(notebook)
    return None


def readme(lessons: Iterable[Lesson]) -> str:
    """The student's README: how to begin, the lessons and exercises, how to check and hand in an answer."""
    lessons = list(lessons)
    table = "\n".join(f"| [{item.title}](notebooks/{item.stem}.ipynb) | {_exercise(item)} |" for item in lessons)
    return _README.format(first=lessons[0].stem, table=table)


def makefile(text: str) -> str:
    """The course's Makefile with the targets of ``TARGETS`` alone; CourseError where it lacks one of them."""
    settings = re.findall(r"^(?:[A-Z_]+ *[?:]?=|export |\.DEFAULT_GOAL).*\n", text, re.MULTILINE)
    rules = {rule[1]: rule[0] for rule in re.finditer(r"^([a-z-]+):(?!=).*\n(?:\t.*\n)*", text, re.MULTILINE)}
    missing = [target for target in TARGETS if target not in rules]
    if missing:
        raise CourseError(f"the Makefile has no target {' or '.join(missing)}, which the student release needs")
    head = f"# make lab      ARGS=… is passed on\n\n{''.join(settings)}\n.PHONY: {' '.join(TARGETS)}\n"
    return "\n".join([head, *(rules[target] for target in TARGETS)])


def _exercise(lesson: Lesson) -> str:
    if not lesson.exercise:
        return ""
    questions, points = len(lesson.graded), sum(question.points for question in lesson.graded.values())
    text = f"{questions} question{'s' * (questions != 1)}, {points} point{'s' * (points != 1)}"
    return f"[{text}](exercises/{lesson.stem}.ipynb)"
