"""Forty turns of one incident: what the user says to the agent, and at which minute.

Two messages are planted. Turn 2 sets a standing rule (the employee number under which tickets are filed), turn 19
states a fact (the affected shard, confirmed by the payments team); turn 40 asks for a ticket that needs both. No other
message of the user repeats either.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from ctxcourse.agent.loop import Turn

RULE_TURN, FACT_TURN, LAST_TURN = 2, 19, 40
"""Where the two facts are planted, and where both are needed; turns count from 1."""


@cache
def incident() -> tuple[str, tuple[Turn, ...]]:
    """Return the system message, and the forty turns in order.

    >>> system, turns = incident()
    >>> len(turns), "4417" in turns[RULE_TURN - 1].text, "pay-shard-7" in turns[FACT_TURN - 1].text
    (40, True, True)
    """
    content = json.loads((files("ctxcourse.samples") / "incident.json").read_text(encoding="utf-8"))
    return content["system"], tuple(Turn(turn["minute"], turn["says"]) for turn in content["turns"])
