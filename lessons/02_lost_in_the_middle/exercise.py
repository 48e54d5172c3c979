# %% [markdown]
# # Exercises 02 · Lost in the middle
#
# *Three questions, 12 points, about 45 minutes. Lesson [02](../notebooks/02_lost_in_the_middle.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries your
# function on examples and says what is likely wrong. `hint("arrange")` and its like help, a little more at each call. Points are
# given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples alone. You
# may add cells of your own. Hand in this notebook under any name.
#
# No model is needed here. What a retriever hands over is a list of texts with scores, and all three questions are about what to
# do with such a list before anybody pays for reading it; the third, about what to believe of those who tell you.

# %% tags=["setup"]
from ctxcourse.learn import case, check, hint

# %% [markdown]
# ## Question 1 · Sources stay whole (4 points)
#
# `reorder` sends every document to the front or to the back on its own. Retrievers, though, mostly return *chunks*, several of
# one file, and to tear them apart is to hand the model page 7 before page 2 with somebody else's pages in between. Write
# `arrange(chunks, anchors)`. A chunk is a tuple `(source, place, score)`: the file that it is from, its place in that file (a
# whole number), and its score, or `None` where it was not scored. No two chunks have the same source and place. The result is the
# list of the chunks in the order in which they should stand in the prompt:
#
# 1. All chunks of one source are a **block**. A block stays together, its chunks in the order of their places.
# 2. Blocks are ranked by their best chunk, the one with the highest score; scores may be negative. A block with no scored chunk
#    comes behind all others. Of blocks that are equal, the one that occurs first in `chunks` comes first.
# 3. The best `anchors` blocks come first, in the order of their ranks.
# 4. Of the *remaining* blocks, the best goes to the very end, the next best directly behind the anchors, the next to the second
#    last place, and so on by turns, so that the worst stands somewhere in between.
# 5. With as many anchors as blocks, or more, it is the order of the ranks. Fewer than 0 are a `ValueError`.
#
# With one anchor and one chunk for each source, this is the lesson's 1 3 5 4 2. With two anchors, five blocks come as 1 2 4 5 3.

# %% tags=["answer"] question="arrange"
def arrange(chunks, anchors):
    """Return the chunks in the order of the prompt: sources whole, anchors first, the rest best at the end."""
    ### BEGIN SOLUTION
    if anchors < 0:
        raise ValueError(f"anchors is {anchors}: there cannot be fewer than none")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def best(block):
        return max((score for _, _, score in block if score is not None), default=float("-inf"))

    ranked = sorted(blocks.values(), key=best, reverse=True)
    rest = ranked[anchors:]
    order = ranked[:anchors] + rest[1::2] + rest[0::2][::-1]
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]
    ### END SOLUTION


# %% tags=["check"] question="arrange"
five = [("a", 0, 0.5), ("b", 0, 0.4), ("c", 0, 0.3), ("d", 0, 0.2), ("e", 0, 0.1)]
a, b, c, d, e = five
check(
    arrange,
    case(
        five, 1,
        gives=[a, c, e, d, b],
        mistakes=[
            ([a, b, d, e, c], "After the anchor, the best of the rest goes to the very end, not behind the anchor."),
            ([b, d, e, c, a], "The anchor stands first, and only then do the others take turns."),
        ],
    ),
    case(five, 2, gives=[a, b, d, e, c], hint="Ranks 1 and 2 are anchors. Of the rest, 3 goes to the end, 4 behind the anchors."),
    case(five[:4], 1, gives=[a, c, d, b], hint="With four, as with five, the best comes first."),
    case(
        [("log", 2, 0.0), ("wiki", 0, 0.5), ("log", 1, 0.9)], 2,
        gives=[("log", 1, 0.9), ("log", 2, 0.0), ("wiki", 0, 0.5)],
        mistakes=[
            ([("log", 1, 0.9), ("wiki", 0, 0.5), ("log", 2, 0.0)], "The log is torn apart: blocks are placed, not chunks."),
            ([("log", 2, 0.0), ("log", 1, 0.9), ("wiki", 0, 0.5)], "Within a block, places count: 1 before 2."),
            ([("wiki", 0, 0.5), ("log", 1, 0.9), ("log", 2, 0.0)], "A block is as good as its best chunk."),
        ],
    ),
    case(
        [("wiki", 0, None), ("log", 0, -2.5)], 2,
        gives=[("log", 0, -2.5), ("wiki", 0, None)],
        hint="No score is not a score of 0: what was not scored comes behind what was.",
    ),
    case(five, -1, raises=ValueError, hint="A slice takes −1 without complaint and means something else by it."),
)

