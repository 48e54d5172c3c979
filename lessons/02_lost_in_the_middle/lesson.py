# %% [markdown]
# # 02 · Lost in the middle
#
# *About 85 minutes, 45 of them for the exercises. QUICK runs in about two minutes on two cores. Words with a fixed meaning
# are in the [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** score documents against a question, leave out those that say nothing and those that say it twice,
# and put the rest into an order on purpose; tell whether a library puts the best one where it promises; measure, in pairs,
# whether any of it helps the model that you have; and hold a much quoted figure against the table that it is said to come
# from.
#
# **It measures** how often one model finds a number among fifty lines: as drawn, best first, best at both ends, best last, with
# four lines only, and with the question asked twice.

# %%
FULL = False  # True: all six arrangements of all twenty lists, as shipped: 120 calls, about half an hour on two cores

# %%
from ctxcourse.plots import order_plot
from ctxcourse.results import load_results

shipped = load_results("order")
order_plot(shipped)

# %% [markdown]
# Twenty lists of fifty lines, one question about one line of each. A line names a ticket, its owner and the owner's telephone
# extension; the question asks for one owner's extension. The lines play the part of retrieved documents: each has a score that
# says how well it matches the question. Four of the rows of the picture differ in the order of the same fifty lines and in
# nothing else. In *as drawn* the right line stands anywhere; *best first* sorts by score; *reordered* puts the best at the two
# ends, as the best-known advice has it; *best last* puts it next to the question; *top 4* throws away all but four; and *question
# first* leaves the lines as drawn and asks the question before them as well as after, one question more.
#
# Three rows are full: *best first*, *reordered* and *top 4* find the number in all twenty lists. As drawn it is fifteen, best
# last sixteen. The lowest row is the one that was to help by saying a thing twice: with the question in front as well, the
# model is right in ten lists of twenty, and its ten wrong answers are all of them some other line's number.
#
# All six prompts ask for the same thing, and all but one of them hold the same fifty lines. Whoever writes a program that
# fills a prompt chooses one of the rows, mostly without noticing. This lesson is about choosing it, and about how much of
# what is said on the subject holds when somebody counts.

# %% [markdown]
# ## A figure that everybody passes on
#
# In 2023 Nelson Liu and others gave language models a question and twenty documents. One of them, the *gold* document, held
# the answer, and they moved it. The paper, *Lost in the Middle*, gave the effect its name, and its repository gives the share
# of right answers for two open models, to the last digit:

# %%
import pandas as pd

from ctxcourse.stats import wilson

places = pd.Index([0, 4, 9, 14, 19], name="gold document at")
mpt, longchat = [53.7, 51.8, 52.2, 52.7, 56.2], [68.6, 57.4, 55.3, 52.5, 55.0]
liu = pd.DataFrame({"MPT-30B-Instruct (published)": mpt, "LongChat-13B (published)": longchat}, index=places)
liu

# %% [markdown]
# **Predict before you run.** These figures were computed from 2,655 questions each (in the repository
# they have sixteen digits, and are whole numbers of 2,655ths). By how much can a share of about one half
# be off, with that many? And for which of the two models is the first place clearly better than the middle?

# %% jupyter={"outputs_hidden": true}
QUESTIONS = 2_655
intervals = {
    name: ["{:.1%} to {:.1%}".format(*wilson(round(share / 100 * QUESTIONS), QUESTIONS)) for share in shares]
    for name, shares in (("MPT-30B-Instruct", mpt), ("LongChat-13B", longchat))
}
pd.DataFrame(intervals, index=places)

