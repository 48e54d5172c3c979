# %% [markdown]
# # Exercises 05 · Where the answer stands
#
# *Three questions, 12 points, about 45 minutes. Lesson [05](../notebooks/05_needle_position.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries
# your function on examples and says what is likely wrong. `hint("score")` and its like help, a little more at each
# call. Points are given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples
# alone. You may add cells of your own. Hand in this notebook under any name.
#
# No model is needed here. A measurement is made of a rule, an interval and a comparison, and these three are yours.

# %% tags=["setup"]
from ctxcourse.learn import case, check, hint

# %% [markdown]
# ## Question 1 · A stricter score (5 points)
#
# The lesson's score takes the first four-digit number of an answer and does not look at the rest, so that “7305, or perhaps 2201” is a hit.
# Yours is stricter: **an answer has to commit itself**. It also knows values of any length, not of four digits only. Write
# `score(answer, question, right, others)`, which returns a tuple `(kind, found)`. `right` is the right value and `others` is the list
# of the other records' values, all of them texts of plain digits. The rules, in order:
#
# 1. Every place where the answer repeats the `question` exactly, capitals included, is set aside: a space takes its place. An empty question
#    sets nothing aside.
# 2. A *chain* is digits, joined by single commas, points or apostrophes (`,` `.` `'`) that have a digit on both sides (they may be mixed; two in a row end the
#    chain). In `7,305` it
#    is all five characters; `It is 7305.` holds the chain `7305`. Digits are those of any script (`str.isdecimal` says which), and are
#    read as plain ones: `７３０５` is 7305.
# 3. A chain is **one number** where its first group has one to three digits and every further group exactly three: `7,305` is 7305. In any
#    other chain each group is a number of its own: `73,05` is 73 and 05. A space never joins anything.
# 4. A *candidate* is a number with exactly as many digits as `right`. Longer and shorter ones are passed over: five digits are not four
#    of them and one to spare.
# 5. No candidate, or two **different** ones: the result is `("neither", None)`. The same candidate twice is one.
# 6. Otherwise that candidate is `found`, and the kind is `"hit"` where it equals `right`, `"other record"` where it is one of `others`, and
#    `"neither"` where it is nobody's.

# %% tags=["answer"] question="score"
def score(answer, question, right, others):
    """Return ``(kind, found)`` of an answer, by the six rules."""
    ### BEGIN SOLUTION
    import re

    if question:
        answer = answer.replace(question, " ")
    numbers = []
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    plain = ["".join(str(int(digit)) for digit in number) for number in numbers]
    candidates = {number for number in plain if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    if found == right:
        return "hit", found
    return ("other record" if found in others else "neither"), found
    ### END SOLUTION


# %% tags=["check"] question="score"
asked = "What is the internal extension of Nia Campbell?"
check(
    score,
    case("It is 7305.", asked, "7305", ["2201", "4418"], gives=("hit", "7305"), hint="The plainest answer there is: one number, the right one."),
    case("2201", asked, "7305", ["2201", "4418"], gives=("other record", "2201")),
    case(
        "7304", asked, "7305", ["2201", "4418"],
        gives=("neither", "7304"),
        mistakes=[(("neither", None), "A number was found, though it is nobody's: rule 6 returns it.")],
    ),
    case(
        "7305, or perhaps 2201", asked, "7305", ["2201", "4418"],
        gives=("neither", None),
        mistakes=[(("hit", "7305"), "That is the lesson's rule. By rule 5 two different candidates are none.")],
    ),
    case(
        "Ticket INC-48213: extension 7,305", asked, "7305", ["2201", "4821"],
        gives=("hit", "7305"),
        mistakes=[
            (("other record", "4821"), "4821 is a part of 48213, not a number of the answer."),
            (("neither", None), "7,305 is one number, 7305; and 48213 is none of four digits, so that it is no candidate."),
        ],
    ),
    case("", asked, "7305", ["2201"], gives=("neither", None), hint="No candidate: rule 5."),
)

# %% [markdown] tags=["hint"] question="score"
# Take the rules one after the other: a text without the question, then a list of chains, then a list of numbers, then the candidates. Print
# each of them for the answer that fails.

# %% [markdown] tags=["hint"] question="score"
# In a regular expression `\d` matches the digits of every script, while `[0-9]` does not; `\d{4}` finds four digits inside five, while `\d+`
# takes a run of them whole.

# %% [markdown] tags=["hint"] question="score"
# `int` reads a single digit of any script. For rule 5 a set is handier than a list: how many *different* candidates are there?

# %% tags=["hidden-tests"] question="score"
### BEGIN HIDDEN TESTS
import random

ASKED = "What is the internal extension of Tui Parata? Answer with the four digits and nothing else."


@points(
    1,
    title="Three kinds of answer, and the number that was found",
    hint="A made-up number is returned as well, although it is nobody's; only where there is no candidate, found is None.",
)
def test_three_kinds(student):
    source = random.Random(5)
    for _ in range(10):
        right, *others = [str(n) for n in source.sample(range(1_000, 9_000), 25)]
        made_up = str(source.randint(9_000, 9_999))
        wrong = source.choice(others)
        for shape in ("{}", "The extension is {}.", "Extension: {}\n"):
            assert student.score(shape.format(right), ASKED, right, others) == ("hit", right)
            assert student.score(shape.format(wrong), ASKED, right, others) == ("other record", wrong)
            assert student.score(shape.format(made_up), ASKED, right, others) == ("neither", made_up)
    for nothing in ("", " \n", "I do not know.", "Twenty-two zero one"):
        assert student.score(nothing, ASKED, "7305", ["2201"]) == ("neither", None)


@points(
    1,
    title="An answer has to commit itself",
    hint="Two different candidates are none, whichever comes first; the same candidate twice is one.",
)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("4410 or 5521", ("neither", None)),
        ("5521, no: 4410", ("neither", None)),
        ("5521 and 6632", ("neither", None)),
        ("4410 (not 9999)", ("neither", None)),
        ("4410. I repeat: 4410.", ("hit", "4410")),
        ("5521\n5521\n5,521", ("other record", "5521")),
        ("4410, that is floor 4, room 10", ("hit", "4410")),
    ],
    ids=["right first", "right last", "both wrong", "one made up", "right twice", "wrong three times", "short ones besides"],
)
def test_commits_itself(student, answer, expected):
    assert student.score(answer, ASKED, "4410", ["5521", "6632"]) == expected


