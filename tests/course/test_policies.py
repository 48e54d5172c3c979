"""One suite over every policy, then what each of them alone promises; helpers that are good, bad and broken."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.errors import CourseError
from ctxcourse.history import HistoryError, SlidingWindow, Truncation
from ctxcourse.history.rolling import HEADING
from ctxcourse.messages import MessageError, check_pairs, normalise, split_system, steps, turns
from ctxcourse.policies import (
    PRESERVE,
    ByCompressor,
    Compaction,
    CompactionWithNotes,
    FullHistory,
    GivenMessages,
    Kept,
    NoteTaker,
    Pinned,
    PolicyError,
    SubAgent,
    UserMessages,
    elided_results,
    note_of,
    note_prompt,
    replay,
    sliding_window,
    standard_policies,
)
from ctxcourse.policies.notes import HEADING as NOTES
from ctxcourse.tools import load_tools
from tests.context.conftest import SmallCounter
from tests.context.strategies import conversations, texts

Talk = list[dict[str, Any]]
BLOCK = "Tickets are filed under employee number 4417."
COUNTER = SmallCounter()
SYSTEM = {"role": "system", "content": "Assist the operations team."}


class Broken(Exception):
    """What a helper raises that has nothing to do with this course."""


def broken(prompt: Talk) -> str:
    raise Broken("no connection")


def short(prompt: Talk) -> str:
    return "It was about a dog."


SUMMARISERS = {"short": short, "empty": lambda prompt: " \n", "too long": lambda prompt: "no dog " * 400}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def call(number: int, result: str) -> Talk:
    function = {"name": "search_logs", "arguments": {"query": f"query {number}"}}
    made = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [made]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def incident(length: int = 12) -> Talk:
    """A system message, and turns of a question, one tool call with a long result, and an answer."""
    talk = [SYSTEM]
    for number in range(1, length + 1):
        result = f"timeout of the dog in house {number}\n" * 8
        talk += [user(f"Question {number}?"), *call(number, result), assistant(f"Answer {number}.")]
    return talk


def calls_of(talk: Talk) -> list[int]:
    """The places of all calls: those that the assistant has answered, and the one that comes next."""
    return [at for at, message in enumerate(talk) if message["role"] == "assistant"] + [len(talk)]


def said(kept: Kept) -> list[str]:
    return [message["content"] for message in kept.messages]


@st.composite
def compactions(draw: Any) -> Compaction:
    threshold = draw(st.integers(2, 300))
    size = draw(st.integers(1, min(threshold - 1, 60)))
    return Compaction(draw(st.sampled_from(list(SUMMARISERS.values()))), threshold, draw(st.integers(1, 6)), size)


takers = st.sampled_from(
    [short, lambda prompt: "NONE", lambda prompt: "word " * 99, lambda prompt: prompt[1]["content"]]
)
sizes = st.integers(1, 12)
KINDS: dict[str, Any] = {
    "full": st.builds(FullHistory),
    "window": st.builds(sliding_window, sizes),
    "elision": st.builds(elided_results, sizes),
    "compaction": compactions(),
    "notes": st.builds(CompactionWithNotes, compactions(), takers),
    "user": st.builds(UserMessages, sizes),
    "pinned": st.builds(Pinned, st.just(BLOCK), st.just("system"), sizes),
    "pinned at the end": st.builds(Pinned, st.just(BLOCK), st.just("end"), sizes),
    "control": st.builds(GivenMessages, st.lists(st.integers(0, 12), max_size=3)),
    "sub-agent": st.builds(lambda first, more: SubAgent(first, first + more), sizes, st.integers(0, 3)),
}
of_every_kind = pytest.mark.parametrize("kind", KINDS)


@st.composite
def talks(draw: Any) -> Talk:
    """A conversation, some of whose messages are long."""
    talk = draw(conversations())
    for message in talk:
        if draw(st.booleans()):
            message["content"] = draw(texts) * draw(st.integers(1, 6))
    return talk


def keeps_the_rules(kind: str, talk: Talk, kept: Kept) -> None:
    check_pairs(kept.messages)
    assert kept.messages == normalise(kept.messages)
    opening, rest = split_system(talk)
    if kind == "pinned":
        first = opening[0]["content"] if opening else ""
        assert kept.messages[0]["content"] == (f"{first}\n\n{BLOCK}" if first else BLOCK)
        assert kept.messages[1 : len(opening)] == opening[1:]
    else:
        assert kept.messages[: len(opening)] == opening
    if kind == "pinned at the end":
        end = talk[-1] if talk else {}
        if end.get("role") == "user":
            content = f"{end['content']}\n\n{BLOCK}" if end["content"] else BLOCK
            assert kept.messages[-1] == {**end, "content": content}
        else:
            assert kept.messages[-1] == user(BLOCK)
            assert kept.messages[:-1][-1:] == talk[-1:]
    elif rest:
        assert kept.messages[-1] == talk[-1]
    if kind in ("window", "elision", "user", "control", "sub-agent", "full"):
        units = [[without_text(message) for message in step] for step in steps(talk)]
        for step in steps(kept.messages):
            assert [without_text(message) for message in step] in units  # whole steps, and nothing that nobody said
    if kind not in ("compaction", "notes"):
        assert (kept.helper_tokens, kept.helper_calls, kept.no_summary) == (0, 0, False)


def without_text(message: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "content"}


@of_every_kind
@settings(max_examples=40, deadline=None)
@given(data=st.data(), talk=talks())
def test_every_policy_keeps_a_valid_conversation_at_every_call(kind: str, data: Any, talk: Talk) -> None:
    policy = data.draw(KINDS[kind])
    given_talk, whole = copy.deepcopy(talk), normalise(talk)
    memory = policy.start()
    for index in calls_of(whole):
        kept = memory.prompt(talk[:index], COUNTER)
        keeps_the_rules(kind, whole[:index], kept)
        for message in kept.messages:  # what is given away is nobody else's
            message["content"] = "spoilt"
    assert talk == given_talk
    assert replay(talk, policy, COUNTER, calls_of(whole)) == replay(whole, policy, COUNTER, calls_of(whole))


@pytest.mark.parametrize("how", SUMMARISERS)
def test_the_eight_policies_replay_a_long_run_whatever_the_summariser(how: str) -> None:
    talk = incident()
    policies = standard_policies(SUMMARISERS[how], lambda prompt: "NONE", BLOCK, threshold=400)
    assert len({policy.name for policy in policies}) == 8
    for policy in [*policies, GivenMessages([1]), SubAgent(2, 3)]:
        kept = replay(talk, policy, COUNTER, calls_of(talk))
        assert len(kept) == 25
        for index, one in zip(calls_of(talk), kept, strict=True):
            check_pairs(one.messages)
            assert one.messages[-1]["content"].startswith(talk[:index][-1]["content"]) or policy.name.endswith("end")


# The stateless ones


def test_a_window_elision_and_full_history_are_what_the_compressors_make() -> None:
    talk = incident()
    assert replay(talk, FullHistory(), COUNTER, [len(talk)])[0].messages == talk
    window = replay(talk, sliding_window(), COUNTER, [len(talk)])[0]
    assert window.messages == SlidingWindow(12).compress(talk, COUNTER).messages
    assert len(window.messages) == 13
    elided = replay(talk, elided_results(), COUNTER, [len(talk)])[0]
    stubs = [
        text.startswith("[elided")
        for text, message in zip(said(elided), talk, strict=True)
        if message["role"] == "tool"
    ]
    assert stubs == [True] * 8 + [False] * 4
    assert replay(talk, ByCompressor("cut", Truncation(90)), COUNTER, [len(talk)])[0].messages[0] == SYSTEM


def test_all_the_user_said_stays_and_nothing_else_of_older_turns() -> None:
    talk = incident(7)
    talk.insert(9, {"role": "system", "content": "In between."})
    kept = replay(talk, UserMessages(), COUNTER, [len(talk)])[0]
    assert said(kept)[:4] == [SYSTEM["content"], "Question 1?", "Question 2?", "Question 3?"]
    assert kept.messages[4:] == [message for turn in turns(talk)[-4:] for message in turn]
    assert kept.notes == ("10 messages of 3 older turns left out",)
    assert UserMessages(last=7).prompt(talk, COUNTER) == Kept(talk)


def test_the_control_holds_the_given_messages_and_the_current_turn() -> None:
    talk = [*incident(5), user("Which house?")]
    kept = GivenMessages([1, 5]).prompt(talk, COUNTER)
    assert said(kept) == [SYSTEM["content"], "Question 1?", "Question 2?", "Which house?"]
    # a result brings the step with it in which it stands; the current turn is whole; what is not there yet is no error
    kept = GivenMessages([3, 99]).prompt(talk[:-2], COUNTER)
    assert kept.messages == [SYSTEM, *talk[2:4], *talk[17:20]]


def test_a_sub_agent_sees_its_turns_and_the_question() -> None:
    talk = [*incident(6), user("Which house?")]
    assert SubAgent(2, 3).prompt(talk, COUNTER).messages == [SYSTEM, *talk[5:13], talk[-1]]
    assert SubAgent(7, 9).prompt(talk, COUNTER).messages == [SYSTEM, talk[-1]]  # the current turn, once
    assert SubAgent(1, 1).prompt([assistant("Welcome."), user("One"), user("Two")], COUNTER).messages[0] == user("One")


# The pinned block


def test_the_block_extends_the_system_message_or_becomes_one() -> None:
    talk = incident()
    kept = Pinned(BLOCK).prompt(talk, COUNTER).messages
    assert kept[0] == {"role": "system", "content": f"{SYSTEM['content']}\n\n{BLOCK}"}
    assert kept[1:] == sliding_window().prompt(talk, COUNTER).messages[1:]
    own = {"role": "system", "content": BLOCK}
    assert Pinned(BLOCK).prompt([user("Hi")], COUNTER).messages == [own, user("Hi")]
    # a system message further down, with which the window happens to begin, is none that opens the conversation
    late = {"role": "system", "content": "Late."}
    assert Pinned(BLOCK, last=1).prompt([user("Hi"), late], COUNTER).messages == [own, late]


def test_at_the_end_the_block_is_last_whatever_the_prompt_ends_with() -> None:
    talk, policy = incident(), Pinned(BLOCK, "end")
    kept = replay(talk, policy, COUNTER, calls_of(talk))
    assert all(one.messages[-1]["role"] == "user" and one.messages[-1]["content"].endswith(BLOCK) for one in kept)
    assert kept[0].messages[-1] == user(f"Question 1?\n\n{BLOCK}")
    assert kept[1].messages[-2:] == [talk[3], user(BLOCK)]  # behind a tool result
    assert sum(BLOCK in message["content"] for message in kept[-1].messages) == 1


# Compaction


def test_compaction_keeps_one_summary_that_is_written_of_the_one_before_and_what_is_new() -> None:
    talk, prompts = incident(), []

    def recorded(prompt: Talk) -> str:
        prompts.append(prompt)
        return f"Summary {len(prompts)}."

    policy = Compaction(recorded, threshold=400, summary_tokens=60)
    kept = replay(talk, policy, COUNTER, calls_of(talk))
    assert len(prompts) > 2
    for number, prompt in enumerate(prompts[1:], start=1):
        assert f"Summary {number}." in prompt[1]["content"]
    assert all(prompt[0]["content"] == PRESERVE for prompt in prompts)
    retold = [prompt[1]["content"] for prompt in prompts]
    for number in range(1, 8):  # nothing is retold twice, and nothing is lost before it was retold
        assert sum(f"User: Question {number}?" in text for text in retold) == 1
    for one in kept:
        assert sum(message["content"].startswith(HEADING) for message in one.messages) <= 1
        assert COUNTER.count_prompt(one.messages) <= 400
    assert kept[-1].messages[1]["content"] == HEADING + f"Summary {len(prompts)}."
    # the bill: the prompts, each at the call it was made for
    assert sum(one.helper_tokens for one in kept) == sum(map(COUNTER.count_prompt, prompts))
    assert sum(one.helper_calls for one in kept) == len(prompts)
    assert not any(one.no_summary for one in kept)
    assert [bool(one.helper_tokens) for one in kept] == [bool(one.notes) for one in kept]
    assert kept[0].helper_tokens == 0


def test_the_question_of_the_current_turn_is_never_retold() -> None:
    talk = [SYSTEM]
    for number in range(1, 9):  # three calls a turn, so that the question is the eighth message from the end
        talk += [user(f"Question {number}?")]
        for place in range(3):
            talk += call(10 * number + place, f"timeout of the dog in house {number}\n" * 4)
        talk += [assistant(f"Answer {number}.")]
    kept = replay(talk, Compaction(short, 500, summary_tokens=50), COUNTER, calls_of(talk))
    assert sum(said(one)[1].startswith(HEADING) for one in kept) > 10
    for index, one in zip(calls_of(talk), kept, strict=True):
        last = turns(talk[:index])[-1]
        roles = [message["role"] for message in one.messages]
        assert last[0] in one.messages
        assert roles[-len(last) :] == [message["role"] for message in last]


def test_where_stubs_take_the_place_of_a_summary_that_was_refused_it_is_said() -> None:
    talk = incident()
    kept = replay(talk, Compaction(SUMMARISERS["empty"], 700, summary_tokens=40), COUNTER, calls_of(talk))
    stubbed = [one for one in kept if any(note.startswith("no summary: ") for note in one.notes)]
    assert stubbed
    assert all(one.no_summary and one.helper_calls for one in stubbed)
    assert not any(message["content"].startswith(HEADING) for one in kept for message in one.messages)


def test_no_prompt_of_a_helper_is_counted_twice() -> None:
    talk, asked = incident(), []

    class Counting(SmallCounter):
        def count_prompt(self, messages: Any, tools: Any = None) -> int:
            asked.extend(m["content"] for m in messages[:1] if m["content"] == PRESERVE)
            return super().count_prompt(messages, tools)

    kept = replay(talk, Compaction(short, 400, summary_tokens=60), Counting(), calls_of(talk))
    assert len(asked) == sum(one.helper_calls for one in kept) > 2


def test_below_the_threshold_nobody_is_asked() -> None:
    talk = incident(3)
    kept = replay(talk, Compaction(broken, threshold=5_000), COUNTER, calls_of(talk))
    assert [one.messages for one in kept] == [talk[:index] for index in calls_of(talk)]


def test_a_call_that_is_repeated_gets_the_same_prompt_and_costs_nothing() -> None:
    talk = incident()
    memory = CompactionWithNotes(Compaction(short, 400, summary_tokens=40), short).start()
    for index in calls_of(talk):
        first = memory.prompt(talk[:index], COUNTER)
    again = memory.prompt(talk, COUNTER)
    assert (again.messages, again.helper_tokens) == (first.messages, 0)


def test_what_a_helper_raises_is_passed_on_and_changes_nothing() -> None:
    talk, answers = incident(), [broken]

    def sometimes(prompt: Talk) -> str:
        return answers[0](prompt)

    policy = CompactionWithNotes(Compaction(sometimes, 400, summary_tokens=40), sometimes)
    with pytest.raises(Broken):
        replay(talk, policy, COUNTER, calls_of(talk))
    memory = policy.start()
    with pytest.raises(Broken):
        memory.prompt(talk, COUNTER)
    answers[0] = short
    assert memory.prompt(talk, COUNTER) == policy.start().prompt(talk, COUNTER)
    with pytest.raises(MessageError, match="the summariser's answer must be a string"):
        Compaction(lambda prompt: None, 400, summary_tokens=40).start().prompt(talk, COUNTER)  # type: ignore[arg-type,return-value]


def test_a_copy_of_a_memory_goes_on_by_itself() -> None:
    talk = incident()
    memory = CompactionWithNotes(
        Compaction(short, 400, summary_tokens=40), lambda prompt: prompt[1]["content"][10:22]
    ).start()
    memory.prompt(talk[:26], COUNTER)
    before = copy.deepcopy(vars(memory))
    other = copy.copy(memory)
    other.prompt([*talk[:26], *talk[29:]], COUNTER)
    assert vars(memory) == before
    assert (
        memory.prompt(talk, COUNTER)
        == replay(
            talk,
            CompactionWithNotes(Compaction(short, 400, summary_tokens=40), lambda prompt: prompt[1]["content"][10:22]),
            COUNTER,
            [26, len(talk)],
        )[1]
    )


def test_where_no_summary_helps_everything_stays_and_the_next_attempt_waits() -> None:
    asked = []

    def useless(prompt: Talk) -> str:
        asked.append(prompt)
        return ""

    talk = [
        SYSTEM,
        *(message for n in range(60) for message in (user(f"Question {n}? " * 4), assistant("Yes, a dog."))),
    ]
    kept = replay(talk, Compaction(useless, 400, summary_tokens=40), COUNTER, calls_of(talk))
    assert kept[-1].messages == talk  # no tool results that a stub could replace
    failed = [one for one in kept if one.helper_tokens]
    over = [one for one in kept if COUNTER.count_prompt(one.messages) > 400]
    assert all(one.notes[0].startswith("not compacted: the summary was refused") for one in failed)
    assert all(one.notes[0].startswith("not compacted") for one in over)
    assert [one.no_summary for one in kept] == [bool(one.helper_calls) for one in kept]
    assert 2 < len(failed) < len(over)
    sizes = [COUNTER.count_prompt(one.messages) for one in failed]
    assert all(later > earlier + 40 for earlier, later in pairwise(sizes))


def test_a_conversation_that_does_not_go_on_is_refused() -> None:
    memory = Compaction(short).start()
    memory.prompt([user("One"), assistant("Two"), user("Three")], COUNTER)
    for other in ([user("One")], [user("Other"), assistant("Two"), user("Three"), user("Four")]):
        with pytest.raises(PolicyError, match=r"does not go on where the last one, of 3, ended.*new memory"):
            memory.prompt(other, COUNTER)


def test_the_summariser_is_told_what_must_not_be_lost_and_not_what_will_be_asked() -> None:
    for word in ("rules", "numbers", "identifiers", "confirmed", "word for word"):
        assert word in PRESERVE
    for word in ("4417", "shard", "employee", "ticket", "payments"):
        assert word not in PRESERVE.lower()


# Notes


def test_each_message_of_the_user_is_noted_once_and_none_is_no_note() -> None:
    talk, prompts = incident(6), []

    def taker(prompt: Talk) -> str:
        prompts.append(prompt)
        return f"Note: it was question {len(prompts)}." if len(prompts) % 2 else "NONE"

    kept = replay(talk, CompactionWithNotes(Compaction(short, 5_000), taker), COUNTER, calls_of(talk))
    assert prompts == [note_prompt(f"Question {number}?") for number in range(1, 7)]
    assert sum(one.helper_tokens for one in kept) == sum(map(COUNTER.count_prompt, prompts))
    # not yet while the message is the last, then behind the system message
    assert kept[0].messages == talk[:2]
    assert said(kept[1])[1] == f"{NOTES}- it was question 1."
    assert said(kept[-1])[1].splitlines()[2:] == [f"- it was question {number}." for number in (1, 3, 5)]
    assert [message for message in kept[-1].messages if not message["content"].startswith(NOTES)] == talk


def test_the_notes_stand_behind_the_summary_and_outlive_the_messages() -> None:
    talk = incident()
    policy = CompactionWithNotes(Compaction(short, 400, summary_tokens=40), lambda prompt: prompt[1]["content"][10:22])
    kept = replay(talk, policy, COUNTER, calls_of(talk))[-1]
    assert [message["role"] for message in kept.messages[:3]] == ["system", "user", "user"]
    assert said(kept)[1].startswith(HEADING)
    assert said(kept)[2].startswith(NOTES)
    assert "- Question 1?\n" in said(kept)[2]
    without = replay(talk, policy.compaction, COUNTER, calls_of(talk))[-1]
    assert [message for message in kept.messages if not message["content"].startswith(NOTES)] == without.messages


def test_a_long_note_is_refused_and_a_note_is_not_taken_twice() -> None:
    talk = [user("A"), assistant("B"), user(" "), assistant("B"), user("C"), assistant("B"), user("D")]
    answers = iter(["dog " * 60, "The rule.", "The rule."])
    memory = CompactionWithNotes(Compaction(short), lambda prompt: next(answers), note_tokens=40).start()
    kept = memory.prompt(talk, COUNTER)  # the message without text is not shown
    assert said(kept)[0] == f"{NOTES}- The rule."
    assert kept.notes[0].startswith("a note of ")
    assert kept.notes[0].endswith("tokens refused: it may have 40")
    again = memory.prompt([*talk, assistant("B"), user("E")], COUNTER)
    assert said(again)[0] == f"{NOTES}- The rule."


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("NONE", ""),
        ("none.", ""),
        ('"NONE"', ""),
        ("Note: NONE", ""),
        ("NONE. The message is a question.", ""),
        ("", ""),
        (" \n \n", ""),
        ("None of the shards is down.", "None of the shards is down."),
        ("NONEXISTENT_HOST is to be ignored.", "NONEXISTENT_HOST is to be ignored."),
        ("\n* **Note:** tickets under 4417\n\nAnything else?", "tickets under 4417"),
        ("- Tickets  under\t4417", "Tickets under 4417"),
        ("“Tickets under 4417”", "Tickets under 4417"),
        ("-4 degrees", "-4 degrees"),
    ],
)
def test_the_rules_for_a_note(answer: str, note: str) -> None:
    assert note_of(answer) == note


@given(texts)
def test_a_note_is_one_line(answer: str) -> None:
    assert len(note_of(answer).splitlines()) <= 1


# The prefix that a cache could keep


def shared(one: Sequence[Any], other: Sequence[Any]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def test_once_it_slides_a_window_shares_the_system_message_alone_and_full_history_everything() -> None:
    talk = incident()
    calls = calls_of(talk)
    full, window = (replay(talk, policy, COUNTER, calls) for policy in (FullHistory(), sliding_window()))
    after = COUNTER.render([SYSTEM])
    slid = 0
    for number in range(1, len(calls)):
        before, now = full[number - 1].messages, full[number].messages
        assert shared(before, now) == len(before)
        assert COUNTER.render(now).startswith(COUNTER.render(before))
        before, now = window[number - 1].messages, window[number].messages
        if len(before) < calls[number - 1]:  # the last prompt had lost something, and this one loses more
            slid += 1
            assert shared(before, now) == 1
            common = shared(COUNTER.render(before), COUNTER.render(now))
            assert common < len(after) + 20  # the next message's role, at most
        elif len(now) == calls[number]:
            assert shared(before, now) == len(before)
    assert slid > 10


@pytest.mark.model
def test_by_the_models_own_tokens_too_a_window_leaves_a_cache_the_system_message_and_the_tools() -> None:
    tok, tools, talk = load_tokenizer(), load_tools(), incident()
    for policy, slides in ((FullHistory(), False), (sliding_window(), True), (Pinned(BLOCK), True)):
        kept = replay(talk, policy, COUNTER, calls_of(talk)[-4:])
        prompts = [tok.encode_prompt(one.messages, tools) for one in kept]
        opening = tok.count_prompt(kept[0].messages[:1], tools)  # with the generation prompt, which is three tokens
        for one, other in pairwise(prompts):
            common = shared(one, other)
            assert common <= opening if slides else common == len(one)
            assert common >= opening - 3


# Replay, and what cannot be


def test_a_replay_gives_each_call_what_stands_before_it_and_starts_afresh() -> None:
    talk = incident(3)
    assert [len(one.messages) for one in replay(talk, FullHistory(), COUNTER, [2, 4, 6])] == [2, 4, 6]
    assert replay(talk, FullHistory(), COUNTER, []) == []
    policy = Compaction(short, 400, summary_tokens=40)
    assert replay(talk, policy, COUNTER, calls_of(talk)) == replay(talk, policy, COUNTER, calls_of(talk))


@pytest.mark.parametrize(
    ("indices", "match"),
    [
        ([1], "message 1 is from 'user'"),
        ([4, 2], "the call at 2 comes after that at 4"),
        ([2, 2], "each once"),
        ([99], "from 0 to 13, not 99"),
        ([True], "not True"),
        (["2"], "not '2'"),
        ([-1], "not -1"),
    ],
)
def test_a_replay_refuses_what_is_no_call(indices: list[Any], match: str) -> None:
    with pytest.raises(PolicyError, match=match):
        replay(incident(3), FullHistory(), COUNTER, indices)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: sliding_window(0), "the window"),
        (lambda: elided_results(0), "turns kept whole"),
        (lambda: UserMessages(True), "turns kept whole must be an integer"),
        (lambda: UserMessages(-1), "at least 1"),
        (lambda: Compaction(None), "summarise must be a callable"),
        (lambda: Compaction(short, threshold=0), "threshold"),
        (lambda: Compaction(short, threshold=100, summary_tokens=100), "no room under the threshold"),
        (lambda: Compaction(short, instructions=" "), "instructions of a summariser are empty"),
        (lambda: CompactionWithNotes(short, short), "must be a Compaction, not function"),
        (lambda: CompactionWithNotes(Compaction(short), "note"), "take_note must be a callable"),
        (lambda: CompactionWithNotes(Compaction(short), short, 0), "most tokens of a note"),
        (lambda: NoteTaker(short, None), "most tokens of a note"),
        (lambda: Pinned(" \n"), "the pinned block is empty"),
        (lambda: Pinned(None), "the pinned block must be a string"),
        (lambda: Pinned(BLOCK, "front"), "'system' or 'end', not 'front'"),
        (lambda: Pinned(BLOCK, last=0), "the window"),
        (lambda: GivenMessages("1"), "not by '1'"),
        (lambda: GivenMessages([-1]), "from 0 up"),
        (lambda: GivenMessages([True]), "not by True"),
        (lambda: SubAgent(0, 3), "the first turn"),
        (lambda: SubAgent(3, 2), "from 3 to 2, which are none"),
        (lambda: standard_policies(short, short, ""), "pinned block is empty"),
        (lambda: standard_policies(short, None, BLOCK), "take_note"),
    ],
)
def test_policies_that_cannot_be_are_refused_when_they_are_made(make: Any, match: str) -> None:
    with pytest.raises(CourseError, match=match):
        make()


def test_a_conversation_that_is_none_is_refused_by_all() -> None:
    for policy in standard_policies(short, short, BLOCK):
        with pytest.raises(MessageError):
            policy.start().prompt([{"role": "tool", "tool_call_id": "c1", "content": "1"}], COUNTER)
    with pytest.raises(HistoryError):
        standard_policies(short, short, BLOCK, threshold=0)
