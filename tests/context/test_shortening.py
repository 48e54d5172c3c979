"""Older texts shortened by any way to shorten a text: what is touched, by how much, and what it costs."""

import copy
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.history import (
    HistoryError,
    RecursiveSummary,
    Shortening,
    SummaryError,
    joined,
    key_sentences,
    parted,
)
from ctxcourse.history.protocol import newest
from ctxcourse.messages import MessageError, check_pairs, normalise
from ctxcourse.tokens import truncate

from .strategies import conversations, texts

SENTENCE = "The quick brown fox jumps over the lazy dog. "


def last_words(prompt):
    """A summariser that keeps the last eight words it was given."""
    return " ".join(prompt[-1]["content"].split()[-8:])


def echoed(text, budget, counter):
    return text


def blank(text, budget, counter):
    return " \n"


def halved(text, budget, counter):
    """A way to shorten that never looks at its budget."""
    return text[: len(text) // 2]


WAYS = {
    "truncate": lambda: truncate,
    "key sentences": lambda: key_sentences,
    "key sentences for a query": lambda: partial(key_sentences, query="Who is lazy?"),
    "recursive summary": lambda: RecursiveSummary(last_words, chunk_tokens=60),
    "a summariser that rambles": lambda: RecursiveSummary(lambda prompt: "no " * 50),
    "echoed": lambda: echoed,
    "blank": lambda: blank,
    "halved": lambda: halved,
}
ways = st.sampled_from(sorted(WAYS)).map(lambda name: WAYS[name]())
long_texts = st.tuples(
    st.sampled_from([SENTENCE, "def f(x):\n    return x\n", "机密文件。"]) | texts, st.integers(1, 8)
)


@st.composite
def talks(draw):
    """A conversation, most of whose messages are long."""
    talk = draw(conversations())
    for message in talk:
        if draw(st.sampled_from([True, True, False])):
            text, times = draw(long_texts)
            message["content"] = text * times
    return talk


class Characters:
    """Tokens are characters, and each message has ten more, for which the template takes care of itself."""

    def count_text(self, text):
        return len(text)

    def token_spans(self, text):
        return [(place, place + 1) for place in range(len(text))]

    def count_prompt(self, messages, tools=None):
        return 5 + sum(10 + len(message["content"]) for message in messages)


class Unlike(Characters):
    """Counts a text in words and a prompt in characters, so that no sum of texts says what a prompt will be."""

    def count_text(self, text):
        return len(text.split())

    def token_spans(self, text):
        spans, place = [], 0
        for word in text.split(" "):
            spans.append((place, place + len(word)))
            place += len(word) + 1
        return spans


class Trailing(Characters):
    """Counts three more for each message that does not end in a full stop, as boundaries of texts do to tokens."""

    def count_prompt(self, messages, tools=None):
        more = sum(3 * (not message["content"].endswith(".")) for message in messages)
        return super().count_prompt(messages, tools) + more


@pytest.mark.parametrize("counted", [None, Characters(), Unlike(), Trailing()], ids=lambda c: type(c).__name__)
@settings(max_examples=80)
@given(talk=talks(), budget=st.integers(1, 600), keep_last=st.integers(1, 5), shorten=ways)
def test_only_older_texts_become_shorter_and_only_as_long_as_needed(counter, counted, talk, budget, keep_last, shorten):
    counter = counted or counter
    given_talk, before = copy.deepcopy(talk), normalise(talk)
    opening, units = parted(talk)
    tail = newest(units, keep_last)
    compressor = Shortening(budget, shorten, keep_last)
    try:
        made = compressor.compress(talk, counter)
    except HistoryError:
        assert counter.count_prompt(before) > budget
        assert tail < len(units)
        return
    finally:
        assert talk == given_talk
    check_pairs(made.messages)
    assert made.tokens_after == counter.count_prompt(made.messages)
    if tail == len(units) or made.tokens_before <= budget:
        assert (made.messages, made.dropped, made.spent_tokens) == (before, 0, 0)
        assert bool(made.notes) == (made.tokens_before > budget)
    else:
        assert made.tokens_after <= budget
        assert made.dropped > 0
    # opening and newest steps are as they were, and so is everything of the others but their texts
    kept = joined(units[len(units) - tail :])
    assert made.messages[: len(opening)] == opening
    assert made.messages[len(before) - len(kept) :] == kept
    changed = 0
    for old, new in zip(before, made.messages, strict=True):
        assert {**new, "content": old["content"]} == old
        if new != old:
            changed += 1
            assert old["role"] != "system"
            assert counter.count_text(new["content"]) < counter.count_text(old["content"])
            assert new["content"].strip() or not old["content"].strip()
    assert changed == made.dropped
    # a second time there is nothing left to do
    again = compressor.compress(made.messages, counter)
    assert (again.messages, again.dropped, again.spent_tokens) == (made.messages, 0, 0)


@pytest.mark.parametrize("way", ["truncate", "key sentences", "key sentences for a query", "recursive summary"])
@given(text=st.one_of(texts, long_texts.map(lambda pair: pair[0] * pair[1])), budget=st.integers(1, 80))
def test_every_way_to_shorten_takes_a_text_a_budget_and_a_counter_and_keeps_to_it(counter, way, text, budget):
    try:
        short = WAYS[way]()(text, budget, counter)
    except SummaryError:
        assert way == "recursive summary"
        return
    assert counter.count_text(short) <= budget
    if counter.count_text(text) <= budget:
        assert short == text


def said(*contents):
    return [{"role": ("user", "assistant")[n % 2], "content": content} for n, content in enumerate(contents)]


def cut(text, budget, counter):
    return text[:budget]


def sizes_after(sizes, budget, shorten=cut, counter=None):
    """Sizes of the older texts after they and one newest message of one character were given a budget for texts."""
    talk = said(*("x" * size for size in sizes), "n")
    counter = counter or Characters()
    room = 5 + 10 * len(talk) + 1 + budget
    made = Shortening(room, shorten, keep_last=1).compress(talk, counter)
    return [len(message["content"]) for message in made.messages[:-1]]


def test_texts_are_shortened_evenly_the_longest_first():
    assert sizes_after([50, 10, 30], 90) == [50, 10, 30]
    assert sizes_after([50, 10, 30], 80) == [40, 10, 30]
    assert sizes_after([50, 10, 30], 60) == [25, 10, 25]
    assert sizes_after([50, 10, 30], 18) == [6, 6, 6]
    assert sizes_after([50, 10, 30], 3) == [1, 1, 1]


def test_what_stays_is_made_up_for_by_the_others_and_what_came_too_long_is_not_asked_again():
    asked = []

    def stubborn(text, budget, counter):
        asked.append((len(text), budget))
        return text if len(text) == 30 else text[: max(budget, 20 if len(text) == 50 else 0)]

    assert sizes_after([50, 40, 30, 10], 90, stubborn) == [25, 25, 30, 10]
    assert asked == [(50, 26), (40, 26), (30, 26), (26, 25), (26, 25)]
    asked.clear()
    assert sizes_after([50, 12, 10], 36, stubborn) == [20, 8, 8]
    assert asked == [(50, 14), (12, 8), (10, 8)]


def test_where_the_sum_was_too_good_the_whole_render_asks_for_more():
    talk = said("One fox. " * 10 + "Two.", "n.")
    room = 5 + 20 + 2 + 40
    made = Shortening(room, cut, keep_last=1).compress(talk, Trailing())
    assert made.tokens_after == Trailing().count_prompt(made.messages) <= room
    assert len(made.messages[0]["content"]) in (35, 37)


def test_the_newest_messages_and_the_rest_of_their_step_are_untouched(counter):
    call = [{"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": {"n": n}}} for n in (0, 1)]
    step = [
        {"role": "assistant", "content": SENTENCE * 4, "tool_calls": call},
        *({"role": "tool", "tool_call_id": one["id"], "content": SENTENCE * 6} for one in call),
    ]
    talk = [{"role": "user", "content": SENTENCE * 20}, *step]
    made = Shortening(400, key_sentences, keep_last=1).compress(talk, counter)
    assert made.messages[1:] == normalise(step)
    assert (made.dropped, made.notes) == (1, ("1 of 1 older messages shortened",))
    # as soon as the step is old, its texts are shortened, and its calls and roles stay
    made = Shortening(250, key_sentences, keep_last=1).compress([*talk, *said("Well?")], counter)
    assert made.messages[1]["tool_calls"] == call
    assert [message["role"] for message in made.messages] == ["user", "assistant", "tool", "tool", "user"]
    assert made.dropped >= 3


