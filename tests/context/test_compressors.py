"""One suite over every compressor, then what each of them alone promises."""

import copy
from collections import Counter as Tally

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxcourse.history import HistoryError, RecursiveSummary, joined, key_sentences, parted
from ctxcourse.history.compressors import Elision, RollingSummary, Shortening, SlidingWindow, Truncation
from ctxcourse.history.rolling import HEADING
from ctxcourse.messages import MessageError, check_pairs, normalise, steps, turns
from ctxcourse.tokens import truncate

from .strategies import conversations, texts

LONG = "The quick brown fox jumps over the lazy dog. " * 60
EMOJI = "👩‍👩‍👧‍👦"


def shortened(prompt):
    """A summariser that keeps the last eight words it was given, which are those of the instruction."""
    return " ".join(prompt[-1]["content"].split()[-8:])


def echoed(prompt):
    return prompt[-1]["content"]


sizes = st.integers(1, 400)
summaries = st.sampled_from([shortened, echoed, lambda prompt: "", lambda prompt: "no " * 2_000])


@st.composite
def rolling(draw):
    threshold = draw(st.integers(2, 400))
    return RollingSummary(
        draw(summaries),
        threshold,
        draw(st.integers(1, 6)),
        draw(st.integers(1, min(threshold - 1, 60))),
        draw(st.integers(20, 500)),
    )


KINDS = {
    "truncation": st.builds(Truncation, sizes, st.booleans()),
    "window": st.builds(SlidingWindow, st.integers(1, 12)),
    "elision": st.builds(Elision, st.integers(1, 4)),
    "rolling": rolling(),
    "shortening": st.builds(Shortening, sizes, st.sampled_from([truncate, key_sentences]), st.integers(1, 6)),
    "recursive": st.builds(Shortening, sizes, st.builds(RecursiveSummary, summaries, st.integers(20, 500))),
}
long_results = st.tuples(texts, st.integers(1, 8)).map(lambda pair: pair[0] * pair[1])


@st.composite
def talks(draw):
    """A conversation, some of whose messages are long."""
    talk = draw(conversations())
    for message in talk:
        if draw(st.booleans()):
            message["content"] = draw(long_results)
    return talk


def fits(compressor, talk, counter):
    """Whether a conversation is such that the compressor has nothing to do."""
    _, units = parted(talk)
    if isinstance(compressor, Truncation | Shortening):
        return counter.count_prompt(talk) <= compressor.budget
    if isinstance(compressor, RollingSummary):
        return counter.count_prompt(talk) <= compressor.threshold
    if isinstance(compressor, SlidingWindow):
        return len(joined(units)) <= compressor.last
    return len(turns(talk)) <= compressor.after


of_every_kind = pytest.mark.parametrize("kind", KINDS)


@of_every_kind
@settings(max_examples=60)
@given(data=st.data(), talk=talks())
def test_every_compressor_keeps_the_rules(counter, kind, data, talk):
    compressor = data.draw(KINDS[kind])
    given_talk, before = copy.deepcopy(talk), normalise(talk)
    try:
        made = compressor.compress(talk, counter)
    except HistoryError:
        assert isinstance(compressor, Truncation | RollingSummary | Shortening)
        assert not fits(compressor, talk, counter)
        assert talk == given_talk
        return
    assert talk == given_talk
    # valid, normal, sharing nothing
    check_pairs(made.messages)
    assert made.messages == normalise(made.messages)
    assert not {id(message) for message in made.messages} & {id(message) for message in talk}
    # counted on whole renders, never larger, never over the budget
    assert made.tokens_before == counter.count_prompt(talk)
    assert made.tokens_after == counter.count_prompt(made.messages) <= made.tokens_before
    if isinstance(compressor, Truncation):
        assert made.tokens_after <= compressor.budget
    # what is unchanged says so, and what fits is unchanged
    assert (made.dropped == 0) == (made.messages == before)
    assert (made.tokens_after < made.tokens_before) or not made.dropped
    assert bool(made.notes) or not made.dropped
    if fits(compressor, talk, counter):
        assert (made.messages, made.dropped, made.spent_tokens, made.notes) == (before, 0, 0, ())
    # the opening stays, and steps stay whole and in order
    opening, units = parted(talk)
    kept_opening, kept = parted(made.messages)
    assert made.messages[: len(opening)] == opening
    if kept and kept[0][0]["content"].startswith(HEADING):
        kept = kept[1:]
    shapes = [[shape(message) for message in unit] for unit in [*([m] for m in kept_opening[len(opening) :]), *kept]]
    old_shapes = [[shape(message) for message in unit] for unit in units]
    assert shapes == old_shapes[len(old_shapes) - len(shapes) :]
    # a second time there is nothing left to do
    again = compressor.compress(made.messages, counter)
    assert (again.messages, again.spent_tokens, again.dropped) == (made.messages, 0, 0)


