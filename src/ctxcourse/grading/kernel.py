"""A student's kernel, run by the grader: starts it, sends cells and requests, and survives what it does.

The grader reads the output while it waits, keeps the first part of what is printed and throws the rest away; it
notices a dead kernel within a fraction of a second; and a message above a fixed size never reaches it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.grading import sandbox as box
from ctxcourse.grading.remote import BadReply, CallTimeout, KernelDied
from ctxcourse.grading.watchdog import Watchdog, kill_tree
from ctxcourse.grading.wire import Channels, Message

MAX_OUTPUT = 1_000_000
"""Bytes of a cell's output that are kept."""
GRACE = 1.0
"""Seconds that an interrupted kernel has to come back before it is killed."""
REPLY = "application/x-ctxcourse"

# Puts the agent into the kernel. From the first request on, what the student's code prints goes nowhere: a thread
# that prints all the time would otherwise hold up every reply. `exit` and `quit` are an error in their own cell: the
# kernel would say that the cell is done, and end a moment later.
BOOT = """
def _boot(source):
    import sys, types
    agent = types.ModuleType("_ctxcourse_agent")
    exec(source, agent.__dict__)
    serve = agent.make_agent(get_ipython().user_ns)
    class Reply:
        __slots__ = ("text",)
        def __init__(self, text): self.text = text
        def _repr_mimebundle_(self, include=None, exclude=None): return {MIME: self.text}
    class Silence:
        encoding, errors, closed = "utf-8", "replace", False
        def write(self, text): return len(text)
        def writelines(self, lines): pass
        def flush(self): pass
        def isatty(self): return False
    def answer(text):
        if type(sys.stdout) is not Silence: sys.stdout = sys.stderr = Silence()
        return Reply(serve(text))
    def refuse(*_, **__):
        raise RuntimeError("exit and quit would end the notebook's kernel: take the call out of this cell")
    get_ipython().ask_exit = refuse
    agent.answer = answer
    sys.modules["_ctxcourse_agent"] = agent
    sys.setswitchinterval(0.001)
    for stream in (sys.stdout, sys.stderr): stream.flush_timeout = 0.2
_boot(AGENT); del _boot
"""


class KernelNotStarted(CourseError):
    """No kernel could be started for a submission."""


@dataclass
class CellResult:
    """What became of a cell.

    Attributes:
        status: ``"ok"``, ``"error"``, ``"timeout"`` or ``"died"``.
        message: the error in a line.
        traceback: the student's traceback, as IPython made it, without colours.
        outputs: the outputs kept, as in a notebook.
        truncated: whether output was thrown away.
        size: bytes of output taken in so far.
    """

    status: str = "ok"
    message: str = ""
    traceback: str = ""
    outputs: list[dict[str, Any]] = field(default_factory=list)
    truncated: bool = False
    size: int = 0


