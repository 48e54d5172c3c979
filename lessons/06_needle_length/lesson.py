# %% [markdown]
# # 06 · How many lookalikes
#
# *About 80 minutes, 45 of them for the exercises. QUICK runs in about two minutes on two cores. Words with a fixed meaning are in
# the [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** tell apart two things that grow together in every long prompt, its tokens and the rivals of the line
# that matters; plan a measurement that separates them; read intervals without reading too much into them; and say of a
# published curve what it shows on your model and what it does not.
#
# **It measures** how often the model finds one number in the middle of a list of 1 to 140 lines, when the other lines look like
# the right one, when they do not, and when some of them do; and what it says instead.

# %%
FULL = False  # True: ask all 140 questions here, some twenty minutes, and use your answers below instead of the shipped ones

# %%
from ctxcourse.plots import length_plot
from ctxcourse.results import load_results

length = load_results("length")
length_plot(length)

# %% [markdown]
# One line of a register is asked for, always the one in the middle, and the register grows from one record to 140. The filled
# points are the model of this course, the hollow ones are published, the bars below say what the answers were. Before you read
# on, find the last published point: at how many tokens does it stand? (From there to 140 records the published curve is called
# flat and low, without figures.) The window of both models is 32,768.
#
# Both curves fall, and neither drops from everything to nothing at one length. But they fall in different places. The published
# one is down to 15 % at eight records, 315 tokens. This course's model finds 20 of 20 at one record and at three, 18 and 19 at
# eight and twenty-five, and loses its way only behind that: at 90 records 7 of 20 are left. (The 9 at 140 are no recovery. Look
# at the whiskers.) And the orange in the bars says that it does not fall silent then: it mostly gives a number that belongs to
# another line.

# %% [markdown]
# ## The question
#
# Lesson 05 moved the needle through a list of constant length. Here the needle stays where it is, in the middle, and the list
# grows around it. It is the experiment behind every claim that models lose things in long prompts, and it looks simple: more
# text, fewer hits, so it is the text that does it.
#
# It is also, as it stands, an experiment that cannot support that claim. Look at what a register of 25 records has that one of
# three has not. It has more tokens: volume. And it has more lines that begin alike, end alike, and hold four digits where the
# right line holds its four digits: rivals. The two grew together, and no amount of trials on this list will tell which of them
# did it.
#
# This lesson takes them apart. The order matters, since the two suggest opposite remedies: if volume does it, you make prompts
# shorter; if interference does it, you may keep the text and have to remove, or mark, whatever could be mistaken for the
# answer.

# %% [markdown]
# ## The sentence was fixed before anybody looked
#
# A register needs a sentence. Which one? With fifty candidates and a model at hand, one could try them all and keep the one
# that shows the effect best. Every measurement after that would be worth nothing. So the sentence was chosen by *size* alone:
# its prompts should be as long as the published ones, whose wording nobody outside knows. That is a matter of counting, no
# answer was ever looked at, and since then nobody has touched it. A test in the course fails if a size is off by more than 3 %.

# %%
import pandas as pd

from ctxcourse import load_model
from ctxcourse.needle import published, sweeps

model = load_model()
calls = sweeps.length()
sizes = pd.DataFrame([(call.records, model.count_prompt(call.messages())) for call in calls], columns=["records", "yours (mean)"])
known = {row.records: row.tokens for row in published.LENGTHS}
table = sizes.groupby("records").mean().round().astype(int).loc[list(known)]
table["published"] = list(known.values())
table["off by"] = (table["yours (mean)"] / table["published"] - 1).map("{:+.1%}".format)
table

# %%
calls[1].messages()[1]["content"].splitlines()

# %% [markdown]
# That is a whole prompt of three records, but for the system message and the template. (Fifty and ninety records, which occur
# below, are lengths of ours.) How much the wording matters is a fair question. It is a question about *results*, and it comes
# up again further down.

# %% [markdown]
# ## The lists grow
#
# **Predict before you run.** The cell asks this course's model for a number in lists of 1, 3, 8 and 25 records, three trials
# each, and once in a list of 90. Write down how many of the thirteen it will get right; and for those that it gets wrong,
# whether the number will be somebody else's or nobody's. The answers are folded away behind the dots.

