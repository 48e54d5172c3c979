"""Probes: the rules for identifiers and answers, what a memory is given, and the table of all policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ctxcourse import load_model
from ctxcourse.agent import probe_table
from ctxcourse.agent.admissions import admits
from ctxcourse.agent.identifiers import first_identifier, identifiers, identifiers_in, same
from ctxcourse.agent.loop import UNLIKE
from ctxcourse.agent.probe_table import NEW_TOKENS, TABLE, cells, probes, run
from ctxcourse.agent.probes import (
    EMPLOYEE,
    FACTS,
    KINDS,
    SHARD,
    Fact,
    ProbeError,
    before_last_turn,
    classify,
    held,
    planted,
    probe_messages,
    stated,
)
from ctxcourse.history import split_sentences
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.model.qwen import Model
from ctxcourse.policies import Compaction, FullHistory, GivenMessages, SubAgent, replay, standard_policies
from ctxcourse.tools import load_tools
from tests.context.conftest import SmallCounter
from tests.context.strategies import texts
from tests.small_model import write_small_model

COUNTER = SmallCounter()
TOOLS = load_tools()
Talk = list[dict[str, Any]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def present(fact: Fact, messages: Talk) -> bool:
    return held(fact, messages).present


def incident(length: int = 40) -> Talk:
    """A run of so many turns with the two facts in their places, and rivals of both in what the tools return.

    The logs name the affected shard too, as one of three: to hold its name is not yet to hold the fact.
    """
    talk: Talk = [{"role": "system", "content": "Assist the operations team during incidents."}]
    facts = {
        2: " From now on, file every ticket under employee number 4417.",
        19: " The payments team confirms it: the affected shard is pay-shard-7.",
    }
    for number in range(1, length + 1):
        function = {"name": "search_logs", "arguments": {"service": "payments-api", "query": "timeout"}}
        made = {"id": f"c{number}", "type": "function", "function": function}
        shard = f"pay-shard-{(3, 5, 7)[number % 3]}"
        line = f"09:{number:02d}:11 error pay-db-{number % 5} no answer from {shard} in 1{number:03d} ms\n"
        talk += [
            user(f"Turn {number}: what do the logs say now?{facts.get(number, '')}"),
            {"role": "assistant", "content": "", "tool_calls": [made]},
            {
                "role": "tool",
                "tool_call_id": f"c{number}",
                "content": line * 3 + "on call: employee 1022, until INC-2041",
            },
            {"role": "assistant", "content": f"Timeouts, as before, in minute {number}."},
        ]
    return talk


# Employee numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("4417", ["4417"]),
        ("The employee number is 4417.", ["4417"]),
        ("**4417**, _4417_, `4417`, (4417) and #4417!", ["4417"] * 5),
        ("4,417 or 4'417 or 4\u202f417 or 4_417; 4 417", ["4417"] * 4),
        ("4.417 seconds", []),
        ("４４１７", ["4417"]),
        ("first 4417, then 1022", ["4417", "1022"]),
        ("44170, 14417, 417, 4417a, v4417, a4417f", []),
        ("441 7 and 4417 7", ["4417"]),
        ("1,234,417 or 4417.5 or 4,417.50", []),
        ("INC-4417, pay-db-4417, host_4417, run/4417, iris@4417", []),
        ("emp-4417, EMP4417, employee_4417, id:4417, no.4417, employee#4417", ["4417"] * 6),
        ('{"employee_number":4417}', ["4417"]),
        ('"employee_number": "4417"', ["4417"]),
        ("550e8400-e29b-4417-a716-446655440000", []),
        ("10.0.4417.2, payments:4417", ["4417"]),
        ("2026-03-01, 2026/03/01, 01.03.2026, 2026-03-01T09:30", []),
        ("in 2026, since 2025, March 2026, 3 Mar 2026, Oct. 14, 2025", []),
        ("employee 2026, marked 2026", ["2026", "2026"]),
        ("0930 UTC, 0930 hours, 09:30", []),
        ("1200 ms, 4096 bytes, 1532 errors, 2048 MB, 1500%, $4417, € 4417", []),
        ("4417 msgs, 4417 Mbit", ["4417", "4417"]),
        ("4417-based, 4417-4420, 4417–4420", []),
        ("4417 - the number; 4417: yes; it's 4417's", ["4417", "4417", "4417"]),
        ("", []),
    ],
)
def test_what_is_an_employee_number(text: str, found: list[str]) -> None:
    assert identifiers(text, "employee number") == found


# Shards


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pay-shard-7", ["pay-shard-7"]),
        ("pay_shard_7 Pay-Shard-7 PAY-SHARD-07 pay‑shard‑7", ["pay-shard-7"] * 4),
        ("pay-shard 7, pay_shard-7, pay-shard7", ["pay-shard-7"] * 3),
        ("shard 7, Shard-7, shard_7, shard7, shard #7, shard: 7, shard no. 7, shard number 7", ["shard-7"] * 8),
        ("The affected shard is 7.", ["shard-7"]),
        ("The shard is 3 minutes behind", []),
        ("The affected shard is pay-shard-7.", ["pay-shard-7"]),
        ("the affected shard: `pay-shard-7`", ["pay-shard-7"]),
        ("shard\n\n7 hosts. A shard. 7 hosts", []),
        ("pay-shard-70 pay-shard-17", ["pay-shard-70", "pay-shard-17"]),
        ("pay-shard-7-replica, pay-shard-7b, shard 7.5", ["pay-shard-7-replica", "pay-shard-7b"]),
        ("_pay-shard-7_, __pay_shard_7__, pay-shard-7/pay-shard-8", ["pay-shard-7"] * 3 + ["pay-shard-8"]),
        ("orders-shard-7 and the shard 7", ["orders-shard-7", "shard-7"]),
        ("orders-shard-3, orders shard 7, payments shard 7", ["orders-shard-3", "orders-shard-7", "shard-7"]),
        ("eu-pay-shard-7", ["eu-pay-shard-7"]),
        ('{"shard":"pay-shard-7"} {"shard": 7} shard=7', ["pay-shard-7", "shard-7", "shard-7"]),
        ("sharding, shards, harden, reshard 7, the pool, seven", []),
        ("", []),
    ],
)
def test_what_is_a_shard(text: str, found: list[str]) -> None:
    assert identifiers(text, "shard") == found


def test_prefixes_that_are_known_come_from_elsewhere_too() -> None:
    assert identifiers("orders shard 7", "shard") == ["shard-7"]
    assert identifiers("orders shard 7", "shard", known=["orders-shard-2"]) == ["orders-shard-7"]


def test_the_same_shard() -> None:
    assert same("pay-shard-7", "pay-shard-7")
    assert same("pay-shard-7", "shard-7")
    assert same("shard-7", "pay-shard-7")
    for other in ("orders-shard-7", "eu-pay-shard-7", "pay-shard-70", "shard-17", "pay-shard-7-replica"):
        assert not same("pay-shard-7", other)
        assert not same(other, "pay-shard-7")


@given(texts, texts, st.sampled_from(FACTS))
def test_an_identifier_is_found_in_whatever_stands_around_it(before: str, after: str, fact: Fact) -> None:
    assert fact.answer in identifiers(f"{before}; {fact.answer}; {after}", fact.sort)


@given(texts, st.sampled_from(FACTS))
def test_nothing_breaks_the_rules(text: str, fact: Fact) -> None:
    assert classify(text, fact, []) in ("admits not knowing", "other")
    assert identifiers_in([user(text)], fact.sort) == identifiers(text, fact.sort) == []


def test_long_texts_take_no_time() -> None:
    for text in ("a-" * 20_000, "shard " * 10_000, "9" * 40_000, "shard-" * 10_000, "1,234," * 10_000, "a " * 20_000):
        for fact in FACTS:
            assert identifiers(text, fact.sort) == []


# Answers


def tool_call(arguments: str, name: str = "file_ticket") -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


THERE = {"employee number": ["4417", "1022", "1376"], "shard": ["pay-shard-1", "pay-shard-7", "orders-shard-2"]}


@pytest.mark.parametrize(
    ("fact", "answer", "kind"),
    [
        (EMPLOYEE, "4417", "correct"),
        (EMPLOYEE, "Tickets are filed under employee number 4,417.", "correct"),
        (EMPLOYEE, "4417, and not 1022", "correct"),
        (EMPLOYEE, "1022, no, 4417", "other identifier"),
        (EMPLOYEE, "Employee 1376.", "other identifier"),
        (EMPLOYEE, "4471", "other"),
        (EMPLOYEE, "INC-1022", "other"),
        (EMPLOYEE, "pay-shard-7", "other"),
        (EMPLOYEE, "Since 09:30 on 2026-03-01, 1200 ms: it is 4417.", "correct"),
        (EMPLOYEE, "I don't know, perhaps 4417.", "correct"),
        (EMPLOYEE, "I don't know, perhaps 4418.", "other"),
        (EMPLOYEE, "I do not know.", "admits not knowing"),
        (EMPLOYEE, tool_call('{"title": "1022", "employee_number": 4417}'), "correct"),
        (EMPLOYEE, tool_call('{"title": "1022", "employee_number": "4417"}'), "correct"),
        (EMPLOYEE, tool_call('{"employee_number": 4417.0}'), "correct"),
        (EMPLOYEE, tool_call('{"title": "4417", "employee_number": 1022}'), "other identifier"),
        (EMPLOYEE, tool_call('{"title": "4417", "employee_number": 44170}'), "other"),
        (EMPLOYEE, tool_call('{"title": "under 4417", "service": "x"}'), "correct"),
        (EMPLOYEE, tool_call('"{\\"employee_number\\": 4417}"'), "correct"),
        (EMPLOYEE, '{"name": "get_employee", "arguments": {"employee_number": 4417}}', "correct"),
        (EMPLOYEE, tool_call('{"name": "Iris"}', "get_employee"), "other"),
        (EMPLOYEE, "It is 1022.\n" + tool_call('{"employee_number": 4417}'), "other identifier"),
        (EMPLOYEE, "I will file it.\n" + tool_call('{"employee_number": 4417}'), "correct"),
        (EMPLOYEE, tool_call("{}", "get_current_time") + " It is 4417.", "correct"),
        (
            EMPLOYEE,
            '<tool_call>\n{"name": "file_ticket", "arguments": {"employee_number": 4417, "title": "Tim',
            "correct",
        ),
        (
            EMPLOYEE,
            '<tool_call>\n{"name": "file_ticket", "arguments": {"title": "1022", "employee_number": 4417',
            "correct",
        ),
        (EMPLOYEE, '<tool_call>\n{"name": "file_ticket", "arguments": {"title": "Timeouts", "employee_nu', "other"),
        (EMPLOYEE, "Use {4417}.", "correct"),
        (SHARD, "pay-shard-7", "correct"),
        (SHARD, "The affected shard is `Pay_Shard_7`.", "correct"),
        (SHARD, "shard 7", "correct"),
        (SHARD, "7", "correct"),
        (SHARD, "**7.**", "correct"),
        (SHARD, "shard 1", "other identifier"),
        (SHARD, "pay_shard_1", "other identifier"),
        (SHARD, "1", "other identifier"),
        (SHARD, "orders shard 2", "other identifier"),
        (SHARD, "orders shard 7", "other"),
        (SHARD, "pay-shard-70", "other"),
        (SHARD, "pay-shard-9", "other"),
        (SHARD, "pool", "other"),
        (SHARD, "4417", "other"),
        (SHARD, "employee number 4417", "other"),
        (SHARD, "pay-shard-7, not pay-shard-1", "correct"),
        (SHARD, "not pay-shard-1 but pay-shard-7", "other identifier"),
        (SHARD, tool_call('{"title": "pay-shard-1 is slow", "shard": "7"}'), "correct"),
        (SHARD, tool_call('{"title": "slow", "shard": 7}'), "correct"),
        (SHARD, tool_call('{"title": "pay-shard-7 is slow", "shard": "pool"}'), "other"),
        (SHARD, tool_call('{"query": "pay-shard-1\\ntimeout"}', "search_logs"), "other identifier"),
        (SHARD, "", "other"),
    ],
)
def test_the_rules_for_an_answer(fact: Fact, answer: str, kind: str) -> None:
    assert classify(answer, fact, THERE[fact.sort]) == kind


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "I’m sorry, but I don’t have that information.",
        "I do not have access to the employee number.",
        "The shard was not specified.",
        "It has not been mentioned in this conversation.",
        "The employee number isn't mentioned.",
        "There is no information about the shard.",
        "No employee number was given.",
        "I cannot find the shard in the logs.",
        "I can't recall.",
        "I couldn't find it.",
        "I am unable to determine the affected shard.",
        "I'm not sure.",
        "It is not clear which shard it is, so it is unknown.",
        "Unknown",
        "N/A",
        "Could you please provide the employee number?",
        "Please provide more details about the shard.",
        "I would need more information to answer.",
        "The shard is not in the conversation.",
        "The conversation does not specify which shard is affected.",
        "The text does not mention an employee number.",
        "There isn't a specific employee number mentioned.",
        "There is no specific shard mentioned in the conversation.",
        "There is no specific employee number mentioned in the conversation.",
        "There is no shard in our conversation.",
        "The notes do not say.",
        "It cannot be determined from the logs.",
        "I do not see it.",
    ],
)
def test_ways_to_admit_not_knowing(answer: str) -> None:
    for fact in FACTS:
        assert admits(answer, fact.sort)
        assert classify(answer, fact, THERE[fact.sort]) == "admits not knowing"
        given_too = f"{answer} It may be {fact.answer}."
        assert classify(given_too, fact, THERE[fact.sort]) == "correct"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "The connection pool.",
        "The payments service is not available.",
        "I'm sorry, but I can't assist with that.",
        "I can say that the logs show an unknown error.",
        "Please provide feedback on the runbook.",
        "There is no doubt that it is the ledger.",
        "The ticket has been filed.",
        "There are no shards affected.",
        "There are no affected shards.",
        "No shards are affected; the issue is the pool.",
        "I do not see any errors in the logs, so all is well.",
        "There are no errors on the shard.",
        "You do not have to put anything into it.",
        '<tool_call>\n{"name": "file_ticket", "arguments": {"description": "No details available"}}\n</tool_call>',
        '<tool_call>\n{"name": "file_ticket", "arguments": {"description": "No details avail',
        '{"name": "file_ticket", "arguments": {"description": "The shard is not known."}}',
        '<tool_call>\n{"name": "list_services", "arguments": {}}\n</tool_call> I do not know.',
    ],
)
def test_what_is_no_admission(answer: str) -> None:
    for fact in FACTS:
        assert not admits(answer, fact.sort)
        assert classify(answer, fact, []) == "other"


def test_who_admits_before_a_call_has_admitted() -> None:
    answer = "I don't know. I will look.\n" + tool_call("{}", "list_services")
    assert classify(answer, SHARD, []) == "admits not knowing"


def test_what_is_not_available_has_to_be_what_was_asked_for() -> None:
    for answer in ("The shard name is not available.", "No shard name is available.", "The shard is unavailable."):
        assert [admits(answer, fact.sort) for fact in FACTS] == [False, True]
    for answer in ("The employee number is not available.", "There is no number available."):
        assert [admits(answer, fact.sort) for fact in FACTS] == [True, False]


def test_another_identifier_is_one_only_if_it_stands_in_the_prompt() -> None:
    assert classify("1022", EMPLOYEE, ["4417"]) == "other"
    assert classify("1022", EMPLOYEE, ["4417", "1022"]) == "other identifier"
    assert classify("shard 2", SHARD, ["orders-shard-2"]) == "other identifier"


def test_the_first_of_several_calls_that_gives_one_decides() -> None:
    two = tool_call('{"employee_number": 1022}', "get_employee") + tool_call('{"employee_number": 4417}')
    assert first_identifier(two, "employee number") == "1022"
    assert (
        first_identifier(tool_call("{}", "list_services") + tool_call('{"shard": "pay-shard-7"}'), "shard")
        == "pay-shard-7"
    )


# The probes


def test_there_are_six_wordings_of_each_all_different_and_none_gives_an_identifier_away() -> None:
    wordings = [wording for fact in FACTS for wording in fact.wordings]
    assert [len(fact.wordings) for fact in FACTS] == [6, 6]
    assert len(set(wordings)) == 12
    for wording in wordings:
        assert not any(identifiers(wording, fact.sort) for fact in FACTS)
        assert not any(character.isdigit() for character in wording)
    assert [(fact.sort, fact.answer) for fact in FACTS] == [("employee number", "4417"), ("shard", "pay-shard-7")]


def test_a_fact_is_present_in_texts_and_in_arguments_of_calls() -> None:
    made = {"id": "c1", "type": "function", "function": {"name": "file_ticket", "arguments": {"employee_number": 4417}}}
    step = [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]
    assert present(EMPLOYEE, step)
    assert not present(SHARD, step)
    made["function"]["arguments"] = '{"about": {"places": ["a\\npay_shard_7"], "shard": 3}}'  # type: ignore[index]
    assert present(SHARD, step)
    assert not present(EMPLOYEE, step)
    assert present(SHARD, [user("It is shard 7.")])
    assert not present(SHARD, [user("It is orders-shard-7, or pay-shard-70.")])
    assert not present(EMPLOYEE, [user("4417 ms, INC-4417, 44170")])
    assert not present(EMPLOYEE, [])


def test_a_fact_is_stated_where_something_says_what_the_identifier_stands_for() -> None:
    for text in (
        "The affected shard is pay-shard-7.",
        "- affected: shard 7",
        "They CONFIRMED pay_shard_7!",
        "Root cause: a transaction on pay-shard-7",
    ):
        assert stated(SHARD, [user(text)])
    for text in (
        "error: no answer from pay-shard-7",
        "Caused by: timeout on pay-shard-7",
        "Which is the affected one? The logs name pay-shard-7.",
        "affected: pay-shard-3\nwaiting: pay-shard-7",
        "unaffected: pay-shard-7",
        "",
    ):
        assert not stated(SHARD, [user(text)])
    assert stated(EMPLOYEE, [user("Tickets go under 4417.")])
    assert stated(EMPLOYEE, [user("Filed under 4,417")])
    assert not stated(EMPLOYEE, [user("Rosa Almeida: number 4417, profile and operations")])


def test_a_fact_is_stated_by_the_argument_of_its_sort() -> None:
    def step(arguments: dict[str, Any]) -> Talk:
        made = {"id": "c1", "type": "function", "function": {"name": "file_ticket", "arguments": arguments}}
        return [{"role": "assistant", "tool_calls": [made]}, {"role": "tool", "tool_call_id": "c1", "content": ""}]

    assert [stated(fact, step({"employee_number": 4417})) for fact in FACTS] == [True, False]
    assert [stated(fact, step({"shard": "7", "title": "x"})) for fact in FACTS] == [False, True]
    assert [stated(fact, step({"query": "pay-shard-7 timeout 4417"})) for fact in FACTS] == [False, False]
    # where no words are given, every mention will do
    assert stated(Fact("shard", "pay-shard-7", ()), step({"query": "pay-shard-7 timeout"}))


@given(texts)
def test_what_is_stated_is_present(text: str) -> None:
    for fact in FACTS:
        for said in (f"{text} affected employee {fact.answer}", f"{text}\n{fact.answer}"):
            assert present(fact, [user(said)]) or not stated(fact, [user(said)])


def test_the_facts_are_planted_where_the_user_says_them_first() -> None:
    talk = incident()
    assert [talk[at]["content"].split(":")[0] for at in planted(talk)] == ["Turn 2", "Turn 19"]
    said_by_others = [
        {"role": "assistant", "content": "The affected shard is pay-shard-7"},
        user("Is pay-shard-7 in the logs?"),
        user("Confirmed: pay-shard-7."),
    ]
    assert planted(said_by_others, [SHARD]) == [2]
    with pytest.raises(ProbeError, match="no message of the user says what 4417 is"):
        planted(said_by_others)


def test_a_probe_takes_the_place_of_the_last_turn() -> None:
    talk = incident()
    before = before_last_turn(talk)
    assert before == talk[:-4]
    assert before_last_turn(talk[:-1]) == talk[:-4]  # the last turn need not be finished
    assert probe_messages(before, "Which?") == [*talk[:-4], user("Which?")]
    assert before is not talk
    for short in ([], [user("One")]):
        with pytest.raises(ProbeError, match="at least 2 are needed"):
            before_last_turn(short)
    with pytest.raises(ProbeError, match="empty"):
        probe_messages(before, " ")


def policies(summary: str = "The team looked at timeouts.") -> list[Any]:
    talk = incident()
    block = "Tickets are filed under employee number 4417. The affected shard is pay-shard-7."
    made = standard_policies(lambda prompt: summary, lambda prompt: "NONE", block, threshold=2_000)
    return [*made, GivenMessages(planted(talk)), SubAgent(17, 19)]


def test_each_probe_is_what_the_policy_makes_of_the_recording_with_the_probe_behind_it() -> None:
    talk, all_policies = incident(21), policies()
    asked = probes(all_policies, talk, COUNTER)
    assert [(probe.policy, probe.fact, probe.wording) for probe in asked] == [
        (policy.name, fact, number) for policy in all_policies for fact in FACTS for number in range(1, 7)
    ]
    calls = [at for at, message in enumerate(talk[:-4]) if message["role"] == "assistant"]
    for probe in asked[::11]:
        policy = next(policy for policy in all_policies if policy.name == probe.policy)
        whole = [*talk[:-4], user(probe.question)]
        assert probe.kept == replay(whole, policy, COUNTER, [*calls, len(whole)])[-1]
        assert probe.question in probe.kept.messages[-1]["content"]


def test_a_probe_leaves_no_trace_in_the_memory_and_the_run_is_paid_for_once() -> None:
    talk = incident(21)
    calls = [at for at, message in enumerate(talk[:-4]) if message["role"] == "assistant"]
    extra = set()
    for threshold in range(1_000, 1_400, 50):
        asked: dict[str, list[Talk]] = {"probed": [], "replayed": []}

        def compaction(where: str, threshold: int = threshold, asked: dict[str, list[Talk]] = asked) -> Compaction:
            def summarise(prompt: Talk) -> str:
                asked[where].append(prompt)
                return "Timeouts."

            return Compaction(summarise, threshold)

        probes([compaction("probed")], talk, COUNTER)
        replay(talk[:-4], compaction("replayed"), COUNTER, calls)
        of_the_run, more = asked["replayed"], asked["probed"][len(asked["replayed"]) :]
        assert asked["probed"][: len(of_the_run)] == of_the_run
        # where probes go over the threshold, as most do together, the summary for which they call is the same
        assert more == more[-1:] * len(more)
        assert not any(wording in str(asked) for fact in FACTS for wording in fact.wordings)
        extra.add(len(more))
    assert {0, 12} <= extra


class Reader:
    """A model that answers with the fact's identifier where it stands in the prompt, and otherwise with a rival."""

    label, fingerprint = "a reader", "reader@1"

    def __init__(self, wrong: str = "I do not know.") -> None:
        self.wrong = wrong
        self.batches: list[tuple[int, int, bool]] = []
        self.count_text, self.count_prompt, self.token_spans = (
            COUNTER.count_text,
            COUNTER.count_prompt,
            COUNTER.token_spans,
        )

    def encode_prompt(self, messages: Talk, tools: Any = None) -> list[int]:
        return COUNTER.tokenizer.encode(COUNTER.render(messages, tools)).ids  # type: ignore[no-any-return]

    def complete_many(
        self, prompts: Any, max_new_tokens: int, remember: bool, tool_choice: str, unlike: Any, **_: Any
    ) -> list[Completion]:
        self.batches.append((len(prompts), max_new_tokens, remember))
        self.rules = (tool_choice, unlike)
        found = []
        for messages, tools in prompts:
            assert len(tools) == 12
            fact = next(fact for fact in FACTS if any(w in messages[-1]["content"] for w in fact.wordings))
            told = " ".join(message["content"] for message in messages)
            answer = f"It is {fact.answer}." if fact.answer in told else self.wrong
            size = len(self.encode_prompt(messages, tools))
            found.append(Completion(answer, size, size, len(answer.split()), 0.5, "stop", self.fingerprint))
        return found


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return run(policies(), incident(), TOOLS, Reader(), command="ctxcourse agent probes")  # type: ignore[arg-type]