@points(
    1,
    title="Separators join only where they group by threes",
    hint="Is each chain judged as a whole? One to three digits first, then threes; any other chain falls into its groups.",
)
@pytest.mark.parametrize(
    ("answer", "right", "expected"),
    [
        ("4,410", "4410", ("hit", "4410")),
        ("4.410.", "4410", ("hit", "4410")),
        ("It is 4'410, I think.", "4410", ("hit", "4410")),
        ("44,10", "4410", ("neither", None)),
        ("441.0", "4410", ("neither", None)),
        ("4 410", "4410", ("neither", None)),
        ("4, 410", "4410", ("neither", None)),
        ("4,,410", "4410", ("neither", None)),
        ("441,044", "4410", ("neither", None)),
        ("4410,555", "4410", ("hit", "4410")),
        ("4410,5521", "4410", ("neither", None)),
        ("12,4410", "4410", ("hit", "4410")),
        ("1,234,567", "1234567", ("hit", "1234567")),
        ("1,234,5521", "4410", ("other record", "5521")),
    ],
)
def test_separators(student, answer, right, expected):
    assert student.score(answer, ASKED, right, ["5521", "6632"]) == expected


@points(
    1,
    title="Exactly as many digits as the right value, of whatever script",
    hint="Do you find four digits inside five, ask for four where the value has another length, lose a zero, or know 0 to 9 only?",
)
@pytest.mark.parametrize(
    ("answer", "right", "expected"),
    [
        ("44101", "4410", ("neither", None)),
        ("INC-55214", "4410", ("neither", None)),
        ("ext4410x", "4410", ("hit", "4410")),
        ("_4410_", "4410", ("hit", "4410")),
        ("441", "4410", ("neither", None)),
        ("0441", "0441", ("hit", "0441")),
        ("441", "0441", ("neither", None)),
        ("12,500 of 4410", "12500", ("hit", "12500")),
        ("Room 21", "21", ("hit", "21")),
        ("7", "3", ("neither", "7")),
        ("４４１０", "4410", ("hit", "4410")),
        ("٥٥٢١", "4410", ("other record", "5521")),
        ("４,４１０ (4410)", "4410", ("hit", "4410")),
        ("4410²", "4410", ("hit", "4410")),
    ],
)
def test_digits(student, answer, right, expected):
    assert student.score(answer, ASKED, right, ["5521", "6632"]) == expected


