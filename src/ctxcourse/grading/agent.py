"""The far end of the `student` proxy: answers requests about a namespace with data.

The grader sends the text of this file to the student's kernel, before the student's cells; in the instructor's own
notebook the same code runs in place. It needs the standard library only, and imports nothing of this package.
Whatever the student's code does to it, it can at most send another answer, and to send the right one is to have
computed it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def make_agent(namespace: dict[str, Any]) -> Callable[[str], str]:
    """Return ``serve(request) -> reply``, both JSON texts, for the names of ``namespace``."""
    import collections
    import json

    cap, deepest = 2_000_000, 40
    encode = json.JSONEncoder(allow_nan=False, ensure_ascii=True, separators=(",", ":")).encode
    decode = json.JSONDecoder().decode
    # Bound here, so that a notebook which shadows a builtin still gets its answers through.
    type_, isinstance_, repr_, getattr_, callable_, len_ = type, isinstance, repr, getattr, callable, len
    str_, int_, float_, bool_, list_, tuple_, dict_ = str, int, float, bool, list, tuple, dict
    set_, frozenset_, exception, base_exception = set, frozenset, Exception, BaseException
    value_error, key_error = ValueError, KeyError
    views: tuple[type, ...] = (collections.deque, type({}.keys()), type({}.values()), type({}.items()))
    handles: list[Any] = []

    def pack(value: Any, depth: int = 0) -> Any:
        if depth > deepest:
            raise value_error("the result is nested too deeply")
        kind = type_(value)
        if value is None or kind is bool_ or kind is str_ or kind is int_:
            return value
        if kind is float_:
            return value if value - value == 0 else {"$": "float", "v": repr_(value)}
        if kind is list_:
            return [pack(item, depth + 1) for item in value]
        if kind is tuple_:
            return {"$": "tuple", "v": [pack(item, depth + 1) for item in value]}
        if kind is dict_:
            return {"$": "dict", "v": [[pack(k, depth + 1), pack(v, depth + 1)] for k, v in value.items()]}
        if kind is set_ or kind is frozenset_:
            return {"$": "set", "v": [pack(item, depth + 1) for item in value]}
        return pack_other(value, kind, depth)

    def pack_other(value: Any, kind: type, depth: int) -> Any:
        # Subclasses (named tuples, default dicts, enums with a value) and arrays become the plain data they hold.
        if isinstance_(value, str_):
            return str_.__str__(value)
        if isinstance_(value, float_):
            return pack(float_.__float__(value), depth)
        if isinstance_(value, int_):
            return int_.__int__(value)
        if isinstance_(value, dict_):
            return pack(dict_(dict_.items(value)), depth)
        if isinstance_(value, tuple_):
            return pack(tuple_(tuple_.__iter__(value)), depth)
        if isinstance_(value, list_):
            return pack(list_(list_.__iter__(value)), depth)
        if isinstance_(value, views):
            return pack(list_(value), depth)
        if isinstance_(value, (set_, frozenset_)):
            return {"$": "set", "v": [pack(item, depth + 1) for item in list_(value)]}
        if kind.__module__ in ("numpy", "torch") and callable_(getattr_(value, "tolist", None)):
            return pack(value.tolist(), depth)
        handles.append(value)
        return {"$": "handle", "v": len_(handles) - 1, "type": kind.__qualname__[:80]}

    def unpack(value: Any) -> Any:
        if type_(value) is list_:
            return [unpack(item) for item in value]
        if type_(value) is not dict_:
            return value
        tag, inner = value["$"], value["v"]
        if tag == "tuple":
            return tuple_(unpack(item) for item in inner)
        if tag == "set":
            return set_(unpack(item) for item in inner)
        if tag == "float":
            return float_(inner)
        if tag == "dict":
            return dict_((unpack(k), unpack(v)) for k, v in inner)
        if tag == "name":
            return lookup(inner)
        return handles[inner]

    class Missing(Exception):
        pass

    def lookup(name: str) -> Any:
        try:
            return namespace[name]
        except key_error:
            raise Missing(name) from None

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        try:
            if request["op"] == "get":
                handle = request["handle"]
                found = lookup(request["name"]) if handle is None else getattr_(handles[handle], request["name"])
                return {"ok": pack(found)}
            arguments, keywords = unpack(request["args"]), unpack(request["kwargs"])
            return {"ok": pack(handles[request["handle"]](*arguments, **keywords))}
        except Missing as error:
            return {"missing": str_(error)}
        except base_exception as error:
            try:
                message = str_(error)[:2000]
            except exception:
                message = "(the message cannot be shown)"
            return {"error": [type_(error).__name__[:100], message]}

    def serve(text: str) -> str:
        request = decode(text)
        head = {"nonce": request["nonce"]}
        try:
            reply = encode({**head, **answer(request)})
        except base_exception as error:
            return encode({**head, "error": [type_(error).__name__[:100], "the result cannot be sent as data"]})
        if len_(reply) > cap:
            return encode({**head, "error": ["ResultTooLarge", f"the result takes {len_(reply)} characters"]})
        return reply

    return serve
