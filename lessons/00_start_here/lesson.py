# %% [markdown]
# # 00 · Start here
#
# *About 30 minutes. Everything on this page runs on your own machine, on a real language model; nothing is simulated.*
#
# **You will** check that your set-up works, look at a prompt the way the model sees it, hide a needle in a list of
# lookalikes and watch what the model finds, and leave with a map of the course.
#
# Run the cells from top to bottom with <kbd>Shift</kbd>+<kbd>Enter</kbd>. Words with a fixed meaning (token, chat template,
# distractor and others) are in the [glossary](#Glossary) at the end of this page.

# %%
from ctxcourse import load_model, load_sample, load_tokenizer
from ctxcourse.plots import budget_bar
from ctxcourse.tokens import buckets

conversation, tools = load_sample("coding_session")
parts = buckets(conversation, tools, load_tokenizer())
budget_bar(parts.as_dict(), title="One prompt of a coding assistant, in tokens")

# %% [markdown]
# That is what this course is about. Somebody talked to a coding assistant for four turns, and the bar is the prompt that
# the model is given when they go on. The thin slice at the left is the instruction that somebody wrote with
# care, once. Everything else is put there *by code*: the schemas of eight tools (descriptions of functions that the model may call), three
# of them never called; the results those tools returned; and the conversation, typed once and sent again at every call.
#
# **Prompt engineering** is the craft of the thin slice: words written once, by a person. **Context engineering** is the
# craft of the whole bar: deciding, at every single call, what goes in, in which order, in what form, and what stays out.

# %% [markdown]
# ## Does it work here?
#
# The next cell looks at your machine, and ends with an answer from the model. The first time, the weights have to be read
# from the disk; that takes a few seconds.

# %% tags=["nbval-ignore-output"]
import pandas as pd

from ctxcourse.doctor import examine

pd.set_option("display.max_colwidth", 120)
pd.DataFrame(examine())

# %% [markdown]
# If every line says `True`, you are done with installing things for the rest of the course. If one does not, its text
# says what to do. The model is Qwen2.5-Coder-0.5B-Instruct, half a billion parameters, 4-bit weights expanded to float32.
# It is small, and that is why it is here: it runs on two cores, it answers the same way every time because we always decode
# greedily, and what goes wrong in large models goes wrong in it early enough to be seen.

# %% [markdown]
# ## Ask it something
#
# Type a question and press **Ask**. Under the answer you see the prompt: not what you typed, but what the model was given.

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import ask_box

model = load_model()
ask_box(model)

# %% [markdown]
# **Predict before you run.** The next cell renders a prompt that says nothing more than `Hi`. One word, two letters. How many tokens
# will the model be given? Write your guess down; the answer is folded away behind the dots.

# %% jupyter={"outputs_hidden": true}
hello = [{"role": "user", "content": "Hi"}]
model.count_text("Hi"), model.count_prompt(hello)

# %% jupyter={"outputs_hidden": true}
from ctxcourse.widgets import prompt_view

prompt_view(model, hello)

# %% [markdown]
# One token is yours; the rest of them the *chat template* wrote. It opens a system message you never sent and puts words
# into it, marks who speaks with control tokens, and ends with an open assistant message for the model to continue. You pay
# for all of it, at every call. Lesson [01](01_token_budget.ipynb) is about nothing else.

# %% [markdown]
# ## The needle explorer
#
# Now for a task that a child gets right. A register holds a list of lines, all spelled alike; each names a ticket, an owner
# and a four-digit extension. The model is given the whole register and asked for one owner's extension.
#
# Before you press **Run**, predict: with 25 lines, will it find the number? Does it matter where the line stands? And if
# it is wrong, *what will it say instead*? A run takes five to fifteen seconds.

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import needle_explorer

needle_explorer(model)

# %% [markdown]
# Run it where the slider stands; then at depths 0.25, 0.5 and 1; then shorten the list to 3, to 1. Do not expect a simple pattern
# from a handful of runs: at one place the model is right, a few lines on it is wrong, with the same list and the same question. Three outcomes are told apart, here and everywhere in the
# course:
#
# - ✓ **hit**: the right number;
# - ⇄ **other record**: a number that stands in the register, but in another line. It looks exactly like a right
#   answer, which makes it the dangerous one;
# - ✗ **neither**: a made-up number, or none.
#
# One run is one observation, and a table of 288 of them is lesson [05](05_needle_position.ipynb). What to take away today is the *kind* of failure: the
# text is short, it fits the window many times over, nothing in it is hard to read, and still the answer can be somebody
# else's number.

# %% [markdown]
# ## The frame: attention is a budget
#
# A model with a window of 32,768 tokens will *accept* 32,768 tokens. Whether it can still *use* the one line that matters is
# another question. Each new token is computed by weighing all earlier ones against each other with weights that add up to one,
# so everything you put in competes with the thing you want found. That is the **attention budget**, and this course's
# working thesis is that what spends it is less the number of tokens than the number of *rivals* to the right one.
#
# The loss of accuracy with a growing context has been called **context rot**. We treat it as a claim that can be tested: in
# lessons [05](05_needle_position.ipynb) and [06](06_needle_length.ipynb) you measure it, with intervals, on this model, and see
# which part of it is length and which is lookalikes.
#
# Four strategies against it were set out by Anthropic in September 2025 (*Effective context engineering for AI
# agents*). Each has its place in the course:
#
# | strategy | in one sentence | lesson |
# |---|---|---|
# | just-in-time retrieval | keep references, and fetch the content when it is needed | [02](02_lost_in_the_middle.ipynb), 10 |
# | compaction | replace a long history by a summary of it | [03](03_conversation_compressor.ipynb), 08 |
# | structured note-taking | write down what must not be lost, outside the window | 08, 09 |
# | sub-agents | let another context do the digging and return the finding | 08 |
#
# The first works at every call; the other three are for work that is longer than a window.
#
# Published figures in the lessons come from two texts, and from papers that are named where they are quoted: *the chapter*, on measuring
# context rot and context policies with a local Qwen2.5-0.5B-Instruct, and *the lesson*, on budgets, ordering, compression and
# tool selection. They are set beside yours, never mixed with them. A lesson that is named without a link is not there yet.

