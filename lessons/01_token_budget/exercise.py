# %% [markdown]
# # Exercises 01 · The token budget
#
# *Three questions, 12 points, about 40 minutes. Lesson [01](../notebooks/01_token_budget.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries
# your function on examples and says what is likely wrong. `hint("turn_buckets")` and its like help, a little more at each
# call. Points are given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples
# alone. You may add cells of your own. Hand in this notebook under any name.

# %% tags=["setup"]
from dataclasses import asdict

from ctxcourse import buckets, load_sample, load_tokenizer
from ctxcourse.learn import case, check, hint

tok = load_tokenizer()
messages, tools = load_sample("coding_session")

# %% [markdown]
# ## Question 1 · What each turn adds (4 points)
#
# `buckets` says what fills a prompt *now*. To see where it came from, look at the conversation turn by turn. A turn is a user
# message and everything up to the next one. Write `turn_buckets(messages, tools, tok)`, which returns a list with one
# dict for each turn: how many tokens that turn **added** to each of the four buckets.
#
# - The keys are `system`, `tools`, `conversation` and `tool_results`; `asdict(buckets(…))` has just these.
# - `tok` counts, like the lesson's `model`, but needs no weights. Pass it on to `buckets`.
# - What stands before the first user message (the system message, perhaps a greeting by the assistant) belongs to the first turn,
#   and so do the tools.
# - The dicts of all turns together add up to `buckets(messages, tools, tok)`.
# - A conversation without any user message has no turns: the result is `[]`.

# %% tags=["answer"] question="turn_buckets"
def turn_buckets(messages, tools, tok):
    """Return, for each turn, the tokens it added to each bucket."""
    ### BEGIN SOLUTION
    starts = [i for i, m in enumerate(messages) if m["role"] == "user"]
    before = dict.fromkeys(("system", "tools", "conversation", "tool_results"), 0)
    rows = []
    for end in [*starts[1:], len(messages)] if starts else []:
        now = asdict(buckets(messages[:end], tools, tok))
        rows.append({name: tokens - before[name] for name, tokens in now.items()})
        before = now
    return rows
    ### END SOLUTION


# %% tags=["check"] question="turn_buckets"
hello = [{"role": "user", "content": "Hi"}]
check(
    turn_buckets,
    case(
        hello, [], tok,
        gives=[{"system": 24, "tools": 0, "conversation": 6, "tool_results": 0}],
        hint="With one turn, the turn's buckets are those of the whole conversation.",
    ),
    case(
        [*hello, {"role": "assistant", "content": "Hello!"}, {"role": "user", "content": "Ok"}], [], tok,
        gives=[
            {"system": 24, "tools": 0, "conversation": 13, "tool_results": 0},
            {"system": 0, "tools": 0, "conversation": 6, "tool_results": 0},
        ],
        hint="The second dict holds what the second turn added, not what the prompt holds by then.",
    ),
    case(
        messages[:8], tools, tok,
        gives=[{"system": 67, "tools": 978, "conversation": 184, "tool_results": 574}],
        hint="Tool calls and their results belong to the turn in which they happen.",
    ),
)

# %% [markdown] tags=["hint"] question="turn_buckets"
# Where does each turn end? One message before the next user message, or at the end of the conversation.

# %% [markdown] tags=["hint"] question="turn_buckets"
# Let `buckets` do the counting, on the conversation up to the end of each turn; `asdict(buckets(…))` is a dict of the four figures.

# %% [markdown] tags=["hint"] question="turn_buckets"
# What a turn added is the difference between the buckets at its end and those at the end of the turn before.

# %% tags=["hidden-tests"] question="turn_buckets"
### BEGIN HIDDEN TESTS
from ctxcourse import load_sample, load_tokenizer

NAMES = {"system", "tools", "conversation", "tool_results"}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


@points(
    1,
    title="Each turn shows what it added, not what the prompt holds by then",
    hint="Did you subtract what was there at the end of the turn before?",
)
def test_added_by_each_turn(student):
    tok = load_tokenizer()
    talk = [{"role": "system", "content": "Be brief."}, user("One?"), assistant("1"), user("Two?"), assistant("2")]
    rows = student.turn_buckets(talk, [], student.name("tok"))
    assert [set(row) for row in rows] == [NAMES, NAMES]
    assert [sum(row.values()) for row in rows] == [
        tok.count_prompt(talk[:3]),
        tok.count_prompt(talk) - tok.count_prompt(talk[:3]),
    ]


