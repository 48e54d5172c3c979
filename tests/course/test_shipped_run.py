"""The recorded run: what the lessons say of it, counted again, and a part of it asked again."""

from __future__ import annotations

import random

import pytest

from ctxcourse import load_model, load_tokenizer
from ctxcourse.agent.accounting import bill
from ctxcourse.agent.environment import Environment
from ctxcourse.agent.loop import CALLS_PER_TURN, NEW_TOKENS, REQUEST, assistant_message, unlike
from ctxcourse.agent.scenario import LAST_TURN, incident, shipped_run
from ctxcourse.messages import check_pairs
from ctxcourse.model.artefacts import find_artefact

RUN = shipped_run()


def test_the_recording_is_the_incident_with_the_tools_of_the_environment() -> None:
    system, talk = incident()
    assert RUN.messages[0] == {"role": "system", "content": system}
    said = [message["content"] for message in RUN.messages if message["role"] == "user"]
    assert said == [turn.text for turn in talk]
    assert RUN.tools == Environment().tools()
    check_pairs(RUN.messages)
    assert RUN.messages[-1]["role"] == "assistant"


def test_the_provenance_says_what_made_it() -> None:
    about, calls = RUN.provenance, RUN.calls()
    assert about["calls"] == len(calls)
    assert about["model"] == find_artefact("qwen2.5-coder-0.5b").label
    assert about["fingerprint"].startswith("qwen2.5-coder-0.5b@")
    assert about["command"].startswith("ctxcourse agent run ")
    assert about["remembered"] == 0
    required = [turn for turn in incident()[1] if turn.tool_choice == "required"]
    assert about["arguments"]["required"] == len(required)
    assert about["arguments"]["turns"] == LAST_TURN


def test_every_result_is_what_the_environment_says_at_that_minute() -> None:
    world, results = Environment(RUN.provenance["seed"]), 0
    for turn, (_, messages) in zip(incident()[1], sorted(RUN.turns().items()), strict=True):
        world.at(turn.minute)
        for place, message in enumerate(messages):
            asked = {call["id"]: call["function"] for call in message.get("tool_calls", [])}
            answers = messages[place + 1 : place + 1 + len(asked)]
            for number, answer in enumerate(answers, start=1):
                call = asked[answer["tool_call_id"]]
                behind = REQUEST if number == len(answers) else ""
                assert answer["content"] == world.call(call["name"], call["arguments"]) + behind
                results += 1
    assert results == sum(message["role"] == "tool" for message in RUN.messages) >= 20


def test_no_turn_has_more_calls_than_it_may() -> None:
    for messages in RUN.turns().values():
        calling = [message for message in messages if message.get("tool_calls")]
        assert len(calling) <= CALLS_PER_TURN
        assert not messages[-1].get("tool_calls")


@pytest.mark.model
def test_the_buckets_of_every_call_add_up_to_the_tokens_that_the_model_was_given() -> None:
    tok = load_tokenizer()
    made = bill(RUN, tok)
    for billed, call in zip(made.calls, RUN.calls(), strict=True):
        ids = tok.encode_prompt(RUN.prompt(call), RUN.tools)
        assert billed.system + billed.tools + billed.conversation + billed.tool_results == len(ids)
    assert made.billed == RUN.provenance["tokens_in_prompts"]


@pytest.mark.model
@pytest.mark.full
def test_a_random_tenth_of_the_answers_is_given_again() -> None:
    model, turns = load_model(), incident()[1]
    calls = RUN.calls()
    for call in sorted(random.Random().sample(calls, len(calls) // 10), key=lambda each: each.number):
        before, answer = RUN.prompt(call), RUN.messages[call.index]
        first = before[-1]["role"] == "user"
        required = first and turns[call.turn - 1].tool_choice == "required"
        made = model.complete(
            before,
            RUN.tools,
            NEW_TOKENS,
            tool_choice="required" if required else "auto" if first else "none",
            unlike=() if required else unlike(turns[call.turn - 1].text, before),
        )
        again = assistant_message(made.text, call.number)[0] if first else {"role": "assistant", "content": made.text}
        assert again["content"].strip() == answer["content"], call
        assert again.get("tool_calls") == answer.get("tool_calls"), call
