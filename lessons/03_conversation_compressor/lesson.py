# %% [markdown]
# # 03 · The conversation compressor
#
# *About 85 minutes, 45 of them for the exercises. QUICK runs in about two minutes on two cores. Words with a fixed meaning are in
# the [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** shorten a conversation in five ways without taking a tool call apart; say what each of them loses, and what a
# summary costs; refuse a summary that does not shrink; and measure a compressor by two figures, what it leaves and what survives
# in it.
#
# **It measures** how much of twenty documents is left by truncation, by key sentences and by a summary of the model's own, whether
# the text still holds the answer to a question that nobody had asked yet, and whether the model then finds it.

# %%
FULL = False  # True: ask about all twenty documents here (100 calls), and use your answers below instead of the shipped ones

# %%
from ctxcourse import load_model
from ctxcourse.plots import compress_plot
from ctxcourse.results import load_results

model = load_model()
shipped = load_results("compress")
compress_plot(shipped)

# %% [markdown]
# Twenty documents, each shortened to a quarter of its tokens in three ways, and then a question about each. A filled mark is a
# strategy: how far to the right says what it left, how high says in how many documents the answer was still *found*. The ring is
# another share, of the texts that still *hold* the answer, found or not. The dashed line is what the model finds in documents that
# nobody has shortened, and the band around it, like the whiskers, is a 95 % interval.
#
# In whole documents the model finds seventeen of twenty answers. After any of the three it finds six or seven, and the three
# marks stand so close together that nothing distinguishes them. The rings are where the marks are, but for one document of the
# summaries: nearly all that the shortened texts still hold is found.
#
# Note what the picture has two figures for. A compressor that is praised for its ratio alone is in good company: the empty string has
# a ratio of nought.

# %% [markdown]
# ## What there is to shorten
#
# The conversation of this lesson is a coding assistant's. It is short, as these things go, and it ships with the course.

# %%
from ctxcourse import load_sample
from ctxcourse.history import parted

session, tools = load_sample("coding_session")
opening, steps = parted(session)
len(session), len(steps), model.count_prompt(session)

# %%
[" + ".join(message["role"] for message in step) for step in steps[:6]]

# %% [markdown]
# Twenty-three messages, one of them the system message, and fourteen steps. A *step* is an assistant message with its tool calls and
# all of their results; any other message is a step of its own. The second one above has a call of two tools and both results.
#
# The step is the unit of everything below, and it is so for a plain reason. A result without its call answers a question that is not
# there. Several services refuse such a conversation with an error, which is the good case; a model that is run directly does not
# refuse, it reads a kind of text on which it was never trained and makes something of it. A compressor that counts messages will cut
# through a step sooner or later, as soon as the tenth message from the end happens to be a tool result. So here
# none of them can: what keeps a step keeps all of it, and what shortens texts inside leaves every call with its result.
#
# ## Five ways
#
# Truncation, sliding window, key sentences, rolling summary and recursive summary: these are the five that the lesson of the
# published texts teaches. Elision makes a sixth.
#
# **Truncation** keeps the newest whole steps that fit a budget of tokens. The system message stays.

# %%
from ctxcourse.history import Elision, RollingSummary, SlidingWindow, Truncation

made = Truncation(budget=600).compress(session, model)
made.tokens_before, made.tokens_after, len(made.messages), made.notes

# %% [markdown]
# Every compressor of messages in this course is an object with that one method, and returns that one thing: the new messages, the
# tokens of the whole prompt before and after, what it spent, and notes in words. Truncation stops at the first step that does not
# fit, and so 66 tokens of the budget remain unused. It does not look whether an older and smaller one would: a conversation with
# a hole in it is a different conversation.
#
# **A sliding window** keeps the last so many messages. Where it would begin inside a step it takes in all of it.

# %%
for last in (2, 4, 6):
    made = SlidingWindow(last).compress(session, model)
    print(last, "messages asked for,", len(made.messages) - 1, "kept,", made.tokens_after, "tokens")

# %% [markdown]
# A window is the easiest of all to explain, and, like elision, it has no size in tokens that is known beforehand: six messages
# may be a hundred tokens or thirty thousand.
#
# **Elision** goes for what is large instead of what is old. In an agent's history most tokens are tool results, and most of these
# could be fetched again. So the old ones are replaced by a line that says what was there, how long it was, and how to get it
# back. `after=1` keeps the results of the newest turn.

