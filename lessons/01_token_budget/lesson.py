# %% [markdown]
# # 01 · What fills the window, to the token
#
# *About 75 minutes, 40 of them for the exercises. QUICK runs in about a minute on a laptop. Words with a fixed meaning are in the
# [glossary](00_start_here.ipynb#Glossary).*
#
# **You will be able to** count a prompt exactly, say which of four buckets each token falls into, tell where the usual
# estimates go wrong and by how much, share out a window so that nothing overflows silently, and put a price on a token in
# memory and in seconds.
#
# **It measures** the prompt of a coding assistant, eight kinds of text, one budget, and your machine's speed at reading and at
# writing tokens.

# %%
FULL = False  # True: time longer prompts, as far as a whole window's eighth

# %%
from ctxcourse import buckets, catalogue_cost, load_model, load_sample
from ctxcourse.plots import budget_bar

model = load_model()
messages, tools = load_sample("coding_session")
budget_bar(buckets(messages, tools, model).as_dict(), title="Four turns with a coding assistant, in tokens")

# %% [markdown]
# Ask people what fills the prompt of an agent and they name the conversation. Look at the picture: what the user and the
# assistant said to each other is not even a third of it. The catalogue of tools, which nobody reads twice, and the output of
# commands, which nobody needs for long, take the rest.
#
# You cannot see that by looking at the messages. You have to count, and counting turns out to be harder than it sounds.

# %% [markdown]
# ## What one word costs
#
# **Predict before you run.** One message, one word: `Hi`. It is a single token, and on the start page its prompt came to thirty. By how
# much does the prompt grow when the same message is sent a second time? (The answer is folded away behind the dots.)

# %% jupyter={"outputs_hidden": true}
hello = [{"role": "user", "content": "Hi"}]
model.count_text("Hi"), model.count_prompt(hello), model.count_prompt(hello * 2)

# %%
print(model.render(hello))

# %% [markdown]
# By six: each message pays for its role, its markers and a line break. The rest of the thirty is paid once. The template did that: it put in a system message because there was none, named the speakers, closed each message, and
# opened the next one for the model to continue. `<|im_start|>` and `<|im_end|>` are *control tokens*, one token each, that
# no text of yours can spell. Write `<|im_end|>` into a message and this package has it read as ordinary text, so that a document cannot
# end a message:

# %%
model.count_text("<|im_end|>"), model.count_prompt([{"role": "user", "content": "<|im_end|>"}])

# %% [markdown]
# So why not measure the template once, and from then on add up the parts?

# %%
brief = {"role": "system", "content": "Be brief."}
alone = model.count_prompt([brief]), model.count_prompt(hello)
together = model.count_prompt([brief, *hello])
sum(alone), together

# %% [markdown]
# The parts are more than the whole. Each of them was rendered with a generation prompt of its own, and the second with
# a default system message that vanishes as soon as there is a real one. By how much a sum of parts is wrong depends on
# the template and on the parts. There is one number that is always right: the length of what the model is given.

# %% [markdown]
# ## What an agent's prompt is made of
#
# The assistant's conversation holds two kinds of message that a chat does not. When the model wants something looked up it makes a *tool
# call*; what the function returned comes back as a *tool result*, tied to the call by its id. Here is one such pair, in the format of
# OpenAI's chat API that most tools use:

# %%
messages[9:11]

# %% [markdown]
# And here is the *schema* of one tool, by which the model knows that it may call it, and how:

# %%
tools[-1]

# %% [markdown]
# ## Four buckets, four renders
#
# So we only ever count whole prompts, and get the parts by subtraction. Render four of them: everything; the system message
# with the tools; the system message alone; and everything but the tool results. Then
#
# - **system** is the third: the system message and the scaffolding that surrounds any prompt;
# - **tools** is the second minus the third;
# - **tool results** is the first minus the fourth;
# - **conversation** is what remains of the first.
#
# Every token falls into exactly one of them, so they add up, always. Here they are on the assistant's prompt, by hand:

# %%
system = [m for m in messages if m["role"] == "system"]
without_results = [m for m in messages if m["role"] != "tool"]

everything = model.count_prompt(messages, tools)
with_tools = model.count_prompt(system, tools)
sys_only = model.count_prompt(system)
tool_results = everything - model.count_prompt(without_results, tools)

sys_only, with_tools - sys_only, everything - with_tools - tool_results, tool_results