# %% [markdown] tags=["hint"] question="arrange"
# Three steps, one after the other: make blocks, rank them, place them. A dict from source to list of chunks keeps the order in
# which the sources occur.

# %% [markdown] tags=["hint"] question="arrange"
# `sorted(…, key=…, reverse=True)` leaves equal blocks in their order; sorting upwards and turning the list round does not.

# %% [markdown] tags=["hint"] question="arrange"
# Number the remaining blocks 0, 1, 2, … by rank. Which of them go to the back, and in which order do they stand there? `[::2]`,
# `[1::2]` and `[::-1]` say it.

# %% tags=["hidden-tests"] question="arrange"
### BEGIN HIDDEN TESTS
import random

from ctxcourse.grading.remote import StudentError


def singles(scores):
    """One chunk for each source, named by its place in the list."""
    return [(f"s{i}", 3, score) for i, score in enumerate(scores)]


def listed(found):
    return [tuple(chunk) for chunk in found]


@points(
    1,
    title="A source stays whole, in its own order",
    hint="Did you place blocks or single chunks? Within a block it is the place that counts: not the score, and not the order of the list.",
)
def test_blocks(student):
    chunks = [("b", 10, 0.8), ("a", 4, 0.3), ("b", 2, 0.1), ("c", 1, 0.6), ("a", 0, 0.2), ("b", 3, 0.9), ("a", 7, 0.25)]
    b_whole = [("b", 2, 0.1), ("b", 3, 0.9), ("b", 10, 0.8)]
    a_whole = [("a", 0, 0.2), ("a", 4, 0.3), ("a", 7, 0.25)]
    assert listed(student.arrange(chunks, 1)) == [*b_whole, *a_whole, ("c", 1, 0.6)]
    assert listed(student.arrange(chunks[::-1], 3)) == [*b_whole, ("c", 1, 0.6), *a_whole]


@points(
    1,
    title="Blocks by their best chunk, equal ones in their order, those without a score last",
    hint="A block's score is its highest, not its sum, mean or first; None is below any score, and ties stay as they came.",
)
@pytest.mark.parametrize(
    ("chunks", "sources"),
    [
        ([("a", 0, 0.5), ("a", 1, 0.5), ("b", 0, 0.9), ("b", 1, 0.0)], "bbaa"),
        ([("a", 0, 0.4), ("a", 1, 0.4), ("a", 2, 0.4), ("b", 0, 0.6)], "baaa"),
        ([("a", 0, 0.1), ("b", 0, 0.5), ("a", 1, 0.9)], "aab"),
        ([("a", 0, None), ("b", 0, -3.0), ("b", 1, None), ("c", 0, -1.5)], "cbba"),
        ([("d", 0, 1), ("c", 0, 1), ("a", 0, 1), ("b", 0, 2)], "bdca"),
        ([("d", 0, None), ("a", 0, None), ("c", 0, 0)], "cda"),
        ([("d", 5, 1), ("c", 0, 1), ("d", 1, None)], "ddc"),
    ],
    ids=["not the mean", "not the sum", "not the first", "negative", "ties", "unscored ties", "a tie of blocks"],
)
def test_rank(student, chunks, sources):
    assert "".join(chunk[0] for chunk in student.arrange(chunks, len(chunks))) == sources


@points(
    1,
    title="Anchors first, then by turns from the end, for every number of blocks",
    hint="Does the best of the rest stand last, whether the number of blocks is even or odd? And the next best directly behind the anchors?",
)
@pytest.mark.parametrize(
    ("blocks", "anchors", "ranks"),
    [
        (4, 1, "1342"), (5, 1, "13542"), (6, 1, "135642"), (7, 1, "1357642"),
        (4, 2, "1243"), (5, 2, "12453"), (6, 2, "124653"), (7, 3, "1235764"),
        (4, 0, "2431"), (5, 0, "24531"), (1, 1, "1"), (2, 1, "12"), (3, 1, "132"), (2, 0, "21"), (8, 8, "12345678"), (3, 7, "123"),
    ],
)  # fmt: skip
def test_anchors(student, blocks, anchors, ranks):
    chunks = singles([1 / rank for rank in range(1, blocks + 1)])
    random.Random(blocks).shuffle(chunks)
    found = [chunk[0] for chunk in student.arrange(chunks, anchors)]
    assert found == [f"s{int(rank) - 1}" for rank in ranks]


