# %% [markdown]
# # 08 · Same transcript, different memory
#
# *About 90 minutes, 45 of them for the exercises. QUICK runs in about a minute on two cores: it asks the twelve questions of the
# control. FULL asks all 120 and makes both tables again, in about a quarter of an hour, as `ctxcourse agent probe --policy all` does in
# a terminal. Words with a fixed meaning are in the [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** say of a memory policy what it keeps, what it is billed and what a prefix cache makes of it; tell a fact
# that is gone from one that is there and not used; read a table of six trials without seeing more in it than there is; and write
# down what you want to be able to inspect before you send a sub-agent.
#
# **It measures** eight policies, a control and a sub-agent on the recorded run of lesson 07: the tokens billed, the tokens that a
# cache would have had to compute, and the answers to twelve questions about two facts that were said at turns 2 and 19.

# %%
FULL = False  # True: ask all questions and make all bills here, and use yours below instead of the shipped ones

# %%
from ctxcourse import load_model
from ctxcourse.agent import comparison, probe_table
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.plots import policies_plot
from ctxcourse.results import load_results

model, run = load_model(), shipped_run()
probes, bills = load_results("probes"), load_results("bills")
if FULL:
    compared = comparison.compared_policies(model, run)
    probes, bills = probe_table.run(compared, run.messages, run.tools, model), comparison.bills(run, compared, model)
table = probe_table.cells(probes).merge(bills, on="policy")
table.attrs = probes.attrs
policies_plot(table)

# %% [markdown]
# To the right is what the run costs, upwards what is still known at its end. The place to be is the upper left corner. The
# whiskers are 95 % intervals of twelve answers each; a wide and pale one lies beneath another at nearly the same bill.
#
# Three things to see. The *sliding window* has the smallest bill of all that hold the conversation, and of twelve questions it
# answers none. *Full history* stands furthest to the right: every word that was ever said is in its prompts, and five of its
# twelve answers are wrong all the same; nothing had been forgotten there. And *user messages + last turns* stands above full
# history, at 43 % of its bill. Whether “above” means anything with twelve answers is one of the questions of this lesson.

# %% [markdown]
# ## One recording, ten ways to remember it
#
# The run of lesson 07 has forty turns and 60 calls. At turn 2 the user sets a rule, at turn 19 states a fact, and turn 40 asks
# for a ticket that needs both. (No ticket came of it, see there.)

# %%
from ctxcourse.agent.probes import FACTS, before_last_turn, held, planted

calls = run.calls()
for index in planted(before_last_turn(run.messages)):
    print(index, run.messages[index]["content"])

# %% [markdown]
# A *policy* decides before each call what the model is given of the conversation. Here it is *replayed*: the recording stays as
# it is, and at each of the 60 calls the policy is shown all that stood before it. So every policy is held against the same words.
# What this cannot show is where the agent would have gone with less in its prompt; it would have said other things, and the rest
# of the run would be another one.
#
# The protocol is small. `policy.start()` gives a memory for one run, and `memory.prompt(messages, counter)` what the next call is
# sent. Six of the eight that hold a conversation ask nobody and remember nothing:

# %%
from ctxcourse.agent.comparison import PINNED
from ctxcourse.policies import (
    FullHistory,
    GivenMessages,
    Pinned,
    SubAgent,
    UserMessages,
    elided_results,
    sliding_window,
)

policies = [
    FullHistory(),  # everything
    sliding_window(last=12),  # the last twelve messages, in whole steps
    elided_results(after=4),  # everything, but a stub of one line for each tool result older than four turns
    UserMessages(last=4),  # all that the user ever said, and the last four turns whole
    Pinned(PINNED, "system"),  # a window of twelve, and a block of text in the system message
    Pinned(PINNED, "end"),  # the same block as the last thing in the prompt
]
print(PINNED)

# %% [markdown]
# Two are written by a model. *Compaction* retells everything but the newest messages in one running summary, once a prompt would
# have more than 5,000 tokens, the definitions of the tools included; its summariser is told that identifiers, standing rules and
# what was confirmed must not be lost. *Compaction + notes* has a note-taker besides, who answers each message of the user with one
# short note, or with NONE. Any callable may be the helper. This one loses everything:

# %%
from ctxcourse.agent.comparison import COMPACTED_AT
from ctxcourse.policies import Compaction, replay
from ctxcourse.tokens import catalogue_cost


def brief(prompt):
    return "Payments time out. The logs, the metrics and the runbooks have been looked through."


room = COMPACTED_AT - catalogue_cost(run.tools, model).total  # a policy counts without the tools
forgetful = Compaction(brief, threshold=room, name="a summary that says nothing")
kept = replay(run.messages, forgetful, model, [call.index for call in calls])
room, [(call.turn, each.notes[0]) for call, each in zip(calls, kept, strict=True) if each.helper_calls]

# %% [markdown]
# And two are no way to hold a conversation. The *control* is given the two planted messages and the question: if that is not
# answered, the question was bad. The *sub-agent* is one that was sent at turn 19 and saw turns 17 to 19. Both are billed for a
# single prompt.

# %%
given = planted(before_last_turn(run.messages))
others = [GivenMessages(given), SubAgent(17, 19)]

# %% [markdown]
# **Predict before you run.** The next cell makes the prompt with which turn 40 begins under each of these policies, before the
# agent has said or called anything. For which of them is the number 4417 still there? And the shard?

# %%
import pandas as pd

ask = next(call for call in calls if call.turn == calls[-1].turn)
opening = calls.index(ask)
rows = {}
for policy in [*policies, forgetful, *others]:
    prompt = (kept[opening] if policy is forgetful else policy.start().prompt(run.prompt(ask), model)).messages
    number, shard = (held(fact, prompt) for fact in FACTS)
    size = model.count_prompt(prompt, run.tools)
    rows[policy.name] = [len(prompt), size, number.present, number.stated, shard.present, shard.stated]
columns = ["messages", "tokens", "number present", "number stated", "shard present", "shard stated"]
pd.DataFrame(rows, index=columns).T

# %% [markdown]
# *Present* means that the identifier stands there at all, *stated* that something there says what it stands for. The two part
# company in a log that names eight shards: `pay-shard-7` is present in it and stated nowhere. The rules are in the documentation
# of `ctxcourse.agent.probes`, and they were written before an answer was seen. (How an answer may begin, further down, was not:
# that rule came after an earlier recording, whose agent mostly gave the questions back.)
#
# The window has lost both facts. Elision, the user's messages and the pinned blocks have kept them, at quite different prices. No
# model was needed for this table, and it is the firmest result of the lesson: what is not in the prompt cannot be remembered,
# whatever the model.
#
# One row ought to surprise you. A summary that says nothing states the employee number? Here is what does, in the messages that
# the summary left as they were:

# %%
for message in kept[opening].messages:
    if held(FACTS[0], [message]).stated:
        print(message["role"], message.get("tool_calls", message["content"]))

# %% [markdown]
# It is the agent's own call of turn 34, which looks for another person and puts the number from the user's rule beside her name,
# and the error that came of it. The rule for *stated* knows words and no meaning, and a call with the number as its
# `employee_number` is enough for it. Keep this row in mind for the two compactions that did have a summariser.

# %% [markdown]
# ## What each is billed

# %%
whole = bills["billed_tokens"].iloc[0]
costs = bills.assign(share=(bills["billed_tokens"] / whole).map("{:.1%}".format)).set_index("policy")
costs[["prompts", "billed_tokens", "share", "helper_tokens", "helper_calls", "no_summary", "last_prompt"]]

# %% [markdown]
# The window saves 61 %, user messages + last turns 57 %, elision 31 %. (The two planted messages and the twelve tools make a
# prompt of about 2,000 tokens, of which the definitions are 1,817. No policy can go below that: it would take lesson 04.)
#
# Compaction asked its summariser seventeen times, for 44,547 tokens, and at eight prompts a summary was due and none came of it
# (the column `no_summary`): it was refused, or there was no room for one. Old tool results are then replaced by stubs, and where
# that is not enough the conversation stays as it was; which of the two it was, the table does not say. A refused attempt is paid
# for. The note-taker spent 5,072 more in forty calls. That is the smaller part of what they cost: with helpers or without, they
# are dearer than the window and than user messages + last turns, which need no model.