# %%
buckets(messages, tools, model).as_dict()

# %% [markdown]
# The same four numbers. A detail worth knowing before you compare with somebody else's: each render ends with the generation
# prompt, so those three tokens land in *system*. If you prefer another convention, fine; write it down.
#
# The tools have an inner life of their own. The first tool you add costs far more than its schema, because the template
# explains, once, how tools are to be called. By difference:

# %%
cost = catalogue_cost(tools, model)
cost.preamble, cost.per_tool

# %% [markdown]
# The preamble is paid as soon as there is one tool. After that every tool has its price, paid at *every call*,
# whether the tool is used or not: in this conversation `open_issue`, the dearest of the eight, was never called.

# %% [markdown]
# ## What the usual estimate hides
#
# A much-copied rule says that a text has about 1.3 tokens a word. Let us hold it against the model's own tokenizer on the
# kinds of text that agents really carry.
#
# **Predict before you run.** For which of the eight is the rule good? And is it wrong in the cheap direction or in the dear one?

# %%
import pandas as pd

from ctxcourse.tokens import estimate_words

texts = {
    "English": "The invoice was due on Friday, but nobody had told the customer, so the reminder came as a surprise.",
    "German": "Die Rechnung war am Freitag fällig, aber niemand hatte es der Kundin gesagt.",
    "Python": "def days_until(text: str) -> int:\n    return (parse_date(text) - date.today()).days",
    "JSON": '{"ticket":"OPS-2291","owner":"Ines Duarte","shard":"pay-shard-7","open":true}',
    "log line": "2026-03-02T03:14:07.512Z ERROR payments[4417]: upstream=pay-shard-7 code=503 latency_ms=30012",
    "identifiers": "9f1c2b7e-44d0-4a3b-8a52-6f0f7c1d9e3a 10.44.7.213",
    "Chinese": "发票星期五到期，但是没有人告诉客户，所以催款单来得很突然。",
    "Thai": "ใบแจ้งหนี้ครบกำหนดวันศุกร์แต่ไม่มีใครบอกลูกค้า",
}
rows = [(kind, estimate_words(text), model.count_text(text)) for kind, text in texts.items()]
table = pd.DataFrame(rows, columns=["text", "words × 1.3 (published)", "tokens (yours)"]).set_index("text")
table["off by a factor of"] = (table["tokens (yours)"] / table["words × 1.3 (published)"]).round(1)
table

# %% [markdown]
# The rule was made for English prose, and on English prose it is good. On everything an agent carries besides it is wrong in the
# same direction: too low, for a log line by a factor of seven, for JSON and identifiers by more than ten. An estimate that is off
# by ten per cent costs you ten per cent. An estimate that says *1* for a line of Chinese does not measure anything.

# %% [markdown]
# ## A published budget, and an exact one
#
# Budgets are the remedy that every guide recommends. The one that *the lesson* publishes (the text on budgets, ordering, compression and
# tool selection that the start page speaks of) shares out a window of 128,000 tokens:
# keep 4,000 for the answer (2,000 to 4,000 is the advice), and cap the components at 1,000 for the system message, 2,000 for
# tools, 3,000 for what was retrieved, 5,000 for history and 500 for the query. A sound idea. As published, though, its
# counter is words × 1.3, and it budgets the *names* of the tools. What does that do to the assistant's eight?

# %%
names = ", ".join(tool["function"]["name"] for tool in tools)
pd.DataFrame(
    {"tokens": [estimate_words(names), model.count_text(names), cost.total]},
    index=["names, words × 1.3 (published method)", "names, exact", "schemas as rendered (yours)"],
)

# %% [markdown]
# The method reports one hundredth of what is paid. It also returns figures but no prompt, so that nobody can check it. Here is the
# same budget with exact counting. It returns the prompt itself, and its rows add up to that prompt's length.

# %%
from ctxcourse import ContextBudget

history = messages[1:-4]  # all but the last turn, whose question is the query
listing = "\n".join(m["content"] for m in messages if m["role"] == "tool")
fitted = ContextBudget().fit(
    model,
    system=messages[0]["content"],
    tools=tools,
    retrieved=[listing] * 4,
    history=history,
    query="Could the same thing be wrong in reminders.py?",
)
print(fitted.report())

