"""Sentences in any script, and the ones worth keeping."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.history import HistoryError
from ctxcourse.history.key_sentences import key_sentences
from ctxcourse.history.sentences import split_sentences
from ctxcourse.messages import MessageError

from .strategies import texts

PIECES = [
    *"abcZ19",
    "Dr.",
    "e.g.",
    ". ",
    ".",
    "...",
    "…",
    "! ",
    "?",
    "。",
    "！",
    "」",
    "「",
    "“",
    "”",
    '"',
    ")",
    "\n",
    "\n\n",
    "- ",
]
marked = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(text=texts | marked)
def test_the_sentences_joined_are_the_text_and_none_is_blank(text):
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentence.strip() for sentence in sentences) or len(sentences) <= 1


@given(text=texts | marked)
def test_no_character_is_split_but_at_white_space_or_wide_marks(text):
    at = 0
    for sentence in split_sentences(text)[:-1]:
        at += len(sentence)
        assert sentence[-1].isspace() or regex.search(r"[。！？｡︒︕︖][\p{P}\p{S}\p{M}]*$", sentence)


@pytest.mark.parametrize(
    "parts",
    [
        ["It rained. ", "Nobody minded! ", "Why? ", "Because."],
        ["Dr. Ito met Mrs. J. R. R. Smith at 9 a.m. in St. Louis. ", "They left."],
        ["See Fig. 3 and No. 7 on p. 12. ", "No. ", "I won't."],
        ["It works in most cases, e.g. Here or i.e. There. ", "Fine."],
        ["They lived in the U.S. ", "The end. ", "So do I. ", "Then no."],
        ["Apples, pears, etc. are fruit. ", "Apples, pears, etc. ", "The list goes on."],
        ["Acme Inc. Europe lost 3.14 percent, or 1,024.50 euros. ", "Version 2.0.1 is out."],
        ["Wait ... what? ", "Well... ", "Then it began … and ended… ", "Good."],
        ["Look at https://example.com/a.b?c=1!d;e#f. ", "Then write to a.b@example.org. ", "Or open main.py."],
        ["Really?! ", "Yes!!! ", "He asked “Why?” and left. ", '"So what?" she said. ', "(It rained.) ", "So."],
        ["发票到期了。", "没有人知道！", "为什么？", "他说“不知道。”然后走了。", "好。"],
        ["「はい。」と言った。", "「いいえ。」", "「え？」", "「終わり。」"],
        ["一。 ", "二……三"],
        ["価格は３．１４です。", "www.example.jp/a.html を見て！", "次"],
        ["यह पहला है। ", "यह दूसरा है॥ ", "तीसरा"],
        ["هل أنت هنا؟ ", "نعم. ", "حسنا."],
        ["Das kostet z. B. Geld, vgl. Abs. 2 und z.B. Zeit usw. ", "Der Rest folgt."],
        ["A heading\n\n", "A paragraph that\nis wrapped. ", "It goes on.\n\n\n", "The next."],
        ["Steps:\n", "1. Read it\n", "2. Run it. ", "Twice.\n", "- a point\n", "* another\n", "# Title"],
        ["2026-03-02T03:14:07.512Z ERROR shard-7\n", "2026-03-02T03:14:08.001Z INFO done"],
        ["  \n It rained. ", "Then.  "],
        ["no marks at all"],
    ],
)
def test_sentences_end_where_a_reader_would_end_them(parts):
    assert split_sentences("".join(parts)) == parts


def test_nothing_has_no_sentences_and_white_space_is_not_lost():
    assert split_sentences("") == []
    assert split_sentences(" \n\n ") == [" \n\n "]


@pytest.mark.parametrize("text", [None, 7, b"x", ["a"], "\ud83d"])
def test_only_text_has_sentences(text):
    with pytest.raises(MessageError, match="the text"):
        split_sentences(text)


@pytest.mark.parametrize("unit", [".", " ", "\n ", ".)", "Dr. ", "a.b", "? ", "。", "(", "a. "])
def test_texts_made_to_be_slow_are_not(unit):
    """A quadratic rule would take many minutes here."""
    text = unit * 50_000
    assert "".join(split_sentences(text)) == text


# Key sentences

REPORT = (
    "The payment service failed on Monday. The failure began when shard 7 ran out of memory. Lunch was late. "
    "Engineers restarted shard 7 and the payment service recovered. A pigeon sat on the roof. "
    "The memory of shard 7 has been doubled since."
)


@settings(max_examples=60)
@given(text=st.lists(texts | marked, max_size=5).map(" ".join), budget=st.integers(1, 80), query=st.none() | texts)
def test_key_sentences_keep_the_budget_and_the_order(counter, text, budget, query):
    kept = key_sentences(text, budget, counter, query)
    assert counter.count_text(kept) <= budget
    if counter.count_text(text) <= budget:
        assert kept == text
        return
    sentences = split_sentences(text.strip())
    rest = kept
    for sentence in sentences:  # whole ones, in order
        if rest.startswith(sentence) or rest == sentence.rstrip():
            rest = rest[len(sentence) :]
    assert not rest or any(sentence.startswith(kept) for sentence in sentences)


def test_what_several_sentences_speak_of_is_kept_and_asides_are_not(counter):
    kept = key_sentences(REPORT, counter.count_text(REPORT) * 2 // 3, counter)
    assert "shard 7" in kept
    assert "pigeon" not in kept
    assert "Lunch" not in kept


def test_a_query_chooses_what_shares_its_words(counter):
    aside = "A pigeon sat on the roof. "
    budget = counter.count_text(aside)
    assert key_sentences(REPORT, budget, counter, query="Where was the PIGEON?") == aside.strip()
    doubled = key_sentences(REPORT, 45, counter, query="Who doubled the memory?")
    assert "doubled" in doubled


@pytest.mark.parametrize("query", ["", "   ", "?!", "zebra crossing", None])
def test_a_query_that_shares_no_word_changes_nothing(counter, query):
    assert key_sentences(REPORT, 60, counter, query) == key_sentences(REPORT, 60, counter)


def test_without_repeated_words_the_first_sentences_are_kept(counter):
    assert key_sentences("One apple. Two pears. Three plums.", 16, counter).startswith("One apple.")


def test_a_script_without_spaces_is_scored_too(counter):
    text = "今天天气很好。发票到期日是星期五。我们吃了饭。没有人告诉客户发票到期。"
    kept = key_sentences(text, counter.count_text("发票到期日是星期五。"), counter, query="发票什么时候到期日？")
    assert kept == "发票到期日是星期五。"


def test_a_sentence_said_twice_is_kept_once(counter):
    text = "The shard is slow. Nobody knows why the shard is slow. The shard is slow. A bird sang. The shard is slow."
    kept = key_sentences(text, counter.count_text(text) - 1, counter)
    assert kept.count("The shard is slow.") == 1
    assert "bird" in kept


def test_where_no_sentence_fits_the_best_is_cut(counter):
    kept = key_sentences("quick brown fox " * 50, 10, counter)
    assert kept.startswith("quick")
    assert counter.count_text(kept) <= 10


@pytest.mark.parametrize("wrong", [0, -1, True, None, 2.5])
def test_the_budget_is_a_size(counter, wrong):
    with pytest.raises(HistoryError, match="the budget of key sentences"):
        key_sentences(REPORT, wrong, counter)


def test_each_sentence_is_counted_once(counter):
    class Watching:
        def __init__(self):
            self.characters = 0

        def count_text(self, text):
            self.characters += len(text)
            return counter.count_text(text)

    for times in (10, 100, 1_000):
        text = "".join(f"Sentence {n} is about shard {n % 7}. " for n in range(times))
        watching = Watching()
        key_sentences(text, times * 4, watching)
        assert watching.characters <= 3 * len(text)