# %% [markdown]
# ## Twelve questions
#
# In place of turn 40, each policy is asked for the two facts, in six wordings each; greedy decoding makes one question a sample
# of one. All prompts carry the twelve tools, and calls are not allowed, as in the last answer of any turn. The first identifier
# in an answer decides: *correct*, or *another one* that stands in the prompt; an answer without any that says so *admits* it; the
# rest is *other*.

# %%
shown = ["policy", "fact", "present", "stated", "prompt_tokens", "correct", "other_identifier", "admits", "other"]
table[shown].round(0).astype({"present": bool, "stated": bool, "prompt_tokens": int})

# %% [markdown]
# Where a fact is not there, it is not answered, without an exception. Where it is there, it is answered in most cases and by no
# means in all. The column of admissions is empty. And nobody named a wrong shard or number *that stands in the prompt*, but for
# two answers under full history. Two more are as bad, and our rule does not see them: asked what employee number goes on the
# ticket, *elided tool results* says *Tom Okafor goes on it*, and *compaction + notes* names Samuel Reyes. The rule looks for
# numbers, so both are *other*.
#
# Figures like these want to be read beside the answers. First the row that has everything:

# %%
def answers(policy, fact):
    for row in probes[(probes["policy"] == policy) & (probes["fact"] == fact.sort)].itertuples():
        print(f"{row.wording} {row.kind:16} {row.answer[:115]!r}")


number, shard = FACTS
answers("full history", shard)

# %% [markdown]
# *Shard 5* is the failure to be afraid of: short, certain, an existing shard, and wrong. The user's sentence stood in that prompt,
# word for word, and two other wordings found it there. What else stood in it are its rivals:

# %%
from collections import Counter

for policy in (policies[0], policies[3]):
    prompt = policy.start().prompt(before_last_turn(run.messages), model).messages
    print(policy.name, Counter(held(shard, prompt).identifiers).most_common())

# %% [markdown]
# Other shards fill full history, by way of logs and of the agent's copies of logs; one of them is what the agent itself called a
# host at turn 17. Under *user messages + last turns* there is one shard in the whole prompt, so that there was none to confuse it
# with. That may be why it has two more right. With six questions it may also be nothing. What both have in common are answers
# that say no shard at all, *You tell her that the shard has the problem*: asked what to tell a colleague, the model gives the
# question back.
#
# Now the rows that do not have the fact:

# %%
answers("sliding window", number)
answers("compaction", shard)
answers("sub-agent", number)

# %% [markdown]
# *4041* and *1000000000* stand nowhere in the prompts that were answered. *123* does in the window's, though as no number: it
# still holds the handle *LenaBrandt123*, which the agent made up (lesson 07). Whether it was copied from there we cannot tell. (A
# pay-shard-1 there is, in logs that these prompts no longer had.) The last line of the sub-agent names INC-2041, which is the
# example in the definition of `get_ticket`. Not one of them says *I do not know*, although the system message asks for just that:

# %%
wrong = probes[probes["kind"] != "correct"]
unstated = wrong[~wrong["stated"]]
{
    "wrong answers": len(wrong),
    "that admit not knowing": int((wrong["kind"] == "admits not knowing").sum()),
    "of rows without the fact": len(unstated),
    "of these with a figure in them": int(unstated["answer"].str.contains(r"\d").sum()),
}

# %% [markdown]
# By our rules all thirty are *other*: an identifier that stands nowhere in the prompt as one of its sort, or none at all. On a
# screen an invented number looks like any other. Whoever reads *tickets are filed under employee number 12345* cannot tell that
# nobody ever said so.
#
# And the winner? *Pinned at the end* has twelve right of twelve.

# %%
answers("pinned at the end", number)
twice = probes["answer"].str.contains("4417") & probes["answer"].str.contains("pay-shard-7")
twice.groupby(probes["policy"], sort=False).sum().to_frame("answers with both facts, of 12")