def test_a_table_has_one_row_a_probe_in_one_batch(frame: pd.DataFrame) -> None:
    assert list(frame.columns) == list(TABLE.columns)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == dict(TABLE.columns)
    assert len(frame) == 10 * 2 * 6
    reader = Reader()
    run(policies()[:2], incident(), TOOLS, reader)  # type: ignore[arg-type]
    assert reader.batches == [(24, NEW_TOKENS, True)]
    choice, texts = reader.rules
    spoken = [
        m["content"] for m in before_last_turn(incident()) if m["role"] == "assistant" and not m.get("tool_calls")
    ]
    assert (choice, len(texts)) == ("none", 24)
    assert texts[0] == [*split_sentences(FACTS[0].wordings[0]), *spoken[-UNLIKE:]]
    for row in frame.itertuples():
        fact = next(fact for fact in FACTS if fact.sort == row.fact)
        assert row.question == fact.wordings[row.wording - 1]
        assert row.kind == ("correct" if row.present else "admits not knowing")
        assert row.answer == (f"It is {fact.answer}." if row.present else "I do not know.")
        assert row.new_tokens == len(row.answer.split())


def test_what_each_policy_still_holds(frame: pd.DataFrame) -> None:
    shares = cells(frame).set_index(["policy", "fact"])["stated"].unstack("fact").to_dict("index")
    both, neither = {"employee number": 1.0, "shard": 1.0}, {"employee number": 0.0, "shard": 0.0}
    assert shares == {
        "full history": both,
        "sliding window": neither,
        "elided tool results": both,
        "compaction": neither,
        "compaction + notes": neither,
        "user messages + last turns": both,
        "pinned in the system message": both,
        "pinned at the end": both,
        "control": both,
        "sub-agent": {"employee number": 0.0, "shard": 1.0},
    }
    window = frame[frame["policy"] == "sliding window"].groupby("fact")["present"].all().to_dict()
    assert window == {"employee number": False, "shard": True}  # a log line has the name, and nothing has the fact


