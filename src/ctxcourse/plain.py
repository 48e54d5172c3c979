"""What may stand in a prompt: Unicode text and JSON data, checked once, at the border."""

import json
import math
import re
from typing import Any

from ctxcourse.errors import CourseError

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DEEPEST = 100
_LONGEST_INTEGER_BITS = 10_000


class MessageError(CourseError, ValueError):
    """A conversation or a tool catalogue that no chat template could render faithfully.

    The text names the message (counted from 0), the value that was found, and what to write instead.
    """


def kind(value: object) -> str:
    """Return the name of a value's type as an error message shows it; ``None`` is called null."""
    return "null" if value is None else type(value).__name__


def shown(value: object, longest: int = 60) -> str:
    """Return a value's repr, shortened to ``longest`` characters, for an error message."""
    try:
        text = repr(value)
    except Exception:  # a broken __repr__ must not hide the error that is being reported
        text = f"<{type(value).__name__}>"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def strict_json(text: str) -> Any:
    """Return what a JSON text holds, where no object names a key twice: one of the two values would be lost.

    Raises ValueError: JSONDecodeError for no JSON, else a plain one for a repeated key or a number that is too long.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"an object has the key {shown(twice)} twice")
        return content

    return json.loads(text, object_pairs_hook=once)


def checked_string(value: Any, where: str) -> str:
    """Return ``value`` unchanged, or raise MessageError if it is no string that can be encoded as UTF-8."""
    if not isinstance(value, str):
        raise MessageError(f"{where} must be a string, not {kind(value)}: {shown(value)}")
    return checked_text(value, where)


def checked_text(text: str, where: str) -> str:
    """Return ``text`` unchanged, or raise MessageError if it cannot be encoded as UTF-8.

    Half a surrogate pair is what is left when somebody cut a JavaScript or JSON string in the middle of an emoji; no
    tokenizer takes it.
    """
    found = _LONE_SURROGATE.search(text)
    if found:
        raise MessageError(
            f"{where} holds half of a surrogate pair ({found.group()!r}) at character {found.start()}, which is "
            "no Unicode text: remove it, or read the text again from its source"
        )
    return text


def copy_json(value: Any, where: str, depth: int = 0) -> Any:
    """Return a deep copy of JSON data; tuples become lists.

    Raises MessageError, naming the place, for anything that JSON cannot hold: NaN and infinities, keys that are not
    strings, other types, integers of more than three thousand digits, nesting deeper than a hundred levels.
    """
    if depth > _DEEPEST:
        raise MessageError(f"{where} is nested deeper than {_DEEPEST} levels: flatten it")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return checked_text(value, where)
    if isinstance(value, int):
        if value.bit_length() > _LONGEST_INTEGER_BITS:
            raise MessageError(f"{where} holds an integer of more than 3,000 digits: pass it as a string")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise MessageError(f"{where} holds {value}, which JSON has no word for: use null or a string")
        return value
    if isinstance(value, dict):
        copy = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise MessageError(f"{where} has the key {shown(key)} of type {kind(key)}: JSON keys are strings")
            copy[checked_text(key, where)] = copy_json(item, f"{where}[{shown(key)}]", depth + 1)
        return copy
    if isinstance(value, list | tuple):
        return [copy_json(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise MessageError(
        f"{where} holds a {kind(value)}, which is no JSON value: convert it to a string, number, list or dict"
    )
