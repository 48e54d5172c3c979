# %% [markdown]
# # Exercises 04 · The price of a catalogue
#
# *Three questions, 12 points, about 45 minutes. Lesson [04](../notebooks/04_tool_pruning.ipynb) has all you need.*
#
# Write your code where a cell says `raise NotImplementedError`, run it, then run the `check` cell below it: it tries your
# function on examples and says what is likely wrong. `hint("affordable")` and its like help, a little more at each call. Points are
# given by other tests, on other inputs, when your notebook is graded: what the text asks for counts, not the examples alone. You
# may add cells of your own. Hand in this notebook under any name. No question needs the model; `tok` counts as it does.

# %% tags=["setup"]
from ctxcourse import load_tokenizer
from ctxcourse.learn import case, check, hint
from ctxcourse.tools import load_tools

tok = load_tokenizer()
tools = load_tools()

# %% [markdown]
# ## Question 1 · No tool comes alone (5 points)
#
# The lesson fills a budget tool by tool. But who may file a ticket has to know how to look one up, or the tracker fills with
# duplicates; and a tool that takes an identifier is of no use without the one that gives it. Write
# `affordable(tools, scores, needs, budget, tok)`, where
#
# - `tools` are schemas in chat form, as `load_tools()` gives them, and `scores` has a number for some of their names, the higher the
#   better; a tool that it does not name has 0;
# - `needs` has for some names the list of the tools that this one is useless without. These may have needs of their own, and two
#   tools may need each other.
#
# It returns the **names** of the tools that go into the prompt.
#
# 1. Go from the highest score down; equal scores go in the order of the catalogue. A tool that scores 0 is never taken for its own
#    sake, however much room there is.
# 2. A tool is taken together with everything it needs, needs of needs included, or not at all. What has been taken already costs
#    nothing more.
# 3. One that does not fit with its companions is passed over, and others further down may still fit.
# 4. The budget is in **rendered** tokens, by difference: what the tools taken so far and the new ones add together to a prompt,
#    `tok.count_prompt([], those) - tok.count_prompt([])`, is at most `budget`. The preamble is in there, once.
# 5. The names come back in the order of the catalogue, so that the same choice always is the same prompt.
# 6. If anything is needed that is not in the catalogue, raise a `ValueError`.

# %% tags=["answer"] question="affordable"
def affordable(tools, scores, needs, budget, tok):
    """Return the names of the tools that a budget affords, each with all that it needs."""
    ### BEGIN SOLUTION
    names = [tool["function"]["name"] for tool in tools]
    missing = {name for listed in needs.values() for name in listed} - set(names)
    if missing:
        raise ValueError(f"needed, but not in the catalogue: {', '.join(sorted(missing))}")

    def with_companions(name):
        found, waiting = set(), [name]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += needs.get(one, [])
        return found

    def cost(chosen):
        return tok.count_prompt([], [tool for tool in tools if tool["function"]["name"] in chosen]) - tok.count_prompt([])

    taken = set()
    for name in sorted(names, key=lambda name: -scores.get(name, 0)):
        wider = taken | with_companions(name)
        if scores.get(name, 0) > 0 and cost(wider) <= budget:
            taken = wider
    return [name for name in names if name in taken]
    ### END SOLUTION


