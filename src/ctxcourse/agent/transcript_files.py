"""Files of conversations: the course's own transcripts and other people's, read to the last whole step.

The course's format is JSON lines: a header with the tools and where the run comes from, then one message a line. A run
that is killed leaves a half-written line or a call without its result at the end; both are reported as what they are,
and left out on request. What this module does not do: say what a transcript is (see `ctxcourse.agent.transcript`).
"""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from typing import Any, NamedTuple

from ctxcourse.errors import CourseError
from ctxcourse.messages import Message, Tool, normalise, normalise_tools
from ctxcourse.pairing import calls_of, first_problem
from ctxcourse.plain import MessageError, shown, strict_json
from ctxcourse.samples import named, parsed, read_bytes, tools_beside

FORMAT = "ctxcourse transcript 1"
HEADER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["format", "tools", "provenance"],
    "additionalProperties": False,
    "properties": {
        "format": {"const": FORMAT},
        "tools": {"type": "array", "items": {"type": "object"}},
        "provenance": {"type": "object"},
    },
}
_REPAIR = "the option --repair or read_transcript(path, repair=True)"


class TranscriptError(CourseError, ValueError):
    """A file that holds no transcript, or one that cannot be: the text names the file, the line and what is wrong."""


class Content(NamedTuple):
    """What a file holds, the messages not yet known to be good; ``lines`` are those of the messages, where it has any.

    ``lines`` is empty for a file that is one JSON value.
    """

    messages: list[Any]
    tools: list[Tool]
    provenance: dict[str, Any]
    lines: list[int]
    left_out: str = ""


def read_file(path: Path, repair: bool) -> tuple[list[Message], list[Tool], dict[str, Any], list[str]]:
    """Return messages (normalised, calls and results paired), tools and provenance of a file, and what was left out.

    See `ctxcourse.agent.transcript.read_transcript` for what a file may hold and for ``repair``. Raises
    `TranscriptError`.
    """
    content = _content(path, repair)
    try:
        messages = normalise(content.messages)
    except MessageError as error:
        wrong = [line for line, message in zip(content.lines, content.messages, strict=False) if _is_wrong(message)]
        raise TranscriptError(f"{_where(path, wrong, 0)}: {error}") from None
    left_out = [content.left_out] if content.left_out else []
    if repair and (calls := _open_calls(messages)):
        start = _last_step(messages)
        left_out.append(f"message {start} and what follows it, since calls of it have no result: {', '.join(calls)}")
        messages = messages[:start]
    problem = first_problem(messages)
    if problem:
        index = _fault(messages)
        if index == len(messages):
            names = ", ".join(repr(name) for name in _open_calls(messages))
            problem = (
                f"the conversation ends before the calls of message {_last_step(messages)} have their results "
                f"({names}), as an interrupted run leaves it: {_REPAIR} reads up to that step"
            )
        raise TranscriptError(f"{_where(path, content.lines, index)}: {problem}")
    return messages, content.tools, content.provenance, left_out


def _content(path: Path, repair: bool) -> Content:
    try:
        whole = read_bytes(path)
    except CourseError as error:
        raise TranscriptError(str(error)) from error
    lines = whole.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not numbered:
        raise TranscriptError(f"{named(path)} is empty: it should hold a conversation")
    try:
        first = strict_json(numbered[0][1].decode("utf-8"))
    except (ValueError, RecursionError):
        return _whole(path, whole)
    if isinstance(first, dict) and str(first.get("format", "")).startswith("ctxcourse transcript"):
        tools = _checked_header(first, f"{named(path)}, line {numbered[0][0]}")
        messages, places, left_out = _messages(path, numbered[1:], repair)
        return Content(messages, tools, first["provenance"], places, left_out)
    if isinstance(first, dict) and "role" in first:
        messages, places, left_out = _messages(path, numbered, repair)
        return Content(messages, [], {}, places, left_out)
    if len(numbered) > 1:
        raise TranscriptError(
            f"{named(path)} holds several JSON values, one a line, and they are no messages: a transcript is one "
            "conversation, so write the one you mean to a file of its own"
        )
    return _whole(path, whole)