# %% tags=["nbval-ignore-output"]
from ctxcourse.needle.trials import cells, run

chosen = sweeps.length() if FULL else [*sweeps.length((1, 3, 8, 25), trials=3), *sweeps.length((90,), trials=1)]
live = run(chosen, model)

# %% jupyter={"outputs_hidden": true} tags=["nbval-ignore-output"]
cells(live, "records")

# %% [markdown]
# Look at `low` and `high`, the Wilson interval, before you look at anything else. Three hits of three leave room for a model
# that is right less than half of the time. That is why nobody should draw a curve through three trials, and why the twenty at
# each length that the picture above is made of were run beforehand and ship with the course. They came from this very model,
# and because it decodes greedily, the same prompt has the same answer on your machine:

# %% tags=["nbval-ignore-output"]
both = live.merge(length, on=["trial", "records"], suffixes=("", "_shipped"))
length = live if FULL else length
f"{(both['answer'] == both['answer_shipped']).sum()} of {len(both)} answers are the shipped ones"

# %% [markdown]
# (If one is not, it was a near-tie: two tokens so close that the last bit of a sum decided. That happens between processors,
# and it is rare.) From here on, tables and pictures are made of the shipped runs, unless the text says that the model is asked; with
# `FULL = True` those of the growing list are made of your own answers.

# %%
lengths = cells(length, "records")
lengths.drop(columns=["depth", "share"], errors="ignore").round(2)

# %% [markdown]
# ## What it says instead
#
# The published text tells something about its shortest list that deserves more attention than the curve. With a *single* record
# in the prompt, and nothing to confuse it with, the published model was wrong in two of twenty trials. Both answers were wrong
# numbers, one of them off by a single digit. There is no rival there and hardly any text. What failed was the plainest step of
# all: to copy four digits. So even copying may fail, and 18 of 20 may be the ceiling of that model, below which every longer
# list is measured.

# %%
missed = length[length["kind"] != "hit"]
missed.loc[missed["records"] <= 8, ["records", "trial", "right", "answer", "kind"]]

# %%
wrong = missed[missed["records"] >= 25]
wrong["kind"].value_counts().rename("misses in lists of 25 and more")

# %% [markdown]
# This model has no such ceiling: it copied the number of a lone record twenty times of twenty. Its first two misses come at
# eight records, and there is one of each kind. `64131` is no extension: it is the ticket number of the line directly below,
# copied from the wrong place (lesson 05 had two of these), and the score calls it *neither*. `1777` is the extension of the
# line directly above. From 25 records on, 24 of the 33 wrong answers are of the second kind.
#
# **Predict before you run.** The needle stands in the middle, so that half of its rivals are above it and half below. From
# which half do the wrong numbers come?

# %% jupyter={"outputs_hidden": true}
others = missed[missed["kind"] == "other record"]
above = int((others["found_row"] < others["row"]).sum())
{"above the needle": above, "below it": len(others) - above}

# %%
others.loc[others["trial"].isin([4, 6]), ["trial", "records", "row", "right", "answer", "found_row"]]

# %% [markdown]
# Every single one from above. These are fewer coins than they seem, since a trial's lists are beginnings of one another and a
# trial that goes wrong tends to go wrong in the same way: the second table has two of them, with one and the same rival in
# lists of 50 and of 90. The 25 come from 13 trials, so there are 13 coins at most. Still, nobody had asked for that result, and
# nothing in this lesson explains it. In lesson 05's shorter lists it is less clear:

# %%
short = load_results("rows")
short = short[short["kind"] == "other record"]
{"above the needle": int((short["found_row"] < short["row"]).sum()), "of": len(short)}

# %% [markdown]
# An answer of the kind *other record* passes every check of format that you can write. It has four digits, it is in the list,
# it belongs to a person. What could tell is a second field: ask for the owner along with the number, and let your code look
# whether it is the owner that was asked for.

# %% [markdown]
# ## Interference before volume
#
# Now the experiment that the curve alone could not be. Take the very same lists, needle, place and question, and replace every
# other line by *filler*: a sentence about an office, as long as a record, without a digit and without anybody's name. If volume
# is what hurts, it has to hurt here, too.

# %%
calls = sweeps.volume(lengths=(5,), trials=1)
list(calls[0].lines)

