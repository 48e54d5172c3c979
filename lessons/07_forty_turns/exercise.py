# %% [markdown]
# # Exercises 07 · An agent's bill
#
# *Three questions, 12 points, about 45 minutes. Lesson [07](../notebooks/07_forty_turns.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries your
# function on examples and says what is likely wrong. `hint("replay")` and its like help, a little more at each call. Points are
# given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples alone. You
# may add cells of your own. Hand in this notebook under any name.
#
# No model is needed; `tok` counts as it does. Where a summary has to be written, your function is handed a function that does it;
# the ones below stand in for a model.

# %% tags=["setup"]
from dataclasses import asdict

from ctxcourse import buckets, load_sample, load_tokenizer
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.history import RollingSummary
from ctxcourse.learn import case, check, hint

tok = load_tokenizer()
run = shipped_run()
session, session_tools = load_sample("coding_session")


def brief(prompt):
    """A summariser that has one thing to say about everything."""
    return "An incident is looked into."


def gist(prompt):
    """A summariser that repeats how the text began, so that it goes on repeating it."""
    return " ".join(prompt[-1]["content"].split()[:40])


def parrot(prompt):
    """A summariser that gives back what it was given. It is refused."""
    return prompt[-1]["content"]


# %% [markdown]
# ## Question 1 · Context replay (5 points)
#
# What would the run have looked like under lesson 03's rolling summary at 5,000 tokens? A recording can answer that without a
# model that acts: replay the transcript turn by turn, let the compressor have its way at the end of each, and look at the
# buckets. Write `replay(messages, tools, summarise, tok, threshold=5_000)`, which returns a tuple `(rows, start)`.
#
# 1. A turn is a message from the user and everything up to the next one. What stands before the first of them belongs to the first
#    turn. Turns count from 1; without any message from the user the result is `([], None)`.
# 2. The replay **carries a conversation on**. At the end of each turn, that turn's messages stand behind what the turn before
#    left, and `compress` is called once on the whole. What it returns is what this turn leaves. Nothing is ever fetched from the
#    recording again.
# 3. The threshold is meant for the whole prompt, **with its tools**. `RollingSummary` counts without them, so its limit is the
#    threshold less the `tools` of `buckets(messages, tools, tok)`. The compressor is `RollingSummary(summarise, limit,
#    summary_tokens=limit // 10)`, all else as it comes. An error of its own is passed on.
# 4. `rows` has a dict for each turn: `turn`; then `system`, `tools`, `conversation` and `tool_results`, the buckets of what the
#    turn leaves, tools included; and `spent`, the tokens that the summariser read and wrote at the end of this turn
#    (`spent_tokens`).
# 5. `start` is the first turn at whose end anything was taken away or shortened, None if there is none. To be over the limit is
#    not enough: where nothing is older than the messages to be kept, `RollingSummary` hands back all of them.

# %% tags=["answer"] question="replay"
def replay(messages, tools, summarise, tok, threshold=5_000):
    """Return the buckets that each turn leaves under a rolling summary, and the turn at which it starts to compress."""
    ### BEGIN SOLUTION
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    edges = [0, *asked[1:], len(messages)]
    left, rows, start = [], [], None
    for turn in range(1, len(edges)):
        made = rule.compress(left + messages[edges[turn - 1] : edges[turn]], tok)
        left = made.messages
        if start is None and made.dropped:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": made.spent_tokens})
    return rows, start
    ### END SOLUTION


# %% tags=["check"] question="replay"
def sums(messages, tools, summarise, tok, threshold=5_000):
    """What `replay` says, in short: the whole prompt each turn leaves, all that was spent, and the start."""
    rows, start = replay(messages, tools, summarise, tok, threshold)
    names = ("system", "tools", "conversation", "tool_results")
    return [sum(row[name] for name in names) for row in rows], sum(row["spent"] for row in rows), start


