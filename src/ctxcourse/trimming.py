"""Cutting one component of a prompt down to its limit: texts to whole tokens, lists to whole entries.

Every function takes the component, a limit in tokens, ``cost`` (what a shortened component costs in its prompt) and a
counter, and returns what is kept, at most ``limit``, with a note that says in words what is not.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ctxcourse.messages import Message, Tool, steps, turns
from ctxcourse.tokens import Counter, truncate

Cost = Callable[[Any], int]


def cut_text(text: str, limit: int, cost: Cost, counter: Counter) -> tuple[str, str]:
    """Keep the beginning of a text, to a whole token; an empty text where not one fits."""
    whole = allowed = counter.count_text(text)
    piece = text
    while allowed > 0 and (excess := cost(piece) - limit) > 0:
        allowed = max(0, min(allowed, counter.count_text(piece)) - excess)
        piece = truncate(text, allowed, counter)
    return piece, f"cut to {counter.count_text(piece):,} of {whole:,} tokens"


def cut_documents(documents: Sequence[str], limit: int, cost: Cost, counter: Counter) -> tuple[tuple[str, ...], str]:
    """Keep documents from the front; the first that does not fit is cut, the others are left out."""
    kept = tuple(documents[: _most(len(documents), lambda n: cost(tuple(documents[:n])), limit)])
    piece, note = cut_text(documents[len(kept)], limit, lambda text: cost((*kept, text)), counter)
    notes = []
    if piece.strip():
        notes.append(f"document {len(kept) + 1} {note}")
        kept = (*kept, piece)
    if len(kept) < len(documents):
        notes.append(f"{len(documents) - len(kept)} of {len(documents)} documents left out")
    return kept, ", ".join(notes)


def cut_tools(tools: Sequence[Tool], limit: int, cost: Cost, counter: Counter) -> tuple[tuple[Tool, ...], str]:
    """Keep whole tools from the front; the note names the others."""
    kept = tuple(tools[: _most(len(tools), lambda n: cost(tuple(tools[:n])), limit)])
    names = ", ".join(tool["function"]["name"] for tool in tools[len(kept) :])
    return kept, f"{len(tools) - len(kept)} of {len(tools)} tools left out: {names}"


def cut_history(
    history: Sequence[Message], limit: int, cost: Cost, counter: Counter
) -> tuple[tuple[Message, ...], str]:
    """Lose the oldest turns; of a last turn that is too large, the oldest steps; of a last text, its end.

    A step that holds a call is kept with all its results or left out whole.
    """
    kept, notes = tuple(history), []
    for name, units in (("turn", turns(list(history))), ("step", steps(turns(list(history))[-1]))):
        fitting = _newest(units, cost, limit)
        kept = _joined(units, max(fitting, 1))
        lost = len(units) - max(fitting, 1)
        if lost:
            notes.append(f"oldest {lost} of {len(units)} {name}s left out")
        if fitting:
            return kept, ", ".join(notes)
    if len(kept) > 1 or kept[0].get("tool_calls"):
        return (), ", ".join([*notes, "last step, a call with its results, left out whole"])
    last = kept[0]
    piece, note = cut_text(last["content"], limit, lambda text: cost(({**last, "content": text},)), counter)
    if not piece.strip():
        return (), ", ".join([*notes, "last message left out"])
    return ({**last, "content": piece},), ", ".join([*notes, f"last message {note}"])


def _newest(units: Sequence[list[Message]], cost: Cost, limit: int) -> int:
    """Return how many of the last units fit."""
    return _most(len(units), lambda number: cost(_joined(units, number)), limit)


def _joined(units: Sequence[list[Message]], last: int) -> tuple[Message, ...]:
    return tuple(message for unit in units[len(units) - last :] for message in unit)


def _most(number: int, cost: Callable[[int], int], limit: int) -> int:
    """Return how many of ``number`` entries fit, by bisection; ``cost`` grows with its argument."""
    fits, too_many = 0, number + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if cost(middle) <= limit:
            fits = middle
        else:
            too_many = middle
    return fits
