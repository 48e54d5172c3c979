"""Lockstep decoding: the next tokens of many prompts in one pass, so that the weights are read once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ctxcourse.model.answers import Answer, Profile
from ctxcourse.model.attention import Piece
from ctxcourse.model.lookup import Lookup
from ctxcourse.model.tree import Node

FIRST_GUESS = 3
"""Tokens that prompt lookup guesses at first: with the row before them four, which cost no more than one."""
MOST_GUESSED = 15
"""Most tokens guessed in a pass, for all prompts together, once a first guess was right in a row."""

Forward = Callable[[list[Piece], list[int]], tuple[Any, float]]


class Live:
    """A prompt that is being answered.

    Attributes:
        end: the node at which the prompt ends.
        numbers: its places in the call; several where equal prompts were given.
        tail: a node, not in the tree yet, with the tokens generated so far that have been computed.
        next: the token to compute next, or -1 when the answer is complete.
        streak: right guesses since the last wrong one, with those just before it in its pass.
    """

    def __init__(self, ids: Sequence[int], end: Node, numbers: list[int]) -> None:
        self.end, self.numbers = end, numbers
        self.answer = Answer()
        self.tail = Node([], end, answer=True)
        self.next = -1
        self.lookup = Lookup(ids)
        self.streak = 0


class Lockstep:
    """Generates answers side by side.

    Args:
        forward: runs a pass over pieces, and returns the logits after the rows asked for and the seconds it took.
        ends: token ids that end an answer.
        max_new_tokens: the limit of every answer.
        progress: is told how many tokens of the answers are settled.
        profile: where the counts go.
    """

    def __init__(
        self,
        forward: Forward,
        ends: set[int],
        max_new_tokens: int,
        progress: Callable[[int], None],
        profile: Profile,
    ) -> None:
        self.forward, self.ends, self.limit = forward, ends, max_new_tokens
        self.progress, self.profile = progress, profile

    def run(self, lives: list[Live]) -> Iterator[Live]:
        """Generate the answers of prompts whose first token is known as ``next``; yield each when it is complete."""
        for live in lives:
            self._take(live, [live.next])
        while lives:
            yield from (live for live in lives if live.next < 0)
            lives = [live for live in lives if live.next >= 0]
            if lives:
                self._step(lives)

    def _step(self, lives: list[Live]) -> None:
        guesses = self._guesses(lives)
        pieces = [
            Piece(live.tail, live.tail.done, [live.next, *guess]) for live, guess in zip(lives, guesses, strict=True)
        ]
        rows = sum(len(piece.ids) for piece in pieces)
        logits, seconds = self.forward(pieces, list(range(rows)))
        best: list[int] = logits.argmax(-1).tolist()
        row = 0
        for live, guess in zip(lives, guesses, strict=True):
            chosen = best[row : row + 1 + len(guess)]
            row += len(chosen)
            right = next((i for i, token in enumerate(guess) if token != chosen[i]), len(guess))
            live.tail.tokens += [live.next, *guess[:right]]
            live.tail.done = len(live.tail.tokens)
            live.answer.seconds += seconds * len(chosen) / rows
            live.streak = right if right < len(guess) else live.streak + right
            self.profile.guessed += len(guess)
            self.profile.taken += right
            self._take(live, chosen[: right + 1])
        self.profile.decode_seconds += seconds
        self.profile.decode_steps += 1
        self.profile.decode_rows += rows

    def _guesses(self, lives: list[Live]) -> list[list[int]]:
        """Return guesses for each prompt, in the rows that are cheap: more of them where guesses were right."""
        spare = max(0, MOST_GUESSED + 1 - len(lives))
        guesses = []
        for live in lives:
            most = MOST_GUESSED if live.streak >= FIRST_GUESS else FIRST_GUESS
            guess = live.lookup.guess(min(most, spare, self.limit - len(live.answer.new_ids) - 1))
            spare -= len(guess)
            guesses.append(guess)
        return guesses

    def _take(self, live: Live, tokens: list[int]) -> None:
        """Append new tokens to an answer, up to its end."""
        new = live.answer.new_ids
        for token in tokens:
            if token in self.ends:
                live.answer.stop_reason, live.next = "stop", -1
                self.progress(self.limit - len(new))
                return
            new.append(token)
            live.lookup.add([token])
            live.next = token if len(new) < self.limit else -1
            self.progress(1)
            if live.next < 0:
                return
