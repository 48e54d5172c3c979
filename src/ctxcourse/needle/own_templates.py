"""Templates of readers' own records: one line of text with the names of columns in braces.

A column's name may hold anything but braces (``{room no.}``, ``{first:name}``), which `str.format` would not have.
"""

from __future__ import annotations

import re

from ctxcourse.needle.own_table import OwnError
from ctxcourse.plain import MessageError, checked_string, shown

_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def columns_of(what: str, template: str) -> list[str]:
    """Return the columns that a template names, in order; ``what`` is its name in messages.

    Raises `OwnError` for anything but one line of text, and for a brace that stands alone.

    >>> columns_of("sentence", "{name} sits in {room no.}, says {{{name}}}.")
    ['name', 'room no.', 'name']
    """
    try:
        checked_string(template, f"the {what}")
    except MessageError as error:
        raise OwnError(str(error)) from None
    if not template.strip() or "\n" in template or "\r" in template:
        raise OwnError(f"the {what} is {shown(template)}: it is one line of text")
    names = []
    for match in _PLACE.finditer(template):
        if match.group() in ("{", "}"):
            raise OwnError(
                f"the {what} has a single {match.group()!r} at character {match.start()}: a column is written "
                f"{{name}}, and a brace {match.group() * 2!r}"
            )
        if match.group(1) is not None:
            names.append(match.group(1))
    return names


def filled(template: str, record: dict[str, str]) -> str:
    """Return a template with a record's values; braces in the values are text.

    >>> filled("{name} wrote {{{text}}}.", {"name": "Ada", "text": "{name}"})
    'Ada wrote {{name}}.'
    """
    return _PLACE.sub(lambda match: match.group()[0] if match.group(1) is None else record[match.group(1)], template)