# %% [markdown]
# And the other way round: keep the number of lines at 90, so that the volume stays, and let more and more of the filler turn
# into records.
#
# **Predict before you run.** Sketch three lines before you unfold the picture: among records, among filler, and for a list of
# 90 lines whose share of lookalikes goes from 0 to 1.

# %% jupyter={"outputs_hidden": true}
from ctxcourse.plots import interference_plot

volume, interference = load_results("volume"), load_results("interference_90")
interference_plot(length, volume, interference)

# %% [markdown]
# Among filler this model was right in all 140 questions, with 4,454 tokens in the prompt as with 98. Among records, with the
# same needles in the same places and as many tokens (to within one per cent), it falls. On this model and this task, volume
# without rivals cost nothing that twenty trials could see.
#
# The right panel holds the volume still, at 90 lines and 2,900 tokens, and turns filler into rivals: from 20 right answers of
# 20 without a rival over 17 and 15 to 7 among nothing but rivals. Where half of the lines are still harmless, the model is
# closer to the top than to the bottom. (The same at 25 lines, `load_results("interference")`, shows next to nothing, and could
# not: a list of 25 records is one that this model still reads well. An experiment has to be made where there is something to
# lose. You should know, though, that 25 was the planned one; 90 was added when the place of the fall was known.)
#
# The two designs share their trials, needle for needle, so they can be compared in pairs, as in lesson 05: how many trials were
# right in one of the two lists and wrong in the other?

# %%
from ctxcourse.needle.trials import compare

together = pd.concat([length, volume])
pairs = {n: compare(together[together["records"] == n], "experiment", "volume", "length") for n in (8, 25, 50, 90, 140)}
names = {"only_first": "only among filler", "only_second": "only among records"}
pd.DataFrame(pairs.values(), index=pd.Index(pairs, name="lines")).rename(columns=names)

# %% [markdown]
# At 90 lines, thirteen trials are right among filler and wrong among records, and none is the other way round. At 8 and at 25
# lines there are two such trials and one, from which nothing follows.
#
# Three reservations, so that the picture is not asked for more than it has. The filler is at the far end of dissimilar: the
# needle is the only line with digits in it, which is easier than any document you will meet. The points in between, in the
# right panel, change *how many* lines are rivals, and not how similar a rival is. And a curve that does not fall has not been
# shown to be flat: the interval of twenty hits in twenty trials still reaches down to 84 %.
#
# There is a published observation that points the same way on another task. The same text that reports the falling curve lets
# an agent work for forty turns, to a transcript of 10,632 tokens. Planted in it are one employee number, once, and the name of
# one shard, once. At the end of the whole transcript the model still answers both, where it lost an extension in a register of
# 853 tokens. Twelve times the volume, but nothing else in those 10,632 tokens looks like an employee number. It is one
# transcript and another task, so it is a hint and no measurement of this effect; lesson 08 asks those questions again.

# %% [markdown]
# ## Where, times how long
#
# Lesson 05 varied the place, this lesson the length. A heat map varies both. It is the picture by which most people know
# experiments of this kind, since Greg Kamradt made it popular in 2023; his haystack was essays, which is to say filler. This
# one is records.

# %%
from ctxcourse.plots import heat_map

grid = load_results("grid")
heat_map(grid)

# %% [markdown]
# Read the top row first. As long as the needle is the first line, it is found in every list, up to 90 lines. Then go down the
# column of 90: behind the first place, it is two lists of eight, none, one, one. *That is something like the published
# contrast*, 84 % against 19 %: eight of eight in the first line, four of 32 at the four other depths. This model seems to have
# it, too, in a list that is three or four times as long. Lesson 05 looked for it in 25 records, which may have been the wrong
# column. In pairs:

# %%
ninety = grid[grid["records"] == 90]
against_first = {depth: compare(ninety, "depth", 0.0, depth) for depth in sweeps.GRID_DEPTHS[1:]}
columns = {"only_first": "only at depth 0", "only_second": "only at the other"}
pairs = pd.DataFrame(against_first.values(), index=pd.Index(against_first, name="depth")).rename(columns=columns)
twenty = len(sweeps.GRID_LENGTHS) * len(pairs)
pairs.assign(p_times_20=(twenty * pairs["p"]).clip(upper=1)).round(4)

