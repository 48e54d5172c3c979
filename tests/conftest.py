"""What all tests share: at the end, a list of the answers that part from others where two tokens tie."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List what tests recorded as ``compared`` (numbers of answers) and as ``tie`` (texts), passed tests included."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    recorded = [pair for report in reports if report.when == "call" for pair in report.user_properties]
    compared = sum(value for name, value in recorded if name == "compared")
    ties = [value for name, value in recorded if name == "tie"]
    if compared:
        terminalreporter.write_sep("-", "answers compared, token for token")
        terminalreporter.write_line(f"{compared} compared; {len(ties)} part where the two best tokens tie")
        for tie in ties:
            terminalreporter.write_line(str(tie))
