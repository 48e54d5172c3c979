# %% [markdown]
# # Exercises 03 · The conversation compressor
#
# *Three questions, 12 points, about 45 minutes. Lesson [03](../notebooks/03_conversation_compressor.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries your
# function on examples and says what is likely wrong. `hint("compare")` and its like help, a little more at each call. Points are
# given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples alone. You
# may add cells of your own. Hand in this notebook under any name.
#
# No model is needed. Where a summary has to be written or a question answered, your function is handed a function that does it;
# the ones below stand in for a model, and do on purpose what models do when nobody looks: ramble, say nothing, guess.

# %% tags=["setup"]
from ctxcourse import load_tokenizer
from ctxcourse.history import key_sentences, split_sentences
from ctxcourse.learn import case, check, hint
from ctxcourse.tokens import truncate

tok = load_tokenizer()


def words(text):
    return {word.strip(".,;:!?").casefold() for word in text.split()}


def last_sentence(text, room):
    """A summariser that finds the end most important, and never asks how much room there is."""
    return split_sentences(text)[-1].strip()


def rambling(text, room):
    """A summariser that cannot let go of anything."""
    return f"Here is a summary of the text, as you asked: {text}"


def silent(text, room):
    """A summariser that has nothing to say."""
    return " \n"


def reader(text, question):
    """Answers with the sentence that shares most words with the question; where none does, it guesses."""
    best = max(split_sentences(text), key=lambda sentence: len(words(sentence) & words(question)), default="")
    return best if words(best) & words(question) else "I believe it is Lisbon."


# %% [markdown]
# ## Question 1 · Three ways to shorten, one table (5 points)
#
# A compressor has two figures: how much it leaves, and whether what is needed is in it. Write
# `compare(documents, share, summarise, ask, tok)`, which shortens every document in three ways and returns a list of three dicts,
# one a strategy, in this order. A document is a dict with `text`, `question` and `answer`.
#
# | strategy | what it makes of a text with a budget of `b` tokens |
# |---|---|
# | `"truncation"` | the first `b` tokens: `truncate(text, b, tok)` |
# | `"summary"` | what `summarise(text, b)` returns |
# | `"key sentences"` | `key_sentences(text, b, tok)` |
#
# 1. A document's budget is `share` of its tokens (`tok.count_text`), rounded down to whole tokens, but at least 1.
# 2. Texts are shortened before anybody knows what will be asked. No strategy gets to see the question.
# 3. A summary has to shrink. One that is empty but for white space, or has no fewer tokens than the text, is **refused**: the document
#    stays as it was. A summary of more than `b` tokens that did shrink is taken; the ratio will tell.
# 4. A text *holds* an answer if the answer occurs in it, large or small letters alike (`casefold`), without a letter or digit
#    (`isalnum`) directly before or behind it: `417` is not in `4170`, but it is in `(417)`.
# 5. An answer is *found* if the shortened text holds it **and** so does what `ask(shortened text, question)` returns. The right
#    reply to a text that does not hold it was guessed, and is none.
#
# The dicts have the keys `strategy`; `ratio`, all tokens left divided by all tokens there were, over all documents together;
# `holds` and `found`, shares of the documents from 0 to 1; `spent`, the tokens that the summariser read (the text) and wrote (its
# answer as it came, refused or not), 0 for the other two; and `refused`, how many summaries were.
#
# Without documents, or with a `share` that is not between 0 and 1 (both excluded), raise a `ValueError`.

# %% tags=["answer"] question="compare"
def compare(documents, share, summarise, ask, tok):
    """Return a row for each of three strategies: ratio, holds, found, spent, refused."""
    ### BEGIN SOLUTION
    if not documents or not 0 < share < 1:
        raise ValueError(f"{len(documents)} documents, share {share}: give documents, and a share between 0 and 1")

    def holds(text, answer):
        text, answer = f" {text.casefold()} ", answer.casefold()
        at = text.find(answer)
        while at >= 0:
            if not text[at - 1].isalnum() and not text[at + len(answer)].isalnum():
                return True
            at = text.find(answer, at + 1)
        return False

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        shares = {"ratio": after / before, "holds": held / len(documents), "found": found / len(documents)}
        rows.append({"strategy": strategy, **shares, "spent": spent, "refused": refused})
    return rows
    ### END SOLUTION


