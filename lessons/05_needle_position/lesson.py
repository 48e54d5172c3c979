# %% [markdown]
# # 05 · Where the answer stands
#
# *About 90 minutes, 45 of them for the exercises. QUICK runs in about two minutes; FULL asks all 288 questions, which takes fifteen to thirty
# minutes once and nothing after that, since answers are remembered. Words with a fixed meaning are in the
# [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** measure whether a model finds one line among lines like it, wherever the line stands; score its
# answers so that the dangerous ones are seen; put an interval on every share, compare two depths in pairs, and know when a
# small p means nothing; and do all of that on records of your own.
#
# **It measures** one model's answers to 288 questions in which only the place of the answer changes, and to 200 in which every
# row of a list is asked for.

# %%
FULL = False  # True: ask all 288 questions here, and use your answers below instead of the shipped ones

# %%
from ctxcourse import load_model, needle
from ctxcourse.plots import position_plot
from ctxcourse.results import load_results

model = load_model()
sweep = load_results("position")
position_plot(sweep)

# %% [markdown]
# A list of twenty-five lines, a question about one of them, and the line moved from the top of the list to its end, to nine
# places. Each was asked 32 times. The solid marks were measured by the model that you have just loaded; the results ship with
# the course. Hollow and dashed is what was published for a model of the same family and size: two numbers, the first place and
# the other eight together, so that the dashed line is a mean and no curve. Above is the share of right answers with its
# uncertainty; below is what the model said, right or not.
#
# Published is a cliff, or a steep slope; two numbers do not say which. At the first place five answers in six are right, and
# behind it four in five are wrong. Ours is a gentle slope, from 32 right answers of 32 at the top of the list to 26 at its end.
# What the two share is the orange in the lower half: where the model is wrong, it mostly gives the number of another line.
#
# Two measurements of what looks like the same thing, and they could hardly be further apart. This lesson is about how to make
# such a measurement, how much of it to believe, and what is left of the claim that models lose what stands in the wrong place.

# %% [markdown]
# ## A task that needs no intelligence
#
# Here is the top of a list. Each line names a ticket, its owner, and the owner's four-digit extension, all in one sentence
# pattern.

# %%
register = needle.register(records=25, seed=10_000)
register.lines[:3]

# %%
needle.question(register, row=0), model.count_prompt(needle.messages(register, row=0))

# %% [markdown]
# A first-year student gets this right every time: run a finger down the page, find the name, read the number. The prompt fills
# a fortieth of the model's window, and nothing in it is hard to read. Whatever goes wrong below, it is not that the text was
# difficult.
#
# A language model has no finger. It has to *attend* to the right line among twenty-four that are spelled almost the same way,
# and for the four digits that it copies there are twenty-four rivals that fit the blank exactly as well. So, before any theory,
# two questions:
#
# 1. Does it matter **where** on the page the line stands?
# 2. When the model is wrong, **what does it say instead**?
#
# The picture has given the first answer away, and half of the second. So look closer, at a single list.
#
# **Predict before you run.** The cell below shows the list that gave the model most trouble of this kind. In all nine rows the
# needle (the line that is asked for) is the same, the question is the same, and the other lines keep their order; only the
# needle moves. Will right and wrong answers take turns? And will the wrong numbers be several, or one? (The answer is folded
# away behind the dots.)

# %% jupyter={"outputs_hidden": true}
mixed_up = sweep[sweep["kind"] == "other record"]
trial = mixed_up["trial"].mode()[0]  # the list in which this happens most often
sweep[sweep["trial"] == trial][["depth", "right", "answer", "kind"]].set_index("depth")

# %% [markdown]
# Five times right, and from there on wrong, with one and the same number. Look closely at it before you read on. It is not
# nonsense. It stands in the list, in somebody else's line:

# %%
from ctxcourse.needle import sweeps