# %% [markdown]
# Two points to either side. LongChat is thirteen points better when the gold document comes first than when it is in the middle,
# and no interval bridges that. But its curve does not come up again: the *last* place is no better than the middle. MPT's curve
# does come up, by four points from its lowest to its end, and whether its first place is better than its middle these intervals
# cannot say, since the questions are the same at every place and the pairs are not published. Neither of the two is the deep,
# symmetrical valley that the title makes one think of. (The paper has other models, too, and among them there are curves with two
# raised ends. It also has settings with ten and thirty documents.)
#
# Now listen to how it is told. *The lesson*, one of the two texts that this course follows, has two versions. The first:
# models are right in 85–90 % of cases at the ends, and in 60–70 % in the middle. The second: near perfect at the ends, with a
# drop of 10–20 % at 40–70 % depth. They cannot both be a description of the same thing, and the table above is neither: not
# one of its ten figures reaches 70. Perhaps the sentences stem from other models or from another task. In the same file of
# the repository there *is* something that resembles the second, and it is not about documents at all: 140 pairs of random
# keys and values, one key asked for.

# %%
pairs = pd.Index([0, 34, 69, 104, 139], name="pair asked for, of 140")
keys_mpt, keys_longchat = [100.0, 93.6, 88.6, 80.4, 96.2], [37.0, 38.2, 35.4, 65.6, 88.6]
pd.DataFrame({"MPT-30B-Instruct (published)": keys_mpt, "LongChat-13B (published)": keys_longchat}, index=pairs)

# %% [markdown]
# There is the valley: near perfect at the ends, and eleven points below the first place at half depth, twenty at three quarters.
# For MPT. For LongChat, on the same pairs, the *first* place is among the worst and the last by far the best, so that whoever
# moves the best document to the front would do it a disservice. This is a list of nothing but lookalikes, like our register, and
# the two models agree on the last place and not on the first.
#
# That is the finding to take along. Place matters to some models, in some tasks, and *which* place differs. What the advice
# has to be for yours is a question for a measurement. (In the exercises you write the program that holds such a sentence
# against its table. One reading of one sentence, for one of the two models, comes out as supported.)

# %% [markdown]
# ## From scores to an order
#
# Suppose that the ends are read best. Then the best document should stand at one end, the second best at the other, and so on
# inwards, until the worst is in the middle, where it does the least harm. Odd ranks go to the front and even ones to the
# back:

# %%
from ctxcourse.retrieval import reorder

reorder([1, 2, 3, 4, 5]), reorder([1, 2, 3, 4])

# %% [markdown]
# Two details decide whether this is a rule or a source of riddles. The best comes *first for every number of documents*. And
# only scores are compared, never the documents: equal ones stay in their order, and what could not be scored comes last.

# %%
reorder(["no score", "fair", "good", "poor", "fair, too"], scores=[float("nan"), 0.5, 0.9, 0.1, 0.5])

# %% [markdown]
# Now the same idea as it is often programmed: take the documents from the worst to the best and put them by turns in front of
# and behind what is there already.
#
# **Predict before you run.** Where does document 1, the best, end up among five? And among four?

# %%
def by_turns(ranked):
    placed = []
    for number, document in enumerate(reversed(ranked)):
        placed.insert(len(placed) if number % 2 else 0, document)
    return placed


# %% jupyter={"outputs_hidden": true}
by_turns([1, 2, 3, 4, 5]), by_turns([1, 2, 3, 4])

# %% [markdown]
# With five it is the same order. With four the best is *last*: the document that is placed at the end of the loop is the best
# one, and where it lands depends on whether the number of documents is odd. Retrieve one document more, and everything turns
# round.
#
# Nobody made this up to have an example. Of three widely used libraries that the course measured on 30 November 2026, two do just
# that: with 9 documents the best is at place 1, with 10 it is at place 10, with 1,000 at place 1,000 (llama-index-core 0.14.25,
# langchain-community 0.4.2). The third, haystack-ai 3.4.1, has it at place 1 throughout, as this course has. The table, with the
# times, is in the course's repository, beside the script that makes it.
#
# Is last a mistake, then? Look at LongChat's column in the last table above, that of the
# keys and values. It may well be the better place. What is a mistake is not
# to know which of the two one has.

# %% [markdown]
# ## What to put in order
#
# An order presupposes scores. The simplest one that works is the share of the question's words that occur in the document.
# Words like *the* and *is* are left out, since they say nothing of a topic:

