# %% [markdown]
# # 07 · Forty turns
#
# *About 80 minutes, 45 of them for the exercises. All cells together run in less than a minute: no model is loaded, only its
# tokenizer. Words with a fixed meaning are in the [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** make an agent's bill to the token from nothing but its transcript; say which part of the prompt it is that
# you pay for, turn by turn; tell what a prefix cache spares and what it does not; explain why a conversation twice as long costs
# more than three times as much; and read a transcript for what went wrong in it.
#
# **It measures** one recorded run of an agent: forty turns, twelve tools, every prompt counted as the model was given it.

# %%
from ctxcourse import load_tokenizer
from ctxcourse.agent.accounting import at_turns, bill, passes
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.plots import buckets_plot

tok = load_tokenizer()
run = shipped_run()
made = bill(run, tok)
marks = {
    passes(made, "tool_results", "tools"): "tool results pass the definitions",
    passes(made, "conversation", "tools"): "the conversation passes them",
}
buckets_plot(at_turns(made), published={1: 2_547, 40: 10_632}, mark=marks)

# %% [markdown]
# An incident in a payments platform. A person on the incident desk talks to an agent, forty times in the course of an
# hour, and the agent looks things up: logs, metrics, tickets, deployments. Each bar is the last prompt of a turn, cut into lesson
# 01's four buckets. The two hollow marks are what was published for another run of the same kind, on another model; between them
# no prompt size was published, so there is nothing to draw.
#
# What to see in it: the orange floor never moves, since the same twelve definitions are sent every time. At turn 1 it is three
# quarters of all there is; at turn 40 it is a sixth. What the agent was *told* by its tools has grown past it, and so has what it
# *said*, with what was said to it; at the end each of the two is more than twice the definitions.
#
# And what is not in it: the height of a bar is one prompt. The bill is the area of all of them, and then some.

# %% [markdown]
# ## A run is a file
#
# The run was recorded once, with the course's default model in the loop, and ships as a transcript. This lesson replays it. Where
# it comes from stands in it:

# %%
{name: run.provenance[name] for name in ("model", "fingerprint", "decoding", "seed", "calls", "seconds", "command")}

# %%
def short(message):
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls", [])]
    return message["role"], (" ".join(calls) or message["content"])[:110]


[short(message) for message in run.turns()[1]]

# %% [markdown]
# That is the whole of turn 1: a *message* from the user, a *step* (the assistant's message with its tool call, and the result),
# and an answer. Two of the four messages are the assistant's, so that the turn took two *calls* to the model: one that ended in a
# tool call, one that ended in words. The model was given everything so far both times.
#
# Not all turns have two calls. Where the agent answers without a tool there is one. In this run it is 60 calls in forty turns:

# %%
frame = made.frame()
frame.groupby("turn").size().value_counts().rename_axis("calls in a turn").to_frame("turns")

# %% [markdown]
# ## The bill
#
# **Predict before you run.** The last prompt has 11,615 tokens, and all the others were smaller. How many input tokens is the run
# billed? Write a number down; a factor will do.

# %% jupyter={"outputs_hidden": true}
last = made.calls[-1]
made.billed, last.prompt_tokens, round(made.billed / last.prompt_tokens, 1)

# %% [markdown]
# Nearly thirty-eight times the last prompt. *Billed input tokens* are the sum of the prompts of all calls, since a model
# remembers nothing: what it is to know at call 60 has to be sent with call 60, however often it was sent before. Somebody who
# looks at the conversation at its end sees 11,615 tokens and wonders about the invoice.

# %%
at_turns(made).set_index("turn").loc[[1, 5, 10, 20, 30, 40], ["call", "prompt_tokens", "billed_so_far", "output_tokens"]]

# %% [markdown]
# The column on the right is what the model wrote in that call. Over the whole run that is very little:

# %%
int(frame["output_tokens"].sum()), round(made.billed / int(frame["output_tokens"].sum()))

