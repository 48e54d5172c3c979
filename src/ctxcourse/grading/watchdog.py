"""Ends a student's kernel that takes more memory or more processes than a submission may."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

INTERVAL = 0.25
"""Seconds between two looks."""


class Watchdog(threading.Thread):
    """Watches the process tree of a kernel from outside, and kills it when it goes over a limit.

    Limits inside the kernel hold for each process; this one holds for their sum, and also where there is no sandbox.

    Args:
        pid: the first process of the tree.
        folder: the kernel's folder on the machine's own disk.
        memory: bytes of resident memory over all processes.
        processes: how many processes there may be.
        disk: bytes that may be written to ``folder``.
    """

    def __init__(self, pid: int, folder: Path, memory: int, processes: int, disk: int) -> None:
        super().__init__(name=f"watchdog of kernel {pid}", daemon=True)
        self.pid, self.folder = pid, folder
        self.memory, self.processes, self.disk = memory, processes, disk
        self.verdict = ""
        """Why the kernel was killed; empty while it is within its limits."""
        self._stop_event = threading.Event()

    def run(self) -> None:
        """Look until the kernel is gone, or `finish` is called."""
        import psutil  # type: ignore[import-untyped]

        while not self._stop_event.wait(INTERVAL):
            try:
                tree = [psutil.Process(self.pid), *psutil.Process(self.pid).children(recursive=True)]
            except psutil.Error:
                return
            if _resident(tree) > self.memory and _resident(tree, exact=True) > self.memory:
                self.verdict = f"used more than {self.memory / 2**30:.3g} GB of memory"
            elif len(tree) > self.processes:
                self.verdict = f"started more than {self.processes} processes"
            elif _written(self.folder) > self.disk:
                self.verdict = f"wrote more than {self.disk / 2**20:.0f} MB to disk"
            if self.verdict:
                kill_tree(self.pid)
                return

    def finish(self) -> None:
        """Stop watching."""
        self._stop_event.set()


def kill_tree(pid: int) -> None:
    """Kill a process and all its descendants, children last, so that no new ones are handed on."""
    import psutil

    try:
        first = psutil.Process(pid)
        tree = [first, *first.children(recursive=True)]
    except psutil.Error:
        return
    for process in tree:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _resident(tree: list[Any], exact: bool = False) -> int:
    """Return the bytes of memory of some processes; ``exact``, and slower, counts pages that they share once."""
    import psutil

    total = 0
    for process in tree:
        with contextlib.suppress(psutil.Error):
            if exact and hasattr(process, "memory_full_info"):
                try:
                    full = process.memory_full_info()
                    total += getattr(full, "pss", full.uss)
                    continue
                except psutil.AccessDenied:
                    pass
            total += process.memory_info().rss
    return total


def _written(folder: Path) -> int:
    total = 0
    for number, path in enumerate(folder.rglob("*")):
        if number > 10_000:
            return 2**62
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total
