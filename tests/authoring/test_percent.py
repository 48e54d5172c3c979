"""Percent scripts: cells, their lines, magics and comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.authoring.errors import AuthorError
from ctxcourse.authoring.percent import LESSON_TAGS, read_cells


def cells_of(tmp_path: Path, text: str):
    (tmp_path / "lesson.py").write_text(text, encoding="utf-8")
    return read_cells(tmp_path / "lesson.py", tmp_path, LESSON_TAGS)


def test_cells_know_their_lines(tmp_path: Path) -> None:
    head = "# ruff: noqa\n\n# %% [markdown]\n# # Title\n#\n# Text\n\n"
    text = head + '# %%\ns = """\n# %% inside a string\n"""\n\n\n# %%\nlast = 1\n'
    cells = cells_of(tmp_path, text)
    assert [(cell.kind, cell.line) for cell in cells] == [("markdown", 3), ("code", 8), ("code", 14)]
    assert [cell.source for cell in cells] == ["# Title\n\nText", 's = """\n# %% inside a string\n"""', "last = 1"]


def test_only_magics_leave_their_comment(tmp_path: Path) -> None:
    text = "# %%\n# %matplotlib inline\n# copy of the list\n# ls of the files\n# % of the window\nx = 1\n"
    (cell,) = cells_of(tmp_path, text)
    expected = "%matplotlib inline\n# copy of the list\n# ls of the files\n# % of the window\nx = 1"
    assert cell.source == expected


def test_title_and_tags_of_a_header(tmp_path: Path) -> None:
    (cell,) = cells_of(tmp_path, '# %% A title tags=["check"] question="name"\nx = 1\n')
    assert (cell.tags, cell.question, cell.metadata) == (("check",), "name", {"question": "name"})


def test_top_level_await_and_shell_lines_compile(tmp_path: Path) -> None:
    assert len(cells_of(tmp_path, "# %%\nimport asyncio\nawait asyncio.sleep(0)\n\n# %%\n# %time x = 1\n")) == 2


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("import os\n# %%\nx = 1\n", 1, "code above the first cell"),
        ("# only a comment\n", None, "no cells"),
        ("# %%\nx = 1\n\n# %%\ny = 1\nx = (\n", 6, "SyntaxError"),
        ("# %%\nif True:\nx = 1\n", 3, "IndentationError"),
        ('# %%\nx = 1\n\n# %% tags=["pratice"]\nx = 1\n', 4, "unknown tag 'pratice'; did you mean 'practice'?"),
        ('# %% tags=["hint"] [markdown] question="x"\n# text\n', 1, "the cell type first"),
        ('# %% quetsion="x"\ny = 1\n', 1, "unknown metadata 'quetsion'; did you mean 'question'?"),
        ('# %% tags=["practice"] question="two words"\ny = 1\n', 1, "must be a Python name"),
    ],
)
def test_mistakes_name_file_and_line(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(AuthorError) as caught:
        cells_of(tmp_path, text)
    assert (caught.value.path, caught.value.line) == ("lesson.py", line)
    assert message in str(caught.value)
    assert str(caught.value).startswith("lesson.py:")


LINES = st.sampled_from(["x = 1", "", "# comment", "y = 'text'", "# %time z = 1", "def f():\n    return 2"])
BODIES = st.lists(LINES, min_size=1, max_size=5).filter(lambda lines: any(line.strip() for line in lines))


@given(bodies=st.lists(BODIES, min_size=1, max_size=5), gap=st.integers(0, 3))
def test_every_cell_stands_behind_its_line(tmp_path_factory: pytest.TempPathFactory, bodies: list, gap: int) -> None:
    text = "".join("# %%\n" + "\n".join(body) + "\n" * (gap + 1) for body in bodies)
    cells = cells_of(tmp_path_factory.mktemp("cells"), text)
    headers = [number for number, line in enumerate(text.splitlines(), start=1) if line == "# %%"]
    assert [cell.line for cell in cells] == headers
    restored = [cell.source.replace("%time", "# %time") for cell in cells]
    assert restored == ["\n".join(body).strip("\n") for body in bodies]
