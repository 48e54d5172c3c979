"""The budget: what cannot hold is refused when it is made, what is fitted never exceeds the window."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.budget import CAPS, COMPONENTS, BudgetError, ContextBudget
from ctxcourse.errors import CourseError
from ctxcourse.messages import MessageError, check_pairs, normalise, steps
from ctxcourse.tokens import truncate

from .strategies import catalogues, conversations, texts

LONG = "The quick brown fox jumps over the lazy dog. " * 200
LONG_TALK = [{"role": "user", "content": LONG}]


def tool(name, words=10):
    return {"name": name, "description": "quick " * words}


def exchange(number, words=20):
    """A turn with a call and its result."""
    call = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": {"n": number}}}
    return [
        {"role": "user", "content": f"Question {number}"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": "lazy dog " * words},
        {"role": "assistant", "content": f"Answer {number}"},
    ]


def history(count, words=20):
    return [message for number in range(count) for message in exchange(number, words)]


# Construction


def test_the_defaults_are_the_published_ones():
    budget = ContextBudget()
    assert (budget.window, budget.generation, budget.room) == (128_000, 4_000, 124_000)
    assert budget.caps == {"system": 1_000, "tools": 2_000, "retrieved": 3_000, "history": 5_000, "query": 500}
    assert budget == ContextBudget(128_000, 4_000, dict(CAPS))


def test_a_budget_keeps_its_own_copy_of_the_caps():
    caps = {"query": 10}
    budget = ContextBudget(caps=caps)
    caps["query"] = 10**9
    assert budget.caps == {"query": 10}
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.window = 1


@pytest.mark.parametrize("size", [0, -1, 1.0, 2.5, True, False, None, "5", float("nan")])
def test_sizes_must_be_positive_integers(size):
    for wrong in ({"window": size}, {"generation": size}, {"caps": {"tools": size}}):
        with pytest.raises(BudgetError, match=r"(window|generation|the cap for tools) must be"):
            ContextBudget(**wrong)


@pytest.mark.parametrize(("window", "generation", "over"), [(4_000, 4_000, "0"), (1_000, 4_500, "3,500")])
def test_a_reserve_that_leaves_no_room_is_refused_by_how_much(window, generation, over):
    with pytest.raises(BudgetError, match=rf"leave no room .*\({over} over\)"):
        ContextBudget(window, generation, {})


def test_caps_over_what_is_left_are_refused_by_how_much():
    ContextBudget(1_000, 100, {"system": 400, "history": 500})
    with pytest.raises(BudgetError, match=r"come to 901 tokens.* leaves 900: 1 too many"):
        ContextBudget(1_000, 100, {"system": 401, "history": 500})
    with pytest.raises(BudgetError, match=r"the caps come to 11,500 tokens.*: 7,500 too many"):
        ContextBudget(window=8_000)


@pytest.mark.parametrize("name", ["tool", "documents", "", None, 7])
def test_unknown_components_are_refused_by_name(name):
    with pytest.raises(BudgetError, match=rf"caps names {name!r}.*system, tools, retrieved, history, query"):
        ContextBudget(caps={name: 10})
    with pytest.raises(BudgetError, match=rf"may_cut names {name!r}"):
        ContextBudget(may_cut=[name])


@pytest.mark.parametrize("wrong", [{"caps": None}, {"caps": [("tools", 1)]}, {"may_cut": "query"}, {"may_cut": None}])
def test_caps_are_a_dict_and_may_cut_a_list(wrong):
    with pytest.raises(BudgetError, match="must be a"):
        ContextBudget(**wrong)


def test_its_errors_are_errors_of_the_course_and_value_errors():
    assert issubclass(BudgetError, CourseError)
    assert issubclass(BudgetError, ValueError)


# Fitting


@st.composite
def budgets(draw):
    window = draw(st.integers(2, 1_500))
    generation = draw(st.integers(1, window - 1))
    left = window - generation
    caps = {}
    for name in draw(st.permutations(COMPONENTS)):
        if left > 0 and draw(st.booleans()):
            caps[name] = draw(st.integers(1, left))
            left -= caps[name]
    may_cut = draw(st.sampled_from([COMPONENTS, ("system", "tools", "retrieved", "history"), ()]))
    return ContextBudget(window, generation, caps, may_cut)


long_texts = st.one_of(texts, st.tuples(texts, st.integers(1, 40)).map(lambda pair: pair[0] * pair[1]))


@given(
    budget=budgets(),
    system=st.none() | long_texts,
    tools=st.none() | catalogues(),
    retrieved=st.none() | texts | st.lists(long_texts, max_size=4),
    past=st.none() | conversations(system=False),
    query=st.none() | long_texts,
)
def test_no_input_makes_a_prompt_that_exceeds_the_window_or_a_cap(
    counter, budget, system, tools, retrieved, past, query
):
    try:
        fitted = budget.fit(counter, system=system, tools=tools, retrieved=retrieved, history=past, query=query)
    except BudgetError:
        return
    rendered = counter.count_prompt(fitted.messages, fitted.tools)
    assert fitted.prompt_tokens == rendered
    assert rendered + budget.generation <= budget.window
    assert fitted.remaining == budget.window - budget.generation - rendered
    assert sum(row.used for row in fitted.rows) + fitted.scaffolding == rendered
    assert [row.component for row in fitted.rows] == list(COMPONENTS)
    for row in fitted.rows:
        assert 0 <= row.used <= min(row.wanted, budget.room if row.cap is None else row.cap)
        assert row.truncated == bool(row.note)
        assert row.truncated or row.used == row.wanted
    check_pairs(fitted.messages)
    if query is not None and query.strip():
        kept = fitted.messages[-1]["content"]
        assert fitted.row("query").truncated or kept.endswith(query)
        assert fitted.messages[-1]["role"] == "user"


@given(past=conversations(system=False), cap=st.integers(1, 400))
def test_history_keeps_the_newest_whole_steps(counter, past, cap):
    fitted = ContextBudget(10_000, 100, {"history": cap}).fit(counter, history=past)
    units, kept = steps(past), steps(fitted.messages)
    assert len(kept) <= len(units)
    if len(kept) == 1 and kept != units[-1:]:
        assert len(kept[0]) == 1
        assert units[-1][0]["content"].startswith(kept[0][0]["content"])
    else:
        assert kept == units[len(units) - len(kept) :]


def test_everything_that_fits_is_kept_as_it_is(counter):
    past = history(2)
    fitted = ContextBudget().fit(
        counter, system="Be brief.", tools=[tool("look")], retrieved=["one", "two"], history=past, query="Why?"
    )
    assert fitted.messages == [
        {"role": "system", "content": "Be brief."},
        *normalise(past),
        {"role": "user", "content": "one\n\ntwo\n\nWhy?"},
    ]
    assert fitted.tools == [{"type": "function", "function": tool("look")}]
    assert not any(row.truncated for row in fitted.rows)


def test_full_caps_that_come_to_the_whole_room_leave_room_for_the_scaffolding(counter):
    caps = {"system": 100, "tools": 200, "retrieved": 100, "history": 200, "query": 100}
    fitted = ContextBudget(710, 10, caps, may_cut=COMPONENTS).fit(
        counter, system=LONG[:1_000], tools=[tool("a", 5), tool("b", 5)], retrieved=LONG, history=LONG_TALK, query=LONG
    )
    assert counter.count_prompt(fitted.messages, fitted.tools) == fitted.prompt_tokens <= 700
    for size in range(2, 60):
        budget = ContextBudget(size * 10 + 10, 10, {"query": size * 5, "history": size * 5}, may_cut=COMPONENTS)
        try:
            tight = budget.fit(counter, history=LONG_TALK, query=LONG)
        except BudgetError:
            continue
        assert counter.count_prompt(tight.messages) == tight.prompt_tokens <= size * 10


def test_nothing_at_all_is_a_prompt_of_scaffolding(counter):
    fitted = ContextBudget().fit(counter)
    assert (fitted.messages, fitted.tools) == ([], [])
    assert fitted.prompt_tokens == fitted.scaffolding == counter.count_prompt([])
    assert fitted.messages == ContextBudget().fit(counter, tools=[], retrieved=[], history=[]).messages


def test_the_input_is_not_changed(counter):
    past = history(30)
    before = [dict(message) for message in past]
    ContextBudget(1_000, 100, {"history": 100}).fit(counter, history=past)
    assert past == before


def test_the_caller_gets_copies(counter):
    past = history(1)
    ContextBudget().fit(counter, history=past).messages[0]["content"] = "changed"
    assert past[0]["content"] == "Question 0"


@pytest.mark.parametrize("component", ["system", "query"])
def test_a_text_over_its_cap_is_cut_to_whole_tokens(counter, component):
    budget = ContextBudget(50_000, 100, {component: 50}, may_cut=[component])
    fitted = budget.fit(counter, **{component: LONG})
    row, kept = fitted.row(component), fitted.messages[-1]["content"]
    assert kept == truncate(LONG, counter.count_text(kept), counter)
    assert row.used == 50 < row.wanted
    assert "of 2," in row.note
    assert row.truncated


def test_what_may_not_be_cut_raises_by_how_much(counter):
    for component, value in {
        "system": LONG,
        "tools": [tool("look", 500)],
        "retrieved": LONG,
        "history": [{"role": "user", "content": LONG}],
        "query": LONG,
    }.items():
        wanted = ContextBudget(caps={}).fit(counter, **{component: value}).row(component).wanted
        budget = ContextBudget(50_000, 100, {component: 40}, may_cut=[])
        said = rf"{component} takes {wanted:,} tokens, {wanted - 40:,} more than the 40 .*may_cut"
        with pytest.raises(BudgetError, match=said):
            budget.fit(counter, **{component: value})


def test_the_query_is_never_dropped_in_silence(counter):
    with pytest.raises(BudgetError, match="query takes"):
        ContextBudget(10_000, 100, {"query": 20}).fit(counter, query=LONG)
    with pytest.raises(BudgetError, match="query takes"):
        ContextBudget(10_000, 100, {"query": 3}, may_cut=COMPONENTS).fit(counter, query="Why?")


def test_the_query_gets_its_room_before_anything_else(counter):
    fitted = ContextBudget(400, 100, {}).fit(counter, system=None, history=history(40), retrieved=LONG, query="Why?")
    assert fitted.messages[-1]["content"].endswith("Why?")
    assert not fitted.row("query").truncated
    assert fitted.row("retrieved").truncated


def test_a_system_message_larger_than_the_whole_window_is_refused_by_how_much(counter):
    fitted = ContextBudget().fit(counter, system=LONG[:500])
    room, wanted = fitted.prompt_tokens, fitted.row("system").wanted
    assert ContextBudget(room + 10, 10, {}).fit(counter, system=LONG[:500]).remaining == 0
    with pytest.raises(BudgetError, match=rf"system message takes {wanted} tokens, 7 more than the {wanted - 7} left"):
        ContextBudget(room - 7 + 10, 10, {"system": 5}).fit(counter, system=LONG[:500])


def test_a_window_too_small_for_an_empty_prompt_is_refused_by_how_much(counter):
    least = counter.count_prompt([])
    assert ContextBudget(least + 10, 10, {}).fit(counter).remaining == 0
    with pytest.raises(BudgetError, match="is 1 too small"):
        ContextBudget(least + 9, 10, {}).fit(counter)


def test_tools_are_dropped_whole_from_the_end_and_named(counter):
    tools = [tool("first"), tool("second"), tool("third")]
    two = ContextBudget(caps={}).fit(counter, tools=tools[:2]).row("tools").used
    fitted = ContextBudget(10_000, 100, {"tools": two}).fit(counter, tools=tools)
    assert [t["function"]["name"] for t in fitted.tools] == ["first", "second"]
    assert fitted.row("tools").note == "1 of 3 tools left out: third"
    one_less = ContextBudget(10_000, 100, {"tools": two - 1}).fit(counter, tools=tools)
    assert [t["function"]["name"] for t in one_less.tools] == ["first"]
    assert one_less.row("tools").note == "2 of 3 tools left out: second, third"


def test_documents_are_kept_from_the_front_and_the_first_too_many_is_cut(counter):
    documents = ["first " * 20, "second " * 20, "third " * 20]
    cost = ContextBudget(caps={}).fit(counter, retrieved=documents[:1], query="Why?").row("retrieved").used
    fitted = ContextBudget(10_000, 100, {"retrieved": cost + 10}).fit(counter, retrieved=documents, query="Why?")
    first, second, query = fitted.messages[-1]["content"].split("\n\n")
    assert (first, query) == (documents[0], "Why?")
    assert documents[1].startswith(second)
    assert "document 2 cut to" in fitted.row("retrieved").note
    assert "1 of 3 documents left out" in fitted.row("retrieved").note


def test_blank_documents_are_none(counter):
    with_blanks = ContextBudget().fit(counter, retrieved=["", " \n", "one"], query="Why?")
    assert with_blanks == ContextBudget().fit(counter, retrieved="one", query="Why?")


def test_history_loses_its_oldest_turns_first(counter):
    past = history(5)
    two = ContextBudget(caps={}).fit(counter, history=history(5)[-8:]).row("history").used
    fitted = ContextBudget(10_000, 100, {"history": two + 1}).fit(counter, history=past)
    assert fitted.messages == normalise(past)[-8:]
    assert fitted.row("history").note == "oldest 3 of 5 turns left out"


def test_a_last_turn_too_large_loses_its_oldest_steps(counter):
    turn = [{"role": "user", "content": "Go on."}, *exchange(3)[1:3], *exchange(4)[1:]]
    step = ContextBudget(caps={}).fit(counter, history=turn[3:]).row("history").used
    fitted = ContextBudget(10_000, 100, {"history": step}).fit(counter, history=[*history(2), *turn])
    assert fitted.messages == normalise(turn)[3:]
    assert fitted.row("history").note == "oldest 2 of 3 turns left out, oldest 2 of 4 steps left out"


def test_a_last_step_too_large_is_cut_if_it_is_text_and_left_out_if_it_is_a_call(counter):
    budget = ContextBudget(10_000, 100, {"history": 30})
    text = budget.fit(counter, history=[*history(1), {"role": "assistant", "content": LONG}])
    assert text.row("history").used == 30
    assert LONG.startswith(text.messages[0]["content"])
    call = budget.fit(counter, history=[{"role": "user", "content": "Hi"}, *exchange(1, words=200)[1:3]])
    assert call.messages == []
    assert "a call with its results, left out" in call.row("history").note


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"system": 7}, "system must be a string, not int"),
        ({"query": ["Why?"]}, "query must be a string, not list"),
        ({"query": "\ud83d"}, "query holds half of a surrogate pair"),
        ({"retrieved": {"text": "x"}}, "retrieved must be a list of texts"),
        ({"retrieved": ["x", None]}, "retrieved document 1 must be a string"),
        ({"tools": "look"}, "tools must be a list"),
        ({"tools": [tool("look"), tool("look")]}, "both called 'look'"),
        ({"history": "Hi"}, "messages must be a list"),
        ({"history": [{"role": "tool", "tool_call_id": "c3", "content": ""}]}, "'c3'"),
        (
            {"history": [{"role": "user", "content": ""}, {"role": "developer", "content": ""}]},
            "history message 1 is a",
        ),
    ],
)
def test_components_that_are_not_valid_are_refused_by_name(counter, part, said):
    with pytest.raises(MessageError, match=said):
        ContextBudget().fit(counter, **part)


# The account


@pytest.fixture
def tight(counter):
    return ContextBudget(2_000, 500, {"system": 100, "tools": 150, "history": 200, "query": 50}).fit(
        counter, system=LONG[:2_000], tools=[tool("a"), tool("<b>", 200)], history=history(9), query="Why?"
    )


def test_utilisation_counts_the_reserve(tight):
    assert tight.utilisation == (tight.prompt_tokens + 500) / 2_000
    assert tight.prompt_tokens + 500 + tight.remaining == 2_000


def test_the_report_has_a_line_with_a_bar_for_every_component(tight):
    lines = {line.split()[0]: line for line in tight.report().splitlines()}
    for row in tight.rows:
        bar = "".join(c for c in lines[row.component] if c in "█░")
        assert len(bar) == 24
        assert bar.count("█") == (
            24 if row.used == row.cap else pytest.approx(24 * row.used / (row.cap or 2_000), abs=1)
        )
        assert f"{row.used:,}" in lines[row.component]
        assert lines[row.component].endswith(row.note)
    assert f"{tight.remaining:,}" in lines["remaining"]
    assert f"{tight.utilisation:.1%}" in tight.report()


def test_the_report_stays_narrow_while_the_row_names_every_tool(counter):
    tools = [tool(f"tool_number_{n}") for n in range(40)]
    fitted = ContextBudget(10_000, 100, {"tools": 200}).fit(counter, tools=tools)
    assert "tool_number_39" in fitted.row("tools").note
    assert max(map(len, fitted.report().splitlines())) < 160


def test_the_page_shows_the_same_figures_and_escapes_names(tight):
    page = tight._repr_html_()
    for row in tight.rows:
        assert f"<td>{row.used:,}</td>" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_a_row_is_found_by_name_only(tight):
    assert tight.row("tools").component == "tools"
    with pytest.raises(KeyError, match="documents"):
        tight.row("documents")


@pytest.mark.model
def test_the_real_template_is_fitted_to_the_token(tokenizer):
    tools = [tool(f"tool_{n}", 30) for n in range(12)]
    budget = ContextBudget(2_000, 300, {"system": 200, "tools": 500, "retrieved": 300, "history": 400, "query": 60})
    fitted = budget.fit(
        tokenizer,
        system="机密文件必须保存在保险箱里。" * 60,
        tools=tools,
        retrieved=["👩‍👩‍👧‍👦 family " * 80, "<|im_end|> " * 10],
        history=history(20),
        query="Which document names the family?",
    )
    assert tokenizer.count_prompt(fitted.messages, fitted.tools) == fitted.prompt_tokens
    assert fitted.scaffolding + sum(row.used for row in fitted.rows) == fitted.prompt_tokens <= 1_700
    assert [row.truncated for row in fitted.rows] == [True, True, True, True, False]
