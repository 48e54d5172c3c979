"""A student's kernel, its death and its resurrection."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ctxcourse
from ctxcourse.grading.kernel import MAX_OUTPUT, KernelNotStarted, StudentKernel
from ctxcourse.grading.remote import KernelDied, Student
from ctxcourse.grading.runner import Limits, NotGraded, Runner
from ctxcourse.grading.sandbox import Sandbox, SandboxUnavailable, find_sandbox
from tests.grading.late import LATE

LIMITS = Limits(cell=20, call=20, total=200)


@pytest.fixture
def run():
    """Makes runners, and ends their kernels."""
    runners = []

    def make(*sources, limits=LIMITS):
        runners.append(Runner(sources, lambda: StudentKernel(find_sandbox()), limits))
        return runners[-1]

    yield make
    for runner in runners:
        runner.close()


def test_cells_run_in_order_and_once(run):
    runner = run("a = 1", "a += 1", "a += 1\nprint(a)")
    result = runner.run_cell(2)
    assert result.outputs == [{"output_type": "stream", "name": "stdout", "text": "3\n"}]
    assert Student(runner).a == 3
    assert runner.generation == 1


def test_a_lost_kernel_is_replaced_and_the_cells_run_again_but_not_the_one_that_ended_it(run):
    runner = run("a = 1", "import os; os._exit(1)", "b = a + 1", "1 / 0", "c = b + 1")
    assert [runner.run_cell(n).status for n in range(5)] == ["ok", "died", "ok", "error", "ok"]
    student = Student(runner)
    assert student.c == 3
    assert runner.generation == 2
    runner._kernel.process.kill()
    runner._kernel.process.wait()
    assert student.c == 3
    assert runner.generation == 3


def test_a_kernel_that_dies_again_and_again_stops_only_its_own_question(run):
    runner = run("import os\ndef die(): os._exit(1)\nalive = True")
    student = Student(runner)
    runner.question = "first"
    for _ in range(5):
        with pytest.raises(KernelDied):
            student.die()
    assert runner.generation == 3
    runner.question = "second"
    assert student.alive is True


def test_output_is_capped_and_the_result_still_comes(run):
    runner = run("print('x' * 100 + '\\n' * 9, flush=True)\n" * 3000 + "'end'", "'next'")
    result = runner.run_cell(0)
    assert result.status == "ok"
    assert result.truncated
    assert sum(len(str(output)) for output in result.outputs) < 2 * MAX_OUTPUT
    assert runner.run_cell(1).outputs[0]["data"] == {"text/plain": "'next'"}


def test_a_submission_has_only_so_much_time(run):
    runner = run("import time\ntime.sleep(2)", "time.sleep(2)", "1", limits=Limits(cell=20, call=20, total=1.5))
    assert runner.run_cell(0).status == "timeout"
    late = runner.run_cell(2)
    assert late.status == "died"
    assert "used up its 1.5 seconds" in late.message


def test_a_kernel_that_cannot_start_is_said_once():
    starts = []

    def start():
        starts.append(1)
        raise KernelNotStarted("no kernel here")

    runner = Runner(["1"], start, LIMITS)
    assert runner.run_cell(0).message == "no kernel here"
    with pytest.raises(NotGraded, match="no kernel here"):
        runner.send("{}")
    assert len(starts) == 1


@pytest.mark.skipif(not find_sandbox().isolated, reason="no bubblewrap on this machine")
@pytest.mark.parametrize("sandbox", [find_sandbox(), Sandbox("bubblewrap")], ids=["as found", "user namespace"])
def test_the_sandbox_shows_only_what_python_needs(sandbox, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    kernel = StudentKernel(sandbox)
    try:
        source = f"import os\nos.getuid(), os.path.exists({str(tmp_path)!r}), sorted(os.listdir('/tmp'))"
        result = kernel.run(source, 20)
        # a checkout or an environment below /tmp is mounted there as well, as far as Python needs it
        needed = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, ctxcourse.__file__)}
        below = {place.parts[2] for place in needed if place.is_relative_to("/tmp")}
        shown = sorted({kernel.folder.name, *below})
        assert result.outputs[0]["data"]["text/plain"] == f"({sandbox.uid or 1000}, False, {shown})"
        assert kernel.run("import ctxcourse, numpy; open('x', 'w').write('scratch space')", 20).status == "ok"
    finally:
        kernel.stop()
    assert not kernel.folder.exists()


def test_a_sandbox_can_be_required(monkeypatch):
    monkeypatch.setattr("ctxcourse.grading.sandbox._probe", lambda: Sandbox("none", "there is none"))
    assert find_sandbox("auto") == Sandbox("none", "there is none")
    with pytest.raises(SandboxUnavailable, match="there is none"):
        find_sandbox("require")
    assert find_sandbox("none").isolated is False


@pytest.mark.parametrize("source", ["exit()", "quit()", "quit", "exit(keep_kernel=False)", "get_ipython().ask_exit()"])
def test_exit_is_an_error_in_its_own_cell(run, source):
    runner = run("a = 1", source, "b = a + 1")
    guilty = runner.run_cell(1)
    assert guilty.status == "error"
    assert "exit and quit would end" in guilty.message
    assert Student(runner).b == 2
    assert runner.generation == 1


@pytest.mark.parametrize(
    "source", [LATE.format(delay=0.6), "get_ipython().exit_now = True"], ids=["a thread", "IPython's own flag"]
)
def test_a_cell_that_ends_the_kernel_a_moment_later_is_found(run, source):
    runner = run("a = 1", source, "import time; time.sleep(2)\nb = a + 1", "c = b + 1")
    assert [runner.run_cell(n).status for n in (2, 3)] == ["ok", "ok"]
    assert [result.status for result in runner.results] == ["ok", "died", "ok", "ok"]
    assert runner.take_blamed() == [1]
    assert runner.take_blamed() == []
    assert Student(runner).c == 3


SLOW = "def slow():\n    import time; time.sleep(1.5); return 7"


def test_a_kernel_that_ended_after_the_last_cell_costs_the_tests_nothing(run):
    runner = run(SLOW, LATE.format(delay=0.6))
    assert runner.run_cell(1).status == "ok"
    runner._kernel.process.wait()
    assert Student(runner).slow() == 7
    assert runner.take_blamed() == [1]


def test_a_test_in_which_an_earlier_cell_ends_the_kernel_gets_a_second_chance(run):
    runner = run(SLOW, LATE.format(delay=1))
    student = Student(runner)
    with pytest.raises(KernelDied):
        student.slow()
    assert runner.second_chance()
    assert not runner.second_chance()
    assert student.slow() == 7
    assert runner.take_blamed() == [1]