def _whole(path: Path, content: bytes) -> Content:
    """Return what a file with one JSON value holds: a list of messages, or an object with messages and tools."""
    try:
        value = parsed(content, path)
    except CourseError as error:
        raise TranscriptError(str(error)) from error
    if isinstance(value, list):
        return Content(value, [], {}, [])
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list):
        what = f"an object with the keys {shown(list(value))}" if isinstance(value, dict) else shown(value)
        raise TranscriptError(
            f"{named(path)} holds no conversation but {what}: it should be a list of messages, or an object with such "
            "a list as 'messages' (and perhaps 'tools')"
        )
    provenance = value.get("provenance")
    try:
        tools = normalise_tools(tools_beside(value, path))
    except MessageError as error:
        raise TranscriptError(f"{named(path)}: {error}") from None
    except CourseError as error:
        raise TranscriptError(str(error)) from None
    return Content(messages, tools, provenance if isinstance(provenance, dict) else {}, [])


def _checked_header(header: dict[str, Any], where: str) -> list[Tool]:
    """Return the tools of a header; raises `TranscriptError` for one that is not as `HEADER_SCHEMA` has it."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped, unused-ignore]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped, unused-ignore]

    if header["format"] != FORMAT:
        raise TranscriptError(f"{where}: the format is {header['format']!r}, and this version reads {FORMAT!r}")
    found = best_match(Draft202012Validator(HEADER_SCHEMA).iter_errors(header))
    if found is not None:
        place = f" (in {found.json_path})" if found.path else ""
        raise TranscriptError(f"{where}: the header is not valid: {found.message[:200]}{place}")
    try:
        return normalise_tools(header["tools"])
    except MessageError as error:
        raise TranscriptError(f"{where}: {error}") from None


def _messages(path: Path, numbered: list[tuple[int, bytes]], repair: bool) -> tuple[list[Any], list[int], str]:
    """Return the messages of some lines, their line numbers, and what ``repair`` left out: a broken last line."""
    messages: list[Any] = []
    left_out = ""
    for number, line in numbered:
        try:
            messages.append(strict_json(line.decode("utf-8")))
        except (ValueError, RecursionError) as error:
            what = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else f"is not valid JSON ({error})"
            if number != numbered[-1][0]:
                raise TranscriptError(f"{named(path)}, line {number} {what}: {shown(line[:60])}") from None
            if not repair:
                raise TranscriptError(
                    f"{named(path)}, line {number} {what}. It is the last line, which an interrupted run may have left "
                    f"half-written: {_REPAIR} reads up to it"
                ) from None
            left_out = f"line {number}, which {what}"
    return messages, [number for number, _ in numbered[: len(messages)]], left_out


def _where(path: Path, lines: list[int], index: int) -> str:
    return f"{named(path)}, line {lines[min(index, len(lines) - 1)]}" if lines else named(path)


def _is_wrong(message: Any) -> bool:
    try:
        normalise([message])
    except MessageError:
        return True
    return False


def _last_step(messages: list[Message]) -> int:
    """Return where the last step begins."""
    return max((index for index, message in enumerate(messages) if message["role"] != "tool"), default=0)


def _open_calls(messages: list[Message]) -> list[str]:
    """Return the ids of the last step's calls that have no result."""
    start = _last_step(messages)
    answered = {message.get("tool_call_id") for message in messages[start + 1 :]}
    calls = [call for message in messages[start : start + 1] for call in calls_of(message)]
    return [call["id"] for call in calls if call["id"] not in answered]


def _fault(messages: list[Message]) -> int:
    """Return the index of the message from which on calls and results cannot be paired, whatever follows.

    Where no message is at fault, and only results are missing at the end, it is the number of messages.
    """

    def is_past_help(count: int) -> bool:
        begun = messages[:count]
        missing = [{"role": "tool", "tool_call_id": name} for name in _open_calls(begun)]
        return first_problem(begun + missing) is not None

    return bisect_left(range(1, len(messages) + 1), True, key=is_past_help)