wrong = mixed_up[mixed_up["trial"] == trial].iloc[0]
call = next(c for c in sweeps.position() if (c.trial, c.depth) == (trial, wrong["depth"]))
call.asked, wrong["answer"], call.lines[wrong["found_row"]]

# %% [markdown]
# A real extension, of a real colleague, who will be surprised by the call. If your code checks that the answer has four digits,
# it passes. If your user looks at the screen, it looks right. That is why three outcomes are counted and not two: ✓ a **hit**,
# ⇄ **another record's** number, and ✗ **neither**, which is a made-up number or none at all.

# %% [markdown]
# ## The rules come before the answers
#
# Models do not always answer with four digits and nothing else. Whoever decides case by case what counts, after having seen the
# answer, measures their own mood. So the rules are written down first: the question repeated word for word is set aside; the
# first number of exactly four digits counts, thousands separators allowed; whatever follows it does not.

# %%
import pandas as pd

right, rival = register.records[0].extension, register.records[7].extension
with_comma = f"{right[0]},{right[1:]}"
answers = [right, f"Extension {with_comma}.", f"It is {rival}.", f"{right}, not {rival}", f"{rival}, not {right}", f"{right}0", ""]
pd.DataFrame({"answer": answers, "kind": [needle.classify(answer, register, row=0) for answer in answers]})

# %% [markdown]
# The fifth row shows that a rule has a price: a human would be lenient. A rule that is known to be a little wrong in a known
# direction is worth more than a judgement that nobody can repeat. (The exercises ask you for a stricter one.)

# %% [markdown]
# ## Move it yourself
#
# The slider moves the needle through the list. The shipped results of all 32 lists at that depth are shown at once; **Run**
# asks the model about the list in front of you. Two questions to answer with it. Find a list where the model is wrong at one
# depth and right at the next (trial 11 is one): is it always the same line that it takes for the needle? And is there a list
# where it is wrong more often than right?

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import position_explorer

position_explorer(model)

# %% [markdown]
# ## The measurement
#
# One list is an anecdote. The published design asks **32 trials at nine depths**: 0, 1/8 and so on to 1, where the needle goes
# to line `round(depth × 24)`, counted from 0. Each trial has a fresh list of its own, with other owners, other numbers and
# another needle. *Within* a trial nothing but the place changes. We will need that.
#
# QUICK asks the first two trials now, eighteen questions; FULL asks all of them. Each prompt has the same beginning as the one
# before, up to the line where the needle was or will be, and this beginning is not computed again.

# %% tags=["nbval-ignore-output"]
from ctxcourse.needle.trials import cells, compare, run

live = run(sweeps.position(trials=32 if FULL else 2), model)
both = live.merge(sweep, on=["trial", "depth"], suffixes=(" here", " shipped"))
agree = int((both["answer here"] == both["answer shipped"]).sum())
sweep = live if FULL else sweep
about = live.attrs["provenance"]
f"{agree} of {len(live)} answers are the shipped ones; {about['seconds']:.0f} seconds, {about['remembered']} remembered"

# %% [markdown]
# *Remembered* are answers that this machine has given before: they come from the completion store, and the seconds are those of
# the others. With greedy decoding the same prompt gives the same answer, so the shipped table is not a memory of some other day: it is what
# your machine says, too. (Where two tokens are as good as equal, another processor's rounding may choose the other one; a
# disagreement or two is no alarm.) Here is the whole table, summed up by depth:

# %%
by_depth = cells(sweep, "depth").set_index("depth")
by_depth[["n", "hits", "other_record", "neither", "low", "high"]].round(2)

# %% [markdown]
# The last two columns are the ends of an interval. Do not skip them; they are half of the measurement.

# %% [markdown]
# ## How sure is a share?
#
# Thirty-two hits in 32 trials: is the model *always* right there? You have not asked it about the other lists in the world. The
# schoolbook's interval, $\hat p \pm 1.96 \sqrt{\hat p (1 - \hat p) / n}$, has no width at all in this case, as if 32 trials
# were proof. E. B. Wilson turned the question round in 1927: which true shares would make what we saw unsurprising? His
# interval stays between 0 and 1 and never claims certainty.

