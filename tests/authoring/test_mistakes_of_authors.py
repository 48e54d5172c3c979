"""Every mistake in a lesson's source is an error that names the file and the line."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxcourse.authoring.build import build, main
from ctxcourse.authoring.errors import AuthorError

SECOND_QUESTION = "# ## Question 2 · The dearest call (1 point)"

MISTAKES = [
    ("exercise.py", "    ### BEGIN SOLUTION\n    billed", "    billed", "### END SOLUTION without ### BEGIN SOLUTION"),
    ("exercise.py", "    ### END SOLUTION\n", "", "### BEGIN SOLUTION without ### END SOLUTION"),
    (
        "exercise.py",
        '@points(1, title="One call',
        '@marks(1, title="One call',
        "test_single_call needs one decorator @points(",
    ),
    ("exercise.py", "@points(2, ", "@points(0, ", "a whole number from 1"),
    ("exercise.py", "@points(2, ", "@points(points=2, ", "the only argument without a name: @points(1"),
    ("exercise.py", "@points(2, ", '@points(2, tip="Add.", ', "test_growing_turn take no argument 'tip'"),
    (
        "exercise.py",
        "### END HIDDEN TESTS",
        "class TestMore:\n    @points(1, title='a', hint='b')\n    def test_more(self, student):\n        pass\n\n\n"
        "### END HIDDEN TESTS",
        "TestMore is a class, which is not graded",
    ),
    ("exercise.py", "def test_growing_turn(", "async def test_growing_turn(", "test_growing_turn is async"),
    ("exercise.py", 'title="A growing turn"', 'title=""', "test_growing_turn needs a title"),
    ("exercise.py", "def test_growing_turn(", "def test_single_call(", "two hidden tests are called test_single_call"),
    ("exercise.py", "def test_dearest(", "def test_single_call(", "two hidden tests are called test_single_call"),
    (
        "exercise.py",
        "### BEGIN HIDDEN TESTS\n@points(1",
        "SECRET = 1\n### BEGIN HIDDEN TESTS\n@points(1",
        "would reach the student",
    ),
    (
        "exercise.py",
        "(3 points)",
        "(4 points)",
        "the heading promises 4 points, the hidden tests of 'turn_bill' give 3",
    ),
    ("exercise.py", 'tags=["answer"] question="dearest_call"', 'tags=["answer"] question="turn_bill"', "a second cell"),
    ("exercise.py", 'tags=["answer"] question="dearest_call"', 'tags=["answer"]', 'needs question="…"'),
    ("exercise.py", 'tags=["hidden-tests"] question="dearest_call"', 'tags=["setup"]', "hidden tests outside a cell"),
    (
        "exercise.py",
        "from ctxcourse.learn import case, check\n",
        "from ctxcourse.learn import case, check\n### BEGIN SOLUTION\n### END SOLUTION\n",
        "solution markers outside a cell",
    ),
    (
        "exercise.py",
        '# %% tags=["check"] question="turn_bill"',
        '# %% tags=["check"] question="bill"',
        "no cell with the tag 'answer'",
    ),
    (
        "exercise.py",
        '# %% [markdown] tags=["hint"] question="dearest_call"',
        "# %% [markdown]",
        "'dearest_call' has no hint",
    ),
    ("exercise.py", "### BEGIN SOLUTION\n    return max(", "### BEGIN SOLUTION\n    return max((", "SyntaxError"),
    ("lesson.py", '["practice-solution"]', '["nbval-skip"]', "has no cell tagged practice-solution"),
    ("lesson.py", "# # 01 · Turns", "# Turns", "the lesson needs a title"),
    (
        "lesson.py",
        '# %% tags=["practice"] question="last_prompt"',
        '# %% tags=["practice", "check"] question="last_prompt"',
        "one of these tags",
    ),
    (
        "wrong_answers.py",
        'fails="test_single_call"',
        'fails="test_double_call"',
        "has no hidden test 'test_double_call'",
    ),
    ("wrong_answers.py", 'says="from 0"', 'says="from 1"', "does not contain 'from 1'"),
    ("wrong_answers.py", ' says="from 0"', "", 'needs says="…"'),
    (
        "wrong_answers.py",
        'question="dearest_call"',
        'question="cheapest_call"',
        "no graded question is called 'cheapest_call'",
    ),
    (
        "quiz.yaml",
        "      explanation: The second and the third call send it again.\n",
        "",
        "the option 'Once' has no explanation",
    ),
    ("quiz.yaml", "      correct: true\n", "", "has 0 options with `correct: true`"),
    (
        "quiz.yaml",
        "    - text: Once\n",
        "    - text: Once\n      correct: true\n",
        "has 2 options with `correct: true`",
    ),
    ("quiz.yaml", "correct: true", "correct: maybe", "must be true or false, not 'maybe'"),
    ("quiz.yaml", "text: Once", "text: '3'", "the option '3' stands twice"),
    ("quiz.yaml", "text: Once", "txt: Once", "unknown key 'txt'"),
    ("quiz.yaml", "- question: What does", "- question: [What does", "not valid YAML"),
]


@pytest.mark.parametrize(("name", "old", "new", "message"), MISTAKES, ids=[row[3] for row in MISTAKES])
def test_mistake(
    course: Path, edit: Callable[[str, str, str], int], name: str, old: str, new: str, message: str
) -> None:
    edit(name, old, new)
    with pytest.raises(AuthorError, match=re.escape(message)) as caught:
        build(root=course, run=False)
    assert caught.value.path == f"lessons/01_turns/{name}"
    total = len((course / caught.value.path).read_text(encoding="utf-8").splitlines())
    assert caught.value.line is not None
    assert 1 <= caught.value.line <= total
    assert not (course / "exercises").exists(), "something was written before the mistake was found"


def test_the_line_is_that_of_the_mistake(course: Path, edit: Callable[[str, str, str], int]) -> None:
    line = edit("exercise.py", "def test_dearest(", "def test_single_call(")
    with pytest.raises(AuthorError) as caught:
        build(root=course, run=False)
    assert caught.value.line == line


def test_stub_that_would_stand_outside_its_function(course: Path, edit: Callable[[str, str, str], int]) -> None:
    edit("exercise.py", "    ### BEGIN SOLUTION\n    return max", "### BEGIN SOLUTION\n    return max")
    with pytest.raises(AuthorError, match="indent ### BEGIN SOLUTION like the code after it"):
        build(root=course, run=False)


def test_too_few_wrong_answers(course: Path) -> None:
    path = course / "lessons/01_turns/wrong_answers.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex("# %%")], encoding="utf-8")
    with pytest.raises(AuthorError, match="dearest_call has 2 wrong answers; it needs at least 3"):
        build(root=course, run=False)
    path.unlink()
    with pytest.raises(AuthorError, match=r"wrong_answers\.py: missing"):
        build(root=course, run=False)


def test_question_without_tests(course: Path) -> None:
    path = course / "lessons/01_turns/exercise.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex("# %% tags")], encoding="utf-8")
    with pytest.raises(AuthorError, match="the question 'dearest_call' has no cell with the tag 'hidden-tests'"):
        build(root=course, run=False)


def test_two_lessons_with_one_question_id(course: Path) -> None:
    shutil.copytree(course / "lessons/01_turns", course / "lessons/02_again")
    with pytest.raises(AuthorError, match=r"lessons/02_again/exercise\.py:\d+: .* already used at lessons/01_turns"):
        build(root=course, run=False)


@pytest.mark.parametrize("name", ["misc", "1_turns", "02-turns", "02_Turns", "02_more turns"])
def test_folder_that_is_no_lesson(course: Path, name: str) -> None:
    (course / "lessons" / name).mkdir()
    with pytest.raises(AuthorError, match=f"lessons/{name}: a lesson's folder is called NN_slug"):
        build(root=course, run=False)


def test_folder_without_a_lesson(course: Path) -> None:
    (course / "lessons/02_more").mkdir()
    with pytest.raises(AuthorError, match=r"lessons/02_more: this lesson has no lesson\.py"):
        build(root=course, run=False)


@pytest.mark.parametrize("name", ["lesson.py", "exercise.py", "wrong_answers.py"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no cells: a cell begins with a line `# %%`"),
        ("# ruff: noqa\n\n", "no cells: a cell begins with a line `# %%`"),
        ("# %%\n", "all cells are empty"),
        ("# %% [markdown]\n\n# %%\n\n", "all cells are empty"),
    ],
    ids=["no text", "a comment", "a header", "two headers"],
)
def test_empty_file(course: Path, name: str, text: str, message: str) -> None:
    (course / "lessons/01_turns" / name).write_text(text, encoding="utf-8")
    with pytest.raises(AuthorError, match=f"lessons/01_turns/{name}: {message}"):
        build(root=course, run=False)
    assert not (course / "notebooks").exists()


def test_command_line_shows_the_mistake_alone(
    course: Path,
    edit: Callable[[str, str, str], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = edit("exercise.py", "billed = sum(calls)", "billed = sum(calls")
    monkeypatch.chdir(course)
    assert main(["--check"]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"lessons/01_turns/exercise.py:{line}: ")
    assert "Traceback" not in shown.err