@points(
    1,
    title="The question repeated is no answer",
    hint="A question may hold a number of its own: is it set aside wherever it stands, and by a space? And what does replace do with an empty one?",
)
def test_question_is_set_aside(student):
    asked = "Which extension belongs to ticket 8123 of 2024?"
    others = ["2024", "8123", "5521"]
    assert student.score(f"{asked} 4410", asked, "4410", others) == ("hit", "4410")
    assert student.score(f"4410. {asked}{asked}", asked, "4410", others) == ("hit", "4410")
    assert student.score(asked, asked, "4410", others) == ("neither", None)
    assert student.score(f"44{asked}10", asked, "4410", others) == ("neither", None)
    assert student.score("Ticket 8123", asked, "4410", others) == ("other record", "8123")
    assert student.score("It is 4410.", "", "4410", others) == ("hit", "4410")
    assert student.score("4,410", "", "4410", others) == ("hit", "4410")
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · Wilson's interval, by its formula (4 points)
#
# With $\hat p = \mathrm{hits} / n$, Wilson's interval reaches from $m - h$ to $m + h$, where
#
# $$m = \frac{\hat p + \frac{z^2}{2n}}{1 + \frac{z^2}{n}} \qquad\text{and}\qquad
# h = \frac{z}{1 + \frac{z^2}{n}} \sqrt{\frac{\hat p\,(1 - \hat p)}{n} + \frac{z^2}{4 n^2}}.$$
#
# Write `wilson(hits, n, z)`, which returns the tuple `(low, middle, high)` as fractions from 0 to 1: the lower end, the middle $m$, and the
# upper end. The lesson's `stats.wilson` takes a confidence, and keeps the middle to itself; you get $z$ as it is, at least 0 (1.96 for
# 95 %), and show what the interval is built around.
#
# - With no hits the lower end is 0 exactly, and with nothing but hits the upper end is 1 exactly. On paper the formula says so, too; in floating-point
#   numbers it may come out a hair to the side.
# - Impossible arguments raise a `ValueError`: `n` below 1, `hits` below 0 or above `n`, `z` below 0.

# %% tags=["answer"] question="wilson"
def wilson(hits, n, z):
    """Return ``(low, middle, high)`` of Wilson's interval for ``hits`` out of ``n``."""
    ### BEGIN SOLUTION
    if n < 1 or not 0 <= hits <= n or z < 0:
        raise ValueError(f"hits={hits}, n={n}, z={z}: there is no interval for these")
    share = hits / n
    spread = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / spread
    half = z / spread * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    low = 0.0 if hits == 0 else middle - half
    high = 1.0 if hits == n else middle + half
    return low, middle, high
    ### END SOLUTION


# %% tags=["check"] question="wilson"
check(
    wilson,
    case(
        5, 10, 1.96,
        gives=(0.2365896, 0.5, 0.7634104), tolerance=1e-6,
        mistakes=[
            ((0.1900968, 0.5, 0.8099032), "That is p ± z·√(p(1 − p)/n), the interval in most schoolbooks. Wilson's is another one."),
            ((0.1353979, 0.5, 0.8646021), "Is h divided by 1 + z²/n, as m is?"),
        ],
    ),
    case(
        27, 32, 1.96,
        gives=(0.6824551, 0.8069059, 0.9313568), tolerance=1e-6,
        mistakes=[((0.6824551, 0.84375, 0.9313568), "The middle is that of the interval, m, and not the share of hits.")],
        hint="Compare m and h one by one with the formula.",
    ),
    case(8, 8, 1.0, gives=(0.8888889, 0.9444444, 1.0), tolerance=1e-6, hint="z is given; 1.96 is only one of its values."),
    case(0, 0, 1.96, raises=ValueError, hint="Of nothing there is no share: n is 0 here."),
)

# %% [markdown] tags=["hint"] question="wilson"
# Give the parts names before you put them together: the share, $1 + z^2/n$, the root. Most slips here are a misplaced parenthesis.

# %% [markdown] tags=["hint"] question="wilson"
# Is the middle you get for 27 of 32 a little below the share, 0.84? It has to be: it is drawn towards one half, and the more so the fewer trials there are.

# %% [markdown] tags=["hint"] question="wilson"
# The arguments come first: look at all three before you divide by anything. And whether there are no hits, or hits only, you know before you compute.

# %% tags=["hidden-tests"] question="wilson"
### BEGIN HIDDEN TESTS
from ctxcourse.grading.remote import StudentError


