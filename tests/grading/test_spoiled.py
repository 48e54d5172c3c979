"""Notebooks in every state that an editor, a student or a disk can leave them in."""

from __future__ import annotations

import copy
import json

import pytest


def shift(book, move):
    """A deep copy of a notebook, changed."""
    book = copy.deepcopy(book)
    move(book)
    return book


def strip(book):
    book["metadata"] = {}
    for cell in book["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    book["nbformat_minor"] = 4


def reverse(book):
    book["cells"].reverse()


def duplicate(book):
    stub = copy.deepcopy(book["cells"][3])
    stub["source"] = 'def turn_bill(calls):\n    raise NotImplementedError("Need to implement turn_bill")'
    book["cells"].append(stub)


def delete(book):
    del book["cells"][7]  # share
    del book["cells"][1]  # set-up


def retype(book):
    for index in (3, 7):
        for key in ("outputs", "execution_count"):
            book["cells"][index].pop(key)
    book["cells"][3]["cell_type"] = "markdown"
    book["cells"][7]["cell_type"] = "raw"
    book["cells"][2].update(cell_type="code", outputs=[], execution_count=None)


def other_kernel(book):
    book["metadata"]["kernelspec"] = {"name": "julia-1.10", "display_name": "Julia"}


def odd_metadata(book):
    book["metadata"] = []
    book["cells"][3]["metadata"] = {"tags": "answer", "nbgrader": 7, "ctxcourse": None}
    book["cells"][0]["metadata"] = None
    book["cells"][4]["source"] = [line + "\n" for line in book["cells"][4]["source"].splitlines()]


def format_as_text(book):
    book["nbformat"] = "4"


def old_format(book):
    import nbformat

    converted = nbformat.convert(nbformat.from_dict(book), 3)
    book.clear()
    book.update(json.loads(json.dumps(converted)))


CHANGED = {
    "stripped": (strip, {"turn_bill": 3, "share": 2}, ["metadata is gone", "no ids"]),
    "reversed": (reverse, {"turn_bill": 3, "share": 2}, ["another order"]),
    "duplicated": (duplicate, {"turn_bill": 3, "share": 2}, ["answer cell of turn_bill is there 2 times"]),
    "deleted": (delete, {"turn_bill": 3, "share": 0}, ["answer cell of share is missing", "setup cell is missing"]),
    "retyped": (
        retype,
        {"turn_bill": 3, "share": 2},
        ["turned into a markdown cell", "turned into a raw cell", "turned into code"],
    ),
    "other_kernel": (other_kernel, {"turn_bill": 3, "share": 2}, ["'julia-1.10'"]),
    "odd_metadata": (odd_metadata, {"turn_bill": 3, "share": 2}, []),
    "format_as_text": (format_as_text, {"turn_bill": 3, "share": 2}, []),
    "old_format": (old_format, {"turn_bill": 3, "share": 2}, ["old format 3"]),
}
UNUSABLE = {
    "broken": ('{"cells": [', "not valid JSON"),
    "empty": ("", "the file is empty"),
    "blank": (" \n", "the file is empty"),
    "no_notebook": ('{"a": 1}', "no notebook"),
    "a_list": ("[1, 2]", "no notebook"),
    "cells_of_text": (
        '{"cells": ["x"], "nbformat": 4}',
        'not a valid notebook: cell 1 is "x", and should be an object',
    ),
    "cells_of_nothing": ('{"cells": null, "nbformat": 4}', "its field cells is null, and should be a list"),
    "source_of_numbers": (
        '{"cells": [{"cell_type": "code", "source": "1"}, {"cell_type": "code", "source": [7]}]}',
        "the source of cell 2 holds 7, and should be text",
    ),
    "format_of_the_future": ('{"cells": [], "nbformat": 9}', "its field nbformat is 9, and should be the number 4"),
    "format_in_words": ('{"cells": [], "nbformat": "four"}', 'its field nbformat is "four", and should be'),
    "sheets_of_text": ('{"worksheets": ["x"], "nbformat": 3}', "not a valid notebook of format 3. Open it in Jupyter"),
    "a_picture": (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "not a text file"),
    "deep": ("[" * 200_000, "not valid JSON"),
    "endless": (json.dumps({"cells": [{"cell_type": "code", "source": "1"}] * 3000, "nbformat": 4}), "3000 cells"),
}


@pytest.fixture(scope="module")
def graded(make_course, small):
    """All of them in one run."""
    course = make_course()
    book = json.loads(json.dumps(small.notebook("exercise", small.BILL_RIGHT, small.SHARE_RIGHT)))
    for name, (change, _, _) in CHANGED.items():
        course.write(f"submissions/{name}.ipynb", shift(book, change))
    for name, (content, _) in UNUSABLE.items():
        course.write(f"submissions/{name}.ipynb", content)
    course.write("submissions/lesson.ipynb", small.plain("'a lesson, handed in by mistake'"))
    course.write("submissions/no_cells.ipynb", shift(book, lambda b: b["cells"].clear()))
    with (course.root / "submissions" / "large.ipynb").open("wb") as file:
        file.truncate(200 * 2**20)
    (course.root / "submissions" / "link.ipynb").symlink_to(course.root / "solutions" / "01_bill.ipynb")
    course.submit("missing_import", prelude="import antigravity_9000\n")
    course.submit("absolute_path", extra=("open('/home/alice/data.csv')", "raise ValueError('\\x1b]0;owned\\x07')"))
    course.submit("perfect")
    return course.grade("submissions", "-n", "2", "--dist", "loadfile")


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_notebook_is_graded_with_a_notice(graded, name):
    _, marks, notices = CHANGED[name]
    assert graded.marks(name) == marks
    found = " | ".join(graded.row(name)["notices"])
    for notice in notices:
        assert notice in found


def test_an_unchanged_notebook_gets_no_notice(graded):
    assert graded.marks("perfect") == {"turn_bill": 3, "share": 2}
    assert graded.row("perfect")["notices"] == []


def test_a_deleted_answer_is_not_attempted(graded):
    assert graded.row("deleted", "share")["status"] == "not attempted"
    assert graded.row("deleted", "share")["reason"] == "the notebook does not define share"


@pytest.mark.parametrize(
    ("name", "reason"),
    [(name, reason) for name, (_, reason) in UNUSABLE.items()]
    + [("lesson", "none of"), ("no_cells", "none of"), ("large", "200 MB"), ("link", "a link")],
)
def test_an_unusable_file_is_one_row_of_zero_with_the_reason(graded, name, reason):
    rows = [row for row in graded.rows if row["submission"] == f"submissions/{name}.ipynb"]
    found = [(row["lesson"], row["exercise"], row["points"], row["max"], row["status"]) for row in rows]
    assert found == [("01_bill", "", 0, 5, "not graded")]
    assert reason in rows[0]["reason"]
    assert reason in graded.output


def test_a_students_own_error_is_shown(graded):
    assert "No module named 'antigravity_9000'" in graded.output
    assert "No such file or directory: '/home/alice/data.csv'" in graded.output
    assert "owned" in graded.output
    assert "\x1b]" not in graded.output
    assert graded.marks("missing_import") == {"turn_bill": 0, "share": 2}
    assert graded.row("missing_import")["status"] == "wrong"
    assert graded.marks("absolute_path") == {"turn_bill": 3, "share": 2}


def test_submissions_are_not_modified(make_course, small):
    course = make_course()
    path = course.submit("alice")
    path.write_text(path.read_text().replace('"nbformat_minor": 5', '"nbformat_minor": 4'))
    before = path.read_bytes(), path.stat().st_mtime_ns
    course.grade("submissions")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_the_right_exercise_is_found_among_several(make_course, small):
    course = make_course()
    other = small.notebook(
        "solution", "def width(x):\n    return len(x)", "def height(x):\n    return 2", stem="02_box"
    )
    other["cells"][0]["source"] = "# 02 · A box of another course, with a text of its own"
    names = {"turn_bill": "width", "share": "height"}
    for cell in other["cells"]:
        for old, new in names.items():
            cell["metadata"] = json.loads(json.dumps(cell["metadata"]).replace(old, new))
            cell["source"] = cell["source"].replace(old, new)
    for index, test in ((5, "assert student.width('ab') == 2"), (9, "assert student.height(1) == 2")):
        body = f"@points(1)\ndef test_{index}(student):\n    {test}"
        other["cells"][index]["source"] = f"### BEGIN HIDDEN TESTS\n{body}\n### END HIDDEN TESTS"
    course.write("solutions/02_box.ipynb", other)
    right = json.loads(json.dumps(small.notebook("exercise", small.BILL_RIGHT, small.SHARE_RIGHT)))
    course.write("submissions/homework.ipynb", right)
    course.write("submissions/stripped.ipynb", shift(right, strip))
    course.write("submissions/renamed_02_box.ipynb", right)
    lies = shift(right, lambda b: b["metadata"]["ctxcourse"].update(stem="02_box"))
    course.write("submissions/lies.ipynb", lies)
    course.write("submissions/broken_02_box.ipynb", "{")
    course.write("submissions/broken.ipynb", "{")
    result = course.grade("submissions")
    for name in ("homework", "stripped", "renamed_02_box", "lies"):
        assert result.marks(name) == {"turn_bill": 3, "share": 2}, name
    assert result.row("broken_02_box", "")["max"] == 2
    assert result.row("broken_02_box", "")["lesson"] == "02_box"
    assert result.row("broken", "")["max"] == 0
    result = course.grade("submissions/homework.ipynb", "--lesson=02_box")
    assert "this is the notebook of 01_bill, not of 02_box" in result.row("homework", "")["reason"]