# %% tags=["check"] question="affordable"
check(
    affordable,
    case(
        tools, {"search_logs": 2.0, "get_ticket": 1.0}, {}, 412, tok,
        gives=["search_logs", "get_ticket"],
        mistakes=[
            (["search_logs"], "77 for the preamble, 237 and 98: that is 412. Is the preamble counted once, and may the budget be used up?"),
            (["get_ticket"], "The highest score comes first."),
        ],
    ),
    case(
        tools, {"search_logs": 2.0, "get_ticket": 1.0}, {}, 411, tok,
        gives=["search_logs"],
        mistakes=[(["search_logs", "get_ticket"], "One token too many. Is the preamble in your sum?")],
    ),
    case(
        tools, {"file_ticket": 1.0}, {"file_ticket": ["search_tickets"]}, 2_000, tok,
        gives=["search_tickets", "file_ticket"],
        mistakes=[
            (["file_ticket"], "Where is the tool that it needs?"),
            (["file_ticket", "search_tickets"], "In the order of the catalogue, please."),
        ],
        hint="Two tools are about the query or needed; the other ten score 0.",
    ),
    case(
        tools, {"file_ticket": 2.0, "get_employee": 1.0}, {"file_ticket": ["search_tickets"]}, 500, tok,
        gives=["get_employee"],
        hint="The first does not fit together with what it needs. The second does.",
    ),
    case(tools, {"file_ticket": 1.0}, {"file_ticket": ["read_log"]}, 2_000, tok, raises=ValueError, hint="There is no tool read_log."),
)

# %% [markdown] tags=["hint"] question="affordable"
# Two small functions make the rest short: one that gives a tool and all its companions as a set of names, one that gives the
# tokens of a set of names.

# %% [markdown] tags=["hint"] question="affordable"
# For the companions keep a list of names that you have yet to look at, and a set of those that you have seen. What is in the set is
# not looked at again, so that two tools that need each other do no harm.

# %% [markdown] tags=["hint"] question="affordable"
# Never add up prices. Ask what the *union* of the tools taken so far and the new ones costs: what both hold is in a union once.

# %% tags=["hidden-tests"] question="affordable"
### BEGIN HIDDEN TESTS
from ctxcourse.grading.remote import StudentError
from ctxcourse.tools import load_tools


def chosen(student, scores, needs, budget):
    return student.affordable(load_tools(), scores, needs, budget, student.name("tok"))


@points(
    1,
    title="The budget is one of whole renders, and may be used up",
    hint="Render the chosen tools together: is the preamble counted once, not never and not for each tool? Does a sum equal to the budget fit?",
)
@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (605, ["search_logs", "query_metrics", "get_deployments"]),
        (604, ["search_logs", "query_metrics"]),
        (314, ["search_logs"]),
        (313, ["query_metrics"]),
        (202, []),
    ],
)
def test_rendered_budget(student, budget, expected):
    assert chosen(student, {"get_deployments": 1, "query_metrics": 2, "search_logs": 3}, {}, budget) == expected


@points(
    1,
    title="A tool brings what it needs, and what that needs",
    hint="Do you follow the needs of the needs? And do you stop where two tools need each other?",
)
@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({"get_ticket": ["search_tickets"], "search_tickets": ["list_services"]}, ["search_tickets", "get_ticket", "list_services"]),
        ({"get_ticket": ["search_tickets"], "search_tickets": ["get_ticket"]}, ["search_tickets", "get_ticket"]),
        (
            {"get_ticket": ["get_employee"], "get_employee": ["page_on_call"], "page_on_call": ["get_employee", "read_runbook"]},
            ["get_employee", "read_runbook", "page_on_call", "get_ticket"],
        ),
        ({"search_logs": ["get_current_time"]}, ["get_ticket"]),
    ],
    ids=["a chain", "each other", "a ring with a tail", "somebody else's need"],
)
def test_companions(student, needs, expected):
    assert chosen(student, {"get_ticket": 0.5}, needs, 2_000) == expected


@points(
    1,
    title="With all its companions or not at all, and those further down get their chance",
    hint="Is a tool passed over as a whole, do you go on behind it, and does a companion that is there already cost nothing more?",
)
@pytest.mark.parametrize(
    ("scores", "needs", "budget", "expected"),
    [
        ({"page_on_call": 3, "get_current_time": 1}, {"page_on_call": ["get_employee"]}, 337, ["get_current_time"]),
        (
            {"file_ticket": 3, "get_ticket": 2},
            {"file_ticket": ["search_tickets"], "get_ticket": ["search_tickets"]},
            636,
            ["search_tickets", "file_ticket", "get_ticket"],
        ),
        ({"search_tickets": 3, "search_logs": 2, "read_runbook": 1}, {}, 450, ["search_tickets", "read_runbook"]),
    ],
    ids=["whole or not", "shared companion", "goes on"],
)
def test_whole_or_not(student, scores, needs, budget, expected):
    assert chosen(student, scores, needs, budget) == expected