def test_system_messages_are_never_shortened(counter):
    late = {"role": "system", "content": SENTENCE * 30}
    talk = [{"role": "system", "content": SENTENCE * 5}, *said(SENTENCE * 20), late, *said("a", "b", "c", "d")]
    made = Shortening(counter.count_prompt(talk) - 100, truncate).compress(talk, counter)
    assert [made.messages[place] for place in (0, 2)] == [talk[0], late]
    assert made.dropped == 1


def test_the_default_keeps_the_newest_four(counter):
    talk = said(*[SENTENCE * 5] * 6)
    made = Shortening(counter.count_prompt(talk) - 20, truncate).compress(talk, counter)
    assert made.messages[2:] == talk[2:]
    assert made.dropped == 2


@pytest.mark.parametrize("way", ["echoed", "blank", "a summariser that rambles"])
def test_what_does_not_shrink_is_not_used_and_the_error_says_by_how_much(counter, way):
    talk = said(SENTENCE * 10, *"abcd")
    takes = counter.count_prompt(talk)
    shorten = WAYS[way]()
    spent = "[1-9][0-9]*" if way == "a summariser that rambles" else "0"
    with pytest.raises(
        HistoryError,
        match=rf"1 came back empty or no shorter\), it all takes {takes} tokens, 30 more than the budget of "
        rf"{takes - 30} \({spent} tokens spent\): raise",
    ):
        Shortening(takes - 30, shorten).compress(talk, counter)


