"""Log lines: written minute by minute from patterns, always the same for a seed, and searched by words."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from ctxcourse.agent.world import World
from ctxcourse.retrieval.relevance import fold

LEVELS = ("debug", "info", "warning", "error")
"""The levels of a log line, from the lowest."""

_PLACE = re.compile(r"\{(\w+)\}")
_TERM = re.compile(r'"([^"]*)"|(\S+)')
_NUMBERS = {
    "fast": (18, 96),
    "slow": (1_240, 2_990),
    "late": (6_000, 6_090),
    "waiting": (44, 190),
    "times": (12, 96),
    "rows": (210, 1_980),
    "lag": (4, 28),
    "percent": (93, 96),
    "octet": (40, 41),
}
# The number that a run of the agent has to remember must stand nowhere else, not even inside an id.
_NEVER = "4417"


@dataclass(frozen=True)
class LogLine:
    """One line of a log; the text may go on below, indented, with a stack trace."""

    time: datetime
    level: str
    host: str
    text: str

    def __str__(self) -> str:
        return f"{self.time:%H:%M:%S} {self.level} {self.host} {self.text}"


def log_lines(world: World, seed: int, service: str, start: datetime, end: datetime) -> list[LogLine]:
    """Return what a service logged from ``start`` until just before ``end``, oldest first.

    A pattern has one line in every period of its length, at a second that the seed decides, so that a minute's lines
    do not depend on the question.
    """
    found = [
        line
        for index, pattern in enumerate(world.logs)
        if pattern["service"] == service
        for line in _lines_of(world, seed, f"{service}/{index}", pattern, start, end)
    ]
    return sorted(found, key=lambda line: line.time)


def terms(query: str) -> list[str]:
    """Return what must occur in a line: quoted phrases and single words, case-folded.

    >>> terms('timeout "pool exhausted"')
    ['timeout', 'pool exhausted']
    """
    found = [fold(phrase or word.strip('"')).strip() for phrase, word in _TERM.findall(query)]
    return [term for term in found if term]


def holds(line: LogLine, wanted: list[str]) -> bool:
    """Return whether every term occurs in a line, anywhere: ``timeout`` is found in ``LedgerTimeoutException``."""
    text = fold(str(line))
    return all(term in text for term in wanted)


def _lines_of(
    world: World, seed: int, key: str, pattern: Mapping[str, Any], start: datetime, end: datetime
) -> list[LogLine]:
    every = pattern.get("every", 1)
    first, last = (pattern["at"], pattern["at"] + 1) if "at" in pattern else (pattern.get("from"), pattern.get("to"))
    origin = world.began + timedelta(minutes=first or 0)
    period = timedelta(minutes=every)
    begins = max(start, origin) if first is not None else start
    ends = min(end, world.began + timedelta(minutes=last)) if last is not None else end
    if begins >= ends:
        return []
    lines = []
    for slot in range((begins - origin) // period, (ends - origin) // period + 1):
        draw = random.Random(f"{seed}/{key}/{slot}")
        time = origin + slot * period + timedelta(seconds=draw.randrange(every * 60))
        if begins <= time < ends:
            lines.append(_line(world, pattern, slot, time, draw))
    return lines


def _line(world: World, pattern: Mapping[str, Any], slot: int, time: datetime, draw: random.Random) -> LogLine:
    # In turn, not by chance: in every stretch of the log the shards are named about equally often.
    shards = pattern.get("shards", [1])
    shard = f"pay-shard-{shards[slot % len(shards)]}"

    def filled(place: re.Match[str]) -> str:
        if place[1] in _NUMBERS:
            return str(draw.randint(*_NUMBERS[place[1]]))
        return shard if place[1] == "shard" else _drawn(_IDS[place[1]], draw)

    host = draw.choice(world.service(pattern["service"]).hosts)
    return LogLine(time, pattern["level"], host, _PLACE.sub(filled, pattern["text"]))


_IDS: dict[str, Callable[[random.Random], str]] = {
    "trace": lambda draw: f"{draw.getrandbits(64):016x}",
    "uuid": lambda draw: str(UUID(int=draw.getrandbits(128), version=4)),
    "tx": lambda draw: str(draw.randint(7_100_000, 7_399_999)),
}


def _drawn(make: Callable[[random.Random], str], draw: random.Random) -> str:
    while _NEVER in (text := make(draw)).replace("-", ""):
        pass
    return text