# %%
made = Elision(after=1).compress(session, model)
print(made.tokens_after, made.notes)
[message["content"] for message in made.messages if message["content"].startswith("[elided")]

# %% [markdown]
# All 23 messages are still there, every word that a human or the assistant said among them, and a third of the tokens is gone.
# Its price is that a tool may have to be called again.
#
# **Key sentences** are for documents more than for conversations: the sentences whose words matter most in the text, kept as they
# stand and in their order. Nothing is written anew, so nothing can be made up. Here is the first of the twenty documents, at a quarter
# of its length.

# %%
from ctxcourse.history import key_sentences
from ctxcourse.samples.documents import load_documents

documents = load_documents()
first = documents[0]
quarter = model.count_text(first.text) // 4
key_sentences(first.text, quarter, model)

# %%
first.question, first.answer

# %% [markdown]
# Gone. The sentence that names her was one of a dozen about desks, boxes and badges, and nothing in it said that it would be asked
# for. Further down there is a number for how often that happens.
#
# **A summary** is what everybody means by compression, and the only way that can say in ten words what took a hundred. It needs somebody
# to write it. In this course that is a *callable*: it takes the messages of a prompt and returns a text. Any model will do, and in the
# tests of the course it is a function of one line.

# %% tags=["nbval-ignore-output"]
from ctxcourse.history import Metered, summary_prompt


def summarise(prompt):
    return model.complete(prompt, max_new_tokens=200).text


metered = Metered(summarise, model)
print(metered(summary_prompt(first.text, quarter)))
metered.spent, metered.calls

# %% [markdown]
# Read it against the document (`print(first.text)`). Does it name her? Does everything that it says stand in the text? And is it a
# quarter as long, as it was asked to be? A model cannot count its tokens, so it was asked in words, and what it makes of that is its own
# affair. `Metered` is the control for what it costs: the tokens of every prompt that the summariser read and of every answer that it
# wrote.
#
# ## A summary must shrink
#
# Because the summariser is its own master, there has to be a rule for when it is wrong. The rule of this course is: a summary has to
# be shorter than what it replaces, and it must not be empty. Otherwise it is **refused**, and what it cost stays in the bill. The
# **rolling summary** puts that to work on a conversation. Past a threshold of tokens, everything but the newest messages is replaced by
# one summary; the next one is written of the last and of what has become old since.

# %%
def brief(prompt):
    return "The test of days_until counted from today. Ines Duarte wrote it (3f9a1c7); it now takes the day as an argument."


made = RollingSummary(brief, threshold=1_200, summary_tokens=200).compress(session, model)
print(made.tokens_after, made.spent_tokens, made.notes)
made.messages[1]

# %% [markdown]
# The summary comes as a message *from the user*, behind the system message. That is deliberate: what users and tools wrote must not gain
# a system message's authority by being retold. Now with a summariser that does what small models like to do, and gives back what it was
# given:

# %%
def parrot(prompt):
    return prompt[-1]["content"]


made = RollingSummary(parrot, threshold=1_200, summary_tokens=200).compress(session, model)
made.tokens_after, made.spent_tokens, made.notes

# %% [markdown]
# Refused: its summary had 1,271 tokens in place of 1,251. The conversation was brought under the threshold in another way, by elision,
# and 2,616 tokens were spent for nothing. Where even that does not help, an error says by how much; what never happens is that the prompt
# grows and nobody is told.
#
# For a text that is too long to be summarised in one go there is `recursive_summary`: the text in pieces, a summary of each, and then a
# summary of the summaries, until the target is reached. It is held to the same rule, round by round, so that it ends whatever the
# summariser answers.

# %%
from ctxcourse.history import recursive_summary

book = "It rained on the third day, and nobody had brought a coat. " * 200
summary = recursive_summary(book, lambda prompt: "It rained.", chunk_tokens=400, target_tokens=20, counter=model)
summary.tokens_before, summary.tokens_after, summary.calls, summary.rounds, summary.spent_tokens

# %% [markdown]
# ## What a summary costs
#
# The old messages have to be read once more in order to be summarised. Against that stands what every later call saves. The figure to
# know is the number of calls after which the summary has paid for itself.

# %%
made = RollingSummary(brief, threshold=1_200, summary_tokens=200).compress(session, model)
saved = made.tokens_before - made.tokens_after
saved, made.spent_tokens, round(made.spent_tokens / saved, 2)