# %% [markdown]
# It recites. Whatever is asked, it says the block, which is the last thing in its prompt, and the block has both facts in it. By
# our rules these are correct answers, and whoever asked does read the right number there. But a rule that looks for the right
# identifier cannot tell an answer from a recitation, and *how well is the question answered* is not what this row measures.
#
# One thing more shapes every answer here. As in the run (lesson 07), no answer may begin with the first token of a sentence of the
# question, or of one of the agent's last ten answers. For the first question these are:

# %%
asked = probe_table.probes([GivenMessages(given)], run.messages, model)
[model.decode(model.encode(text)[:1]) for text in probe_table.not_begun_as(asked, run.messages)[0]]

# %% [markdown]
# So *The affected shard is …* was open to nobody, and neither was *There is no …* as a way to admit. *I do not know* was open in
# eleven of the twelve questions, and not in the number's second wording, which begins with *I*: that is two of the thirty answers
# without the fact. The other twenty-eight could have said it, and none did. The rule is the same for all rows, and lesson 07 says
# why it is there. What the model would have answered without it we do not know, so compare the rows, and take no single sentence
# for what it would have said by itself.

# %% [markdown]
# ## Present in the prompt, or only looked past
#
# An agent that forgot is a different failure from one that carried the fact and did not look. The first has lost it in the
# policy, and another policy helps. The second has lost it in the reading, and keeping more does not help. For that reason each
# probe records whether its fact was there.

# %%
there = probes["stated"].map({True: "stated", False: "not stated"}).rename("the fact is")
probes.groupby([there, probes["kind"].rename("the answer is")]).size().unstack(fill_value=0)

# %% [markdown]
# Of 90 answers with the fact in the prompt 71 are right. The other nineteen were carried, paid for and not used. Of 30 without it
# none is right. Nearly all of a policy's work is in the difference between these two lines. For the rest it has other means: less
# beside the fact, another place for it, other words around it. Which of them helps, six trials cannot say. Wording has a part in
# it:

# %%
probes.assign(correct=probes["kind"] == "correct").pivot_table(
    index="wording", columns=there, values="correct", aggfunc="sum"
).astype(int)

# %% [markdown]
# Each wording has fifteen answers with the fact stated. *Complete this sentence …*, the fourth, got all fifteen; what to write on
# a form and what to tell a colleague, the second and the fifth, got nine. Whoever had asked with the fourth wording alone would
# now report that a fact in the prompt is always found. (And whoever picks it now, after the answers have been seen, picks what is
# convenient.)
#
# What of the compactions? The number is stated in the prompts of both, and answered five times and four times of six. Whether it
# is the summary that kept it cannot be read off this table, and the helper's texts do not ship. You have seen that a summary need
# not say a word for it: the agent's call of turn 34 states the number as long as it is among the messages left over. The shard is
# neither stated nor present in either. So neither the summaries nor the notes held it at the end, though the summariser is told to
# keep identifiers and what was confirmed, and the note-taker was shown the very message. More the table does not say, such as
# whether the shard was never written down, or was and went in a later retelling.

# %% [markdown]
# ## What six trials can say
#
# The block in the system message has three of six shards right, the block at the end six of six. Which is the better place?

# %%
from ctxcourse.stats import mcnemar, wilson

print({f"{hits} of 6": [f"{end:.0%}" for end in wilson(hits, 6)] for hits in (0, 2, 3, 4, 5, 6)})


def right(policy, fact):
    rows = probes[(probes["policy"] == policy) & (probes["fact"] == fact.sort)].sort_values("wording")
    return (rows["kind"] == "correct").tolist()


pairs = [
    ("pinned in the system message", "pinned at the end", shard),
    ("full history", "user messages + last turns", shard),
    ("full history", "control", shard),
    ("full history", "sliding window", number),
    ("pinned at the end", "sliding window", number),
]
for one, other, fact in pairs:
    hits = right(one, fact), right(other, fact)
    print(f"{fact.sort}: {one} {sum(hits[0])}, {other} {sum(hits[1])}, p = {mcnemar(*hits).p:.3f}")