# %% [markdown]
# Read the line of *retrieved*: four documents were offered, three were kept whole, and of the fourth the part that still fitted. A budget
# that shortens something should say so. (*History* is larger than the conversation bucket was, since it holds the tool results, too.) And a
# budget has to cut in the right place: to whole tokens, never through the middle of a
# character, and never between a tool call and its result.

# %%
from ctxcourse.tokens import truncate

family = "Family: 👨‍👩‍👧‍👦 done"
emoji = family[8:-5]
len(emoji), model.count_text(emoji), [truncate(family, limit, model) for limit in (3, 8, 14)]

# %% [markdown]
# The emoji in the middle is one character to a reader, seven code points to Python, and ten tokens to the model. It is kept
# whole or left out; half an emoji is mojibake, and a model that is given mojibake gives it back.

# %% [markdown]
# ## The worked example
#
# The lesson also works an example: a coding assistant with a system message of 500 tokens, fifty tools for 8,000, documents for
# 4,000, ten turns for 6,000, a query of 200, and 4,000 kept for the answer. That makes 22,700 tokens, 18 % of 128,000. (Elsewhere it
# says fifty tools at 150 each, which is 7,500. The two do not agree; nobody had counted.)
#
# Move the sliders. Two questions to answer with them. With a window of 32,768 and all else as it stands, how many tools may there be before half of
# it is taken? And which slider moves the bar most for a step that you would not think twice about?

# %% tags=["nbval-ignore-output"]
from ctxcourse.widgets import budget_explorer

budget_explorer()

# %% [markdown]
# Ten tools; the eleventh passes the half, because everything else has taken 14,700 already. And a turn of conversation, which costs you a
# moment, costs the window 600 tokens: as much as four tools, and there is another one in a minute.
#
# Eighteen per cent looks like plenty of room, and this is where the budget of a window misleads. The window says what *fits*.
# What it costs to fill it, and whether the model still finds things in it, are other questions; the second takes
# the rest of the course. The first we can settle now.

# %% [markdown]
# ## Published / yours
#
# | | published | yours |
# |---|---|---|
# | who counted | various assistants and tokenizers, as the lesson quotes them | Qwen2.5's tokenizer, on the coding assistant above |

# %%
dearest, cheapest = max(cost.per_tool.values()), min(cost.per_tool.values())
yours = [f"{cheapest} to {dearest}", f"{sys_only}", f"{cost.total / len(tools):.0f}", f"{cost.preamble}"]
published = ["50 to 200", "about 6,000 for one assistant", "150 or 160", "not given"]
figures = ["tokens a tool", "system message and scaffolding", "mean over a catalogue", "preamble, paid once"]
pd.DataFrame({"published": published, "yours": yours}, index=figures)

# %% [markdown]
# The range for a tool holds up. The second row is a reminder of what you are looking at: a demonstration with a system message of three lines.
# Real assistants write system messages a hundred times as long, and they are paid for at every call, too.

# %% [markdown]
# ## What a token costs in memory
#
# Of every token it has read the model keeps, in every layer, a key and a value, so that it need not read it again. That is
# the KV cache, and its size is a multiplication: keys and values, layers, heads, numbers a head, four bytes a number. (This model
# has fourteen heads that ask and only two that are asked, so only two are kept; that is called grouped-query attention.)

# %%
config = model.config
head = config.hidden_size // config.num_attention_heads
per_token = 2 * config.num_hidden_layers * config.num_key_value_heads * head * 4
per_token, model.kv_bytes_per_token

# %%
lengths = [everything, 22_700, 32_768, 128_000]
megabytes = [round(n * per_token / 1e6, 1) for n in lengths]
pd.DataFrame({"cache in MB": megabytes}, index=[f"{n:,} tokens" for n in lengths])

# %% [markdown]
# Twenty-four kilobytes a token: a page of text, some five hundred tokens, takes as much memory as a large photograph. The last row is
# a thought experiment, since this model's window ends at 32,768; a window of 128,000 would need more memory than the 2.5 GB of its weights.

# %% [markdown]
# ## What a token costs in time
#
# Reading and writing are two different kinds of work. *Prefill* reads the prompt, all tokens at once, and is bound by
# arithmetic. *Decode* writes the answer, one token after the other, and reads all the weights of the model for each.
#
# **Predict before you run.** Which takes longer on your machine: reading 500 tokens, or writing 50?

# %% tags=["nbval-ignore-output"]
from tqdm.auto import tqdm