# %% [markdown]
# A little more than one call. With an agent that makes three calls a turn that is before the next answer; in a session that ends here, it
# is a loss. Two things are not in this figure. A summary written by a larger model has larger tokens. And the prompt changes behind the
# system message, so that a prefix cache has to compute everything after that point again: lesson 08 counts that. Truncation and windows
# cost nothing to make, and they break the prefix just the same, a window even at *every* call.
#
# There is a cost of another kind, which shows only in long sessions: the compressor itself has to count. If it renders the
# remaining conversation again for each message that it takes away, a history of a thousand messages is counted five hundred times
# over. Here a history is counted once for its size, each step that is considered once by itself, and the result once more as a
# whole, so that trimming is linear in the length of the history. Cut down to half its size, a history of 10,000 messages is
# rendered 2.00 times a message, against 7.49 times by the bisection of langchain-core's `trim_messages`. What costs most is the
# tokenizing, though, and this course's tokenizer remembers the pieces of prompts that it has seen: each message is tokenised
# once, whoever asks. So with the same counter the peer takes only 1.3 times as long (the course's repository holds the table and its
# script; both kept exactly the same messages).
#
# ## One loop
#
# Since all compressors have one method and return one thing, a comparison is a loop. Key sentences and the recursive summary
# take a text, and not a conversation. So there is one more compressor, `Shortening`, which is made of any callable that takes a text,
# a budget and a counter. Of the messages older than the newest four it brings all texts above one length down to that length, the
# largest at which the whole prompt fits. Calls stay as they are, and what comes back no shorter is not used.

# %%
from ctxcourse.history import RecursiveSummary, Shortening

made = Shortening(budget=1_200, shorten=key_sentences).compress(session, model)
print(made.tokens_after, made.notes)
made.messages[11]["content"]

# %% [markdown]
# All 23 messages are still there, eight of them shorter. This one was an answer of two sentences, the first of which named Ines Duarte and
# her commit. With `RecursiveSummary(summarise)` in place of `key_sentences` the model retells each of the eight, at one call for each
# or more; a text whose summary is refused stays whole, and where the others cannot make up for it you get the error. It is one
# more line for the loop below, which does without it, to be quick.
#
# **Predict before you run.** Five compressors, and three things that somebody may want to know later. `3f9a1c7` is a commit that a tool
# reported and the assistant repeated. `Tomasz Wilk` wrote another commit; he stands in a tool's result and nowhere else. `line 34` is in the
# assistant's last message. Which compressor keeps which? There are fifteen answers to write down.

# %% jupyter={"outputs_hidden": true} tags=["nbval-ignore-output"]
import pandas as pd

compressors = {
    "truncation": Truncation(budget=600),
    "sliding window": SlidingWindow(last=6),
    "elision": Elision(after=1),
    "key sentences": Shortening(budget=1_200, shorten=key_sentences),
    "rolling summary": RollingSummary(summarise, threshold=1_000, summary_tokens=200),
}
facts = ("3f9a1c7", "Tomasz Wilk", "line 34")
rows = {}
for name, compressor in compressors.items():
    made = compressor.compress(session, model)
    text = "\n".join(message["content"] for message in made.messages)
    rows[name] = {"tokens": made.tokens_after, "ratio": round(made.ratio, 2), "spent": made.spent_tokens} | {
        fact: fact in text for fact in facts
    }
pd.DataFrame(rows).T

# %% [markdown]
# Truncation and window know nothing older than the last turn or two. Elision keeps the commit, since the assistant had said it,
# and loses the name that only a tool had said, though it knows where to get it again. Key sentences keep the commit for another
# reason: the sentence in which the assistant had said it is gone, but the tool's table of commits, which without a full stop is one
# sentence and too long, was cut to its beginning, and it begins with this one. What the summary keeps is what this model thought
# worth keeping, and your table may say something else for another model: `made.messages[1]` has it in its own words. That the
# assistant had repeated the commit helped in one row of five: it is still there where the tool's result has been elided.

# %% [markdown]
# ## Move it yourself
#
# The slider is the budget for this conversation. Each row is a compressor, each mark a message, oldest first. Two questions to answer
# with it. At which budget does truncation lose the turn with the question about who wrote the test? And below which budget can elision
# not go, and why?

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import history_explorer

history_explorer()

