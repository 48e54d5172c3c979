"""Summaries: the shrink rule, an end whatever the summariser does, and the bill."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ctxcourse.history import HistoryError
from ctxcourse.history.summaries import (
    INSTRUCTIONS,
    Metered,
    SummaryError,
    chunks,
    recursive_summary,
    summary_prompt,
    transcript,
)
from ctxcourse.messages import MessageError

from .strategies import texts

DOCUMENT = "".join(f"Sentence {n} says that the dog of house {n} is lazy. " for n in range(200))
long_texts = st.tuples(texts, st.integers(1, 30)).map(lambda pair: pair[0] * pair[1])


def inside(prompt):
    """The text that a prompt asks to summarise."""
    return prompt[1]["content"].split("<text>\n")[1].split("\n</text>")[0]


def first_third(prompt):
    words = inside(prompt).split()
    return " ".join(words[: max(1, len(words) // 3)])


# Pieces


@given(text=long_texts, most=st.integers(1, 60))
def test_pieces_joined_are_the_text_and_keep_the_limit(counter, text, most):
    import regex

    pieces = chunks(text, most, counter)
    assert "".join(pieces) == text
    assert all(pieces)
    for piece in pieces:
        assert counter.count_text(piece) <= most or len(regex.findall(r"\X", piece)) == 1


def test_pieces_are_whole_sentences_where_they_fit(counter):
    pieces = chunks(DOCUMENT, 100, counter)
    assert all(piece.startswith("Sentence") and piece.endswith("lazy. ") for piece in pieces)
    assert all(counter.count_text(piece) > 50 for piece in pieces[:-1])


def test_a_text_without_sentences_is_parted_between_words_and_one_without_words_between_characters(counter):
    assert all(piece.split() for piece in chunks("lazy dog " * 200, 30, counter))
    assert {word for piece in chunks("lazy dog " * 200, 30, counter) for word in piece.split()} == {"lazy", "dog"}
    assert len(chunks("9f1c" * 200, 30, counter)) > 5
    assert set(chunks("👩‍👩‍👧‍👦" * 20, 1, counter)) == {"👩‍👩‍👧‍👦"}


# Recursion


@given(text=long_texts, size=st.integers(1, 80), target=st.integers(1, 80))
def test_what_comes_back_keeps_the_target_or_nothing_does(counter, text, size, target):
    assume(text.strip())
    try:
        summary = recursive_summary(text, first_third, size, target, counter)
    except SummaryError:
        return
    assert counter.count_text(summary.text) == summary.tokens_after <= target
    assert summary.tokens_after <= summary.tokens_before == counter.count_text(text)
    assert (summary.calls == 0) == (summary.text == text) == (summary.rounds == 0) == (summary.spent_tokens == 0)


@settings(max_examples=50)
@given(
    text=long_texts,
    lengths=st.lists(st.integers(0, 200), min_size=1, max_size=10),
    size=st.integers(1, 80),
    target=st.integers(1, 80),
)
def test_no_summariser_keeps_it_going_for_ever(counter, text, lengths, size, target):
    asked = 0

    def erratic(prompt):
        nonlocal asked
        asked += 1
        return "dog " * lengths[asked % len(lengths)]

    before = counter.count_text(text)
    most = 1 + math.log(max(before / target, 1)) / -math.log(0.9)
    try:
        summary = recursive_summary(text, erratic, size, target, counter)
    except SummaryError:
        return
    assert summary.rounds <= most
    assert summary.calls == asked


def test_a_text_that_is_short_enough_costs_nothing(counter):
    summary = recursive_summary("Short.", lambda prompt: pytest.fail("asked"), 10, 10, counter)
    assert (summary.text, summary.spent_tokens, summary.calls, summary.rounds) == ("Short.", 0, 0, 0)


def test_a_long_document_takes_rounds_and_is_billed_for_all_of_them(counter):
    prompts, answers = [], []

    def recorded(prompt):
        prompts.append(prompt)
        answers.append(first_third(prompt))
        return answers[-1]

    summary = recursive_summary(DOCUMENT, recorded, 500, 100, counter)
    assert summary.rounds > 1
    assert summary.calls == len(prompts)
    assert summary.spent_tokens == sum(map(counter.count_prompt, prompts)) + sum(map(counter.count_text, answers))
    assert all(counter.count_text(inside(prompt)) <= 500 for prompt in prompts)
    assert summary.text.startswith("Sentence 0")


@pytest.mark.parametrize("answer", ["", "   ", DOCUMENT], ids=["empty", "blank", "longer"])
def test_a_summary_that_does_not_shrink_is_refused_after_one_round(counter, answer):
    prompts = []

    def stubborn(prompt):
        prompts.append(prompt)
        return answer

    with pytest.raises(SummaryError, match=r"round 1 of the summary took [\d,]+ tokens to [\d,]+.*spent"):
        recursive_summary(DOCUMENT, stubborn, 1_000, 100, counter)
    assert len(prompts) == len(chunks(DOCUMENT, 1_000, counter))


def test_white_space_is_not_sent_to_the_summariser(counter):
    def inspected(prompt):
        assert inside(prompt).strip()
        return "A and b."

    assert recursive_summary(" \t" * 500, inspected, 20, 5, counter).text == ""
    assert "A and b." in recursive_summary("a" + "\t \n" * 500 + "b", inspected, 20, 30, counter).text


def test_a_piece_whose_summary_is_refused_stays_as_it_was(counter):
    def partly(prompt):
        return "" if "Sentence 0 " in inside(prompt) else "The rest."

    summary = recursive_summary(DOCUMENT, partly, 400, 600, counter)
    assert summary.text.startswith("Sentence 0 says that the dog of house 0 is lazy.")
    assert summary.text.endswith("The rest.")


def test_a_summary_that_creeps_is_given_up(counter):
    asked = []

    def creeping(prompt):
        asked.append(prompt)
        return inside(prompt)[:-10]

    with pytest.raises(SummaryError):
        recursive_summary(DOCUMENT, creeping, 10_000, 10, counter)
    assert len(asked) == 1


@pytest.mark.parametrize("wrong", [0, -1, True, None, 1.5])
def test_sizes_and_callables_are_checked_before_anything_is_spent(counter, wrong):
    for sizes in ((wrong, 5), (5, wrong)):
        with pytest.raises(HistoryError, match=r"(chunk|target)_tokens must be"):
            recursive_summary(DOCUMENT, first_third, *sizes, counter)
    with pytest.raises(HistoryError, match="must be a callable"):
        recursive_summary(DOCUMENT, None, 5, 5, counter)
    with pytest.raises(MessageError, match="the text"):
        recursive_summary(None, first_third, 5, 5, counter)


# Prompts


def test_the_prompt_holds_the_text_the_summary_so_far_and_the_length():
    system, user = summary_prompt("It rained.", 100, previous="It was May.")
    assert system == {"role": "system", "content": INSTRUCTIONS}
    assert user["role"] == "user"
    assert (
        user["content"].index("It was May.") < user["content"].index("It rained.") < user["content"].index("75 words")
    )
    assert summary_prompt("It rained.", 1, instructions="Be brief.")[0]["content"] == "Be brief."
    assert "at most 1 words" in summary_prompt("It rained.", 1)[1]["content"]


def test_a_transcript_says_who_said_what_and_cuts_nothing():
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": {"für": "Ö"}}}
    talk = [
        {"role": "user", "content": "word " * 500},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "42"},
        {"role": "user", "content": ""},
    ]
    text = transcript(talk)
    assert "User: " + "word " * 500 in text
    assert text.endswith('Assistant calls look with {"für": "Ö"}\n\nResult of look: 42\n\nUser: ')


def test_the_meter_counts_answers_that_are_thrown_away(counter):
    metered = Metered(lambda prompt: " four words are here \n", counter)
    prompt = [{"role": "user", "content": "Hi"}]
    assert metered(prompt) == "four words are here"
    assert metered(prompt) == "four words are here"
    assert metered.calls == 2
    assert metered.spent == 2 * (counter.count_prompt(prompt) + counter.count_text(" four words are here \n"))
