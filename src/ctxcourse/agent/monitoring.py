"""What the tools that only read say of services, metrics, logs, deployments and runbooks at a given time."""

from __future__ import annotations

from datetime import datetime, timedelta

from ctxcourse.agent.arguments import Refused, in_range, one_of
from ctxcourse.agent.loglines import LEVELS, holds, log_lines, terms
from ctxcourse.agent.signals import UNITS, Signals
from ctxcourse.agent.world import World
from ctxcourse.plain import shown

_DAY = 24 * 60
_MOST_VALUES = 40
_USUAL_VALUES = 12


class Monitoring:
    """Answers as text, in UTC; all raise Refused for a question that cannot be answered."""

    def __init__(self, world: World, seed: int) -> None:
        self._world, self._seed = world, seed
        self._signals = Signals(world, seed)

    def services(self, team: str | None, tier: int | None) -> str:
        """Return the services of a team and a tier, or all, each with both and with what it depends on."""
        team = None if team is None else self._world.team(team)
        found = [each for each in self._world.services if team in (None, each.team) and tier in (None, each.tier)]
        if not found:
            of_team, in_tier = f" of the team {team}" if team else "", "" if tier is None else f" in tier {shown(tier)}"
            raise Refused(f"there is no service{of_team}{in_tier}; leave an argument out to see more")
        return "\n".join(
            f"{each.name}: team {each.team}, tier {each.tier}, depends on {', '.join(each.depends_on) or 'nothing'}"
            for each in found
        )

    def status(self, name: str, region: str | None, now: datetime) -> str:
        """Return the health of a service, region by region."""
        service = self._world.service(name)
        regions = list(service.regions)
        if region is not None:
            regions = [one_of(f"region of {service.name}", region, regions)]
        lines = [f"{service.name} at {now:%H:%M} UTC: {self._signals.state(service.name, now)}"]
        for each in regions:
            answering, there = self._signals.answering(service.name, each, now)
            errors, latency = (
                _shown(metric, self._signals.value(service.name, metric, now, each))
                for metric in ("error_rate", "latency_p99")
            )
            lines.append(
                f"{each}: error rate {errors} %, latency p99 {latency} ms, {answering} of {there} instances answer"
            )
        return "\n".join(lines)

    def metrics(self, name: str, metric: str, minutes: int, step: int | None, now: datetime) -> str:
        """Return a metric's values up to now, with the least, the greatest and the latest, and those of the day before.

        Without a step there are about twelve values.
        """
        service = self._world.service(name).name
        in_range("minutes", minutes, 1, 7 * _DAY, "metrics are kept for a week")
        step = max(1, round(minutes / _USUAL_VALUES)) if step is None else in_range("step_minutes", step, 1, 7 * _DAY)
        number = minutes // step + 1
        if number > _MOST_VALUES:
            raise Refused(
                f"{minutes} minutes in steps of {step} are {number} values, and at most {_MOST_VALUES} are returned; "
                f"take step_minutes of {-(-minutes // (_MOST_VALUES - 1))} or more"
            )
        times = [now - timedelta(minutes=step * back) for back in reversed(range(number))]
        values = self._signals.series(service, metric, times)
        before = self._signals.series(service, metric, [time - timedelta(days=1) for time in times])
        stamp = "%H:%M" if minutes < _DAY else "%m-%d %H:%M"
        least, greatest, latest = (_shown(metric, each) for each in (min(values), max(values), values[-1]))
        return "\n".join(
            [
                f"{metric} of {service} in {UNITS[metric]}, every {step} min, UTC:",
                ", ".join(f"{time:{stamp}} {_shown(metric, value)}" for time, value in zip(times, values, strict=True)),
                f"least {least}, greatest {greatest}, latest {latest}",
                f"the day before: least {_shown(metric, min(before))}, greatest {_shown(metric, max(before))}",
            ]
        )

    def logs(self, name: str, query: str, level: str, minutes: int, limit: int, now: datetime) -> str:
        """Return the log lines of a service that hold all words of a query, newest first."""
        service = self._world.service(name).name
        in_range("minutes", minutes, 1, _DAY, "logs are kept for a day")
        in_range("limit", limit, 1, 50)
        wanted = terms(query)
        if not wanted:
            raise Refused(f"'query' has no word to search for: {shown(query)}; give one that a line would contain")
        written = log_lines(self._world, self._seed, service, now - timedelta(minutes=minutes), now)
        written = [line for line in written if LEVELS.index(line.level) >= LEVELS.index(level)]
        found = [line for line in reversed(written) if holds(line, wanted)]
        period = f"the {minutes} minutes before {now:%H:%M} UTC"
        if not found:
            asked = " and ".join(shown(term) for term in wanted)
            return (
                f"None of the {len(written)} lines that {service} logged in {period}"
                f"{'' if level == LEVELS[0] else f' at level {level} or above'} holds {asked}. Take one word alone, or "
                "a longer period."
            )
        head = f"{len(found)} {'line' if len(found) == 1 else 'lines'} of {service} in {period}"
        head += f", the newest {limit}:" if len(found) > limit else ", newest first:"
        return "\n".join([head, *(str(line) for line in found[:limit])])

    def deployments(self, name: str, hours: int, rolled_back: bool, now: datetime) -> str:
        """Return the deployments of a service, newest first, perhaps without those that were rolled back by now."""
        service = self._world.service(name).name
        in_range("hours", hours, 1, 24 * 90, "ninety days")
        known = [each for each in self._world.deployments if each.service == service and each.time <= now]
        lines = []
        for each in sorted(known, key=lambda deployment: deployment.time, reverse=True):
            undone = each.rolled_back is not None and each.rolled_back <= now
            if each.time > now - timedelta(hours=hours) and (rolled_back or not undone):
                outcome = f"rolled back at {each.rolled_back:%H:%M}" if undone else "succeeded"
                lines.append(f"{each.version}, {each.time:%Y-%m-%d %H:%M} UTC, {each.author}, {outcome}: {each.change}")
        if lines:
            return "\n".join([f"Deployments of {service} in the last {hours} h:", *lines])
        last = max(known, key=lambda deployment: deployment.time)
        return f"No deployment of {service} in the last {hours} h; {last.version} came {last.time:%Y-%m-%d %H:%M} UTC."

    def runbook(self, name: str, symptom: str) -> str:
        """Return the runbook of a service for a symptom: checks and steps, numbered."""
        found = self._world.runbook(self._world.service(name).name, symptom)
        return "\n".join(
            [
                f"Runbook {found.service}: {found.symptom} (changed {found.changed} by {found.author})",
                "Checks:",
                *(f"{number}. {text}" for number, text in enumerate(found.checks, start=1)),
                "Steps:",
                *(f"{number}. {text}" for number, text in enumerate(found.steps, start=1)),
            ]
        )


def _shown(metric: str, value: float) -> str:
    return f"{value:.2f}" if metric == "error_rate" else f"{value:.0f}"
