"""The arguments of a tool call held against the tool's own schema, with errors that a model can act on.

What this module does not do: guess. A number in quotes stays a text and is refused, a name that is nearly right is
answered with those near it, and an argument that the schema does not know is not dropped in silence.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable
from datetime import tzinfo
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.plain import MessageError, copy_json, kind, shown
from ctxcourse.retrieval.relevance import fold
from ctxcourse.tools.search import near_names
from ctxcourse.toolschemas import Tool

_TYPES = {
    "string": "a text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,40}")
_NO_ZONES = {"localtime", "posixrules", "Factory"}  # names that mean something else on every machine
_MOST_PROBLEMS = 5
_LONGEST_NAME = 100  # comparing names takes time that grows with their length


class Refused(CourseError):
    """A call that cannot be answered; its text tells the caller what to do instead."""


def checked_arguments(tool: Tool, arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call that keep to the tool's schema, without those that were left out.

    The rules, for every tool alike: an argument that is null counts as left out; 30.0 is the integer 30, as JSON schema
    has it, and nothing else is converted, neither ``"30"`` nor ``true``; a text must hold more than white space; an
    argument that the schema does not name is refused.

    Raises Refused, which names every argument that is wrong and what is allowed.

    >>> tool = {"function": {"name": "wait", "parameters": {"properties": {"minutes": {"type": "integer"}}}}}
    >>> checked_arguments(tool, {"minutes": 30.0})
    {'minutes': 30}
    >>> checked_arguments(tool, {"minutes": "30"})
    Traceback (most recent call last):
        ...
    ctxcourse.agent.arguments.Refused: 'minutes' must be an integer, not '30' (a text)
    """
    schema = tool["function"].get("parameters", {})
    if not isinstance(arguments, dict):
        raise Refused(f"the arguments must be an object, not {kind(arguments)}: {shown(arguments)}")
    try:
        given = {key: value for key, value in copy_json(arguments, "the arguments").items() if value is not None}
    except MessageError as error:
        raise Refused(str(error)) from None
    known, required = schema.get("properties", {}), schema.get("required", [])
    problems = [_unknown_argument(key, known) for key in given if key not in known]
    problems += [f"'{key}' is missing" for key in required if key not in given]
    to_check = {key: value for key, value in given.items() if key in known}
    problems += [_problem(each) for each in _validator(json.dumps(known)).iter_errors(to_check)]
    problems += [
        f"'{key}' must not be empty{'' if key in required else '; leave it out'}"
        for key, value in to_check.items()
        if isinstance(value, str) and not value.strip() and "enum" not in known[key]
    ]
    if problems:
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise Refused("; ".join(problems[:_MOST_PROBLEMS]) + more)
    return {key: int(value) if known[key].get("type") == "integer" else value for key, value in given.items()}


def in_range(name: str, value: int, least: int, greatest: int, why: str = "") -> int:
    """Return the value of an argument; Refused, with the reason for the limits, outside ``least`` to ``greatest``.

    >>> in_range("minutes", 90, 1, 60, "logs are kept for an hour")
    Traceback (most recent call last):
        ...
    ctxcourse.agent.arguments.Refused: 'minutes' must be from 1 to 60 (logs are kept for an hour), not 90
    """
    if not least <= value <= greatest:
        raise Refused(f"'{name}' must be from {least} to {greatest}{f' ({why})' if why else ''}, not {shown(value)}")
    return value


def one_of(what: str, name: str, names: Iterable[str]) -> str:
    """Return the name that is meant, whatever its case; Refused, with those near it or all, if there is none.

    >>> one_of("service", "Payments-API", ["payments-api", "ledger-db"])
    'payments-api'
    >>> one_of("service", "payments", ["payments-api", "ledger-db"])
    Traceback (most recent call last):
        ...
    ctxcourse.agent.arguments.Refused: there is no service 'payments'; near it: payments-api
    """
    there = list(names)
    for candidate in there:
        if fold(candidate) == fold(name).strip():
            return candidate
    near = near_names(name[:_LONGEST_NAME], there)
    raise Refused(
        f"there is no {what} {shown(name)}; {'near it' if near else 'there are'}: {', '.join(near or there) or 'none'}"
    )


def time_zone(name: str) -> tzinfo:
    """Return the time zone of an IANA name, written exactly; Refused, with names near it, for any other.

    >>> time_zone("Europe/Lisbon").key
    'Europe/Lisbon'
    """
    from zoneinfo import ZoneInfo

    try:
        if _ZONE.fullmatch(name) and name not in _NO_ZONES:
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such file, a file of another kind, a folder
        pass
    near = near_names(name[:_LONGEST_NAME], _zones(), most=1)
    example = f"near it: {', '.join(near)}" if near else "write an IANA name, such as Europe/Lisbon or UTC"
    raise Refused(f"there is no time zone {shown(name)}; {example}")


@functools.cache
def _zones() -> list[str]:
    from zoneinfo import available_timezones  # which reads a folder of some hundred files

    return sorted(available_timezones() - _NO_ZONES)


@functools.cache
def _validator(properties: str) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped, unused-ignore]

    return Draft202012Validator({"type": "object", "properties": json.loads(properties)})


def _unknown_argument(name: str, known: Iterable[str]) -> str:
    listed = ", ".join(known)
    return f"there is no argument {shown(name)}; there {'are' if listed else 'is'}: {listed or 'none'}"


def _problem(error: Any) -> str:
    """Say in plain words what a validation error of jsonschema says, with the argument's name first."""
    name = ".".join(map(str, error.absolute_path))
    value = f"{shown(error.instance)} ({_type_of(error.instance)})"
    say: dict[str, Callable[[], str]] = {
        "type": lambda: f"must be {_TYPES.get(error.validator_value, error.validator_value)}, not {value}",
        "enum": lambda: f"must be one of {', '.join(map(str, error.validator_value))}, not {shown(error.instance)}",
    }
    return f"'{name}' {say[error.validator]() if error.validator in say else error.message}"


def _type_of(value: Any) -> str:
    names = {str: "a text", bool: "true or false", int: "an integer", float: "a fraction", dict: "an object"}
    return names.get(type(value), "a list")
