"""Conversations in OpenAI's chat format: brought to one form at the border, known good inside.

A *message* is one entry; a *step* is an assistant message with its tool calls and all their results, never split; a
*turn* is a user message and everything up to the next one.
"""

from typing import Any

from ctxcourse.pairing import Message, fill_ids, first_problem, repaired
from ctxcourse.plain import MessageError, checked_string, checked_text, copy_json, kind, shown, strict_json
from ctxcourse.toolschemas import Tool, normalise_tools

__all__ = [
    "Message",
    "MessageError",
    "Tool",
    "check_pairs",
    "normalise",
    "normalise_tools",
    "paired",
    "repair",
    "split_system",
    "steps",
    "turns",
]

ROLES = ("system", "user", "assistant", "tool")
_MAPPED = {"developer": "system", "function": "tool"}
_MEANT = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "gpt": "assistant",
    "tool_result": "tool",
    "ipython": "tool",
}
_TEXT_PARTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}


def normalise(messages: Any) -> list[Message]:
    """Return the messages in one form, as fresh copies that share nothing with the input.

    In that form ``content`` is always a string (null becomes empty, text parts are joined without a separator), tool
    calls read ``{"id", "type": "function", "function": {"name", "arguments"}}`` with the arguments as a dict, the roles
    are system, user, assistant and tool (developer becomes system, function becomes tool), and keys that no template
    renders, such as time stamps, are gone. Calls without an id get one, and so do the results that answer them.
    Whether calls and results are paired is not checked here: see `check_pairs`.

    Raises MessageError, naming the index, for whatever a template would drop, mangle or crash on: other roles, parts
    that are not text, arguments that are no JSON object, content of another type.

    >>> normalise([{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}])
    [{'role': 'system', 'content': 'Be brief.'}]
    >>> normalise([{"role": "assistant", "content": None}])
    [{'role': 'assistant', 'content': ''}]
    """
    if not isinstance(messages, list | tuple):
        raise MessageError(
            f"messages must be a list of dicts, not {kind(messages)}: {shown(messages)}; one question is written "
            '[{"role": "user", "content": "…"}]'
        )
    normal = [_normal_message(message, index) for index, message in enumerate(messages)]
    fill_ids(normal)
    return normal


def _normal_message(message: Any, index: int) -> Message:
    where = f"message {index}"
    if not isinstance(message, dict):
        advice = "; call its model_dump()" if hasattr(message, "model_dump") else ""
        raise MessageError(f"{where} must be a dict, not {kind(message)}: {shown(message)}{advice}")
    role = _role(message, where)
    where = f"{where} ({role})"
    calls = _calls(message, where)
    normal: Message = {"role": role, "content": _content(message, bool(calls), where)}
    name = message.get("name")
    if name is not None:
        normal["name"] = checked_string(name, f"{where}: the name")
    if calls:
        if role != "assistant":
            raise MessageError(f"{where} makes tool calls: only an assistant message can; change its role")
        normal["tool_calls"] = calls
    answers = _identifier(message, "tool_call_id", where)
    if answers:
        if role != "tool":
            raise MessageError(f"{where} has a tool_call_id: only a tool result has one; change its role")
        normal["tool_call_id"] = answers
    return normal


def _role(message: Message, where: str) -> str:
    role = message.get("role")
    if isinstance(role, str):
        role = _MAPPED.get(role, role)
        if role in ROLES:
            return role
        meant = _MEANT.get(role.lower(), role.lower())
        advice = f"; did you mean {meant!r}?" if meant in ROLES else ""
        raise MessageError(
            f"{where} has the role {shown(role)}, which the template would drop without a word: use one of "
            f"{', '.join(ROLES)}{advice}"
        )
    found = f"it is {shown(role)}" if "role" in message else f"it has the keys {shown(list(message))}"
    raise MessageError(f"{where} needs a role, one of {', '.join(ROLES)}; {found}")


def _content(message: Message, calls: bool, where: str) -> str:
    if message.get("audio") is not None:
        raise MessageError(f"{where} holds audio, which a text model cannot read: pass its transcript as content")
    content = message.get("content")
    if content is None:
        refusal = message.get("refusal")
        if isinstance(refusal, str):
            return checked_text(refusal, where)
        if "content" in message or calls:
            return ""
        raise MessageError(
            f"{where} has no content, only the keys {shown(list(message))}: add 'content', which may be an empty string"
        )
    if isinstance(content, str):
        return checked_text(content, where)
    if isinstance(content, list | tuple):
        return "".join(_part(part, f"{where}, part {i}") for i, part in enumerate(content))
    raise MessageError(
        f"{where}: the content must be a string, not {kind(content)}: {shown(content)}; data is passed as text, for "
        "example with json.dumps"
    )


def _part(part: Any, where: str) -> str:
    if isinstance(part, str):
        return checked_text(part, where)
    if not isinstance(part, dict):
        raise MessageError(f"{where} must be a dict with a type, not {kind(part)}: {shown(part)}")
    named = part.get("type")
    if not isinstance(named, str) or named not in _TEXT_PARTS:
        what = f"of type {shown(named)}" if "type" in part else f"without a type, with keys {shown(list(part))}"
        raise MessageError(f"{where} is {what}: only text parts can be rendered; describe it in words or remove it")
    text = part.get(_TEXT_PARTS[named])
    if not isinstance(text, str):
        raise MessageError(f"{where} ({named}): its text must be a string, not {kind(text)}: {shown(text)}")
    return checked_text(text, where)