def test_a_refused_summary_is_noted_billed_and_made_up_for(counter):
    prompts = []

    def summarise(prompt):
        prompts.append(prompt)
        return prompt[-1]["content"] if "lazy" in prompt[-1]["content"] else "It rained."

    rain = "It rained all day and all night. " * 20
    talk = said(SENTENCE * 8, rain, *"abcd")
    over = counter.count_text(rain) - counter.count_text("It rained.") - 10
    made = Shortening(counter.count_prompt(talk) - over, RecursiveSummary(summarise)).compress(talk, counter)
    assert made.messages == [talk[0], {**talk[1], "content": "It rained."}, *talk[2:]]
    assert (made.dropped, made.no_summary) == (1, True)
    assert made.notes == ("1 of 2 older messages shortened", "shortened texts not used, empty or no shorter: 1")
    answers = [prompts[0][-1]["content"], "It rained."]
    assert made.spent_tokens == sum(map(counter.count_prompt, prompts)) + sum(map(counter.count_text, answers))


def test_a_budget_that_no_length_can_keep_is_an_error_before_anything_is_shortened():
    talk = said("x" * 40, "y" * 30, *"abcd")
    least = 5 + 60 + 2 + 4
    asked = lambda *_: pytest.fail("asked")  # noqa: E731
    with pytest.raises(HistoryError, match=rf"takes {least} tokens, 1 more than the budget of {least - 1} \(0 tokens"):
        Shortening(least - 1, asked).compress(talk, Characters())
    assert Shortening(least, cut).compress(talk, Characters()).tokens_after == least


def test_a_summary_is_billed_for_its_own_conversation_alone(counter):
    prompts = []

    def summarise(prompt):
        prompts.append(prompt)
        return "A lazy dog."

    shorten = RecursiveSummary(summarise)
    compressor = Shortening(200, shorten)
    talk = said(SENTENCE * 10, SENTENCE * 12, *"abcd")
    first = compressor.compress(talk, counter)
    assert [message["content"] for message in first.messages[:2]] == ["A lazy dog."] * 2
    cost = sum(map(counter.count_prompt, prompts)) + 2 * counter.count_text("A lazy dog.")
    assert (first.spent_tokens, len(prompts)) == (cost, 2)
    assert compressor.compress(talk, counter).spent_tokens == cost
    assert shorten.spent == 2 * cost


def test_what_refused_summaries_cost_is_counted(counter):
    shorten = RecursiveSummary(lambda prompt: "no " * 200)
    with pytest.raises(SummaryError):
        shorten(SENTENCE * 5, 10, counter)
    assert shorten.spent > counter.count_text("no " * 200)


def test_the_work_is_linear_in_the_length_of_the_history(counter):
    """Whole before and after, and each older text once, shortened once more: whatever there is of it."""

    class Watching(Characters):
        rendered = texts = 0

        def count_prompt(self, messages, tools=None):
            self.rendered += len(messages)
            return super().count_prompt(messages, tools)

        def count_text(self, text):
            self.texts += 1
            return super().count_text(text)

    for length in (100, 400, 800):
        watching = Watching()
        talk = said(*(f"Message {n}, of some length" for n in range(length)))
        made = Shortening(int(watching.count_prompt(talk) * 0.8), cut).compress(talk, watching)
        assert made.dropped > 0
        assert watching.rendered <= 4 * length
        assert watching.texts <= 3 * length


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, None, "5"])
def test_sizes_are_checked_when_it_is_made(wrong):
    for make in (
        lambda: Shortening(wrong, truncate),
        lambda: Shortening(5, truncate, wrong),
        lambda: RecursiveSummary(last_words, wrong),
    ):
        with pytest.raises(HistoryError, match="must be"):
            make()


def test_what_is_no_way_to_shorten_is_refused(counter):
    with pytest.raises(HistoryError, match="takes a text, a budget and a counter, not str: 'key sentences'"):
        Shortening(5, "key sentences")
    with pytest.raises(HistoryError, match="summarise must be a callable"):
        RecursiveSummary("It rained.")
    talk = said(SENTENCE * 10, *"abcd")
    with pytest.raises(MessageError, match="a shortened text must be a string, not null"):
        Shortening(counter.count_prompt(talk) - 10, lambda *_: None).compress(talk, counter)
