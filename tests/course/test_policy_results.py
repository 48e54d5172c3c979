"""The shipped probes and bills of lesson 08: made again where no helper is needed, scored, asked again in part."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ctxcourse import load_model, load_tokenizer
from ctxcourse.agent.accounting import bill_of_prompts
from ctxcourse.agent.comparison import bills, compared_policies
from ctxcourse.agent.probe_table import answered, cells, probes
from ctxcourse.agent.probes import FACTS, classify, held
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.policies import replay
from ctxcourse.results import load_results

RUN = shipped_run()
HELPED = ("compaction", "compaction + notes")
SORTS = {fact.sort: fact for fact in FACTS}


def policies(model: Any) -> list[Any]:
    return [policy for policy in compared_policies(model, RUN) if policy.name not in HELPED]


def test_every_policy_is_asked_for_both_facts_in_six_wordings() -> None:
    frame, billed = load_results("probes"), load_results("bills")
    assert len(billed) == 10
    assert list(billed["policy"]) == list(frame["policy"].unique())
    assert set(HELPED) < set(billed["policy"])
    asked = frame.groupby(["policy", "fact"])["question"].apply(list)
    assert all(questions == list(SORTS[fact].wordings) for (_, fact), questions in asked.items())
    assert frame.attrs["provenance"]["calls"] == len(frame) == 120
    assert (cells(frame)["n"] == 6).all()


def test_both_tables_are_of_the_run_that_ships_and_of_one_model() -> None:
    probed, billed = (load_results(name).attrs["provenance"] for name in ("probes", "bills"))
    assert billed["recording"] == RUN.provenance
    assert probed["fingerprint"] == billed["fingerprint"] == RUN.provenance["fingerprint"]
    assert probed["remembered"] == 0
    assert probed["command"].startswith("ctxcourse agent probe ")


@pytest.mark.model
def test_the_prompts_and_the_kinds_are_those_of_the_rules() -> None:
    tok = load_tokenizer()
    rows = {(row["policy"], row["fact"], row["wording"]): row for row in load_results("probes").to_dict("records")}
    for probe in probes(policies(tok), RUN.messages, tok):
        row = rows[probe.policy, probe.fact.sort, probe.wording]
        there = held(probe.fact, probe.kept.messages)
        assert row["prompt_tokens"] == tok.count_prompt(probe.kept.messages, RUN.tools)
        assert (row["present"], row["stated"]) == (there.present, there.stated)
        assert row["kind"] == classify(row["answer"], probe.fact, there.identifiers)


@pytest.mark.model
def test_the_bills_are_those_of_the_prompts() -> None:
    tok, shipped = load_tokenizer(), load_results("bills").set_index("policy")
    for policy in policies(tok):
        row = shipped.loc[policy.name]
        last = RUN.calls()[-1].turn
        billed = [call for call in RUN.calls() if row["prompts"] > 1 or call.turn == last][: int(row["prompts"])]
        indices = [call.index for call in billed]
        kept = replay(RUN.messages, policy, tok, indices)
        made = bill_of_prompts([each.messages for each in kept], RUN.tools, tok)
        assert (row["billed_tokens"], row["recomputed_tokens"]) == (made.billed, made.recomputed)
        assert (row["helper_tokens"], row["helper_calls"]) == (0, 0)


@pytest.mark.model
@pytest.mark.full
def test_what_the_helpers_write_is_written_again_and_a_random_tenth_of_the_probes_is_answered_again() -> None:
    model = load_model()
    compared = compared_policies(model, RUN)
    frame = load_results("probes")
    asked = probes(compared, RUN.messages, model)
    chosen = sorted(random.Random().sample(range(len(frame)), len(frame) // 10))
    answers = answered([asked[place] for place in chosen], RUN.messages, RUN.tools, model, remember=False)
    for place, answer in zip(chosen, answers, strict=True):
        assert frame["prompt_tokens"][place] == answer.prompt_tokens
        assert frame["answer"][place] == answer.text, frame["question"][place]
    made = bills(RUN, compared, model)
    assert made.to_dict("records") == load_results("bills").to_dict("records")