def _calls(message: Message, where: str) -> list[dict[str, Any]]:
    calls, single = message.get("tool_calls"), message.get("function_call")
    if single is not None:
        if calls:
            raise MessageError(f"{where} has both tool_calls and function_call: keep tool_calls")
        calls = [{"function": single}]
    if calls is None:
        return []
    if not isinstance(calls, list | tuple):
        raise MessageError(f"{where}: tool_calls must be a list, not {kind(calls)}: {shown(calls)}")
    return [_call(call, f"{where}, call {i}") for i, call in enumerate(calls)]


def _call(call: Any, where: str) -> dict[str, Any]:
    if not isinstance(call, dict):
        raise MessageError(f"{where} must be a dict, not {kind(call)}: {shown(call)}")
    if call.get("type") not in (None, "function"):
        raise MessageError(f"{where} is of type {shown(call['type'])}: only 'function' can be rendered")
    identifier = _identifier(call, "id", where)
    function = call.get("function", call)
    if not isinstance(function, dict):
        raise MessageError(f"{where}: 'function' must be a dict, not {kind(function)}: {shown(function)}")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise MessageError(f"{where} needs the name of a function, a string; it is {shown(name)}")
    checked_text(name, f"{where}, name")
    place = f"{where} ({name}{', id ' + repr(identifier) if identifier else ''})"
    made = {
        "type": "function",
        "function": {"name": name, "arguments": _arguments(function.get("arguments"), place)},
    }
    return {"id": identifier, **made} if identifier else made


def _identifier(holder: Message, key: str, where: str) -> str | None:
    value = holder.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise MessageError(f"{where}: {key} must be a string, not {kind(value)}: {shown(value)}")
    return checked_text(value, f"{where}, {key}")


def _arguments(arguments: Any, where: str) -> dict[str, Any]:
    value = arguments
    if isinstance(value, str):
        try:
            value = strict_json(value) if value.strip() else None
        except (ValueError, RecursionError) as error:
            raise MessageError(
                f"{where}: the arguments are no valid JSON ({error}): {shown(arguments)}; correct them or pass a dict"
            ) from None
        if isinstance(value, str):
            raise MessageError(f"{where}: the arguments were encoded twice: {shown(arguments)}; encode them once")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise MessageError(f"{where}: the arguments must be a JSON object, not {kind(value)}: {shown(arguments)}")
    copy: dict[str, Any] = copy_json(value, f"{where}, arguments")
    return copy


def check_pairs(messages: Any) -> None:
    """Raise MessageError unless every tool call has its result directly behind it and every result its call.

    The error names the id and the indices. Ids must be unique in the conversation; results of parallel calls may come
    in any order.

    >>> check_pairs([{"role": "tool", "tool_call_id": "c1", "content": "42"}])
    Traceback (most recent call last):
        ...
    ctxcourse.plain.MessageError: message 0 answers the call 'c1', which no message makes: remove it or add ...
    """
    paired(messages)


def paired(messages: Any) -> list[Message]:
    """Return a normalised copy of a conversation whose calls and results are known to be paired.

    Raises MessageError as `normalise` and `check_pairs` do.
    """
    normal = normalise(messages)
    problem = first_problem(normal)
    if problem:
        raise MessageError(problem)
    return normal


def repair(messages: Any) -> list[Message]:
    """Return a normalised copy in which calls and results are paired, losing as little as possible.

    A result that stands elsewhere is moved behind its call; a result that answers no call, a second result for one
    call and a call that is never answered are removed; an assistant message left with neither text nor calls goes too;
    a call that bears an id already used gets a new one. A conversation that was in order is unchanged.

    >>> repair([{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "c1", "content": "42"}])
    [{'role': 'user', 'content': 'Hi'}]
    """
    return repaired(normalise(messages))


def split_system(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """Return the system messages that open a normalised conversation, and the rest.

    A system message further down is rendered where it stands, so it belongs to the rest.
    """
    opening = next((i for i, message in enumerate(messages) if message["role"] != "system"), len(messages))
    return messages[:opening], messages[opening:]


def steps(messages: Any) -> list[list[Message]]:
    """Return the conversation as its steps: an assistant message with its calls and all results, or one message.

    Joined in order, the steps are the normalised conversation. Raises MessageError as `check_pairs` does.

    >>> [len(step) for step in steps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])]
    [1, 1]
    """
    units: list[list[Message]] = []
    for message in paired(messages):
        if message["role"] == "tool":
            units[-1].append(message)
        else:
            units.append([message])
    return units


def turns(messages: Any) -> list[list[Message]]:
    """Return the conversation as its turns: each user message with everything up to the next one.

    The system messages that open the conversation belong to no turn; what else precedes the first user message is a
    turn of its own. Raises MessageError as `check_pairs` does.

    >>> len(turns([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]))
    1
    """
    units: list[list[Message]] = []
    for message in split_system(paired(messages))[1]:
        if message["role"] == "user" or not units:
            units.append([])
        units[-1].append(message)
    return units
