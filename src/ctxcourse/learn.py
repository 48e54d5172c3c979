"""For students: ``check`` an answer, ask for a ``hint``, see the ``solution`` of a practice question.

Nothing here decides marks; ``check`` shows a few of the cases that an answer must get right and names the
likely mistake.
"""

from __future__ import annotations

import dis
import html
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ctxcourse import questions
from ctxcourse.errors import CourseError
from ctxcourse.mistakes import difference, explain, same, show

__all__ = ["CheckFailed", "NoSolution", "NotAttempted", "case", "check", "hint", "solution"]

TOLERANCE = 1e-9
_NOTHING: Any = object()


class _Short(CourseError):
    """An error that a notebook shows without its traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class CheckFailed(_Short, AssertionError):
    """The answer is wrong in the case that the text describes."""


class NotAttempted(_Short):
    """The answer still is the stub: not wrong, only not there yet."""


class NoSolution(_Short):
    """The question is graded, so that its solution is not part of the course."""


@dataclass(frozen=True)
class Case:
    """One call of the student's function and what must come of it; made by ``case``."""

    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    gives: Any
    raises: type[BaseException] | None
    match: str | None
    hint: str
    mistakes: tuple[tuple[Any, str], ...]
    tolerance: float


@dataclass(frozen=True)
class Checked:
    """What ``check`` returns when every case passes: one line a case, shown as a list of ticks."""

    name: str
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        """The ticks as plain text."""
        return "\n".join([*(f"✓ {line}" for line in self.lines), self.closing])

    @property
    def closing(self) -> str:
        """What passing these examples means, and what it does not."""
        count = len(self.lines)
        passed = "The example passes" if count == 1 else f"All {count} examples pass"
        return f"{passed}; read the question once more for the rest."

    def _repr_html_(self) -> str:
        items = "".join(f"<li>✓ <code>{html.escape(line)}</code></li>" for line in self.lines)
        return f'<ul style="list-style:none;padding-left:0">{items}<li>{self.closing}</li></ul>'


@dataclass(frozen=True)
class Shown:
    """A piece of Markdown for the notebook: a hint or a solution."""

    text: str

    def __repr__(self) -> str:
        """The text itself."""
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def case(
    *arguments: Any,
    gives: Any = _NOTHING,
    raises: type[BaseException] | None = None,
    match: str | None = None,
    hint: str = "",
    mistakes: Mapping[Any, str] | Iterable[tuple[Any, str]] = (),
    tolerance: float = TOLERANCE,
    **named: Any,
) -> Case:
    """One case for ``check``: the arguments, and what the function ``gives`` or ``raises`` for them.

    ``match`` is a regular expression to be found in the exception's text. ``hint`` is shown where a value is wrong,
    not where it is of another kind or an unexpected exception stands in its place. ``mistakes`` pairs wrong values,
    each with a sentence that says how one comes to it, and goes before the hint. ``tolerance`` (relative and
    absolute, 1e-9) holds where a float is compared.

    Raises CourseError where neither or both of ``gives`` and ``raises`` are given.

    >>> case([1, 2], gives=3, mistakes={2: "That is the number of items, not their sum."}).gives
    3
    """
    if (gives is _NOTHING) == (raises is None):
        raise CourseError("a case needs either gives=… (the value asked for) or raises=… (an exception type)")
    pairs = mistakes.items() if isinstance(mistakes, Mapping) else mistakes
    return Case(arguments, named, gives, raises, match, hint, tuple(pairs), tolerance)


def check(function: Any, *cases: Case) -> Checked:
    """Call the student's function for each case, in order, up to the first that fails.

    Returns a displayable list of ticks. A case fails, too, where the function changes one of its arguments.

    Raises NotAttempted for a stub, and CheckFailed with the call, the likely mistake and the case's hint.

    >>> check(sum, case([1, 2], gives=3), case([], gives=0))
    ✓ sum([1, 2]) gives 3
    ✓ sum([]) gives 0
    All 2 examples pass; read the question once more for the rest.
    """
    name = getattr(function, "__name__", None) or type(function).__name__
    if not callable(function):
        raise CheckFailed(f"✗ check() needs the function itself, not {show(function)}: leave its parentheses out.")
    if not cases:
        raise CourseError(f"check({name}) needs at least one case(…)")
    passed: list[str] = []
    for one in cases:
        call = f"{name}({', '.join([*map(show, one.arguments), *(f'{k}={show(v)}' for k, v in one.named.items())])})"
        problem = _problem(function, name, one)
        if problem:
            ticks = [f"✓ {line}" for line in passed]
            left = len(cases) - len(passed) - 1
            rest = [f"· {left} more {'case' if left == 1 else 'cases'} not tried yet"] if left else []
            lines = problem.splitlines()
            raise CheckFailed("\n".join([*ticks, f"✗ {call} {lines[0]}", *(f"  {line}" for line in lines[1:]), *rest]))
        outcome = f"gives {show(one.gives)}" if one.raises is None else f"raises {one.raises.__name__}"
        passed.append(f"{call} {outcome}")
    return Checked(name, tuple(passed))