# %%
from ctxcourse.retrieval import bm25_scores, query_words, relevant, word_overlap

query = "Why is the payments shard slow?"
documents = [
    "Lunch in the canteen is at noon on weekdays, and the queue is slow on Fridays.",
    "Payments shard 7 is slow since the deploy at noon; the index on orders is missing.",
    "The payments team meets on Mondays.",
    "A shard is a horizontal part of a table.",
    "Payments shard 7 is slow since the deploy at noon: the index on orders is missing!",
    "Shard 3 of the search cluster was slow in March because its disk was full.",
    "The new coffee machine has arrived.",
]
overlap = [word_overlap(query, document) for document in documents]
query_words(query)

# %% [markdown]
# The published threshold is 0.1: what has less than a tenth of the words is left out.
#
# **Predict before you run.** Which of the seven documents are left out?

# %% jupyter={"outputs_hidden": true}
kept = relevant(documents, overlap, threshold=0.1)
[document for document in documents if document not in kept]

# %% [markdown]
# Only the coffee machine. Lunch stays, because a queue can be slow, too. A question of three words gives four possible scores, 0,
# ⅓, ⅔ and 1, so that a threshold of 0.1 says no more than *at least one word*; it begins to mean something in questions of more
# than ten words, and in those of eleven to twenty it asks for two. A threshold belongs to the length of the question, and a fixed
# one is at its loosest where the question says least.
#
# What overlap cannot see is that some words are worth more than others. *Slow* stands in four of the seven documents,
# *payments* in three. **BM25** weighs a word by its rarity, a second occurrence less than the first, and a word in a long
# document less than in a short one. It is from the nineties and still the first thing to beat.

# %%
scores = bm25_scores(query, documents)
table = pd.DataFrame({"overlap": overlap, "BM25": scores, "document": [document[:50] for document in documents]})
table.sort_values("BM25", ascending=False, kind="stable").round(2)

# %% [markdown]
# Lunch is now at the end of those that matched, where it belongs. But look at the third place, at the team that meets on
# Mondays: it shares one word with the question and is short. BM25 counts words, too. A question about *automobiles* finds no
# document about *cars* with either; for that there are embeddings, which the package offers as an option
# (`ctxcourse.embeddings`), and which have blind spots of their own.
#
# Note also that a BM25 score has no fixed scale. It depends on the whole collection, so that a threshold that was right
# yesterday is wrong once the collection has grown. Compare such scores with one another, and with nothing else.

# %% [markdown]
# ## The same thing twice
#
# Two of the seven documents say the same. The second costs its tokens at every call and adds nothing, except a rival that
# looks exactly like the right answer. *Deduplication* drops, of two documents that are more than 80 % alike, the one with the
# lower score, and says what that won:

# %%
from ctxcourse import load_model
from ctxcourse.retrieval import dedup

model = load_model()
found = dedup(documents, scores, count=model.count_text)
[(drop.index, drop.because_of_index, drop.likeness) for drop in found.dropped], found.tokens_won_back

# %% [markdown]
# Alike means here: of the words that stand in either of the two, how many stand in both. It sounds harmless. Now the trap.
# Take one of the twenty lists of the picture, a *register* of fifty lines in one sentence pattern:

# %%
from ctxcourse import needle

register = needle.register(records=50, seed=10_000)
asked = 25  # the line that is asked for, counted from 0
[register.lines[asked - 1], register.lines[asked], needle.question(register, asked)]

# %% [markdown]
# **Predict before you run.** How many of the fifty lines are left at 80 %, and how many at 60 %? Is the line that was asked
# for among them?

# %% jupyter={"outputs_hidden": true}
line_scores = bm25_scores(needle.question(register, asked), register.lines)
attempts = {"80 %, scored": (line_scores, 0.8), "60 %, scored": (line_scores, 0.6), "60 %, no scores": (None, 0.6)}
left = {name: dedup(register.lines, by, count=model.count_text, threshold=limit) for name, (by, limit) in attempts.items()}
rows = [(len(each.kept), each.tokens_won_back, asked in each.kept_indices) for each in left.values()]
pd.DataFrame(rows, columns=["lines left", "tokens won back", "has the one asked for"], index=list(left))

