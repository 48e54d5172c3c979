# %% [markdown]
# # Exercises 08 · Same transcript, different memory
#
# *Three questions, 12 points, about 45 minutes. Lesson [08](../notebooks/08_context_policies.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries your
# function on examples and says what is likely wrong. `hint("keep")` and its like help, a little more at each call. Points are
# given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples alone. You
# may add cells of your own. Hand in this notebook under any name.
#
# No model is needed. A policy is a function of the conversation, and what it costs is counted.

# %% tags=["setup"]
import pandas as pd

from ctxcourse import load_tokenizer
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.learn import case, check, hint
from ctxcourse.policies import FullHistory, Kept, Stateless, UserMessages, elided_results, sliding_window
from ctxcourse.widgets.playground import account

tok = load_tokenizer()
run = shipped_run()


class Yours(Stateless):
    """A function from messages to messages, in a policy's clothes."""

    name = "yours"

    def __init__(self, function):
        self.function = function

    def prompt(self, messages, counter):
        return Kept(self.function(messages, counter))


# %% [markdown]
# ## Question 1 · The leaderboard: a policy of your own (5 points)
#
# Of the policies that ask no model, *user messages + last four turns* comes out well in the lesson. Beat it. Write
# `keep(messages, counter)`, which is called before every call to the model, each time with the whole conversation so far, and
# returns the messages of the prompt. It remembers nothing from one call to the next. A *turn* is a user message and all that
# follows up to the next one. Messages have the form that they have in the lesson; `counter` is a tokenizer, should you want one.
#
# 1. What comes back is a valid prompt (`check_pairs` of `ctxcourse.messages`): each call has its results, right behind it. System
#    messages at the very beginning stay there, as they are.
# 2. The **current turn**, from the last user message on, stands at the end, as it is.
# 3. Of the **three turns before it**, every text that the user or the assistant wrote is still there, word for word and in its
#    order: somebody may always say “and in the other region?”. Calls and results of these turns need not be.
# 4. What the user laid down or established, at whatever turn, is still **stated** when the last turn begins: a number together with
#    what it stands for, a decision that has no number. You do not know in advance which message that will be.
# 5. The run, added up over all its calls, is billed fewer tokens than under *user messages + last four turns*.
#
# You may write messages of your own, such as a stub of one line in a result's place, and you may use what `ctxcourse` has. There
# are several ways; the leaderboard below shows how far yours gets on the recorded run, and the hidden tests hold it against other
# conversations as well, with other things said in other places.

# %% tags=["answer"] question="keep"
def keep(messages, counter):
    """Return the messages that the model is given of a conversation that ends right before it is called."""
    ### BEGIN SOLUTION
    begins = [place for place, message in enumerate(messages) if message["role"] == "user"] or [0]
    current, recent = begins[-1], begins[-4:][0]
    kept = []
    for place, message in enumerate(messages[:current]):
        if message["role"] in ("system", "user"):
            kept.append(message)
        elif message["role"] == "assistant" and place > recent and message["content"].strip():
            kept.append({"role": "assistant", "content": message["content"]})
    return kept + messages[current:]
    ### END SOLUTION


# %% tags=["check"] question="keep"
def turn(number, calls=1):
    """A turn: a question, so many calls of one message with their results, and an answer."""
    ids = [f"{number}-{call}" for call in range(calls)]
    made = [{"id": name, "type": "function", "function": {"name": "look", "arguments": {}}} for name in ids]
    asking = [{"role": "assistant", "content": "", "tool_calls": made}] if calls else []
    results = [{"role": "tool", "tool_call_id": name, "content": "a long list of things " * 9} for name in ids]
    said = {"role": "user", "content": f"question {number}"}
    return [said, *asking, *results, {"role": "assistant", "content": f"answer {number}"}]


def outline(messages):
    """What a prompt holds, in a few letters: s, u and a with the words of the text, c for a call, r for a result."""
    marks = []
    for message in messages:
        mark = "r" if message["role"] == "tool" else message["role"][0]
        words = "" if mark == "r" else message["content"].split(" ")[-1]
        marks.append(mark + words + ("c" if message.get("tool_calls") else ""))
    return marks