# %% tags=["check"] question="compare"
ferry = {
    "text": "The ferry to Porto leaves at 9. It is often late. Tickets are sold on board. The captain is called Duarte.",
    "question": "Who is the captain?",
    "answer": "duarte",
}
mill = {
    "text": "The mill stands in Lisbon, by the river. It has four floors. Nobody lives there now, and it is to be sold.",
    "question": "In which city is the mill?",
    "answer": "Lisbon",
}


def rows(*figures):
    names = ("strategy", "ratio", "holds", "found", "spent", "refused")
    return [dict(zip(names, row, strict=True)) for row in figures]


check(
    compare,
    case(
        [ferry], 0.5, last_sentence, reader, tok,
        gives=rows(
            ("truncation", 13 / 27, 0.0, 0.0, 0, 0),
            ("summary", 7 / 27, 1.0, 1.0, 34, 0),
            ("key sentences", 12 / 27, 1.0, 1.0, 0, 0),
        ),
        hint="The budget is 13 of 27 tokens. The summariser reads all of them.",
    ),
    case(
        [ferry, mill], 0.5, rambling, reader, tok,
        gives=rows(
            ("truncation", 26 / 54, 0.5, 0.5, 0, 0),
            ("summary", 1.0, 1.0, 1.0, 132, 2),
            ("key sentences", 17 / 54, 0.5, 0.5, 0, 0),
        ),
        hint="A summary that is longer than its text is refused, and yet it was paid for.",
    ),
    case([], 0.5, last_sentence, reader, tok, raises=ValueError, hint="Of no documents there is no share."),
)

# %% [markdown] tags=["hint"] question="compare"
# Begin with a function `holds(text, answer)`; rules 4 and 5 both need it. The answer may occur several times, first as a part of something
# longer and then on its own.

# %% [markdown] tags=["hint"] question="compare"
# One loop over the strategies, and inside it one over the documents. Only the line that makes the short text differs between strategies.

# %% [markdown] tags=["hint"] question="compare"
# Add up tokens before and after in the inner loop and divide behind it. The mean of the documents' ratios is another figure: in it a short
# document counts as much as a long one.

# %% tags=["hidden-tests"] question="compare"
### BEGIN HIDDEN TESTS
from ctxcourse import load_tokenizer
from ctxcourse.grading.remote import StudentError
from ctxcourse.history import key_sentences
from ctxcourse.tokens import truncate

NAMES = {"strategy", "ratio", "holds", "found", "spent", "refused"}
FILLER = "Nothing else of any note was said about it on that day or on the next. "


def document(text, answer="4417", question="What is the employee number?"):
    return {"text": text, "question": question, "answer": answer}


def table(student, documents, share, summarise="last_sentence"):
    rows = student.compare(documents, share, *(student.name(name) for name in (summarise, "reader", "tok")))
    assert [row["strategy"] for row in rows] == ["truncation", "summary", "key sentences"]
    assert all(set(row) == NAMES for row in rows)
    return rows


@points(
    1,
    title="Truncation, and a ratio over all documents together",
    hint="Is the budget a share of the tokens, rounded down? The ratio is all that is left over all there was, not a mean of ratios.",
)
@pytest.mark.parametrize("share", [0.25, 0.4, 0.73])
def test_truncation_and_ratio(student, share):
    tok = load_tokenizer()
    front, back = "The employee number is 4417. " + FILLER * 9, "Well. " + FILLER * 2 + "The employee number is 4417."
    odd = "Ünïcödé identifiers, such as getHTTPResponse_v2, are worth far more tokens than words: 4417."
    documents = [document(text) for text in (front, back, odd, odd[::-1])]
    sizes = [tok.count_text(one["text"]) for one in documents]
    row = table(student, documents, share)[0]
    left = [tok.count_text(truncate(one["text"], int(share * size), tok)) for one, size in zip(documents, sizes, strict=True)]
    assert row["ratio"] == pytest.approx(sum(left) / sum(sizes))
    assert (row["holds"], row["found"], row["spent"], row["refused"]) == (0.25, 0.25, 0, 0)