# %% [markdown]
# Four small p, the weakest one in thirty-two, with six lists to none. The four depths were fixed before anything was measured.
# The *column* was not: the map has five, and we took the one that the colours pointed at. Whoever looks at twenty pairs and shows
# four of the five smallest has made twenty tests, and a correction for that (Bonferroni's: each p times their number) leaves none below 0.05. So
# these lists suggest a contrast and do not establish it. Nor can be seen whether it is a cliff or a steep slope: from the first line,
# the next place measured is line 23. What can be said is that a curve over positions means little without the number of lines it was
# drawn at.
#
# It goes well with the wrong numbers that all came from above the needle: a first line has nothing above it. Does each rival
# count, then, or only each rival *before* the right line? A good question and not yet a result. These very tables suggested it,
# and what suggests a hypothesis cannot test it. Registers that nobody has looked at can, for both: `sweeps.grid(seed=2)` draws them.
#
# A cell here is eight trials, which is fewer than a glance at the colours suggests. Cells that differ by two hits are not shown
# to differ.

# %% [markdown]
# ## The length explorer
#
# Two sliders: how many lines, and what share of the others are lookalikes. Moving them shows what was measured for such a list,
# where there are shipped trials; **Run** asks the model about the very list that you have set, now; at 90 lines that takes half
# a minute. Two questions to answer with it. Take a trial that goes wrong at 90 lines among lookalikes alone, and lower their
# share until it is right: how many rivals had to go, and did the wrong number change on the way? And what is the shortest list
# that this model gets wrong?

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import length_explorer

length_explorer(model)

# %% [markdown]
# ## Does the wording matter?
#
# The sentence of the register was chosen blindly, as told above. Another would have been as good. Would it have given the same
# curve? Here is one register of 50 records in two wordings, the course's own and one that puts the number next to the name.
# Every line is asked for, and the question is the same.

# %% tags=["nbval-ignore-output"]
from ctxcourse import needle
from ctxcourse.needle.own import read_records

records = pd.DataFrame([vars(record) for record in needle.register(records=50, seed=10_000).records])
wordings = {
    "the course's": needle.SENTENCE,
    "number beside name": "{owner} has extension {extension} and works on ticket {ticket}.",
}
asked = {
    name: run(read_records(records, sentence, needle.QUESTION, answer="extension").rows(), model)
    for name, sentence in wordings.items()
}
pd.DataFrame({name: frame["kind"].value_counts() for name, frame in asked.items()}).reindex(needle.KINDS).fillna(0).astype(int)

# %% [markdown]
# Do not read too much into the two columns. One register is one register, fifty questions about it are not fifty independent
# trials, and the second sentence is shorter as well, so that its list has less volume along with another order of words. If the
# columns are far apart, you have seen a difference that no curve would tell you about unless its sentence stood beside it. If
# they are close, you have seen that for two sentences of the thousands that there are. Either way a wording is something to
# report along with a figure. Somebody who tries ten and publishes the steepest has turned a knob, and has not found anything
# out.

# %% [markdown]
# ## Two mechanisms that are usually offered
#
# **Every token competes with every other.** In a prompt of *n* tokens there are about *n*²/2 pairs, while the attention that
# each token gives away always adds up to one. Anthropic's text of September 2025 argues from the pairs, and the start page of
# this course from the sum. Taken at its word, the argument says that the *average* weight falls like 1/*n*. But a needle does
# not live on the average. The weight of a line is its score against the scores of the others, exponentiated; a line whose score
# is clearly higher takes nearly all of it, however many others there are. So let us put in the one thing that the average
# leaves out: by how much the right line stands out.

# %%
from math import exp


def share_of_needle(rivals, lead):
    """The needle's part of a softmax over itself and rivals that score `lead` below it."""
    return 1 / (1 + rivals * exp(-lead))


rivals = [0, 2, 7, 24, 139]
columns = {f"lead of {lead}": [round(share_of_needle(n, lead), 2) for n in rivals] for lead in (1, 2, 4, 8)}
pd.DataFrame(columns, index=pd.Index(rivals, name="others"))

