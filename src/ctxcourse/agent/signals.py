"""Metric series: what a service measures at a minute, from a normal value, a peak and the course of the incident."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ctxcourse.agent.world import World

UNITS = {
    "error_rate": "% of requests",
    "latency_p99": "ms",
    "requests_per_second": "requests/s",
    "cpu": "%",
    "memory": "%",
    "queue_depth": "jobs waiting",
}
"""The metrics, and what their values are counted in."""

_NOISE = 0.05  # greatest relative departure from the smooth value
_SWING = 0.18  # of the traffic within a day, which is busiest at 14:00 UTC


@dataclass(frozen=True)
class Signals:
    """The metrics of a world for one seed; equal questions have equal answers."""

    world: World
    seed: int

    def value(self, service: str, metric: str, time: datetime, region: str = "") -> float:
        """Return one metric of a service at a time, to the minute, rounded as monitoring shows it.

        The region changes the noise alone.
        """
        normal, peak, curve = self.world.metrics[service][metric]
        smooth = normal + (peak - normal) * self.level(curve, time)
        if metric == "requests_per_second":
            smooth *= 1 + _SWING * math.cos((time.hour + time.minute / 60 - 14) * math.pi / 12)
        draw = random.Random(f"{self.seed}/{service}/{metric}/{region}/{time:%Y-%m-%dT%H:%M}")
        return _rounded(metric, smooth * (1 + _NOISE * draw.uniform(-1, 1)))

    def level(self, curve: str, time: datetime) -> float:
        """Return how far a curve is at a time, from 0 (normal) to 1 (the peak), straight between its points."""
        minute = (time - self.world.began) / timedelta(minutes=1)
        points = self.world.curves[curve]
        if minute <= points[0][0]:
            return points[0][1]
        for (left, low), (right, high) in itertools.pairwise(points):
            if minute <= right:
                return low + (high - low) * (minute - left) / (right - left)
        return points[-1][1]

    def series(self, service: str, metric: str, times: Sequence[datetime]) -> list[float]:
        """Return one metric at several times."""
        return [self.value(service, metric, time) for time in times]

    def state(self, service: str, time: datetime) -> str:
        """Return ``"healthy"`` or ``"degraded"``: more than 1 % errors, or a latency three times the normal one."""
        normal = self.world.metrics[service]["latency_p99"][0]
        failing = self.value(service, "error_rate", time) > 1
        return "degraded" if failing or self.value(service, "latency_p99", time) > 3 * normal else "healthy"

    def answering(self, service: str, region: str, time: datetime) -> tuple[int, int]:
        """Return how many instances of a service answer in a region, and how many there are."""
        known = self.world.service(service)
        first = region == next(iter(known.regions))
        lost = known.missing if first and self.level("failing", time) > 0.4 else 0
        return known.regions[region] - lost, known.regions[region]


def _rounded(metric: str, value: float) -> float:
    if metric == "error_rate":
        return round(value, 2)
    return float(round(value, -1) if value >= 1_000 else round(value))
