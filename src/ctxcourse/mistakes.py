"""Name the likely mistake behind a wrong value or an exception, in words that a student can act on."""

from __future__ import annotations

import linecache
import math
import pprint
import types
from collections.abc import Callable, Mapping
from typing import Any

_KINDS: dict[type, str] = {
    bool: "a truth value",
    int: "a whole number",
    float: "a decimal number",
    str: "a text",
    list: "a list",
    tuple: "a tuple",
    dict: "a dictionary",
    set: "a set",
    frozenset: "a frozen set",
    type(None): "None",
}
_CONTAINERS = (list, tuple, dict, set, frozenset, type(None))
_WIDTH = 100


def difference(actual: Any, expected: Any, tolerance: float) -> str | None:
    """Say how a returned value differs from the expected one; None where it does not.

    Containers must be of the same kind, as ``==`` asks. Where one of two numbers is a float they may differ
    by ``tolerance``, relative to the larger or absolute; NaN equals NaN.
    """
    whole = _whole(actual, expected)
    found = whole or _inner(actual, expected, tolerance, "")
    if found is None or whole or not isinstance(actual, _family(expected)) or not isinstance(expected, _CONTAINERS):
        return found
    return f"returns {show(actual)}; expected is {show(expected)}: {found}"


def explain(problem: BaseException, function: Callable[..., Any]) -> str:
    """Say what an exception of the student's code means and where it was raised."""
    text = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    advice = next((advice for kind, advice in _ADVICE if isinstance(problem, kind)), None)
    if isinstance(problem, TypeError):
        advice = _type_error(str(problem)) or advice
    lines = [f"raises {show(text, limit=300, quote=False)}"]
    place = _place(problem, function)
    if place:
        lines.append(place)
    if advice:
        lines.append(advice)
    return "\n".join(lines)


def show(value: Any, limit: int = _WIDTH, quote: bool = True) -> str:
    """The value in one short line; an object without its own repr is shown by its type, not by its address."""
    if not quote:
        text = str(value)
    elif callable(value) and hasattr(value, "__name__"):
        text = str(value.__name__)
    elif vars(object)["__repr__"] is type(value).__repr__:
        text = f"<{type(value).__name__}>"
    else:
        try:
            text = pprint.pformat(value, width=10**9, sort_dicts=False)  # sets in order
        except Exception as problem:  # a repr of the student's own
            text = f"<{type(value).__name__}, whose repr raises {type(problem).__name__}>"
    text = " ".join(text.splitlines())
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 3 :]}"


def kind(value: Any) -> str:
    """What a value is, in words: ``a list``, ``a decimal number``, or its type's name."""
    return _KINDS.get(type(value), f"an object of type {type(value).__name__}")


def _whole(actual: Any, expected: Any) -> str | None:
    """Mistakes that concern the returned value as a whole."""
    if actual is None and expected is not None:
        return "returns None. Is a `return` missing, or does a branch end without one?"
    if isinstance(actual, types.GeneratorType) and not isinstance(expected, types.GeneratorType):
        return f"returns a generator, not {kind(expected)}. Collect its values: list(…)."
    if isinstance(actual, types.CoroutineType):
        return "returns a coroutine: was it meant to be `async`?"
    if callable(actual) and not callable(expected):
        return f"returns the function {show(actual)} itself. Are its parentheses missing?"
    if isinstance(expected, tuple) and not isinstance(actual, tuple | list) and any(same(actual, e) for e in expected):
        return f"returns {show(actual)} alone; {len(expected)} values are asked for: {show(expected)}."
    if isinstance(actual, tuple) and len(actual) == 1 and same(actual[0], expected):
        return f"returns {show(actual)}, a tuple with one item. Is there a comma behind the value?"
    return None


def same(actual: Any, expected: Any, tolerance: float = 0.0) -> bool:
    """Whether two values are equal in the sense of ``difference``."""
    return _inner(actual, expected, tolerance, "") is None


def _inner(actual: Any, expected: Any, tolerance: float, at: str) -> str | None:
    where = f"{at} is" if at else "returns"
    if type(actual).__module__ == "numpy" and getattr(actual, "shape", None) == ():
        actual = actual.item()
    if type(actual).__module__ == type(expected).__module__ == "numpy":
        actual, expected = actual.tolist(), expected.tolist()
    if isinstance(actual, bool) and _is_number(expected):
        return f"{where} a truth value, {actual}; expected is {show(expected)}."
    if _is_number(actual) and _is_number(expected):
        return None if _close(actual, expected, tolerance) else _number(actual, expected, tolerance, where)
    if isinstance(expected, (*_CONTAINERS, str, bool)) and not isinstance(actual, _family(expected)):
        asked = "None" if expected is None else f"{kind(expected)}, {show(expected)}"
        return f"{where} {kind(actual)}, {show(actual)}; expected is {asked}."
    if isinstance(expected, list | tuple):
        return _sequence(actual, expected, tolerance, at)
    if isinstance(expected, dict):
        return _mapping(actual, expected, tolerance, at)
    if isinstance(expected, set | frozenset):
        return _set(actual, expected, at)
    if _equal(actual, expected):
        return None
    advice = _text_advice(actual, expected) if isinstance(expected, str) else ""
    return f"{where} {show(actual)}; expected is {show(expected)}.{advice}"


