"""Runs the cells of one submission in order, and brings a lost kernel back to where it was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctxcourse.grading.kernel import CellResult, KernelNotStarted, StudentKernel
from ctxcourse.grading.remote import CallTimeout, GradingFailure, KernelDied

MAX_RESTARTS = 20
MAX_LOSSES = 3
"""How often the kernel may be lost, or a call time out, within one question."""


class NotGraded(GradingFailure):
    """The submission could not be run at all."""

    cause = "could not be run"


@dataclass(frozen=True)
class Limits:
    """Seconds that a submission's code may take: a cell, a call from a hidden test, all of it together."""

    cell: float = 60.0
    call: float = 10.0
    total: float = 900.0


class Runner:
    """The cells of a submission and the kernel that they run in.

    Cells run once each, in order. When the kernel is lost, a new one is started at the next request, and the cells
    that ran before are run again, except those that had lost a kernel. It is also the `Transport` of the hidden
    tests.

    Args:
        sources: the cells' code, in the order in which they are to run.
        start: starts a kernel.
        limits: time limits.
    """

    def __init__(self, sources: Sequence[str], start: Callable[[], StudentKernel], limits: Limits) -> None:
        self.sources, self.start, self.limits = list(sources), start, limits
        self.results: list[CellResult | None] = [None] * len(self.sources)
        self.generation = 0
        self.question = ""
        """The question that is being tested; losses are counted for each."""
        self._kernel: StudentKernel | None = None
        self._starts = 0
        self._losses: dict[str, int] = {}
        self._spent = 0.0
        self._failure = ""

    def run_cell(self, number: int) -> CellResult:
        """Run a cell, after those before it that have not been run yet, and return what became of it."""
        for earlier in range(number):
            if self.results[earlier] is None:
                self._run(earlier)
        return self._run(number)

    def send(self, text: str) -> str:
        """Send a request of a hidden test to the agent, with all cells run, and return the reply."""
        for number, result in enumerate(self.results):
            if result is None:
                self._run(number)
        if self._losses.get(self.question, 0) >= MAX_LOSSES:
            raise KernelDied(f"the kernel was lost, or a call timed out, {MAX_LOSSES} times in this question already")
        kernel = self._living()
        begin = time.monotonic()
        try:
            return kernel.ask(text, min(self.limits.call, self._left()))
        except (KernelDied, CallTimeout):
            self._losses[self.question] = self._losses.get(self.question, 0) + 1
            raise
        finally:
            self._spent += time.monotonic() - begin

    def close(self) -> None:
        """End the kernel."""
        if self._kernel is not None:
            self._kernel.stop()
            self._kernel = None

    def _run(self, number: int) -> CellResult:
        try:
            kernel = self._living()
            begin = time.monotonic()
            result = kernel.run(self.sources[number], min(self.limits.cell, self._left()))
            self._spent += time.monotonic() - begin
        except GradingFailure as failure:
            result = CellResult("died", str(failure.msg))
        self.results[number] = result
        return result

    def _left(self) -> float:
        left = self.limits.total - self._spent
        if left <= 0:
            raise CallTimeout(f"the submission has used up its {self.limits.total:g} seconds")
        return left

    def _living(self) -> StudentKernel:
        """Return a kernel in which all cells so far have been run."""
        if self._kernel is not None and self._kernel.alive:
            return self._kernel
        if self._failure:
            raise NotGraded(self._failure)
        if self._starts > MAX_RESTARTS:
            raise KernelDied(f"the kernel was lost more than {MAX_RESTARTS} times, and was not started again")
        self.close()
        self.generation += 1
        self._starts += 1
        try:
            kernel = self._kernel = self.start()
        except KernelNotStarted as error:
            self._failure = str(error)
            raise NotGraded(self._failure) from error
        for number, result in enumerate(self.results):
            if result is None or result.status in ("died", "timeout"):
                continue
            begin = time.monotonic()
            again = kernel.run(self.sources[number], min(self.limits.cell, self._left()))
            self._spent += time.monotonic() - begin
            if not kernel.alive:
                result.status = "died"
                raise KernelDied(f"cell {number + 1} ended the kernel when it was run again: {again.message}")
        return kernel