@points(
    1,
    title="No chunk is lost, an empty list is one, and fewer than no anchors are an error",
    hint="What comes of an empty list, and of one source? And what does a slice make of −1, which should be a ValueError?",
)
def test_limits(student):
    for anchors in (0, 1, 5):
        assert listed(student.arrange([], anchors)) == []
        assert listed(student.arrange([("a", 1, None), ("a", 0, 0.5)], anchors)) == [("a", 0, 0.5), ("a", 1, None)]
    source = random.Random(2)
    for _ in range(30):
        chunks = [(name, place, source.choice([None, -1, 0, 2.5])) for name in "vwxyz" for place in range(source.randint(0, 3))]
        source.shuffle(chunks)
        found = listed(student.arrange(chunks, source.randint(0, 6)))
        assert sorted(found, key=str) == sorted(chunks, key=str)
    for anchors in (-1, -4):
        with pytest.raises(StudentError, match="^ValueError"):
            student.arrange(singles([0.3, 0.2, 0.1]), anchors)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · Doubles, numbers and a budget (4 points)
#
# The package's `dedup` has two gaps, which it admits to: it does not see that one document is contained in another, and it does
# not see that two which are alike in all words but one differ in the very number that was asked for. It also knows no budget.
# Write `thin_out(documents, threshold, budget)`. A document is a dict with its `text`, its `score`, and its `tokens`.
#
# - The **words** of a text are what `text.lower().split()` gives, each counted once. (Punctuation sticks to them. That is crude,
#   and it is not the point here.)
# - Two documents are **doubles** where both is true. First, of the words of the one that has *fewer*, more than `threshold` (a
#   fraction) are words of the other. Second, they hold the same words with a digit in them: `14:05` and `INC-7` are such words.
#   A document without words is a double of nothing.
# - Go through the documents from the highest score to the lowest, equal ones in their order. One that is a double of a document
#   **kept** before is *dropped*, because of the best scored such document. Any other is *kept* if its tokens fit into what is
#   left of the budget; if not it is *left out*, and the ones after it may still fit.
#
# Return a dict: `kept` and `left_out`, the indices of these documents; `dropped`, a list of tuples `(index, because_of)`; and
# `won_back`, the tokens of the dropped documents. All three lists are in ascending order of the index.

# %% tags=["answer"] question="thin_out"
def thin_out(documents, threshold, budget):
    """Return which documents are kept, dropped as doubles, or left out, and the tokens won back."""
    ### BEGIN SOLUTION
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(character.isdigit() for character in word)} for own in words]

    def doubles(i, j):
        fewer = min(len(words[i]), len(words[j]))
        return fewer > 0 and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]

    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        because_of = next((j for j in kept if doubles(i, j)), None)
        if because_of is not None:
            dropped.append((i, because_of))
        elif documents[i]["tokens"] <= budget:
            kept.append(i)
            budget -= documents[i]["tokens"]
        else:
            left_out.append(i)
    return {
        "kept": sorted(kept),
        "dropped": sorted(dropped),
        "left_out": sorted(left_out),
        "won_back": sum(documents[i]["tokens"] for i, _ in dropped),
    }
    ### END SOLUTION


# %% tags=["check"] question="thin_out"
def document(text, score, tokens=10):
    return {"text": text, "score": score, "tokens": tokens}


def outcome(kept, dropped=(), left_out=(), won_back=0):
    return {"kept": list(kept), "dropped": list(dropped), "left_out": list(left_out), "won_back": won_back}