@points(
    1,
    title="Nothing is taken for filling",
    hint="What has no score, or 0, comes only as a companion, even where there is room. Of equal scores, which is first in the catalogue?",
)
@pytest.mark.parametrize(
    ("scores", "needs", "budget", "expected"),
    [
        ({"get_ticket": 0.0, "search_logs": 2}, {}, 5_000, ["search_logs"]),
        ({}, {}, 5_000, []),
        ({"search_logs": 1}, {"search_logs": ["list_services"]}, 5_000, ["search_logs", "list_services"]),
        ({"get_service_status": 1, "get_employee": 1, "get_ticket": 0}, {}, 185, ["get_employee"]),
        ({"search_logs": 1}, {}, 0, []),
    ],
    ids=["zero", "no scores", "zero, but needed", "equal", "no budget"],
)
def test_no_filling(student, scores, needs, budget, expected):
    assert chosen(student, scores, needs, budget) == expected


@points(
    1,
    title="In the catalogue's order, and an error for what is not there",
    hint="Sort the result as the catalogue is sorted, not by score. And is a need that nobody can meet a ValueError, whoever has it?",
)
def test_order_and_missing(student):
    scores = {"list_services": 9, "get_deployments": 5, "search_logs": 4, "get_current_time": 1}
    expected = ["get_current_time", "search_logs", "get_deployments", "list_services"]
    assert chosen(student, scores, {}, 5_000) == expected
    for needs in ({"search_logs": ["read_log"]}, {"get_ticket": ["search_tickets"], "search_tickets": ["grep"]}):
        with pytest.raises(StudentError, match="^ValueError"):
            chosen(student, scores, needs, 5_000)
### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · A kinder cut (4 points)
#
# The lesson's trimming takes the prose of *every* parameter. Here is a rule that spends its words where a call can go wrong. Write
# `lean(tool)`, which returns a copy of a tool in chat form with
#
# 1. the tool's own description cut to its first sentence. A sentence ends at the first `.`, `?` or `!` that white space or the end
#    of the text follows; where there is none, the whole text is the sentence. (By this rule “e.g. ” ends one, too. Serves it right.)
# 2. the description of a parameter with an `enum` gone: the values speak for themselves;
# 3. of the others, a **required** parameter's description cut to its first sentence, and an **optional** one's gone. Required is what
#    the `required` of *its own* object lists; where there is no such list, nothing is.
#
# Everything else stays: types, enums, defaults, titles, `required`. Parameters may hold further ones. The schemas of this question
# have just two ways for that: an object has `properties`, and an array has `items`, one schema. What stands in `items` has no name
# and counts as optional; the parameters as a whole count as optional, too. There are no references and no alternatives, and every
# tool has a description and parameters. What you are given must not change.

# %% tags=["answer"] question="lean"
def lean(tool):
    """Return a copy of a tool whose prose is kept for what a call needs."""
    ### BEGIN SOLUTION
    import re

    def first_sentence(text):
        return re.match(r".*?[.?!](?=\s|$)|.*", text, re.DOTALL).group()

    def cut(schema, required=False):
        new = dict(schema)
        if "description" in new:
            if required and "enum" not in new:
                new["description"] = first_sentence(new["description"])
            else:
                del new["description"]
        if "properties" in new:
            needed = new.get("required", [])
            new["properties"] = {name: cut(part, name in needed) for name, part in new["properties"].items()}
        if "items" in new:
            new["items"] = cut(new["items"])
        return new

    function = dict(tool["function"])
    function["description"] = first_sentence(function["description"])
    function["parameters"] = cut(function["parameters"])
    return {**tool, "function": function}
    ### END SOLUTION


# %% tags=["check"] question="lean"
def chat(description, properties, required=()):
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": "search", "description": description, "parameters": parameters}}