def test_a_summary_or_a_note_that_carries_the_fact_states_it() -> None:
    made = policies(summary="Tickets go under 4417.")[3:4]
    talk = incident()
    noted = standard_policies(
        lambda prompt: "Timeouts.",
        lambda prompt: "Affected: pay-shard-7." if "pay-shard-7" in prompt[1]["content"] else "NONE",
        "Be kind.",
        2_000,
    )[4:5]
    found = cells(run([*made, *noted], talk, TOOLS, Reader()))  # type: ignore[arg-type]
    assert list(found["stated"]) == [1, 0, 0, 1]
    assert list(found["correct"][[0, 2, 3]]) == [6, 0, 6]


def test_cells_count_the_kinds_with_an_interval(frame: pd.DataFrame) -> None:
    found = cells(frame)
    kinds = ["correct", "other_identifier", "admits", "other"]
    means = ["present", "stated", "prompt_tokens"]
    assert list(found.columns) == ["policy", "fact", *means, "n", *kinds, "low", "high"]
    assert len(found) == 20
    assert (found["n"] == 6).all()
    assert (found[kinds].sum(axis=1) == 6).all()
    assert ((found["low"] <= found["correct"] / 6) & (found["correct"] / 6 <= found["high"])).all()
    full = found.iloc[0]
    assert (full["policy"], full["fact"], full["correct"], full["high"]) == ("full history", "employee number", 6, 1.0)
    assert found["prompt_tokens"][0] == max(found["prompt_tokens"])


