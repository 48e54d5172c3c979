"""The prose in a tool's schema: cut to fewer words, or gathered for a search, while what a call depends on stays.

A JSON schema mixes two kinds of key: keywords such as ``description``, which mean something to the schema, and names of
properties, which mean something to the tool. A property may well be *called* ``description``, and its place alone tells
which of the two a key is. So the schema is walked keyword by keyword, and never searched.

What this module does not do: judge which words the model needs. Fewer words are cheaper and may be too few; measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.history.sentences import split_sentences
from ctxcourse.plain import shown
from ctxcourse.toolschemas import Tool, normalise_tools

# Where a schema holds other schemas, by keyword: JSON Schema 2020-12, and what drafts 4 to 2019-09 had besides.
_ONE_OR_LISTED = frozenset(
    {
        *("additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "contentSchema", "else", "if"),
        *("items", "not", "oneOf", "prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    }
)
_NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})

# What a validator ignores and a reader may not: the keyword, and what its value must be to be one.
_ANNOTATIONS = {"description": str, "title": str, "$comment": str, "examples": list}

# The parts of a function that are schemas; the second is written by transformers' get_json_schema.
_SCHEMAS = ("parameters", "return")

_INSIDE_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolTextError(CourseError, ValueError):
    """A number of sentences that cannot be kept; the text says what can."""


def trim_prose(tool: Any, sentences: int | None = 1, parameters: bool = False) -> Tool:
    """Return a copy of a tool with less prose, in the form of `normalise_tools`; it takes the same calls as before.

    The tool's description keeps its first ``sentences``; None keeps it whole, and 0 or an empty one leaves it out. The
    schema of the parameters loses its ``description``, ``title``, ``examples`` and ``$comment`` at every level, or,
    where ``parameters`` is true, has its descriptions cut to as many sentences and keeps the rest. Names, types, enums,
    constants, defaults, references and everything else stay as they are: also a property that is called ``title``, and
    an enum that lists the word ``description``.

    Raises MessageError for what is no tool, and ToolTextError unless ``sentences`` is an integer from 0 up or None.

    >>> trim_prose({"name": "get_time", "description": "Return the time. Ask often.", "parameters": {
    ...     "properties": {"title": {"type": "string", "title": "Title", "description": "A property."}}}})["function"]
    {'name': 'get_time', 'description': 'Return the time.', 'parameters': {'properties': {'title': {'type': 'string'}}}}
    """
    countable = isinstance(sentences, int) and not isinstance(sentences, bool) and sentences >= 0
    if sentences is not None and not countable:
        raise ToolTextError(f"sentences must be an integer from 0 up, or None for all, not {shown(sentences)}")
    trimmed = normalise_tools([tool])[0]
    function = _cut(trimmed["function"], sentences)
    for key in _SCHEMAS:
        if key in function:
            function[key] = _trimmed(function[key], sentences, parameters)
    return {**trimmed, "function": function}


def search_text(tool: Any) -> str:
    """Return what a query can be held against: the tool's name, its description and the names of its parameters.

    Names in camel case are parted into their words; `ctxcourse.retrieval.words` parts the others. The prose of the
    parameters is left out: it names other tools and formats more often than what the tool is for.

    Raises MessageError for what is no tool.

    >>> search_text({"name": "getTicket", "description": "Return one.", "parameters": {"properties": {"ticketId": {}}}})
    'get Ticket Return one. ticket Id'
    """
    function = normalise_tools([tool])[0]["function"]
    names = [function["name"], *property_names(function.get("parameters"))]
    parted = [_INSIDE_CAMEL_CASE.sub(" ", name) for name in names]
    return " ".join(part for part in (parted[0], function.get("description", ""), *parted[1:]) if part)


def property_names(schema: Any) -> list[str]:
    """Return the names of all properties that a JSON schema defines, at every level, each once, in order.

    >>> property_names({"properties": {"when": {"anyOf": [{"properties": {"day": {}}}, True]}, "title": {}}})
    ['when', 'title', 'day']
    """
    names: dict[str, None] = {}

    def visit(part: Any) -> Any:
        if isinstance(part, dict):
            properties = part.get("properties")
            names.update(dict.fromkeys(properties if isinstance(properties, dict) else ()))
            _rebuilt(part, visit)
        return part

    visit(schema)
    return list(names)


def _trimmed(schema: Any, sentences: int | None, prose: bool) -> Any:
    """Return a schema, which may be a boolean, without its prose or with less of it."""
    if not isinstance(schema, dict):
        return schema
    if prose:
        kept = _cut(schema, sentences)
    else:
        kept = {key: value for key, value in schema.items() if not isinstance(value, _ANNOTATIONS.get(key, ()))}
    return _rebuilt(kept, lambda part: _trimmed(part, sentences, prose))


def _rebuilt(schema: dict[str, Any], visit: Callable[[Any], Any]) -> dict[str, Any]:
    """Return a schema in which every schema directly inside it is replaced by what ``visit`` makes of it."""
    new = {}
    for key, value in schema.items():
        if key in _ONE_OR_LISTED:
            new[key] = [visit(part) for part in value] if isinstance(value, list) else visit(value)
        elif key in _NAMED and isinstance(value, dict):
            new[key] = {name: visit(part) for name, part in value.items()}
        else:
            new[key] = value
    return new


def _cut(holder: dict[str, Any], sentences: int | None) -> dict[str, Any]:
    """Return a copy whose description has at most so many sentences, and is left out if that leaves none of it."""
    text = holder.get("description")
    if sentences is None or not isinstance(text, str):
        return dict(holder)
    kept = "".join(split_sentences(text)[:sentences]).strip()
    return {**holder, "description": kept} if kept else {key: holder[key] for key in holder if key != "description"}
