"""The platform of the incident as data: services, people, tickets, deployments, runbooks and the rota.

Everything here is fixed and carries its time; what has not happened at a given time is left out by whoever asks.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

from ctxcourse.agent.arguments import Refused, one_of
from ctxcourse.plain import shown
from ctxcourse.retrieval.relevance import words

_DAY_SHIFT = (6, 18)  # hours, UTC
_MOST_PEOPLE = 5
_SHORTEST_PART = 3  # letters of a name that are enough to look for it


@dataclass(frozen=True)
class Service:
    """A service in production; ``regions`` holds its instances by region, ``missing`` those that an incident costs."""

    name: str
    team: str
    tier: int
    depends_on: tuple[str, ...]
    regions: Mapping[str, int]
    hosts: tuple[str, ...]
    missing: int = 0


@dataclass(frozen=True)
class Person:
    """An employee; the number has four digits."""

    number: int
    name: str
    team: str
    role: str

    @property
    def handle(self) -> str:
        """The name in the chat.

        >>> Person(1376, "Bram de Wit", "identity", "engineer").handle
        '@bram.de.wit'
        """
        return "@" + ".".join(words(self.name))


@dataclass(frozen=True)
class Deployment:
    """A version that was put into production, and when it was rolled back, if ever."""

    service: str
    version: str
    time: datetime
    author: str
    change: str
    rolled_back: datetime | None = None


@dataclass(frozen=True)
class Runbook:
    """What to check and to do about one symptom of a service; ``also`` holds other words for the symptom."""

    service: str
    symptom: str
    also: str
    changed: str
    author: str
    checks: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One thing that happened to a ticket: something done, or something said; perhaps a new status or owner."""

    time: datetime
    who: str
    does: str = ""
    says: str = ""
    status: str = ""
    owner: str = ""


@dataclass(frozen=True)
class Ticket:
    """A ticket with all that ever happens to it; its first entry is its opening."""

    number: str
    title: str
    service: str
    severity: str
    reporter: str
    description: str
    entries: tuple[Entry, ...]
    links: tuple[str, ...] = ()
    shard: str = ""

    def until(self, time: datetime) -> tuple[Entry, ...]:
        """Return what has happened to it so far, in order; nothing if it is not open yet."""
        return tuple(entry for entry in self.entries if entry.time <= time)


@dataclass(frozen=True)
class World:
    """All of it; ``began`` is the minute 0 of the incident, ``next_ticket`` the number of the next ticket to be filed.

    ``curves``, ``metrics`` and ``logs`` are read by `ctxcourse.agent.signals` and `ctxcourse.agent.loglines`.
    """

    began: datetime
    next_ticket: int
    services: tuple[Service, ...]
    people: tuple[Person, ...]
    rota: Mapping[str, Mapping[str, str]]
    deployments: tuple[Deployment, ...]
    tickets: tuple[Ticket, ...]
    runbooks: tuple[Runbook, ...]
    curves: Mapping[str, list[list[float]]]
    metrics: Mapping[str, Mapping[str, Any]]
    logs: tuple[Mapping[str, Any], ...]

    def service(self, name: str) -> Service:
        """Return the service of a name, in any case; Refused, with those near it, if there is none."""
        named = {service.name: service for service in self.services}
        return named[one_of("service", name, named)]

    def team(self, name: str) -> str:
        """Return the name of a team as it is written; Refused, with those near it, if there is none."""
        return one_of("team", name, self.rota)

    def person(self, number: int) -> Person:
        """Return the employee of a number; Refused if there is none. No other number is given away."""
        for person in self.people:
            if person.number == number:
                return person
        raise Refused(
            f"there is no employee with the number {shown(number)}; ask whoever gave it to you, or search by name "
            "with get_employee"
        )

    def people_named(self, name: str) -> list[Person]:
        """Return the employees whose name has every word of ``name``, whole or its first three letters and more.

        Raises Refused if there are none, or too many to list.
        """
        wanted = words(name)
        found = [person for person in self.people if wanted and all(_part_of(person.name, word) for word in wanted)]
        if not found:
            raise Refused(
                f"nobody's name matches {shown(name)}; give the full name or one of its words, as it is spelt"
            )
        if len(found) > _MOST_PEOPLE:
            raise Refused(f"{len(found)} names match {shown(name)}; give more of the name")
        return found

    def on_call(self, team: str, time: datetime) -> tuple[Person, int]:
        """Return who is on call for a team at a time, and the hour (UTC) at which the shift ends."""
        begins, ends = _DAY_SHIFT
        by_day = begins <= time.hour < ends
        name = self.rota[team]["day" if by_day else "night"]
        return next(person for person in self.people if person.name == name), ends if by_day else begins

    def runbook(self, service: str, symptom: str) -> Runbook:
        """Return the runbook of a service that shares most words with a symptom; Refused, with all, if none does."""
        there = [runbook for runbook in self.runbooks if runbook.service == service]
        wanted = set(words(symptom)) - set(words(service))
        shared = [len(wanted & {*words(runbook.symptom), *words(runbook.also)}) for runbook in there]
        if not any(shared):
            if there:
                listed = ", ".join(runbook.symptom for runbook in there)
                raise Refused(f"{service} has no runbook for {shown(symptom)}; its runbooks are for: {listed}")
            listed = ", ".join(dict.fromkeys(runbook.service for runbook in self.runbooks))
            raise Refused(f"{service} has no runbook; the services that have one are: {listed}")
        return there[shared.index(max(shared))]


@functools.cache
def load_world() -> World:
    """Return the platform of the incident; it never changes.

    >>> len(load_world().services), load_world().service("payments-api").team
    (12, 'payments')
    """
    source = files("ctxcourse.samples") / "operations_world.json"
    held: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return World(
        began=_time(held["began"]),
        next_ticket=held["next_ticket"],
        services=_all(Service, held["services"]),
        people=_all(Person, held["people"]),
        rota=held["rota"],
        deployments=_all(Deployment, held["deployments"]),
        tickets=_all(Ticket, [{**each, "entries": _all(Entry, each["entries"])} for each in held["tickets"]]),
        runbooks=_all(Runbook, held["runbooks"]),
        curves=held["curves"],
        metrics=held["metrics"],
        logs=tuple(held["logs"]),
    )


def _all(kind: Any, rows: Iterable[Mapping[str, Any]]) -> tuple[Any, ...]:
    """Return the rows as objects of one kind: lists become tuples, texts under a name of a time become times."""
    return tuple(
        kind(
            **{
                key: _time(value)
                if key in ("time", "rolled_back")
                else tuple(value)
                if isinstance(value, list)
                else value
                for key, value in row.items()
            }
        )
        for row in rows
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text + "+00:00")


def _part_of(name: str, word: str) -> bool:
    parts = words(name)
    return word in parts or (len(word) >= _SHORTEST_PART and any(part.startswith(word) for part in parts))