@points(
    1,
    title="Key sentences, chosen before the question is known",
    hint="Does key_sentences get a query from you? Who shortens a text today does not know what will be asked tomorrow.",
)
def test_key_sentences_without_the_question(student):
    tok = load_tokenizer()
    talk = "Payments fail in the north. Payments time out in the north and the queue of payments grows. The queue holds old payments. "
    asked = document(f"{talk}The employee number is 4417. {talk.replace('north', 'south')}The payments queue grows in the south.")
    budget = int(0.3 * tok.count_text(asked["text"]))
    assert "4417" in key_sentences(asked["text"], budget, tok, asked["question"])
    kept = key_sentences(asked["text"], budget, tok)
    assert "4417" not in kept
    known = document(asked["text"], "queue of payments", "Which queue grows?")
    row = table(student, [asked, known], 0.3)[2]
    assert row["ratio"] == pytest.approx(tok.count_text(kept) / tok.count_text(asked["text"]))
    assert row["holds"] == (0.5 if "queue of payments" in kept else 0)
    assert (row["spent"], row["refused"]) == (0, 0)


@points(
    1,
    title="Held and found are two things",
    hint="Is an answer found inside a longer word or number, lost where it occurs a second time or in other letters, or counted as "
    "found where the reply was a guess?",
)
@pytest.mark.parametrize(
    ("text", "answer", "holds", "found"),
    [
        ("The employee number is 4417.", "4417", 1, 1),
        ("The employee number is (4417), they say.", "4417", 1, 1),
        ("The employee number is 44170.", "4417", 0, 0),
        ("The employee number is E4417.", "4417", 0, 0),
        ("The employee number is 44170, no, it is 4417 after all.", "4417", 1, 1),
        ("The employee number is known to PAYROLL.", "Payroll", 1, 1),
        ("The employee number is on a straße.", "STRASSE", 1, 1),
        ("The employee number is a secret. Ask for 4417.", "4417", 1, 0),
        ("Nobody said a word.", "Lisbon", 0, 0),
        ("They were in Lisbon. Nobody said a word.", "Lisbon", 1, 1),
    ],
    ids=["plain", "brackets", "longer", "letter", "second place", "large letters", "sharp s", "held, not found", "guessed", "both"],
)
def test_held_and_found(student, text, answer, holds, found):
    row = table(student, [document(f"{text} And so on and on.", answer)], 0.99)[0]
    assert (row["holds"], row["found"]) == (holds, found)


@points(
    1,
    title="A summary shrinks or is refused, and is paid for either way",
    hint="An empty summary, and one that is no shorter than its text, are refused; the document then stays whole. Both were read and written.",
)
def test_summaries(student):
    tok = load_tokenizer()
    texts = [FILLER * 3 + "The employee number is 4417.", "The employee number is 4417."]
    documents = [document(text) for text in texts]
    sizes = [tok.count_text(text) for text in texts]
    row = table(student, documents, 0.2)[1]  # the second text is one sentence: its summary is as long as itself
    assert row["ratio"] == pytest.approx((tok.count_text(texts[1]) + sizes[1]) / sum(sizes))
    assert (row["holds"], row["found"]) == (1, 1)
    assert (row["spent"], row["refused"]) == (sum(sizes) + 2 * sizes[1], 1)
    row = table(student, documents, 0.2, "silent")[1]
    assert (row["ratio"], row["holds"], row["refused"]) == (1, 1, 2)
    assert row["spent"] == sum(sizes) + 2 * tok.count_text(" \n")
    row = table(student, documents, 0.2, "rambling")[1]
    assert (row["ratio"], row["holds"], row["refused"]) == (1, 1, 2)
    assert row["spent"] > 2 * sum(sizes)


