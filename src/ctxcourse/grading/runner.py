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

SETTLE = 1.5
"""Seconds that a kernel is watched for a death that a cell has caused."""


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
    that ran before are run again, except those that had lost a kernel, be it a moment after they had run. It is also
    the `Transport` of the hidden tests.

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
        self._suspects = False
        """Whether cells were run of which it is not known yet that they leave nothing behind that ends the kernel."""
        self._found = self._excused = 0
        """How many cells turned out to end the kernel after they had run, and how many of them excused a test."""
        self._blamed: list[int] = []

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

    def second_chance(self) -> bool:
        """Return whether a test in which the kernel died is to run again, because an earlier cell may be to blame.

        Cells that were run since the last look are suspects: a thread that they left behind may end the kernel at
        any time. They are run again here, and the one that ends the kernel is found.
        """
        chance = self._suspects
        if chance:
            found = self._found
            try:
                self._living()
            except GradingFailure:
                return False
            if self._found > found:
                self._losses[self.question] = max(0, self._losses.get(self.question, 0) - 1)
        chance, self._excused = chance or self._found > self._excused, self._found
        return chance

    def take_blamed(self) -> list[int]:
        """Return the numbers of the cells that turned out to end the kernel after they had run, each once."""
        blamed, self._blamed = self._blamed, []
        return blamed

    def _run(self, number: int) -> CellResult:
        try:
            result = self._run_in(self._living(), number)
            if result.status == "died" and self._suspects:
                found = self._found
                kernel = self._living()
                if self._found > found:
                    result = self._run_in(kernel, number)
        except GradingFailure as failure:
            result = CellResult("died", str(failure.msg))
        self._suspects = self._suspects or result.status in ("ok", "error")
        self.results[number] = result
        return result

    def _run_in(self, kernel: StudentKernel, number: int) -> CellResult:
        begin = time.monotonic()
        try:
            return kernel.run(self.sources[number], min(self.limits.cell, self._left()))
        finally:
            self._spent += time.monotonic() - begin

    def _left(self) -> float:
        left = self.limits.total - self._spent
        if left <= 0:
            raise CallTimeout(f"the submission has used up its {self.limits.total:g} seconds")
        return left

    def _living(self) -> StudentKernel:
        """Return a kernel in which all cells so far have been run."""
        if self._kernel is not None and self._kernel.alive:
            return self._kernel
        return self._revive()

    def _revive(self, careful: bool = False) -> StudentKernel:
        """Start a kernel and run again what was run; a cell that ends it, even a moment later, is left out from now on.

        Args:
            careful: wait after each cell, to see which one it is.
        """
        kernel = self._start_one()
        for number, result in enumerate(self.results):
            if result is None or result.status in ("died", "timeout"):
                continue
            again = self._run_in(kernel, number)
            if kernel.alive and not (careful and _dies(kernel)):
                continue
            if careful or again.status == "timeout":
                result.status, result.message = "died", "it ended the kernel after it had run"
                self._found += 1
                self._blamed.append(number)
            return self._revive(careful=True)
        if self._suspects and not careful and _dies(kernel):
            return self._revive(careful=True)
        self._suspects = False
        return kernel

    def _start_one(self) -> StudentKernel:
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
        return kernel


def _dies(kernel: StudentKernel) -> bool:
    """Watch a kernel that does nothing, and return whether it ends."""
    end = time.monotonic() + SETTLE
    while kernel.alive and time.monotonic() < end:
        time.sleep(0.05)
    return not kernel.alive
