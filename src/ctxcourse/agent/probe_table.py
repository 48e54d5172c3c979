"""The probes of all policies, asked in one batch: a table with one row a probe, and what it comes to.

Each policy's memory is taken through the recorded calls up to the last turn, as in `ctxcourse.policies.replay`; then
each probe is put to a copy of it. So no probe changes what the next one finds, and none is part of the run. A probe
is asked as the loop asks for the last answer of a turn, see `ctxcourse.agent.loop`: no call, and not begun as the
question is or as one of the last answers of the recording, whatever a policy has kept of them. What this module does
not do: say what an answer is (see `ctxcourse.agent.probes`).
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxcourse.agent.loop import UNLIKE, unlike
from ctxcourse.agent.probes import (
    FACTS,
    KINDS,
    Fact,
    ProbeError,
    before_last_turn,
    classify,
    held,
    probe_messages,
)
from ctxcourse.messages import Message, normalise_tools
from ctxcourse.model.answers import Cancelled
from ctxcourse.policies import Kept, Policy, Stateless, replayed
from ctxcourse.tables import Table, counted, provenance
from ctxcourse.tokens import Counter

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model

NEW_TOKENS = 48

TABLE = Table(
    name="the probes",
    columns={
        "policy": "string",
        "fact": "string",
        "wording": "Int64",
        "question": "string",
        "present": "boolean",
        "stated": "boolean",
        "answer": "string",
        "kind": "string",
        "prompt_tokens": "Int64",
        "new_tokens": "Int64",
    },
    values={"kind": KINDS},
    unit="policy",
)
"""One row a probe. ``fact`` is its sort, ``wording`` counts from 1. ``present`` says whether the fact's identifier
stood in the prompt at all, ``stated`` whether something there said what it stands for: to have forgotten a fact is one
failure, to have carried it and not looked another."""


@dataclass(frozen=True)
class Probe:
    """One question under one policy, with what the model is given."""

    policy: str
    fact: Fact
    wording: int
    kept: Kept

    @property
    def question(self) -> str:
        """The question, in the fact's wording of that number."""
        return self.fact.wordings[self.wording - 1]


def probes(
    policies: Sequence[Policy],
    messages: Any,
    counter: Counter,
    facts: Sequence[Fact] = FACTS,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Probe]:
    """Return every wording of every fact under every policy, in this order, each with the prompt that the policy makes.

    ``messages`` is the whole recording; its last turn is what the probes replace. Helpers are asked here, and what they
    raise is passed on; where the last turn calls for a summary, each of its probes does, so let helpers remember their
    answers. Cancelled is raised where ``should_stop`` says so between two prompts. Raises ProbeError for no policies or
    facts, two policies of one name, and a recording of fewer than two turns.
    """
    names = [policy.name for policy in policies]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ProbeError(f"two policies are called {twice!r}, and their rows could not be told apart: rename one")
    if not policies or not facts:
        raise ProbeError(f"there is nothing to ask: {len(policies)} policies and {len(facts)} facts were given")

    def go_on() -> None:
        if should_stop():
            raise Cancelled("The probes were stopped before all prompts were made; nothing was asked.")

    talk = before_last_turn(messages)
    found = []
    for policy in policies:
        _, memory = replayed(talk, policy, counter, _calls_replayed(policy, talk), go_on)
        for fact in facts:
            for number, question in enumerate(fact.wordings, start=1):
                go_on()
                kept = copy.copy(memory).prompt(probe_messages(talk, question), counter)
                found.append(Probe(policy.name, fact, number, kept))
    return found


def _calls_replayed(policy: Policy, talk: Sequence[Message]) -> list[int]:
    """Return before which messages a policy's memory is taken through the talk: none if it has nothing to remember."""
    answered = [at for at, said in enumerate(talk) if said["role"] == "assistant"]
    return [] if isinstance(policy, Stateless) else answered