# %% [markdown]
# 3 of 6 may be 19 % or 81 %, 6 of 6 may be 61 %. Three pairs of six differ, all in one direction, and that is p = 0.25: no
# significant difference. (The published table has 5 and 6 of 6 for the two places, where one pair differs.) Full history and user
# messages + last turns, 2 and 4: p = 0.5. Even 6 against 0, the largest difference that there can be, has a p of 0.031, and in a
# table with 45 pairs something of that kind is likely to turn up by chance. What six trials can do is modest: none of thirty
# answers without the fact was right (that this must be so, short of a lucky guess, needs no trial), and one greedy answer turned
# out to be no measurement.
#
# More wordings would narrow the intervals, though only of *these* two facts in *this* recording. The six wordings of one fact are
# not six independent trials; the recording is the trial, and there is one.
#
# ## Who wrote the block?
#
# The pinned block is two sentences that a person wrote who knew what would be asked. It is as if one took the two right pages out
# of a book and praised the book for being short. What the two pinned rows measure is where a fact should *stand*. How a system
# comes to know that this fact is worth pinning, out of forty turns, they do not measure, and that is the hard part. Where it is
# easy, as with standing orders, a rule can do it (*what the user says begins with “from now on”*), or a tool by which the agent
# writes down what it wants to keep, or the user, with a button. Lesson 09 builds the store for that. *User messages +
# last turns* kept both facts at less than half the bill without anybody's having known them: it bets that what matters
# was said by the user, which in this run is so because we wrote it.

# %% [markdown]
# ## What a cache would make of it
#
# So far each token cost the same. Most services, and every server with a prefix cache, compute only what stands behind the
# longest beginning that a prompt has in common with the one before, and charge less for the rest. In that currency the table
# looks different.

# %%
costs = bills.set_index("policy")[["billed_tokens", "recomputed_tokens"]].iloc[:8]
cached = costs["billed_tokens"] - costs["recomputed_tokens"]
costs.assign(at_a_tenth=(costs["recomputed_tokens"] + cached / 10).round().astype(int))

# %% [markdown]
# Full history is a cache's favourite: it only ever grows at its end, so that each token is computed once, 11,615 in all for
# 437,904 billed. The window has the smallest bill of the eight, and lets nearly five times as much be computed. The last column
# assumes that a token from the cache costs a tenth, which several services charge or come near to (look yours up; some also charge
# extra for writing to the cache). At that price **the window is dearer than keeping everything**. User messages + last turns is
# the cheapest of the eight, with elision and full history close behind it, and the compactions are the dearest: what a helper is
# sent is taken as computed whole. All this takes for granted that the cache still holds the prompt before; caches are often
# cleared after minutes.
#
# Why a window breaks it can be seen at any two calls behind each other:

# %%
from ctxcourse.agent.accounting import bill_of_prompts

found = {}
for policy in (FullHistory(), sliding_window(), UserMessages(), Pinned(PINNED, "end")):
    few = replay(run.messages, policy, model, [call.index for call in calls[38:45]])
    made = bill_of_prompts([each.messages for each in few], run.tools, model)
    found[policy.name] = {38 + each.call: each.prompt_tokens - each.recomputed for each in made.calls[1:]}
pd.DataFrame(found).T.rename_axis(columns="spared at call")

