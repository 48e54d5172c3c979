"""The near end of the `student` proxy: calls into a student's namespace by JSON, and distrusts what comes back."""

from __future__ import annotations

import json
import math
import secrets
from typing import Any, NoReturn, Protocol

from _pytest.outcomes import Failed

from ctxcourse.grading.agent import make_agent
from ctxcourse.grading.notebooks import STUB

MAX_REPLY = 2_100_000
"""Longest reply that is read, in characters."""
MAX_DEPTH = 50
MAX_KEYS = 2_000
"""Most elements of a set, or keys of a dictionary, other than text and small numbers: they can be made to collide."""


class GradingFailure(Failed):
    """A hidden test failed for a reason of the grader's own.

    It derives from `pytest.fail.Exception`, which is no `Exception`: a test with ``pytest.raises(Exception)`` must not
    pass because the kernel died.

    Attributes:
        cause: a few words for the report, with nothing in it that the student's code could choose.
    """

    cause = "could not be graded"

    def __init__(self, message: str, cause: str = "") -> None:
        super().__init__(message, pytrace=False)
        if cause:
            self.cause = cause


class KernelDied(GradingFailure):
    """The student's kernel ended, or was ended, during the call."""

    cause = "the kernel died"


class CallTimeout(GradingFailure):
    """The call did not come back in time."""

    cause = "no answer in time"


class BadReply(GradingFailure):
    """The kernel's reply is no data that a function could have returned honestly."""

    cause = "the reply was refused"


class NotFinite(GradingFailure):
    """A number that is not finite came back where the test did not say that it may."""

    cause = "returned a number that is not finite"


class MissingName(GradingFailure):
    """The notebook does not define a name that the test asks for."""

    cause = "the name is not defined"


class NotAttempted(GradingFailure):
    """The function is still the stub that the exercise came with."""

    cause = "not attempted"


class StudentError(Exception):
    """An exception raised by the student's code; its text is ``"TypeName: message"``.

    A test that expects one names both: ``pytest.raises(StudentError, match="^ValueError: .*negative")``.
    """

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(f"{type_name}: {message}")
        self.type_name = type_name
        self.message = message


class Transport(Protocol):
    """What carries a request to the student's namespace and its reply back."""

    generation: int
    """Counts the restarts: a handle from before a restart is lost."""

    def send(self, text: str) -> str:
        """Return the reply to a request, or raise a `GradingFailure`."""


class LocalTransport:
    """A transport without a kernel: the agent answers right here, from a namespace of this process."""

    generation = 0

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.send = make_agent(namespace)


def _refuse(self: Handle, *_: object, **__: object) -> NoReturn:
    raise TypeError(
        f"{self!r} is an object in the student's kernel, not data: call it, or read an attribute that is data"
    )


