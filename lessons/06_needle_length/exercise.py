# %% [markdown]
# # Exercises 06 · How many lookalikes
#
# *Three questions, 12 points, about 45 minutes. Lesson [06](../notebooks/06_needle_length.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries your
# function on examples and says what is likely wrong. `hint("design")` and its like help, a little more at each call. Points are
# given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples alone. You
# may add cells of your own. Hand in this notebook under any name. No question needs the model: the first is asked before it is
# run, the other two afterwards.

# %% tags=["setup"]
from ctxcourse.learn import case, check, hint
from ctxcourse.plots.pictures import INK, Picture, canvas
from ctxcourse.stats import wilson

# %% [markdown]
# ## Question 1 · A sweep that can tell the two apart (5 points)
#
# A register of records grows, and the answers get worse. That settles nothing, because two things grew: the tokens (*volume*) and
# the lines that look like the right one (*interference*). Plan a sweep in which the two vary independently of each other. Write
# `design(volumes, lookalikes, trials, record, filler)`, where
#
# - `volumes` are the sizes of the list to try, in tokens, and `lookalikes` the numbers of rivals to try; no value stands twice;
# - `trials` is how often each combination is asked;
# - `record` and `filler` are the tokens of one line of each kind. They need not be equal.
#
# It returns a list of cells. Each is a dict with `records` (all lines of the list, as the course's tables count them),
# `lookalikes` and `filler` (how many of the lines are rivals, and how many are filler), `depth` and `trial`.
#
# 1. The list is the needle, which is a record itself, its lookalikes, and as many lines of filler as still fit into the volume.
#    Volume is counted in **tokens**, not in lines.
# 2. Every volume in use is combined with every number of lookalikes. A volume that cannot hold the needle and the *largest*
#    number of lookalikes is therefore not used at all; used in part, short lists would have few rivals again, and the two
#    would vary together.
# 3. The needle stands in the middle: depth 0.5, always.
# 4. The sweep is paired. Trials are numbered from 0, and each combination has each trial once, so that any two combinations can
#    be compared trial by trial.
# 5. With fewer than two usable volumes, fewer than two numbers of lookalikes, or no trial, no sweep can separate anything: raise
#    a `ValueError`.
#
# The cells come in the order of the arguments: volume by volume, in each the numbers of lookalikes, in each the trials.