def test_rivals_count_only_where_the_prompt_holds_them() -> None:
    chosen = [FullHistory(), GivenMessages(planted(incident()))]
    wrong = run(chosen, incident(), TOOLS, Wrong("pay-shard-3, or 1022"))  # type: ignore[arg-type]
    assert list(cells(wrong)["other_identifier"]) == [6, 6, 0, 0]
    assert list(cells(wrong)["other"]) == [0, 0, 6, 6]
    assert wrong["present"].all()


class Wrong(Reader):
    """It never looks."""

    def complete_many(self, prompts: Any, *arguments: Any, **named: Any) -> list[Completion]:
        right = super().complete_many(prompts, *arguments, **named)
        return [Completion(self.wrong, one.prompt_tokens, 0, 3, 0.1, "stop", self.fingerprint) for one in right]


def test_provenance_says_what_was_asked_and_the_table_comes_back_from_its_file(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    about = frame.attrs["provenance"]
    assert (about["experiment"], about["calls"], about["max_new_tokens"]) == ("probes", 120, NEW_TOKENS)
    assert about["tokens_in_prompts"] == frame["prompt_tokens"].sum() > about["distinct_tokens"]
    assert about["arguments"]["facts"] == {"employee number": "4417", "shard": "pay-shard-7"}
    assert about["arguments"]["policies"][-1] == "sub-agent"
    assert (about["arguments"]["tools"], about["command"]) == (12, "ctxcourse agent probes")
    TABLE.save(frame, tmp_path / "probes")
    back = TABLE.load(tmp_path / "probes.csv")
    assert_frame_equal(back, frame)
    assert set(back["kind"]) <= set(KINDS)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ProbeError, match="two policies are called 'full history'"):
        run([FullHistory(), FullHistory()], incident(), TOOLS, Reader())  # type: ignore[arg-type]
    with pytest.raises(ProbeError, match="0 policies and 2 facts"):
        run([], incident(), TOOLS, Reader())  # type: ignore[arg-type]
    with pytest.raises(ProbeError, match="1 policies and 0 facts"):
        run([FullHistory()], incident(), TOOLS, Reader(), facts=[])  # type: ignore[arg-type]
    with pytest.raises(ProbeError, match="there are 1"):
        run([FullHistory()], incident(1), TOOLS, Reader())  # type: ignore[arg-type]
    reader = Reader()
    with pytest.raises(Cancelled, match="nothing was asked"):
        run([FullHistory()], incident(), TOOLS, reader, should_stop=lambda: True)  # type: ignore[arg-type]
    assert reader.batches == []