# %% [markdown]
# For every token that this agent wrote it read about 130. Where output tokens cost five times as much as input tokens, and all
# input tokens the same, they still are less than four hundredths of the bill.

# %% [markdown]
# ## Why it grows with the square
#
# If every call adds about the same number of tokens to the conversation, prompts grow along a straight line, and the sum under a
# straight line is a trapezium: the number of calls, times the mean of the first and the last prompt.

# %%
first, calls = made.calls[0].prompt_tokens, len(made.calls)
straight = calls * (first + last.prompt_tokens) / 2
straight, made.billed, round(straight / made.billed, 3)

# %% [markdown]
# Seven per cent too low, with two prompts known out of 60. (Too low because the bars in the picture bend: prompts grew faster in
# the first three quarters of the run than in the last, so that they lie above the straight line.) The last prompt grows with
# the number of calls, and it is multiplied by the number of calls; that is where the square comes from. Only the fixed part
# (system message and definitions) is multiplied just once.
#
# **Predict before you run.** The same investigation, half as long and twice as long, at the same growth. What is billed?

# %% jupyter={"outputs_hidden": true}
growth = (last.prompt_tokens - first) / (calls - 1)
line = {number: round(number * first + growth * number * (number - 1) / 2) for number in (30, 60, 120)}
line, round(line[60] / line[30], 2), round(line[120] / line[60], 2)

# %% [markdown]
# Three times, then nearly three and a half times as much. At 30 calls the fixed part, what stands in the first prompt, is 46 % of
# the bill, and it only doubles; at 120 it is 17 %, and the rest is the past. Nor can it go on like this. The window of this model
# holds 32,768 tokens, and along the line it is full at this call:

# %%
round(1 + (32_768 - first) / growth)

# %% [markdown]
# A useful way to think of it is *rent*. A token that enters the conversation at one call is billed again at every later one, until
# somebody takes it out. Which answers of the agent cost the most rent?

# %%
rent = frame.assign(rent=frame["output_tokens"] * (calls - frame["call"]))
rent.nlargest(5, "rent")[["turn", "call", "output_tokens", "rent"]].set_index("turn")

# %%
print(run.turns()[5][-1]["content"])

# %%
long = frame[frame["output_tokens"] > 150]
len(long), long["turn"].tolist(), int(long["output_tokens"].sum())

# %% [markdown]
# Asked to say in one sentence what the latencies were, it copied the table, until it was stopped at 160 tokens in the middle of a
# time. The values stand in the prompt twice now, once as a tool result and once as the agent's words, and the copy was paid for 52
# more times. Twelve answers of the run were stopped like this. All of them are copies of a tool's result: eleven of the one that
# had just come, and the one of turn 13 of the ticket from turn 12.

# %% [markdown]
# ## Move it yourself
#
# The slider goes through the 60 calls. Above is the call's prompt as a bar, with the bill so far; below is the prompt itself,
# exactly as the model was given it, in the colours of the buckets and with its long pieces folded. Two questions to answer with
# it. At call 1, unfold the definitions: how far from the top is the first word that the user said? And at which call has the bill
# passed 100,000 tokens, and which turn is that? (Behind nearly 1,900 tokens; at call 25, in turn 16.)

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import turn_explorer

turn_explorer(run, tok)

# %% [markdown]
# ## What a prefix cache spares
#
# *Billed* is not *computed*. Each prompt of this run begins with the whole prompt before it, and whoever kept the keys and values
# of that one needs to compute only what is new (lesson 01 has the memory that it takes). The bill has a column for it: the tokens
# behind the longest beginning that a prompt shares with the prompt of the call before.

# %%
made.recomputed, last.prompt_tokens, f"{1 - made.recomputed / made.billed:.1%} spared"

