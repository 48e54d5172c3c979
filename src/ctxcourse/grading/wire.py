"""The grader's end of the Jupyter protocol: sockets in a private folder, and messages that may be anything."""

from __future__ import annotations

import json
import secrets
from importlib import import_module
from pathlib import Path
from typing import Any

MAX_MESSAGE = 16 * 2**20
"""Bytes of a message above which it is not even received."""
PORTS = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}

Message = dict[str, Any]


class Channels:
    """The connections to a kernel whose sockets lie in ``folder``, where the file for the kernel is written as well.

    Args:
        folder: the kernel's private folder.
    """

    def __init__(self, folder: Path) -> None:
        from jupyter_client.session import Session

        key = secrets.token_hex(32)
        info: dict[str, object] = {f"{name}_port": port for name, port in PORTS.items()}
        info |= {"ip": str(folder / "k"), "key": key, "transport": "ipc", "signature_scheme": "hmac-sha256"}
        self.file = folder / "kernel.json"
        self.file.write_text(json.dumps(info), encoding="utf-8")
        self.file.chmod(0o644)
        self.session = Session(key=key.encode(), signature_scheme="hmac-sha256")
        self._zmq: Any = import_module("zmq")
        self._context = self._zmq.Context()
        self._sockets: dict[str, Any] = {}
        for name in ("shell", "control", "iopub"):
            socket = self._sockets[name] = self._context.socket(self._zmq.SUB if name == "iopub" else self._zmq.DEALER)
            socket.setsockopt(self._zmq.LINGER, 0)
            socket.setsockopt(self._zmq.MAXMSGSIZE, MAX_MESSAGE)
            socket.setsockopt(self._zmq.RECONNECT_IVL, 20)
            socket.setsockopt(self._zmq.RCVHWM, 50)  # what is not read yet waits in the kernel's memory, not in ours
            socket.connect(f"ipc://{folder / 'k'}-{PORTS[name]}")
        self._sockets["iopub"].setsockopt(self._zmq.SUBSCRIBE, b"")
        self.listening = True

    def send(self, channel: str, kind: str, content: Message) -> str:
        """Send a message, and return its id."""
        return str(self.session.send(self._sockets[channel], kind, content)["header"]["msg_id"])

    def stop_listening(self) -> None:
        """Ask for no more output: what is printed from now on is not even sent."""
        if self.listening:
            self._sockets["iopub"].setsockopt(self._zmq.UNSUBSCRIBE, b"")
            self.listening = False

    def wait(self, milliseconds: int) -> set[str]:
        """Return which of the channels "shell" and "iopub" have messages, after waiting for one."""
        poller = self._zmq.Poller()
        names = ["shell", "iopub"] if self.listening else ["shell"]
        for name in names:
            poller.register(self._sockets[name], self._zmq.POLLIN)
        ready = dict(poller.poll(milliseconds))
        return {name for name in names if self._sockets[name] in ready}

    def has(self, channel: str, milliseconds: int = 0) -> bool:
        """Return whether a channel has a message, after waiting for one."""
        return bool(self._sockets[channel].poll(milliseconds))

    def receive(self, channel: str, spare: bool = True) -> Message | None:
        """Return the next message, or None if there is none that can be read.

        Args:
            channel: "shell" or "iopub".
            spare: whether there is room for output; if not, only what says that the kernel is idle is read, and for
                the rest a message of the type "skipped" is returned.
        """
        try:
            parts = self._sockets[channel].recv_multipart(self._zmq.NOBLOCK)
            _, frames = self.session.feed_identities(parts)
            if not spare and json.loads(frames[1]).get("msg_type") != "status":
                return {"msg_type": "skipped", "parent_header": {}, "content": {}}
            message: Message = self.session.deserialize(frames)
            sound = isinstance(message["parent_header"], dict) and isinstance(message["content"], dict)
            return message if sound else None
        except Exception:  # what a student's kernel sends may fail in any way, and is no message then
            return None

    def close(self) -> None:
        """Close the connections."""
        for socket in self._sockets.values():
            socket.close()
        self._context.term()