short, whole = "the payments shard is slow", "since noon the payments shard is slow again"
check(
    thin_out,
    case(
        [document(short, 0.4, 7), document(whole, 0.9, 12)], 0.8, 100,
        gives=outcome([1], [(0, 1)], won_back=7),
        mistakes=[
            (outcome([0], [(1, 0)], won_back=12), "Of two doubles the higher scored stays, wherever it stands in the list."),
            (outcome([0, 1]), "All five words of the shorter one are in the longer: it is contained, and a double."),
        ],
    ),
    case(
        [document("shard 7 is slow", 0.9), document("shard 8 is slow", 0.4)], 0.5, 100,
        gives=outcome([0, 1]),
        mistakes=[(outcome([0], [(1, 0)], won_back=10), "These two differ in a number: neither can stand in for the other.")],
    ),
    case(
        [document(whole, 0.9, 60), document(short, 0.4, 30)], 0.8, 50,
        gives=outcome([1], left_out=[0]),
        mistakes=[(outcome([], [(1, 0)], [0], 30), "The better one was left out. What would the shorter one be a double of, in this prompt?")],
    ),
    case(
        [document("lunch is at noon", 0.2, 40), document(short, 0.9, 30), document("who is on call", 0.5, 40)], 0.8, 75,
        gives=outcome([1, 2], left_out=[0]),
        hint="What is left of the budget after each document, from the highest score to the lowest?",
    ),
)

# %% [markdown] tags=["hint"] question="thin_out"
# Make the sets of words, and those of words with a digit, once for all documents. Then write a function that says of two indices
# whether they are doubles.

# %% [markdown] tags=["hint"] question="thin_out"
# One loop over the indices, sorted by score. In it three cases, in this order: a double of a kept one, room for it, no room.

# %% [markdown] tags=["hint"] question="thin_out"
# The list of kept indices is in the order of the scores while the loop runs, so the first double in it is the best. Sort at the end.

# %% tags=["hidden-tests"] question="thin_out"
### BEGIN HIDDEN TESTS
def paper(text, score=0.5, tokens=10):
    return {"text": text, "score": score, "tokens": tokens}


def result(kept, dropped=(), left_out=(), won_back=0):
    return {"kept": list(kept), "dropped": list(dropped), "left_out": list(left_out), "won_back": won_back}


def plain(found):
    return {**found, "dropped": [tuple(pair) for pair in found["dropped"]]}


@points(
    1,
    title="Of two doubles the higher scored is kept, and the lists are in ascending order",
    hint="Do you go from the highest score down, equal ones in their order? And are the lists sorted by index at the end?",
)
def test_keeps_the_better(student):
    twins = [paper("a b c d e", 0.2, 5), paper("v w x y z", 0.1, 6), paper("e d c b a", 0.7, 7), paper("A B C D E", 0.4, 8)]
    assert plain(student.thin_out(twins, 0.8, 100)) == result([1, 2], [(0, 2), (3, 2)], won_back=13)
    equal = [paper("a b c", 0.5, 3), paper("a b c", 0.5, 4), paper("x y", 0.9, 5), paper("a b c", 0.5, 6)]
    assert plain(student.thin_out(equal, 0.8, 100)) == result([0, 2], [(1, 0), (3, 0)], won_back=10)
    between = [paper("b c d x", 0.1, 2), paper("b c d y", 0.3, 4), paper("b c d z", 0.2, 8)]
    assert plain(student.thin_out(between, 0.7, 100)) == result([1], [(0, 1), (2, 1)], won_back=10)
    likes_both = [paper("a b c d", 0.1), paper("a b x y", 0.2), paper("c d v w", 0.3)]
    assert plain(student.thin_out(likes_both, 0.4, 100)) == result([1, 2], [(0, 2)], won_back=10)
    assert plain(student.thin_out([], 0.8, 100)) == result([])


@points(
    1,
    title="Alike by the words of the one that has fewer",
    hint="Divide the words in common by the smaller number of words, whichever of the two it is; more than the threshold is not as much as it.",
)
@pytest.mark.parametrize(
    ("first", "second", "threshold", "doubles"),
    [
        ("a b c d e f g h i j k l", "c d e", 0.8, True),
        ("c d e", "a b c d e f g h i j k l", 0.8, True),
        ("a b c d e f g h", "a b c d x", 0.8, False),
        ("a b c d e f g h", "a b c d x", 0.79, True),
        ("a b c d x", "a b c d e f g h", 0.8, False),
        ("shard slow shard slow shard slow", "SHARD quick slow", 0.9, True),
        ("a a a a b", "a x", 0.5, False),
        ("", "a b c", 0.5, False),
        ("a b c", " ", 0.0, False),
        ("a b", "c d", 0.0, False),
    ],
)
def test_alike(student, first, second, threshold, doubles):
    found = plain(student.thin_out([paper(first, 0.9), paper(second, 0.1)], threshold, 100))
    assert found == (result([0], [(1, 0)], won_back=10) if doubles else result([0, 1]))