# %% [markdown]
# The first two are equal, and must be: in a conversation that is only ever appended to, every token is computed once, and at the
# end those are the tokens of the last prompt. With a cache the work grows along the line and no longer with its square. (Reading
# the cache still takes time for each of its tokens; and `recomputed` is an ideal cache, which never forgets and cuts anywhere.
# The second exercise is about a real one.)
#
# So is the square a matter of the past? It is, as long as nobody touches the beginning. Take lesson 03's sliding window, the
# simplest of all ways to make prompts smaller:

# %%
from ctxcourse.agent.accounting import bill_of_prompts
from ctxcourse.history import SlidingWindow

window = SlidingWindow(12)
prompts = [window.compress(run.prompt(call), tok).messages for call in run.calls()]
slid = bill_of_prompts(prompts, run.tools, tok)
{"billed": (made.billed, slid.billed), "recomputed": (made.recomputed, slid.recomputed)}

# %% [markdown]
# It cuts the bill by more than half, and leaves nearly five times as much to compute: the window moves at almost every call, so
# that what stands behind the definitions is new each time. Which of the two is cheaper depends on what a token costs that was in
# the cache, as a share of one that was not. Put in what your provider charges:

# %%
pairs = {share: [each.recomputed + share * (each.billed - each.recomputed) for each in (made, slid)] for share in (1, 0.5, 0.25, 0.1)}
{share: [round(price) for price in prices] for share, prices in pairs.items()}

# %% [markdown]
# The left figure of each pair is the full history, the right one the window, in tokens of full price. At full price the window
# wins clearly; at a tenth the full history, which forgets nothing, is the cheaper of the two. Prices change, and some services
# charge extra for writing to the cache, or forget it after some minutes, in which the user was thinking. The rule survives all
# that: *append at the end, and leave the beginning alone*. A time stamp in the system message undoes it for the whole prompt.
# Lesson 08 makes this table for eight policies, and has the other half of it: what each of them still knows.

# %% [markdown]
# ## The definitions
#
# Lesson 04 counted what a definition costs in one prompt. Here is what the twelve cost in a run, and what for.

# %%
from ctxcourse.agent.tool_use import tool_bill

tools = tool_bill(run, tok)
tools.frame().set_index("tool").sort_values("billed_tokens", ascending=False)

# %%
unused = sum(use.definition_tokens for use in tools.unused)
{
    "billed for definitions": (tools.billed, f"{tools.billed / made.billed:.0%} of the bill"),
    "of it never called": ([use.tool for use in tools.unused], unused, unused * tools.requests),
    "called, but not defined": [use.tool for use in tools.unknown],
}

# %% [markdown]
# A quarter of the bill, though the definitions are a sixth of the last prompt: they were there from the first call on, and so they
# have paid rent for longest. The dearest of all, `search_tickets`, was never called. Four tools went unused, for 35,820 tokens.
#
# The other end of the table is more instructive still. `list_deployments` has no definition, and the agent called it. The user
# had said: *List the deployments of payments-api*. There is a tool `list_services`, there is a tool `get_deployments`, and what
# the model wrote is the name that such a tool ought to have. Twelve definitions in its prompt, 1,817 tokens of them, did not keep
# it from this. (In the published run it was `read_log`, three times, where `search_logs` was wanted.) The environment answered as
# an environment should:

# %%
import pandas as pd

results = [message["content"] for message in run.messages if message["role"] == "tool"]
len(results), [text.splitlines()[0] for text in results if text.startswith("Error")]

# %% [markdown]
# An error that names what there is costs a few tokens more and can be acted upon, by the user if not by the agent: at turn 8 the
# user names the right tool (or so the script has it, see below). A quarter of the twenty calls failed, and the four other errors
# have one mistake in common: arguments that the tool does not have. Which tools do have them?

