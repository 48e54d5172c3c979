"""The part of the plugin that is active only in runs that grade: the `student` fixture, safe reports, and marks.

What a report says of a hidden test is its title, its hint and a cause in a few words: never its code, its values or a
traceback, nor what the student's code raised, since all of it may end up in a file that goes back to the student. The
details are kept apart, and shown on the terminal if ``--show-hidden`` asks for them.
"""

from __future__ import annotations

import builtins
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ctxcourse.grading.hidden import HiddenFunction
from ctxcourse.grading.nbfile import GradedCell, GradedNotebook, SubmissionItem
from ctxcourse.grading.remote import GradingFailure, KernelDied, MissingName, NotAttempted, Student, StudentError
from ctxcourse.grading.report import NOT_ATTEMPTED, Ledger, table, write_grades
from ctxcourse.grading.runner import NotGraded


class GradingSession:
    """Hooks of a grading run.

    Args:
        config: pytest's configuration.
        grades: the file to write the marks to, if any.
        show_hidden: show the details of failed hidden tests on the terminal.
    """

    def __init__(self, config: pytest.Config, grades: Path | None, show_hidden: bool) -> None:
        self.config, self.grades, self.show_hidden = config, grades, show_hidden
        self.ledger = Ledger()
        self.details: list[tuple[str, str]] = []

    @pytest.fixture(scope="module")
    @classmethod
    def student(cls, request: pytest.FixtureRequest) -> Student:
        """The names of the student's notebook, from the grader's process; see `ctxcourse.grading.remote.Student`."""
        notebook = request.node.getparent(GradedNotebook)
        if notebook is None:
            raise pytest.UsageError("the fixture `student` is for hidden tests")
        return Student(notebook.runner)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Count lost kernels by question."""
        notebook = item.getparent(GradedNotebook)
        if isinstance(item, HiddenFunction) and notebook is not None:
            notebook.runner.question = item.spec.question
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run a hidden test again if the kernel died in it and an earlier cell may be to blame."""
        try:
            return (yield)
        except KernelDied:
            notebook = item.getparent(GradedNotebook)
            if not isinstance(item, HiddenFunction) or notebook is None or not notebook.runner.second_chance():
                raise
        item.runtest()
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the submission's facts to the report, and clean the reports of hidden tests."""
        report = yield
        notebook = item.getparent(GradedNotebook)
        if notebook is None:
            return report
        entry: dict[str, Any] = {"facts": notebook.facts, "notices": notebook.late_notices()}
        if isinstance(item, SubmissionItem) and report.when == "call":
            self._describe(item, notebook)
            report.user_properties = list(item.user_properties)
        elif isinstance(item, GradedCell) and report.when == "call":
            outcome = getattr(item, "outcome", None)
            if outcome is not None and outcome.status in ("timeout", "died"):
                entry["notices"].append(f"{item.name}: {outcome.message}")
            elif outcome is not None and outcome.truncated:
                entry["notices"].append(f"{item.name}: printed more than is kept")
        elif isinstance(item, HiddenFunction):
            self._clean(item, call, report, entry)
        vars(report)["ctxcourse"] = entry
        return report

    def _describe(self, item: SubmissionItem, notebook: GradedNotebook) -> None:
        facts = notebook.facts
        item.user_properties += [("lesson", facts["lesson"]), ("isolation", facts["isolation"])]
        item.user_properties += [("notice", notice) for notice in facts["notices"]]

    def _clean(
        self, item: HiddenFunction, call: pytest.CallInfo[None], report: pytest.TestReport, entry: dict[str, Any]
    ) -> None:
        outcome, cause = _judge(report, call.excinfo)
        if self.show_hidden and report.outcome == "failed":
            entry["detail"] = report.longreprtext
        report.sections = []
        if hasattr(report, "wasxfail"):
            report.wasxfail = ""
        if report.outcome == "failed":
            hint = f"\nHint: {item.spec.hint}" if item.spec.hint else ""
            report.longrepr = f"{item.spec.title or item.spec.name}: {cause}{hint}"
        elif report.outcome == "skipped":
            report.longrepr = (str(item.path), 0, cause)
        if report.when == "call" or outcome != "passed":
            entry.update(test=item.spec.name, cases=item.cases, outcome=outcome, cause=cause)
            self._give_points(item, outcome)
            report.user_properties = list(item.user_properties)

    def _give_points(self, item: HiddenFunction, outcome: str) -> None:
        """Put the points into the properties: on a test's last case, so that their sum is what was earned."""
        failed = item.parent.failed
        if outcome != "passed":
            failed.add(item.spec.name)
        spec = item.spec
        properties: dict[str, object] = {
            "exercise": spec.question,
            "test": spec.name,
            "title": spec.title,
            "outcome": outcome,
        }
        if item.number == item.cases:
            properties |= {"points": 0 if spec.name in failed else spec.points, "max": spec.points}
        item.user_properties[:] = list(properties.items())

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the report into the marks."""
        entry = getattr(report, "ctxcourse", None)
        if entry is not None:
            self.ledger.add(report.nodeid, entry)
            if entry.get("detail"):
                self.details.append((report.nodeid, entry["detail"]))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Write the marks, and fail a run in which not all points were earned or not all files were written.

        The marks are what an instructor looks for, so they come after all that pytest itself has to say.
        """
        if hasattr(self.config, "workerinput"):
            return (yield)
        rows = self.ledger.rows()
        lost = self._write(rows)
        marks_written = self.grades is not None and not lost
        if lost:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        elif session.exitstatus == pytest.ExitCode.OK and any(row["points"] < row["max"] for row in rows):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        try:
            return (yield)
        except OSError as error:  # of a report that pytest writes, for JUnit
            lost.append(f"A report could not be written: {error}")
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        finally:
            reporter = self.config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None:
                if rows:
                    self._show(rows, reporter)
                if rows and marks_written:
                    reporter.write_line(f"Marks written to {self.grades}")
                for line in lost:
                    reporter.write_line(line, red=True, bold=True)

    def _write(self, rows: list[dict[str, Any]]) -> list[str]:
        """Write the marks if that was asked for; returns what went wrong, in sentences."""
        if self.grades is None:
            return []
        try:
            write_grades(rows, self.grades)
        except OSError as error:
            return [f"The marks could NOT be written to {self.grades} ({error.strerror or error}): they are only here."]
        return []

    def _show(self, rows: list[dict[str, Any]], terminalreporter: pytest.TerminalReporter) -> None:
        """Show the marks, how the code was isolated, and on request the details of hidden tests."""
        if self.show_hidden:
            for nodeid, detail in self.details:
                terminalreporter.write_sep("_", nodeid)
                terminalreporter.write_line(detail)
        terminalreporter.write_sep("=", "grades")
        for line in table(rows):
            terminalreporter.write_line(line)
        points, most = sum(row["points"] for row in rows), sum(row["max"] for row in rows)
        submissions = len({row["submission"] for row in rows})
        terminalreporter.write_line("")
        terminalreporter.write_line(f"{submissions} notebook{'s' * (submissions != 1)}, {points:g} of {most:g} points")
        facts = next(iter(self.ledger.facts.values()))
        if facts["isolation"] == "none":
            text = (
                f"WARNING: the notebooks ran WITHOUT a sandbox ({facts['isolation_reason']}). Their code could read the"
            )
            text += (
                " solutions, use the network and change your files. Install bubblewrap, or use a machine made for this."
            )
            terminalreporter.write_line(text, red=True, bold=True)
        else:
            text = f"Isolation: {facts['isolation']} (no network, solutions out of sight, memory and processes limited)"
            terminalreporter.write_line(text)


def _judge(report: pytest.TestReport, excinfo: pytest.ExceptionInfo[BaseException] | None) -> tuple[str, str]:
    """Return the outcome of a phase of a hidden test, and the cause in words that give nothing away."""
    if hasattr(report, "wasxfail"):
        return "not counted", "the test is marked as an expected failure, and earns nothing"
    if report.outcome == "skipped":
        return "skipped", "the test was skipped"
    error = excinfo.value if excinfo is not None else None
    if error is None:
        return (report.outcome, "") if report.outcome == "passed" else ("failed", "wrong answer")
    if isinstance(error, NotAttempted):
        return NOT_ATTEMPTED, NotAttempted.cause
    if isinstance(error, MissingName):
        return "missing", error.cause
    if isinstance(error, NotGraded):
        return "not graded", error.cause
    if isinstance(error, GradingFailure):
        return "failed", error.cause
    if isinstance(error, StudentError):
        known = isinstance(getattr(builtins, error.type_name, None), type)
        return "failed", f"raised {error.type_name}" if known else "raised an exception of its own"
    return "failed", "wrong answer"