@points(
    1,
    title="Small texts, and arguments that cannot be",
    hint="A quarter of two tokens is none: the budget is at least 1. No documents, and a share of 0 or less, 1 or more, are a ValueError.",
)
def test_small_and_impossible(student):
    tok = load_tokenizer()
    tiny = document("Yes. No.", "Yes")
    row = table(student, [tiny], 0.1)[0]
    assert row["ratio"] == pytest.approx(1 / tok.count_text("Yes. No."))
    assert row["holds"] == 1
    for documents, share in (([], 0.5), ([tiny], 0), ([tiny], 1), ([tiny], -0.5), ([tiny], 1.5)):
        with pytest.raises(StudentError, match="^ValueError"):
            student.compare(documents, share, *(student.name(name) for name in ("last_sentence", "reader", "tok")))
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · A window that keeps the task (4 points)
#
# The lesson's sliding window rounds *up*: it takes in the whole step in which it begins, so that it may hold more than was asked
# for. And what it forgets first is the first thing that the user said, which in an agent's session is the task. Yours rounds
# *down* and keeps the task. Write `window(messages, last)`, which returns the **indices** of the messages to keep, ascending.
#
# A *step* is an assistant message with its tool calls and the tool messages behind it; any other message is a step of its own.
# The conversations are valid: each call has its result, right behind the message that makes the call.
#
# 1. System messages at the very beginning are kept and not counted. One that comes later is a step like any other.
# 2. The *task*, the first message from the user, is kept and not counted, wherever it stands. A conversation may have none.
# 3. Of all other steps the newest are kept, whole, up to the first that would bring them to more than `last` messages. There it
#    ends, even if an older one were small enough: a window has no holes, but for what is between it and the task.
# 4. The newest of these steps is kept in any case, even if it alone has more than `last` messages.
# 5. A `last` below 1 raises a `ValueError`.

# %% tags=["answer"] question="window"
def window(messages, last):
    """Return the indices of the messages that a step-safe window with a pinned task keeps."""
    ### BEGIN SOLUTION
    if last < 1:
        raise ValueError(f"a window of {last} messages holds nothing")
    roles = [message["role"] for message in messages]
    opening = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    pinned = list(range(opening))
    if "user" in roles:
        pinned.append(roles.index("user"))
    steps = []
    for index, role in enumerate(roles):
        if index in pinned:
            continue
        if role == "tool":
            steps[-1].append(index)
        else:
            steps.append([index])
    kept = []
    for step in reversed(steps):
        if kept and len(kept) + len(step) > last:
            break
        kept += step
    return sorted(pinned + kept)
    ### END SOLUTION


# %% tags=["check"] question="window"
def conversation(pattern):
    """A conversation in letters: s, u, a are messages, a digit is an assistant with so many calls and their results."""
    made = []
    for place, letter in enumerate(pattern):
        if letter.isdigit():
            ids = [f"{place}-{number}" for number in range(int(letter))]
            calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": {}}} for name in ids]
            made.append({"role": "assistant", "content": "", "tool_calls": calls})
            made += [{"role": "tool", "tool_call_id": name, "content": "seen"} for name in ids]
        else:
            made.append({"role": {"s": "system", "u": "user", "a": "assistant"}[letter], "content": letter})
    return made


check(
    window,
    case(
        conversation("suaua"), 2,
        gives=[0, 1, 3, 4],
        mistakes=[
            ([0, 3, 4], "The first user message is the task, and stays."),
            ([0, 1, 4], "The task is kept beside the window and not counted in it."),
        ],
    ),
    case(
        conversation("u2a"), 3,
        gives=[0, 4],
        mistakes=[
            ([0, 1, 2, 3, 4], "That is the lesson's window: it rounds up. The step of three would bring it to four."),
            ([0, 2, 3, 4], "Two results without their call: the step was taken apart."),
        ],
    ),
    case(conversation("ua3"), 2, gives=[0, 2, 3, 4, 5], hint="The newest step stays whole, whatever its size."),
    case(conversation("ua"), 0, raises=ValueError, hint="A window of no messages."),
)