def kept_words(messages):
    """The outline of what is kept, without calls and results before the current turn."""
    return [mark for mark in outline(keep(messages, tok)) if mark not in ("ac", "r")]


system = {"role": "system", "content": "Be brief."}
six = [system, *(message for number in range(1, 6) for message in turn(number)), {"role": "user", "content": "question 6"}]
check(
    kept_words,
    case([system, {"role": "user", "content": "question 1"}], gives=["sbrief.", "u1"], hint="There is one turn, and it is the current one."),
    case(
        six,
        gives=["sbrief.", "u1", "u2", "u3", "a3", "u4", "a4", "u5", "a5", "u6"],
        mistakes=[
            (["sbrief.", "u1", "u2", "u3", "u4", "u5", "u6"], "Of the three turns before the current one the answers stay, too."),
            (["sbrief.", "u3", "a3", "u4", "a4", "u5", "a5", "u6"], "What the user said in the first turns is gone: rule 4."),
            (["sbrief.", "u1", "u2", "u3", "u4", "a4", "u5", "a5", "u6"], "Three turns before the current one: turns 3, 4 and 5."),
        ],
        hint="The words of turns 3 to 5, and of the older ones what the user said (there are other ways; the hidden tests know no outline).",
    ),
)

# %% [markdown]
# The leaderboard. The other rows are the lesson's policies; *recomputed* is what a cache of the prompt before would have to
# compute.

# %%
def leaderboard(function):
    """Your policy beside those of the lesson, over the recorded run, the cheapest first."""
    policies = [FullHistory(), sliding_window(), elided_results(), UserMessages(), Yours(function)]
    rows = []
    for policy in policies:
        made = account(run, policy, tok)
        number, shard = ("stated" if fact.stated else "present" if fact.present else "no" for fact in made.held)
        rows.append([policy.name, made.billed, made.recomputed, number, shard])
    table = pd.DataFrame(rows, columns=["policy", "billed", "recomputed", "employee number", "shard"])
    return table.sort_values("billed", ignore_index=True)


# %% tags=["check"] question="keep"
leaderboard(keep)

# %% [markdown] tags=["hint"] question="keep"
# Find the places of the user messages first. The last of them is where the current turn begins, the fourth from the end (or the
# first, if there are fewer) is where the three turns before it begin.

# %% [markdown] tags=["hint"] question="keep"
# What is expensive in the last four turns? Look at the buckets of a prompt in the playground: definitions are there in any case,
# and results are larger than words. A result is only there for good in the current turn.

# %% [markdown] tags=["hint"] question="keep"
# If a result goes, its call has to go as well, or the result becomes a stub: a call without its result is no valid prompt. A text
# may stand in the same message as a call, and the text has to stay.

# %% tags=["hidden-tests"] question="keep"
### BEGIN HIDDEN TESTS
import random

from ctxcourse import load_tokenizer
from ctxcourse.agent.probes import EMPLOYEE, SHARD, Fact, held
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.messages import check_pairs, normalise
from ctxcourse.policies import UserMessages, replay

NOISE = (
    "Look at the dashboards again, please.",
    "Hm. And the other region?",
    "I have told support about it.",
    "Then let us go on with the logs.",
    "They ask how long it will take. I said that we do not know.",
)
DECISION = "We decided that nobody restarts the broker before the audit is over."