# %% [markdown]
# Read it by columns. With a lead of 1 or 2, as one would expect it of lines that are nearly the same, the share falls at once
# and is mostly gone by 24 others, without any threshold, and the published curve has a shape like it. (Like it, no more: a
# share of a softmax is not a share of right answers.) With a lead of 8, as one would expect it of filler, 139 others hardly
# matter. *The same sum that adds up to one* gives both behaviours, and what decides between them is not *n*, it is the lead.
# That is this course's reading of the attention budget. It is arithmetic about one softmax; nothing in the table was measured
# in the model, whose answer comes out of 24 layers of 14 heads. It shows that the argument from *n*² alone cannot explain why
# filler and lookalikes should differ.
#
# **It was trained mostly on short texts.** Long sequences are rare in training data, so a model has seen few examples of
# looking far back. That is plausible, and the chapter whose curve we follow calls it what it is: an argument, not a
# measurement. Nothing in this lesson tests it. Two things can be said. Qwen's own report gives 4,096 tokens as the length of
# the first phase of pre-training of Qwen2.5, later extended to 32,768, so a fall that is over at 315 tokens happens well inside
# of what was seen in plenty, and 139 lines of filler cost our model nothing that twenty trials can see. And to test it one
# would have to train two models that differ in the length of their texts and in nothing else, which no user of a model can.

# %% [markdown]
# ## Published / yours
#
# | | published | yours |
# |---|---|---|
# | model | Qwen2.5-0.5B-Instruct | Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32 |
# | trials | 20 at each length, needle in the middle | the same, with registers and a sentence of our own |

# %%
from ctxcourse.stats import wilson

hits = lengths.set_index("records")
ours = [f"{row.hits / row.n:.0%} ({row.low:.0%} to {row.high:.0%})" for row in hits.itertuples()]
spread = {n: "{:.0%} ({:.0%} to {:.0%})".format(share, *wilson(round(20 * share), 20)) for n, share in published.LENGTH.items()}
theirs = [spread.get(n, "not given") for n in hits.index]
theirs = ["flat and low" if n in (25, 140) else share for n, share in zip(hits.index, theirs, strict=True)]
pd.DataFrame({"published": theirs, "yours (Wilson 95 %)": ours, "prompt tokens": hits["prompt_tokens"]}, index=hits.index)

# %% [markdown]
# What the published figures say is more than “long is bad”. 90 % at 97 tokens, 55 % at 159, 15 % at 315: the fall is over at
# one hundredth of the window, with no threshold anywhere, and from there to 4,477 tokens hardly anything changes. The 62 tokens
# from one record to three cost 35 points, the four thousand after 315 next to nothing; but at 15 % little is left to lose, so
# that the flat part says nothing about a price per token. And the steep part cannot tell tokens from rivals, since both grew.
#
# What this model shares with that: it gets worse as records are added, and what it says then is mostly another record's number.
# What it does not share: it has no such ceiling at a single record; at eight records it is right in 18 of 20 where the
# published model was in 3; up to 25 lines it shows no fall that twenty trials could tell from luck, between 25 and 50 seven
# trials are lost and none is won, and by 90 lines, 2,900 tokens, a tenth of the window and not a hundredth, it has lost
# thirteen of twenty. So “over at one hundredth of the window” is a finding about one model in one wording. That rivals do it
# and not tokens is what the comparison with filler adds, and that was measured here.
#
# Three things differ between the columns: the model, its weights (theirs float32 as trained, ours rounded to 4 bits), and, as
# far as anybody can know, the sentence. So this table cannot say which of them makes the difference. The published model would:
# with `CTXCOURSE_MODEL=qwen2.5-0.5b ctxcourse needle length` in a terminal (it fetches that model from the Hub) the sentence is
# ours and the model theirs.

# %% [markdown]
# ## What it means for your agent
#
# Before you shorten a prompt, look for what in it could be mistaken for the answer: the same document in three versions, ten
# tickets of one customer, forty search hits of one shape. Taking out nine of ten lookalikes may be worth more than taking out
# half of the tokens, and it is another piece of work: it needs to know what is asked.
#
# Where the rivals have to stay, give the right line something that sets it apart, and have the question name it. A key that
# occurs in the question and in one line only is what the table above calls a lead.
#
# When you test a model for your agent, test it among your own rivals. A needle in essays measures volume, and your users have
# registers.
#
# And check whose answer it is, not only how it looks. The dangerous one is well formed. Ask for the owner along with the
# number, and let your code look whether it is the owner that was asked for.