@points(
    1,
    title="Another number is another document",
    hint="Compare the sets of words that have a digit anywhere in them, not only of those that are digits. Both sets have to be the same.",
)
@pytest.mark.parametrize(
    ("first", "second", "doubles"),
    [
        ("ticket 4410 is open and late", "ticket 4411 is open and late", False),
        ("ticket INC-44 is open and late", "ticket INC-45 is open and late", False),
        ("restart at 14:05, says the log", "restart at 14:06, says the log", False),
        ("ticket 4410 is open and late", "ticket is open and late", False),
        ("ticket is open and late", "ticket 4410 is open and late", False),
        ("open and late is ticket 4410", "the ticket 4410 is open and late", True),
        ("v2 of 17 is late 17", "late is 17 of v2", True),
    ],
)
def test_numbers(student, first, second, doubles):
    found = plain(student.thin_out([paper(first, 0.9), paper(second, 0.1)], 0.6, 100))
    assert found == (result([0], [(1, 0)], won_back=10) if doubles else result([0, 1]))


@points(
    1,
    title="A budget, and what is left out drops nothing",
    hint="Is a document dropped because of a kept one only? May a later, smaller one still fit, one that fits exactly too? "
    "Doubles cost the budget nothing, and only they are won back.",
)
def test_budget(student):
    first = [paper("a b c d e f", 0.9, 70), paper("a b c d e", 0.5, 20), paper("a b c d", 0.4, 10), paper("x y", 0.3, 30)]
    assert plain(student.thin_out(first, 0.8, 50)) == result([1, 3], [(2, 1)], [0], 10)
    assert plain(student.thin_out(first, 0.8, 49)) == result([1], [(2, 1)], [0, 3], 10)
    assert plain(student.thin_out(first, 0.8, 100)) == result([0, 3], [(1, 0), (2, 0)], [], 30)
    apart = [paper("a b", 0.9, 40), paper("c d", 0.8, 50), paper("e f", 0.7, 10), paper("a b", 0.6, 45), paper("g h", 0.5, 1)]
    assert plain(student.thin_out(apart, 0.8, 50)) == result([0, 2], [(3, 0)], [1, 4], 45)
    assert plain(student.thin_out(apart, 0.8, 0)) == result([], left_out=[0, 1, 2, 3, 4])
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · A claim against its source (4 points)
#
# Liu et al. put twenty documents into the prompt, one of which, the *gold* document, held the answer, and moved it. These are the
# percentages of right answers by its position, counted from 0, as the paper's repository gives them in `EXPERIMENTS.md`:

# %%
liu = {
    "MPT-30B-Instruct": [(0, 53.7), (4, 51.8), (9, 52.2), (14, 52.7), (19, 56.2)],
    "LongChat-13B": [(0, 68.6), (4, 57.4), (9, 55.3), (14, 52.5), (19, 55.0)],
}

# %% [markdown]
# Two sentences about such curves are passed from text to text, often with that paper as their source. One says that models are
# right in 85–90 % of cases at the ends and in 60–70 % in the middle. The other says that they are near perfect at the ends, with
# a drop of 10–20 % at 40–70 % depth. Written so that a program can hold them against a table, that is five sentences, made of
# seven **claims**, each a tuple `(kind, start, end, low, high)`. (“Near perfect” is read as 95 to 100, “the middle” as depths 0.4
# to 0.6; whether a drop of 10–20 % is meant in points or in per cent the sentence does not say, so there are two readings of it.)

# %%
claims = {
    "ends: 85 to 90": [("level", 0.0, 0.0, 85, 90), ("level", 1.0, 1.0, 85, 90)],
    "middle: 60 to 70": [("level", 0.4, 0.6, 60, 70)],
    "ends: near perfect": [("level", 0.0, 0.0, 95, 100), ("level", 1.0, 1.0, 95, 100)],
    "40–70 % depth: 10 to 20 points lower": [("points", 0.4, 0.7, 10, 20)],
    "40–70 % depth: 10 to 20 per cent lower": [("per cent", 0.4, 0.7, 10, 20)],
}

