"""A submission as pytest sees it: a file of nbval's, whose cells and hidden tests the grader runs in its own way."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import nbval.plugin as nbval
import pytest

from ctxcourse.grading.hidden import HiddenModule
from ctxcourse.grading.kernel import CellResult, StudentKernel
from ctxcourse.grading.locate import Job, find_solutions
from ctxcourse.grading.matching import Plan, PlannedCell, make_plan
from ctxcourse.grading.runner import Limits, Runner
from ctxcourse.grading.sandbox import find_sandbox


class CellFailed(Exception):
    """A visible cell of a submission failed; the text is for the student, without what could steer a terminal."""

    def __str__(self) -> str:
        text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", super().__str__())
        return "".join(c for c in text if c.isprintable() or c in "\n\t")


class SubmissionItem(pytest.Item):
    """Stands for the submission as a whole: passes if it could be read and matched with its exercise."""

    parent: GradedNotebook

    def runtest(self) -> None:
        """Fail with the reason if the submission cannot be graded."""
        if self.parent.job.problem:
            pytest.fail(f"not graded: {self.parent.job.problem}", pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the submission is."""
        return self.path, 0, self.nodeid


class GradedCell(nbval.IPyNbCell):
    """A cell of a submission, run in the submission's kernel."""

    number: int

    def setup(self) -> None:
        """Do nothing: nbval would mark the cells after a time-out as expected failures."""

    def runtest(self) -> None:
        """Run the cell; an error in it is a failure, and in the instructor's notebook a changed output too."""
        if self.options["skip"]:
            pytest.skip("the cell is marked to be skipped")
        result: CellResult = self.parent.runner.run_cell(self.number)
        self.outcome = result
        if result.status in ("timeout", "died"):
            raise CellFailed(f"{self.name}: {result.message}\n{result.traceback}".rstrip())
        if result.status == "error" and not self.options["check_exception"]:
            raise CellFailed(f"{self.name}: {result.message}\n\n{result.traceback}".rstrip())
        if self.parent.job.trusted and self.options["check"] and self.cell.execution_count is not None:
            self._compare(result)

    def _compare(self, result: CellResult) -> None:
        outputs = [nbval.nbformat.from_dict(output) for output in result.outputs]
        saved = nbval.coalesce_streams(self.cell.outputs)
        if not self.compare_outputs(nbval.coalesce_streams(outputs), saved):
            raise CellFailed(
                f"{self.name}: its output differs from the saved one\n" + "\n".join(self.comparison_traceback)
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """Return the student's error alone."""
        if isinstance(excinfo.value, CellFailed):
            return str(excinfo.value)
        return f"{self.name} could not be run: {excinfo.exconly()}"


class GradedNotebook(nbval.IPyNbFile):
    """The file of a submission."""

    job: Job
    plan: Plan
    runner: Runner

    @classmethod
    def of_job(cls, parent: pytest.Collector, job: Job) -> GradedNotebook:
        """Return the collector of a job."""
        node: GradedNotebook = cls.from_parent(parent, path=job.path)
        node.job = job
        node.plan = Plan()
        if job.notebook is not None and job.solution is not None and not job.problem:
            node.plan = make_plan(job.notebook, job.solution)
        return node

    @functools.cached_property
    def label(self) -> str:
        """The submission's name in reports: its path, from the root or current folder where it lies below one."""
        path = Path(self.path)
        for place in (self.config.rootpath, self.config.invocation_params.dir):
            if path.is_relative_to(place):
                return path.relative_to(place).as_posix()
        return path.as_posix()

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """What every report of this submission carries along, as plain data."""
        solution, job = self.job.solution, self.job
        sandbox = find_sandbox(self.config.getoption("sandbox"))
        return {
            "submission": self.label,
            "lesson": solution.stem if solution else "",
            "problem": job.problem,
            "isolation": sandbox.name,
            "isolation_reason": sandbox.reason,
            "notices": [*job.notices, *self.plan.notices],
            "attempted": sorted(self.plan.attempted),
            "declared": [[t.name, t.question, t.points, t.title, t.hint] for t in solution.tests] if solution else [],
        }

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Collect the submission, its cells in the order in which they run, and the hidden tests."""
        yield SubmissionItem.from_parent(self, name="submission")
        solution = self.job.solution
        if self.job.problem or solution is None:
            return
        options = [self._options(planned) for planned in self.plan.cells]
        sources = [
            "" if option["skip"] else planned.source for planned, option in zip(self.plan.cells, options, strict=True)
        ]
        self.runner = Runner(sources, self._start_kernel, self._limits())
        yield from self._cells(options)
        yield HiddenModule.of_cells(
            self,
            solution.notebook.path,
            solution.hidden,
            f"{self.nodeid}::hidden",
            show=self.config.getoption("show_hidden"),
        )

    def _cells(self, options: Sequence[defaultdict[str, bool]]) -> Iterable[GradedCell]:
        notebook = self.job.notebook
        assert notebook is not None
        for number, (planned, option) in enumerate(zip(self.plan.cells, options, strict=True)):
            node = (
                notebook.node["cells"][planned.cell.index]
                if planned.number >= 0
                else nbval.NotebookNode(source=planned.source)
            )
            item = GradedCell.from_parent(self, name=planned.name, cell_num=planned.number, cell=node, options=option)
            item.number = number
            yield item

    def _options(self, planned: PlannedCell) -> defaultdict[str, bool]:
        option: defaultdict[str, bool] = defaultdict(bool)
        option["check"] = self.compare_outputs
        option.update(nbval.find_metadata_tags({"tags": sorted(planned.cell.tags)}))
        option.update(nbval.find_comment_markers(planned.source))
        if planned.cell.role in ("answer", "setup"):
            option["skip"] = False
        return option

    def _limits(self) -> Limits:
        seconds = self.config.getoption("grade_timeout")
        # nbval's own limit counts if it was lowered; its default of half an hour is none for a class.
        return Limits(
            cell=min(seconds, self.config.option.nbval_cell_timeout), call=self.config.getoption("grade_call_timeout")
        )

    def _start_kernel(self) -> StudentKernel:
        sandbox = find_sandbox(self.config.getoption("sandbox"))
        solutions = find_solutions(self.path, self.config)
        masked = [self.path.absolute().parent]
        if solutions is not None:
            masked += [solutions, *(solutions.parent / name for name in ("lessons", "tests", "submissions"))]
        return StudentKernel(sandbox, masked, self.config.option.nbval_kernel_startup_timeout)

    def late_notices(self) -> list[str]:
        """Return what was found out about cells after they had been reported, each once."""
        blamed = self.runner.take_blamed() if hasattr(self, "runner") else []
        return [f"{self.plan.cells[number].name}: it ended the kernel after it had run" for number in blamed]

    def setup(self) -> None:
        """Read the patterns that nbval compares outputs with; the kernel starts when it is needed."""
        self.setup_sanitize_files()

    def teardown(self) -> None:
        """End the kernel."""
        if hasattr(self, "runner"):
            self.runner.close()