# %%
takes = {tool["function"]["name"]: tool["function"]["parameters"].get("properties", {}) for tool in run.tools}
made_up = [
    (turn, call["function"]["name"], name, [tool for tool in takes if name in takes[tool]])
    for turn, messages in run.turns().items()
    for message in messages
    for call in message.get("tool_calls", [])
    for name in call["function"]["arguments"]
    if call["function"]["name"] in takes and name not in takes[call["function"]["name"]]
]
pd.DataFrame(made_up, columns=["turn", "called", "argument", "an argument of"]).set_index("turn")

# %% [markdown]
# All but one belong to other tools, whose calls stand further up in the prompt or whose definitions do. Twelve definitions side
# by side are twelve chances to mix them up; lesson 04's reason for sending fewer was the tokens, and this is another one. The
# exception, `chat_handle`, is an argument of nothing. It comes back below. And errors at least can be seen: at turn 30 the user
# asks for the deployments of the last 2 hours, the call says 24, as that of turn 8 did, and nothing complains.

# %% [markdown]
# ## Who passes whom, and when
#
# Tool results pass the definitions at turn 14, and the conversation does one turn later. Published was turn 5 and turn 25: the
# results earlier, the conversation later. Part of the reason can be seen in the transcript. Twenty of our forty turns have no tool
# call at all, so that results come slowly. And the conversation is large because the agent copies. Here is what that bucket is
# made of at the end, the last answer included:

# %%
said = sum(tok.count_text(message["content"]) for message in run.messages if message["role"] == "user")
answers = int(frame["output_tokens"].sum())
markers = last.conversation + last.output_tokens - said - answers
{"the user's words": said, "the agent's answers and calls": answers, "what the template writes around them": markers}

# %% [markdown]
# Forty messages of a human make 792 tokens, a fifteenth of the last prompt; for everything else the machinery talks to itself.
# More than half of what the agent said are the twelve answers from above.
#
# **Predict before you run.** The same transcript, with each of these twelve cut to its first sixty characters. At which turn does
# the conversation pass the definitions now, and how much of the bill is gone?

# %% jupyter={"outputs_hidden": true}
from ctxcourse.agent.transcript import Transcript


def curt(message):
    copied = message["role"] == "assistant" and tok.count_text(message["content"]) > 150
    return {**message, "content": message["content"][:60]} if copied else message


cut = bill(Transcript([curt(message) for message in run.messages], run.tools), tok)
passes(cut, "conversation", "tools"), made.billed - cut.billed, f"{1 - cut.billed / made.billed:.1%}"

# %% [markdown]
# At turn 24, next to the published 25. An eighth of the bill was paid for twelve answers that said nothing new. (Nothing else is
# changed here; an agent with another past would have gone on differently.) How much of the published conversation was copied we
# cannot know, since its transcript was not published.
#
# ## How this run was helped
#
# Now for what ought to be said before anybody draws conclusions from it. A model of half a billion parameters, left to itself
# with twelve tools, is no agent. When this run was prepared we tried it with three calls a turn and without rules: the model repeated the
# call whose result it had just been given, then its own last answer, and from turn 3 on it said nothing at all. (That trial was not
# kept; take it for an anecdote, not for a measurement of this course.) Three rules of the loop help it:

# %%
run.provenance["arguments"]

# %% [markdown]
# 1. **A call is required** in 20 of the forty turns, those in which the user asks for something that has to be looked up or done.
#    There the answer is made to begin as a call does; which tool and which arguments is the model's own affair.
#    (`tool_choice="required"` at most services.) After one call a turn must end in words: what has failed cannot be tried again
#    before the user speaks.
# 2. **A request stands behind each result**: *Tell the user in one sentence what this says.* The loop writes it, not the tool. It
#    lies in the bucket of tool results.
# 3. **No answer begins as another text did**: not with the first token of one of the last ten answers, nor with that of a sentence
#    which the user has just said. Without this rule an answer that was given once is given for good.
#
# What would it have done without the first? There is a hint in the run:

# %%
from ctxcourse.agent.scenario import incident

