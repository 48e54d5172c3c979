"""Transcripts: what an agent and its user said, what the tools returned, and which calls to the model that took.

A transcript is kept as JSON lines, so that a long one can be read, compared and cut with any tool for text: a header
with the tools and where the run comes from, then one message a line in OpenAI's form. What this module does not do:
count tokens (see `ctxcourse.agent.accounting`) or run an agent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxcourse.agent.transcript_files import FORMAT, TranscriptError, read_file
from ctxcourse.messages import Message, Tool, normalise_tools, paired, split_system
from ctxcourse.plain import MessageError, copy_json, kind, shown
from ctxcourse.samples import named

__all__ = ["Call", "Transcript", "TranscriptError", "as_lines", "read_transcript", "save_transcript"]


@dataclass(frozen=True)
class Call:
    """One request to the model: its ``number`` from 1, its ``turn``, and the ``index`` of the message that answers."""

    number: int
    turn: int
    index: int


@dataclass(frozen=True)
class Transcript:
    """A conversation with the tools it was held with, and where it comes from.

    What is given is checked and copied: ``messages`` are in the form of `normalise`, with calls and results paired,
    ``tools`` in that of `normalise_tools`; ``provenance`` is a JSON object, empty where nothing is known. The last turn
    need not be finished. Raises MessageError for a conversation, tools or a provenance that cannot be.
    """

    messages: list[Message]
    tools: list[Tool] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.provenance, dict):
            raise MessageError(f"the provenance must be a dict, not {kind(self.provenance)}: {shown(self.provenance)}")
        object.__setattr__(self, "messages", paired(self.messages))
        object.__setattr__(self, "tools", normalise_tools(self.tools))
        object.__setattr__(self, "provenance", copy_json(self.provenance, "the provenance"))

    def calls(self) -> list[Call]:
        """Return the calls to the model, in order: every assistant message is the answer to one.

        A call's turn is the number of user messages before it. So the first turn is 1, and an assistant that speaks
        before its user does so in turn 0.

        >>> hello, hi = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}
        >>> Transcript([hi, hello, hi]).calls()
        [Call(number=1, turn=0, index=0), Call(number=2, turn=1, index=2)]
        """
        made: list[Call] = []
        turn = 0
        for index, message in enumerate(self.messages):
            turn += message["role"] == "user"
            if message["role"] == "assistant":
                made.append(Call(len(made) + 1, turn, index))
        return made

    def prompt(self, call: Call) -> list[Message]:
        """Return the messages that the model was given for a call: all before its answer."""
        return self.messages[: call.index]

    def turns(self) -> dict[int, list[Message]]:
        """Return the messages of each turn by its number: a user message and everything up to the next one.

        The system messages that open the conversation belong to no turn; what else precedes the first user message
        is turn 0.

        >>> hello, hi = {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}
        >>> {turn: len(messages) for turn, messages in Transcript([hello, hi, hello]).turns().items()}
        {1: 2, 2: 1}
        """
        units: dict[int, list[Message]] = {}
        turn = 0
        for message in split_system(self.messages)[1]:
            turn += message["role"] == "user"
            units.setdefault(turn, []).append(message)
        return units


def read_transcript(path: str | Path, repair: bool = False) -> Transcript:
    """Return the transcript in a file: the course's own format, or a conversation in OpenAI's chat format.

    The second may be a JSON list of messages, an object with ``messages`` and perhaps ``tools`` and ``provenance``
    (other keys are ignored), or one message a line. Contents that are null, arguments as JSON text, missing ids and
    several system messages are taken as `normalise` takes them.

    An interrupted run leaves a half-written last line, or calls without all their results at the end. With ``repair``
    the file is read up to there, to the last whole step; faults further up are never repaired. Raises `TranscriptError`
    for a file that cannot be read or holds no transcript, with the file, the line where there is one, and the fault.
    """
    return read_and_tell(path, repair)[0]


def read_and_tell(path: str | Path, repair: bool) -> tuple[Transcript, list[str]]:
    """Return what `read_transcript` returns, and in words what of the file was left out to repair it."""
    path = Path(path)
    messages, tools, provenance, left_out = read_file(path, repair)
    try:
        return Transcript(messages, tools, provenance), left_out
    except MessageError as error:  # messages and tools are known to be good
        raise TranscriptError(f"{named(path)}: {error}") from None


def save_transcript(transcript: Transcript, path: str | Path) -> None:
    """Write a transcript to a file in the course's format; `read_transcript` gives an equal one back.

    The file is written beside its place and then renamed, so that it is never there by half. Raises `TranscriptError`
    where it cannot be written.
    """
    path = Path(path)
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        beside.write_text("".join(f"{line}\n" for line in as_lines(transcript)), encoding="utf-8", newline="")
        beside.replace(path)
    except OSError as error:
        raise TranscriptError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        beside.unlink(missing_ok=True)


def as_lines(transcript: Transcript) -> Iterator[str]:
    """Yield the lines of a transcript's file, without their line breaks: the header, then each message.

    The messages are in OpenAI's form, with the arguments of calls as JSON text, so that other programs take them.

    >>> list(as_lines(Transcript([{"role": "user", "content": "Hello"}])))[1]
    '{"role": "user", "content": "Hello"}'
    """
    yield _json({"format": FORMAT, "tools": transcript.tools, "provenance": transcript.provenance})
    for message in transcript.messages:
        yield _json(_with_arguments_as_text(message))


def _with_arguments_as_text(message: Message) -> Message:
    if "tool_calls" not in message:
        return message
    calls = [
        {**call, "function": {**call["function"], "arguments": _json(call["function"]["arguments"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
