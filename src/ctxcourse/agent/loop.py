"""The agent: a model with tools, an environment that runs them, and what users say, turn by turn.

A turn begins with what the user says. The model answers; what it calls is run, and it is asked again, until it answers
without a call. Once it has used up the turn's calls it may not call (``tool_choice="none"``). Everything stays in the
conversation: forgetting is what `ctxcourse.policies` does to the transcript afterwards.

Left to itself, a model of half a billion parameters is no agent: it repeats the call whose result it has just got, and
then its own last answer, for good. Three rules of this loop help it, and each is in the provenance of a run: a turn may
require a call, a request stands behind the results, and no answer begins with the first token of one of the last
answers or of a sentence of the user's message.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from ctxcourse.agent.transcript import Transcript
from ctxcourse.errors import CourseError
from ctxcourse.history import split_sentences
from ctxcourse.messages import Message
from ctxcourse.pairing import calls_of
from ctxcourse.tools import ToolCall, parse_tool_calls

if TYPE_CHECKING:
    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model
    from ctxcourse.toolschemas import Tool

CALLS_PER_TURN = 1
NEW_TOKENS = 160
REQUEST = "\n\nTell the user in one sentence what this says."
"""What the loop writes behind the last result of an answer's calls."""
UNLIKE = 10
"""How many of the last answers lend no first token to the next; the sentences of the user's message lend none."""

_DECODER = json.JSONDecoder()
_OPENS = re.compile(r"(?:```\w*)?[\s\[]*\Z")  # what may stand between the text and a call without a tag


class AgentError(CourseError, ValueError):
    """A run that cannot be: the message says what was given and what is possible."""


class Turn(NamedTuple):
    """What a user says, and when: minutes since the incident began.

    ``tool_choice`` is "auto", or "required" where something has to be looked up or done before the answer.
    """

    minute: int
    text: str
    tool_choice: Literal["auto", "required"] = "auto"