_, turns = incident()
called = {call.turn for call in run.calls() if "tool_calls" in run.messages[call.index]}
own_idea = [turn for turn in called if turns[turn - 1].tool_choice == "auto"]
len(called), own_idea

# %% [markdown]
# In twenty turns it was free to call a tool, and in none of them it did. At turn 25 it was asked for the first check in a runbook
# that it had failed to get, and it did not try once more. And here is what the second rule costs, with the sentence taken out of
# all results:

# %%
from ctxcourse.agent.loop import REQUEST

bare = [{**message, "content": message["content"].removesuffix(REQUEST)} for message in run.messages]
without = bill(Transcript(bare, run.tools), tok)
made.billed - without.billed, f"{1 - without.billed / made.billed:.1%}", passes(without, "tool_results", "tools")

# %% [markdown]
# Not much of the bill, and the mark in the picture stays where it is. (It did not achieve much, either: seventeen of the twenty
# answers to it repeat the result, errors included.) The third rule has left a trace that is easily taken for the model's own. At
# turn 27 the user asks for the latest value of the error rate, which the result of turn 26 gives as 1.54. Here are the answer, and
# what it was not allowed to begin with:

# %%
from ctxcourse.agent.loop import unlike

spoken = {turn: messages[-1]["content"] for turn, messages in run.turns().items()}
before = [message for turn in range(1, 27) for message in run.turns()[turn]]
refused = unlike(turns[26].text, before)
spoken[27], [tok.decode(tok.encode(text)[:1]) for text in refused]

# %% [markdown]
# 7.53 is the greatest value. But an answer could not begin with 1.54: digits are tokens of their own, and turn 20's answer had
# begun with a 1. Nor could it begin with *The latest value is*, because of turn 17. We do not know what it would have said without
# the rule, and so this answer tells little about the model. (Four of the copies lack the head of their result for the same reason:
# at turns 14, 16 and 28 it begins with a 4, a 2 and a 7, and at turn 30 with *Deployments*.)
#
# There is a fourth kind of help, which is none of the loop's, and it may well be the greatest. The user's messages were written
# beforehand, and they were written again after earlier recordings. In those the user stated things in about every other turn, and
# the model merely echoed what it was told; now the user asks about what has just been shown, and a question is answered, rightly
# or not. So this is a conversation fitted to its agent. And the user does not react to what the agent says: the right tool's name
# follows the wrong one because the script foresaw it, and a false answer is never noticed. A real user would have asked again,
# and the run would be longer. So take the *figures* of this run for what they are, exact counts of one transcript, and do not
# take the transcript for what agents are like. Ask the same of a published one.

# %% [markdown]
# ## What went right and what went wrong in it
#
# A bill says nothing about what was bought. Here is all that the agent answered without calling a tool.
#
# **Before you read on:** which of these answers are true? Some can be told without looking anything up.

# %%
from ctxcourse.history import split_sentences

for turn in sorted(spoken.keys() - called):
    question = next(text for text in split_sentences(turns[turn - 1].text) if "?" in text)
    print(f"{turn:2}  {question.strip()}\n      {spoken[turn].splitlines()[0]}")

# %% [markdown]
# Turns 2 and 19 ask for a yes. Of the eighteen others, nine are answered rightly, by our reading: 4, 9 (upside down, but the
# version and the man are right), 15, 23, 29, 31, 33, 38 and 39, where the last two only give back what the message says. A
# question that repeats words which stand beside the answer (*rollback*, *09:26*, *the day before*) it often answers well, and at
# turn 33 it picked the 74 of the day before out of a result full of higher values.
#
# Elsewhere it took something else from the prompt. Turn 6 has the value right, and the time of another. Turn 11
# takes 40 connections for the newest line, which says 80. Turns 17 and 21 ask for a host and get a shard. (Turn 27 we had, and
# turn 13 is a copy that was cut off just before the remedy.) Nor are all copies copies. A line of turn 10's answer, as it was in
# the result, and the one above turn 27's question:

