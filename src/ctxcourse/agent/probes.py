"""Probes: questions about two facts that were planted in a long conversation, and what an answer to one is.

A probe is asked as the last message of the user, in place of the last turn. The policy's memory is given the
conversation up to there with the probe behind it, and the prompt it makes is what the model is asked. Greedy decoding
makes one question a sample of one, so each fact is asked for in six wordings, none of which holds an identifier.

What an answer is, by rules that were written before any answer was seen:

* The first identifier of the fact's sort that the answer gives decides, as `ctxcourse.agent.identifiers` reads it, be
  it in prose or in the arguments of a tool call. It is *correct* if it means the fact.
* It is *other identifier* if it means another one that stands in the prompt: a confident wrong answer with a source.
* If there is none at all, and the answer says, before any call, that it has none, or asks for it, it *admits not
  knowing*, see `ctxcourse.agent.admissions`. Whoever says so and names one all the same has named one.
* Everything else is *other*: an invented identifier, a log line's "pool", a call that asks a tool.

What this module does not do: ask a model (see `ctxcourse.agent.probe_table`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.agent.admissions import admits
from ctxcourse.agent.identifiers import (
    ARGUMENTS,
    Sort,
    among,
    first_identifier,
    identifiers,
    identifiers_in,
    same,
    spoken,
)
from ctxcourse.errors import CourseError
from ctxcourse.history import split_sentences
from ctxcourse.messages import Message, normalise, paired, turns
from ctxcourse.needle.own_answers import folded
from ctxcourse.pairing import calls_of
from ctxcourse.plain import checked_string

Kind = Literal["correct", "other identifier", "admits not knowing", "other"]

KINDS: tuple[Kind, ...] = ("correct", "other identifier", "admits not knowing", "other")


class ProbeError(CourseError, ValueError):
    """A probe that cannot be asked: the text says why, and what is needed."""


@dataclass(frozen=True)
class Fact:
    """Something that was said once: ``sort`` is what kind of identifier its ``answer`` is, ``wordings`` ask for it.

    ``says`` are the beginnings of words that tell what the identifier stands for, see `stated`.
    """

    sort: Sort
    answer: str
    wordings: tuple[str, ...]
    says: tuple[str, ...] = ()


EMPLOYEE = Fact(
    "employee number",
    "4417",
    (
        "Which employee number do we file tickets under?",
        "I am about to file the ticket myself. What employee number goes on it?",
        "Remind me of the standing rule about the employee number on tickets. Just give me the number.",
        "Complete this sentence: tickets are filed under employee number ...",
        "A colleague is taking over and asks which employee number has to be on our tickets. What do I tell her?",
        "Before anything is filed I want to be sure that we have it right: whose number is it filed under, in digits?",
    ),
    says=("employee", "ticket", "file", "filing"),
)
"""Planted at turn 2 of the forty: the standing rule that tickets are filed under employee number 4417."""

SHARD = Fact(
    "shard",
    "pay-shard-7",
    (
        "Which shard is affected?",
        "The form for the ticket has a field for the shard. What do I put into it?",
        "Remind me which shard the payments team confirmed as the affected one. Just give me its name.",
        "Complete this sentence: the payments team confirmed that the affected shard is ...",
        "A colleague is taking over and asks which of the shards has the problem. What do I tell her?",
        "Before anything is filed I want to be sure that we have it right: what is the affected shard called?",
    ),
    says=("affected", "confirm", "root cause", "culprit", "faulty", "responsible"),
)
"""Planted at turn 19 of the forty: the affected shard is pay-shard-7, confirmed by the payments team."""

FACTS: tuple[Fact, ...] = (EMPLOYEE, SHARD)


def classify(answer: str, fact: Fact, context_identifiers: Collection[str]) -> Kind:
    """Return what an answer to a probe is, one of `KINDS`, by the rules at the head of this module.

    ``context_identifiers`` are those of the fact's sort in the prompt, as `identifiers_in` gives them.

    >>> there = ["pay-shard-1", "pay-shard-7"]
    >>> [classify(answer, SHARD, there) for answer in ("Shard 7.", "It is shard 1.", "I don't know.", "The pool.")]
    ['correct', 'other identifier', 'admits not knowing', 'other']
    """
    found = first_identifier(answer, fact.sort, [fact.answer, *context_identifiers])
    if found is None:
        return "admits not knowing" if admits(answer, fact.sort) else "other"
    if same(found, fact.answer):
        return "correct"
    return "other identifier" if among(found, context_identifiers) else "other"


class Held(NamedTuple):
    """What messages hold of a fact: the identifiers of its sort, whether its own is there, and is stated there."""

    identifiers: list[str]
    present: bool
    stated: bool


def held(fact: Fact, messages: Iterable[Message]) -> Held:
    """Return what messages hold of a fact, in their texts or in the arguments of their calls.

    *Present* is a fact whose identifier stands there at all; it may be by itself, as one of the shards that a log
    names. *Stated* is one of which something says what its identifier stands for. That rule knows words and no meaning:
    in one line of one sentence there is the identifier and a word that begins as one of ``fact.says`` does; or a call
    has it in the argument of its sort, as ``employee_number`` or ``shard``.

    >>> held(SHARD, [{"role": "tool", "tool_call_id": "c1", "content": "error: no answer from pay-shard-7"}])
    Held(identifiers=['pay-shard-7'], present=True, stated=False)
    >>> held(SHARD, [{"role": "user", "content": "No doubt, then. They confirmed pay-shard-7."}]).stated
    True
    """
    whole = normalise(list(messages))
    known = identifiers_in(whole, fact.sort)
    there = among(fact.answer, known)
    return Held(known, there, there and any(_states(fact, message, known) for message in whole))


def stated(fact: Fact, messages: Iterable[Message]) -> bool:
    """Return whether messages say what a fact's identifier stands for, and do not only hold it somewhere, see `held`.

    >>> stated(SHARD, [{"role": "user", "content": "The affected shard is pay-shard-7."}])
    True
    """
    return held(fact, messages).stated


def _states(fact: Fact, message: Message, known: Collection[str]) -> bool:
    def holds(text: str) -> bool:
        return among(fact.answer, identifiers(text, fact.sort, known))

    lines = [line for sentence in split_sentences(message["content"]) for line in sentence.splitlines()]
    spoken_of = [line for call in calls_of(message) for line in spoken(call["function"]["arguments"])]
    if any(_says(fact, line) and holds(line) for line in [*lines, *spoken_of]):
        return True
    return any(holds(line) for line in spoken_of if line.startswith(f"{ARGUMENTS[fact.sort]}: "))


def _says(fact: Fact, line: str) -> bool:
    beginnings = "|".join(map(regex.escape, fact.says))
    return bool(regex.search(rf"(?<![^\W_])(?:{beginnings})", folded(line)))


def planted(messages: Any, facts: Iterable[Fact] = FACTS) -> list[int]:
    """Return the indices of the user messages in which the facts are first stated: what a control row is given.

    Raises ProbeError for a fact that no message of the user holds.

    >>> planted([{"role": "user", "content": text} for text in ("Hi", "Use employee number 4417.")], [EMPLOYEE])
    [1]
    """
    whole = paired(messages)
    indices = []
    for fact in facts:
        said = [at for at, message in enumerate(whole) if message["role"] == "user" and stated(fact, [message])]
        if not said:
            raise ProbeError(
                f"no message of the user says what {fact.answer} is, so nobody can be asked for it: plant the fact, "
                "or ask for another"
            )
        indices.append(said[0])
    return indices


def before_last_turn(messages: Any) -> list[Message]:
    """Return a copy of the conversation without its last turn, which a probe replaces.

    Raises ProbeError for a conversation of fewer than two turns.
    """
    whole = paired(messages)
    parts = turns(whole)
    if len(parts) < 2:
        raise ProbeError(f"a probe takes the place of the last turn, and there are {len(parts)}: at least 2 are needed")
    return whole[: len(whole) - len(parts[-1])]


def probe_messages(messages: Any, question: str) -> list[Message]:
    """Return a conversation, up to the turn in whose place a probe is asked, with the probe behind it.

    This is what a policy's memory is given. Raises ProbeError for a question without words.

    >>> probe_messages([{"role": "user", "content": "Hi"}], "Which shard is affected?")[-1]
    {'role': 'user', 'content': 'Which shard is affected?'}
    """
    if not checked_string(question, "the question").strip():
        raise ProbeError("the question of a probe is empty")
    return [*paired(messages), {"role": "user", "content": question}]
