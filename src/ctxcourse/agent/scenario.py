"""Forty turns of one incident: what the user says to the agent, at which minute, and the run that ships recorded.

Two messages are planted. Turn 2 sets a standing rule (the employee number under which tickets are filed), turn 19
states a fact (the affected shard, confirmed by the payments team); turn 40 asks for a ticket that needs both. No other
message of the user repeats either.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import as_file, files

from ctxcourse.agent.loop import Turn
from ctxcourse.agent.transcript import Transcript, read_transcript
from ctxcourse.errors import CourseError

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
    return content["system"], tuple(
        Turn(turn["minute"], turn["says"], turn.get("tool_choice", "auto")) for turn in content["turns"]
    )


def shipped_run() -> Transcript:
    """Return the recorded run of the incident, with the provenance that says which model made it, when and how.

    ``ctxcourse agent run FILE`` makes a new one. Raises CourseError where this version ships none.
    """
    recording = files("ctxcourse.samples") / "forty_turns.jsonl"
    if not recording.is_file():
        raise CourseError("no recorded run ships with this version yet: name the file of a transcript")
    with as_file(recording) as path:
        return read_transcript(path)