def shape(message):
    """A message without its text."""
    return {key: value for key, value in message.items() if key != "content"}


@of_every_kind
@settings(max_examples=40)
@given(data=st.data(), talk=talks())
def test_what_is_compressed_at_every_turn_stays_valid_and_small(counter, kind, data, talk):
    compressor = data.draw(KINDS[kind])
    held = []
    for unit in steps(talk):
        try:
            made = compressor.compress([*held, *unit], counter)
        except HistoryError:
            return
        held = made.messages
        check_pairs(held)
        assert sum(message["content"].startswith(HEADING) for message in held) <= 1


EVERY = [
    Truncation(100),
    SlidingWindow(3),
    Elision(2),
    RollingSummary(shortened, 100, 4, 20),
    Shortening(100, key_sentences),
]
every = pytest.mark.parametrize("compressor", EVERY, ids=lambda compressor: type(compressor).__name__)


@every
def test_empty_histories_lone_system_messages_and_missing_users_are_unchanged(counter, compressor):
    for talk in ([], [{"role": "system", "content": "Be brief."}], [{"role": "assistant", "content": None}]):
        made = compressor.compress(talk, counter)
        assert (made.messages, made.dropped) == (normalise(talk), 0)
        assert made.tokens_after == counter.count_prompt(talk)


@every
def test_a_conversation_that_is_none_is_refused(counter, compressor):
    with pytest.raises(MessageError, match="'c9'"):
        compressor.compress([{"role": "tool", "tool_call_id": "c9", "content": "42"}], counter)
    with pytest.raises(MessageError, match="must be a list"):
        compressor.compress("Hi", counter)


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, None, "5"])
def test_sizes_are_checked_when_a_compressor_is_made(wrong):
    for make in (
        lambda: Truncation(wrong),
        lambda: SlidingWindow(wrong),
        lambda: Elision(wrong),
        *(
            (lambda name=name: RollingSummary(shortened, **{name: wrong}))
            for name in ("threshold", "keep_last", "summary_tokens", "chunk_tokens")
        ),
    ):
        with pytest.raises(HistoryError, match=r"must be (an integer|at least 1)"):
            make()