# %% [markdown]
# Write `against_source(figures, documents, claim)`. `figures` is a list of `(position, accuracy)` in any order, `documents` is how
# many documents the prompt holds (at least two), and `claim` is one tuple.
#
# 1. The **depth** of a position is `position / (documents - 1)`, so that the first is 0 and the last is 1. The claim rests on the
#    figures with a depth from `start` to `end`, both included.
# 2. What has to lie between `low` and `high`, both included, depends on the kind. `"level"`: the accuracy itself. `"points"`: how
#    far it is below the ends. `"per cent"`: the same as a percentage of the ends. The **ends** are the mean of two accuracies, that at
#    the first position of the prompt and that at the last.
# 3. Return a tuple `(verdict, positions)`. The positions are those that the claim rests on, in ascending order, as a list. The
#    verdict is `"supported"` where all of them agree with the claim, `"contradicted"` where none does, `"mixed"` where some do.
# 4. Where there is no such figure, or where a drop is claimed and one of the two ends was not measured, the result is
#    `("not in the table", [])`.

# %% tags=["answer"] question="against_source"
def against_source(figures, documents, claim):
    """Return ``(verdict, positions)``: what a table makes of a claim, and which of its figures decide."""
    ### BEGIN SOLUTION
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    if kind == "level":
        values = [accuracy[p] for p in positions]
    elif 0 in accuracy and documents - 1 in accuracy:
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [ends - accuracy[p] for p in positions]
        if kind == "per cent":
            values = [100 * value / ends for value in values]
    else:
        values = []
    if not values:
        return "not in the table", []
    agree = sum(low <= value <= high for value in values)
    verdict = "supported" if agree == len(values) else "mixed" if agree else "contradicted"
    return verdict, positions
    ### END SOLUTION


# %% tags=["check"] question="against_source"
made_up = [(0, 90), (2, 80), (5, 60), (8, 75), (10, 70)]
check(
    against_source,
    case(
        made_up, 11, ("level", 0.4, 0.6, 55, 65),
        gives=("supported", [5]),
        hint="Of eleven documents, the one at position 5 has depth 0.5.",
    ),
    case(
        made_up, 11, ("level", 0.2, 0.8, 75, 85),
        gives=("mixed", [2, 5, 8]),
        mistakes=[(("mixed", [5]), "Both ends of the range are included: position 2 of eleven has depth 0.2.")],
        hint="80 and 75 are in the range that is claimed, 60 is not: mixed.",
    ),
    case(
        made_up, 11, ("points", 0.5, 0.5, 18, 22),
        gives=("supported", [5]),
        mistakes=[(("contradicted", [5]), "The ends are the mean of 90 and 70; from there to 60 it is 20 points.")],
    ),
    case(
        made_up, 11, ("per cent", 0.5, 0.5, 18, 22),
        gives=("contradicted", [5]),
        hint="20 points of 80 are 25 per cent.",
    ),
    case(
        made_up[1:], 11, ("points", 0.5, 0.5, 18, 22),
        gives=("not in the table", []),
        hint="Nobody measured the first position here, so one of the two ends is missing.",
    ),
)

# %% [markdown]
# Now the two sentences, against the table:

# %%
{
    (model, words): [against_source(figures, 20, claim) for claim in parts]
    for words, parts in claims.items()
    for model, figures in liu.items()
}

# %% [markdown]
# Look at how many verdicts of *supported* there are, on how many figures each rests, and by which reading of the word “per cent”.
# (Position 14 of twenty has depth 0.74. Divided by 20 in place of 19 it would be 0.70, and be let in.) Look also at what the
# table does *not* have: these are two models, and a sentence about others is not refuted by them. It only has to be quoted from
# somewhere else.

# %% [markdown] tags=["hint"] question="against_source"
# First find the positions: one comparison with the depth, which is never computed with `documents` alone.

# %% [markdown] tags=["hint"] question="against_source"
# Then turn the accuracies at these positions into the values that the claim speaks of. For a level there is nothing to do; for a
# drop, look the two ends up by their positions, 0 and `documents - 1`, and not by where they stand in the list.

# %% [markdown] tags=["hint"] question="against_source"
# Count how many values lie in the range. All, none, or some: three verdicts. And no value at all is the fourth: `all([])` is true.

# %% tags=["hidden-tests"] question="against_source"
### BEGIN HIDDEN TESTS
def verdict_of(found):
    verdict, positions = found
    return verdict, list(positions)