word = {"type": "string", "description": "One word. Not two."}
level = {"type": "string", "enum": ["low", "high"], "description": "How loud."}
check(
    lean,
    case(
        chat("Search. Then read.", {"word": word, "other": word, "level": level}, ["word", "level"]),
        gives=chat(
            "Search.",
            {
                "word": {"type": "string", "description": "One word."},
                "other": {"type": "string"},
                "level": {"type": "string", "enum": ["low", "high"]},
            },
            ["word", "level"],
        ),
        hint="Three parameters: a required one, an optional one, and one with an enum, which loses its description although it is required.",
    ),
    case(
        chat("Search v2.5 of node.js", {"word": word}),
        gives=chat("Search v2.5 of node.js", {"word": {"type": "string"}}),
        hint="Neither of these full stops has white space behind it.",
    ),
    case(
        chat("Search.", {"range": {"type": "object", "properties": {"start": word, "end": word}, "required": ["end"]}}, ["range"]),
        gives=chat(
            "Search.",
            {
                "range": {
                    "type": "object",
                    "properties": {"start": {"type": "string"}, "end": {"type": "string", "description": "One word."}},
                    "required": ["end"],
                }
            },
            ["range"],
        ),
        hint="Parameters inside of a parameter: each object has its own list of what is required.",
    ),
    case(
        chat("Search.", {"description": {"type": "string", "description": "What was seen."}}, ["description"]),
        gives=chat("Search.", {"description": {"type": "string", "description": "What was seen."}}, ["description"]),
        hint="This parameter is called description. It is no prose.",
    ),
)

# %% [markdown] tags=["hint"] question="lean"
# Write a function for one schema that is told whether this schema is required. It calls itself for each of its `properties`, and
# for its `items`.

# %% [markdown] tags=["hint"] question="lean"
# Do not look for the key `description` wherever it may stand: directly in a schema it is prose, but one level deeper, in
# `properties`, the keys are names.

# %% [markdown] tags=["hint"] question="lean"
# For the sentence: `re.match(r".*?[.?!](?=\s|$)", text, re.DOTALL)` finds the first one, or None.

# %% tags=["hidden-tests"] question="lean"
### BEGIN HIDDEN TESTS
def a_tool(properties, required=None, description="Do it."):
    parameters = {"type": "object", "properties": properties}
    if required is not None:
        parameters["required"] = required
    return {"type": "function", "function": {"name": "act", "description": description, "parameters": parameters}}


def made_of(student, *arguments, **named):
    return student.lean(a_tool(*arguments, **named))["function"]["parameters"]["properties"]


@points(
    1,
    title="Each kind of parameter by its rule",
    hint="Required keeps a sentence, optional keeps none, an enum keeps none even if it is required. Is all else as before?",
)
def test_kinds(student):
    properties = {
        "service": {"type": "string", "title": "Service", "description": "Its name. See list_services."},
        "limit": {"type": "integer", "default": 20, "description": "Most lines."},
        "level": {"enum": ["info", "error"], "description": "Lowest level."},
        "host": {"type": "string"},
    }
    expected = {
        "service": {"type": "string", "title": "Service", "description": "Its name."},
        "limit": {"type": "integer", "default": 20},
        "level": {"enum": ["info", "error"]},
        "host": {"type": "string"},
    }
    assert made_of(student, properties, ["service", "level", "host"]) == expected
    optional = {**expected, "service": {"type": "string", "title": "Service"}}
    assert made_of(student, properties) == made_of(student, properties, []) == optional


@points(
    1,
    title="The first sentence, whole",
    hint="Does a sentence end only where white space or the end follows? Is its own full stop still there, and a text without one left whole?",
)
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Use v1.5.2 of it. Or later.", "Use v1.5.2 of it."),
        ("Is it up? Ask.", "Is it up?"),
        ("Stop! Look.", "Stop!"),
        ("Two lines.\nOne more.", "Two lines."),
        ("A line\nbroken in two. Rest.", "A line\nbroken in two."),
        ("No end", "No end"),
        ("Only one.", "Only one."),
        ("", ""),
    ],
)
def test_first_sentence(student, text, first):
    given = a_tool({"a": {"type": "string", "description": text}}, ["a"], description=text)
    function = student.lean(given)["function"]
    assert function["description"] == first
    assert function["parameters"]["properties"]["a"] == {"type": "string", "description": first}