# %% [markdown]
# The figures are tokens that are spared. System message and tools are 1,895 of them (the buckets of lesson 07: 78 and 1,817), and
# the window is spared no more than these, as soon as it slides: the first message behind them is another one, and what follows
# has moved. That most of its messages are the same as before is of no use to a cache, which knows beginnings. Up to about sixty
# messages a *larger* window is worse here, since it has more to move; beyond that it slides so seldom that it gets better again.
# *User messages + last turns* breaks the prefix nearly once a turn, four turns back, elision only where a result grows old, and a
# compaction once in many turns: of the 58,683 tokens above only 14,136 are its own prompts', the rest is what its helper was
# sent. The block at the end moves at every call, though it is the last thing in the prompt, and what is last is computed anyway;
# what it costs is its own tokens, each time. A block in the system message costs a cache its own tokens once, as long as it stays
# the same. If it holds the time of day, everything behind it is computed at every call, in this template with the tools, since
# these come after the text of the system message. The second exercise puts numbers to both.
#
# A window that moves in jumps, by half its size when it is full, is cheaper in this currency than one that slides, and for the
# same reason a compaction with a cheap helper would be: do what breaks the prefix seldom, and then do much of it.
#
# ## Move it yourself
#
# The playground recounts the whole run at each move, in about half a second. Three questions for it. From which window on is the
# number stated, from which is the shard present, and from which is it stated? How do the recomputed tokens change on the way from
# 4 messages to 60? And how can *user messages + last turns* with one turn kept have *less* to compute than full history, which
# computes each token once?

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import policy_playground

policy_playground(run, model)

# %% [markdown]
# (The number is stated from 15 messages on, by the call of turn 34. The shard is present from 54 on, as one of several in a log,
# and stated from 61 on, which reaches back to the user's own sentence. The recomputed tokens rise from 21,058 to 168,515. And one
# turn kept means that an answer is never part of a later prompt, so that it is never read at all.)
#
# ## The ticket
#
# The recorded agent had full history. At turn 40 it was made to call a tool, and wanted to file the ticket:

# %%
filed = run.messages[ask.index]["tool_calls"][0]["function"]
tool = next(tool["function"] for tool in run.tools if tool["function"]["name"] == filed["name"])
print(filed["arguments"])
print("required:", tool["parameters"]["required"])

# %% [markdown]
# The call was refused, for two arguments that the tool does not have and a number that is a text; no ticket was filed (lesson
# 07). Beside the probes it says the same as they do. The number is right, thirty-eight turns after it was said, and in words it
# was right five times of six. The shard is missing, although the user asked for a ticket “for the shard that was affected”, and
# in words it was found two times of six. Both stood in the prompt.
#
# Look at the schema: `employee_number` is required, `shard` is not. With one call that is an observation, and no proof. Yet it is
# cheap to act upon: what a call must not lack should be required, because then leaving it out is an error that the agent gets to
# see.
#
# ## Ask it yourself
#
# The cell asks the *control* again, live: the two planted messages, the twelve tools, and the twelve questions.
#
# **Predict before you run.** It had eleven right of twelve. Which wording did it miss, and in what way, if it may not call a tool?

# %% tags=["nbval-ignore-output"]
live = probe_table.run([GivenMessages(given)], run.messages, run.tools, model)
live[["fact", "wording", "kind", "answer"]]

# %%
control = probes[probes["policy"] == "control"]
control[control["kind"] != "correct"][["fact", "wording", "answer"]].iloc[0].to_dict()

# %% [markdown]
# Your control should agree with the shipped one. *Not allowed* means that the answer was kept from beginning as a call does; it
# could not be kept from writing one as text, and here it did, with the example from the definition of `get_ticket` where the
# ticket should stand. That is the reason to have a control. A question that is missed with nothing but the fact in the prompt is
# a bad question, or a bad moment of the model, and says nothing about the memory of any row.

# %% [markdown]
# ## Published / yours
#
# The published run was made by another model, Qwen2.5-0.5B-Instruct, in a conversation of its own with 57 calls; ours is that of
# Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32. Nothing was adjusted to fit.

# %%
published = {
    "full history": ("370,291", "both remembered"),
    "sliding window": ("57 % less", "shard 0/6; the number, because the agent had repeated it"),
    "elided tool results": ("not given", "not given"),
    "compaction": ("18,581 for 7 summaries", "shard 0/6"),
    "compaction + notes": ("3,392 more for notes", "shard 0/6"),
    "user messages + last turns": ("168,550 (54 % less)", "both, as well as full history or better"),
    "pinned in the system message": ("not given", "5/6"),
    "pinned at the end": ("not given", "6/6"),
    "control": ("1,981", "all"),
    "sub-agent": ("2,737", "shard 6/6, number 0/6, and said so"),
}
right = probes[probes["kind"] == "correct"].groupby(["policy", "fact"]).size()
rows = []
for row in bills.itertuples():
    scores = [f"{fact.sort} {right.get((row.policy, fact.sort), 0)}/6" for fact in FACTS]
    rows.append([*published[row.policy], f"{row.billed_tokens:,}", ", ".join(scores)])