# %%
from ctxcourse.stats import wilson

schoolbook = {hits: 1.96 * (hits / 32 * (1 - hits / 32) / 32) ** 0.5 for hits in (32, 27, 6)}
rows = [(hits, hits / 32 - half, hits / 32 + half, *wilson(hits, 32)) for hits, half in schoolbook.items()]
pd.DataFrame(rows, columns=["hits of 32", "schoolbook from", "to", "Wilson from", "to "]).round(2).set_index("hits of 32")

# %% [markdown]
# With 32 of 32, one miss in ten would still be no surprise. And how many trials would one need?
#
# **Predict before you run.** Seven hits in eight is the same share as 28 in 32 or 448 in 512. How wide is the interval for
# each?

# %% jupyter={"outputs_hidden": true}
rows = [(n, *wilson(n * 7 // 8, n)) for n in (8, 32, 128, 512)]
widths = pd.DataFrame(rows, columns=["trials", "from", "to"]).set_index("trials")
widths.assign(width=widths["to"] - widths["from"]).round(2)

# %% [markdown]
# Four times the trials for half the width. Thirty-two trials tell 84 % from 19 % without any doubt, and cannot tell 90 % from
# 80 %. Keep this in mind when somebody shows you a curve without whiskers.

# %% [markdown]
# ## Two depths, in pairs
#
# Do first place and last place differ? To look whether their intervals overlap is the wrong way, and not a small matter of
# style: it forgets that both were measured on *the same 32 lists*. A list whose needle is easy is a hit at both depths and says
# nothing about the difference. Only the lists with two different outcomes do, and if place made no difference, each of these
# would be the toss of a coin. That is McNemar's test, from 1947.

# %%
compare(sweep, "depth", 0.0, 1.0)

# %% [markdown]
# Six lists differ, all six in favour of the first place; six heads in a row, or six tails, come up once in thirty-two times.
# That is below the customary 0.05, and it is the moment to be careful. Nobody told us to compare *these two* depths. Nine
# depths make thirty-six pairs, and we have already looked at the picture.

# %%
from itertools import combinations

tests = {pair: compare(sweep, "depth", *pair).p for pair in combinations(needle.DEPTHS, 2)}
smallest = min(tests, key=tests.get)
smallest, round(tests[smallest], 3), round(min(1, len(tests) * tests[smallest]), 2)

# %% [markdown]
# The last number is Bonferroni's: who asks 36 questions has to multiply each p by 36, and with that not one of the pairs is a
# finding. Is this too strict? Let us see what luck alone does. If place made no difference, then within each list the nine
# answers could change places with one another. So shuffle them, a thousand times, do the thirty-six tests each time, and keep
# the smallest p.

# %%
import numpy as np
from scipy.stats import binom

hits = sweep.pivot(index="trial", columns="depth", values="kind").eq("hit").to_numpy(dtype=int)
chance, luckiest = np.random.default_rng(1), []
for _ in range(1_000):
    mixed = chance.permuted(hits, axis=1)
    ahead = mixed.T @ (1 - mixed)  # the lists in which one depth was a hit and the other was not, for each pair of depths
    p = np.minimum(1, 2 * binom.cdf(np.minimum(ahead, ahead.T), ahead + ahead.T, 0.5))
    luckiest.append(p.min())
f"as small as ours in {np.mean(np.array(luckiest) <= tests[smallest] + 1e-12):.0%} of the shuffled worlds"

# %% [markdown]
# Less strict, and the same verdict: luck does as well as that too often to be ruled out. A comparison chosen *before* the data
# were seen needs no such correction. What we may not do is to look at nine depths, pick the two that are furthest apart, and
# then behave as if we had known.
#
# So there is nothing? Wait. Thirty-six tests ask thirty-six small questions, each of them with two ninths of the data. There is
# one question that uses all of it: do the hits become fewer from the top to the end? Before we ask it, we need to know what to
# count.

# %% [markdown]
# ## Lists, not places
#
# Count the misses by list instead of by depth:

# %%
by_trial = cells(sweep, "trial")
misses = by_trial["n"] - by_trial["hits"]
misses.value_counts().sort_index().rename_axis("misses of 9").to_frame("lists")

# %% [markdown]
# Two lists in three have no miss at all, and four lists hold sixteen of the twenty-three. The model is not a little unsure
# everywhere; a few needles are hard for it, and then in place after place. So the 288 answers are not 288 independent draws.
# They are 32 lists, each looked at nine times, and whoever puts one interval on all of them as if they were independent makes
# it too narrow. The remedy is to draw again what was drawn in the first place, which is whole lists:

# %%
shares = by_trial["hits"] / by_trial["n"]
draws = np.random.default_rng(1).choice(shares.to_numpy(dtype=float), size=(10_000, len(shares))).mean(axis=1)
pooled = wilson(int(by_trial["hits"].sum()), int(by_trial["n"].sum()))
pd.DataFrame([pooled, np.quantile(draws, [0.025, 0.975])], index=["as if independent", "by whole lists"], columns=["from", "to"]).round(3)

# %% [markdown]
# The second row is the honest one. It is also a lesson about evaluation in general: ten questions about one document are not
# ten documents.
#
# Now for the slope. For each list, add up how far from the middle its misses stand: below zero if they lean to the beginning of
# the list, above zero if to its end. If place made no difference, each list could as well be read from its end, and the sign
# would be the toss of a coin. (One list with misses leans to neither side.) The test below does not only count the signs, with
# which 8 of 10 would be p = 0.11. It weighs how far each list leans: it flips the ten signs in every possible way, and asks how
# often the total comes out as large.

# %%
from scipy.stats import permutation_test

lean = (1 - hits) @ (np.array(needle.DEPTHS) - 0.5)
result = permutation_test((lean[lean != 0],), np.sum, permutation_type="samples", n_resamples=9_999, rng=1)
f"{(lean > 0).sum()} lists lean to the end, {(lean < 0).sum()} to the beginning; p = {result.pvalue:.3f}"

# %% [markdown]
# One question instead of thirty-six, and with whole lists as the unit: this is evidence of a slope, though no overwhelming one,
# and only of a slope, not of its size. It has a flaw that you will have noticed. It, too, was asked after we had seen the
# picture. There is an honest way out, and it is cheap: fresh lists, drawn with another seed (`sweeps.position(seed=2)`), and
# this one question put to them. If the slope is real, it will be there.

# %% [markdown]
# ## What it says when it is wrong
#
# If a wrong answer were just any number of four digits, it would be one of the twenty-four rivals' about once in four hundred
# times. Now count:

# %%
missed = sweep[sweep["kind"] != "hit"]
missed["kind"].value_counts().to_frame("misses"), f"by chance {24 / 9_000:.2%}"

# %% [markdown]
# Seventeen of twenty-three. The model does not guess; it copies from the wrong line. Which line? Here are the owners asked for
# and the owners whose number was given, with the distance between the lines (below zero: further up).

# %%
calls = {(c.trial, c.depth): c for c in sweeps.position()}
rows = []
for miss in missed[missed["kind"] == "other record"].itertuples():
    asked = calls[miss.trial, miss.depth]
    line = asked.lines[miss.found_row]
    given = next(record.owner for record in needle.register(25, asked.seed).records if record.line == line)
    rows.append((asked.owner, given, miss.depth, miss.found_row - miss.row))
confused = pd.DataFrame(rows, columns=["asked for", "given", "depth", "distance"])
confused.groupby(["asked for", "given"], sort=False)["distance"].agg(["count", list]).rename(columns={"list": "distances"})

# %% [markdown]
# Seldom is it the line next to the needle, and where one pair comes up again and again, the rival stays where it is while the
# needle moves away from it. Some of the names have something in common (Milan and Meilin, Awa and Amina, Aleksander and Andre),
# others nothing that a reader would see. And the six that are *neither*?

# %%
neither = missed[missed["kind"] == "neither"]
stands_in = [[line[:16] for line in calls[m.trial, m.depth].lines if m.answer in line] for m in neither.itertuples()]
neither[["trial", "depth", "right", "answer"]].assign(**{"stands in": stands_in}).set_index("trial")

# %% [markdown]
# Not even these are all made up. Two are ticket numbers: copied, but from the wrong place in a line. One is the right number
# with a wrong digit in front; the other three stand nowhere. The score calls them all *neither*, as its rules say; to know what
# a model does, one has to read its answers as well as count them.

# %% [markdown]
# ## Why should a place matter at all?
#
# To write the four digits, the model has to find the name of the question in the list and carry on with what stands a few words
# after it. It does so with attention: every token already read gets a weight, the weights add up to one, and what has a large
# weight is what gets copied. In all twenty-five lines the word *extension* is followed by four digits. What tells one from
# another is the name, some ten tokens earlier, and a rival with a similar name gets a similar weight. There is no weight of
# zero. That would fit *what* is mostly said when the answer is wrong, somebody else's number, though many of the names that
# were confused do not look alike.
#
# It does not explain *where*. For that there are several stories, and they contradict each other.
#
# - Each token is read in the light of the tokens before it and of none after it. The first line is read before there is any
#   rival; the last is read with twenty-four lookalikes in view, and what the model keeps of it may be mixed with them. This
#   favours the **beginning**.
# - Positions are encoded so that near tokens tend to be weighed more than far ones, and the last line stands next to the
#   question. This favours the **end**.
# - The model is what it was trained on, and in most texts what matters stands at the beginning or at the end. This favours
#   **both**, and is the usual explanation of the curve that sags in the middle.
#
# A measurement like ours can say which of the three the data go with. It cannot say which is true: for that, somebody has to
# look inside the model. Fewer hits towards the end go with the first story and against the other two; with ten lists to speak
# for it, that decides nothing.

# %% [markdown]
# ## The other design: ask every row
#
# The needle need not move. One can leave a list as it is and ask for each of its rows in turn:

# %%
from ctxcourse.plots import rows_plot

every = load_results("rows")
rows_plot(every)

# %% [markdown]
# Eight lists, twenty-five rows each, two hundred answers. Look along the rows first, then down the columns. Two lists are
# without a miss, three hold most of the misses; but no column is bad throughout, and none is missed in more than two lists of
# the eight. That the lists differ can be seen. About the place, eight lists say little: the first four columns have no miss at
# all, but we noticed that after looking.
#
# What does it cost? The prompts of one list differ only in the question at their end, so that the whole list is read once for
# all of them. When the needle moves, everything after its first place has to be read again.

# %%
designs = {"move the needle": load_results("position"), "ask every row": every}
costs = pd.DataFrame({name: frame.attrs["provenance"] for name, frame in designs.items()})
costs = costs.loc[["calls", "tokens_in_prompts", "distinct_tokens"]].astype(int)
costs.loc["distinct tokens a call"] = costs.loc["distinct_tokens"] // costs.loc["calls"]
costs

# %% [markdown]
# *Distinct tokens* are those that have to be computed if nothing is computed twice. By that measure asking every row is ten
# times cheaper, answer for answer. So why would anybody move the needle?
#
# - **Move the needle** changes one thing and holds all others fixed. If the outcome changes, it was the place. That is what
#   makes pairs of the trials. It says nothing about the other twenty-four records of each list.
# - **Ask every row** changes place and record *together*. If row 17 is wrong, it may be the place, or the owner whose name
#   resembles another's. To separate the two takes many lists, and with eight of them a row has eight answers: an interval half
#   as wide as the page. But it is the question your application asks: *in this list, as it stands, which entries are not
#   found?* It is an audit, not an experiment.
#
# Press the button, and see which of twenty-five colleagues is out of reach in a list of your own seed. All twenty-five
# questions have less to read than three with a moved needle.

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import every_row

every_row(model)

# %% [markdown]
# ## Published / yours
#
# | | published | yours |
# |---|---|---|
# | model | Qwen2.5-0.5B-Instruct | Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32 |
# | design | 25 records, nine depths, 32 trials, 12 new tokens, greedy | the same, with records and a sentence pattern of our own |

# %%
from ctxcourse.needle.published import POSITION

place = sweep["depth"].eq(0).map({True: "first", False: "others"})
yours = {cell.place: cell for cell in cells(sweep.assign(place=place), "place").itertuples()}
figures = {}
for who, by_place in {"published": POSITION, "yours": yours}.items():
    first, others = by_place["first"], by_place["others"]
    figures[who] = {
        "first place: hits": f"{first.hits} of {first.n} ({first.hits / first.n:.1%})",
        "its 95 % interval": "{:.0%} to {:.0%}".format(*wilson(first.hits, first.n)),
        "first place: another record's number": f"{first.other_record} of {first.n - first.hits} misses",
        "other eight depths: hits": f"{others.hits} of {others.n} ({others.hits / others.n:.1%})",
        "their 95 % interval, as if independent": "{:.0%} to {:.0%}".format(*wilson(others.hits, others.n)),
        "other eight depths: another record's number": f"{others.other_record} of {others.n - others.hits} misses",
    }
pd.DataFrame(figures)

# %% [markdown]
# The source gives the contrast as 84 % against 19 %. Fifty-one of 256 is 19.9 %, as the table says: a matter of rounding, but
# one that you see only if you divide. It also speaks of “position 7”, with 26 misses, 21 of them neighbours' numbers. Whether
# that is the seventh depth or line 7 of the list the texts leave open, so that it is not in our picture.
#
# What the two have in common: in both samples the first place is ahead of the rest together, and a wrong answer is mostly
# another record's number, two times in three there and three times in four here. What they have not is the size of it. Behind
# the first place it is one right answer in five there, 15 % to 25 %, and nine in ten here, 85 % to 96 % by whole lists.
#
# Whose fault is the difference? Three things differ at once: the model, its weights (theirs are float32 as trained, ours were
# rounded to 4 bits before they were expanded), and the wording of the records; and perhaps a fourth that was not published. The
# same model can be asked, which leaves the wording: in a terminal, `CTXCOURSE_MODEL=qwen2.5-0.5b ctxcourse needle position`
# runs the table on the published model. Until somebody has done it, the right conclusion is a modest one. *That there is a
# model and a wording for which the place is everything* has been published. *That there is a model of the same size for which
# it costs some points at most, at 25 lines,* you have just seen. A claim about “language models” that rests on either alone is
# a claim about one prompt. (Nor is ours the last word on this model: lesson [06](06_needle_length.ipynb) asks it the same in
# lists of up to ninety lines, and there the first place is far ahead.)

# %% [markdown]
# ## What to do about it
#
# - **Do not check the format, check the record.** An answer that is wrong has four digits, too. Ask for the key together with
#   the value (“ticket, owner, extension”), and let your code look the answered owner up: is it the owner *you asked for*, and
#   does the extension stand in that owner's line? Fields that agree with each other are not enough, since a wrong record agrees
#   with itself. (This is advice; it has not been measured here.)
# - **What has a key is not a job for attention.** If a line of code can look it up, a tool should.
# - **Fewer rivals before better places.** Which line stands where is worth some points at most, here; how many lines look like
#   it is worth more. That is lesson 06. What order can do is lesson 02.
# - **Measure your own list.** Not a list like ours: the model's mistakes cluster in few names, and yours are other names.

# %% [markdown]
# ## Practice
#
# Not graded. How few lists hold half of all the misses? Write `half_of_misses(sweep)`, which returns that number of trials.
# What would you expect if the misses fell on the lists by chance?

# %% tags=["practice"] question="half_of_misses"
def half_of_misses(sweep):
    raise NotImplementedError("Need to implement half_of_misses")


# %% [markdown] tags=["hint"] question="half_of_misses"
# Misses by trial, the largest first; then add them up until half of all is reached. In pandas: `groupby`, `sort_values`,
# `cumsum`.

# %% tags=["practice-solution"] question="half_of_misses"
def half_of_misses(sweep):
    # For the shipped results it is 3. Throw 23 balls into 32 boxes, and you will need about 6 boxes for half of them.
    misses = (sweep["kind"] != "hit").groupby(sweep["trial"]).sum().sort_values(ascending=False)
    return int((misses.cumsum() < misses.sum() / 2).sum()) + 1


# %% [markdown]
# `hint("half_of_misses")` and `solution("half_of_misses")` help, after `from ctxcourse.learn import hint, solution`.

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("05_needle_position")

# %% [markdown]
# ## Your own records, in five minutes
#
# 1. Save a list of yours as a CSV file, one record a line, with a header: customers and their contract numbers, hosts and their
# addresses, parts and their bins. Twenty to fifty lines are plenty.
# 2. Write the sentence that a record becomes, and the question, with the columns in braces; name the column that holds the
# answer.
# 3. Put the file's name in place of the table below, and run. Every row is asked once; the list as you have it is read once.

# %% tags=["nbval-ignore-output"]
from ctxcourse.needle.own import read_records

people = ["Ada Brandt", "Ada Brand", "Ben Okafor", "Mia Lund", "Mia Lindt", "Jon Vik", "Ira Sen", "Eva Roth"]
rooms = ["B-204", "B-240", "C-017", "A-311", "A-113", "C-107", "B-042", "A-301"]
mine = pd.DataFrame({"name": people, "room": rooms})  # yours: "records.csv"
records = read_records(
    mine,
    sentence="{name} sits in room {room}.",
    question="In which room does {name} sit? Answer with the room and nothing else.",
    answer="room",
)
audit = run(records.rows(), model)
audit[["needle", "right", "answer", "kind", "found_row"]]

# %% [markdown]
# Look at the rows that are no hits, and at the record whose value was given instead: is it the neighbour, or the namesake? To
# move one of your records through the list, take `records.position()` in place of `records.rows()`; or, in a terminal,
# `ctxcourse needle position --own records.csv --sentence "…" --question "…" --answer room`, with `--plot picture.png` for the
# picture.

# %% [markdown]
# ## Exercises
#
# `exercises/05_needle_position.ipynb` holds three graded questions: a stricter score, Wilson's interval by its formula, and two
# depths compared pair by pair.
#
# ## Further reading
#
# - Liu et al., *Lost in the Middle: How Language Models Use Long Contexts* (2023): the sagging curve on documents and, in its
#   key-value task, on lists with nothing but lookalikes; larger models, and whole tables to compare with.
# - Kamradt, *Needle in a Haystack* (2023, `gkamradt/LLMTest_NeedleInAHaystack`): the picture that everybody remembers, with a
#   needle that looks like nothing around it. Hold it against ours and ask which of the two your data resemble.
# - Hsieh et al., *RULER: What's the Real Context Size of Your Long-Context Language Models?* (2024): needles with several keys
#   and values, which are lookalikes by another name, up to long contexts and for many models.
# - Hong, Troynikov, Huber, *Context Rot: How Increasing Input Tokens Impacts LLM Performance* (Chroma, July 2025): distractors
#   as a cause of their own, apart from length.
# - Wilson, *Probable inference, the law of succession, and statistical inference* (1927): four pages, and the interval in them
#   still is the one to use.
# - Newcombe, *Two-sided confidence intervals for the single proportion: comparison of seven methods* (1998): why the
#   schoolbook's is not.
# - McNemar, *Note on the sampling error of the difference between correlated proportions or percentages* (1947): pairs, and why
#   only the discordant ones speak.