hello = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]
check(
    replay,
    case(
        hello, [], brief, tok,
        gives=([{"turn": 1, "system": 24, "tools": 0, "conversation": 13, "tool_results": 0, "spent": 0}], None),
        hint="One turn, far below 5,000 tokens: it is left as it is.",
    ),
    case([{"role": "system", "content": "Be brief."}], [], brief, tok, gives=([], None), hint="Nobody has asked anything."),
)
check(
    sums,
    case(
        session, session_tools, brief, tok, 2_200,
        gives=([1803, 2028, 1448, 1806], 1024, 3),
        mistakes=[(([1803, 2028, 2436, 2794], 0, None), "The threshold is for the prompt with its tools: the compressor's own limit is lower by these.")],
    ),
    case(
        session, session_tools, gist, tok, 2_000,
        gives=([1803, 1345, 1753, 1480], 1630, 2),
        mistakes=[
            (
                ([1803, 1345, 1500, 1478], 3330, 2),
                "Was each turn compressed from the recording? It goes on from what the turn before left.",
            )
        ],
    ),
)

# %% [markdown]
# When it works, have a look at the recorded run, where the threshold is that of lesson 03:
#
# ```python
# from ctxcourse.plots import turn_bars
#
# rows, start = replay(run.messages, run.tools, gist, tok)
# turn_bars([{name: row[name] for name in ("system", "tools", "conversation", "tool_results")} for row in rows])
# ```
#
# A saw. At how many turns was anything spent, and how many tokens in all? (`spent` has what the summariser wrote, too, so do
# not add it to the lesson's bill.)

# %% [markdown] tags=["hint"] question="replay"
# Find the places where a turn ends first: before each message from the user but the first, and at the end. Then one loop over the
# turns.

# %% [markdown] tags=["hint"] question="replay"
# `compress(conversation, tok)` returns an object: `messages` is the new conversation, `spent_tokens` what it cost, and `dropped`
# how many of the old messages are no longer there in full.

# %% [markdown] tags=["hint"] question="replay"
# Keep one variable with what the last turn left. It is an empty list before the first turn, and each turn ends by setting it to
# `made.messages`. The rows are the buckets of that variable, not of the recording.

# %% tags=["hidden-tests"] question="replay"
### BEGIN HIDDEN TESTS
from dataclasses import asdict

from ctxcourse import buckets, load_sample, load_tokenizer
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.grading.remote import StudentError
from ctxcourse.history import RollingSummary

BUCKETS = ("system", "tools", "conversation", "tool_results")
STAND_INS = {
    "brief": lambda prompt: "An incident is looked into.",
    "gist": lambda prompt: " ".join(prompt[-1]["content"].split()[:40]),
    "parrot": lambda prompt: prompt[-1]["content"],
}
LOOK = {"type": "function", "function": {"name": "look", "description": "Look at a host.", "parameters": {"type": "object"}}}
SYSTEM = {"role": "system", "content": "You watch hosts."}


def asks(number, words=12):
    return {"role": "user", "content": f"Look at host-{number:03}, please: " + "it is slow again, " * words}


def looks(number, lines=8, answered=True):
    """An answer with two calls, their results, and what is made of them."""
    ids = [f"call-{number}-{place}" for place in range(2)]
    calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": {"host": number}}} for name in ids]
    found = [{"role": "tool", "tool_call_id": name, "content": f"{name}: disk {number} full\n" * lines} for name in ids]
    said = [{"role": "assistant", "content": f"The disk of host-{number:03} is full."}] if answered else []
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *found, *said]


def watch(turns, first=0):
    return [SYSTEM, *(message for n in range(first, first + turns) for message in (asks(n), *looks(n)))]