@points(
    1,
    title="The turns add up to the whole prompt",
    hint="Add up all your dicts: is that the size of the prompt, with the tools and the last turn?",
)
def test_turns_add_up(student):
    talk, schemas = load_sample("coding_session")
    rows = student.turn_buckets(talk, schemas, student.name("tok"))
    assert len(rows) == 4
    assert sum(sum(row.values()) for row in rows) == load_tokenizer().count_prompt(talk, schemas)
    assert [row["tools"] > 0 for row in rows] == [True, False, False, False]


@points(
    1,
    title="A turn with several tool calls is one turn",
    hint="A turn ends only at the next user message: not at a tool result, and not at an answer of the assistant.",
)
def test_tool_calls_stay_in_their_turn(student):
    tok = load_tokenizer()
    calls = [
        {"id": name, "type": "function", "function": {"name": "get_current_time", "arguments": {"timezone": name}}}
        for name in ("Europe/Lisbon", "Asia/Tokyo")
    ]
    results = [{"role": "tool", "tool_call_id": c["id"], "content": "07:30 there"} for c in calls]
    talk = [user("What time is it?"), assistant("", tool_calls=calls), *results, assistant("07:30 and 15:30"), user("Thanks")]
    rows = student.turn_buckets(talk, [], student.name("tok"))
    silent = [m for m in talk[:5] if m["role"] != "tool"]
    assert len(rows) == 2
    assert rows[0]["tool_results"] == tok.count_prompt(talk[:5]) - tok.count_prompt(silent)
    assert rows[1]["tool_results"] == 0


@points(
    1,
    title="Conversations that begin or end in an unusual way",
    hint="What belongs to the first turn, if the assistant speaks first? How many turns has a conversation without a user message?",
)
@pytest.mark.parametrize(
    ("talk", "turns"),
    [
        ([], 0),
        ([{"role": "system", "content": "Be brief."}], 0),
        ([assistant("Welcome!"), user("Hi"), assistant("How can I help?")], 1),
        ([user("One"), user("Two"), user("Three")], 3),
    ],
    ids=["empty", "only a system message", "the assistant speaks first", "users only"],
)
def test_unusual_conversations(student, talk, turns):
    rows = student.turn_buckets(talk, [], student.name("tok"))
    assert len(rows) == turns
    if turns:
        assert sum(sum(row.values()) for row in rows) == load_tokenizer().count_prompt(talk)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · A budget that reserves by priority (4 points)
#
# Caps in a fixed order are unfair: whoever comes first takes what it likes. Write `reserve(window, generation, requests)`, which
# shares out the room that is left beside the tokens kept for `generation`. Each request is a dict with `name`, the tokens
# it would like (`wanted`), the fewest it can work with (`least`, at least 1 and at most `wanted`), and its `priority` (1 is the most
# important).
#
# 1. In order of priority, every request gets its `least`. One whose `least` no longer fits gets **0**, since less than that is of no
#    use to it; those after it may still fit.
# 2. What then remains goes to the requests that got their `least`, again in order of priority, up to what each `wanted`.
#
# Equal priorities go in the order in which they were given. Return a dict of name and tokens, in the order of `requests`. Where
# `generation` leaves no room at all, raise a `ValueError`.

# %% tags=["answer"] question="reserve"
def reserve(window, generation, requests):
    """Return the tokens that each request is given, by name."""
    ### BEGIN SOLUTION
    room = window - generation
    if room <= 0:
        raise ValueError(f"{generation} tokens for generation leave no room in a window of {window}")
    granted = dict.fromkeys((r["name"] for r in requests), 0)
    by_priority = sorted(requests, key=lambda r: r["priority"])
    served = []
    for r in by_priority:
        if r["least"] <= room:
            granted[r["name"]] = r["least"]
            room -= r["least"]
            served.append(r)
    for r in served:
        more = min(r["wanted"] - r["least"], room)
        granted[r["name"]] += more
        room -= more
    return granted
    ### END SOLUTION