# %% tags=["answer"] question="design"
def design(volumes, lookalikes, trials, record, filler):
    """Return the cells of a paired sweep in which volume and lookalikes vary independently."""
    ### BEGIN SOLUTION
    most = max(lookalikes, default=0)
    usable = [volume for volume in volumes if volume >= (1 + most) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError(f"{len(usable)} volumes, {len(lookalikes)} numbers of lookalikes and {trials} trials separate nothing")
    cells = []
    for volume in usable:
        for rivals in lookalikes:
            padding = (volume - (1 + rivals) * record) // filler
            size = {"records": 1 + rivals + padding, "lookalikes": rivals, "filler": padding, "depth": 0.5}
            cells += [{**size, "trial": trial} for trial in range(trials)]
    return cells
    ### END SOLUTION


# %% tags=["check"] question="design"
def cells(*rows):
    names = ("records", "lookalikes", "filler", "depth", "trial")
    return [dict(zip(names, row, strict=True)) for row in rows]


check(
    design,
    case(
        [100, 200], [0, 2], 1, record=30, filler=20,
        gives=cells((4, 0, 3, 0.5, 0), (3, 2, 0, 0.5, 0), (9, 0, 8, 0.5, 0), (8, 2, 5, 0.5, 0)),
        mistakes=[
            (
                cells((3, 0, 2, 0.5, 0), (3, 2, 0, 0.5, 0), (6, 0, 5, 0.5, 0), (6, 2, 3, 0.5, 0)),
                "The same number of lines is not the same number of tokens: a line of filler is shorter here.",
            ),
            (
                cells((3, 0, 3, 0.5, 0), (2, 2, 0, 0.5, 0), (8, 0, 8, 0.5, 0), (7, 2, 5, 0.5, 0)),
                "The needle is a line of the list, too.",
            ),
            (
                cells((6, 0, 5, 0.5, 0), (5, 2, 2, 0.5, 0), (11, 0, 10, 0.5, 0), (10, 2, 7, 0.5, 0)),
                "The needle takes up tokens, too.",
            ),
        ],
    ),
    case(
        [60, 100, 200], [0, 2], 1, record=30, filler=20,
        gives=cells((4, 0, 3, 0.5, 0), (3, 2, 0, 0.5, 0), (9, 0, 8, 0.5, 0), (8, 2, 5, 0.5, 0)),
        hint="Sixty tokens hold two records. Which combinations would that leave out, and what would then vary together?",
    ),
    case(
        [100, 200], [0, 2], 2, record=30, filler=20,
        gives=cells(
            (4, 0, 3, 0.5, 0), (4, 0, 3, 0.5, 1), (3, 2, 0, 0.5, 0), (3, 2, 0, 0.5, 1),
            (9, 0, 8, 0.5, 0), (9, 0, 8, 0.5, 1), (8, 2, 5, 0.5, 0), (8, 2, 5, 0.5, 1),
        ),
        hint="Trials 0 and 1 occur in each of the four combinations.",
    ),
    case([60, 200], [0, 2], 1, record=30, filler=20, raises=ValueError, hint="Only one volume can be used here."),
)

# %% [markdown] tags=["hint"] question="design"
# First decide which volumes can be used at all. The largest number of lookalikes decides that, once for the whole sweep.

# %% [markdown] tags=["hint"] question="design"
# What do the needle and its lookalikes take of the volume? The filler gets what remains, in whole lines: `//`.

# %% [markdown] tags=["hint"] question="design"
# Three loops, one inside the other: volumes, lookalikes, trials. The trial's number starts from 0 in each combination.

# %% tags=["hidden-tests"] question="design"
### BEGIN HIDDEN TESTS
from collections import Counter

from ctxcourse.grading.remote import StudentError

KEYS = {"records", "lookalikes", "filler", "depth", "trial"}


def size(cell, record, filler):
    return (1 + cell["lookalikes"]) * record + cell["filler"] * filler


def combinations(plan, volumes, record, filler):
    """How often each (volume, lookalikes) occurs; a cell's volume is the one that it fills up to less than a line."""
    found = Counter()
    for cell in plan:
        near = [v for v in volumes if v - filler < size(cell, record, filler) <= v]
        found[near[0] if near else None, cell["lookalikes"]] += 1
    return found


@points(
    1,
    title="Each cell says what is in the list, and has the needle in the middle",
    hint="Are all lines counted in `records`, the needle among them? Is the depth 0.5 in each cell?",
)
def test_lines_of_a_cell(student):
    plan = student.design([700, 1_500], [0, 4, 20], 2, 31, 29)
    assert len(plan) == 12
    for cell in plan:
        assert set(cell) == KEYS
        assert all(type(cell[name]) is int for name in KEYS - {"depth"})
        assert cell["records"] == 1 + cell["lookalikes"] + cell["filler"]
        assert cell["depth"] == 0.5


@points(
    1,
    title="At one volume, interference varies and the tokens do not",
    hint="Add up the tokens of each of your lists, the needle's with them: a line more of filler should not fit, whatever its length.",
)
@pytest.mark.parametrize(("record", "filler"), [(31, 31), (30, 20), (20, 45), (31, 1)])
def test_volume_is_constant_in_tokens(student, record, filler):
    volumes, rivals = [400, 900, 2_000], [0, 3, 7, 11]
    plan = student.design(volumes, rivals, 1, record, filler)
    assert combinations(plan, volumes, record, filler) == {(v, k): 1 for v in volumes for k in rivals}


@points(
    1,
    title="The two do not vary together",
    hint="Does every number of lookalikes occur at every volume? "
    "One too small for the largest number is out altogether; one that just holds it is in.",
)
@pytest.mark.parametrize(
    ("volumes", "rivals", "kept"),
    [
        ([310, 649, 651, 2_000], [0, 5, 20], [651, 2_000]),
        ([2_000, 150, 900], [24, 0], [2_000, 900]),
        ([124, 300, 600, 100], [3, 1], [124, 300, 600]),
    ],
)
def test_not_confounded(student, volumes, rivals, kept):
    plan = student.design(volumes, rivals, 3, 31, 30)
    assert combinations(plan, kept, 31, 30) == {(v, k): 3 for v in kept for k in rivals}


@points(
    1,
    title="Paired: every combination has every trial once",
    hint="Do the trial numbers begin again at 0 in each combination? If they count on, no two cells share a trial.",
)
@pytest.mark.parametrize("trials", [1, 2, 20])
def test_paired(student, trials):
    plan = student.design([500, 1_000], [0, 6, 12], trials, 31, 30)
    found = Counter((cell["records"], cell["lookalikes"], cell["trial"]) for cell in plan)
    assert len(found) == len(plan) == 6 * trials
    assert {trial for _, _, trial in found} == set(range(trials))


@points(
    1,
    title="An error where nothing can be separated",
    hint="How many volumes remain after those that are too small? And what is compared if there is one number of lookalikes, or no trial?",
)
@pytest.mark.parametrize(
    ("volumes", "rivals", "trials"),
    [([500], [0, 2], 5), ([100, 500], [0, 9], 5), ([400, 500], [4], 5), ([400, 500], [], 5), ([], [0, 1], 5), ([400, 500], [0, 2], 0)],
    ids=["one volume", "one that is large enough", "one number", "no number", "no volume", "no trial"],
)
def test_refuses_what_separates_nothing(student, volumes, rivals, trials):
    with pytest.raises(StudentError, match="^ValueError"):
        student.design(volumes, rivals, trials, 30, 30)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · A verdict by a rule (4 points)
#
# Two sweeps have been run: in one the volume grew at a constant number of lookalikes, in the other the lookalikes at a constant
# volume. Which explanation do they support? Decide by a rule that is written down *before* the data are seen. Write
# `verdict(volume, interference)`. Each argument is the list of a sweep's rows, in any order; a row is a dict with `level` (tokens
# in the one sweep, lookalikes in the other), `hits` and `n`.
#
# - Leave out rows with `n` of 0: nothing was observed there. Of the others, the one with the lowest level is the sweep's
#   *easiest*, the one with the highest level its *hardest*. Between them nothing counts.
# - Each of the two has a Wilson interval: `wilson(hits, n)` gives its `low` and `high`.
# - No level occurs twice in a sweep. It **can fall** if it has two levels or more, and the interval of the easiest lies above one half: `low > 0.5`.
#   A sweep that starts at the floor has nowhere to go, and says nothing.
# - It **falls** if the interval of the hardest lies wholly below that of the easiest.
#
# Where either sweep cannot fall, the verdict is `"undecided"`. Else it is `"both"` if both fall, `"interference"` or `"volume"`
# if only that one does, and `"undecided"` if neither does.
#
# (The rule is deliberately strict: intervals that overlap a little may still belong to a difference, which a paired test can
# find. And `"interference"` means that one fall was shown and the other was not. That volume is harmless is more than it says.)

# %% tags=["answer"] question="verdict"
def verdict(volume, interference):
    """Return which explanation the rows of the two sweeps support."""
    ### BEGIN SOLUTION
    def falls(rows):
        """Whether the sweep falls; None where it cannot."""
        seen = sorted((row for row in rows if row["n"] > 0), key=lambda row: row["level"])
        if not seen or seen[0]["level"] == seen[-1]["level"]:
            return None
        easiest, hardest = (wilson(row["hits"], row["n"]) for row in (seen[0], seen[-1]))
        return hardest.high < easiest.low if easiest.low > 0.5 else None

    found = falls(volume), falls(interference)
    if None in found:
        return "undecided"
    return {(True, True): "both", (True, False): "volume", (False, True): "interference", (False, False): "undecided"}[found]
    ### END SOLUTION


# %% tags=["check"] question="verdict"
def sweep(**hits):
    """Rows of twenty calls each: sweep(at_0=19, at_24=4) has 19 hits at level 0 and 4 at level 24."""
    return [{"level": int(name.removeprefix("at_")), "hits": count, "n": 20} for name, count in hits.items()]


check(
    verdict,
    case(
        sweep(at_97=19, at_853=18), sweep(at_0=19, at_24=4),
        gives="interference",
        mistakes={"volume": "The first argument is the volume sweep, which hardly moves here."},
    ),
    case(sweep(at_853=5, at_97=19), sweep(at_24=19, at_0=20), gives="volume", hint="The rows may come in any order."),
    case(
        sweep(at_97=19, at_853=18), sweep(at_0=18, at_24=13),
        gives="undecided",
        mistakes={"interference": "From 18 to 13 of 20: what are the two intervals, and do they overlap?"},
    ),
    case(
        sweep(at_97=6, at_853=5), sweep(at_0=19, at_24=4),
        gives="undecided",
        mistakes={"interference": "The volume sweep starts at 6 of 20. Could it have fallen?"},
    ),
)

# %% [markdown] tags=["hint"] question="verdict"
# Write a function for one sweep first. It has three possible results: it falls, it does not fall, it cannot fall.

# %% [markdown] tags=["hint"] question="verdict"
# `sorted(rows, key=lambda row: row["level"])` puts the easiest first and the hardest last, once the rows without observations are
# out.

# %% [markdown] tags=["hint"] question="verdict"
# *Wholly below* compares two ends that belong to different intervals: the upper one of the hardest, the lower one of the easiest.

# %% tags=["hidden-tests"] question="verdict"
### BEGIN HIDDEN TESTS
def sweep_rows(*cells):
    return [dict(zip(("level", "hits", "n"), cell, strict=True)) for cell in cells]


FALLS = sweep_rows((1, 19, 20), (3, 12, 20), (8, 3, 20))
HOLDS = sweep_rows((1, 19, 20), (3, 17, 20), (8, 18, 20))


@points(
    1,
    title="Four verdicts",
    hint="Is the first argument the volume sweep, the second the interference sweep? What if both fall, and what if neither?",
)
@pytest.mark.parametrize(
    ("volume", "interference", "expected"),
    [(HOLDS, FALLS, "interference"), (FALLS, HOLDS, "volume"), (FALLS, FALLS, "both"), (HOLDS, HOLDS, "undecided")],
)
def test_four_verdicts(student, volume, interference, expected):
    assert student.verdict(volume, interference) == expected


@points(
    1,
    title="From the lowest level to the highest, downwards",
    hint="Did you sort by level, whatever the order of the rows? Is a rise no fall, and does a dip in between not count?",
)
@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (FALLS[::-1], "interference"),
        ([FALLS[1], FALLS[2], FALLS[0]], "interference"),
        (sweep_rows((140, 3, 20), (25, 19, 20)), "interference"),
        (sweep_rows((0, 120, 200), (24, 190, 200)), "undecided"),
        (sweep_rows((24, 190, 200), (0, 120, 200)), "undecided"),
        (sweep_rows((0, 19, 20), (6, 2, 20), (24, 18, 20)), "undecided"),
        (sweep_rows((0, 19, 20), (6, 20, 20), (24, 13, 20)), "undecided"),
    ],
    ids=["backwards", "mixed", "as numbers, not as text", "a rise", "a rise, backwards", "a dip", "a peak"],
)
def test_order_and_direction(student, rows, expected):
    assert student.verdict(HOLDS, rows) == expected