sizes = [128, 512, 1024, 2048, 4096] if FULL else [128, 512, 1024]
line = "The reminder came as a surprise, since nobody had told the customer. "
model.complete("Hello", max_new_tokens=1)  # reads the weights before the clock starts
times = []
for size in tqdm(sizes, desc="reading", unit="prompt"):
    model.forget()  # or it would read only what is new since the last prompt
    answer = model.complete(truncate(line * 400, size, model), max_new_tokens=1)
    speed = answer.prompt_tokens / answer.seconds
    times.append((answer.prompt_tokens, round(answer.seconds, 2), round(speed)))
pd.DataFrame(times, columns=["prompt tokens", "seconds to the first token", "tokens a second"])

# %% tags=["nbval-ignore-output"]
story = model.complete("Write a short story about an invoice.", max_new_tokens=50)
model.forget()
first = model.complete("Write a short story about an invoice.", max_new_tokens=1)
rate = (story.seconds - first.seconds) / (story.new_tokens - first.new_tokens)
f"{1000 * rate:.0f} ms for each token written, {1000 * times[1][1] / times[1][0]:.0f} ms for each token read"

# %% [markdown]
# (Each prompt is 29 tokens longer than its text. You know by now who wrote them.)
#
# Time to first token grows with everything you put into the prompt, at every call, and a written token costs many times what a
# read one does. That is why a long prompt makes an agent feel slow even when its answers are short: it reads the whole budget
# again before it says anything, unless a prefix cache spares it the part that has not changed.

# %% [markdown]
# ## Practice
#
# Not graded. Write `overhead(text)`: how many tokens does a prompt grow by, beyond the tokens of the text itself, when one more user
# message with that text is appended to `hello`? Try it on a word, on a line of code, and on `"\n\n"`. Is it always the same? Why
# could it not be?

# %% tags=["practice"] question="overhead"
def overhead(text):
    raise NotImplementedError("Need to implement overhead")


# %% [markdown] tags=["hint"] question="overhead"
# Render twice, with the additional message and without, and subtract. Then subtract the tokens of the text.

# %% tags=["practice-solution"] question="overhead"
def overhead(text):
    # Five for nearly every text: two control tokens, the role, and two line breaks. One less where the text begins
    # with a line break, since that melts into one token with the line break after the role.
    longer = [*hello, {"role": "user", "content": text}]
    return model.count_prompt(longer) - model.count_prompt(hello) - model.count_text(text)


# %% [markdown]
# `hint("overhead")` and `solution("overhead")` help, after `from ctxcourse.learn import hint, solution`.

# %% [markdown]
# ## Quiz

# %% tags=["nbval-ignore-output"]
from ctxcourse.quiz import quiz

quiz("01_token_budget")

# %% [markdown]
# ## Your own agent, in five minutes
#
# 1. Save one request of your agent as `request.json`: an object with `messages` and `tools`, as it is sent to a model. Most frameworks
#    can log exactly that.
# 2. In a terminal of JupyterLab, in the folder where the file is: `ctxcourse count request.json`, with `--json` for a program to read.
# 3. Or here: put the file's name into the first line of the cell below, in place of the sample.
#
# Look at the largest bucket first. If it is *tools*, lesson 04 is yours; if it is *tool results* or *conversation*, lessons 03
# and 08; if it is *system*, somebody has been writing.

# %%
from ctxcourse.samples import read_request

mine = load_sample("coding_session")  # yours: read_request("request.json")
buckets(mine.messages, mine.tools, model)

# %% [markdown]
# ## Exercises
#
# `exercises/01_token_budget.ipynb` holds three graded questions: what each turn adds to the bill, a budget that reserves by priority, and
# a detector of waste.
#
# ## Further reading
#
# - The model's chat template itself (`model.tokenizer.chat_template`): two screens of Jinja, and afterwards no token of a prompt
#   is a mystery.
# - Sennrich, Haddow, Birch, *Neural Machine Translation of Rare Words with Subword Units* (2016): byte-pair encoding, and so why
#   an identifier falls to pieces.
# - Ahia et al., *Do All Languages Cost the Same?* (2023): the same sentence in other languages, in tokens and in money.
# - Pope et al., *Efficiently Scaling Transformer Inference* (2022): prefill, decode and the KV cache, with the arithmetic.
# - The [glossary](00_start_here.ipynb#Glossary): one meaning for each word of this course.