# %% tags=["check"] question="reserve"
system = {"name": "system", "wanted": 500, "least": 500, "priority": 1}
history = {"name": "history", "wanted": 6_000, "least": 1_000, "priority": 3}
documents = {"name": "documents", "wanted": 4_000, "least": 800, "priority": 2}
check(
    reserve,
    case(10_000, 2_000, [system, history], gives={"system": 500, "history": 6_000}, hint="There is room for everything here."),
    case(
        6_000, 2_000, [system, history, documents],
        gives={"system": 500, "history": 1_000, "documents": 2_500},
        mistakes=[
            ({"system": 500, "history": 0, "documents": 3_500}, "Everybody's least comes first; only then is anything topped up."),
            ({"system": 500, "history": 2_700, "documents": 800}, "Priority 1 is the most important, 3 the least."),
            ({"system": 500, "history": 1_500, "documents": 4_000}, "Are the tokens kept for generation still there?"),
        ],
    ),
    case(
        1_800, 1_000, [history, {"name": "query", "wanted": 200, "least": 200, "priority": 4}],
        gives={"history": 0, "query": 200},
        hint="The least of the first does not fit; that of the second does.",
    ),
    case(2_000, 2_000, [system], raises=ValueError, hint="Nothing is left beside generation: that is an error."),
)

# %% [markdown] tags=["hint"] question="reserve"
# Go over the requests twice: once for `least`, once for the rest.

# %% [markdown] tags=["hint"] question="reserve"
# Python's `sorted` keeps the order of equal keys, so a sort by `priority` alone does what the ties ask for.

# %% [markdown] tags=["hint"] question="reserve"
# Keep a list of those who got their `least`; only they take part in the second round.

# %% tags=["hidden-tests"] question="reserve"
### BEGIN HIDDEN TESTS
import random

from ctxcourse.grading.remote import StudentError


def ask(name, wanted, least, priority):
    return {"name": name, "wanted": wanted, "least": least, "priority": priority}


@points(
    1,
    title="Everybody's least comes before anybody's wishes",
    hint="A greedy first request must not take what a later one needs as its least.",
)
def test_least_comes_first(student):
    requests = [ask("a", 900, 100, 1), ask("b", 500, 300, 2), ask("c", 400, 400, 3)]
    assert student.reserve(1_200, 200, requests) == {"a": 300, "b": 300, "c": 400}


@points(
    1,
    title="A request whose least does not fit gets nothing, and those after it get their chance",
    hint="Do you give it a part, or stop there? It gets 0, and the next one may be small enough.",
)
def test_left_out(student):
    requests = [ask("a", 500, 500, 1), ask("b", 900, 800, 2), ask("c", 400, 200, 3)]
    assert student.reserve(1_000, 100, requests) == {"a": 500, "b": 0, "c": 400}


@points(
    1,
    title="Order of priority, and of asking where priorities are equal",
    hint="1 is the most important, whatever place it has in the list; equal priorities keep the order of the list.",
)
@pytest.mark.parametrize(
    ("priorities", "expected"),
    [((3, 2, 1), [100, 100, 500]), ((1, 2, 3), [500, 100, 100]), ((2, 2, 2), [500, 100, 100])],
    ids=["last is first", "first is first", "all equal"],
)
def test_priorities(student, priorities, expected):
    requests = [ask(name, 500, 100, priority) for name, priority in zip("abc", priorities, strict=True)]
    assert list(student.reserve(900, 200, requests).values()) == expected


@points(
    1,
    title="Never more than there is, never less than the least, and an error where there is no room",
    hint="Add up what you give: is it ever more than window − generation? What if generation takes the whole window?",
)
def test_limits(student):
    source = random.Random(7)
    for _ in range(40):
        requests = []
        for name in "abcde"[: source.randint(0, 5)]:
            least = source.randint(1, 300)
            requests.append(ask(name, least + source.randint(0, 300), least, source.randint(1, 3)))
        generation = source.randint(1, 500)
        window = generation + source.randint(1, 1_000)
        given = student.reserve(window, generation, requests)
        assert list(given) == [r["name"] for r in requests]
        assert sum(given.values()) <= window - generation
        assert all(given[r["name"]] == 0 or r["least"] <= given[r["name"]] <= r["wanted"] for r in requests)
        satisfied = all(given[r["name"]] == r["wanted"] for r in requests if given[r["name"]])
        assert satisfied or sum(given.values()) == window - generation
    for window, generation in ((500, 500), (500, 900)):
        with pytest.raises(StudentError, match="^ValueError"):
            student.reserve(window, generation, [ask("a", 10, 10, 1)])
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · A detector of waste (4 points)
#
# A component is worth a look when it takes more than its share. Write `waste(used)`: given a dict of component and tokens used,
# it returns the components with **more than 30 %** of the tokens that are *used*, each as a tuple `(component, share, remedy)`, the
# largest first (equal ones in the order of the dict). The share is a fraction from 0 to 1, not rounded.
#
# - The remedy has to fit: `"summarise history"` for `history`, `"prune tools"` for `tools`, `"rerank documents"` for
#   `documents`. For any other component there is no ready-made remedy, and it is `None`.
# - An entry `generation` is *kept*, not used: it counts nowhere.
# - Where nothing is used, nothing is wasted: the result is `[]`.