# %%
for turn, start in ((10, "10:11:44"), (26, "least")):
    for message in run.turns()[turn][2:]:
        print(turn, message["role"], next(line for line in message["content"].splitlines() if line.startswith(start))[:75])

# %% [markdown]
# One version has become another, and the least, greatest and latest value of today are those of the day before. Both lines look
# like the originals, and both stay in the prompt beside them. Three answers are left, 25, 35 and 37. They have one thing in
# common:

# %%
{turn: (run.turns()[turn - 1][2]["content"].split("\n")[0][:60], spoken[turn]) for turn in (25, 35, 37)}

# %% [markdown]
# In each case the result above the question was an error, so that there was nothing to answer from. The system message says *say
# so if you do not know something*. Three times out of three the agent invented something: the 14:02 is the time of a deployment,
# the handle is the value of its own argument `chat_handle`, and where the 2 comes from we cannot tell. Follow the handle. It was
# written into a call at turn 34, the call was refused, and the agent even said that she had none. But it stayed in the prompt as
# one of the things that had been said, and nowhere else can it have been read one turn later. What the tool would have returned
# for her name alone, and whose number it was that came with it:

# %%
from ctxcourse.agent.environment import Environment

world = Environment(run.provenance["seed"])
print(run.turns()[34][1]["tool_calls"][0]["function"]["arguments"])
print(world.call("get_employee", {"name": "Lena Brandt"}), world.call("get_employee", {"employee_number": 4417}), sep="\n")

# %% [markdown]
# The number is the one of the user's rule for tickets. It had strayed before: at turn 3, one turn after the rule was given, the
# user wanted to see a ticket.

# %%
print(run.turns()[3][2]["content"][:150], spoken[3], sep="\n\n")

# %% [markdown]
# That ticket was reported by the alerting and is owned by Tom Okafor. Nothing in it is filed under 4417. The sentence is short and
# false, and it stays in the prompt for the next thirty-seven turns. Whoever asks the prompt later under which number tickets are
# filed will find the right number there, for a wrong reason; keep that in mind for lesson 08.
#
# And turn 40, for which all of this was made. *Now file the ticket for the shard that was affected … You know under which number
# it has to be filed.* The number was given at turn 2, the shard at turn 19.

# %%
filing = run.calls()[-2]
print(run.messages[filing.index]["tool_calls"][0]["function"]["arguments"])
print(run.messages[filing.index + 1]["content"].removesuffix(REQUEST))

# %% [markdown]
# No ticket was filed. The number is right, thirty-eight turns after the user said it, but it was given as a text, and the schema
# wants an integer. `hours` belongs to `get_deployments`. `message` belongs to `page_on_call`, and *What the engineer has to know*
# is how that tool's definition describes it: the agent copied a description out of its definitions, into two arguments, where the
# findings of an hour should stand. And the shard is missing. `file_ticket` has an argument for it; a kinder environment would have
# accepted the rest, and filed a ticket without it. Not because it had been forgotten. This is the full history, and everything
# stands in the prompt:

# %%
import re
from collections import Counter

prompt = tok.render(run.prompt(filing), run.tools)
Counter(re.findall(r"pay-shard-\d+", prompt)).most_common(), Counter(re.findall(r"\b4417\b", prompt))

# %% [markdown]
# There it is, and so are its rivals. The number has none: no other employee's number was ever said, and it was used. The shard has
# seven of its own spelling, one of which is named more often than itself, and it was left out. One call is an anecdote, and it does
# not tell us why (lesson 08 asks in six wordings). But keep in mind that a fact can stand in the prompt, be paid for in thirty-one
# prompts by then, and not be used. That is a different failure from having forgotten it, and no saving on the bill will mend it.

# %% [markdown]
# ## Published / yours
#
# The published run has the same outline: a forty-turn investigation in a simulated environment with twelve tools, by
# Qwen2.5-0.5B-Instruct. Its transcript, its catalogue and its loop are not published.

