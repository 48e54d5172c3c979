"""The tool calls in an answer: what the model wrote, read as data, with a note of what could not be read.

A chat template asks for ``<tool_call>`` tags around a JSON object; small models also answer with the bare object, or
with one in a fenced block. All three are taken. What this module does not do: check a call against the tool's schema,
or run it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ctxcourse.plain import checked_string, copy_json, kind, shown, strict_json

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_MARK = re.compile(rf"{_OPEN}|{_CLOSE}|\{{")
# Where an object must be meant as a call if anything is: at the very front, of the answer or of a fenced block.
_FRONT = re.compile(r"(?:\A|```(?:json|JSON)?)[\s\[]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ToolCall:
    """The call of one tool; where it could not be read, ``problem`` says why, and must be empty before it is run."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def parse_tool_calls(text: str) -> list[ToolCall]:
    """Return the tool calls in an answer, in order; an answer without any is an empty list.

    Where there are ``<tool_call>`` tags, what stands in them is taken, closed or not, and the rest is prose. Without
    them, every JSON object with a ``name`` and ``arguments`` is a call, bare or in a fenced block, alone or in a list.
    ``arguments`` may be an object or, as in OpenAI's messages, its JSON text; in tags they may be missing. What follows
    a complete object, such as a brace too many, is not looked at.

    JSON that is cut off or malformed never raises: in tags, and at the front of the answer or of a fenced block, it
    becomes a call with a ``problem``; elsewhere braces are taken for prose. So does a key that occurs twice, a name
    that is no text, and arguments that are no object.

    Raises MessageError if ``text`` is no string or no valid Unicode.

    >>> parse_tool_calls('<tool_call>\\n{"name": "get_time", "arguments": {"timezone": "UTC"}}\\n</tool_call>')
    [ToolCall(name='get_time', arguments={'timezone': 'UTC'}, problem='')]
    >>> parse_tool_calls('Certainly!\\n```json\\n{"name": "get_time", "arguments": {"timezone":\\n```')[0].problem
    'not valid JSON: Expecting value in line 2, column 1'
    >>> parse_tool_calls("It is noon.")
    []
    """
    checked_string(text, "the answer")
    if _OPEN in text:
        return _tagged(text)
    calls, at, fronts = [], 0, {place.end() for place in _FRONT.finditer(text)}
    while (start := text.find("{", at)) >= 0:
        content, at, problem = _object(text, start)
        if problem and start in fronts:
            calls.append(ToolCall("", problem=problem))
        elif "name" in content and "arguments" in content:
            calls.append(_call(content))
    return calls


def _tagged(text: str) -> list[ToolCall]:
    calls: list[ToolCall] = []
    at, inside, empty = 0, False, False  # inside a tag; nothing has been read in it yet
    while mark := _MARK.search(text, at):
        at = mark.end()
        if mark[0] == "{" and inside:
            content, at, problem = _object(text, mark.start())
            calls.append(ToolCall("", problem=problem) if problem else _call(content))
            inside, empty = not problem, False  # what follows broken JSON in the same tag would be its inside
        elif mark[0] != "{":
            if empty:
                calls.append(ToolCall("", problem="there is no JSON object in the tag"))
            inside = empty = mark[0] == _OPEN
    if empty:
        calls.append(ToolCall("", problem="there is no JSON object in the tag"))
    return calls


def _object(text: str, start: int) -> tuple[dict[str, Any], int, str]:
    """Return the object that begins at ``start``, where to read on, and what is wrong with it, if anything."""
    try:
        _, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        begins = text[start : error.pos]
        place = f"line {begins.count(chr(10)) + 1}, column {len(begins) - begins.rfind(chr(10))}"
        return {}, max(error.pos, start + 1), f"not valid JSON: {error.msg} in {place}"
    except (ValueError, RecursionError) as error:  # an endless number, a nesting without end
        return {}, len(text), f"not valid JSON: {error}"
    try:
        content: dict[str, Any] = copy_json(strict_json(text[start:end]), "the call")
    except ValueError as error:
        return {}, end, str(error)
    return content, end, ""


def _call(content: dict[str, Any]) -> ToolCall:
    name, arguments = content.get("name"), content.get("arguments", {})
    if not isinstance(name, str) or not name:
        return ToolCall("", problem=f"the name must be a text that is not empty, not {shown(name)}")
    if isinstance(arguments, str):
        try:
            arguments = copy_json(strict_json(arguments), "the arguments")
        except (ValueError, RecursionError) as error:
            return ToolCall(name, problem=f"the arguments are a text that is not valid JSON: {error}")
    if not isinstance(arguments, dict):
        return ToolCall(name, problem=f"the arguments must be an object, not {kind(arguments)}: {shown(arguments)}")
    return ToolCall(name, arguments)
