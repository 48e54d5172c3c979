"""A simulated operations environment: twelve tools that tell of an incident, for a seed and a clock.

The platform takes payments. A quarter of an hour after a deployment its latency rises, calls to the ledger time out,
and a certificate that was renewed on the same morning has nothing to do with it; after about an hour the deployment is
rolled back and things calm down. The environment follows the clock, not the agent: whatever the agent does, the
incident takes its course. What it changes are its own tickets and pages.

What no tool says is which shard is the affected one, and in whose name tickets are to be filed. An agent hears both
from people, in its conversation, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ctxcourse.agent.arguments import Refused, checked_arguments, in_range, time_zone
from ctxcourse.agent.monitoring import Monitoring
from ctxcourse.agent.tracker import Tracker
from ctxcourse.agent.world import Entry, Ticket, load_world
from ctxcourse.errors import CourseError
from ctxcourse.plain import kind, shown
from ctxcourse.tools import ToolsetError, catalogue
from ctxcourse.toolschemas import Tool

LAST_MINUTE = 7 * 24 * 60
"""The clock stops a week after the incident began."""

_LONGEST_NAME = 100
_LONGEST_TITLE = 200


@dataclass(frozen=True)
class Filed:
    """A ticket that was filed: its number, the minute, and the arguments of the call as they were given."""

    ticket: str
    minute: int
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Paged:
    """Somebody who was paged: the team, the minute, and the arguments of the call as they were given."""

    team: str
    minute: int
    arguments: dict[str, Any]


class Environment:
    """The twelve tools of the investigation, as `ctxcourse.tools.load_tools` describes them, with a clock.

    Two environments of one seed that are moved and called alike answer alike; the seed changes ids and noise, not the
    story. A call never raises: what cannot be answered is a result that begins with ``Error:`` and says what to do.

    >>> environment = Environment()
    >>> environment.call("get_current_time", {"timezone": "Europe/Lisbon"})
    'Thursday, 2026-05-14 10:40 in Europe/Lisbon (UTC+01:00)'
    >>> environment.call("read_log", {"service": "payments-api"})
    "Error: there is no tool 'read_log'; near it: search_logs, read_runbook"
    """

    def __init__(self, seed: int = 1) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise CourseError(f"the seed must be an integer, not {kind(seed)}: {shown(seed)}")
        self.seed = seed
        self._toolset = catalogue()
        self._world = load_world()
        self._monitoring = Monitoring(self._world, seed)
        self._tracker = Tracker(self._world)
        self._minute = 0
        self._filed: list[Filed] = []
        self._paged: list[Paged] = []
        self._answers: dict[str, Callable[..., str]] = {
            "get_current_time": self._get_current_time,
            "search_logs": self._search_logs,
            "search_tickets": self._search_tickets,
            "get_employee": self._get_employee,
            "get_service_status": self._get_service_status,
            "file_ticket": self._file_ticket,
            "query_metrics": self._query_metrics,
            "get_deployments": self._get_deployments,
            "read_runbook": self._read_runbook,
            "page_on_call": self._page_on_call,
            "get_ticket": self._get_ticket,
            "list_services": self._list_services,
        }

    def tools(self) -> list[Tool]:
        """Return the twelve tools in OpenAI's chat form, as a fresh copy."""
        return self._toolset.tools

    @property
    def minute(self) -> int:
        """Where the clock stands, in minutes since the incident began."""
        return self._minute

    @property
    def now(self) -> datetime:
        """Where the clock stands, in UTC."""
        return self._world.began + timedelta(minutes=self._minute)

    @property
    def filed(self) -> list[Filed]:
        """The tickets that were filed, in order."""
        return list(self._filed)

    @property
    def paged(self) -> list[Paged]:
        """The pages that were sent, in order."""
        return list(self._paged)

    def at(self, minute: int) -> None:
        """Move the clock to a minute of the incident.

        Raises CourseError unless it is an integer from the present minute to `LAST_MINUTE`.
        """
        if isinstance(minute, bool) or not isinstance(minute, int):
            raise CourseError(f"the minute must be an integer, not {kind(minute)}: {shown(minute)}")
        if minute < self._minute:
            raise CourseError(
                f"the clock stands at minute {self._minute} and cannot go back to {minute}: make a new Environment"
            )
        if minute > LAST_MINUTE:
            raise CourseError(f"the environment ends at minute {LAST_MINUTE:,}, a week; {shown(minute)} lies after it")
        self._minute = minute

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Return what a tool says, as the model gets it; errors are results, too.

        The arguments are held against the tool's schema by `ctxcourse.agent.arguments.checked_arguments`, which has the
        rules. Names of services, teams, regions and tickets may be written in any case, and in no other way.

        >>> Environment().call("get_service_status", {"service": "payments"})
        "Error: there is no service 'payments'; near it: payments-api, payment-worker"
        """
        try:
            tool = self._toolset.tool(name[:_LONGEST_NAME] if isinstance(name, str) else name)
            return self._answers[name](**checked_arguments(tool, arguments))
        except (Refused, ToolsetError) as error:
            return f"Error: {error}"

    # The twelve tools. What may be left out has the default that the tool's description gives.

    def _get_current_time(self, timezone: str) -> str:
        there = self.now.astimezone(time_zone(timezone))
        offset = f"{there:%z}"
        return f"{_DAYS[there.weekday()]}, {there:%Y-%m-%d %H:%M} in {timezone} (UTC{offset[:3]}:{offset[3:5]})"

    def _search_logs(self, service: str, query: str, level: str = "debug", minutes: int = 30, limit: int = 20) -> str:
        return self._monitoring.logs(service, query, level, minutes, limit, self.now)

    def _query_metrics(self, service: str, metric: str, minutes: int = 60, step_minutes: int | None = None) -> str:
        return self._monitoring.metrics(service, metric, minutes, step_minutes, self.now)

    def _get_service_status(self, service: str, region: str | None = None) -> str:
        return self._monitoring.status(service, region, self.now)

    def _get_deployments(self, service: str, hours: int = 24, include_rolled_back: bool = True) -> str:
        return self._monitoring.deployments(service, hours, include_rolled_back, self.now)

    def _read_runbook(self, service: str, symptom: str) -> str:
        return self._monitoring.runbook(service, symptom)

    def _list_services(self, team: str | None = None, tier: int | None = None) -> str:
        return self._monitoring.services(team, tier)

    def _search_tickets(self, query: str, status: str = "any", service: str | None = None, limit: int = 10) -> str:
        about = None if service is None else self._world.service(service).name
        return self._tracker.search(query, status, about, in_range("limit", limit, 1, 50), self.now)

    def _get_ticket(self, ticket: str, include_comments: bool = True) -> str:
        return self._tracker.show(ticket, include_comments, self.now)

    def _get_employee(self, employee_number: int | None = None, name: str | None = None) -> str:
        if employee_number is not None:
            found = [self._world.person(employee_number)]
        elif name is not None:
            found = self._world.people_named(name)
        else:
            raise Refused("give an employee_number or a name")
        return "\n".join(
            f"{each.name}: number {each.number}, team {each.team}, {each.role}, chat {each.handle}" for each in found
        )

    def _file_ticket(
        self,
        title: str,
        service: str,
        severity: str,
        employee_number: int,
        description: str | None = None,
        shard: str | None = None,
    ) -> str:
        if len(title) > _LONGEST_TITLE:
            raise Refused(f"'title' has {len(title):,} characters, of at most {_LONGEST_TITLE}; use the description")
        about, reporter = self._world.service(service), self._world.person(employee_number)
        number = f"INC-{self._world.next_ticket + len(self._filed)}"
        self._tracker.file(
            Ticket(
                number=number,
                title=" ".join(title.split()),
                service=about.name,
                severity=severity,
                reporter=reporter.name,
                description=description or "No description.",
                entries=(Entry(self.now, reporter.name, does="opened", status="open", owner=about.team),),
                shard=shard or "",
            )
        )
        arguments = _given(
            title=title,
            description=description,
            service=service,
            shard=shard,
            severity=severity,
            employee_number=employee_number,
        )
        self._filed.append(Filed(number, self._minute, arguments))
        return f"Filed {number} for {about.name}, severity {severity}, owner {about.team}. Nobody was paged."

    def _page_on_call(self, team: str, message: str, urgency: str, ticket: str | None = None) -> str:
        paged = self._world.team(team)
        person, until = self._world.on_call(paged, self.now)
        how, attached = ("phone" if urgency == "high" else "text message"), ""
        if ticket is not None:
            number = self._tracker.find(ticket, self.now).number
            self._tracker.note(number, Entry(self.now, "paging", does=f"paged {person.name} for {paged}"))
            attached = f" {number} is attached."
        arguments = _given(team=team, message=message, urgency=urgency, ticket=ticket)
        self._paged.append(Paged(paged, self._minute, arguments))
        return (
            f"Paged {person.name} ({person.handle}) by {how} at {self.now:%H:%M} UTC, on call for {paged} until "
            f"{until:02}:00 UTC.{attached}"
        )


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