# %% [markdown]
# At 80 % nothing happens. At 60 % the register is a single line, and 1,500 tokens have been won back. With scores it happens
# to be the right line, since the best is kept. Without them it is the first, the answer is gone, and the report shows a
# splendid saving.
#
# Documents of one pattern are alike in everything but the one thing that matters: invoices, tickets, log lines, versions of a
# contract, measurements of every Monday. Sixty per cent was no foul play: had the sentence been twice as long, with the same
# name and number in it, 80 % would have done the same. The number in *tokens won back* cannot tell you; only what was dropped
# can. `found.dropped` names each document and the one that it was dropped for. Look at it before you trust the sum. (In the
# exercises, your own deduplication gets a rule for that: another number is another document.)

# %% [markdown]
# ## Fewer documents, and the question twice
#
# Two more moves cost nothing to try. **Fewer documents.** Twenty retrieved chunks can do worse than four: each that does not
# hold the answer is one more to be mistaken for it (lesson 06 is about such rivals). It can go further than that. In Liu's
# paper, GPT-3.5-Turbo with the gold document in the middle of twenty did worse than the 56.1 % that the same model reached
# with *no documents at all*. Bad retrieval can do worse than none. The price is plain: what has been cut off cannot be found.
# Fewer documents help as far as the scores are good.
#
# **The key point again.** What matters most is said twice, mostly at the end, where it is nearest to the answer. In our
# prompts the question stands at the end already, so that we put it in front as well. There is a reason why that could help. A
# token is read in the light of those before it. A list with the question behind it is read without anybody knowing what to
# look for; with the question before it, every line can be read as an answer to it. The cost is one question more.

# %%
before, after = needle.messages(register, asked)
twice = [before, {**after, "content": f"{needle.question(register, asked)}\n\n{after['content']}"}]
model.count_prompt([before, after]), model.count_prompt(twice)

# %% [markdown]
# ## Move the documents
#
# The slider chooses how many documents there are, the menu beside it in which order they stand; the page shows where each
# rank ends up. Three questions to answer with it. From which number of documents on does the *second* best stand further from
# the question in *best first* than in *reordered*? Where does rank 1 go in each order when you add a document? And which rank
# is in the middle?

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import order_explorer

order_explorer()

# %% [markdown]
# ## Does any of it help this model?
#
# Lesson 06 will look for the length at which this model begins to lose its way. To take one point of it ahead: in a register
# of fifty lines, with the right line in the middle, it finds 12 of 20. So that is the list to try the remedies on; where
# nothing is lost, nothing can be won. Twenty trials, each with a list and a question of its own and with the right line in a
# row that is drawn, too. Within a trial the six arrangements share everything else.
#
# A look at the scores first, since the whole comparison depends on them. What rank does BM25 give to the right line?

# %%
from ctxcourse.experiments import order

planned = order.calls()
first = [call for call in planned if call.arrangement == "best first"]
pd.Series([call.row + 1 for call in first]).value_counts().rename_axis("rank of the right line").to_frame("trials")

# %% [markdown]
# Rank 1, every time. The question names an owner, the owner stands in one line, and the other forty-nine lines share no more
# with the question than *internal* and *extension*, so that their scores are equal (but for a line whose owner has a longer
# name). This is the best retrieval that there can be, and it makes the test a special one: every arrangement by score knows
# where the answer is. Whatever *best first* wins here is an upper limit of what that order can win. With real scores the
# right document has rank 1 in some cases, and in the others the same order moves it to the places that are read worst. (And
# since the other lines tie, the other three of *top 4* are simply the first three of the list.)
#
# **Predict before you read on.** You have seen the counts at the top. The line next to the question is the nearest to it, but it
# was read with forty-nine lookalikes in view; the first line was read before there was any. Say now *why* best last does not gain
# what best first gains, and what *top 4*, whose first line is the same, could lose that *best first* does not.
#
# QUICK asks the first list in all six arrangements now; FULL asks all twenty.