@points(
    1,
    title="The figures that the claim rests on",
    hint="Is the depth of the last position 1? Are both ends of the range included, and the positions ascending, whatever the order of the figures?",
)
@pytest.mark.parametrize(
    ("positions", "documents", "start", "end", "expected"),
    [
        ([0, 4, 9, 14, 19], 20, 0.4, 0.7, [9]),
        ([0, 4, 9, 14, 19], 20, 0.4, 0.74, [9, 14]),
        ([0, 4, 9, 14, 19], 20, 1.0, 1.0, [19]),
        ([9, 4, 0, 7, 3], 11, 0.4, 0.7, [4, 7]),
        ([29, 12, 3, 20, 0], 30, 0.1, 0.5, [3, 12]),
        ([0, 4, 9], 10, 0.0, 0.5, [0, 4]),
        ([1, 0], 2, 0.0, 1.0, [0, 1]),
    ],
)
def test_depths(student, positions, documents, start, end, expected):
    figures = [(position, 50 + position) for position in positions]
    found = verdict_of(student.against_source(figures, documents, ("level", start, end, 0, 100)))
    assert found == ("supported", expected)


@points(
    1,
    title="A level: supported, contradicted or mixed",
    hint="Does each figure have to agree, and not their mean? Are low and high included? Some but not all of them is mixed.",
)
@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([60, 70, 65], "supported"),
        ([59.9, 70.1, 80], "contradicted"),
        ([50, 80, 90], "contradicted"),
        ([55, 65, 75], "mixed"),
        ([60, 10, 90], "mixed"),
        ([70, 70, 70.5], "mixed"),
    ],
)
def test_levels(student, accuracies, expected):
    figures = [(10, 99), *zip((4, 5, 6), accuracies, strict=True), (0, 98)]
    found = verdict_of(student.against_source(figures, 11, ("level", 0.3, 0.7, 60, 70)))
    assert found == (expected, [4, 5, 6])


@points(
    1,
    title="A drop, in points and in per cent",
    hint="The ends are the mean of first and last position, not the better one. Per cent is of the ends. A figure above them has dropped by less than nothing.",
)
@pytest.mark.parametrize(
    ("kind", "figures", "low", "high", "expected"),
    [
        ("points", [(0, 80), (5, 50), (10, 60)], 19, 21, "supported"),
        ("per cent", [(0, 80), (5, 50), (10, 60)], 19, 21, "contradicted"),
        ("per cent", [(0, 80), (5, 50), (10, 60)], 28, 29, "supported"),
        ("points", [(0, 60), (5, 65), (10, 40)], 5, 25, "contradicted"),
        ("points", [(0, 40), (5, 65), (10, 60)], -16, -14, "supported"),
        ("points", [(10, 60), (5, 50), (6, 55), (0, 80)], 18, 22, "mixed"),
        ("per cent", [(5, 30), (0, 30), (10, 50)], 24, 26, "supported"),
        ("points", [(5, 30), (0, 30), (10, 50)], 9, 11, "supported"),
    ],
)
def test_drops(student, kind, figures, low, high, expected):
    middle = sorted(position for position, _ in figures if position in (5, 6))
    found = verdict_of(student.against_source(figures, 11, (kind, 0.4, 0.6, low, high)))
    assert found == (expected, middle)


@points(
    1,
    title="What is not in the table",
    hint="No figure in the range supports nothing, and contradicts nothing. An end is position 0 or the very last: "
    "the first and last that were measured may be others. A level needs no ends.",
)
def test_not_in_table(student):
    missing = ("not in the table", [])
    figures = [(0, 70), (4, 50), (10, 60)]
    for kind in ("level", "points", "per cent"):
        assert verdict_of(student.against_source(figures, 11, (kind, 0.5, 0.9, 0, 100))) == missing
        assert verdict_of(student.against_source([], 11, (kind, 0.0, 1.0, 0, 100))) == missing
    for kind in ("points", "per cent"):
        assert verdict_of(student.against_source(figures[1:], 11, (kind, 0.4, 0.4, 0, 100))) == missing
        assert verdict_of(student.against_source(figures, 12, (kind, 0.3, 0.4, 0, 100))) == missing
        assert verdict_of(student.against_source(figures, 11, (kind, 0.4, 0.4, 0, 100))) == ("supported", [4])
    assert verdict_of(student.against_source(figures[1:2], 11, ("level", 0.4, 0.4, 0, 100))) == ("supported", [4])
### END HIDDEN TESTS