def hint(name: str) -> Shown:
    """The next hint to the question ``name`` at each call; after the last one, the last again.

    Raises UnknownQuestion for a name that no question has.
    """
    question = questions.find(name)
    count = len(question.hints)
    if not count:
        return Shown(f"There is no hint to {question.title}.")
    number = min(_hints_seen.get(name, 0) + 1, count)
    _hints_seen[name] = number
    last = ", the last" if number == count > 1 else ""
    return Shown(f"**Hint {number} of {count}{last}.** {question.hints[number - 1]}")


def solution(name: str) -> Shown:
    """The solution of a practice question, as code.

    Raises NoSolution for a graded question, UnknownQuestion for a name that no question has.
    """
    question = questions.find(name)
    if question.solution is None:
        hints = f"hint({name!r}) helps, one step at a call" if question.hints else "check() tells you how far you are"
        raise NoSolution(f"{question.title} is graded, so its solution is not in the course: {hints}.")
    return Shown(f"```python\n{question.solution.strip()}\n```")


_hints_seen: dict[str, int] = {}


def _problem(function: Callable[..., Any], name: str, one: Case) -> str | None:
    """What is wrong with the function in this case, the hint included; None where nothing is."""
    arguments, named = copy_data(one.arguments), copy_data(one.named)
    try:
        value = function(*arguments, **named)
    except NotImplementedError:
        if one.raises is None or not issubclass(NotImplementedError, one.raises):
            raise NotAttempted(f"○ {name} is not attempted yet: replace `raise NotImplementedError(…)`.") from None
        return None
    except (Exception, SystemExit) as problem:
        if one.raises is None:
            return explain(problem, function)
        wrong = _wrong_exception(problem, one, function)
        return _with_hint(wrong, one) if wrong else None
    if value is None and one.gives is not None and _is_empty(function):
        raise NotAttempted(f"○ {name} is not attempted yet: its body is empty.")
    if one.raises is not None:
        return _with_hint(f"returns {show(value)}; it should raise {one.raises.__name__}.", one)
    wrong = difference(value, one.gives, one.tolerance)
    if wrong:
        known = next((text for mistake, text in one.mistakes if same(value, mistake, one.tolerance)), None)
        if known:
            return f"{wrong}\n{known}"
        # a hint is about the value; where the kind of thing returned is wrong, the difference says all there is
        return _with_hint(wrong, one) if type(value) is type(one.gives) else wrong
    return _changed(arguments, named, one)


def _with_hint(text: str, one: Case) -> str:
    return f"{text}\n{one.hint}" if one.hint else text


def _wrong_exception(problem: BaseException, one: Case, function: Callable[..., Any]) -> str | None:
    assert one.raises is not None
    if not isinstance(problem, one.raises):
        return f"{explain(problem, function)}\nIt should raise {one.raises.__name__} here."
    if one.match is not None and not re.search(one.match, str(problem)):
        return f"raises {one.raises.__name__}, as it should, but its text {show(str(problem))} lacks {one.match!r}."
    return None


def _changed(arguments: tuple[Any, ...], named: Mapping[str, Any], one: Case) -> str | None:
    for place, ours, theirs in [
        *((f"argument {number}", *pair) for number, pair in enumerate(zip(arguments, one.arguments, strict=True), 1)),
        *((f"argument {key}", named[key], one.named[key]) for key in one.named),
    ]:
        if not same(ours, theirs):
            return (
                f"returns the right value, but changes its {place} from {show(theirs)} to {show(ours)}.\n"
                "The caller still needs it: work on a copy (list(…), dict(…), sorted(…))."
            )
    return None


def copy_data(value: Any) -> Any:
    """Copy lists, tuples, dictionaries and sets all the way down; other objects inside stay the same."""
    if type(value) in (list, tuple, set):
        return type(value)(copy_data(item) for item in value)
    if type(value).__module__ == "numpy" and hasattr(value, "copy"):
        return value.copy()
    if type(value) is dict:
        return {key: copy_data(item) for key, item in value.items()}
    return value


def _is_empty(function: Callable[..., Any]) -> bool:
    """Whether a function's body is nothing but a docstring, ``pass`` or ``…``."""
    code = getattr(function, "__code__", None)
    names = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    if code is None or any(step.opname not in names for step in dis.get_instructions(code)):
        return False
    return all(constant is None or isinstance(constant, str) for constant in code.co_consts)
