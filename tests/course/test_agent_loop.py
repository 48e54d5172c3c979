"""The agent's loop over the real environment, with a model that answers from a list; and the forty turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxcourse import load_model, load_tokenizer
from ctxcourse.agent.environment import Environment
from ctxcourse.agent.loop import REQUEST, AgentError, Step, Turn, assistant_message, run
from ctxcourse.agent.probes import EMPLOYEE, SHARD, held
from ctxcourse.agent.scenario import FACT_TURN, LAST_TURN, RULE_TURN, incident
from ctxcourse.agent.transcript import Transcript
from ctxcourse.messages import check_pairs, turns
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.model.qwen import Model
from tests.small_model import write_small_model

TIME = '<tool_call>\n{"name": "get_current_time", "arguments": {"timezone": "UTC"}}\n</tool_call>'
UNKNOWN = '{"name": "read_log", "arguments": {"service": "payments-api"}}'


class Answers:
    """What `run` needs of a model: its answers come from a list, and the prompts are kept."""

    label, fingerprint = "a list of answers", "list@0"

    def __init__(self, *answers: str) -> None:
        self.left = list(answers)
        self.prompts: list[list[dict[str, Any]]] = []
        self.choices: list[tuple[str, list[str]]] = []

    def complete(
        self,
        prompt: Sequence[dict[str, Any]],
        tools: Any,
        max_new_tokens: int,
        should_stop: Callable[[], bool],
        remember: bool,
        tool_choice: str,
        unlike: Sequence[str],
    ) -> Completion:
        self.prompts.append([dict(message) for message in prompt])
        self.choices.append((tool_choice, list(unlike)))
        return Completion(self.left.pop(0), 10, 10, 3, 0.1, "stop", self.fingerprint)

    def encode_prompt(self, messages: Sequence[dict[str, Any]], tools: Any = None) -> list[int]:
        return list(range(len(messages)))


def tagged(call: str) -> str:
    return f"<tool_call>\n{call}\n</tool_call>"


def asked(*answers: str, turns: Sequence[Turn] = (Turn(8, "What time is it?"),), **more: Any) -> tuple[Answers, Any]:
    model = Answers(*answers)
    return model, run(model, turns, Environment(), system="Be brief.", **more)  # type: ignore[arg-type]


def test_a_turn_ends_with_an_answer_without_a_call() -> None:
    model, made = asked(TIME, "It is 09:48.")
    assert [message["role"] for message in made.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert "09:48" in made.messages[3]["content"]
    assert model.prompts[1] == made.messages[:4]
    assert len(made.calls()) == 2
    assert made.tools == Environment().tools()


def test_a_turn_has_no_more_calls_than_its_limit_then_an_answer_and_the_next_turn_comes() -> None:
    talk = (Turn(8, "What time is it?"), Turn(9, "And now?"))
    model, made = asked(TIME, TIME, "It is 09:48.", "No idea.", turns=talk, calls_per_turn=2)
    assert [len(turn) for turn in turns(made.messages[1:])] == [6, 2]
    assert [choice for choice, _ in model.choices] == ["auto", "auto", "none", "auto"]
    check_pairs(made.messages)


def test_what_looks_like_a_call_in_the_answer_without_one_is_text_and_runs_nothing() -> None:
    _, made = asked(TIME, "It is " + TIME, calls_per_turn=1)
    assert [message["role"] for message in made.messages[2:]] == ["assistant", "tool", "assistant"]
    assert made.messages[-1] == {"role": "assistant", "content": "It is " + TIME}


def test_a_turn_that_requires_a_call_requires_the_first_alone() -> None:
    talk = (Turn(8, "Look it up.", "required"), Turn(9, "And now?"))
    model, _ = asked(TIME, "It is 09:48.", "No idea.", turns=talk, calls_per_turn=2)
    assert [choice for choice, _ in model.choices] == ["required", "auto", "auto"]


def test_no_answer_begins_as_what_was_just_said_or_as_the_last_ten_answers() -> None:
    talk = [Turn(8 + number, f"Question {number}") for number in range(13)]
    model, _ = asked(*(f"Answer {number}" for number in range(13)), turns=talk)
    assert model.choices[0] == ("auto", ["Question 0"])
    assert model.choices[12] == ("auto", ["Question 12", *(f"Answer {number}" for number in range(2, 12))])


def test_the_request_stands_behind_the_last_result_of_an_answer_and_behind_no_other() -> None:
    _, made = asked(TIME + "\n" + TIME.replace("UTC", "Europe/Lisbon"), "Two times.")
    first, last = (message["content"] for message in made.messages[3:5])
    assert last.endswith(REQUEST)
    assert REQUEST.strip() not in first


def test_a_tool_that_is_not_there_is_answered_with_an_error_that_names_those_near_it() -> None:
    _, made = asked(UNKNOWN, "I see.")
    assert made.messages[3]["content"].startswith("Error: there is no tool 'read_log'")
    assert "search_logs" in made.messages[3]["content"]


def test_an_answer_whose_call_cannot_be_read_stays_as_it_is_and_ends_the_turn() -> None:
    broken = '<tool_call>\n{"name": "get_current_time", "argum'
    _, made = asked(broken)
    assert made.messages[-1] == {"role": "assistant", "content": broken}


@pytest.mark.parametrize("wrapped", ["{}", "```json\n{}\n```", "<tool_call>{}</tool_call>", "Let me look.\n{}"])
def test_all_forms_of_a_call_become_one_message(wrapped: str) -> None:
    call = '{"name": "get_current_time", "arguments": {"timezone": "UTC"}}'
    message, calls = assistant_message(wrapped.replace("{}", call), 3)
    assert message["content"] == ("Let me look." if wrapped.startswith("Let") else "")
    assert [each["id"] for each in message["tool_calls"]] == ["call_3_1"]
    assert calls[0].arguments == {"timezone": "UTC"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("I use {x} here. " + TIME, "I use {x} here."),
        ("I run ```ls``` first.\n" + TIME, "I run ```ls``` first."),
        ("I use {x} here.\n" + UNKNOWN, "I use {x} here."),
        ('I had {"a": {"b": 1}}.\n' + UNKNOWN, 'I had {"a": {"b": 1}}.'),
        ("I run ```ls``` first.\n```json\n[" + UNKNOWN + "]\n```", "I run ```ls``` first."),
        (UNKNOWN + " Then {x}.", ""),
    ],
)
def test_the_text_goes_up_to_the_first_call(answer: str, text: str) -> None:
    message, calls = assistant_message(answer, 1)
    assert (message["content"], len(calls)) == (text, 1)


BROKEN = '{"name": "get_ticket", "arguments": {"ticket":'


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (TIME + "\n" + tagged(BROKEN), tagged(BROKEN)),
        (tagged(BROKEN) + "\n" + TIME, tagged(BROKEN)),
        (f"Both.\n{TIME}\n<tool_call>\n{BROKEN}", f"Both.\n<tool_call>\n{BROKEN}"),
        (f"```json\n{UNKNOWN}\n```\n```json\n{BROKEN}\n", f"```json\n{BROKEN}"),
        (f"```json\n{BROKEN}\n```\n{UNKNOWN}", f"```json\n{BROKEN}"),
    ],
)
def test_a_call_that_cannot_be_read_stays_beside_one_that_can(answer: str, text: str) -> None:
    message, calls = assistant_message(answer, 1)
    assert (message["content"], len(calls)) == (text, 1)


def test_the_provenance_has_the_seed_of_the_surroundings() -> None:
    for seed in (1, 7):
        made = run(Answers("Hello."), [Turn(8, "Hi")], Environment(seed), system="Be brief.")  # type: ignore[arg-type]
        assert made.provenance["seed"] == seed


def test_two_calls_of_one_answer_have_two_results_and_equal_ones_one() -> None:
    _, made = asked("\n".join([TIME, TIME, TIME.replace("UTC", "Europe/Rome"), TIME]), "Two times.")
    assert [message.get("tool_call_id") for message in made.messages[3:5]] == ["call_1_1", "call_1_2"]
    assert made.messages[5]["role"] == "assistant"


def test_whoever_watches_is_told_of_every_call_and_the_provenance_says_what_was_run() -> None:
    steps: list[Step] = []
    _, made = asked(TIME, "It is 09:48.", watch=steps.append, command="ctxcourse agent run")
    assert [(step.turn, step.call, step.completion.text) for step in steps] == [(1, 1, TIME), (1, 2, "It is 09:48.")]
    about = made.provenance
    assert (about["calls"], about["command"], about["model"]) == (2, "ctxcourse agent run", "a list of answers")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"turns": ()}, "there are no turns"),
        ({"calls_per_turn": 0}, "calls_per_turn=0"),
        ({"turns": (Turn(1, "Hi", "none"),)}, "tool_choice='none'"),
        ({"max_new_tokens": True}, "max_new_tokens=True"),
    ],
)
def test_what_cannot_be_run_is_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(AgentError, match=re.escape(said)):
        asked("Hello", **more)


# A run that is stopped, with a real, small model


def small_model(home: Path) -> Model:
    """A model with a completion store of its own."""
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(write_small_model(home / "small")))


class OneTool(Environment):
    """The environment with a short catalogue, so that prompts of bytes stay short."""

    def tools(self) -> list[dict[str, Any]]:
        return super().tools()[:1]


def worked(model: Model, steps: list[Step], should_stop: Callable[[], bool] = lambda: False) -> Transcript:
    """Three turns, as a new process would work through them: nothing is left but what the store has."""
    model.forget()
    system, talk = incident()
    return run(
        model,
        talk[:3],
        OneTool(),
        system=system,
        max_new_tokens=12,
        should_stop=should_stop,
        watch=steps.append,
        command="ctxcourse agent run",
    )


def test_a_run_that_was_stopped_goes_on_and_ends_as_one_that_was_not(tmp_path: Path) -> None:
    straight: list[Step] = []
    whole = worked(small_model(tmp_path / "whole"), straight)
    assert len(straight) >= 3
    assert whole.provenance["remembered"] == 0
    stopped = small_model(tmp_path / "stopped")
    begun: list[Step] = []
    with pytest.raises(Cancelled):
        worked(stopped, begun, lambda: len(begun) == 2)
    assert [step.completion.remembered for step in begun] == [False, False]
    steps: list[Step] = []
    made = worked(stopped, steps)
    assert (made.messages, made.tools) == (whole.messages, whole.tools)
    assert [step.completion.remembered for step in steps] == [True, True] + [False] * (len(straight) - 2)
    assert [step.completion.computed_tokens > 0 for step in steps] == [False, False] + [True] * (len(straight) - 2)
    assert made.provenance["remembered"] == 2
    same = {"calls", "command", "arguments", "tokens_in_prompts", "distinct_tokens", "seed"}
    assert {name: made.provenance[name] for name in same} == {name: whole.provenance[name] for name in same}


def test_the_two_facts_are_said_once_and_the_clock_never_goes_back() -> None:
    _, talk = incident()
    assert len(talk) == LAST_TURN
    said = [{"role": "user", "content": turn.text} for turn in talk]
    assert [place for place, one in enumerate(said, 1) if held(EMPLOYEE, [one]).present] == [RULE_TURN]
    assert [place for place, one in enumerate(said, 1) if held(SHARD, [one]).present] == [FACT_TURN]
    assert [turn.minute for turn in talk] == sorted(turn.minute for turn in talk)


@pytest.mark.model
def test_system_message_and_scaffolding_are_near_the_published_85_tokens() -> None:
    system, _ = incident()
    assert 70 <= load_tokenizer().count_prompt([{"role": "system", "content": system}]) <= 100