columns = ["published: billed", "published: remembered", "yours: billed", "yours: remembered"]
pd.DataFrame(rows, index=bills["policy"], columns=columns)

# %% [markdown]
# The bills agree in their proportions: 61 % less for the window against 57 %, 57 % less for user messages + last turns against
# 54 %, and prompts of about 2,000 tokens for the control. Our summariser cost more than twice as many tokens as theirs, and at
# eight prompts nothing came of it.
#
# What was remembered agrees in outline, too. Window and both compactions lose the shard; the user's messages with the last turns
# do no worse than full history, at less than half its bill; the sub-agent has six of six for the shard and none for the number.
# Several things differ. Under full history *both remembered* is too much to say of ours, with two shards of six. Our window has
# lost the number as well: our agent had repeated it, too, at turns 3 and 34, and the second time lies just outside its twelve
# messages. The block in the system message has three of six shards where five of six were published, and our control misses one of
# twelve where theirs missed none; with six trials neither is a difference to build on. And the published sub-agent said that it did
# not know the number, where ours named numbers that nobody had said.
#
# Published is, besides, that of eighteen wrong answers of the window and the two compactions not one said “I don't know”. None
# of ours did, in any row. Two models, two recordings and two conversations differ here at once, so that neither what agrees nor
# what differs has a single cause; and our probes were written, and asked under the first-token rule, by us.

# %% [markdown]
# ## A summary that somebody else wrote
#
# The sub-agent's prompt was little more than a fifth of that of full history, and the shard was stated in it. What its parent
# gets is a sentence or two. Here are the answers that it gave about the shard, and about the number, which it had never been
# told:

# %%
probes[(probes["policy"] == "sub-agent") & probes["wording"].isin([1, 2, 4])][["fact", "stated", "kind", "answer"]]

# %% [markdown]
# Look at *pay-shard-7 is the affected shard*. It happens to be right. *The employee number is 1000000000* sounds no less certain,
# and is made up. A parent that has only these sentences cannot tell the one from the other, nor whether the user had said so, a
# log had named it along with others, or nobody had. A compaction's summary is of the same kind, a sub-agent's answer to the
# question *what was that?*, and what it cost you to read it is not what it costs to check it. So before you send one:
#
# - **Does the answer come with its sources?** Message numbers, or calls by id, for each identifier in it. A claim without one is
#   a guess.
# - **Can the parent read them?** The sub-agent's transcript has to be kept, outside the prompt, where the parent can open a page
#   of it.
# - **Which identifiers in the answer did nobody say?** No model is needed for that: see the third exercise.
# - **Which did only the sub-agent say?** Its own earlier sentence is not a source. In this run the agent says at turn 3 that
#   INC-2381 is filed under 4417. No tool had said so; the user had given the rule a turn before.
# - **What was it not shown?** All but turns 17 to 19, in ours. “I have no number” would have been a good answer, “there is no
#   number” a false one, and ours gave neither.
# - **What could it call, and what did it call?** A sub-agent that files the ticket has acted in your name. The parent should see
#   the calls, and not only the report on them.
# - **What did it cost?** Its tokens are in nobody's prompt, and on the bill.

# %% [markdown]
# ## What it means for your agent
#
# Begin with what costs nothing to know: go through a recorded run, and list for each policy whether what you need at the end is
# *stated* in the prompt, and by whom. In this run the window was out before a model was asked.
#
# Count in both currencies. With a cache, what breaks the prefix seldom is cheap; without one, what is short is.
#
# Keep what users say. It is a fifteenth of the last prompt here, and most of what is binding. Drop old results first, they can be
# fetched again.
#
# If a model writes the memory, check it as you would any other output: count the summaries that came to nothing, and look for
# each identifier that you cannot do without. Do not rely on the agent to say what it has lost; in none of 49 wrong answers did
# ours. And make the arguments required that a call must not lack.