# %% [markdown]
# ## Compression against retention
#
# Conversations are hard to score. Documents with a question and an answer are not, so the measurement is made on twenty of those,
# written for this course and invented throughout, so that no model can know an answer from elsewhere. Answers stand at the
# beginning, in the middle and near the end, in turn. Each strategy may keep a quarter of the tokens.
#
# The rules, before the answers. The *ratio* is the tokens after divided by the tokens before. A text *holds* the answer if it has
# it in the document's words or in others that were listed beforehand, such as *March 27* for *27 March*. The answer is *found* if
# the model names it, and names none of the other expressions of its kind in the text before it. A summary over its quarter is cut
# to it, and not refused, so that all strategies have the same size. And no strategy gets to see the question.
#
# That last rule is easily broken, so here is what it is worth. No model is needed for it.

# %%
from ctxcourse.tokens import truncate

held = dict.fromkeys(["truncation", "key sentences", "key sentences that know the question"], 0)
for document in documents:
    quarter = model.count_text(document.text) // 4
    held["truncation"] += document.holds(truncate(document.text, quarter, model))
    held["key sentences"] += document.holds(key_sentences(document.text, quarter, model))
    known = key_sentences(document.text, quarter, model, query=document.question)
    held["key sentences that know the question"] += document.holds(known)
held

# %% [markdown]
# Seven of twenty, seven of twenty, fifteen of twenty. The first two are what compression is: whoever keeps a quarter of a text
# without knowing what it will be asked for keeps few of the answers. For truncation the seven is our own doing, since seven
# answers were put at the beginning; with other documents it is another number. For key sentences, which kept two from the
# beginning, four from the middle and one from the end, it is a finding about these twenty texts. The third is retrieval. It is
# the better thing to do wherever the question is known and the document still at hand, and it is not compression, since a
# conversation has to be shortened *before* its next question is asked. Figures of the third kind are often published as figures
# of the first.
#
# **Predict before you run.** The picture has shown that the summaries hold seven of the twenty answers, as many as the other two.
# *Which* seven? Those of truncation, those of the key sentences, or seven others? QUICK asks about the first three documents now;
# the table under the dots is made of all twenty.

# %% tags=["nbval-ignore-output"]
from ctxcourse.experiments import compress

live = compress.run(compress.calls(documents=20 if FULL else 3), model)
both = live.merge(shipped, on=["document", "strategy"], suffixes=(" here", " shipped"))
agree = int((both["answer here"] == both["answer shipped"]).sum())
frame = live if FULL else shipped
f"{agree} of {len(live)} answers are the shipped ones; {live.attrs['provenance']['seconds']:.0f} seconds"

# %% jupyter={"outputs_hidden": true}
compress.cells(frame).round(2)

# %% [markdown]
# Whole documents: 17 of 20. That is the ceiling, since what is not found there no compressor has lost. `holds` is 0.35 three times,
# seven of twenty for the summary, too; found are seven, seven and six. And the summary alone had a price: 632 tokens a document, read and
# written, to turn 394 into 97.
#
# A model that has read the whole document keeps no more of its answers than a knife does that has read none. Now for which seven.

# %%
held = frame.pivot(index="document", columns="strategy", values="holds")
(held["summary"] == held["truncation"]).value_counts().rename_axis("summary and truncation agree").to_frame("documents")

# %% [markdown]
# The same seven, and they are those that have their answer at the beginning. Asked for a quarter, the model wrote past it in
# nineteen documents of twenty: eighteen answers were stopped at 150 tokens, one ended by itself at 135. The experiment then cut
# them to the quarter, so that what is compared here is the first quarter of the document with the first part of the model's
# retelling. Read a few of them (the column `text`). Most keep the order of the document, some sentences word for word, and so the
# cut falls on the same answers. It is a truncation, then, at a price. Whether a larger model keeps to the length has not been
# measured here; the two columns tell you of yours what its fluent sentences will not.
#
# The strategies share their documents, so they are compared in pairs, as in lesson 05: in how many documents did one find the answer
# and the other not?

# %%
from ctxcourse.stats import mcnemar

found = frame.assign(found=frame["kind"] == "hit").pivot(index="document", columns="strategy", values="found")
pairs = [("full", "summary"), ("summary", "truncation"), ("summary", "key sentences"), ("truncation", "key sentences")]
tests = [mcnemar([bool(hit) for hit in found[one]], [bool(hit) for hit in found[other]]) for one, other in pairs]
index = pd.Index([f"{one} − {other}" for one, other in pairs], name="pair")
pd.DataFrame([test._asdict() for test in tests], index=index).round(3)