def conversation(seed):
    """Messages, tools and facts of a made-up run: two things with an identifier and one without, each said once."""
    source = random.Random(seed)
    number, shard = str(source.randint(1_000, 9_999)), f"ord-shard-{source.randint(20, 90)}"
    turns = source.randint(14, 18)
    places = source.sample(range(turns - 5), 3)
    planted = {
        places[0]: f"From now on all our tickets are filed under employee number {number}, no others.",
        places[1]: f"The storage team has confirmed it, the affected shard is {shard}. The rest is fine.",
        places[2]: DECISION,
    }
    messages = [{"role": "system", "content": "You help with incidents."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": planted.get(turn, source.choice(NOISE))})
        if turn == turns - 1:
            break
        for step in range(source.randint(0, 2)):
            ids = [f"c{turn}-{step}-{call}" for call in range(source.randint(1, 2))]
            calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": {"at": turn}}} for name in ids]
            said = f"I look, for the time {turn}.{step}." if source.random() < 0.5 else ""
            messages.append({"role": "assistant", "content": said, "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": name, "content": f"line {source.randint(10, 99)} of the log, all well\n" * source.randint(5, 40)}
                for name in ids
            ]
        messages.append({"role": "assistant", "content": f"That was step {turn}."})
    messages.append({"role": "assistant", "content": "Done."})
    tool = {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": {"type": "object"}}}
    facts = [Fact("employee number", number, ("?",), says=EMPLOYEE.says), Fact("shard", shard, ("?",), says=SHARD.says)]
    return normalise(messages), [tool], facts


def ends(messages):
    return [place for place, message in enumerate(messages) if message["role"] == "assistant"]


def prompts(student, messages):
    """What the student's policy makes before each call; each has to be a valid prompt."""
    made = [student.keep(messages[:end], student.name("tok")) for end in ends(messages)]
    for prompt in made:
        check_pairs(prompt)
    return made


def total(made, tools):
    tok = load_tokenizer()
    return sum(tok.count_prompt(normalise(prompt), tools) for prompt in made)


def to_beat(messages, tools):
    return total([kept.messages for kept in replay(messages, UserMessages(4), load_tokenizer(), ends(messages))], tools)


def opens_last_turn(messages, made):
    """The prompt with which the last turn begins."""
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    return made[next(number for number, end in enumerate(ends(messages)) if end > last)]


def texts(messages):
    return [(m["role"], m["content"]) for m in messages if m["role"] in ("user", "assistant") and m["content"].strip()]


@points(
    1,
    title="A valid prompt that ends with the current turn",
    hint="Is each call kept with its results or not at all, the system message first, the current turn whole, with the results of its calls?",
)
def test_valid_to_the_end(student):
    for seed in (1, 2):
        messages, _, _ = conversation(seed)
        for end, prompt in zip(ends(messages), prompts(student, messages), strict=True):
            begin = max(place for place in range(end) if messages[place]["role"] == "user")
            assert prompt[0] == messages[0]
            assert normalise(prompt)[begin - end :] == messages[begin:end]
    greeting = normalise([{"role": "system", "content": "Be brief."}, {"role": "assistant", "content": "Hello!"}])
    assert prompts(student, greeting) == [greeting[:1]]
    only = normalise([{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Yes?"}])
    assert prompts(student, only) == [only[:1]]


@points(
    1,
    title="The words of the three turns before",
    hint="Every text of the user and of the assistant in these three turns stays, also one that stands in the same message as a call.",
)
def test_words_of_recent_turns(student):
    for seed in (3, 4, 5):
        messages, _, _ = conversation(seed)
        for end, prompt in zip(ends(messages), prompts(student, messages), strict=True):
            begins = [place for place in range(end) if messages[place]["role"] == "user"]
            wanted = texts(messages[begins[-4:][0] : end])
            assert texts(prompt)[-len(wanted) :] == wanted


def said_and_paid(student, messages, tools, facts, phrases):
    """Whether all is stated in the last turn's first prompt, and what the run is billed, beside what is to beat."""
    made = prompts(student, messages)
    opens = opens_last_turn(messages, made)
    stated = [held(fact, opens).stated for fact in facts]
    there = [any(phrase in message["content"] for message in opens) for phrase in phrases]
    return all([*stated, *there]), total(made, tools), to_beat(messages, tools)


@points(
    1,
    title="On the recorded run both facts are stated, for fewer tokens",
    hint="Is what was said at turns 2 and 19 still stated at turn 40, in its prompt, and does the whole run cost less than the policy to beat?",
)
def test_recorded_run_is_cheaper(student):
    recording = shipped_run()
    stated, billed, limit = said_and_paid(student, recording.messages, recording.tools, [EMPLOYEE, SHARD], [])
    assert stated
    assert billed < limit


@points(
    2,
    title="On other conversations, too",
    hint="Other numbers, other turns, and a decision that has no number. Does the policy know which messages matter, or only which did?",
)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_elsewhere_it_holds(student, seed):
    messages, tools, facts = conversation(seed)
    stated, billed, limit = said_and_paid(student, messages, tools, facts, ["nobody restarts the broker"])
    assert stated
    assert billed < limit
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · What a moved block makes a cache compute (4 points)
#
# A prefix cache remembers the prompt before. Of the next one it computes only what stands behind the longest common beginning.
# Servers keep that memory in **blocks** of tokens, and a block is of use only if all of it is the same. And one token has to be
# computed in any case, the last, since the answer begins with what comes out there.
#
# Write `recomputed(prompts, block)`: `prompts` is a list of prompts, each a list of token ids, at least one; the result is a list
# with one number a prompt, the tokens that have to be computed.
#
# 1. The first prompt is computed whole.
# 2. Of every other one, the tokens are spared that it has in common with **the prompt before** from the beginning, rounded down
#    to whole blocks of `block` tokens.
# 3. But never all: at least its last token is computed. The rounding comes behind that, so that a prompt of 64 tokens that is
#    sent twice has, in blocks of 16, 48 spared and not 63.
# 4. A `block` below 1 is a `ValueError`.
#
# With it, write `moved(opening, parts, pins, block)`, which says what a pinned text costs a cache in two places. Call `i` of a
# run (from 0) is sent the token ids `opening` (system message and tools), all of `parts[0]` to `parts[i]`, which is the
# conversation as it grows, and `pins[i]`, the text that is pinned in that call. There is one pin for each part. Return a dict
# with two totals over all calls: `"front"`, where the pin stands directly behind the opening, and `"end"`, where it stands at the
# very end.

# %% tags=["answer"] question="recomputed"
def recomputed(prompts, block):
    """Return, for each prompt, the tokens that a cache of the prompt before has to compute."""
    ### BEGIN SOLUTION
    if block < 1:
        raise ValueError(f"blocks of {block} tokens: give at least 1")
    figures, before = [], []
    for prompt in prompts:
        most = min(len(before), len(prompt) - 1)
        same = 0
        while same < most and before[same] == prompt[same]:
            same += 1
        figures.append(len(prompt) - same // block * block)
        before = prompt
    return figures
    ### END SOLUTION


def moved(opening, parts, pins, block):
    """Return the tokens that a cache computes over all calls, with the pin at the front and at the end."""
    ### BEGIN SOLUTION
    front, end, talk = [], [], []
    for part, pin in zip(parts, pins, strict=True):
        talk = talk + part
        front.append(opening + pin + talk)
        end.append(opening + talk + pin)
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}
    ### END SOLUTION


# %% tags=["check"] question="recomputed"
check(
    recomputed,
    case([[1, 2, 3, 4]], 1, gives=[4], hint="There is no prompt before the first."),
    case(
        [[1, 2, 3, 4], [1, 2, 3, 4, 5, 6], [1, 9, 3, 4, 5, 6]], 1,
        gives=[4, 2, 5],
        mistakes=[
            ([4, 2, 1], "Behind the first token that differs everything is computed, whether it is the same again or not."),
            ([4, 6, 6], "That is a run without a cache."),
        ],
    ),
    case(
        [[1, 2, 3, 4], [1, 2, 3, 4]], 1,
        gives=[4, 1],
        mistakes=[([4, 0], "One token is computed in any case: rule 3.")],
    ),
    case(
        [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7]], 4,
        gives=[6, 2],
        mistakes=[([6, 1], "Five tokens are the same, which is one whole block of four."), ([6, -2], "Rounded down, not up.")],
    ),
)

# %% tags=["check"] question="recomputed"
check(
    moved,
    case(
        [1, 2], [[10, 11], [12, 13], [14, 15]], [[7, 7, 7]] * 3, 1,
        gives={"front": 11, "end": 17},
        mistakes=[
            ({"front": 17, "end": 11}, "The two are the wrong way round."),
            ({"front": 27, "end": 27}, "These are the sizes of the prompts, without a cache."),
        ],
        hint="A pin that stays the same costs its tokens once at the front, and at the end in each call.",
    ),
    case(
        [1, 2], [[10, 11], [12, 13], [14, 15]], [[7, 1], [7, 2], [7, 3]], 1,
        gives={"front": 18, "end": 14},
        hint="This one changes from call to call, as a clock does. What stands behind it has to be computed again.",
    ),
)

# %% [markdown]
# Which of the two would you take for a rule that never changes, and which for the time of day? The tests know both.

# %% [markdown] tags=["hint"] question="recomputed"
# Count how many tokens are the same from the front, and stop at the first that is not. How far may you count, if one token has to
# be left?

# %% [markdown] tags=["hint"] question="recomputed"
# `//` rounds down. Round what is spared, not what is computed.

# %% [markdown] tags=["hint"] question="recomputed"
# Build both lists of prompts, one call after the other, and give each to `recomputed`.

# %% [markdown] tags=["hint"] question="recomputed"
# The conversation grows: call `i` has all parts up to `i`. `talk = talk + part` makes a new list; `talk += part` would change one
# that is in use already.

# %% tags=["hidden-tests"] question="recomputed"
### BEGIN HIDDEN TESTS
import random

from ctxcourse.grading.remote import StudentError


@points(
    1,
    title="The common beginning with the prompt before",
    hint="Everything behind the first token that differs is computed, the prompt before is the one that counts, and one token always is.",
)
def test_behind_the_first_difference(student):
    source = random.Random(8)
    for _ in range(10):
        length, at = source.randint(20, 60), source.randint(0, 15)
        first = [source.randint(1, 99) for _ in range(length)]
        other = [*first[:at], first[at] + 100, *first[at + 1 :], 5]
        assert student.recomputed([first, other, other, first, first + [3]], 1) == [length, len(other) - at, 1, length - at, 1]
    assert student.recomputed([[4], [4], [4, 4, 4], [4], [5, 4]], 1) == [1, 1, 2, 1, 2]
    assert student.recomputed([], 1) == []


@points(
    1,
    title="Whole blocks",
    hint="Round down what is spared, behind the rule of the last token: 64 tokens sent twice have 48 spared in blocks of 16. A block is at least 1.",
)
@pytest.mark.parametrize(
    ("block", "expected"),
    [(1, [64, 1, 1, 34]), (16, [64, 16, 1, 49]), (32, [64, 32, 1, 65]), (64, [64, 64, 1, 65]), (1_000, [64, 64, 65, 65])],
)
def test_whole_blocks(student, block, expected):
    same = list(range(64))
    other = [*range(31), 500, *range(32, 65)]
    assert student.recomputed([same, list(same), [*same, 64], other], block) == expected
    for wrong in (0, -16):
        with pytest.raises(StudentError, match="^ValueError"):
            student.recomputed([same], wrong)


OPENING = list(range(1, 41))


def grown(seed, calls):
    source = random.Random(seed)
    return [[source.randint(100, 999) for _ in range(source.randint(3, 30))] for _ in range(calls)]


@points(
    1,
    title="A pin that never changes",
    hint="At the front it is computed once. At the end it is computed in every call, since the conversation comes in before it.",
)
@pytest.mark.parametrize("calls", [1, 2, 25])
def test_pin_that_stays(student, calls):
    parts, pin = grown(calls, calls), [7_000, 7_001, 7_002, 7_003, 7_004]
    whole = len(OPENING) + sum(map(len, parts))
    assert student.moved(OPENING, parts, [pin] * calls, 1) == {"front": whole + 5, "end": whole + 5 * calls}


@points(
    1,
    title="A pin that changes, and blocks",
    hint="At the front everything behind a changed pin is computed again in each call; at the end the opening and the conversation are spared.",
)
def test_pin_that_changes(student):
    calls = 12
    parts = grown(99, calls)
    pins = [[8_000 + call, 9_000] for call in range(calls)]
    sizes = [sum(map(len, parts[: call + 1])) for call in range(calls)]
    found = student.moved(OPENING, parts, pins, 1)
    assert found == {"front": len(OPENING) + sum(size + 2 for size in sizes), "end": len(OPENING) + sizes[-1] + 2 * calls}
    # in blocks of 40 the opening is one block, and spared whole; of the conversation whole blocks are
    found = student.moved(OPENING, parts, pins, 40)
    assert found["front"] == len(OPENING) + sum(size + 2 for size in sizes)
    spared = sum((len(OPENING) + size) // 40 * 40 for size in sizes[:-1])
    assert found["end"] == sum(len(OPENING) + size + 2 for size in sizes) - spared
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · What may the parent inspect? (3 points)
#
# A sub-agent's answer comes back as a few sentences. If the parent is given the sub-agent's messages as well, it can ask one
# thing without any model: **where does each identifier in the answer come from?** Write `sources(answer, messages)`, which
# returns a dict from each identifier of the answer, in the order of its first place there, to a tuple `(kind, index)`.
#
# 1. An *identifier* is a longest run of letters, digits and hyphens (`str.isalnum`; the hyphen is `-`) that holds at least one
#    digit (`str.isdigit`). Hyphens at either end of it do not belong to it. `pay-shard-7`, `INC-2187`, `4417` and `v2` are
#    identifiers, `well-known` is none. Small and large letters are alike (`casefold`), and the keys of the dict are casefolded.
# 2. The *kind* is the best source that the messages have: `"user"` if a user message holds the identifier as one of its own, else
#    `"tool"` if a tool message does, else `"agent"` if an assistant message does, in its content. What an identifier is inside
#    another one does not count: `4417` is not in `44170`, and `7` is not in `pay-shard-7`.
# 3. `index` is the place of the **first** message of that kind that holds it. System messages are no source here.
# 4. An identifier that nobody said is `("nobody", None)`.
#
# `"agent"` means: the sub-agent repeats itself, and there is nothing behind it. It is the row to read twice, beside `"nobody"`.

# %% tags=["answer"] question="sources"
def sources(answer, messages):
    """Return where each identifier of an answer comes from: who said it first, and in which message."""
    ### BEGIN SOLUTION
    def identifiers(text):
        spaced = "".join(letter if letter.isalnum() or letter == "-" else " " for letter in text.casefold())
        runs = [run.strip("-") for run in spaced.split()]
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    said = [(message["role"], set(identifiers(message["content"]))) for message in messages]
    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            places = [place for place, (who, held) in enumerate(said) if who == role and identifier in held]
            if places:
                found[identifier] = (kind, places[0])
    return found
    ### END SOLUTION


# %% tags=["check"] question="sources"
seen = [
    {"role": "system", "content": "You look things up. Tickets begin with INC-1."},
    {"role": "user", "content": "Which shard has it? They confirmed pay-shard-7."},
    {"role": "assistant", "content": "It is pay-shard-7, on host ledger-n05."},
    {"role": "tool", "tool_call_id": "c1", "content": "lock wait on pay-shard-3, 2122 ms"},
]
check(
    sources,
    case(
        "The shard is pay-shard-7.", seen,
        gives={"pay-shard-7": ("user", 1)},
        mistakes=[
            ({"pay-shard-7": ("agent", 2)}, "A user's word is the better source: rule 2."),
            ({"7": ("nobody", None)}, "The identifier is the whole run, hyphens included."),
        ],
    ),
    case(
        "PAY-SHARD-3 waits 2,122 ms on ledger-n05; see INC-1 and INC-2390.", seen,
        gives={
            "pay-shard-3": ("tool", 3),
            "2": ("nobody", None),
            "122": ("nobody", None),
            "ledger-n05": ("agent", 2),
            "inc-1": ("nobody", None),
            "inc-2390": ("nobody", None),
        },
        hint="A comma ends a run, so that 2,122 is two of them and neither stands there. What the system message says is no source.",
    ),
    case("I do not know, it is a well-known problem.", seen, gives={}, hint="No digit, no identifier."),
)

# %% [markdown] tags=["hint"] question="sources"
# Write a function first that finds the identifiers of one text. You need it for the answer and for each message.

# %% [markdown] tags=["hint"] question="sources"
# Put a space in the place of every character that belongs to no identifier, and split. Then the hyphens at both ends, then those
# without a digit.

# %% [markdown] tags=["hint"] question="sources"
# Compare identifiers with identifiers, and not with texts: `"4417" in "44170"` is true.

# %% tags=["hidden-tests"] question="sources"
### BEGIN HIDDEN TESTS
import random


def say(role, content):
    message = {"role": role, "content": content}
    return {**message, "tool_call_id": "c1"} if role == "tool" else message


@points(
    1,
    title="What an identifier is",
    hint="Whole runs of letters, digits and hyphens with a digit in them, without hyphens at the ends, casefolded, each once, in order.",
)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Shard pay-shard-7, ticket INC-2187.", ["pay-shard-7", "inc-2187"]),
        ("-7- and --pay-8--, no more", ["7", "pay-8"]),
        ("b2 a1 B2 A1 a1", ["b2", "a1"]),
        ("v2_final (4417); 10:41 UTC, 0.08 %", ["v2", "4417", "10", "41", "0", "08"]),
        ("größe7 ４４ ½-x", ["grösse7", "４４"]),
        ("nothing, a well-known state - - --", []),
        ("", []),
    ],
)
def test_runs_with_a_digit(student, answer, expected):
    found = student.sources(answer, [])
    assert list(found) == expected
    assert all(tuple(source) == ("nobody", None) for source in found.values())


@points(
    1,
    title="The best source, and its first message",
    hint="The user before a tool, a tool before the agent, whoever spoke first; the index is that of the first message of the best kind.",
)
def test_best_source_first_message(student):
    source = random.Random(4)
    ranks = {"user": "user", "tool": "tool", "assistant": "agent", "system": "nobody"}
    for _ in range(25):
        name = f"{source.choice(['pay', 'ord'])}-shard-{source.randint(1, 99)}"
        roles = [source.choice(list(ranks)) for _ in range(source.randint(1, 9))]
        messages = [say(role, f"It is {name.upper()}." if source.random() < 0.5 else "Nothing.") for role in roles]
        expected = ("nobody", None)
        for role in ("user", "tool", "assistant"):
            places = [i for i, m in enumerate(messages) if m["role"] == role and name in m["content"].casefold()]
            if places:
                expected = (ranks[role], places[0])
                break
        assert tuple(student.sources(f"The shard: {name}", messages)[name]) == expected


@points(
    1,
    title="No part of another one",
    hint="Compare whole identifiers: 4417 is not in 44170, 7 is not in pay-shard-7, and pay-shard-7 is not in pay-shard-71.",
)
@pytest.mark.parametrize(
    ("answer", "said", "found"),
    [
        ("4417", "It is 44170.", False),
        ("4417", "It is E4417.", False),
        ("4417", "It is (4417).", True),
        ("7", "It is pay-shard-7.", False),
        ("pay-shard-7", "It is pay-shard-71.", False),
        ("pay-shard-7", "It is pre-pay-shard-7.", False),
        ("pay-shard-7", "It is Pay-Shard-7-.", True),
        ("pay-shard-7", "pay-shard-71, no, pay-shard-7", True),
    ],
)
def test_no_part_of_another(student, answer, said, found):
    result = student.sources(answer, [say("system", answer), say("user", said)])
    assert tuple(result[answer]) == (("user", 1) if found else ("nobody", None))
### END HIDDEN TESTS