class Surroundings(Protocol):
    """What an agent acts on: a clock, tools, and what each call of them returns, errors included."""

    @property
    def seed(self) -> int:
        """The seed of whatever is drawn at random there; 0 where nothing is."""

    def tools(self) -> list[Tool]:
        """Return the schemas of the tools."""

    def at(self, minute: int) -> None:
        """Move the clock."""

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Return the result of a tool as the model gets it."""


class Step(NamedTuple):
    """One call to the model, for those who watch: the turn, the number of calls so far, and the completion."""

    turn: int
    call: int
    completion: Completion


def run(
    model: Model,
    turns: Sequence[Turn],
    world: Surroundings,
    *,
    system: str,
    calls_per_turn: int = CALLS_PER_TURN,
    max_new_tokens: int = NEW_TOKENS,
    should_stop: Callable[[], bool] = lambda: False,
    watch: Callable[[Step], None] = lambda _: None,
    command: str | None = None,
) -> Transcript:
    """Let the model work through the turns, greedily, and return the transcript with its provenance.

    Each answer is in the completion store at once, and the environment is deterministic, so that an interrupted run
    goes on where it stopped when it is called again. ``watch`` is told of every call to the model. ``calls_per_turn``
    limits the answers with calls in a turn; one more follows, without.

    Raises `AgentError` without turns and for impossible limits, and what `Model.complete` raises (`WindowError` once
    the conversation has outgrown the window).
    """
    if not turns:
        raise AgentError("there are no turns: give at least one thing that the user says")
    for name, value in (("calls_per_turn", calls_per_turn), ("max_new_tokens", max_new_tokens)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise AgentError(f"{name}={value!r}: it is a whole number from 1 up")
    odd = next((turn.tool_choice for turn in turns if turn.tool_choice not in ("auto", "required")), None)
    if odd is not None:
        raise AgentError(f'tool_choice={odd!r}: for a turn it is "auto" or "required"')
    began = time.perf_counter()
    tools = world.tools()
    messages: list[Message] = [{"role": "system", "content": system}]
    done: list[tuple[list[int], Completion]] = []
    for number, turn in enumerate(turns, start=1):
        world.at(turn.minute)
        messages.append({"role": "user", "content": turn.text})
        for left in reversed(range(calls_per_turn + 1)):
            required = left == calls_per_turn and turn.tool_choice == "required"
            completion = model.complete(
                messages,
                tools,
                max_new_tokens,
                should_stop,
                remember=True,
                tool_choice="none" if not left else "required" if required else "auto",
                unlike=() if required else unlike(turn.text, messages),
            )
            done.append((model.encode_prompt(messages, tools), completion))
            watch(Step(number, len(done), completion))
            message, calls = assistant_message(completion.text, len(done)) if left else _spoken(completion.text)
            messages.append(message)
            if not calls:
                break
            messages += [_result(call, made, world) for call, made in zip(calls, message["tool_calls"], strict=True)]
            messages[-1]["content"] += REQUEST
    arguments = {
        "turns": len(turns),
        "calls_per_turn": calls_per_turn,
        "required": sum(turn.tool_choice == "required" for turn in turns),
        "request": REQUEST.strip(),
        "unlike": UNLIKE,
    }
    return Transcript(messages, tools, _provenance(model, done, max_new_tokens, world.seed, arguments, began, command))


def unlike(text: str, messages: Sequence[Message]) -> list[str]:
    """Return whose first tokens may not begin an answer: the sentences of the user's message, the last answers given.

    Answers are those among ``messages`` that call nothing.

    >>> unlike("Is it slow? Look.", [{"role": "assistant", "content": "No."}])
    ['Is it slow? ', 'Look.', 'No.']
    """
    said = [message["content"] for message in messages if message["role"] == "assistant" and not calls_of(message)]
    return [*split_sentences(text), *said[-UNLIKE:]]


def assistant_message(answer: str, number: int) -> tuple[Message, list[ToolCall]]:
    """Return an answer as a message in OpenAI's form, and the calls in it that can be run.

    What the model wrote before its first call stays as text, and so do calls beside it that cannot be read, as they
    were written. A call that the same answer has made already is left out. An answer in which no call can be read stays
    as it is, whatever was meant, and ends the turn.
    ``number`` makes the ids of the calls.

    >>> message, calls = assistant_message('I look. <tool_call>{"name": "get_time", "arguments": {}}</tool_call>', 7)
    >>> message["content"], message["tool_calls"][0]["id"], calls[0].name
    ('I look.', 'call_7_1', 'get_time')
    """
    read = parse_tool_calls(answer)
    calls: list[ToolCall] = []
    for call in read:
        if not call.problem and _as_text(call) not in map(_as_text, calls):
            calls.append(call)
    if not calls:
        return _spoken(answer)
    prose, written = _parted(answer)
    broken = written if any(call.problem for call in read) else []
    texts = [prose, *(part.strip() for part in broken if any(call.problem for call in parse_tool_calls(part)))]
    made = [
        {
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for place, call in enumerate(calls, start=1)
    ]
    return {"role": "assistant", "content": "\n".join(filter(None, texts)), "tool_calls": made}, calls


def _as_text(call: ToolCall) -> str:
    return json.dumps([call.name, call.arguments], sort_keys=True)


def _spoken(answer: str) -> tuple[Message, list[ToolCall]]:
    return {"role": "assistant", "content": answer.strip()}, []


def _parted(answer: str) -> tuple[str, list[str]]:
    """Return the text before the first call, and the rest in its tags or, where there are none, its fenced blocks."""
    mark = "<tool_call>" if "<tool_call>" in answer else "```"
    begins = answer.find(mark) if mark == "<tool_call>" else _first_object(answer)
    behind = [part for part in answer[begins:].split(mark) if part.strip()]
    return _OPENS.sub("", answer[:begins]).strip(), [mark + part for part in behind]


def _first_object(answer: str) -> int:
    """Return where the first JSON object begins that is a call; there is one."""
    begins = answer.index("{")
    while True:
        try:
            content, end = _DECODER.raw_decode(answer, begins)
        except (ValueError, RecursionError):
            content, end = {}, begins + 1
        if "name" in content and "arguments" in content:
            return begins
        begins = answer.index("{", end)


def _result(call: ToolCall, made: dict[str, Any], world: Surroundings) -> Message:
    return {"role": "tool", "tool_call_id": made["id"], "content": world.call(call.name, call.arguments)}


def _provenance(
    model: Model,
    done: Sequence[tuple[list[int], Completion]],
    max_new_tokens: int,
    seed: int,
    arguments: dict[str, Any],
    began: float,
    command: str | None,
) -> dict[str, Any]:
    from ctxcourse.tables import provenance

    return provenance(
        "agent",
        model,
        [ids for ids, _ in done],
        [completion for _, completion in done],
        max_new_tokens=max_new_tokens,
        seed=seed,
        arguments=arguments,
        seconds=time.perf_counter() - began,
        command=command,
    )