# %%
def shares(call):
    sizes = (call.tools, call.conversation, call.tool_results)
    return f"{call.prompt_tokens:,}: " + " / ".join(f"{100 * size / call.prompt_tokens:.0f} %" for size in sizes)


opening = [call for call in made.calls if call.turn == 1][-1]
figures = {
    "calls in forty turns": ("57", f"{calls}"),
    "turn 1: definitions / conversation / tool results": ("2,547: 71 % / 6 % (the user's words) / –", shares(opening)),
    "turn 40: definitions / conversation / tool results": ("10,632: 17 % / 29 % / 53 %", shares(last)),
    "tool results pass the definitions": ("turn 5", f"turn {passes(made, 'tool_results', 'tools')}"),
    "the conversation passes them": ("turn 25", f"turn {passes(made, 'conversation', 'tools')}"),
    "billed input tokens": ("370,291", f"{made.billed:,}"),
    "times the last prompt": ("about 35", f"{made.billed / last.prompt_tokens:.1f}"),
    "definitions over the run": ("103,569 (28 %)", f"{tools.billed:,} ({100 * tools.billed / made.billed:.0f} %)"),
    "of tools never called": ("5 tools, 39,729", f"{len(tools.unused)} tools, {unused * tools.requests:,}"),
    "called, but not defined": ("read_log, 3 times", ", ".join(f"{use.tool}, {use.called} time" for use in tools.unknown)),
}
pd.DataFrame(figures, index=["published", "yours"]).T

# %% [markdown]
# Ours is Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32; another model, another catalogue (made to be as large as
# the published one), another user. Beyond that nothing was padded to make the two agree. What can be checked without their
# transcript is whether their figures agree with each other:

# %%
{
    "57 × 1,817": 57 * 1_817,
    "57 × 697, five unused tools": 57 * 697,
    "57 × mean of first and last prompt": 57 * (2_547 + 10_632) / 2,
    "370,291 / 10,632": round(370_291 / 10_632, 1),
    "definitions at turn 1": round(1_817 / 2_547, 3),
    "not explained at turn 1": round(1 - 0.71 - 0.03 - 0.06, 2),
}

# %% [markdown]
# The first two to the token. The third, our trapezium, lies 1.4 % above their bill, though it takes turn 1's figure for the first
# prompt. The last is a fifth of a prompt that the source gives to nobody; since no answer is in the prompt of a first call, and
# the only other bucket is tool results, it is that turn's *last* call that was counted, with a result of some 500 tokens in it.
# So that is how we count as well.

# %% [markdown]
# ## What it means for your agent
#
# Log the prompts, not the conversation. What an agent costs cannot be seen in a chat window, and from a file of messages it
# takes one line to count it.
#
# Then look for rent. What is large and came early is dearest: definitions that nobody calls, the long result of a first search,
# an answer that repeats what a tool said. A limit on lines in a tool's result, or a page at a time, is worth more than a clever
# summary later. An agent that is told not to repeat results saves twice, on output now and on input ever after.
#
# Keep the beginning of the prompt as it is for as long as you can, and count cached tokens apart from others before you decide
# that a policy is cheaper.
#
# And read a transcript from time to time. A version changed in copying, an invented handle, a ticket that was never filed: the bill
# looks the same with and without them.

# %% [markdown]
# ## Practice
#
# Not graded. Write `affords(budget, first, growth)`: how many calls a budget of billed input tokens affords if the first prompt
# has `first` tokens and each one after it `growth` more than the last.

# %% tags=["practice"] question="affords"
def affords(budget, first, growth):
    raise NotImplementedError("Need to implement affords")


# %% [markdown] tags=["hint"] question="affords"
# No formula is needed. Take off one prompt after the other, as long as there is enough left.

