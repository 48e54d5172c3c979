"""A budget for the context window: caps for its components, and a prompt that keeps to them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, NoReturn

from ctxcourse.errors import CourseError
from ctxcourse.fitted import FittedPrompt, Row
from ctxcourse.messages import Message, MessageError, Tool, normalise_tools, paired
from ctxcourse.plain import checked_string, kind, shown
from ctxcourse.tokens import Counter
from ctxcourse.trimming import cut_documents, cut_history, cut_text, cut_tools

__all__ = ["CAPS", "COMPONENTS", "BudgetError", "ContextBudget", "FittedPrompt", "Row"]

CAPS: Mapping[str, int] = {"system": 1_000, "tools": 2_000, "retrieved": 3_000, "history": 5_000, "query": 500}
"""The published caps, in tokens, for a window of 128,000."""

COMPONENTS = tuple(CAPS)

_CUTS: Mapping[str, Callable[..., tuple[Any, str]]] = {
    "system": cut_text,
    "tools": cut_tools,
    "retrieved": cut_documents,
    "history": cut_history,
    "query": cut_text,
}


class BudgetError(CourseError, ValueError):
    """A budget that cannot hold, or a component that does not fit and may not be cut; the text says by how much."""


@dataclass(frozen=True)
class ContextBudget:
    """A context window shared out: a reserve for the answer, and caps for what goes into the prompt.

    ``window`` and ``generation`` are tokens; ``caps`` gives the most tokens for each of system, tools, retrieved,
    history and query. A component that ``caps`` does not name has no cap of its own and takes what the others leave.
    ``may_cut`` names the components that are shortened when they are too large; any other raises instead. The query
    is not among them unless you say so.

    Raises BudgetError for sizes that are no positive integers, a reserve that leaves no room, caps that come to more
    than is left, and names that are no component.

    >>> ContextBudget(window=8_000, generation=7_000)
    Traceback (most recent call last):
        ...
    ctxcourse.budget.BudgetError: the caps come to 11,500 tokens, but a window of 8,000 with 7,000 kept ...
    """

    window: int = 128_000
    generation: int = 4_000
    caps: Mapping[str, int] = field(default_factory=lambda: dict(CAPS))
    may_cut: Sequence[str] = ("system", "tools", "retrieved", "history")

    def __post_init__(self) -> None:
        object.__setattr__(self, "window", _size(self.window, "window"))
        object.__setattr__(self, "generation", _size(self.generation, "generation"))
        if self.generation >= self.window:
            raise BudgetError(
                f"the {self.generation:,} tokens kept for generation leave no room in a window of {self.window:,} "
                f"({self.generation - self.window:,} over): keep fewer, 2,000 to 4,000 is usual"
            )
        if not isinstance(self.caps, Mapping):
            raise BudgetError(f"caps must be a dict of component and tokens, not {shown(self.caps)}")
        _known(self.caps, "caps")
        caps = {name: _size(cap, f"the cap for {name}") for name, cap in self.caps.items()}
        object.__setattr__(self, "caps", caps)
        if isinstance(self.may_cut, str) or not isinstance(self.may_cut, Sequence | set | frozenset):
            raise BudgetError(f"may_cut must be a list of components, not {shown(self.may_cut)}")
        _known(self.may_cut, "may_cut")
        object.__setattr__(self, "may_cut", tuple(self.may_cut))
        wanted = sum(caps.values())
        if wanted > self.room:
            raise BudgetError(
                f"the caps come to {wanted:,} tokens, but a window of {self.window:,} with {self.generation:,} kept "
                f"for generation leaves {self.room:,}: {wanted - self.room:,} too many; lower them or widen the window"
            )

    @property
    def room(self) -> int:
        """The tokens that a prompt may have: the window less the reserve for generation."""
        return self.window - self.generation

    def fit(
        self,
        counter: Counter,
        *,
        system: str | None = None,
        tools: Any = None,
        retrieved: str | Sequence[str] | None = None,
        history: Any = None,
        query: str | None = None,
    ) -> FittedPrompt:
        """Return a prompt of these components that keeps every cap and fits the window, counted on whole renders.

        The prompt is the system message, the history, and one user message with the retrieved documents (best first)
        and the query, parted by blank lines. What is too large is cut: a text to whole tokens, documents and tools
        from the end, history from its oldest turn, then from the oldest step of its last turn, a call never without
        its results. Room is given to the query first, then to components with a cap, then to those without.

        Raises MessageError for messages, tools or texts that are not valid, and BudgetError, which says by how much,
        where a component does not fit and may not be cut, where nothing of the query would be left, or where the
        system message alone is larger than the whole room.

        >>> fitted = ContextBudget().fit(tok, system="Be brief.", query="Why is the sky blue?")
        >>> [message["role"] for message in fitted.messages], fitted.remaining > 100_000
        (['system', 'user'], True)
        """
        return _Fitting(self, counter, _Parts.of(system, tools, retrieved, history, query)).run()


def _size(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise BudgetError(f"{name} must be an integer number of tokens, not {kind(value)}: {shown(value)}")
    if value <= 0:
        raise BudgetError(f"{name} must be at least 1 token, not {value:,}; leave out what you do not want")
    return int(value)


def _known(names: Any, what: str) -> None:
    for name in names:
        if name not in COMPONENTS:
            raise BudgetError(f"{what} names {shown(name)}, which is no component: there are {', '.join(COMPONENTS)}")


@dataclass(frozen=True)
class _Parts:
    """The components of a prompt, known good."""

    system: str | None
    tools: tuple[Tool, ...] = ()
    retrieved: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()
    query: str | None = None

    @classmethod
    def of(cls, system: Any, tools: Any, retrieved: Any, history: Any, query: Any) -> "_Parts":
        for name, text in (("system", system), ("query", query)):
            if text is not None:
                checked_string(text, name)
        documents = [retrieved] if isinstance(retrieved, str) else retrieved
        if not isinstance(documents, list | tuple | None):
            raise MessageError(f"retrieved must be a list of texts, not {kind(retrieved)}: {shown(retrieved)}")
        for index, document in enumerate(documents or ()):
            checked_string(document, f"retrieved document {index}")
        past = paired([] if history is None else history)
        for index, message in enumerate(past):
            if message["role"] == "system":
                raise MessageError(f"history message {index} is a system message: pass its text as system=…")
        kept = tuple(document for document in documents or () if document.strip())
        return cls(system, tuple(normalise_tools(tools)), kept, tuple(past), query)

    def messages(self) -> list[Message]:
        opening = [] if self.system is None else [{"role": "system", "content": self.system}]
        texts = [*self.retrieved, *([self.query] if self.query else [])]
        asks = texts or self.query is not None
        closing = [{"role": "user", "content": "\n\n".join(texts)}] if asks else []
        return [*opening, *self.history, *closing]


@dataclass
class _Fitting:
    """One run of `ContextBudget.fit`: components are added to a draft one by one, each measured on whole renders."""

    budget: ContextBudget
    counter: Counter
    wanted: _Parts

    def run(self) -> FittedPrompt:
        self.draft = _Parts(system=None if self.wanted.system is None else "")
        self.size = self.scaffolding = self._count(self.draft)
        if self.scaffolding > self.budget.room:
            raise BudgetError(
                f"the room of {self.budget.room:,} tokens is {self.scaffolding - self.budget.room:,} too small for the "
                f"{self.scaffolding:,} tokens that the template writes around an empty prompt: enlarge the window"
            )
        order = sorted(COMPONENTS, key=lambda name: (name != "query", name not in self.budget.caps))
        rows = {name: self._add(name) for name in order}
        return FittedPrompt(
            messages=self.draft.messages(),
            tools=list(self.draft.tools),
            prompt_tokens=self.size,
            scaffolding=self.scaffolding,
            rows=tuple(rows[name] for name in COMPONENTS),
            window=self.budget.window,
            generation=self.budget.generation,
        )

    def _count(self, parts: _Parts) -> int:
        return self.counter.count_prompt(parts.messages(), list(parts.tools))

    def _add(self, name: str) -> Row:
        """Put a component, or as much of it as is allowed, into the draft."""
        whole, cap = getattr(self.wanted, name), self.budget.caps.get(name)
        room = self.budget.room - self.size
        limit = room if cap is None else min(cap, room)
        kept, note = whole, ""
        wanted = self._cost(name, whole)
        if name == "system" and wanted > self.budget.room - self.scaffolding:
            most = self.budget.room - self.scaffolding
            raise BudgetError(
                f"the system message takes {wanted:,} tokens, {wanted - most:,} more than the {most:,} left of "
                "the whole window beside generation and scaffolding: shorten it or enlarge the window"
            )
        if wanted > limit:
            if name not in self.budget.may_cut:
                self._refuse(name, wanted, limit)
            kept, note = _CUTS[name](whole, limit, lambda part: self._cost(name, part), self.counter)
            if name == "query" and not kept.strip():
                self._refuse(name, wanted, limit)
        used = self._cost(name, kept)
        self.draft = replace(self.draft, **{name: kept})
        self.size += used
        return Row(name, wanted, cap, used, bool(note), note)

    def _cost(self, name: str, part: Any) -> int:
        return self._count(replace(self.draft, **{name: part})) - self.size

    def _refuse(self, name: str, wanted: int, limit: int) -> NoReturn:
        advice = "" if name in self.budget.may_cut else f", or allow it to be cut with may_cut=[…, {name!r}]"
        raise BudgetError(
            f"{name} takes {wanted:,} tokens, {wanted - limit:,} more than the {limit:,} it may have: shorten it or "
            f"give it a larger cap{advice}"
        )