def _family(expected: Any) -> type | tuple[type, ...]:
    return (set, frozenset) if isinstance(expected, set | frozenset) else type(expected)


def _sequence(actual: Any, expected: Any, tolerance: float, at: str) -> str | None:
    if len(actual) != len(expected):
        items = "1 item" if len(actual) == 1 else f"{len(actual)} items"
        return f"{at or 'it'} has {items}, not {len(expected)}."
    for number, pair in enumerate(zip(actual, expected, strict=True)):
        found = _inner(*pair, tolerance, f"{at}[{number}]")
        if found:
            shuffled = _same_values(actual, expected, tolerance)
            return f"{at or 'it'} has the right values in another order." if shuffled else found
    return None


def _same_values(actual: Any, expected: Any, tolerance: float) -> bool:
    if len(expected) > 200:  # every item is held against every other
        return False
    left = list(expected)
    for item in actual:
        match = next((place for place, other in enumerate(left) if same(item, other, tolerance)), None)
        if match is None:
            return False
        left.pop(match)
    return True


def _mapping(actual: Mapping[Any, Any], expected: Mapping[Any, Any], tolerance: float, at: str) -> str | None:
    lacks = [f"lacks the key {show(key)}" for key in expected if key not in actual]
    extra = [f"has the key {show(key)}, which nobody asked for" for key in actual if key not in expected]
    if lacks or extra:
        return f"{at or 'it'} {' and '.join([*lacks[:1], *extra[:1]])}."
    found = (_inner(actual[key], expected[key], tolerance, f"{at}[{show(key)}]") for key in expected)
    return next(filter(None, found), None)


def _set(actual: Any, expected: Any, at: str) -> str | None:
    lacks, extra = _ordered(expected - actual), _ordered(actual - expected)
    parts = [f"lacks {show(lacks[0])}" if lacks else "", f"has {show(extra[0])} too many" if extra else ""]
    return f"{at or 'it'} {' and '.join(filter(None, parts))}." if lacks or extra else None


def _number(actual: Any, expected: Any, tolerance: float, where: str) -> str:
    within = f" (within {tolerance:g})" if isinstance(actual, float) or isinstance(expected, float) else ""
    advice = ""
    if actual == -expected:
        advice = " The sign is the wrong way round."
    elif isinstance(actual, int) and isinstance(expected, int) and abs(actual - expected) == 1:
        advice = " That is off by one."
    elif expected and _close(actual, expected * 100, 1e-9):
        advice = " That is 100 times too large: a percentage instead of a fraction?"
    elif expected and _close(actual * 100, expected, 1e-9):
        advice = " That is 100 times too small: a fraction instead of a percentage?"
    elif (
        isinstance(actual, int)
        and isinstance(expected, float)
        and math.isfinite(expected)
        and math.floor(expected) <= actual <= math.ceil(expected)
    ):
        advice = " Is it rounded, or divided with `//`?"
    return f"{where} {show(actual)}; expected is {show(expected)}{within}.{advice}"


def _text_advice(actual: str, expected: str) -> str:
    if actual.strip() == expected.strip():
        return " They differ in the white space at the ends."
    if actual.lower() == expected.lower():
        return " They differ in upper and lower case."
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _close(actual: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(actual, float) or isinstance(expected, float):
        try:
            if math.isnan(actual) or math.isnan(expected):
                return math.isnan(actual) and math.isnan(expected)
            return math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance)
        except OverflowError:  # a whole number that no float can hold
            return False
    return bool(actual == expected)


def _equal(actual: Any, expected: Any) -> bool:
    try:
        return bool(actual == expected)
    except Exception:  # an array's truth value, or an `==` of the student's own
        return False


def _ordered(values: Any) -> list[Any]:
    return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


_ADVICE: list[tuple[type[BaseException], str]] = [
    (ZeroDivisionError, "What should the answer be where there is nothing to divide by?"),
    (IndexError, "Is the list shorter than you think, or empty? Positions count from 0."),
    (KeyError, "Not every dictionary has this key: look with `in`, or use .get()."),
    (UnboundLocalError, "A branch that sets this name was not taken: set it before."),
    (NameError, "Is the name spelled right, and was the cell that defines it run?"),
    (AttributeError, "Is the value of the type that you expect? Look at it before this line."),
    (RecursionError, "The function calls itself without end: which case stops it?"),
    (StopIteration, "next(…) found nothing; give it a default."),
]


def _type_error(text: str) -> str | None:
    if "positional argument" in text or "unexpected keyword argument" in text:
        return "Does the function take the arguments that the question names, in this order?"
    if "NoneType" in text:
        return "A value is None here: does a function before it return nothing?"
    if "unsupported operand" in text or "not supported between" in text or "can only concatenate" in text:
        return "Two values of different types meet here: convert one of them."
    return None


def _place(problem: BaseException, function: Callable[..., Any]) -> str | None:
    """The last line of the traceback that stands in the same file or cell as the student's function."""
    code = getattr(function, "__code__", None)
    found = None
    trace = problem.__traceback__
    while code is not None and trace is not None:
        if trace.tb_frame.f_code.co_filename == code.co_filename:
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            number = trace.tb_lineno - trace.tb_frame.f_code.co_firstlineno + 1
            found = f"in line {number} of {trace.tb_frame.f_code.co_name}" + (f": {line}" if line else "")
        trace = trace.tb_next
    return found