@points(
    1,
    title="Parameters inside of parameters",
    hint="Go down into `properties` and into `items`, and ask the object that a parameter stands in, not one further up, what is required.",
)
def test_nested(student):
    def step(**prose):
        name, note = {"type": "string", "description": "N. M."}, {"type": "string", "description": "X."}
        wrap = {"type": "object", "properties": {"name": name, "note": note}, "required": ["name"]}
        return {**wrap, **prose}

    kept = {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "N."}, "note": {"type": "string"}},
        "required": ["name"],
    }
    properties = {
        "steps": {"type": "array", "description": "In order. All.", "items": step(description="One step.")},
        "note": step(description="An aside. Long."),
        "name": {"type": "array", "items": {"type": "array", "items": step()}, "description": "A name."},
    }
    assert made_of(student, properties, ["steps", "note"]) == {
        "steps": {"type": "array", "description": "In order.", "items": kept},
        "note": {**kept, "description": "An aside."},
        "name": {"type": "array", "items": {"type": "array", "items": kept}},
    }


@points(
    1,
    title="A name is not prose",
    hint="Are all parameters still there, whatever they are called: description, enum, items, properties?",
)
def test_names(student):
    plain = {"type": "string", "description": "One. Two."}
    names = ["description", "enum", "items", "properties", "required", "title"]
    properties = dict.fromkeys(names, plain)
    assert made_of(student, properties, names[:3]) == {
        **{name: {"type": "string", "description": "One."} for name in names[:3]},
        **{name: {"type": "string"} for name in names[3:]},
    }
    values = {"state": {"enum": ["description", "items"], "default": "description"}}
    assert made_of(student, values, []) == values
### END HIDDEN TESTS

# %% [markdown]
# ## Question 3 · The bill of what was never called (3 points)
#
# An agent has run, and you have its record. Write `unused_bill(preamble, prices, requests, effort)`, where
#
# - `preamble` and `prices` are what `catalogue_cost` gives: the tokens paid once as soon as there is a tool, and a dict of name and
#   tokens for each tool;
# - `requests` has, for each request to the model, the list of the names that it called; it may be empty, hold one name twice, or a
#   name that no tool has, since models make such names up;
# - `effort` is what it would cost, once, to find out which tools the agent needs (say, a model that reads the whole catalogue).
#
# It returns a dict of four:
#
# - `unused`: the tools that no request called, in the order of `prices`;
# - `per_request`: the tokens that each request would be spared without them. Where *no* tool was called, the preamble goes as well;
# - `total`: that over all requests of the record, whether they called something or not;
# - `break_even`: the smallest number of requests after which the tokens spared reach the effort. 0 where it takes no effort; `None`
#   where nothing is ever spared and it does.