@points(
    1,
    title="Intervals decide, not shares",
    hint="The same two shares may be a fall with 400 calls and nothing at all with 5: compare the ends of the intervals.",
)
@pytest.mark.parametrize(
    ("easiest", "hardest", "expected"),
    [
        ((5, 5), (2, 5), "undecided"),
        ((360, 400), (312, 400), "interference"),
        ((36, 40), (31, 40), "undecided"),
        ((19, 20), (13, 20), "undecided"),
        ((19, 20), (11, 20), "interference"),
        ((198, 200), (18, 20), "undecided"),
    ],
)
def test_intervals_not_shares(student, easiest, hardest, expected):
    assert student.verdict(HOLDS, sweep_rows((0, *easiest), (24, *hardest))) == expected


@points(
    1,
    title="A sweep that cannot fall says nothing",
    hint="Does each sweep have two levels with observations, and does the interval of its easiest cell lie "
    "above one half? Else it is undecided.",
)
@pytest.mark.parametrize(
    ("volume", "interference"),
    [
        (sweep_rows((97, 10, 20), (853, 9, 20)), FALLS),
        (sweep_rows((97, 14, 20), (853, 13, 20)), FALLS),
        (FALLS, sweep_rows((0, 14, 20), (24, 0, 20))),
        ([], FALLS),
        (sweep_rows((97, 19, 20)), FALLS),
        (FALLS, sweep_rows((0, 0, 0), (6, 19, 20))),
        (sweep_rows((97, 0, 0), (853, 0, 0)), FALLS),
        (sweep_rows((97, 0, 0), (159, 19, 20), (853, 0, 0)), FALLS),
    ],
    ids=["at the floor", "not clearly above", "falls from the floor", "no row", "one level", "one with calls", "no calls", "ends"],
)
def test_nowhere_to_fall(student, volume, interference):
    assert student.verdict(volume, interference) == "undecided"
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · Reading a picture (3 points)
#
# The counts below are made up, so that nothing you remember of the lesson answers for you. A model was asked twenty times at each
# point. On the left the list grows: once with records, so that all other lines are lookalikes, once with filler. On the right the
# list has 25 lines throughout, and ever more of them are lookalikes.

