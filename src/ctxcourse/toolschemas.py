"""Tool catalogues: the forms that people write, brought to the one form that a chat template renders."""

from typing import Any

from ctxcourse.plain import MessageError, copy_json, kind, shown

Tool = dict[str, Any]


def normalise_tools(tools: Any) -> list[Tool]:
    """Return the tools in OpenAI's chat form, ``{"type": "function", "function": {...}}``, as fresh copies.

    Taken are that form, bare function schemas (``name``, ``description``, ``parameters``), and the flat form with
    ``type`` and ``name`` side by side; ``None`` is an empty catalogue. A ``description`` or ``parameters`` that is null
    is left out, since it would be rendered as the word *null*. The order of the tools and of their keys is kept.

    Raises MessageError, naming the tool, for anything else, and for two tools of one name.

    >>> normalise_tools([{"name": "get_time", "parameters": {"type": "object", "properties": {}}}])[0]["type"]
    'function'
    """
    if tools is None:
        return []
    if not isinstance(tools, list | tuple):
        raise MessageError(f"tools must be a list of function schemas, not {kind(tools)}: {shown(tools)}")
    normal: list[Tool] = []
    places: dict[str, int] = {}
    for index, tool in enumerate(tools):
        made = _normal_tool(tool, f"tool {index}")
        name = made["function"]["name"]
        if name in places:
            raise MessageError(
                f"tools {places[name]} and {index} are both called {name!r}: a model could not say which it "
                "means; rename one or leave it out"
            )
        places[name] = index
        normal.append(made)
    return normal


def _normal_tool(tool: Any, where: str) -> Tool:
    if callable(tool):
        raise MessageError(
            f"{where} is a Python callable, {shown(tool)}: pass its schema, a dict with name, description and "
            "parameters (transformers.utils.get_json_schema makes one)"
        )
    if not isinstance(tool, dict):
        raise MessageError(f"{where} must be a dict, not {kind(tool)}: {shown(tool)}")
    outer: Tool = copy_json(tool, where)
    if "function" in outer:
        function = outer["function"]
        if not isinstance(function, dict):
            raise MessageError(f"{where}: 'function' must be a dict, not {kind(function)}: {shown(function)}")
        extra = {key: value for key, value in outer.items() if key not in ("type", "function")}
    else:
        function = {key: value for key, value in outer.items() if key != "type"}
        extra = {}
    if outer.get("type", "function") != "function":
        raise MessageError(f"{where} has the type {shown(outer['type'])}: only 'function' can be rendered")
    _check_function(function, where)
    function = {
        key: value for key, value in function.items() if value is not None or key not in ("description", "parameters")
    }
    return {"type": "function", "function": function, **extra}


def _check_function(function: Tool, where: str) -> None:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        found = f"'name' is {shown(name)}" if "name" in function else f"it has the keys {sorted(function)}"
        raise MessageError(f"{where} needs a name, a string that is not empty; {found}")
    where = f"{where} ({name!r})"
    description = function.get("description")
    if description is not None and not isinstance(description, str):
        raise MessageError(f"{where}: the description must be a string, not {kind(description)}")
    for other in ("input_schema", "inputSchema"):
        if other in function and "parameters" not in function:
            raise MessageError(f"{where} has {other!r}: rename it to 'parameters', as the chat format has it")
    parameters = function.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        raise MessageError(
            f"{where}: the parameters must be a JSON schema, a dict, not {kind(parameters)}: {shown(parameters)}"
        )