# %% [markdown] tags=["hint"] question="window"
# Build a list of steps first, each a list of indices. A tool message goes to the step before it; every other message opens a new one.

# %% [markdown] tags=["hint"] question="window"
# Take the task and the opening system messages out before you look for steps, then nothing has to be counted specially.

# %% [markdown] tags=["hint"] question="window"
# Go through the steps from the newest: stop, do not skip. When may you stop? Not before one has been taken.

# %% tags=["hidden-tests"] question="window"
### BEGIN HIDDEN TESTS
import random

from ctxcourse.grading.remote import StudentError

ROLES = {"s": "system", "u": "user", "a": "assistant"}


def talk(pattern):
    """Messages for a pattern of letters, where a digit is an assistant with so many calls; and each one's letter."""
    made = []
    for place, letter in enumerate(pattern):
        if not letter.isdigit():
            made.append({"role": ROLES[letter], "content": f"{letter}{place}"})
            continue
        ids = [f"call-{place}-{number}" for number in range(int(letter))]
        calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": {}}} for name in ids]
        made.append({"role": "assistant", "content": "", "tool_calls": calls})
        made += [{"role": "tool", "tool_call_id": name, "content": "seen"} for name in ids]
    return made


def cut_apart(messages, kept):
    """Whether a call is kept without one of its results, or the other way round."""
    answered = {messages[i]["tool_call_id"] for i in kept if messages[i]["role"] == "tool"}
    called = {call["id"] for i in kept for call in messages[i].get("tool_calls", [])}
    return answered != called


@points(
    1,
    title="No step is taken apart, and the window is no larger than was asked for",
    hint="Is the step in which the window would begin left out as a whole, its call with all its results?",
)
def test_steps_stay_whole(student):
    source = random.Random(3)
    for _ in range(40):
        messages = talk("su" + "".join(source.choice("ua1234") for _ in range(source.randint(3, 12))) + "a")
        last = source.randint(1, 12)
        kept = student.window(messages, last)
        assert kept == sorted(set(kept))
        assert not cut_apart(messages, kept)
        assert len(kept) - 2 <= last  # the system message and the task are not counted


@points(
    1,
    title="As many of the newest steps as fit, without holes",
    hint="Does the window end at the first step that is too large, or does it skip it and go on? And is one that just fits still in?",
)
@pytest.mark.parametrize(
    ("pattern", "last", "kept"),
    [
        ("uaauaa", 3, [0, 3, 4, 5]),
        ("ua3aa", 4, [0, 6, 7]),
        ("ua3aa", 6, [0, 2, 3, 4, 5, 6, 7]),
        ("ua1ua2", 6, [0, 4, 5, 6, 7, 8]),
        ("uuuuu", 2, [0, 3, 4]),
        ("uaua", 100, [0, 1, 2, 3]),
    ],
)
def test_newest_without_holes(student, pattern, last, kept):
    assert student.window(talk(pattern), last) == kept


@points(
    1,
    title="The task and the opening system messages are pinned, and not counted",
    hint="The first user message stays wherever it stands, once, and takes no place in the window; a later system message is no opening.",
)
@pytest.mark.parametrize(
    ("pattern", "last", "kept"),
    [
        ("ssuaaa", 1, [0, 1, 2, 5]),
        ("suaas", 1, [0, 1, 4]),
        ("suasaa", 2, [0, 1, 4, 5]),
        ("saauaa", 2, [0, 3, 4, 5]),
        ("saauaa", 3, [0, 2, 3, 4, 5]),
        ("saa1a", 2, [0, 5]),
        ("su", 1, [0, 1]),
        ("ss", 1, [0, 1]),
        ("", 1, []),
        ("uaaua", 1, [0, 4]),
    ],
)
def test_pinned(student, pattern, last, kept):
    assert student.window(talk(pattern), last) == kept