# %% tags=["nbval-ignore-output"]
live = order.run(order.calls(trials=20 if FULL else 1), model)
both = live.merge(shipped, on=["trial", "arrangement"], suffixes=("", "_shipped"))
shipped = live if FULL else shipped
f"{(both['answer'] == both['answer_shipped']).sum()} of {len(both)} answers are the shipped ones"

# %%
counts = order.cells(shipped).set_index("arrangement")
counts.assign(prompt_tokens=counts["prompt_tokens"].round().astype(int)).round(2)

# %% [markdown]
# As drawn 15 of 20, with an interval from 53 to 89 %. With the right line in front 20 of 20, three times over, and even that
# means no more than 84 % or above. At the end 16, from 58 to 92 %. And 10 with the question before the list and behind it,
# from 30 to 70 %. *Top 4* gets its full score for 192 tokens a prompt, where the others take 1,641 and more.
#
# Read `low` and `high` before you compare two rows. With twenty trials an interval is some forty points wide in the middle of
# the scale. That is why the trials are paired: a list that is right in both arrangements, or wrong in both, says nothing
# about the difference, and the others decide by McNemar's test: if the arrangement made no difference, each of them would be
# the toss of a coin. (Lesson 05 takes it apart.) The question was fixed beforehand: each of the five remedies against *as
# drawn*. That makes five tests, and so the last column multiplies each p by five.

# %%
from ctxcourse.needle.trials import compare

remedies = [name for name in order.ARRANGEMENTS if name != "as drawn"]
tested = pd.DataFrame([compare(shipped, "arrangement", name, "as drawn") for name in remedies], index=remedies)
tested = tested.rename(columns={"only_first": "only with it", "only_second": "only as drawn"})
tested.assign(**{"p × 5": (5 * tested["p"]).clip(upper=1)}).round(3)

# %% [markdown]
# The three rows that put the right line first differ from *as drawn* in the same five lists, and in all five to the better. Five
# tosses that all come up the same, heads or tails, happen once in sixteen times: p = 0.06, and 0.31 after the correction. *Best
# last* wins three lists and loses two. *Question first* wins one and loses six: 0.13 before the correction. By the rule that was
# fixed beforehand, **not one of the five remedies is shown to do anything.**
#
# That sounds wrong beside 20 of 20, and it is worth seeing why it is not. What has been counted is five lists. Had the model
# found the number in nineteen lists as drawn, no remedy could have shown more than one. A test that has only five cases to decide
# on cannot reach 0.01 whatever they say (it takes eight, all on one side); what it says is *not shown*, and that is another thing
# than *shown not to be*. Lesson 05 finds the same direction in lists of 25 lines, by two of 32 from the first place to the
# middle; lesson 06 has the first place far ahead in lists of fifty and of ninety. With this table alone you may plan a larger
# one.
#
# One comparison more belongs to the subject, *reordered* against *best first*. In both the right line is the first; they differ
# in the order of the other forty-nine, which to BM25 are as good as equal. Both rows are full, so that this comparison could not
# have shown a difference in favour of *reordered*; what its second half is worth, the best at *both* ends, cannot be seen here.

# %%
compare(shipped, "arrangement", "reordered", "best first")

# %% [markdown]
# And what does the model say when it is wrong?

# %%
missed = shipped[shipped["kind"] != "hit"]
pd.crosstab(missed["arrangement"], missed["kind"]).reindex(order.ARRANGEMENTS, fill_value=0)

# %% [markdown]
# As drawn and best last, most wrong answers are *neither*, six of nine. Three of the six are the number of a ticket in place of
# an extension, such as 43077, and once it is the ticket of the right line. Three stand nowhere in the list; 4765 for 5765 and
# 2406 for 4206 look like a copy that went astray. With the question first the wrong answers are all another record's. Which
# one's?

# %%
misled = missed[missed["arrangement"] == "question first"]
misled["found_row"].value_counts().rename_axis("line of the number that was given").to_frame("answers")