# A real, small model


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(write_small_model(home / "small")))


def test_a_real_model_is_asked_with_the_tools_and_remembers(small: Model) -> None:
    talk = incident(3)
    one = Fact("shard", "pay-shard-7", SHARD.wordings[:2])
    asked = [GivenMessages([5]), SubAgent(2, 2)]
    first = run(asked, talk, TOOLS[:2], small, facts=[one], max_new_tokens=4, progress=False)
    assert list(first["wording"]) == [1, 2, 1, 2]
    assert (first["new_tokens"] <= 4).all()
    given = probes(asked, talk, small, facts=[one])
    assert list(first["prompt_tokens"]) == [small.count_prompt(probe.kept.messages, TOOLS[:2]) for probe in given]
    again = run(asked, talk, TOOLS[:2], small, facts=[one], max_new_tokens=4, progress=False)
    assert_frame_equal(again, first)
    assert again.attrs["provenance"]["remembered"] == 4


def test_without_state_no_call_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    prompt = FullHistory.prompt

    def counted(self: FullHistory, messages: Talk, counter: Any) -> Any:
        sizes.append(len(messages))
        return prompt(self, messages, counter)

    monkeypatch.setattr(FullHistory, "prompt", counted)
    probe_table.probes([FullHistory()], incident(5), COUNTER)
    assert sizes == [18] * 12