@points(
    1,
    title="The newest step always stays, and a window of nothing is refused",
    hint="A step larger than the window is kept whole if it is the newest. A last of 0 or less is a ValueError, even for no messages.",
)
def test_newest_stays(student):
    for pattern, last, kept in (("ua4", 1, [0, 2, 3, 4, 5, 6]), ("u9", 3, list(range(11))), ("u1a3", 2, [0, 4, 5, 6, 7])):
        assert student.window(talk(pattern), last) == kept
    for messages, last in ((talk("ua"), 0), (talk("ua"), -1), ([], 0)):
        with pytest.raises(StudentError, match="^ValueError"):
            student.window(messages, last)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · Two faults, repaired (3 points)
#
# Here is the published compressor's rule, in four lines. It is called whenever messages have become old, and what it returns
# takes their place in the prompt. Run the cell.

# %%
def published(summaries, old):
    """Return the summaries so far with one more: the first 100 characters of each old message."""
    return [*summaries, "; ".join(f"{message['role']}: {message['content'][:100]}" for message in old)]


report = "I went through the whole log again, line by line, from the first alert to the last one, and can now say for certain: "
summaries = []
for number in range(50):
    summaries = published(summaries, [{"role": "user", "content": f"{report}it was shard {number}."}])

tok.count_text("\n".join(summaries)), "shard" in "\n".join(summaries)

# %% [markdown]
# Two figures, two faults. What each message says behind its first 100 characters is gone, and in messages that come to a point
# that is where the point is. And the summaries pile up: nothing ever shortens them, so that the compressed part of the prompt
# grows for as long as the session does.
#
# Write `fold(summary, old, room, summarise, tok)`, which repairs both: it returns **one** summary, a text, in place of the one
# there was. `old` holds dicts with `role` and `content`.
#
# 1. The *lines* are the summary so far (left out if it is empty) and then, for each old message in order, `role: content`, its
#    content whole. Joined by `"\n"` they are the *text*. (A content that has line breaks of its own still is one line here.)
# 2. Without old messages the summary is returned as it is, and nobody is asked.
# 3. Otherwise `summarise(text, room)` is asked once. Its answer, stripped of white space at both ends, is the new summary if it is
#    not empty, has at most `room` tokens, and fewer tokens than the text.
# 4. If it is refused, the new summary is made of the newest lines, whole, in their order, joined by `"\n"`: from the last one back to the
#    first with which they would have more than `room` tokens. Count them joined, not one by one.
# 5. Where not even the last line fits, it is cut: `truncate(line, room, tok)`.

