"""The ticket tracker: what a search finds, what a ticket shows at a given time, and tickets that are filed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ctxcourse.agent.arguments import Refused, one_of
from ctxcourse.agent.world import Entry, Ticket, World
from ctxcourse.plain import shown
from ctxcourse.retrieval.relevance import query_words, word_overlap

_ENOUGH = 0.5  # of a query's words, for a ticket to match


class Tracker:
    """The tickets of a world and those filed since; it is told the time, and shows nothing that lies after it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tickets = {ticket.number: ticket for ticket in world.tickets}

    def find(self, number: str, now: datetime) -> Ticket:
        """Return a ticket by its number, in any case; Refused, with numbers near it, if there is none by now."""
        return self._tickets[one_of("ticket", number, [each.number for each in self._opened_by(now)])]

    def search(self, query: str, status: str, service: str | None, limit: int, now: datetime) -> str:
        """Return the tickets that have at least half of the query's words, the best match first, then the newest.

        A word of the title counts for more than one of the text. ``status`` may be ``"any"``.
        """
        if not query_words(query):
            raise Refused(f"'query' has no word to search for: {shown(query)}; name the service or the symptom")
        scored = []
        for ticket in self._opened_by(now):
            if service in (None, ticket.service) and status in ("any", _latest(ticket, now, "status")):
                score = word_overlap(query, _text(ticket, now))
                if score >= _ENOUGH:
                    scored.append((score + word_overlap(query, ticket.title) / 2, ticket.until(now)[0].time, ticket))
        if not scored:
            kind = "" if status == "any" else f"{status} "
            about = f" about {service}" if service else ""
            return f"No {kind}ticket{about} matches {shown(query)}. Try one or two other words, or the status any."
        scored.sort(key=lambda found: (found[0], found[1]), reverse=True)
        head = f"{len(scored)} {'ticket' if len(scored) == 1 else 'tickets'}"
        head += f", the best {limit}:" if len(scored) > limit else ":"
        return "\n".join([head, *(_listed(ticket, now) for _, _, ticket in scored[:limit])])

    def show(self, number: str, comments: bool, now: datetime) -> str:
        """Return a ticket in full as it stands by now, perhaps without its comments."""
        ticket = self.find(number, now)
        so_far = ticket.until(now)
        lines = [
            f"{ticket.number} {ticket.title}",
            f"service {ticket.service}{f', shard {ticket.shard}' if ticket.shard else ''}, severity {ticket.severity}, "
            f"status {_latest(ticket, now, 'status')}, owner {_latest(ticket, now, 'owner')}, "
            f"reported by {ticket.reporter}",
            ticket.description,
            "History:",
            *(f"{_time(entry.time, now)} {entry.who}: {entry.does}" for entry in so_far if entry.does),
        ]
        said = [f"{_time(entry.time, now)} {entry.who}: {entry.says}" for entry in so_far if entry.says]
        if comments:
            lines += ["Comments:", *said] if said else ["Comments: none"]
        linked = [each for each in self._opened_by(now) if each.number in ticket.links]
        lines += ["Linked:", *(_listed(each, now) for each in linked)] if linked else ["Linked: none"]
        return "\n".join(lines)

    def file(self, ticket: Ticket) -> None:
        """Add a new ticket."""
        self._tickets[ticket.number] = ticket

    def note(self, number: str, entry: Entry) -> None:
        """Add an entry to a ticket's history, in its place."""
        ticket = self._tickets[number]
        entries = tuple(sorted([*ticket.entries, entry], key=lambda each: each.time))
        self._tickets[number] = replace(ticket, entries=entries)

    def _opened_by(self, now: datetime) -> list[Ticket]:
        return [ticket for ticket in self._tickets.values() if ticket.until(now)]


def _latest(ticket: Ticket, now: datetime, field: str) -> str:
    values: list[str] = [getattr(entry, field) for entry in ticket.until(now)]
    return [value for value in values if value][-1]


def _listed(ticket: Ticket, now: datetime) -> str:
    return f"{ticket.number} {ticket.title} ({_latest(ticket, now, 'status')}, {_latest(ticket, now, 'owner')})"


def _text(ticket: Ticket, now: datetime) -> str:
    said = [entry.says or entry.does for entry in ticket.until(now)]
    return " ".join([ticket.title, ticket.service, ticket.shard, ticket.description, *said])


def _time(time: datetime, now: datetime) -> str:
    return f"{time:%H:%M}" if time.date() == now.date() else f"{time:%Y-%m-%d %H:%M}"
