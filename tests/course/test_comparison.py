"""All policies on one run: what each is billed, which helpers it asked, and what cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest

from ctxcourse.agent.accounting import bill, bill_of_prompts
from ctxcourse.agent.comparison import (
    COMPACTED_AT,
    LEAST_COMPACTED_AT,
    PINNED,
    ComparisonError,
    bill_under,
    bills,
    compared_policies,
    conversation_policies,
)
from ctxcourse.agent.probes import FACTS, ProbeError, planted, stated
from ctxcourse.agent.scenario import FACT_TURN, RULE_TURN, incident
from ctxcourse.agent.transcript import Transcript
from ctxcourse.model.answers import Completion
from ctxcourse.policies import NOTE_TOKENS, SUMMARY_TOKENS, Compaction, FullHistory, GivenMessages, SubAgent, replay
from ctxcourse.policies.notes import HEADING as NOTES
from ctxcourse.tools import load_tools
from tests.course.test_accounting import SmallEncoder

Talk = list[dict[str, Any]]


class Talker(SmallEncoder):
    """A model that answers every prompt with the same text, cut where the new tokens end; it notes what it is asked."""

    label, fingerprint = "a talker", "talker@1"

    def __init__(self, text: str = "word " * 2_000) -> None:
        super().__init__()
        self.text = text
        self.asked: list[tuple[Talk, int]] = []

    def complete(self, prompt: Talk, max_new_tokens: int, remember: bool) -> Completion:
        self.asked.append((prompt, max_new_tokens))
        spans = self.token_spans(self.text)[:max_new_tokens]
        text = self.text[: spans[-1][1]] if spans else ""
        return Completion(text, 0, 0, len(spans), 0.1, "stop", self.fingerprint)


def recording() -> Transcript:
    """The incident with one tool call and one answer a turn."""
    system, said = incident()
    talk: Talk = [{"role": "system", "content": system}]
    for number, turn in enumerate(said, start=1):
        function = {"name": "search_logs", "arguments": {"service": "payments-api", "query": "timeout"}}
        talk += [
            {"role": "user", "content": turn.text},
            {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "error: no answer from pay-shard-3\n" * 4},
            {"role": "assistant", "content": f"Timeouts, as before, in minute {turn.minute}."},
        ]
    return Transcript(talk, load_tools(), {"model": "a recorder", "fingerprint": "recorder@1"})


RUN = recording()
CALLS = [call.index for call in RUN.calls()]


def row(transcript: Transcript, policy: Any, model: Talker) -> dict[str, Any]:
    return bills(transcript, [policy], model).to_dict("records")[0]  # type: ignore[arg-type]


def test_a_policy_is_billed_for_the_whole_run_and_control_and_sub_agent_for_one_prompt() -> None:
    model = Talker()
    policies = {policy.name: policy for policy in compared_policies(model, RUN)}  # type: ignore[arg-type]
    full = row(RUN, policies["full history"], model)
    known = bill(RUN, model)
    assert full == {
        "policy": "full history",
        "prompts": len(CALLS),
        "billed_tokens": known.billed,
        "helper_tokens": 0,
        "helper_calls": 0,
        "no_summary": 0,
        "recomputed_tokens": known.recomputed,
        "last_prompt": known.calls[-1].prompt_tokens,
    }
    question = CALLS[-2]  # the last turn has two calls: the first of them is asked the question alone
    rule, fact = planted(RUN.messages)
    last = RUN.messages[question - 1]
    seen = {
        "control": [RUN.messages[0], RUN.messages[rule], RUN.messages[fact], last],
        "sub-agent": [*RUN.messages[:1], *RUN.messages[1 + 4 * 16 : 1 + 4 * 19], last],
    }
    for name, messages in seen.items():
        size = model.count_prompt(messages, RUN.tools)
        one = row(RUN, policies[name], model)
        assert one["prompts"] == 1
        assert one["billed_tokens"] == one["recomputed_tokens"] == one["last_prompt"] == size
    assert model.asked == []


def test_control_and_sub_agent_are_made_of_where_the_facts_are_said() -> None:
    given, sub_agent = compared_policies(Talker(), RUN, ["control", "sub-agent"])  # type: ignore[arg-type]
    assert given == GivenMessages([1 + 4 * (RULE_TURN - 1), 1 + 4 * (FACT_TURN - 1)])
    assert sub_agent == SubAgent(FACT_TURN - 2, FACT_TURN)
    early = Transcript([{"role": "user", "content": text} for text in (PINNED, "And now?")] + [RUN.messages[-1]])
    assert compared_policies(Talker(), early, ["sub-agent"]) == [SubAgent(1, 1)]  # type: ignore[arg-type]
    assert all(stated(one, early.messages) for one in FACTS)


def test_helpers_are_counted_and_billed_and_computed() -> None:
    model = Talker("The team looked at timeouts.")
    (policy,) = compared_policies(model, RUN, ["compaction + notes"])  # type: ignore[arg-type]
    found = row(RUN, policy, model)
    assert found["helper_calls"] == len(model.asked) > len(incident()[1])
    assert found["helper_tokens"] == sum(model.count_prompt(prompt) for prompt, _ in model.asked)
    kept = replay(RUN.messages, policy, model, CALLS)
    alone = bill_of_prompts([one.messages for one in kept], RUN.tools, model)
    assert found["billed_tokens"] == alone.billed + found["helper_tokens"]
    assert found["recomputed_tokens"] == alone.recomputed + found["helper_tokens"]
    assert found["no_summary"] == 0


def test_the_calls_of_a_policy_add_up_to_its_row() -> None:
    model = Talker("The team looked at timeouts.")
    for policy in conversation_policies(model, RUN.tools):  # type: ignore[arg-type]
        made, found = bill_under(RUN, policy, model), row(RUN, policy, model)  # type: ignore[arg-type]
        assert [call.turn for call in made.calls] == [call.turn for call in RUN.calls()]
        assert made.billed == found["billed_tokens"]
        assert sum(call.helper_tokens for call in made.calls) == found["helper_tokens"]
        assert made.provenance == RUN.provenance


def test_a_note_that_is_too_long_is_refused_and_not_cut_to_what_is_allowed() -> None:
    model = Talker()
    (policy,) = compared_policies(model, RUN, ["compaction + notes"])  # type: ignore[arg-type]
    kept = replay(RUN.messages, policy, model, CALLS[:9])
    assert not any(message["content"].startswith(NOTES) for one in kept for message in one.messages)
    assert any(note.endswith(f"refused: it may have {NOTE_TOKENS}") for one in kept for note in one.notes)
    rooms = {room for _, room in model.asked}
    replay(RUN.messages, *compared_policies(model, RUN, ["compaction"]), model, CALLS)  # type: ignore[arg-type]
    assert min(rooms) > NOTE_TOKENS
    assert max(room for _, room in model.asked) > SUMMARY_TOKENS


def test_compaction_sets_in_at_five_thousand_tokens_with_the_tools() -> None:
    model = Talker("The team looked at timeouts.")
    (policy,) = compared_policies(model, RUN, ["compaction"])  # type: ignore[arg-type]
    kept = replay(RUN.messages, policy, model, CALLS)
    whole = [call.prompt_tokens for call in bill(RUN, model).calls]
    first = next(place for place, each in enumerate(kept) if each.helper_calls)
    assert whole[first - 1] <= COMPACTED_AT < whole[first]
    assert all(model.count_prompt(each.messages, RUN.tools) <= COMPACTED_AT for each in kept)
    heavy = [
        {**tool, "function": {**tool["function"], "name": f"{tool['function']['name']}_{n}"}}
        for n in range(9)
        for tool in RUN.tools
    ]
    (policy,) = compared_policies(model, Transcript(RUN.messages, heavy), ["compaction"])  # type: ignore[arg-type]
    assert policy.threshold == LEAST_COMPACTED_AT  # type: ignore[attr-defined]


def test_a_row_says_how_many_summaries_came_to_nothing() -> None:
    model = Talker("")
    policy = Compaction(lambda prompt: model.complete(prompt, 500, True).text, 2_000, summary_tokens=200)
    found = row(RUN, policy, model)
    kept = replay(RUN.messages, policy, Talker(""), CALLS)
    assert found["no_summary"] == sum(one.no_summary for one in kept) > 0
    assert found["helper_calls"] > 0


def test_the_table_names_the_model_that_was_asked_and_the_one_that_made_the_run() -> None:
    about = bills(RUN, [FullHistory()], Talker()).attrs["provenance"]  # type: ignore[arg-type]
    assert (about["model"], about["fingerprint"]) == ("a talker", "talker@1")
    assert about["recording"] == RUN.provenance


def test_what_cannot_be_compared_is_refused_before_anything_is_asked() -> None:
    model: Any = Talker()
    silent = Transcript([message for message in RUN.messages if message["role"] == "user"])
    with pytest.raises(ComparisonError, match="none of the 40 messages is from the assistant"):
        compared_policies(model, silent)
    with pytest.raises(ComparisonError, match="none of the 40 messages"):
        bills(silent, [FullHistory()], model)
    for turns in (1, 5, 18):
        with pytest.raises(ProbeError, match=r"plant the fact|at least 2"):
            compared_policies(model, Transcript(RUN.messages[: 1 + 4 * turns]))
    with pytest.raises(ProbeError, match="pay-shard-7"):  # said in the last turn, which the probes replace
        compared_policies(model, Transcript(RUN.messages[: 1 + 4 * FACT_TURN]))
    with pytest.raises(ComparisonError, match="no policy is called 'forgetting'; there are 'full history', "):
        compared_policies(model, RUN, ["forgetting"])
    assert model.asked == []