# %% [markdown]
# Line 0, ten times out of ten: the line that follows the question. In nine other lists the model did find a right line further
# down, so that it is not a rule. Of the ten lists with a wrong number, six were right as drawn, two were *neither*, and two had
# another record's number already. Whoever only counts hits sees fifteen become ten, and not that all ten misses now look like
# answers. Saying the key point twice is good advice for some prompts; it is not shown to be for this one.

# %% [markdown]
# ## Published / yours
#
# | | published | yours |
# |---|---|---|
# | model | MPT-30B-Instruct and LongChat-13B | Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32 |
# | task | 20 documents, one holds the answer; 2,655 questions | 50 lines, one holds the answer; 20 questions |

# %%
def share(name):
    cell = counts.loc[name]
    return f"{cell['hit'] / cell['n']:.0%} ({cell['low']:.0%} to {cell['high']:.0%})"


published = [f"{mpt[place]:.1f} % and {longchat[place]:.1f} %" for place in (0, -1, 2)]
length = load_results("length")
middles = length[length["records"] == 50]["kind"] == "hit"
low, high = wilson(int(middles.sum()), len(middles))
yours = [share("best first"), share("best last"), f"{middles.mean():.0%} ({low:.0%} to {high:.0%}), lesson 06"]
pd.DataFrame({"published": published, "yours (Wilson 95 %)": yours}, index=["right one first", "right one last", "in the middle"])

# %% [markdown]
# The rows are put side by side so that you can see how little they compare. Other models, another task, and a middle that is in
# the one case the tenth of twenty places and in the other the twenty-fifth of fifty. What can be compared is the shape.
#
# The drawn row is no middle. Lesson 06 has the middle of these very lists, with another owner asked for: 12 of 20, or 39 to 78 %.
# First 20, middle 12, last 16 does sag, but the intervals of middle and last overlap widely, and twenty lists cannot tell a
# valley from a slope.
#
# Neither of the two sentences is in either column as a whole. Parts of them are: with the mean of the two ends as the yardstick,
# LongChat at the tenth place is 10.5 per cent lower, and here the middle is at 60 %. (Question 3 of the exercises is about such
# yardsticks.)

# %% [markdown]
# ## What it means for your agent
#
# Order is the cheapest thing that you can change about a prompt: it costs no token and no call. That is a reason to try it,
# and no reason to believe in it.
#
# Before you order, cut. What has no score worth the name, and what says the same thing again, goes first; but look at what was
# dropped wherever your documents share a pattern. Whether fewer rivals help is lesson 06's question; here *top 4* did no worse
# than the best order, for an eighth of the tokens.
#
# Then find out which end your model reads better, on your own documents, by putting the same right document first, in the
# middle and last. If there is no difference that survives an interval, sort best first and think about something else. It is
# the order in which a budget that runs out cuts off the right thing.
#
# Mind the prefix cache. Whatever is reordered for each question has to be read again for each question. Documents that stay
# the same from call to call are cheapest in an order that stays the same.
#
# And if a library orders for you, give it four documents and five, and look.

# %% [markdown]
# ## Practice
#
# Not graded. *Top 4* helps only if the right document is among the four, and where scores are equal, the order of the list
# decides who is. Write `surely_kept(scores, right, k)`: is the document with the index `right` among the `k` best, whichever way
# the ties fall? What does it say of the right line in the register above, for `k` = 1? And of any other line, for `k` = 48, and
# for `k` = 49?

# %% tags=["practice"] question="surely_kept"
def surely_kept(scores, right, k):
    raise NotImplementedError("Need to implement surely_kept")


# %% [markdown] tags=["hint"] question="surely_kept"
# In the worst case every document with the same score is preferred to it. How many are at least as good, itself among them?

# %% tags=["practice-solution"] question="surely_kept"
def surely_kept(scores, right, k):
    # The right line has no equal and is kept for k = 1. Of the other 49, 48 are equal, so that none of them is sure of a place
    # before k = 49; and one, whose owner's name has three words and makes the line longer, is the last of all.
    return sum(score >= scores[right] for score in scores) <= k