# %% tags=["answer"] question="waste"
def waste(used):
    """Return ``(component, share, remedy)`` for each component above 30 % of the used tokens, the largest first."""
    ### BEGIN SOLUTION
    remedies = {"history": "summarise history", "tools": "prune tools", "documents": "rerank documents"}
    prompt = {name: tokens for name, tokens in used.items() if name != "generation"}
    total = sum(prompt.values())
    if total == 0:
        return []
    found = [(name, tokens / total, remedies.get(name)) for name, tokens in prompt.items() if tokens > 0.3 * total]
    return sorted(found, key=lambda entry: entry[1], reverse=True)
    ### END SOLUTION


# %% tags=["check"] question="waste"
check(
    waste,
    case({"system": 500, "tools": 8_000, "history": 1_500}, gives=[("tools", 0.8, "prune tools")]),
    case(
        {"tools": 400, "history": 500, "system": 100},
        gives=[("history", 0.5, "summarise history"), ("tools", 0.4, "prune tools")],
        hint="The largest share comes first.",
    ),
    case(
        {"documents": 300, "query": 700, "generation": 4_000},
        gives=[("query", 0.7, None)],
        mistakes=[([], "Are you counting the tokens kept for generation? They are not used.")],
        hint="Thirty per cent exactly is not more than thirty per cent.",
    ),
)

# %% [markdown] tags=["hint"] question="waste"
# The share is of what is used, not of the window: first add up what is used.

# %% [markdown] tags=["hint"] question="waste"
# A dict from component to remedy, read with `.get`, gives `None` for all the others.

# %% tags=["hidden-tests"] question="waste"
### BEGIN HIDDEN TESTS
@points(
    1,
    title="The share is of the used tokens",
    hint="Of the tokens used, not of the window, and without those kept for generation.",
)
def test_share_of_used(student):
    used = {"system": 500, "tools": 8_000, "documents": 4_000, "history": 6_000, "query": 200, "generation": 4_000}
    found = student.waste(used)
    assert [(name, remedy) for name, _, remedy in found] == [("tools", "prune tools"), ("history", "summarise history")]
    assert [share for _, share, _ in found] == pytest.approx([8_000 / 18_700, 6_000 / 18_700])


@points(
    1,
    title="More than 30 %, not 30 %",
    hint="A component with exactly thirty per cent is not flagged; one token more, and it is.",
)
@pytest.mark.parametrize(("history", "flagged"), [(299, False), (300, False), (301, True)])
def test_threshold(student, history, flagged):
    used = {"history": history, "a": 250, "b": 250, "c": 500 - 300 + (300 - history)}
    assert any(name == "history" for name, _, _ in student.waste(used)) is flagged


@points(
    1,
    title="The largest first, each with the remedy that fits",
    hint="Sort by share, not by name or by the order of the dict; a component without a ready remedy gets None.",
)
def test_order_and_remedies(student):
    found = student.waste({"a": 1, "documents": 31, "query": 33, "tools": 35})
    assert [(name, remedy) for name, _, remedy in found] == [
        ("tools", "prune tools"),
        ("query", None),
        ("documents", "rerank documents"),
    ]


@points(
    1,
    title="Nothing used, nothing wasted",
    hint="What is the total of an empty dict, and what happens if you divide by it?",
)
@pytest.mark.parametrize("used", [{}, {"tools": 0, "history": 0}, {"generation": 4_000}], ids=["empty", "zeros", "kept"])
def test_nothing_used(student, used):
    assert student.waste(used) == []
### END HIDDEN TESTS