class StudentKernel:
    """One kernel process of one submission.

    Args:
        sandbox: how it is isolated.
        masked: folders of which the kernel must see nothing.
        startup_timeout: seconds until it has to be ready.

    Raises:
        KernelNotStarted: if it is not.
    """

    def __init__(self, sandbox: box.Sandbox, masked: Iterable[Path] = (), startup_timeout: float = 60) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ctxg-"))
        sandbox.prepare(self.folder)
        self.channels = Channels(self.folder)
        self._idle_after = ""
        arguments = [
            "-f",
            str(self.channels.file),
            "--IPKernelApp.capture_fd_output=False",
            "--HistoryManager.enabled=False",
        ]
        try:
            self.process = subprocess.Popen(
                sandbox.command(self.folder, arguments, masked),
                env=box.environment(self.folder),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            self.channels.close()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise KernelNotStarted(f"no kernel could be started: {error}") from error
        self.watchdog = Watchdog(self.process.pid, self.folder, box.MEMORY, box.PROCESSES + 8, box.SCRATCH)
        self.watchdog.start()
        try:
            self._wait_until_ready(time.monotonic() + startup_timeout)
        except BaseException:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Whether the kernel's process runs."""
        return self.process.poll() is None

    @property
    def obituary(self) -> str:
        """Why the kernel is dead, as far as is known."""
        return f"the kernel was stopped: it {self.watchdog.verdict}" if self.watchdog.verdict else "the kernel died"

    def run(self, source: str, timeout: float) -> CellResult:
        """Run a cell, and return what became of it; a cell that takes too long is interrupted, then killed."""
        result = CellResult()
        msg_id = self._execute(source)
        try:
            reply = self._await_reply(msg_id, timeout, result)
            if reply is None:
                if self._interrupt(msg_id, result):
                    self._await_idle(msg_id, result)
                result.status, result.message = "timeout", f"the cell was stopped after {timeout:.3g} seconds"
                return result
            if reply.get("status") != "ok" and result.status == "ok":
                result.status, result.message = "error", f"{reply.get('ename')}: {reply.get('evalue')}"[:2000]
            self._await_idle(msg_id, result)
        except KernelDied:
            result.status, result.message = "died", self.obituary
        return result

    def ask(self, text: str, timeout: float) -> str:
        """Send a request to the agent, and return its reply.

        Raises:
            KernelDied: if the kernel is, or gets, lost.
            CallTimeout: if no reply comes; the kernel is interrupted, or else killed.
            BadReply: if what comes is no reply.
        """
        self.channels.stop_listening()
        msg_id = self._execute("", reply=f"__import__('sys').modules['_ctxcourse_agent'].answer({text!r})")
        reply = self._await_reply(msg_id, timeout, CellResult())
        if reply is None:
            self._interrupt(msg_id, CellResult())
            late = f"no answer within {timeout:.3g} seconds"
            raise CallTimeout(late, late)
        try:
            return reply["user_expressions"]["reply"]["data"][REPLY]  # type: ignore[no-any-return]
        except (KeyError, TypeError):
            raise BadReply("the kernel sent no result") from None

    def stop(self) -> None:
        """End the kernel and everything that it started, and remove its folder."""
        self.watchdog.finish()
        kill_tree(self.process.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        self.channels.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_until_ready(self, end: float) -> None:
        with contextlib.suppress(KernelDied):
            while time.monotonic() < end:
                idle = CellResult()
                msg_id = self.channels.send("shell", "kernel_info_request", {})
                if self._await_reply(msg_id, end - time.monotonic(), idle) is None:
                    break
                if not self._await_idle(msg_id, idle, patience=0.2):
                    continue
                agent = resources.files("ctxcourse.grading").joinpath("agent.py").read_text(encoding="utf-8")
                boot = self.run(BOOT.replace("MIME", repr(REPLY)).replace("AGENT", repr(agent)), 30)
                if boot.status == "ok":
                    return
                raise KernelNotStarted(f"the kernel could not be prepared for grading: {boot.message}")
        raise KernelNotStarted("no kernel could be started; `python -m ipykernel_launcher` with this Python shows why")

    def _execute(self, code: str, **expressions: str) -> str:
        flags = {"silent": bool(expressions), "store_history": False, "allow_stdin": False, "stop_on_error": False}
        return self.channels.send("shell", "execute_request", {"code": code, "user_expressions": expressions, **flags})

    def _await_reply(self, msg_id: str, timeout: float, result: CellResult) -> Message | None:
        """Return the content of the reply to a request, or None if there is none in time."""
        end = time.monotonic() + timeout
        while True:
            ready = self.channels.wait(100)
            if "shell" in ready:
                message = self.channels.receive("shell")
                if message and message["parent_header"].get("msg_id") == msg_id:
                    content: Message = message["content"]
                    return content
            elif not self.alive:
                raise KernelDied(self.obituary, self.obituary)
            if "iopub" in ready:
                self._read_output(msg_id, result)
            if time.monotonic() > end:
                return None

    def _await_idle(self, msg_id: str, result: CellResult, patience: float = 2.0) -> bool:
        end = time.monotonic() + patience
        while self.channels.listening and self._idle_after != msg_id and time.monotonic() < end:
            if self.channels.has("iopub", 50):
                self._read_output(msg_id, result)
            elif not self.alive:
                raise KernelDied(self.obituary, self.obituary)
        return self._idle_after == msg_id

    def _interrupt(self, msg_id: str, result: CellResult) -> bool:
        """Interrupt the kernel; kill it if it does not come back. Returns whether it did."""
        self.channels.send("control", "interrupt_request", {})
        with contextlib.suppress(KernelDied):
            if self._await_reply(msg_id, GRACE, result) is not None:
                return True
        kill_tree(self.process.pid)
        self.process.wait()
        return False

    def _read_output(self, msg_id: str, result: CellResult) -> None:
        """Take in what lies on the output channel, and note when the request is done (its reply may be unread yet)."""
        for _ in range(500):
            if not self.channels.has("iopub"):
                return
            message = self.channels.receive("iopub", spare=result.size < MAX_OUTPUT)
            if message is None:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "skipped":
                result.truncated = True
            elif message["parent_header"].get("msg_id") != msg_id:
                continue
            elif kind == "status" and content.get("execution_state") == "idle":
                self._idle_after = msg_id
                return
            elif kind in ("stream", "display_data", "execute_result", "error"):
                _keep(result, kind, content)


def _keep(result: CellResult, kind: str, content: Message) -> None:
    result.size += len(json.dumps(content, default=str)) + 200
    if result.size > MAX_OUTPUT and kind != "error":
        result.truncated = True
        return
    fields = {"stream": ("name", "text"), "error": ("ename", "evalue", "traceback")}.get(kind, ("data", "metadata"))
    output = {"output_type": kind, **{name: content.get(name) for name in fields}}
    if kind == "execute_result":
        output["execution_count"] = content.get("execution_count")
    if kind == "error":
        result.status = "error"
        result.message = f"{content.get('ename')}: {content.get('evalue')}"[:2000]
        lines = content.get("traceback")
        text = "\n".join(map(str, lines)) if isinstance(lines, list) else ""
        result.traceback = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)[-20_000:]
    result.outputs.append(output)