# %% [markdown]
# `hint("surely_kept")` and `solution("surely_kept")` help, after `from ctxcourse.learn import hint, solution`.

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("02_lost_in_the_middle")

# %% [markdown]
# ## Your own documents, in five minutes
#
# 1. Put a question of yours and the texts that your retriever returned for it in place of the ones below.
# 2. Run the cell. It shows what is left out, what is dropped and for which other document, and the order of the rest, with
#    the tokens before and after.

# %%
my_question, mine = query, documents  # yours: a string, and a list of strings

mine_scores = bm25_scores(my_question, mine)
matching = [i for i, text in enumerate(mine) if word_overlap(my_question, text) >= 0.1]
unique = dedup([mine[i] for i in matching], [mine_scores[i] for i in matching], count=model.count_text)
arranged = reorder(unique.kept, [mine_scores[matching[i]] for i in unique.kept_indices])
dropped = [(drop.document[:40], drop.because_of[:40]) for drop in unique.dropped]
{
    "left out": [text[:40] for i, text in enumerate(mine) if i not in matching],
    "dropped, because of": dropped,
    "in order": [text[:40] for text in arranged],
    "tokens before, after": (model.count_text("\n".join(mine)), model.count_text("\n".join(arranged))),
}

# %% [markdown]
# 3. Then ask whether place matters to this model on *your* records at all. Put the name of a CSV file in place of `rooms`, a
#    sentence and a question with its columns in braces, and the column of the answer. Four records are asked for, each at the
#    top, in the middle and at the end of the list; without `trials` it is up to 32.

# %% tags=["nbval-ignore-output"]
from ctxcourse.needle.own import read_records
from ctxcourse.needle.trials import cells, run

rooms = pd.DataFrame(
    {
        "name": ["Priya Nair", "Tom Becker", "Ana Lima", "Yusuf Demir", "Mei Tan", "Olga Petrova", "Sam Okoro", "Lena Vogt"],
        "room": ["B214", "B241", "B124", "A214", "B412", "A241", "C214", "B421"],
    }
)  # yours: "rooms.csv"
sentence, asks = "{name} sits in room {room}.", "In which room does {name} sit? Answer with the room and nothing else."
records = read_records(rooms, sentence, asks, answer="room")
cells(run(records.position(depths=(0, 0.5, 1), trials=4), model), "depth")

# %% [markdown]
# Four trials that look alike exclude only very large differences; leave out `trials` before you decide. Take the length that your
# prompts really have before you decide; a list of eight is one that nearly any model reads well.
#
# ## Exercises
#
# `exercises/02_lost_in_the_middle.ipynb` holds three graded questions: an order that keeps the pages of one source together,
# a deduplication with an eye for numbers and a budget, and a program that holds a claim against its source.
#
# ## Further reading
#
# - Liu et al., *Lost in the Middle: How Language Models Use Long Contexts* (2023, arXiv 2307.03172): read the figures of all
#   its models, and the key-value task, before you quote the title. The tables for two of the models are in `EXPERIMENTS.md`
#   of `nelson-liu/lost-in-the-middle`.
# - Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009): where each part of BM25 comes
#   from, by those who made it.
# - Lù, *BM25S: Orders of magnitude faster lexical search via eager sparse scoring* (2024, arXiv 2407.03618): the library that
#   computes the scores of this lesson, and how the variants of BM25 differ.
# - Broder, *On the resemblance and containment of documents* (1997): likeness by shared pieces of text, and why “is contained
#   in” is another question than “resembles”.
# - Shi et al., *Large Language Models Can Be Easily Distracted by Irrelevant Context* (2023): what one superfluous sentence
#   does.
# - Lessons [05](05_needle_position.ipynb) and [06](06_needle_length.ipynb) of this course: place and rivals, each measured on
#   its own, on the same model.
# - The [glossary](00_start_here.ipynb#Glossary): one meaning for each word of this course.