def ours(messages, tools, name, threshold):
    """The replay by its rules: what each turn leaves, what it spent, and what was taken away."""
    tok = load_tokenizer()
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(STAND_INS[name], limit, summary_tokens=limit // 10)
    turns = []
    for message in messages:
        if not turns or (message["role"] == "user" and any(m["role"] == "user" for m in turns[-1])):
            turns.append([])
        turns[-1].append(message)
    carried, found = [], []
    for number, turn in enumerate(turns, start=1):
        made = rule.compress([*carried, *turn], tok)
        carried = made.messages
        row = {"turn": number, **asdict(buckets(carried, tools, tok)), "spent": made.spent_tokens}
        found.append((row, made.dropped, made.tokens_before > limit))
    first = next((row["turn"] for row, dropped, _ in found if dropped), None)
    return [row for row, _, _ in found], first, next((row["turn"] for row, _, over in found if over), None)


def theirs(student, messages, tools, name, threshold):
    return student.replay(messages, tools, student.name(name), student.name("tok"), threshold)


@points(
    1,
    title="Turns, and their buckets while there is room",
    hint="One row a turn, from 1; a greeting before the first user message belongs to turn 1; the last turn ends with the conversation.",
)
def test_turns_and_buckets(student):
    tok = load_tokenizer()
    greeting = {"role": "assistant", "content": "Good morning. What is slow?"}
    talk = [SYSTEM, greeting, asks(1), *looks(1), asks(2), asks(3), *looks(3, answered=False)]
    rows, start = theirs(student, talk, [LOOK], "brief", 50_000)
    assert start is None
    ends = [7, 8, 12]
    assert rows == [
        {"turn": turn, **asdict(buckets(talk[:end], [LOOK], tok)), "spent": 0} for turn, end in enumerate(ends, start=1)
    ]
    for nobody in ([], [SYSTEM], [SYSTEM, greeting]):
        assert tuple(theirs(student, nobody, [LOOK], "brief", 50_000)) == ([], None)


@points(
    1,
    title="The threshold holds for the prompt with its tools",
    hint="RollingSummary counts messages alone: is its limit the threshold less the tools' bucket, and the summary a tenth of that limit?",
)
@pytest.mark.parametrize("threshold", [1_900, 2_300, 3_000])
def test_threshold_with_tools(student, threshold):
    messages = watch(14)
    tools = load_sample("coding_session")[1]
    rows, start = theirs(student, messages, tools, "brief", threshold)
    expected, first, _ = ours(messages, tools, "brief", threshold)
    assert start == first
    assert all(sum(row[name] for name in BUCKETS) <= threshold for row in rows[first:])
    assert [sum(row[name] for name in BUCKETS) for row in rows] == [sum(row[name] for name in BUCKETS) for row in expected]
    bare, later = theirs(student, messages, [], "brief", threshold)
    assert later == ours(messages, [], "brief", threshold)[1] > first
    assert {row["tools"] for row in bare} == {0}
    with pytest.raises(StudentError, match="^HistoryError"):
        theirs(student, messages, tools, "brief", 400)


@points(
    1,
    title="The conversation is carried on, with its summary, and each summary is paid for",
    hint="Does the next turn begin with what the last one left, summary included, and is `spent` that turn's own?",
)
@pytest.mark.parametrize(("summarise", "threshold"), [("gist", 1_200), ("gist", 1_700), ("brief", 1_200)])
def test_carried_on(student, summarise, threshold):
    messages = watch(16, first=40)
    rows, start = theirs(student, messages, [LOOK], summarise, threshold)
    expected, first, _ = ours(messages, [LOOK], summarise, threshold)
    assert start == first
    assert rows == expected
    assert len([row for row in rows if row["spent"]]) > 2


@points(
    1,
    title="It starts where something is taken away, not where there is too much",
    hint="Over the limit with nothing older than the newest messages, all is kept: that turn is no start. A refused summary that ends in stubs is.",
)
def test_start(student):
    heavy = [SYSTEM, asks(1, 200), {"role": "assistant", "content": "Which of them?"}, asks(2, 3)]
    heavy += [{"role": "assistant", "content": "I look."}, asks(3, 3), {"role": "assistant", "content": "Done."}]
    _, first, over = ours(heavy, [LOOK], "brief", 900)
    assert over < first
    assert theirs(student, heavy, [LOOK], "brief", 900)[1] == first
    stubs = watch(9)
    rows, start = theirs(student, stubs, [LOOK], "parrot", 1_900)
    expected, first, _ = ours(stubs, [LOOK], "parrot", 1_900)
    assert (rows, start) == (expected, first)
    assert first is not None


@points(
    1,
    title="The recorded run at 5,000 tokens, and with other thresholds",
    hint="Try replay(run.messages, run.tools, gist, tok): forty rows, and no prompt over 5,000 tokens behind the start.",
)
@pytest.mark.parametrize(("summarise", "threshold", "first"), [("gist", 5_000, 0), ("brief", 5_500, 9)])
def test_recorded_run(student, summarise, threshold, first):
    run = shipped_run()
    asked = [place for place, message in enumerate(run.messages) if message["role"] == "user"]
    messages = run.messages[:1] + run.messages[asked[first] :]
    rows, start = theirs(student, messages, run.tools, summarise, threshold)
    expected, starts, _ = ours(messages, run.tools, summarise, threshold)
    assert start == starts
    assert rows == expected
    assert len(rows) == 40 - first
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · What a cache really takes over (4 points)
#
# The lesson's `recomputed` is a rule for the blackboard: a prompt takes over what it shares with the prompt of the call before,
# to the token. Serving software is less exact and remembers longer. Write `cached(prompts, block, least)` for it. `prompts` are
# the prompts of a run in order, each a list of token ids, as `tok.encode_prompt(messages, tools)` gives them; none is empty. It
# returns a dict:
#
# 1. `billed` is the size of all prompts together.
# 2. A prompt may take over the longest beginning that it shares with **any one** of the prompts before it, not only with the last.
# 3. Its last token is always computed, even if the whole prompt has been there before: without it there would be nothing to
#    answer from.
# 4. Tokens are kept in blocks of `block`: what a prompt takes over (rules 2 and 3) is rounded down to whole blocks.
# 5. If fewer than `least` tokens are left of it then, nothing is taken over.
# 6. `computed` is what was not taken over, over all prompts.
# 7. `breaks` lists the calls, counted from 1, whose prompt does not begin with the whole prompt of the call before. The first
#    call has none before it.
#
# A `block` below 1 raises a `ValueError`.

# %% tags=["answer"] question="cached"
def cached(prompts, block, least):
    """Return what is billed, what a prefix cache has to compute, and at which calls the prefix broke."""
    ### BEGIN SOLUTION
    if block < 1:
        raise ValueError(f"a block of {block} tokens holds nothing")

    def shared(one, other):
        size = 0
        for a, b in zip(one, other, strict=False):
            if a != b:
                break
            size += 1
        return size

    computed, breaks = 0, []
    for call, prompt in enumerate(prompts):
        longest = max((shared(prompt, earlier) for earlier in prompts[:call]), default=0)
        taken = min(longest, len(prompt) - 1) // block * block
        computed += len(prompt) - (taken if taken >= least else 0)
        if call and shared(prompt, prompts[call - 1]) < len(prompts[call - 1]):
            breaks.append(call + 1)
    return {"billed": sum(map(len, prompts)), "computed": computed, "breaks": breaks}
    ### END SOLUTION


# %% tags=["check"] question="cached"
def result(billed, computed, *breaks):
    return {"billed": billed, "computed": computed, "breaks": list(breaks)}


sent = [tok.encode_prompt(session[:place], session_tools) for place, m in enumerate(session) if m["role"] == "assistant"]
check(
    cached,
    case(
        [[1, 2, 3, 4], [1, 2, 3, 4, 5, 6]], 1, 0,
        gives=result(10, 6),
        mistakes=[(result(10, 10), "The second prompt begins with the whole first one: four of its tokens need not be computed.")],
    ),
    case(
        [[1, 2, 3, 4, 5], [1, 2, 9, 4, 5], [1, 2, 3, 4, 5, 6]], 1, 0,
        gives=result(16, 9, 2, 3),
        mistakes=[(result(16, 12, 2, 3), "The third prompt shares five tokens with the first: any earlier prompt will do.")],
    ),
    case(
        [[1, 2, 3, 4], [1, 2, 3, 4]], 2, 0,
        gives=result(8, 6),
        mistakes=[(result(8, 4), "The last token is computed in any case: three are left, which is one whole block of two.")],
    ),
    case(sent, 16, 1_024, gives=result(20055, 2791), hint="A conversation that only grows never breaks its prefix; each prompt loses part of a block."),
    case([[1]], 0, 0, raises=ValueError, hint="A block of no tokens."),
)

# %% [markdown] tags=["hint"] question="cached"
# Write a function that counts how many tokens two lists share from the beginning. Rules 2 and 7 both need it.

# %% [markdown] tags=["hint"] question="cached"
# The order matters: the longest shared beginning, then at most all but the last token, then whole blocks (`n // block * block`),
# and only then the comparison with `least`.

# %% [markdown] tags=["hint"] question="cached"
# `breaks` has nothing to do with blocks. A prompt continues the one before if it shares as many tokens with it as that one has.

# %% tags=["hidden-tests"] question="cached"
### BEGIN HIDDEN TESTS
import random

from ctxcourse import load_sample, load_tokenizer
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.grading.remote import StudentError
from ctxcourse.history import SlidingWindow


def by_rule(prompts, block, least):
    computed = 0
    for call, prompt in enumerate(prompts):
        best = 0
        for earlier in prompts[:call]:
            most = min(len(prompt), len(earlier))
            best = max(best, next((n for n in range(most) if prompt[n] != earlier[n]), most))
        best = min(best, len(prompt) - 1)
        best -= best % block
        computed += len(prompt) - (best if best >= least else 0)
    breaks = [n + 1 for n in range(1, len(prompts)) if prompts[n][: len(prompts[n - 1])] != prompts[n - 1]]
    return {"billed": sum(len(prompt) for prompt in prompts), "computed": computed, "breaks": breaks}


@points(
    1,
    title="A conversation that grows, and one that slides",
    hint="Growing, only what is new is computed and nothing breaks. Are the breaks calls that do not begin with all of the prompt before?",
)
def test_grows_and_slides(student):
    tok = load_tokenizer()
    run = shipped_run()
    calls = run.calls()[:14]
    growing = [tok.encode_prompt(run.prompt(call), run.tools) for call in calls]
    assert student.cached(growing, 1, 0) == {
        "billed": sum(map(len, growing)), "computed": len(growing[-1]), "breaks": [],
    }  # fmt: skip
    window = SlidingWindow(6)
    sliding = [tok.encode_prompt(window.compress(run.prompt(call), tok).messages, run.tools) for call in calls]
    found = student.cached(sliding, 1, 0)
    assert found == by_rule(sliding, 1, 0)
    assert len(found["breaks"]) > 5
    assert student.cached([], 1, 0) == {"billed": 0, "computed": 0, "breaks": []}
    assert student.cached([[7, 7]], 1, 0) == {"billed": 2, "computed": 2, "breaks": []}
    assert student.cached([[1, 2, 3], [1, 2]], 1, 0) == {"billed": 5, "computed": 4, "breaks": [2]}


@points(
    1,
    title="Any earlier prompt will do",
    hint="Does a prompt look back further than to the call before? It takes over from one earlier prompt, the one that it shares most with.",
)
def test_any_earlier(student):
    source = random.Random(7)
    for _ in range(12):
        stems = [[source.randint(0, 9) for _ in range(30)] for _ in range(3)]
        prompts = [source.choice(stems)[: source.randint(5, 30)] + [source.randint(10, 99) for _ in range(5)] for _ in range(9)]
        assert student.cached(prompts, 1, 0) == by_rule(prompts, 1, 0)


@points(
    1,
    title="Whole blocks, a least size, and a last token",
    hint="First all but the last token, then whole blocks, then the least. Exactly `least` tokens are enough.",
)
def test_blocks(student):
    stem = list(range(100))
    for block, least in ((16, 0), (16, 32), (16, 33), (7, 49), (100, 100), (1, 99), (1, 100), (128, 0)):
        for prompts in (
            [stem, stem],
            [stem, stem[:33]],
            [stem, stem[:32]],
            [stem, [*stem, 5]],
            [stem[:49], [*stem[:50], 3], stem],
            [stem, [*stem[:33], -1]],
            [stem, [*stem[:48], -1], [-1, *stem]],
        ):
            assert student.cached(prompts, block, least) == by_rule(prompts, block, least)


@points(
    1,
    title="A policy that breaks the prefix, in a real run, and blocks that cannot be",
    hint="Put rules 2 to 5 together on a long conversation; a block below 1 is a ValueError, even without prompts.",
)
@pytest.mark.parametrize(("last", "block", "least"), [(4, 16, 1_024), (8, 64, 0), (5, 128, 1_025)])
def test_real_run(student, last, block, least):
    tok = load_tokenizer()
    messages, tools = load_sample("coding_session")
    window = SlidingWindow(last)
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    whole = [tok.encode_prompt(messages[:place], tools) for place in places]
    slid = [tok.encode_prompt(window.compress(messages[:place], tok).messages, tools) for place in places]
    mixed = [prompt for pair in zip(whole, slid, strict=True) for prompt in pair]
    for prompts in (slid, mixed):
        assert student.cached(prompts, block, least) == by_rule(prompts, block, least)
    for impossible in (0, -16):
        with pytest.raises(StudentError, match="^ValueError"):
            student.cached([], impossible, 0)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · Definitions that come when they are called for (3 points)
#
# In the run, twelve definitions were sent with every request, and four of the tools were never called. Suppose that somebody who
# knew the future had put each definition into the prompt just in time: at the request whose answer calls the tool for the first
# time, and at all after it. Nobody knows the future, so no selection of tools can do better unless it also takes definitions out
# again; that makes it a bound worth knowing. Write `just_in_time(messages, tools, tok)`, which returns a dict. `tools` are
# schemas in chat form.
#
# 1. A request is what an assistant message answers, so there are as many as there are assistant messages.
# 2. What some tools cost is counted by difference, beside the system messages that open the conversation: with `opening` for
#    these, `tok.count_prompt(opening, some) - tok.count_prompt(opening, [])`. No tools cost nothing; the preamble comes with the
#    first.
# 3. `always` is what definitions cost over the run with all tools at every request.
# 4. `late` is what they cost if each comes just in time, and stays. They stand in the order of the catalogue. An answer may call
#    several tools. Names that no definition bears add nothing.
# 5. `changes` counts the requests, the first one left out, whose definitions are not those of the request before. There a
#    prefix cache has to begin again, almost from the top.

# %% tags=["answer"] question="just_in_time"
def just_in_time(messages, tools, tok):
    """Return what definitions cost always and just in time, and how often the second way changes the prompt's beginning."""
    ### BEGIN SOLUTION
    first = next((place for place, message in enumerate(messages) if message["role"] != "system"), len(messages))
    opening = messages[:first]
    bare = tok.count_prompt(opening, [])
    requests = late = changes = size = 0
    called, present = set(), []
    for message in messages:
        if message["role"] != "assistant":
            continue
        called |= {call["function"]["name"] for call in message.get("tool_calls") or []}
        now = [tool for tool in tools if tool["function"]["name"] in called]
        if len(now) > len(present):
            changes += requests > 0
            size, present = tok.count_prompt(opening, now) - bare, now
        requests += 1
        late += size
    return {"always": requests * (tok.count_prompt(opening, tools) - bare), "late": late, "changes": changes}
    ### END SOLUTION


# %% tags=["check"] question="just_in_time"
def calling(name):
    call = {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": {}}}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "Error: there is no such tool"}
    return [{"role": "assistant", "content": "", "tool_calls": [call]}, result]


def costs(always, late, changes):
    return {"always": always, "late": late, "changes": changes}


check(
    just_in_time,
    case(hello, run.tools, tok, gives=costs(1817, 0, 0), hint="One request, and nothing was called: all twelve against none."),
    case(
        session, session_tools, tok,
        gives=costs(9780, 5625, 3),
        mistakes=[
            (costs(9780, 4953, 4), "A definition has to be there already when the answer is written that calls it."),
            (costs(9780, 5625, 4), "The first request has no request before it, so that nothing changes there."),
        ],
    ),
    case(
        [*hello, *calling("get_weather"), *calling("get_tickets")], run.tools, tok,
        gives=costs(5451, 0, 0),
        hint="Neither `get_weather` nor `get_tickets` is one of the twelve: calling them brings no definition.",
    ),
)

# %% [markdown] tags=["hint"] question="just_in_time"
# Go through the assistant messages in order with a set of the names that were called so far. An answer's own calls are added
# before its request is counted.

# %% [markdown] tags=["hint"] question="just_in_time"
# The tools of a request are `[tool for tool in tools if tool["function"]["name"] in called]`, so that the catalogue gives the
# order, and names that it does not have fall out by themselves.

# %% [markdown] tags=["hint"] question="just_in_time"
# Count a set of definitions with `opening`, and again only where it has changed; the same place is where `changes` grows.

# %% tags=["hidden-tests"] question="just_in_time"
### BEGIN HIDDEN TESTS
from ctxcourse import load_sample, load_tokenizer
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.tools import load_tools


def calls_to(*names, text=""):
    """An answer that calls these tools, and the results."""
    ids = [f"{place}-{name}" for place, name in enumerate(names)]
    calls = [{"id": i, "type": "function", "function": {"name": n, "arguments": {}}} for i, n in zip(ids, names, strict=True)]
    answer = {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})
    return [answer, *({"role": "tool", "tool_call_id": i, "content": "done"} for i in ids)]


def talk(*answers, opening=()):
    made = [{"role": "system", "content": text} for text in opening]
    for number, names in enumerate(answers):
        made += [{"role": "user", "content": f"Go on, {number}."}] if number % 2 == 0 else []
        made += calls_to(*names)
    return made


def cost(tools, names, opening=()):
    tok = load_tokenizer()
    system = [{"role": "system", "content": text} for text in opening]
    some = [tool for tool in tools if tool["function"]["name"] in names]
    return tok.count_prompt(system, some) - tok.count_prompt(system, [])


def named(tools):
    return [tool["function"]["name"] for tool in tools]


@points(
    1,
    title="Every request is billed, always and late",
    hint="Requests are assistant messages, not turns and not calls to tools; the request that first calls a tool has its definition already.",
)
def test_requests(student):
    tools = load_tools()
    a, b, c = named(tools)[2:5]
    for opening in ((), ("You are brief.",)):
        messages = talk((), (a,), (), (a,), (b, c), (), opening=opening)
        found = student.just_in_time(messages, tools, student.name("tok"))
        assert found["always"] == 6 * cost(tools, named(tools), opening)
        assert found["late"] == 3 * cost(tools, [a], opening) + 2 * cost(tools, [a, b, c], opening)
    nobody = student.just_in_time([{"role": "user", "content": "Hello"}], tools, student.name("tok"))
    assert (nobody["always"], nobody["late"]) == (0, 0)
    bare = student.just_in_time(talk((), ()), [], student.name("tok"))
    assert (bare["always"], bare["late"]) == (0, 0)


@points(
    1,
    title="Order, opening and unknown names",
    hint="Definitions stand in the order of the catalogue and beside the opening system messages; a name without a definition adds nothing.",
)
def test_rendered(student):
    tools = load_tools()[:6]
    names = named(tools)
    for opening in (("Answer from the tools alone",), ("Answer from the tools alone.\n", "Second notice")):
        messages = talk((names[5],), ("no_such_tool",), (names[0], names[3]), ("another",), opening=opening)
        messages += [{"role": "system", "content": "A later notice"}, {"role": "assistant", "content": "Yes"}]
        found = student.just_in_time(messages, tools, student.name("tok"))
        assert found["always"] == 5 * cost(tools, names, opening)
        late = 2 * cost(tools, [names[5]], opening) + 3 * cost(tools, [names[0], names[3], names[5]], opening)
        assert found["late"] == late
    unknown = student.just_in_time(talk(("no_such_tool",), ("no_such_tool",)), tools, student.name("tok"))
    assert (unknown["late"], unknown["changes"]) == (0, 0)


@points(
    1,
    title="How often the beginning of the prompt changes",
    hint="Two new tools in one answer are one change, a tool called again is none, an unknown one is none, and the first request has none before it.",
)
def test_changes(student):
    tools = load_tools()
    a, b, c, d = named(tools)[:4]
    for answers, changes in (
        (((a,), (a,), (b, c), (c,), ("x",), (d,)), 2),
        (((), (a,), (b,), (a, b)), 2),
        (((a, b, c, d), (d,), ()), 0),
        (((), ()), 0),
    ):
        assert student.just_in_time(talk(*answers), tools, student.name("tok"))["changes"] == changes
    run = shipped_run()
    messages = run.messages[:60]
    seen, expected = set(), 0
    for place, message in enumerate(m for m in messages if m["role"] == "assistant"):
        new = {call["function"]["name"] for call in message.get("tool_calls", [])} & set(named(run.tools))
        expected += bool(place and new - seen)
        seen |= new
    assert student.just_in_time(messages, run.tools, student.name("tok"))["changes"] == expected
    session, session_tools = load_sample("coding_session")
    assert student.just_in_time(session, session_tools, student.name("tok"))["late"] > 0
### END HIDDEN TESTS