# %% [markdown]
# ## Practice
#
# Not graded. Real lists hold both kinds of line. Write `mixed_share(lookalikes, filler, near, far)`: the needle's part of a
# softmax over itself, lookalikes that score `near` below it, and filler that scores `far` below. With `near` = 2 and `far` = 8:
# how many lines of filler do as much harm as one lookalike?

# %% tags=["practice"] question="mixed_share"
def mixed_share(lookalikes, filler, near, far):
    raise NotImplementedError("Need to implement mixed_share")


# %% [markdown] tags=["hint"] question="mixed_share"
# `share_of_needle` has one kind of rival in its denominator. Yours has two, each with its own lead.

# %% tags=["practice-solution"] question="mixed_share"
def mixed_share(lookalikes, filler, near, far):
    # One lookalike weighs as much as exp(far - near) lines of filler: with 8 and 2, about four hundred.
    return 1 / (1 + lookalikes * exp(-near) + filler * exp(-far))


# %% [markdown]
# `hint("mixed_share")` and `solution("mixed_share")` help, after `from ctxcourse.learn import hint, solution`.

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("06_needle_length")

# %% [markdown]
# ## Your own data, in five minutes
#
# 1. Take a table of yours in which every row could be mistaken for every other: rooms, orders, servers, contacts. Save it as
# CSV.
# 2. Put its name in place of `rooms` below, write the sentence that your prompt would hold for a row, with column names in
# braces, and the question. `answer` is the column that is asked for.
# 3. The cell asks every row of a list of one, of three, and of all of them. Read the column `other_record` first.

# %% tags=["nbval-ignore-output"]
rooms = pd.DataFrame(
    {
        "name": ["Priya Nair", "Tom Becker", "Ana Lima", "Yusuf Demir", "Mei Tan", "Olga Petrova", "Sam Okoro", "Lena Vogt"],
        "room": ["B214", "B241", "B124", "A214", "B412", "A241", "C214", "B421"],
    }
)  # yours: pd.read_csv("rooms.csv", dtype=str)
sentence, question = "{name} sits in room {room}.", "In which room does {name} sit? Answer with the room and nothing else."
mine = [call for n in (1, 3, len(rooms)) for call in read_records(rooms[:n], sentence, question, answer="room").rows()]
cells(run(mine, model), "records")

# %% [markdown]
# With more rows, the question of this lesson can be asked of your data as well: replace half of the rows by rows of another
# table, and see whether the shorter list of rivals or the shorter list of tokens helps.
#
# ## Exercises
#
# `exercises/06_needle_length.ipynb` holds three graded questions: a sweep that can tell interference from volume, a verdict by
# a rule, and a picture to be read with care.
#
# ## Further reading
#
# - Kamradt, *Needle In A Haystack* (2023, the repository LLMTest_NeedleInAHaystack): the heat map that everybody remembers, on
#   filler. With this lesson in mind: what does a green field tell you about your registers?
# - Hsieh et al., *RULER: What's the Real Context Size of Your Long-Context Language Models?* (2024): needle tasks with several
#   keys, so that other needles are the distractors, on models with long windows.
# - Levy, Jacoby, Goldberg, *Same Task, More Tokens: the Impact of Input Length on the Reasoning Performance of Large Language
#   Models* (2024): the opposite case. The same question, padded, with several kinds of padding, and reasoning suffers from
#   volume itself. Read it against this lesson.
# - Shi et al., *Large Language Models Can Be Easily Distracted by Irrelevant Context* (2023): one irrelevant sentence in a word
#   problem, and how much it matters whether its numbers and roles resemble the question's.
# - Hong, Troynikov, Huber, *Context Rot: How Increasing Input Tokens Impacts LLM Performance* (Chroma, July 2025): distractors
#   and length varied separately, on large models.
# - Qwen Team, *Qwen2.5 Technical Report* (2024): how long the texts were that the published model was trained on.
# - The [glossary](00_start_here.ipynb#Glossary): one meaning for each word of this course.