@points(
    1,
    title="Newcombe's four examples, at 95 %",
    hint="This is Wilson's interval, not p ± z·√(p(1 − p)/n): is the denominator under both parts, and is z²/4n² inside the root?",
)
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718), (0, 20, 0.0, 0.1611)],
)
def test_published_examples(student, hits, n, low, high):
    found = student.wilson(hits, n, 1.959964)
    assert [found[0], found[2]] == pytest.approx([low, high], abs=5e-5)


@points(
    1,
    title="The middle, and any z",
    hint="Is the second value the middle of the interval, or the share of hits? Is z used as it is given, or as 1.96?",
)
@pytest.mark.parametrize("z", [0.5, 1.0, 1.6449, 2.5758, 3.2905])
def test_middle_and_any_z(student, z):
    for hits, n in ((1, 4), (9, 32), (31, 32), (205, 256)):
        low, middle, high = student.wilson(hits, n, z)
        assert 0 < low < middle < high < 1
        assert middle == pytest.approx((low + high) / 2)
        # what makes it Wilson's: seen from either end, the share lies z standard errors away
        for end in (low, high):
            assert abs(hits / n - end) == pytest.approx(z * (end * (1 - end) / n) ** 0.5)
    assert student.wilson(3, 12, 0) == pytest.approx((0.25, 0.25, 0.25))


@points(
    1,
    title="No hits, and nothing but hits",
    hint="Exactly 0, exactly 1: is yours a hair beside it, where floating-point numbers do not cancel? The other end stays Wilson's.",
)
def test_none_and_all(student):
    for z in (1.0, 1.96, 2.5758):
        for n in range(1, 60):
            low, middle, high = student.wilson(0, n, z)
            assert low == 0
            assert high == pytest.approx(z * z / (n + z * z))
            assert middle == pytest.approx(high / 2)
            low, _, high = student.wilson(n, n, z)
            assert high == 1
            assert low == pytest.approx(n / (n + z * z))


@points(
    1,
    title="Arguments for which there is no interval",
    hint="A ValueError for each of them: nothing tried, more hits than trials, fewer hits than none, a z below 0.",
)
@pytest.mark.parametrize(("hits", "n", "z"), [(0, 0, 1.96), (5, 4, 1.96), (-1, 4, 1.96), (0, -3, 1.96), (2, 4, -1.0)])
def test_impossible(student, hits, n, z):
    with pytest.raises(StudentError, match="^ValueError"):
        student.wilson(hits, n, z)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · Two depths, pair by pair (3 points)
#
# In a sweep each trial is asked at several depths, so that two depths are compared within each trial. Write
# `paired_difference(rows, first, second)`. `rows` is a list of tuples `(trial, depth, hit)` in any order, with `hit` true or false;
# no trial has the same depth twice. Return a dict with
#
# - `pairs`: the number of trials that have a row at both depths;
# - `only_first`, `only_second`: in how many of those pairs only the first depth was a hit, and only the second;
# - `difference`: the share of hits at the first depth minus that at the second, **over the pairs**; `None` where there is no pair;
# - `left_out`: the number of trials that have a row at one of the two depths and not at the other. A run that was interrupted leaves such trials,
#   and who leaves data out has to say how much.
#
# Rows at other depths do not count, for anything.

# %% tags=["answer"] question="paired_difference"
def paired_difference(rows, first, second):
    """Return the comparison of two depths, trial by trial, as a dict."""
    ### BEGIN SOLUTION
    at_first = {trial: bool(hit) for trial, depth, hit in rows if depth == first}
    at_second = {trial: bool(hit) for trial, depth, hit in rows if depth == second}
    pairs = [(at_first[trial], at_second[trial]) for trial in at_first if trial in at_second]
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    return {
        "pairs": len(pairs),
        "only_first": only_first,
        "only_second": only_second,
        "difference": (only_first - only_second) / len(pairs) if pairs else None,
        "left_out": len(at_first) + len(at_second) - 2 * len(pairs),
    }
    ### END SOLUTION