# %% [markdown]
# ## Practice
#
# Not graded. Write `at_price(billed, recomputed, discount)`: what a run costs, in whole tokens of the full price, if a token from
# the cache costs `discount` of one. Everything that was billed and not recomputed came from the cache. Round to the nearest whole
# token.

# %% tags=["practice"] question="at_price"
def at_price(billed, recomputed, discount):
    raise NotImplementedError("Need to implement at_price")


# %% [markdown] tags=["hint"] question="at_price"
# Two kinds of tokens, two prices. Which kind pays the full one?

# %% tags=["practice-solution"] question="at_price"
def at_price(billed, recomputed, discount):
    return round(recomputed + discount * (billed - recomputed))


# %% [markdown]
# `hint("at_price")` and `solution("at_price")` help, after `from ctxcourse.learn import hint, solution`. At which discount does
# the window become dearer than full history?

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("08_context_policies")

# %% [markdown]
# ## Your own transcript, in five minutes
#
# 1. Save a run of an agent of yours in OpenAI's chat format: a JSON list of messages, an object with `messages` and `tools`, or
#    one message a line. `read_transcript("session.json")` reads each of them, `repair=True` also one that was broken off.
# 2. Choose two policies, and a phrase that your agent has to know at the end, as it stands in the text.
# 3. The cell bills both, and says whether the phrase is still in the prompt with which the last turn begins.

# %%
from ctxcourse import load_sample
from ctxcourse.agent.transcript import Transcript

messages, tools = load_sample("coding_session")
mine = Transcript(messages, tools)  # yours: read_transcript("session.json"), from the same module
needed = "59 was right"

opens = next(call for call in mine.calls() if call.turn == mine.calls()[-1].turn)
rows = {}
for policy in (FullHistory(), UserMessages(last=2)):
    kept = [each.messages for each in replay(mine.messages, policy, model, [call.index for call in mine.calls()])]
    made = bill_of_prompts(kept, mine.tools, model)
    there = any(needed in message["content"] for message in policy.start().prompt(mine.prompt(opens), model).messages)
    rows[policy.name] = [len(kept), made.billed, made.recomputed, made.calls[-1].prompt_tokens, there]
pd.DataFrame(rows, index=["calls", "billed", "recomputed", "last prompt", needed]).T

# %% [markdown]
# In so short a session a fifth is saved, a cache has more to compute than before, and the phrase is gone, since it was not the
# user who had said it. Try a long one. The playground takes yours as well, `policy_playground(mine, model)`; its two facts are
# those of the incident and will not be there.
#
# ## Exercises
#
# `exercises/08_context_policies.ipynb` holds three graded questions: a policy of your own, held against those of the lesson on a
# leaderboard and on conversations that it has not seen; what a cache has to compute, and what a moved block makes of it; and
# where the identifiers in a sub-agent's answer come from.
#
# ## Further reading
#
# - Anthropic, *Effective context engineering for AI agents* (September 2025): compaction, notes and sub-agents as they are used,
#   with the advice to begin with old tool results.
# - Packer et al., *MemGPT: Towards LLMs as Operating Systems* (2023): the agent decides itself what goes out of its prompt and
#   what comes back. Lesson 09 takes it up.
# - Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention* (2023): why a cache knows
#   blocks, and beginnings only.
# - Gim et al., *Prompt Cache: Modular Attention Reuse for Low-Latency Inference* (2023): what it would take to reuse what stands
#   in the middle, and what that costs.
# - Laban et al., *LLMs Get Lost In Multi-Turn Conversation* (2025): models that do worse when the same task is spread over turns,
#   with everything still in the prompt.
# - Liu et al., *Lost in the Middle: How Language Models Use Long Contexts* (2023): carried and not looked at, measured by where in
#   the prompt the fact stands. Lessons 05 and 06 repeat it.
# - The [glossary](00_start_here.ipynb#Glossary): one meaning for each word of this course.