# %% [markdown]
# One of the four: whole documents against summaries, eleven to nought, p = 0.001, well below 0.0125, which is 0.05 divided by the four
# comparisons. The other three say nothing, and that is not the same as saying that the strategies are equal. Twenty documents cannot see
# a difference of ten points. (Look at the last row: truncation and key sentences find seven each, but only two of them are the same.)
#
# And where were answers lost? A text that does not hold the answer lost it in the compression. One that holds it and whose answer was
# not found lost it in the reading. They are different failures with different remedies.

# %%
where = frame["holds"].map({True: "in reading", False: "in compression"})
lost = frame.assign(outcome=where.where(frame["kind"] == "miss", "found"))
lost.groupby(["strategy", "outcome"]).size().unstack(fill_value=0)

# %% [markdown]
# Thirteen texts of each strategy no longer hold their answer. Three of these answers were not found in the whole document either,
# so that ten are the compressor's loss. No answer was found in a text that does not hold it (`frame[(frame.kind == "hit") &
# ~frame.holds]` is empty); one was found that the summary words otherwise, *March 27* for *27 March*.
#
# One summary, to see what such a failure looks like:

# %%
missed = frame[(frame["strategy"] == "summary") & ~frame["holds"]].iloc[0]
document = next(document for document in documents if document.title == missed["document"])
document.question, document.answer, missed["answer"], missed["text"]

# %% [markdown]
# The document says that *orders-shard-1*, the oldest machine, was suspected first and was innocent, and that it was *orders-shard-3*.
# The summary got as far as the suspicion. And the model, asked which shard was responsible, does not say that the text leaves it
# open: it names the innocent one. A compressor that breaks off in the middle of a story does not leave a gap. It leaves another story.
# (In lesson 08 the same thing happens to an agent.)
#
# ## Published / yours
#
# Three rules of thumb are published for compressors, without a model or a measurement beside them. They can be checked with a
# calculator.
#
# **“Ten turns of 2,000 tokens become 100.”** The source leaves open whether the ten turns have 2,000 tokens together or each. Take the
# friendlier reading: 20 to 1, where the picture above is about 4 to 1. A hundred tokens for ten turns are ten tokens for each. What fits
# into ten tokens?

# %%
notes = ["File tickets under employee number 4417.", "The affected shard is pay-shard-7, confirmed by payments."]
{note: model.count_text(note) for note in notes}

# %% [markdown]
# Not quite one fact a turn, even if it is worded by somebody who knew which one it would be, and nothing else that was said.
#
# **“Fifty pages become 500.”** A page of print has some 500 words; in this lesson's documents a word is so many tokens:

# %%
words = sum(len(document.text.split()) for document in documents)
tokens = sum(model.count_text(document.text) for document in documents)
pages = 50 * 500 * tokens / words
round(tokens / words, 2), round(pages), f"{pages / 500:.0f} to 1"

# %% [markdown]
# **“Past 5,000 tokens, keep the newest four messages and summarise the others.”** These are the defaults of `RollingSummary`. On the
# conversation of this lesson nothing happens, since it is smaller. And four messages are no size. Here the newest step is a tool's
# answer of more than 6,000 tokens, as anybody gets who lets an agent read a log:

# %%
from ctxcourse.history import HistoryError

call = {"id": "log", "type": "function", "function": {"name": "read_file", "arguments": {"path": "app.log"}}}
result = {"role": "tool", "tool_call_id": "log", "content": "2026-03-01 ok\n" * 500}
log = [{"role": "assistant", "content": "", "tool_calls": [call]}, result]
try:
    RollingSummary(brief).compress([*session, *log], model)
except HistoryError as error:
    print(error)

# %% [markdown]
# No summary of anything older can help there, so none is paid for. Whoever only counts messages would have summarised the history and
# sent a prompt that still is too long.

# %%
strategies = compress.cells(frame).set_index("strategy")
ours = [f"{row.ratio:.0%}, found {row.hit} of {row.n} ({row.low:.0%} to {row.high:.0%})" for row in strategies.itertuples()]
theirs = {"summary": "5 % (ten turns), 1.7 % (fifty pages); retention not given"}
index = strategies.index
pd.DataFrame({"published": [theirs.get(name, "not given") for name in index], "yours (Wilson 95 %)": ours}, index=index)