# %% tags=["answer"] question="unused_bill"
def unused_bill(preamble, prices, requests, effort):
    """Return what the tools that were never called cost over a record, and when leaving them out pays."""
    ### BEGIN SOLUTION
    called = {name for names in requests for name in names}
    unused = [name for name in prices if name not in called]
    spared = sum(prices[name] for name in unused)
    if prices and len(unused) == len(prices):
        spared += preamble
    enough = -(-effort // spared) if spared else None
    break_even = enough if effort else 0
    return {"unused": unused, "per_request": spared, "total": spared * len(requests), "break_even": break_even}
    ### END SOLUTION


# %% tags=["check"] question="unused_bill"
prices = {"read": 100, "write": 60, "delete": 40}
check(
    unused_bill,
    case(
        77, prices, [["read"], ["read", "read"], []], 250,
        gives={"unused": ["write", "delete"], "per_request": 100, "total": 300, "break_even": 3},
        mistakes=[
            (
                {"unused": ["write", "delete"], "per_request": 100, "total": 200, "break_even": 3},
                "The third request called nothing, and was billed for the catalogue all the same.",
            ),
            (
                {"unused": ["write", "delete"], "per_request": 100, "total": 300, "break_even": 2},
                "After two requests 200 are spared. That is not yet 250.",
            ),
        ],
    ),
    case(
        77, prices, [[], ["erase"]], 277,
        gives={"unused": ["read", "write", "delete"], "per_request": 277, "total": 554, "break_even": 1},
        hint="There is no tool erase, so nothing was called that exists. What is left of the catalogue then, and is there still a preamble?",
    ),
    case(
        77, prices, [["delete", "write", "read"]], 500,
        gives={"unused": [], "per_request": 0, "total": 0, "break_even": None},
        hint="Everything was called: leaving out nothing never pays.",
    ),
)

# %% [markdown] tags=["hint"] question="unused_bill"
# First the set of all names that were called. Who is in `prices` and not in it was never called; who is in it and not in `prices`
# was made up.

# %% [markdown] tags=["hint"] question="unused_bill"
# How many requests does it take until `n * per_request >= effort`? That is a division rounded *up*.

# %% tags=["hidden-tests"] question="unused_bill"
### BEGIN HIDDEN TESTS
TWELVE = {
    **{"get_current_time": 80, "search_logs": 237, "search_tickets": 263, "get_employee": 108, "get_service_status": 105},
    **{"file_ticket": 198, "query_metrics": 165, "get_deployments": 126, "read_runbook": 106, "page_on_call": 153},
    **{"get_ticket": 98, "list_services": 101},
}
SEVEN = ["get_service_status", "get_deployments", "read_runbook", "search_tickets", "file_ticket", "query_metrics", "get_current_time"]


@points(
    1,
    title="The bill of a run",
    hint="Every request pays for the unused tools, also one that called nothing, or one tool twice, or one that does not exist.",
)
def test_bill(student):
    requests = [[SEVEN[number % 7]] for number in range(40)] + [["read_log"]] * 3 + [[]] * 10 + [["file_ticket", "file_ticket"]] * 4
    found = student.unused_bill(77, TWELVE, requests, 1_817)
    assert found["unused"] == ["search_logs", "get_employee", "page_on_call", "get_ticket", "list_services"]
    assert (found["per_request"], found["total"]) == (697, 39_729)
    assert student.unused_bill(77, TWELVE, [], 0)["total"] == 0


@points(
    1,
    title="Without any tool there is no preamble",
    hint="If no tool of the catalogue was called, what would the prompt hold without them? And if one was?",
)
@pytest.mark.parametrize(
    ("prices", "requests", "spared"),
    [
        ({"a": 10, "b": 20}, [[], []], 107),
        ({"a": 10, "b": 20}, [["c"]], 107),
        ({"a": 10, "b": 20}, [], 107),
        ({"a": 10, "b": 20}, [["a", "c"]], 20),
        ({"a": 10, "b": 20}, [["b"], ["a"]], 0),
        ({}, [["c"], []], 0),
    ],
)
def test_preamble(student, prices, requests, spared):
    found = student.unused_bill(77, prices, requests, 1)
    assert (found["per_request"], found["total"]) == (spared, spared * len(requests))


@points(
    1,
    title="When it pays",
    hint="Round up, and not where it comes out even. What if there is no effort, and what if nothing is spared?",
)
@pytest.mark.parametrize(
    ("effort", "requests", "expected"),
    [
        (1, [["a"]], 1),
        (20, [["a"]], 1),
        (21, [["a"]], 2),
        (2_000, [["a"]], 100),
        (0, [["a"]], 0),
        (0, [["a", "b"]], 0),
        (500, [["a", "b"]], None),
    ],
)
def test_break_even(student, effort, requests, expected):
    assert student.unused_bill(77, {"a": 10, "b": 20}, requests, effort)["break_even"] == expected
### END HIDDEN TESTS