# %%
panels = [
    ("all other lines are records", "o-", {0: 19, 1: 16, 2: 9, 3: 4, 4: 3}),
    ("all other lines are filler", "s--", {0.12: 19, 1.12: 19, 2.12: 18, 3.12: 18, 4.12: 15}),
    ("25 lines, some of them records", "D:", {6: 18, 7: 15, 8: 8, 9: 5, 10: 4}),
]
figure, axes = canvas(3.9)
for label, style, hits in panels:
    filled = "none" if "s" in style else "full"
    axes.plot(hits.keys(), [count / 20 for count in hits.values()], style, color=INK, fillstyle=filled, label=label)
    for place, count in hits.items():
        axes.plot([place, place], wilson(count, 20), color=INK, marker="_")
axes.axhline(0.5, color=INK, linewidth=0.5)
axes.set_xticks([0, 1, 2, 3, 4, 6, 7, 8, 9, 10], [1, 3, 8, 25, 50, 0, 3, 6, 12, 24])
axes.set_xlabel("lines in the list (left)                              lookalikes among 25 lines (right)")
axes.set_ylabel("share of hits, Wilson 95 %")
axes.set_ylim(0, 1.02)
axes.legend(loc="lower left", fontsize=8)
words = "; ".join(f"{label}: {', '.join(map(str, hits.values()))} of 20" for label, _, hits in panels)
Picture(figure, f"Share of hits for 1, 3, 8, 25 and 50 lines, and for 0, 3, 6, 12 and 24 lookalikes among 25 lines. {words}.")