# %% [markdown]
# ## How a lesson works
#
# - **Read and run.** `notebooks/` holds the lessons. Every figure is computed in front of you, or loaded from a run that ships with the
#   course and that one command repeats, or says where it was published. Published figures and yours stand side by side, with the name of the model that made each.
# - **QUICK and FULL.** A lesson runs in under three minutes as it is, which is QUICK. Set `FULL = True` at its top for the long
#   run: more sizes, and as many calls as were published where an experiment is repeated.
# - **Practise.** In a lesson, `hint("name")` and `solution("name")` help with practice questions.
# - **Earn points.** `exercises/` holds the graded questions. `check(...)` tries your function on examples and tells you what
#   is likely wrong; `hint("name")` gives a little more at each call. Points are given by tests that you do not see, when your
#   instructor grades the notebook that you hand in.
#
# ## Your own data
#
# Every lesson ends with a measurement on something of yours. Today's takes a minute: put a system message and a question of your own
# into the cell, and see what they cost. Lesson 01 counts whole requests from a file.

# %%
mine = [
    {"role": "system", "content": "Answer in one sentence."},
    {"role": "user", "content": "What is the difference between a window and a budget?"},
]
buckets(mine, [], model).as_dict()

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("00_start_here")

# %% [markdown]
# ## Glossary
#
# One meaning for each word, in every lesson.
#
# | word | meaning here |
# |---|---|
# | token | the unit a model reads and writes; a piece of text from its vocabulary |
# | context window | the most tokens that prompt and answer may have together |
# | prompt tokens | the tokens the model is given at one call, chat template included |
# | completion tokens | the tokens it writes in answer |
# | chat template | the program that turns messages and tool schemas into the text the model reads |
# | generation prompt | the end of a rendered prompt, where an assistant message has been opened for the model |
# | message | one entry of a conversation: system, user, assistant, or tool |
# | tool call, tool result | an assistant message asks for a function; a tool message brings back what it returned |
# | step | an assistant message with its tool calls and all their results; never split |
# | turn | a user message and everything up to the next one |
# | call | one request to the model; a turn may hold several |
# | billed input tokens | the prompts of all calls of a run added up, with those of summarisers and note-takers |
# | buckets | the four parts of a prompt: system, tools, conversation, tool results |
# | prefill | reading the prompt: all its tokens at once |
# | decode | writing the answer: one token after the other |
# | greedy decoding | always taking the most probable next token; the same prompt gives the same answer |
# | control token | a token that marks structure, such as `<\|im_start\|>`; no text can spell it |
# | render | to turn messages and tools into the prompt, by the chat template |
# | scaffolding | what the template writes around any content |
# | schema, catalogue, preamble | the description of one tool; all of them; what the template says about tools, once |
# | fingerprint | a short name of the exact weights that gave an answer |
# | KV cache | the keys and values kept of every token read, so that it need not be read again |
# | prefix cache | a KV cache kept from one call to the next, of use as far as the new prompt begins with the old one |
# | compressor, ratio | what makes a conversation shorter; the tokens after divided by those before |
# | retention | the share of answers that a compressed text still holds, or that are still found in it |
# | elision | a stub in place of an old tool result, which can be fetched again |
# | policy | the rule by which an agent keeps or drops parts of its conversation from call to call |
# | compaction | a running summary in place of the old part of a conversation, once it has grown past a threshold |
# | pinned block | a text that stands in every prompt, whatever else is dropped |
# | probe | a question put to an agent's memory, in place of its next turn, to see what is still known |
# | present, stated | the identifier stands somewhere in the prompt; something there says what it stands for |
# | transcript | a recorded run: all messages and tool schemas, from which every prompt can be made again |
# | tool choice | whether an answer may, must or must not be a tool call |
# | near-duplicate | a document that says what another says, by likeness of words or of meaning |
# | needle, distractor | the one record asked for; the others, that look like it (lookalikes, rivals) |
# | filler | lines as long as a record that do not look like the answer |
# | depth | where the needle stands: 0 is the first line, 1 the last |
# | hit, other record, neither | an answer that is right; that is another line's; that is anything else, or none |
# | trial | one register drawn, with its needle; within a trial only one thing changes |
# | p | how often luck alone would give a difference at least as large as the one that was seen |
# | register | a list of records in one sentence pattern, one a line |
# | sweep | the same question asked while one thing changes step by step |
# | volume, interference | how much text there is; how much of it could be mistaken for the answer |
# | interval | Wilson's 95 % interval of a share, unless another one is named |
# | sliding window | keeping only the last so-many messages |
# | compaction | replacing history by a summary |
# | used, kept, taken | the tokens of the prompt; those reserved for the answer; both together |
# | QUICK, FULL | the short run of a lesson, and the long one, with the published number of calls where there is one |
#
# ## Further reading
#
# - Anthropic, *Effective context engineering for AI agents* (September 2025): where the four strategies are set out.
# - Liu et al., *Lost in the Middle: How Language Models Use Long Contexts* (2023): the experiment behind lesson 02, with tables
#   you will check.
# - Hong, Troynikov, Huber, *Context Rot: How Increasing Input Tokens Impacts LLM Performance* (Chroma, July 2025): the claim
#   we test, with distractors as one of its causes.
