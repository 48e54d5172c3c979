"""Conversations to count: those that ship with the course, and your own from a file."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from ctxcourse.errors import CourseError
from ctxcourse.plain import strict_json


class Request(NamedTuple):
    """A conversation in the OpenAI chat format and the tool schemas that it was held with."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def load_sample(name: str = "coding_session") -> Request:
    """Return a fresh copy of the sample conversation called ``name``.

    Raises:
        CourseError: there is no such sample; the message lists those there are.
    """
    folder = files(__package__)
    content = {
        file.name.removesuffix(".json"): json.loads(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".json")
    }
    samples = {
        stem: held for stem, held in content.items() if isinstance(held, dict) and {"messages", "tools"} <= set(held)
    }
    if name not in samples:
        raise CourseError(f"There is no sample conversation {name!r}. There are: {', '.join(sorted(samples))}.")
    return Request(samples[name]["messages"], samples[name]["tools"])


def read_request(path: str | Path) -> Request:
    """Return the request in a JSON file: a list of messages, or an object with ``messages`` and perhaps ``tools``.

    ``functions``, as older requests have it, is taken for ``tools``.

    The second form is what an agent sends and most frameworks log; its other keys (model, temperature) are ignored.
    The content is not validated here; counting does that.

    Raises:
        CourseError: the file cannot be read, or holds something else; or a system text stands beside the messages.
    """
    content = read_json(Path(path))
    if isinstance(content, dict) and "messages" in content:
        return Request(content["messages"], tools_beside(content, path))
    if isinstance(content, list):
        return Request(content, [])
    raise CourseError(
        f"{path} holds no request: it should be a list of messages, or an object with the key 'messages' (and 'tools')."
    )


def tools_beside(content: dict[str, Any], path: str | Path) -> Any:
    """Return the tools of an object with messages, not validated.

    Raises:
        CourseError: a system text stands beside the messages, and would be lost.
    """
    if content.get("system"):
        raise CourseError(
            f"{named(path)} has a 'system' text beside its messages, as another chat API has it: make it the first "
            'message, {"role": "system", "content": …}.'
        )
    return content.get("tools") or content.get("functions") or []


def named(path: str | Path) -> str:
    """Return a file's name for a message to the user."""
    return "standard input" if str(path) == "-" else str(path)


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; ``-`` is standard input.

    Raises:
        CourseError: it cannot be read, is not UTF-8 or not JSON; the text says where.
    """
    return parsed(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    """Return what a file holds; ``-`` is standard input. Raises CourseError where it cannot be read."""
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise CourseError(f"{named(path)} cannot be read: {error.strerror}. Give a JSON file.") from error


def parsed(content: bytes, path: Path) -> Any:
    """Return the JSON value of a file's content; raises CourseError, with the file's name, where it is none."""
    shown = named(path)
    try:
        return strict_json(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CourseError(f"{shown} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise CourseError(f"{shown} is not valid JSON: {error.msg} in {place}.") from error
    except ValueError as error:
        raise CourseError(f"{shown} cannot be taken: {error}.") from error
    except RecursionError as error:
        raise CourseError(f"{shown} is nested too deeply to be messages or tools.") from error