def exchange(number, result="lazy dog ", count=1):
    """A turn in which one question takes ``count`` parallel calls."""
    calls = [
        {"id": f"c{number}-{i}", "type": "function", "function": {"name": "look", "arguments": {"n": i}}}
        for i in range(count)
    ]
    return [
        {"role": "user", "content": f"Question {number}"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        *({"role": "tool", "tool_call_id": call["id"], "content": result} for call in calls),
        {"role": "assistant", "content": f"Answer {number}"},
    ]


def history(turns, result="lazy dog ", count=1):
    return [message for number in range(turns) for message in exchange(number, result, count)]


# Truncation


@settings(max_examples=60)
@given(talk=talks(), budget=sizes)
def test_truncation_keeps_as_many_of_the_newest_steps_as_fit(counter, talk, budget):
    opening, units = parted(talk)
    # without an opening, a system message further down saves the default one as soon as it comes to stand first
    assume(opening or not any(message["role"] == "system" for message in joined(units)))
    most = 0
    while most < len(units) and counter.count_prompt(joined([opening], units[len(units) - most - 1 :])) <= budget:
        most += 1
    assume(most)
    made = Truncation(budget, may_cut=False).compress(talk, counter)
    assert made.messages == joined([opening], units[len(units) - most :])
    assert made.dropped == len(joined(units)) - len(joined(units[len(units) - most :]))


@given(text=texts, times=st.integers(1, 30), budget=st.integers(20, 200))
def test_a_message_larger_than_the_budget_is_cut_between_characters(counter, text, times, budget):
    talk = [{"role": "user", "content": text * times}]
    assume(counter.count_prompt(talk) > budget)
    try:
        made = Truncation(budget).compress(talk, counter)
    except HistoryError:
        return
    assert made.tokens_after <= budget
    assert (text * times).startswith(made.messages[0]["content"])
    assert made.messages[0]["content"].strip() or not text.strip()
    assert made.dropped == 1


def test_a_cut_leaves_an_emoji_whole_and_uses_the_budget(counter):
    talk = [{"role": "user", "content": EMOJI * 40}]
    cost = counter.count_text(EMOJI)
    for budget in range(counter.count_prompt([]) + cost + 10, counter.count_prompt(talk), 41):
        made = Truncation(budget).compress(talk, counter)
        content = made.messages[0]["content"]
        assert content == EMOJI * (len(content) // len(EMOJI))
        assert budget - made.tokens_after <= cost


def test_without_leave_to_cut_it_is_an_error_that_says_by_how_much(counter):
    talk = [{"role": "user", "content": "Hi"}, {"role": "user", "content": LONG}]
    takes = counter.count_prompt(talk[1:])
    with pytest.raises(HistoryError, match=rf"takes {takes:,} tokens .* {takes - 100:,} more than the budget of 100"):
        Truncation(100, may_cut=False).compress(talk, counter)


def test_parallel_results_are_cut_to_one_size_and_none_is_lost(counter):
    talk = exchange(0, LONG, count=3)[:-1]
    talk[3]["content"] = "short"
    made = Truncation(300).compress(talk, counter)
    assert [shape(message) for message in made.messages] == [shape(message) for message in normalise(talk)[1:]]
    cut = [message["content"] for message in made.messages[1:]]
    assert cut[0] == cut[2] != LONG
    assert cut[1] == "short"
    assert made.tokens_after > 280
    assert made.dropped == 3  # the question, and two results that are no longer whole


def test_nothing_left_of_a_text_is_an_error(counter):
    with pytest.raises(HistoryError, match="nothing would be left of it"):
        Truncation(counter.count_prompt([{"role": "user", "content": ""}])).compress(
            [{"role": "user", "content": LONG}], counter
        )
    huge = exchange(0)[1:3]
    huge[0]["tool_calls"][0]["function"]["arguments"] = {"text": LONG}
    with pytest.raises(HistoryError, match="nothing would be left of it"):
        Truncation(200).compress(huge, counter)


def test_a_system_message_larger_than_the_budget_is_an_error_that_says_by_how_much(counter):
    talk = [{"role": "system", "content": LONG}, {"role": "user", "content": "Hi"}]
    fixed = counter.count_prompt(talk[:1])
    with pytest.raises(HistoryError, match=rf"takes {fixed:,} tokens, {fixed - 50:,} more than the budget of 50"):
        Truncation(50).compress(talk, counter)


class Tolling:
    """A template that counts two messages for more than their sum, as one that numbers its messages might."""

    def __init__(self, counter, toll):
        self.counter, self.toll = counter, toll

    def count_text(self, text):
        return self.counter.count_text(text)

    def token_spans(self, text):
        return self.counter.token_spans(text)

    def count_prompt(self, messages, tools=None):
        return self.counter.count_prompt(messages, tools) + int(self.toll * len(messages) ** 2)


@settings(max_examples=60)
@given(talk=talks(), budget=sizes, toll=st.floats(0, 3))
def test_where_costs_do_not_add_up_the_whole_render_decides(counter, talk, budget, toll):
    tolling = Tolling(counter, toll)
    try:
        made = Truncation(budget).compress(talk, tolling)
    except HistoryError:
        return
    assert made.tokens_after == tolling.count_prompt(made.messages) <= budget


class Watching(Tolling):
    """Counts what it is asked to count."""

    def __init__(self, counter):
        super().__init__(counter, 0)
        self.messages = 0

    def count_prompt(self, messages, tools=None):
        self.messages += len(messages)
        return super().count_prompt(messages, tools)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_the_work_is_linear_in_the_length_of_the_history(counter, share):
    """Whole, once as a step (with its frame) and once more in the result: never more than four of a message."""
    for length in (100, 200, 400, 800):
        talk = [{"role": ("user", "assistant")[n % 2], "content": f"Message {n}"} for n in range(length)]
        watching = Watching(counter)
        made = Truncation(int(share * counter.count_prompt(talk))).compress(talk, watching)
        assert made.dropped > 0
        assert watching.messages <= length + 3 * len(made.messages) + 4


# Sliding window


def test_a_window_keeps_the_last_messages_and_the_system_message(counter):
    talk = [{"role": "system", "content": "Be brief."}, *history(3)]
    made = SlidingWindow(5).compress(talk, counter)
    assert made.messages == normalise([talk[0], *talk[-5:]])
    assert made.dropped == 7


def test_a_window_that_begins_in_a_step_takes_all_of_it(counter):
    talk = history(3, count=3)
    for last in (2, 3, 4, 5):
        assert SlidingWindow(last).compress(talk, counter).messages == normalise(talk[-5:])


# Elision


def test_results_older_than_the_newest_turns_become_stubs(counter):
    made = Elision(after=2).compress(history(4, LONG), counter)
    results = [message["content"] for message in made.messages if message["role"] == "tool"]
    tokens = counter.count_text(LONG)
    stub = f"[elided: {tokens:,} tokens of look; call it again to see them]"
    assert results == [stub, stub, LONG, LONG]
    assert made.dropped == 2
    again = Elision(after=2).compress(made.messages, counter)  # a stub of the stub would name fewer tokens, and gain
    assert (again.messages, again.dropped) == (made.messages, 0)


@given(talk=talks(), after=st.integers(1, 3))
def test_every_stub_gains_and_only_old_results_are_touched(counter, talk, after):
    before = normalise(talk)
    made = Elision(after).compress(talk, counter)
    recent = sum(map(len, turns(before)[-after:]))
    for index, (old, new) in enumerate(zip(before, made.messages, strict=True)):
        if old != new:
            assert index < len(before) - recent
            assert old["role"] == "tool"
            assert "\n" not in new["content"]
            restored = [*made.messages[:index], old, *made.messages[index + 1 :]]
            assert counter.count_prompt(restored) > made.tokens_after


def test_a_stub_longer_than_the_result_does_not_replace_it(counter):
    made = Elision(after=1).compress(history(3, "ok"), counter)
    assert (made.messages, made.dropped) == (normalise(history(3, "ok")), 0)


# Rolling summary


class Recorder:
    """A summariser that says how often it was asked, and remembers the prompts."""

    def __init__(self, answer="The dog is lazy; the fox is quick."):
        self.answer, self.prompts = answer, []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        return self.answer


def test_the_old_part_is_retold_and_the_newest_four_messages_stay(counter):
    summarise = Recorder()
    talk = [{"role": "system", "content": "Be brief."}, *history(6, "lazy dog " * 20)]
    made = RollingSummary(summarise, 500, summary_tokens=60).compress(talk, counter)
    assert made.messages == normalise([talk[0], {"role": "user", "content": HEADING + summarise.answer}, *talk[-4:]])
    assert made.dropped == 20
    prompt = summarise.prompts[0]
    assert "Question 0" in prompt[1]["content"]
    assert "Question 5" not in prompt[1]["content"]
    assert made.spent_tokens == counter.count_prompt(prompt) + counter.count_text(summarise.answer)
    assert len(summarise.prompts) == 1


def test_no_message_is_cut_on_its_way_to_the_summariser(counter):
    summarise = Recorder()
    talk = [{"role": "user", "content": LONG + "4417"}, *history(2)]
    RollingSummary(summarise, 400, summary_tokens=60).compress(talk, counter)
    assert LONG + "4417" in summarise.prompts[0][1]["content"]


def test_there_is_one_running_summary_and_the_old_one_is_part_of_the_next(counter):
    summarise = Recorder("First.")
    compressor = RollingSummary(summarise, 500, summary_tokens=60)
    held, calls = [], 0
    for number in range(40):
        summarise.answer = f"Summary {calls}."
        made = compressor.compress([*held, *exchange(number, "lazy dog " * 10)], counter)
        held = made.messages
        assert made.tokens_after <= 500
        assert sum(message["content"].startswith(HEADING) for message in held) <= 1
        if len(summarise.prompts) > calls:
            asked = summarise.prompts[-1][1]["content"]
            assert len(summarise.prompts) == calls + 1
            assert (f"Summary {calls - 1}." in asked) == (calls > 0)
            assert HEADING not in asked
            calls += 1
    assert 3 < calls < 25


def test_fewer_messages_than_are_kept_are_an_unchanged_copy(counter):
    summarise = Recorder()
    talk = [{"role": "user", "content": LONG}, {"role": "assistant", "content": LONG}]
    made = RollingSummary(summarise, 300, summary_tokens=60).compress(talk, counter)
    assert (made.messages, made.dropped, summarise.prompts) == (talk, 0, [])
    assert "nothing is older than what is kept" in made.notes[0]


def test_a_kept_tail_larger_than_the_trigger_is_elided_without_a_summary(counter):
    summarise = Recorder()
    compressor = RollingSummary(summarise, 400, summary_tokens=60)
    talk = [*exchange(0), *exchange(1, LONG)]
    made = compressor.compress(talk, counter)
    assert made.messages[-2]["content"].startswith("[elided: ")
    assert made.tokens_after <= 400
    assert (summarise.prompts, made.spent_tokens, made.dropped) == ([], 0, 1)
    assert compressor.compress(made.messages, counter).messages == made.messages


def test_a_tail_that_nothing_makes_small_is_an_error_before_a_token_is_spent(counter):
    summarise = Recorder()
    compressor = RollingSummary(summarise, 300, summary_tokens=60)
    talk = [*exchange(0), *({"role": "user", "content": LONG} for _ in range(4))]
    for _ in range(2):
        with pytest.raises(HistoryError, match=r"4 newest messages.* too few.*more than the threshold of 300"):
            compressor.compress(talk, counter)
    assert summarise.prompts == []


def test_a_tail_that_leaves_little_room_gets_a_shorter_summary(counter):
    talk = [{"role": "user", "content": LONG}, *exchange(0, "lazy dog " * 30)]
    fixed = counter.count_prompt([{"role": "user", "content": HEADING}, *talk[-4:]])
    summarise = Recorder("Lazy.")
    made = RollingSummary(summarise, fixed + 40, summary_tokens=200).compress(talk, counter)
    assert made.messages == normalise([{"role": "user", "content": HEADING + "Lazy."}, *talk[-4:]])
    asked = int(summarise.prompts[0][1]["content"].split()[-2])
    assert 20 <= asked <= 30  # words: three for four of the 40 tokens, not of the 200


def test_a_result_that_nobody_has_read_is_never_elided(counter):
    talk = [*exchange(0), *exchange(1, LONG)[:-1]]
    with pytest.raises(HistoryError, match="0 tool results elided"):
        RollingSummary(Recorder(), 400, summary_tokens=60).compress(talk, counter)


@pytest.mark.parametrize("answer", ["", "  \n", LONG, LONG * 20], ids=["empty", "blank", "as long", "longer"])
def test_a_summary_that_does_not_shrink_is_refused_and_results_are_elided(counter, answer):
    summarise = Recorder(answer)
    talk = [*exchange(0, LONG), *exchange(1)]
    made = RollingSummary(summarise, 400, summary_tokens=60).compress(talk, counter)
    assert made.tokens_after <= 400
    assert not any(message["content"].startswith(HEADING) for message in made.messages)
    assert made.messages[2]["content"].startswith("[elided: ")
    assert made.spent_tokens > counter.count_text(answer)
    assert "no summary" in made.notes[0]
    assert len(summarise.prompts) <= 3


def test_a_refused_summary_with_nothing_to_elide_is_an_error(counter):
    talk = [{"role": "user", "content": LONG}, *exchange(0)]
    with pytest.raises(HistoryError, match=r"refused.*more than the threshold of 300 \([1-9][\d,]* tokens spent\)"):
        RollingSummary(echoed, 300, summary_tokens=60).compress(talk, counter)


def test_a_summary_that_is_too_long_is_shortened_again(counter):
    answers = iter([LONG[:900], "The dog is lazy."])
    talk = [{"role": "user", "content": LONG * 2}, *exchange(0)]
    made = RollingSummary(lambda prompt: next(answers), 300, summary_tokens=60).compress(talk, counter)
    assert made.messages[0]["content"] == HEADING + "The dog is lazy."


def test_what_is_longer_than_the_summariser_reads_is_handed_over_in_pieces(counter):
    summarise = Recorder()
    talk = [*({"role": "user", "content": f"Number {n}. {LONG}"} for n in range(5)), *exchange(0)]
    RollingSummary(summarise, 300, summary_tokens=60, chunk_tokens=300).compress(talk, counter)
    assert len(summarise.prompts) > 5
    assert all(counter.count_text(prompt[1]["content"]) < 450 for prompt in summarise.prompts)
    places = [min(i for i, p in enumerate(summarise.prompts) if f"Number {n}." in p[1]["content"]) for n in range(5)]
    assert places == sorted(places)


def test_an_answer_that_is_no_text_and_an_error_of_the_summariser_are_not_hidden(counter):
    talk = [{"role": "user", "content": LONG}, *exchange(0)]
    with pytest.raises(MessageError, match="the summariser's answer must be a string, not null"):
        RollingSummary(lambda prompt: None, 300, summary_tokens=60).compress(talk, counter)

    def failing(prompt):
        raise ConnectionError("down")

    with pytest.raises(ConnectionError):
        RollingSummary(failing, 300, summary_tokens=60).compress(talk, counter)


def test_a_summary_without_room_and_a_summariser_that_is_none_are_refused_at_once():
    with pytest.raises(HistoryError, match=r"no room under the threshold of 400 \(100 over\)"):
        RollingSummary(shortened, threshold=400)
    with pytest.raises(HistoryError, match="must be a callable"):
        RollingSummary("summarise")


def test_the_published_figures_are_the_defaults():
    compressor = RollingSummary(shortened)
    assert (compressor.threshold, compressor.keep_last) == (5_000, 4)
    assert Elision().after == 4


@pytest.mark.model
def test_the_course_sample_with_the_real_tokenizer(tokenizer):
    from ctxcourse import load_sample

    talk = load_sample("coding_session").messages
    for compressor in (
        Truncation(600),
        SlidingWindow(4),
        Elision(1),
        RollingSummary(shortened, 900, 4, 100),
        Shortening(1_200, key_sentences),
        Shortening(1_200, RecursiveSummary(shortened)),
    ):
        made = compressor.compress(talk, tokenizer)
        check_pairs(made.messages)
        assert made.tokens_after == tokenizer.count_prompt(made.messages) < made.tokens_before
        assert Tally(m["role"] for m in made.messages)["system"] == 1
