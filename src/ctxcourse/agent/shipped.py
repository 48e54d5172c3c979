"""The forty-turn run that ships with the course, recorded once by its model."""

from __future__ import annotations

from importlib.resources import as_file, files

from ctxcourse.agent.transcript import Transcript, read_transcript
from ctxcourse.errors import CourseError


def shipped_run() -> Transcript:
    """Return the recorded run of the incident, with the provenance that says which model made it, when and how.

    ``ctxcourse agent run FILE`` makes a new one. Raises CourseError where this version ships none.
    """
    recording = files("ctxcourse.samples") / "forty_turns.jsonl"
    if not recording.is_file():
        raise CourseError("no recorded run ships with this version yet: name the file of a transcript")
    with as_file(recording) as path:
        return read_transcript(path)