class Handle:
    """An object that stays in the student's kernel: it can be called, and its public attributes read.

    Everything else is refused, comparison first of all: an object equal to everything must not reach a test's ``==``.
    """

    __slots__ = ("_generation", "_id", "_student", "_type")

    def __init__(self, student: Student, id_: int, type_: str) -> None:
        self._student, self._id, self._type = student, id_, type_
        self._generation = student._transport.generation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._student._ask(self, op="get", name=name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the object in the student's kernel, and return its result as data or as another handle."""
        pack = self._student._pack
        return self._student._ask(self, op="call", args=pack(list(args)), kwargs=pack(kwargs))

    def __repr__(self) -> str:
        return f"<the student's {self._type}>"

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __reversed__ = _refuse
    __int__ = __float__ = __index__ = __complex__ = __format__ = __add__ = __radd__ = _refuse
    __hash__ = None  # type: ignore[assignment]


class Name:
    """Stands for a name of the notebook among the arguments of a call; made by `Student.name`."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Student:
    """The names of a student's notebook: ``student.reorder(items, scores)`` calls the student's function.

    Arguments and results travel as data: None, booleans, numbers, text, lists, tuples, sets and dictionaries; numpy
    arrays come back as lists. Other objects come back as a `Handle`. Changes that the student's code makes to its
    arguments are not seen here.

    Args:
        transport: carries the requests.
        finite: refuse NaN and infinities in results, see `allowing_nonfinite`.
    """

    def __init__(self, transport: Transport, finite: bool = True) -> None:
        self._transport, self._finite = transport, finite

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        """Return the notebook's ``name``, for names that this class or Python uses itself."""
        return self._ask(None, op="get", name=name)

    def name(self, text: str) -> Name:
        """Return a stand-in for a name of the notebook, to pass where the student's function takes a callable."""
        return Name(text)

    def allowing_nonfinite(self) -> Student:
        """Return a proxy of the same notebook whose results may hold NaN and infinities."""
        return Student(self._transport, finite=False)

    def _ask(self, handle: Handle | None, **request: Any) -> Any:
        self._check(handle)
        nonce = secrets.token_hex(8)
        request.update(nonce=nonce, handle=None if handle is None else handle._id)
        reply = _parse(self._transport.send(json.dumps(request)))
        self._check(handle)  # the transport may have found the kernel dead, and started another
        if type(reply) is not dict or reply.get("nonce") != nonce or len(reply) != 2:
            raise BadReply("the kernel's reply is malformed")
        if "ok" in reply:
            return self._unpack(reply["ok"])
        if type(reply.get("missing")) is str:
            asked = request["op"] == "get" and handle is None
            text = f"the notebook does not define {request['name'] if asked else str(reply['missing'])[:100]}"
            raise MissingName(text, text if asked else "")
        match reply.get("error"):
            case [str(type_name), str(message)]:
                if type_name == "NotImplementedError" and message.startswith(STUB):
                    raise NotAttempted(message[:200])
                raise StudentError(type_name[:100], message[:2000])
        raise BadReply("the kernel's reply is malformed")

    def _check(self, handle: Handle | None) -> None:
        if handle is not None and handle._generation != self._transport.generation:
            raise KernelDied(f"{handle!r} was lost when the kernel was restarted")

    def _pack(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__ == "numpy" and hasattr(value, "tolist"):
            return self._pack(value.tolist())
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
        if kind is list:
            return [self._pack(item) for item in value]
        if kind in (tuple, set, frozenset):
            return {"$": "tuple" if kind is tuple else "set", "v": [self._pack(item) for item in value]}
        if kind is dict:
            return {"$": "dict", "v": [[self._pack(k), self._pack(v)] for k, v in value.items()]}
        if kind is Name:
            return {"$": "name", "v": value.text}
        if kind is Handle:
            self._check(value)
            return {"$": "handle", "v": value._id}
        raise TypeError(
            f"a {kind.__name__} cannot be sent to the student's kernel: send data, or a name of the notebook"
            " with student.name('…')"
        )

    def _unpack(self, value: Any, depth: int = 0) -> Any:
        if depth > MAX_DEPTH:
            raise BadReply("the reply is nested too deeply")
        if type(value) is list:
            return [self._unpack(item, depth + 1) for item in value]
        if type(value) is not dict:
            return value
        try:
            tag, inner = value["$"], value["v"]
            if tag == "tuple":
                return tuple(self._unpack(item, depth + 1) for item in inner)
            if tag == "set":
                return set(_hashable([self._unpack(item, depth + 1) for item in inner]))
            if tag == "dict":
                keys = _hashable([self._unpack(key, depth + 1) for key, _ in inner])
                return dict(zip(keys, [self._unpack(item, depth + 1) for _, item in inner], strict=True))
            if tag == "handle" and type(inner) is int:
                return Handle(self, inner, "".join(c for c in str(value.get("type"))[:80] if c.isprintable()))
            if tag == "float" and inner in ("nan", "inf", "-inf"):
                if self._finite:
                    raise NotFinite(f"the result holds {inner}, where a finite number is expected")
                return float(inner)
        except (KeyError, TypeError, ValueError):
            pass
        raise BadReply("the reply holds a malformed value")


def _hashable(keys: list[Any]) -> list[Any]:
    if len(keys) > MAX_KEYS:
        for key in keys:
            if not (type(key) is str or key is None or (type(key) in (int, bool) and abs(key) < 2**60)):
                raise BadReply(f"the reply holds more than {MAX_KEYS} keys that are neither text nor small numbers")
    return keys


def _parse(text: object) -> Any:
    if type(text) is not str or len(text) > MAX_REPLY:
        raise BadReply("the kernel's reply is too large, or no text")

    def constant(name: str) -> NoReturn:
        raise ValueError(name)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands twice")
        return found

    def finite(digits: str) -> float:
        number = float(digits)
        if not math.isfinite(number):
            raise ValueError(digits)
        return number

    try:
        return json.loads(text, parse_constant=constant, parse_float=finite, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise BadReply("the kernel's reply is not valid JSON") from None
