"""The published figures of the two needle experiments, as data, each with the words they were published in.

They come from the chapter that this course follows, and were measured on Qwen2.5-0.5B-Instruct in float32; the model
that this course runs by default is another one of that family and size, so that a difference may be the model's. What
this module does not do: fill in what was not published.
"""

from __future__ import annotations

from typing import NamedTuple


class PublishedLength(NamedTuple):
    """A length's prompt: records, prompt tokens, the share of hits where one was given, and the source's words."""

    records: int
    tokens: int
    share: float | None
    words: str


class PublishedPosition(NamedTuple):
    """What is known of some depths: trials, hits, answers with another record's number, and the source's words."""

    n: int
    hits: int
    other_record: int
    words: str

    @property
    def share(self) -> float:
        """The share of hits."""
        return self.hits / self.n


LENGTH: dict[int, float] = {1: 0.90, 3: 0.55, 8: 0.15}
"""The share of hits by records, of 20 trials each, the needle in the middle."""

LENGTHS: tuple[PublishedLength, ...] = (
    PublishedLength(1, 97, LENGTH[1], "1 record, 97 tokens, 90 %: both misses are wrong numbers, one off by one digit"),
    PublishedLength(3, 159, LENGTH[3], "3 records, 159 tokens, 55 %"),
    PublishedLength(8, 315, LENGTH[8], "8 records, 315 tokens, 15 %"),
    PublishedLength(25, 853, None, "about 853 tokens a call: flat and low from 8 records on"),
    PublishedLength(140, 4_477, None, "flat and low from there to 140 records, 4,477 tokens"),
)
"""The same with prompt sizes; where no share was given, ``share`` is None."""

RECORDS = 25
POSITION: dict[str, PublishedPosition] = {
    "first": PublishedPosition(32, 27, 1, "first position 27 of 32: five misses, one of them a neighbour's number"),
    "others": PublishedPosition(256, 51, 136, "the other eight depths: 205 misses in 256, 136 another record's number"),
}
"""Of a list of `RECORDS`, 32 trials: the first of nine depths, and the eight others taken together."""
