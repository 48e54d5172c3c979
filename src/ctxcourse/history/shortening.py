"""Every older text of a conversation brought down to one length, by any way to shorten a text.

Nothing is left out: each message is still there, with its role and its calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ctxcourse.history.protocol import Compressed, HistoryError, Shorten, checked_size, joined, newest, parted
from ctxcourse.history.summaries import SummaryError
from ctxcourse.messages import Message
from ctxcourse.plain import checked_string, kind, shown
from ctxcourse.tokens import Counter

__all__ = ["Shortening"]


@dataclass(frozen=True)
class Shortening:
    """Shorten the longest of the older texts, evenly, until the whole render has at most ``budget`` tokens.

    ``shorten`` is a way to shorten a text (`Shorten`), such as `truncate`, `key_sentences` or a `RecursiveSummary`. It
    is asked to bring every text above one length down to that length, the largest at which the sum fits; if the whole
    render still is too large, the longest once more. Steps stay whole: the newest ``keep_last`` messages, and the rest
    of the step in which they begin, are untouched, and so are tool calls and system messages.

    What comes back as an empty text or no shorter is not used; what comes back longer than was asked for is used if it
    is shorter than before, and not shortened again. Where that does not fit, HistoryError says by how much; if no
    length of a token or more could fit, before anything is shortened. Where nothing is older than the messages to be
    kept, the conversation is an unchanged copy, and a note says how much it is over.

    >>> from ctxcourse.history import key_sentences
    >>> talk = [{"role": "user", "content": f"Question {number}. It is quite a long one."} for number in range(20)]
    >>> made = Shortening(budget=400, shorten=key_sentences).compress(talk, tok)
    >>> made.tokens_after <= 400, made.messages[0]["content"], made.messages[-4:] == talk[-4:]
    (True, 'Question 0.', True)
    """

    budget: int
    shorten: Shorten
    keep_last: int = 4

    def __post_init__(self) -> None:
        for name in ("budget", "keep_last"):
            object.__setattr__(self, name, checked_size(getattr(self, name), name))
        if not callable(self.shorten):
            raise HistoryError(
                f"shorten must be a callable that takes a text, a budget and a counter, not {kind(self.shorten)}: "
                f"{shown(self.shorten)}"
            )

    def compress(self, messages: Any, counter: Counter) -> Compressed:
        """Return the conversation with its older texts shortened; an unchanged copy up to the budget."""
        opening, units = parted(messages)
        whole = joined([opening], units)
        before = counter.count_prompt(whole)
        if before <= self.budget:
            return Compressed(whole, before, before)
        split = len(units) - newest(units, self.keep_last)
        if not split:
            note = f"{before - self.budget:,} tokens over the budget, but nothing is older than what is kept"
            return Compressed(whole, before, before, notes=(note,))
        return _Run(self, counter, before, opening, joined(units[:split]), joined(units[split:])).compressed()


@dataclass
class _Run:
    """One run of `Shortening.compress` on a conversation in which something has to go."""

    rule: Shortening
    counter: Counter
    before: int
    opening: list[Message]
    old: list[Message]
    tail: list[Message]
    refused: int = 0
    no_summary: bool = False
    sizes: dict[int, int] = field(default_factory=dict)
    """The tokens of the texts that may become shorter, by their place among the older messages."""

    def compressed(self) -> Compressed:
        """Return the conversation with its longest texts shortened as often as the whole render asks for it."""
        paid = _spent(self.rule.shorten)
        made, after = list(self.old), self.before
        places = [place for place, message in enumerate(self.old) if message["role"] != "system"]
        self.sizes = {place: self.counter.count_text(self.old[place]["content"]) for place in places}
        while after > self.rule.budget:
            length = _length(self.sizes.values(), after - self.rule.budget)
            if not length:
                raise self._too_large(after, _spent(self.rule.shorten) - paid)
            for place in [place for place, size in self.sizes.items() if size > length]:
                made[place] = {**made[place], "content": self._shorter(made[place]["content"], place, length)}
            after = self.counter.count_prompt([*self.opening, *made, *self.tail])
        dropped = sum(new != old for new, old in zip(made, self.old, strict=True))
        notes = [f"{dropped} of {len(self.old)} older messages shortened"]
        notes += [f"shortened texts not used, empty or no shorter: {self.refused}"] if self.refused else []
        spent, whole = _spent(self.rule.shorten) - paid, [*self.opening, *made, *self.tail]
        return Compressed(whole, self.before, after, spent, dropped, tuple(notes), self.no_summary)

    def _shorter(self, text: str, place: int, length: int) -> str:
        """Return a text shortened, or as it was where that does not gain; what is not below the length is settled."""
        size = self.sizes.pop(place)
        try:
            short = checked_string(self.rule.shorten(text, length, self.counter), "a shortened text")
        except SummaryError:
            self.refused, self.no_summary = self.refused + 1, True
            return text
        reached = self.counter.count_text(short)
        if reached >= size or (text.strip() and not short.strip()):
            self.refused += 1
            return text
        if reached <= length:
            self.sizes[place] = reached
        return short

    def _too_large(self, after: int, spent: int) -> HistoryError:
        """Return the error that says how much there would be with a token left of each text, or what else is wrong."""
        least = after - sum(max(size - 1, 0) for size in self.sizes.values())
        refused = f" ({self.refused} came back empty or no shorter)" if self.refused else ""
        return HistoryError(
            f"with one token left of each older text that can be shortened{refused}, it all takes {least:,} tokens, "
            f"{least - self.rule.budget:,} more than the budget of {self.rule.budget:,} ({spent:,} tokens spent): "
            "raise the budget or keep fewer messages"
        )


def _length(sizes: Iterable[int], excess: int) -> int:
    """Return the largest length to which longer texts can come down for ``excess`` tokens to go; 0 where none does.

    >>> _length([10, 4, 7], excess=5)
    6
    """
    sizes = list(sizes)
    fits, too_many = 0, max(sizes, default=0)
    while too_many - fits > 1:
        length = (fits + too_many) // 2
        if sum(max(size - length, 0) for size in sizes) >= excess:
            fits = length
        else:
            too_many = length
    return fits


def _spent(shorten: Shorten) -> int:
    """Return the tokens that a way to shorten a text has spent so far, as it says itself."""
    spent: int = getattr(shorten, "spent", 0)
    return spent