# %% tags=["practice-solution"] question="affords"
def affords(budget, first, growth):
    # With this run's line, 440,000 tokens afford 62 calls, and twice as much affords 92: half as many again for double the money.
    calls, prompt = 0, first
    while prompt <= budget:
        budget, prompt, calls = budget - prompt, prompt + growth, calls + 1
    return calls


# %% [markdown]
# `hint("affords")` and `solution("affords")` help, after `from ctxcourse.learn import hint, solution`.

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("07_forty_turns")

# %% [markdown]
# ## Your own transcript, in five minutes
#
# 1. Save a conversation of an agent of yours as JSON, in the OpenAI chat format: an object with `messages` and `tools`, as most
#    frameworks log it. Contents that are null and arguments as JSON text are fine. The cell writes a small one, so that there is
#    something to read.
# 2. Put your file's name in its place and run. Results without a call and calls without a result are reported with their
#    place; a run that was killed is read up to its last whole step with `read_transcript(path, repair=True)`.
# 3. Look at the table of tools first. What was never called?

# %%
import json
import tempfile
from pathlib import Path

from ctxcourse.agent.transcript import read_transcript

weather = {
    "name": "get_weather",
    "description": "Return the weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
tides = {"name": "get_tides", "description": "Return the tides at a harbour.", "parameters": {"type": "object", "properties": {}}}
asks = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'}}
sample = {
    "tools": [{"type": "function", "function": tool} for tool in (weather, tides)],
    "messages": [
        {"role": "user", "content": "Do I need a coat in Porto?"},
        {"role": "assistant", "content": None, "tool_calls": [asks]},
        {"role": "tool", "tool_call_id": "call_1", "content": "Porto: 11 °C, rain until six, wind from the west"},
        {"role": "assistant", "content": "Yes, and one that keeps off the rain."},
        {"role": "user", "content": "And tomorrow?"},
        {"role": "assistant", "content": "That I have not looked up."},
    ],
}
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "transcript.json"  # yours: "transcript.json"
path.write_text(json.dumps(sample), encoding="utf-8")

mine = read_transcript(path)
my_bill = bill(mine, tok)
my_bill.frame()[["turn", "call", "system", "tools", "conversation", "tool_results", "prompt_tokens", "billed_so_far", "recomputed"]]

# %%
tool_bill(mine, tok).frame()[["tool", "definition_tokens", "called", "result_tokens", "billed_tokens"]]

# %% [markdown]
# `buckets_plot(at_turns(my_bill))` draws it, and `turn_explorer(mine, tok)` shows its prompts. All of this counts with the
# tokenizer of the course's model; yours has another one, whose counts differ by some per cent in English and by more elsewhere.
# The shares and the factor hardly do. In a terminal, `ctxcourse agent bill transcript.json` prints the same. A new recording of
# the incident is made with `ctxcourse agent run FILE`; that one does need the model.
#
# ## Exercises
#
# `exercises/07_forty_turns.ipynb` holds three graded questions: the run replayed under lesson 03's rolling summary, a cache as it
# really is, and definitions that come just in time.
#
# ## Further reading
#
# - Anthropic, *Effective context engineering for AI agents* (September 2025): context as a finite resource, and tool results as
#   what to clear first; read it beside the picture above.
# - Yao et al., *ReAct: Synergizing Reasoning and Acting in Language Models* (2022): the loop of this lesson in its original form.
#   Count the calls in one of its examples, and multiply.
# - Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention* (2023): keys and values in
#   blocks, shared between prompts; where the `block` of the second exercise comes from.
# - Zheng et al., *SGLang: Efficient Execution of Structured Language Model Programs* (2023): a tree of prefixes, so that any
#   earlier prompt can be continued.
# - Packer et al., *MemGPT: Towards LLMs as Operating Systems* (2023): what to do when the conversation no longer fits, with the
#   vocabulary of paging.
# - Yang et al., *SWE-agent: Agent-Computer Interfaces Enable Automated Software Engineering* (2024): how much depends on what a
#   tool returns, its errors and its limits on lines included.