def _number_of_prompts(policies: Sequence[Policy], messages: Any, facts: Sequence[Fact]) -> int:
    talk, wordings = before_last_turn(messages), sum(len(fact.wordings) for fact in facts)
    return sum(len(_calls_replayed(policy, talk)) + wordings for policy in policies)


def not_begun_as(asked: Sequence[Probe], messages: Any) -> list[list[str]]:
    """Return for each probe what its answer may not begin as, by the loop's rule, given the whole recording."""
    talk = before_last_turn(messages)
    return [unlike(probe.question, talk) for probe in asked]


def answered(
    asked: Sequence[Probe], messages: Any, tools: Any, model: Model, max_new_tokens: int = NEW_TOKENS, **how: Any
) -> list[Completion]:
    """Ask probes in one batch, under the loop's rule for a last answer; ``how`` goes to `Model.complete_many`."""
    return model.complete_many(
        [(probe.kept.messages, tools) for probe in asked],
        max_new_tokens=max_new_tokens,
        tool_choice="none",
        unlike=not_begun_as(asked, messages),
        **how,
    )


def run(
    policies: Sequence[Policy],
    messages: Any,
    tools: Any,
    model: Model,
    facts: Sequence[Fact] = FACTS,
    max_new_tokens: int = NEW_TOKENS,
    progress: bool = True,
    should_stop: Callable[[], bool] = lambda: False,
    command: str | None = None,
) -> DataFrame:
    """Ask the model all probes, with the tools in every prompt, and return one row a probe, with provenance.

    Greedy, and one batch over all policies, so that what their prompts have in common is computed once. Finished
    answers are in the completion store at once: an interrupted run goes on where it stopped when it is called again, if
    the helpers' answers are remembered too. Raises what `probes` and `Model.complete_many` raise.
    """
    from tqdm.auto import tqdm

    began = time.perf_counter()
    catalogue = normalise_tools(tools)
    with tqdm(
        total=_number_of_prompts(policies, messages, facts), desc="prompts", disable=not progress, leave=False
    ) as bar:

        def stop() -> bool:
            bar.update()
            return should_stop()

        asked = probes(policies, messages, model, facts, stop)
    how = {"remember": True, "should_stop": should_stop, "progress": progress}
    completions = answered(asked, messages, catalogue, model, max_new_tokens, **how)
    about = provenance(
        "probes",
        model,
        (model.encode_prompt(probe.kept.messages, catalogue) for probe in asked),
        completions,
        max_new_tokens=max_new_tokens,
        seed=0,  # nothing is drawn
        arguments={
            "policies": [policy.name for policy in policies],
            "facts": {fact.sort: fact.answer for fact in facts},
            "wordings": max(len(fact.wordings) for fact in facts),
            "tools": len(catalogue),
            "tool_choice": "none",
            "unlike": UNLIKE,
        },
        seconds=time.perf_counter() - began,
        command=command,
    )
    return TABLE.frame(_rows(asked, completions), about)


def cells(frame: DataFrame) -> DataFrame:
    """Return one row for each policy and fact: what of it the prompts held, their mean size, kinds, and the interval.

    ``present`` and ``stated`` are shares; the interval, Wilson's 95 %, is that of correct answers. Columns: policy,
    fact, present, stated, prompt_tokens, n, correct, other_identifier, admits, other, low, high.
    """
    found = counted(frame, ["policy", "fact"], "kind", KINDS, means=["present", "stated", "prompt_tokens"])
    return found.rename(columns={"admits_not_knowing": "admits"})


def _rows(asked: Iterable[Probe], completions: Iterable[Completion]) -> list[list[Any]]:
    rows = []
    for probe, completion in zip(asked, completions, strict=True):
        fact, given = probe.fact, probe.kept.messages
        there = held(fact, given)
        kind = classify(completion.text, fact, there.identifiers)
        answered = [completion.text, kind, completion.prompt_tokens, completion.new_tokens]
        rows.append([probe.policy, fact.sort, probe.wording, probe.question, there.present, there.stated, *answered])
    return rows