# %% [markdown]
# The published column names no model. Ours is Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32, and a model of half
# a billion parameters is no great writer of summaries. What a larger one keeps has not been measured here; that is what the
# measurement is there for. Put in your own.
#
# The published compressor, by the way, takes the first 100 characters of every old message for a summary and appends it to the summaries
# there are. It has two faults. One of them shows in the first long message, the other in the first long session, and neither shows in an
# example of ten short turns. The third exercise is about them.
#
# ## What it means for your agent
#
# Start with what can be fetched again. Eliding old tool results gains less than the others, a third of the tokens in this
# conversation; it keeps every word that was said, needs no model, and its failure is visible: the agent has to call a tool once
# more.
#
# Summarise late and seldom, since each summary is paid for, and each is written of the last. Name in the instructions what must not be
# lost, such as numbers, identifiers and standing orders. Then do not trust it: keep what *must* survive somewhere else (lesson 08 pins it,
# lesson 09 stores it).
#
# Refuse a summary that does not shrink, and log that it happened. And measure retention on questions that your users ask, which is what the
# last section is for.

# %% [markdown]
# ## Practice
#
# Not graded. Write `payback(before, after, spent)`: after how many further calls a compression has paid for itself, that is, has saved at
# least what it cost. A compression that cost nothing has done so after 0 calls; one that does not shrink and costs something never will:
# `None`.

# %% tags=["practice"] question="payback"
def payback(before, after, spent):
    raise NotImplementedError("Need to implement payback")


# %% [markdown] tags=["hint"] question="payback"
# Every later call saves `before - after`. Rounding has to go up: half a call saves nothing.

# %% tags=["practice-solution"] question="payback"
def payback(before, after, spent):
    if spent == 0:
        return 0
    # -(-a // b) is a / b, rounded up, without a detour through floats
    return -(-spent // (before - after)) if after < before else None


# %% [markdown]
# `hint("payback")` and `solution("payback")` help, after `from ctxcourse.learn import hint, solution`.

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("03_conversation_compressor")

# %% [markdown]
# ## Your own conversation, in five minutes
#
# 1. Save a conversation of an agent of yours as JSON: a list of messages in the OpenAI chat format, or an object with `messages` and
#    `tools`, which is what most frameworks log. `samples.read_request("session.json")` reads it, in place of `load_sample()`.
# 2. Write down three to five things that your agent has to know at its end, as they stand in the text.
# 3. Choose a budget. The cell below compresses with each strategy and says which of the facts are still there.

# %% tags=["nbval-ignore-output"]
from ctxcourse import samples

mine = samples.load_sample().messages  # yours: samples.read_request("session.json").messages
needed = ["Tomasz Wilk", "3f9a1c7", "59 was right"]
budget = model.count_prompt(mine) * 2 // 3

compressors = {
    "truncation": Truncation(budget),
    "sliding window": SlidingWindow(last=12),
    "elision": Elision(after=1),
    "rolling summary": RollingSummary(summarise, threshold=budget, summary_tokens=budget // 5),
}
rows = {}
for name, compressor in compressors.items():
    made = compressor.compress(mine, model)
    text = "\n".join(message["content"] for message in made.messages)
    rows[name] = {"tokens": made.tokens_after, "spent": made.spent_tokens} | {fact: fact in text for fact in needed}
pd.DataFrame(rows).T

# %% [markdown]
# A fact that is in none of the rows but the first was lost by the others; one that is in all of them was probably said twice. A better
# summariser is one function away: `summarise` may ask any model you like.
#
# ## Exercises
#
# `exercises/03_conversation_compressor.ipynb` holds three graded questions: a compressor with three strategies and both of its figures,
# a window that keeps the task, and the published compressor with its two faults repaired.
#
# ## Further reading
#
# - Anthropic, *Effective context engineering for AI agents* (September 2025): compaction as agents do it in practice, with the advice to
#   clear old tool results first, which is what elision is.
# - Jiang et al., *LLMLingua: Compressing Prompts for Accelerated Inference of Large Language Models* (2023): drops single tokens that a
#   small model finds predictable. Read it for its ratios, and ask of each whether the compressor knew the question.
# - Jiang et al., *LongLLMLingua* (2023): the same, with the question known. The difference between the two is this lesson's seven and
#   fifteen.
# - Wu et al., *Recursively Summarizing Books with Human Feedback* (2021): summaries of summaries at the length of a novel, and where the
#   errors come from.
# - Xu et al., *RECOMP: Improving Retrieval-Augmented LMs with Compression and Selective Augmentation* (2023): extracted sentences against
#   written summaries, with the option to return nothing.
# - Mihalcea, Tarau, *TextRank: Bringing Order into Texts* (2004): key sentences by the links between them, a classic alternative to the
#   weights used here.
# - The [glossary](00_start_here.ipynb#Glossary): one meaning for each word of this course.
