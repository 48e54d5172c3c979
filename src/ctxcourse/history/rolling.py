"""One running summary in place of everything old: compaction, as agents do it in long sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctxcourse.history.elision import elided
from ctxcourse.history.protocol import Compressed, HistoryError, checked_size, joined, newest, parted
from ctxcourse.history.summaries import (
    INSTRUCTIONS,
    Metered,
    Summarise,
    SummaryError,
    checked_summariser,
    chunks,
    recursive_summary,
    summary_prompt,
    transcript,
)
from ctxcourse.messages import Message
from ctxcourse.tokens import Counter

HEADING = "Summary of the conversation so far, written by a model:\n\n"
"""How the message begins, from the user, that holds a running summary; by this it is known again."""


@dataclass(frozen=True)
class RollingSummary:
    """Past ``threshold`` tokens, replace everything but the newest ``keep_last`` messages by one running summary.

    The summary is a message from the user behind the opening system messages: what users and tools wrote must not gain
    a system message's authority by being retold. It has at most ``summary_tokens``, fewer where less is left under the
    threshold. The next one is written of it and of what has become old since, oldest first, so there is never more than
    one. The summariser reads at most ``chunk_tokens`` of conversation at once. Steps stay whole, so more than
    ``keep_last`` messages may be kept.

    What comes back has at most ``threshold`` tokens, or is an unchanged copy because nothing is older than the messages
    to be kept. Where these leave no room for a summary (a tenth of its tokens), or it is refused because it is empty or
    does not shrink, tool results are elided instead, the newest step's excepted. Where that is not enough, HistoryError
    says by how much, rather than let every turn pay for a summary that does not help.

    >>> talk = [{"role": "user", "content": f"Question {number}, and quite a long one?"} for number in range(50)]
    >>> made = RollingSummary(lambda prompt: "Many questions.", threshold=400, summary_tokens=60).compress(talk, tok)
    >>> made.messages[0]["content"].splitlines()[-1], made.messages[1:] == talk[-4:], made.spent_tokens > 500
    ('Many questions.', True, True)
    """

    summarise: Summarise
    threshold: int = 5_000
    keep_last: int = 4
    summary_tokens: int = 500
    chunk_tokens: int = 20_000
    instructions: str = INSTRUCTIONS

    def __post_init__(self) -> None:
        checked_summariser(self.summarise)
        for name in ("threshold", "keep_last", "summary_tokens", "chunk_tokens"):
            object.__setattr__(self, name, checked_size(getattr(self, name), name))
        if self.summary_tokens >= self.threshold:
            raise HistoryError(
                f"a summary of {self.summary_tokens:,} tokens leaves no room under the threshold of {self.threshold:,} "
                f"({self.summary_tokens - self.threshold:,} over): a tenth of the threshold is usual"
            )

    def compress(self, messages: Any, counter: Counter) -> Compressed:
        """Return the conversation with its old part retold; an unchanged copy up to the threshold."""
        opening, units = parted(messages)
        whole = joined([opening], units)
        before = counter.count_prompt(whole)
        if before <= self.threshold:
            return Compressed(whole, before, before)
        head = units[:1] if units and _text_of_summary(units[0]) else []
        fresh = units[len(head) :]
        split = len(fresh) - newest(fresh, self.keep_last)
        if not split:
            note = f"{before - self.threshold:,} tokens over the threshold, but nothing is older than what is kept"
            return Compressed(whole, before, before, notes=(note,))
        return _Run(self, counter, before, opening, head, fresh[:split], fresh[split:]).compressed()


@dataclass
class _Run:
    """One run of `RollingSummary.compress` on a conversation in which something has to go."""

    rule: RollingSummary
    counter: Counter
    before: int
    opening: list[Message]
    head: list[list[Message]]
    old: list[list[Message]]
    tail: list[list[Message]]

    def compressed(self) -> Compressed:
        """Return the first that fits: tail with stubs (only if it is too large), summary, everything with stubs."""
        self.metered = Metered(self.rule.summarise, self.counter)
        kept, stubs = joined(self.tail), 0
        if self._room(kept) < self._least:
            kept, stubs = _cleared(self.tail, self.counter)
            result = self._result([*joined(self.head, self.old), *kept], stubs, f"{stubs} tool results elided")
            if result.tokens_after <= self.rule.threshold:
                return result
        try:
            summary = self._summary(kept)
            content = [summary_message(summary), *kept]
            notes = [f"{len(joined(self.old))} messages retold in {self.counter.count_text(summary):,} tokens"]
            notes += [f"{stubs} tool results elided"] if stubs else []
            result = self._result(content, len(joined(self.head, self.old)) + stubs, *notes)
            if result.tokens_after <= self.rule.threshold:
                return result
            reason = f"the summary would make it {result.tokens_after:,} tokens"
        except SummaryError as refused:
            reason = str(refused)
        content, stubs = _cleared([*self.head, *self.old, *self.tail], self.counter)
        result = self._result(content, stubs, f"no summary: {reason}", f"{stubs} tool results elided", no_summary=True)
        if result.tokens_after <= self.rule.threshold:
            return result
        raise HistoryError(
            f"{reason}; with {stubs} tool results elided instead, it all takes {result.tokens_after:,} tokens, "
            f"{result.tokens_after - self.rule.threshold:,} more than the threshold of {self.rule.threshold:,} "
            f"({self.metered.spent:,} tokens spent): raise the threshold or keep fewer messages"
        )

    def _result(self, content: list[Message], dropped: int, *notes: str, no_summary: bool = False) -> Compressed:
        whole = [*self.opening, *content]
        after, spent = self.counter.count_prompt(whole), self.metered.spent
        return Compressed(whole, self.before, after, spent, dropped, notes, no_summary)

    @property
    def _least(self) -> int:
        """The fewest tokens that are worth asking a summary in: a tenth of what it may have."""
        return max(1, self.rule.summary_tokens // 10)

    def _room(self, kept: list[Message]) -> int:
        """Return the tokens that the threshold leaves for a summary before the kept messages, negative if none."""
        return self.rule.threshold - self.counter.count_prompt([*self.opening, summary_message("…"), *kept])

    def _summary(self, kept: list[Message]) -> str:
        """Return the summary of the one before and the old messages, which are taken up in pieces, oldest first."""
        rule, counter, metered = self.rule, self.counter, self.metered
        room = self._room(kept)
        if room < self._least:
            raise SummaryError(
                f"beside the {len(kept)} newest messages, which are kept, a summary of {self._least:,} tokens has "
                f"{self._least - room:,} too few"
            )
        most = min(rule.summary_tokens, room)
        summary = _text_of_summary(joined(self.head))
        read = counter.count_text(summary)
        for piece in chunks(transcript(joined(self.old)), rule.chunk_tokens, counter):
            if not piece.strip():
                continue
            read += counter.count_text(piece)
            summary = metered(summary_prompt(piece.strip(), most, summary, rule.instructions))
            size = counter.count_text(summary)
            if not summary or size >= read:
                raise SummaryError(f"the summary was refused: it has {size:,} tokens in place of {read:,}")
            summary = recursive_summary(summary, metered, rule.chunk_tokens, most, counter, rule.instructions).text
        return summary


def summary_message(summary: str) -> Message:
    """Return the message that stands for what a summary retells.

    >>> summary_message("It rained.")["role"]
    'user'
    """
    return {"role": "user", "content": HEADING + summary}


def _text_of_summary(step: list[Message]) -> str:
    """Return the summary that a step is, empty where it is none."""
    if len(step) != 1 or step[0]["role"] != "user" or not step[0]["content"].startswith(HEADING):
        return ""
    text: str = step[0]["content"].removeprefix(HEADING)
    return text.strip()


def _cleared(units: Sequence[list[Message]], counter: Counter) -> tuple[list[Message], int]:
    """Return the steps with their tool results elided, but for the newest step, which nobody has answered yet."""
    content, number = elided(joined(units[:-1]), counter)
    return [*content, *units[-1]], number