# %% tags=["answer"] question="fold"
def fold(summary, old, room, summarise, tok):
    """Return one summary of at most ``room`` tokens, of the summary so far and the messages that have become old."""
    ### BEGIN SOLUTION
    if not old:
        return summary
    lines = [summary] if summary else []
    lines += [f"{message['role']}: {message['content']}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    size = tok.count_text(answer)
    if answer and size <= room and size < tok.count_text(text):
        return answer
    kept = ""
    for first in range(len(lines) - 1, -1, -1):
        longer = "\n".join(lines[first:])
        if tok.count_text(longer) > room:
            break
        kept = longer
    return kept or truncate(lines[-1], room, tok)
    ### END SOLUTION


# %% tags=["check"] question="fold"
two = [{"role": "user", "content": "Which shard is it? Look again."}, {"role": "assistant", "content": "It is pay-shard-7. I am sure."}]
check(
    fold,
    case("They look for a shard.", two, 20, last_sentence, tok, gives="I am sure.", hint="This summary is short enough: take it."),
    case(
        "They look for a shard.", two, 20, silent, tok,
        gives="assistant: It is pay-shard-7. I am sure.",
        mistakes=[("", "An empty summary is refused, as one that is too long is.")],
    ),
    case(
        "", two, 30, rambling, tok,
        gives="user: Which shard is it? Look again.\nassistant: It is pay-shard-7. I am sure.",
        hint="Both lines fit. The summary so far is empty, so that there is no line for it.",
    ),
    case("They look for a shard.", [], 20, silent, tok, gives="They look for a shard.", hint="Nothing has become old."),
)

# %% [markdown] tags=["hint"] question="fold"
# Make the list of lines first. Both the text that is summarised and what replaces a refused summary are made of it.

# %% [markdown] tags=["hint"] question="fold"
# A summary has three tests to pass. Two of them are about size, against `room` and against the text, and neither implies the other.

# %% [markdown] tags=["hint"] question="fold"
# For rule 4 go backwards: the last line, the last two, the last three, as long as they fit when joined. What is left over where none does?

# %% tags=["hidden-tests"] question="fold"
### BEGIN HIDDEN TESTS
from ctxcourse import load_tokenizer
from ctxcourse.tokens import truncate

LONG = "We went through all of it once more, from the first alert to the last, slowly, and with a colleague beside us. " * 4


def said(*contents):
    return [{"role": "user" if place % 2 else "assistant", "content": content} for place, content in enumerate(contents)]


def folded(student, summary, old, room, summarise):
    return student.fold(summary, old, room, student.name(summarise), student.name("tok"))


@points(
    1,
    title="Messages are read whole, and a good summary is taken",
    hint="Does the summariser see each message to its end, behind the summary so far? Is its answer taken, without white space around it?",
)
def test_read_whole(student):
    shards = [f"It was shard {number}." for number in range(5)]
    assert folded(student, "", said(LONG + shards[3]), 20, "last_sentence") == shards[3]
    assert folded(student, "They search.", said("Well.", LONG + shards[4]), 20, "last_sentence") == shards[4]
    assert folded(student, "They search.", said("Well. Go on."), 50, "last_sentence") == "Go on."
    # refused, since it would be larger than the room: what takes its place is whole as well
    assert folded(student, "", said(LONG + shards[1]), 500, "rambling") == f"assistant: {LONG}{shards[1]}"
    assert folded(student, "", said("One\ntwo\n\nthree"), 500, "rambling") == "assistant: One\ntwo\n\nthree"


@points(
    1,
    title="The summary never has more than its room",
    hint="Fold fifty times, each time with what the last one returned. Is there one summary, in place of the one before, never empty?",
)
@pytest.mark.parametrize("summarise", ["rambling", "silent", "last_sentence"])
@pytest.mark.parametrize("room", [1, 7, 40, 150])
def test_bounded(student, summarise, room):
    tok = load_tokenizer()
    summary = ""
    for number in range(50):
        old = said(*[f"Look at host-{number:03} again: " + "its disk is full, " * (number % 4)] * (1 + number % 3))
        summary = folded(student, summary, old, room, summarise)
        assert isinstance(summary, str)
        assert summary
        assert tok.count_text(summary) <= room


@points(
    1,
    title="What takes a refused summary's place",
    hint="The newest lines, whole and in order, counted joined; the summary so far is the first of them; a last line that is too long is cut.",
)
def test_in_place_of_a_refused_summary(student):
    tok = load_tokenizer()
    old = said("Red is the first", "Green comes next, by all accounts", "Blue is the last of them")
    lines = ["They name colours", *(f"{message['role']}: {message['content']}" for message in old)]
    for first in range(4):
        expected = "\n".join(lines[first:])
        room = tok.count_text(expected)
        assert folded(student, lines[0], old, room, "silent") == expected
        shorter = "\n".join(lines[first + 1 :]) or truncate(lines[-1], room - 1, tok)
        assert folded(student, lines[0], old, room - 1, "silent") == shorter
        assert folded(student, lines[0], old, room - 1, "rambling") == shorter
    # a long line stops the way back, even if an older one would fit
    assert folded(student, "", said("Yes.", LONG, "No."), 30, "silent") == "assistant: No."
    assert folded(student, "As it was.", [], 3, "rambling") == "As it was."
    assert folded(student, "", [], 3, "rambling") == ""
    # one message without a sentence end: its summary is the text itself, which does not shrink
    assert folded(student, "", said("One single line"), 50, "last_sentence") == "assistant: One single line"
### END HIDDEN TESTS