# %% tags=["check"] question="paired_difference"
sweep = [(0, 0.0, True), (0, 1.0, False), (1, 0.0, True), (1, 1.0, True), (2, 0.0, False), (2, 1.0, True), (3, 0.0, True), (3, 1.0, False)]
check(
    paired_difference,
    case(
        sweep, 0.0, 1.0,
        gives={"pairs": 4, "only_first": 2, "only_second": 1, "difference": 0.25, "left_out": 0},
        mistakes=[
            (
                {"pairs": 4, "only_first": 3, "only_second": 2, "difference": 0.25, "left_out": 0},
                "Trial 1 was a hit at both depths: it tells them apart no more than a trial that missed at both.",
            ),
            (
                {"pairs": 4, "only_first": 2, "only_second": 1, "difference": -0.25, "left_out": 0},
                "First minus second: the difference is above zero where the first depth is the better one.",
            ),
        ],
    ),
    case(
        [(7, 0.5, True), (4, 1.0, False), (4, 0.5, False), (9, 1.0, True)], 0.5, 1.0,
        gives={"pairs": 1, "only_first": 0, "only_second": 0, "difference": 0.0, "left_out": 2},
        hint="Only trial 4 has both depths. Trials 7 and 9 have one each: they are left out, of the difference as well.",
    ),
    case([], 0.0, 1.0, gives={"pairs": 0, "only_first": 0, "only_second": 0, "difference": None, "left_out": 0}),
)

# %% [markdown] tags=["hint"] question="paired_difference"
# Sort the rows into two dicts, one for each depth, from trial to hit.

# %% [markdown] tags=["hint"] question="paired_difference"
# The trials of two dicts behave like sets: what they share are the pairs, and what only one of them has is left out.

# %% tags=["hidden-tests"] question="paired_difference"
### BEGIN HIDDEN TESTS
import random


def rows_of(depth, hits):
    return [(trial, depth, hit) for trial, hit in hits.items()]


@points(
    1,
    title="Pairs are found by their trial",
    hint="The rows come in any order, and trials need not be counted from 0: which row at the second depth belongs to this trial?",
)
def test_pairs_by_trial(student):
    source = random.Random(11)
    names = ["north", "south", 5, 40, 17, 3, "east", 900]
    first = {name: source.random() < 0.7 for name in names} | {"north": True, "south": False, 5: True}
    second = {name: source.random() < 0.4 for name in names} | {"north": False, "south": True, 5: False}
    rows = [*rows_of(0.0, first), *rows_of(0.5, dict.fromkeys(names, True)), *rows_of(1.0, second)]
    for _ in range(5):
        source.shuffle(rows)
        found = student.paired_difference(rows, 0.0, 1.0)
        assert found["pairs"] == 8
        assert found["only_first"] == sum(first[name] and not second[name] for name in names)
        assert found["only_second"] == sum(second[name] and not first[name] for name in names)


@points(
    1,
    title="The difference has a sign, and is over the pairs",
    hint="First minus second, divided by the pairs: not by the rows, not by those that differ, and without trials that have one depth only.",
)
def test_difference_over_pairs(student):
    first = {0: True, 1: True, 2: True, 3: False, 4: False, 5: True, 6: True, 7: True}
    second = {0: False, 1: False, 2: False, 3: True, 4: False, 8: True, 9: True}
    rows = [*rows_of(0.25, first), *rows_of(0.5, dict.fromkeys(range(10), True)), *rows_of(0.75, second)]
    there = student.paired_difference(rows, 0.25, 0.75)
    back = student.paired_difference(rows, 0.75, 0.25)
    assert (there["pairs"], there["only_first"], there["only_second"]) == (5, 3, 1)
    assert there["difference"] == pytest.approx(0.4)
    assert (back["only_first"], back["only_second"]) == (1, 3)
    assert back["difference"] == pytest.approx(-0.4)


@points(
    1,
    title="Who is left out, and what if nobody is left",
    hint="Count trials with one of the two depths; those with neither are no loss. And what is the difference where there is no pair?",
)
def test_left_out(student):
    rows = [*rows_of(0.0, {1: True, 2: False, 3: True}), *rows_of(1.0, {3: True, 4: False}), *rows_of(0.5, {8: True, 9: True})]
    found = student.paired_difference(rows, 0.0, 1.0)
    assert set(found) == {"pairs", "only_first", "only_second", "difference", "left_out"}
    assert (found["pairs"], found["left_out"], found["difference"]) == (1, 3, 0)
    found = student.paired_difference(rows, 0.0, 0.5)
    assert (found["pairs"], found["left_out"], found["difference"]) == (0, 5, None)
    found = student.paired_difference(rows, 0.25, 0.75)
    assert (found["pairs"], found["left_out"], found["difference"]) == (0, 0, None)
### END HIDDEN TESTS