# %% [markdown]
# Each claim names the two points that it rests on. What does **that comparison** make of the claim?
#
# | | claim | points compared |
# |---|---|---|
# | A | Among 25 lines, lookalikes do harm | 25 lines of records, 25 lines with filler |
# | B | Three lookalikes are enough to do harm | 0 and 3 lookalikes among 25 lines |
# | C | Filler does no harm to this model | 1 line and 50 lines with filler |
# | D | Six lookalikes do harm | 0 and 6 lookalikes among 25 lines |
# | E | Beyond twelve lookalikes, more of them do no further harm | 12 and 24 lookalikes among 25 lines |
# | F | It is the lookalikes that do harm | a list of 1 record, a list of 25 records |
# | G | With 140 records it would still find one in ten | 50 records and 140 records |
# | H | The model does as well among 24 lookalikes as among none | 0 and 24 lookalikes among 25 lines |
#
# Write `reading(claim)`, which returns for one letter a tuple of two codes: your choice, and the reason.
#
# - The choice: `"shown"`, `"contradicted"`, or `"open"` where the comparison does not settle the claim.
# - The reason is the **first** of these that is true of the two points: `"not measured"` (one of them is not in the picture),
#   `"confounded"` (tokens and lookalikes both differ between them), `"floor"` (both intervals lie below one half, so that there
#   was little left to lose), `"overlap"` (the intervals have values in common), `"apart"` (they have none). With any reason but
#   `"apart"` the choice is `"open"`.
#
# Claim A, as an example: `reading("A")` is `("shown", "apart")`. The two lists have the same number of lines, only one of them
# has lookalikes, and the whiskers do not touch.

