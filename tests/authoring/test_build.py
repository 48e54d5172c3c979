"""What the builder writes."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat.v3 import MetadataValidatorV3
from nbgrader.preprocessors import CheckCellMetadata, ClearHiddenTests, ClearSolutions

from ctxcourse.authoring.build import build, check, find_root, main
from ctxcourse.authoring.errors import AuthorError
from ctxcourse.authoring.execute import UNTIL_RUN
from ctxcourse.errors import CourseError
from tests.authoring.generated import JSON, NOTEBOOKS, contents, read


def test_files_of_a_course(course: Path) -> None:
    changed = build(root=course, run=False)
    assert [str(path.relative_to(course)) for path in changed] == sorted([f"{name}.ipynb" for name in NOTEBOOKS] + JSON)


def test_same_sources_give_the_same_bytes(course: Path, tmp_path: Path) -> None:
    build(root=course, run=False)
    first = contents(course)
    assert build(root=course, run=False) == []
    for name in first:
        (course / name).unlink()
    build(root=course, run=False)
    assert contents(course) == first


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_valid_and_say_where_they_come_from(course: Path, name: str) -> None:
    build(root=course, run=False)
    notebook = read(course, name)
    nbformat.validate(notebook)
    folder, stem = name.split("/")
    source = f"lessons/{stem}/{'lesson' if folder == 'notebooks' else 'exercise'}.py"
    assert notebook.metadata["ctxcourse"] == {
        "kind": folder.removesuffix("s").replace("notebook", "lesson"),
        "stem": stem,
        "source": source,
    }
    assert notebook.metadata["language_info"] == {"name": "python"}
    assert f"Generated from `{source}`" in notebook.cells[0].source
    slug = stem.replace("_", "-")
    assert [cell.id for cell in notebook.cells] == [f"{slug}-{index:03d}" for index in range(len(notebook.cells))]


def test_every_stub_of_the_course_names_its_own_function() -> None:
    stubs = re.compile(r"def (\w+)\((?:(?!\ndef ).)*?Need to implement (\w+)", re.S)
    found = []
    for path in sorted((find_root() / "exercises").glob("*.ipynb")):
        found += [pair for cell in nbformat.read(path, as_version=4).cells for pair in stubs.findall(cell.source)]
    assert len(found) > 20
    assert all(name == stub for name, stub in found), found


def test_exercise_has_stubs_and_no_trace_of_answers(course: Path) -> None:
    build(root=course, run=False)
    notebook = read(course, "exercises/01_turns")
    text = json.dumps(notebook)
    for trace in (
        "SOLUTION",
        "HIDDEN",
        "test_growing_turn",
        "already paid for",
        "min(before",
        "calls.__getitem__",
        "run_here",
        "A growing turn",
    ):
        assert trace not in text
    answers = {
        cell.metadata["nbgrader"]["grade_id"]: cell
        for cell in notebook.cells
        if "answer" in cell.metadata.get("tags", [])
    }
    assert list(answers) == ["turn_bill", "dearest_call"]
    for name, cell in answers.items():
        (function,) = ast.parse(cell.source).body
        assert isinstance(function, ast.FunctionDef)
        assert ast.get_docstring(function)
        assert ast.unparse(function.body[-1]) == f"raise NotImplementedError('Need to implement {name}')"
    tests = [cell.source for cell in notebook.cells if "hidden-tests" in cell.metadata.get("tags", [])]
    assert tests == [
        "# 3 points: the tests of this question run when your work is graded.",
        "# 1 point: the tests of this question run when your work is graded.",
    ]
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in notebook.cells)


def test_nbgrader_takes_the_solution_and_makes_the_exercise_of_it(course: Path) -> None:
    build(root=course, run=False)
    solution, exercise = read(course, "solutions/01_turns"), read(course, "exercises/01_turns")
    MetadataValidatorV3().validate_nb(solution)
    CheckCellMetadata().preprocess(solution, {})
    points = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
        for c in solution.cells
        if c.metadata.get("nbgrader", {}).get("grade")
    }
    assert points == {"turn_bill-tests": 3, "dearest_call-tests": 1}
    stub = {"python": "raise NotImplementedError"}
    for step in (ClearSolutions(code_stub=stub), ClearHiddenTests()):
        solution, _ = step.preprocess(solution, {})
    ours = [re.sub(r"NotImplementedError\(.*\)", "NotImplementedError", cell.source) for cell in exercise.cells[1:]]
    assert [cell.source.rstrip() for cell in solution.cells[1:]] == ours
    assert [cell.id for cell in solution.cells] == [cell.id for cell in exercise.cells]


def test_questions_hold_no_graded_solution(course: Path) -> None:
    build(root=course, run=False)
    data = json.loads((course / JSON[1]).read_text(encoding="utf-8"))
    assert data["title"] == "01 · Turns"
    questions = data["questions"]
    assert {name: question["points"] for name, question in questions.items()} == {
        "turn_bill": 3,
        "dearest_call": 1,
        "last_prompt": 0,
    }
    assert [name for name, question in questions.items() if "solution" in question] == ["last_prompt"]
    assert questions["turn_bill"]["title"] == "Question 1 · The bill of a turn"
    assert len(questions["turn_bill"]["hints"]) == 2
    assert [[option["correct"] for option in item["options"]] for item in data["quiz"]] == [
        [False, True],
        [True, False],
    ]
    assert data["quiz"][1]["options"][1]["text"] == "yes"


def test_hints_and_practice_solutions_are_not_in_the_lesson(course: Path) -> None:
    build(root=course, run=False)
    text = json.dumps(read(course, "notebooks/01_turns"))
    assert "Need to implement last_prompt" in text
    assert "if calls else 0" not in text
    assert "do with an empty list" not in text


def test_executed_outputs_are_clean(built: Path) -> None:
    assert check(root=built) == ""
    lesson = read(built, "notebooks/01_turns")
    code = [cell for cell in lesson.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4]
    assert [[output.get("data", {}).get("text/plain") for output in cell.outputs] for cell in code] == [
        ["440"],
        [UNTIL_RUN],
        [],
        ["0.12"],
    ]
    assert "widgets" not in lesson.metadata
    assert not any("execution" in cell.metadata for cell in lesson.cells)
    solution = read(built, "solutions/01_turns")
    (checked,) = (cell for cell in solution.cells if "check" in cell.metadata.get("tags", []))
    assert checked.outputs[0].data["text/plain"].splitlines()[0] == "✓ turn_bill([2547]) gives (2547, 0)"
    assert str(built) not in json.dumps([lesson, solution])


def test_executing_again_gives_the_same_bytes(built: Path) -> None:
    before = contents(built)
    assert build(["01_turns"], root=built, force=True) == []
    assert contents(built) == before


def test_unchanged_cells_keep_their_outputs(built: Path, edit: Callable[[str, str, str], int]) -> None:
    path = built / "notebooks/01_turns.ipynb"
    path.write_text(path.read_text(encoding="utf-8").replace('"440"', '"kept"'), encoding="utf-8")
    assert build(root=built) == []
    edit("lesson.py", "0.123456", "0.654321")
    assert build(root=built, run=False) == [path]
    values = [
        [output.data["text/plain"] for output in cell.get("outputs", [])]
        for cell in read(built, "notebooks/01_turns").cells
    ]
    assert values[2] == ["kept"]
    assert values[-1] == []
    assert "built but not run, from the cell 01-turns-006 on" in check(root=built)
    assert build(root=built) == [path]
    values = [
        [output.data["text/plain"] for output in cell.get("outputs", [])]
        for cell in read(built, "notebooks/01_turns").cells
    ]
    assert values[2] == ["kept"]
    assert values[-1] == ["0.65"]
    build(root=built, force=True)
    assert read(built, "notebooks/01_turns").cells[2].outputs[0].data["text/plain"] == "440"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1 / 0", "fails with ZeroDivisionError: division by zero"),
        ("import ipywidgets\nipywidgets.Text()", 'shows a widget and needs the tag "nbval-ignore-output"'),
        ("import os\nos.getcwd()", "shows a path of this machine"),
        ("import os\nos._exit(1)", "fails with the kernel died"),
    ],
)
def test_failing_cells_are_named(built: Path, edit: Callable[[str, str, str], int], code: str, message: str) -> None:
    line = edit("lesson.py", "prompts = [100, 140, 200]\nsum(prompts)", code)
    with pytest.raises(AuthorError, match=re.escape(message)) as caught:
        build(["01_turns"], root=built)
    assert (caught.value.path, caught.value.line) == ("lessons/01_turns/lesson.py", line - 1)
    assert "the cell 01-turns-002" in str(caught.value)


def test_solution_that_fails_its_own_tests_is_not_built(built: Path, edit: Callable[[str, str, str], int]) -> None:
    edit("exercise.py", "billed = sum(calls)", "billed = sum(calls) + 1")
    edit(
        "exercise.py",
        "check(turn_bill, case([2_547], gives=(2_547, 0)",
        "check(turn_bill, case([2_547], gives=(2_548, 0)",
    )
    with pytest.raises(AuthorError, match="HiddenTestsFailed"):
        build(["01_turns"], root=built)


def test_command_line(course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(course / "lessons" / "00_start")
    assert main(["00_start"]) == 0
    assert read(course, "notebooks/00_start").cells[2].outputs[0].data["text/plain"] == "2"
    assert not (course / "notebooks/01_turns.ipynb").exists()
    assert main(["--check", "00_start"]) == 0
    capsys.readouterr()
    assert main(["--check"]) == 1
    assert "notebooks/01_turns.ipynb: not built yet" in capsys.readouterr().out
    assert main(["07_nothing"]) == 1
    assert "no lesson is called '07_nothing'; there are 00_start, 01_turns" in capsys.readouterr().err


def test_root_is_found_or_named(tmp_path: Path, course: Path) -> None:
    assert find_root(course / "lessons" / "01_turns") == course
    with pytest.raises(CourseError, match=f"no folder lessons/ in {re.escape(str(tmp_path))} or above"):
        find_root(tmp_path)


def test_root_without_a_start_is_here_or_the_checkout_of_the_package(
    tmp_path: Path, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(course / "lessons")
    assert find_root() == course
    monkeypatch.chdir(tmp_path)
    assert (find_root() / "src/ctxcourse/authoring").is_dir()


def test_unknown_stem_is_refused_before_anything_is_written(course: Path) -> None:
    with pytest.raises(CourseError, match="no lesson is called '1'"):
        build(["1"], root=course)
    assert not (course / "notebooks").exists()


def test_a_new_lesson_can_ask_its_own_questions_while_it_is_run(
    course: Path, edit: Callable[[str, str, str], int]
) -> None:
    questions = Path("src/ctxcourse/questions/01_turns.json")
    edit(
        "lesson.py",
        "# %%\n",
        f"# %%\nfrom pathlib import Path\n\nPath('..', '{questions}').stat().st_size > 0\n\n# %%\n",
    )
    build(["01_turns"], root=course)
    assert (course / questions).is_file()
    outputs = [output for cell in read(course, "notebooks/01_turns").cells for output in cell.get("outputs", [])]
    assert "True" in [output.get("data", {}).get("text/plain") for output in outputs]
