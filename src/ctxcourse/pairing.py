"""Which tool result answers which call. Works on normalised messages; `ctxcourse.messages` is the way in."""

from collections.abc import Iterator
from itertools import count
from typing import Any

Message = dict[str, Any]

_REPAIR = "; repair(messages) returns a conversation in which every call has its result and every result its call"


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Return the tool calls of a message, an empty list where it makes none."""
    return message.get("tool_calls") or []


def fill_ids(messages: list[Message]) -> None:
    """Give an id to every call that has none, and to the results that answer it, in place.

    A result without an id answers, among the calls directly before it, the first open one of its name, or simply the
    first open one if it bears no name. A result that fits no open call is left without an id.
    """
    taken = {call["id"] for message in messages for call in calls_of(message) if "id" in call}
    taken |= {message["tool_call_id"] for message in messages if "tool_call_id" in message}
    for index, message in enumerate(messages):
        calls = calls_of(message)
        for position, call in enumerate(calls):
            if "id" not in call:
                fresh = _fresh_id(f"call_{index}_{position}", taken)
                calls[position] = {"id": fresh, **call}
        results = list(_results_after(messages, index)) if calls else []
        answered = {messages[at].get("tool_call_id") for at in results}
        for at in results:
            result = messages[at]
            if "tool_call_id" in result:
                continue
            for call in calls:
                if call["id"] not in answered and result.get("name") in (None, call["function"]["name"]):
                    result["tool_call_id"] = call["id"]
                    answered.add(call["id"])
                    break


def _fresh_id(wanted: str, taken: set[str]) -> str:
    """Return ``wanted``, or its first numbered form that is not taken, and take it."""
    fresh = wanted
    for number in count(2):
        if fresh not in taken:
            break
        fresh = f"{wanted}-{number}"
    taken.add(fresh)
    return fresh


def _results_after(messages: list[Message], index: int) -> Iterator[int]:
    """Yield the indices of the tool results that follow message ``index`` without a gap."""
    for at in range(index + 1, len(messages)):
        if messages[at]["role"] != "tool":
            return
        yield at


def first_problem(messages: list[Message]) -> str | None:
    """Return a sentence about the first call or result that is not paired, None if all are."""
    made_at: dict[str, int] = {}
    answered_at: dict[str, int] = {}
    waiting: dict[str, str] = {}
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            problem = _result_problem(messages, index, waiting, answered_at)
            if problem:
                return problem + _REPAIR
            waiting.pop(message["tool_call_id"])
            answered_at[message["tool_call_id"]] = index
            continue
        if waiting:
            return _unanswered(messages, made_at, waiting, index) + _REPAIR
        for call in calls_of(message):
            if call["id"] in made_at:
                return (
                    f"the id {call['id']!r} is borne by two calls, in message {made_at[call['id']]} and in message "
                    f"{index}: give each call its own" + _REPAIR
                )
            made_at[call["id"]] = index
            waiting[call["id"]] = call["function"]["name"]
    return _unanswered(messages, made_at, waiting, len(messages)) + _REPAIR if waiting else None


def _result_problem(
    messages: list[Message], index: int, waiting: dict[str, str], answered_at: dict[str, int]
) -> str | None:
    wanted = messages[index].get("tool_call_id")
    if wanted is None:
        return (
            f"message {index} is a tool result without a tool_call_id, and no open call stands before it that it "
            "could answer: add the id of its call"
        )
    if wanted in waiting:
        return None
    if wanted in answered_at:
        return (
            f"message {index} answers the call {wanted!r} a second time, after message {answered_at[wanted]}: keep "
            "one of the two"
        )
    for later in range(index + 1, len(messages)):
        if any(call["id"] == wanted for call in calls_of(messages[later])):
            return (
                f"message {index} answers the call {wanted!r}, which is made only in message {later}: put the result "
                "behind its call"
            )
    return f"message {index} answers the call {wanted!r}, which no message makes: remove it or add the call"


def _unanswered(messages: list[Message], made_at: dict[str, int], waiting: dict[str, str], index: int) -> str:
    wanted, name = next(iter(waiting.items()))
    before = "the conversation ends" if index == len(messages) else f"message {index} comes"
    what = f"the call {wanted!r} ({name}) in message {made_at[wanted]} has no result before {before}"
    for later in range(index, len(messages)):
        if messages[later].get("tool_call_id") == wanted:
            return f"{what}; its result stands at message {later}: move it directly behind the call"
    return f"{what}: add the result, a message with role 'tool' and tool_call_id {wanted!r}, or remove the call"


def repaired(messages: list[Message]) -> list[Message]:
    """Return the conversation with calls and results paired; see `ctxcourse.messages.repair`."""
    found = _claims(messages)
    used: set[str] = set()
    result: list[Message] = []
    taken = {call["id"] for message in messages for call in calls_of(message)}
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            continue
        calls = calls_of(message)
        kept, answers = [], []
        for position, call in enumerate(calls):
            at = found.get((index, position))
            if at is None:
                continue
            name = call["id"] if call["id"] not in used else _fresh_id(call["id"], taken)
            used.add(name)
            kept.append({**call, "id": name})
            answers.append((at, {**messages[at], "tool_call_id": name}))
        if calls and not kept and not message["content"]:
            continue
        rest = {key: value for key, value in message.items() if key != "tool_calls"}
        result.append({**rest, "tool_calls": kept} if kept else rest)
        result.extend(answer for _, answer in sorted(answers, key=lambda pair: pair[0]))
    return result


def _claims(messages: list[Message]) -> dict[tuple[int, int], int]:
    """Match calls, as (message, position), with results: those directly behind the call first, then any other."""
    claims: dict[tuple[int, int], int] = {}
    free = {index for index, message in enumerate(messages) if message["role"] == "tool"}
    everywhere = sorted(free)
    for nearby in (True, False):
        for index, message in enumerate(messages):
            for position, call in enumerate(calls_of(message)):
                if (index, position) in claims:
                    continue
                for at in _results_after(messages, index) if nearby else everywhere:
                    if at in free and messages[at].get("tool_call_id") == call["id"]:
                        claims[index, position] = at
                        free.discard(at)
                        break
    return claims