# %% tags=["answer"] question="reading"
def reading(claim):
    """Return your choice and your reason for one claim, as two codes."""
    ### BEGIN SOLUTION
    answers = {
        "A": ("shown", "apart"),
        "B": ("open", "overlap"),
        "C": ("open", "overlap"),
        "D": ("shown", "apart"),
        "E": ("open", "floor"),
        "F": ("open", "confounded"),
        "G": ("open", "not measured"),
        "H": ("contradicted", "apart"),
    }
    return answers[claim]
    ### END SOLUTION


# %% tags=["check"] question="reading"
def misspelt():
    """The claims for which `reading` gives no two codes of the lists above."""
    choices = {"shown", "contradicted", "open"}
    reasons = {"not measured", "confounded", "floor", "overlap", "apart"}
    return [claim for claim in "ABCDEFGH" if reading(claim)[0] not in choices or reading(claim)[1] not in reasons]


check(reading, case("A", gives=("shown", "apart"), hint="Claim A is the example: its answer is in the text."))
check(misspelt, case(gives=[], hint="These claims have a code that is in neither list: look at its spelling."))

# %% [markdown] tags=["hint"] question="reading"
# For each claim, find its two points first. Then go down the list of reasons and stop at the first that is true.

# %% [markdown] tags=["hint"] question="reading"
# Intervals that overlap do not say “there is a difference”. Do they say “there is none”?

# %% [markdown] tags=["hint"] question="reading"
# A claim may well be true and still not follow from the two points that it names. What else differs between a list of 1 record
# and one of 25?

# %% tags=["hidden-tests"] question="reading"
### BEGIN HIDDEN TESTS
def answer(student, claim):
    return tuple(student.reading(claim))


@points(
    1,
    title="Where the comparison settles the claim",
    hint="The intervals of the two points do not overlap and only one thing differs. Does the claim say that, or the opposite?",
)
@pytest.mark.parametrize(("claim", "expected"), [("D", ("shown", "apart")), ("H", ("contradicted", "apart"))])
def test_settled(student, claim, expected):
    assert answer(student, claim) == expected


@points(
    1,
    title="Where the intervals overlap",
    hint="An overlap does not show harm, and it does not show that there is none: with twenty calls a good deal could hide in it.",
)
@pytest.mark.parametrize("claim", ["B", "C"])
def test_overlapping(student, claim):
    assert answer(student, claim) == ("open", "overlap")


@points(
    1,
    title="Where the two points cannot decide",
    hint="Is there a point for both? Do only the lookalikes differ, or the tokens too? "
    "Was there anything left to lose? Take the first reason that fits.",
)
@pytest.mark.parametrize(("claim", "reason"), [("E", "floor"), ("F", "confounded"), ("G", "not measured")])
def test_not_comparable(student, claim, reason):
    assert answer(student, claim) == ("open", reason)
### END HIDDEN TESTS
