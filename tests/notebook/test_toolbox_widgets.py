"""The widgets of the toolbox lessons without a browser: what they show at every place of their controls."""

from __future__ import annotations

import re

import ipywidgets as W
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse import load_tokenizer
from ctxcourse.history import HistoryError
from ctxcourse.history.rolling import summary_message
from ctxcourse.retrieval.ordering import reorder
from ctxcourse.tokens import catalogue_cost
from ctxcourse.tools.catalogues import SIZES, catalogue
from ctxcourse.widgets import history_explorer, order_explorer, tool_budget_explorer
from ctxcourse.widgets.toolbox import ORDERS, STATES, message_states


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer()


@pytest.fixture(scope="module")
def history(tokenizer):
    return history_explorer(tokenizer)


@pytest.fixture(scope="module")
def tools(tokenizer):
    return tool_budget_explorer(tokenizer)


def controls(widget):
    if isinstance(widget, W.Box):
        return [control for child in widget.children for control in controls(child)]
    return [] if isinstance(widget, W.HTML) else [widget]


def offered(view, chosen):
    return re.findall(rf'data-tool="(\w+)" data-chosen="{chosen}"', view.value)


# Order


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("documents", [1, 2, 5, 20])
def test_every_rank_stands_at_one_place_and_is_drawn_there(documents, order):
    explorer = order_explorer()
    explorer.documents.value, explorer.order.value = documents, order
    drawn = [int(rank) for rank in re.findall(r'data-rank="(\d+)"', explorer.view.value)]
    assert drawn == explorer.ranks()
    assert sorted(drawn) == list(range(1, documents + 1))
    assert ", ".join(map(str, drawn)) in explorer.view.value
    assert explorer.problem.value == ""


def test_the_orders_are_what_their_names_say():
    found = {name: order([1, 2, 3, 4]) for name, order in ORDERS.items()}
    assert list(found.values()) == [[1, 2, 3, 4], reorder([1, 2, 3, 4]), [4, 3, 2, 1]]


# History


@pytest.mark.model
def test_no_compressor_goes_over_the_budget_and_what_cannot_is_said(history):
    for budget in range(history.budget.min, history.budget.max + 1, 250):
        history.budget.value = budget
        assert history.problem.value == ""
        for name, made in history.results().items():
            row = re.search(rf'data-compressor="{name}">.*?</tr>', history.view.value, re.DOTALL)[0]
            if isinstance(made, HistoryError):
                assert "cannot: " in row
                assert "data-state" not in row
            else:
                assert made.tokens_after <= budget
                assert f"{made.tokens_after:,} of {made.tokens_before:,}" in row
                assert row.count("data-state=") == len(history.messages)


@pytest.mark.model
def test_with_room_for_everything_everything_is_kept(history):
    history.budget.value = history.budget.max
    states = set(re.findall(r'<span data-state="([\w ]+)" title="\w+: ', history.view.value))
    assert states == {"kept"}
    assert all(made.messages == history.messages for made in history.results().values())


@pytest.mark.model
def test_each_compressor_loses_in_its_own_way(history):
    history.budget.value = 1_500
    results = history.results()
    lost = {name: set(message_states(history.messages, made.messages)) - {"kept"} for name, made in results.items()}
    assert lost == {
        "truncation": {"left out"},
        "rolling summary": {"retold"},
        "sliding window": {"left out"},
        "old results elided": {"shortened"},
    }


def test_the_states_of_messages():
    talk = [{"role": "system", "content": "Be brief."}, *({"role": "user", "content": text} for text in "abcd")]
    cut = {"role": "user", "content": "…"}
    assert message_states(talk, talk) == ["kept"] * 5
    assert message_states(talk, [talk[0], talk[4]]) == ["kept", *["left out"] * 3, "kept"]
    assert message_states(talk, [talk[0], summary_message("abc"), talk[4]]) == ["kept", *["retold"] * 3, "kept"]
    assert message_states(talk, [*talk[:2], cut, *talk[3:]]) == ["kept", "kept", "shortened", "kept", "kept"]
    assert message_states([], []) == []
    assert set(STATES) == {"kept", "shortened", "retold", "left out"}


# Tools


@pytest.mark.model
@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 365),
    st.sampled_from(SIZES),
    st.sampled_from(["full", "trimmed"]),
    st.booleans(),
    st.sampled_from(["Who is on call?", "", "log <b>timeout</b>", "天気"]),
)
def test_what_is_shown_is_a_selection_that_keeps_to_the_budget(tokenizer, tools, steps, size, prose, scored, query):
    tools.tools.value, tools.prose.value, tools.scored.value = size, prose, scored
    tools.query.value, tools.budget.value = query, 20 * steps
    assert tools.problem.value == ""
    chosen = tools.selection()
    assert chosen.tokens == catalogue_cost(chosen.tools, tokenizer).total <= tools.budget.value
    assert offered(tools.view, "true") == chosen.names
    assert offered(tools.view, "false") == [choice.name for choice in chosen.left_out[:5]]
    assert set(chosen.names) <= set(catalogue(size).names)
    if scored:
        assert all(choice.score > 0 for choice in chosen.chosen)
    for said in (f"{len(chosen.tools)} of {size} tools", f"{chosen.tokens:,} of {chosen.budget:,} tokens"):
        assert said in tools.view.value


@pytest.mark.model
def test_a_budget_for_all_shows_all_and_spares_nothing(tools):
    tools.tools.value, tools.prose.value, tools.scored.value, tools.query.value = 50, "full", False, "logs"
    tools.budget.value = tools.budget.max
    assert len(offered(tools.view, "true")) == 50
    assert "the whole catalogue takes 7,237, so that 0% are spared" in tools.view.value


# All


@pytest.mark.model
def test_every_control_has_a_name_and_says_what_it_does(history, tools):
    for explorer in (order_explorer(), history, tools):
        assert len(controls(explorer)) >= 1
        for control in controls(explorer):
            assert control.description
            assert control.tooltip
        assert 'aria-label="' in explorer.view.value


@pytest.mark.model
def test_an_error_is_shown_in_the_widget_and_gone_with_the_next_move(tokenizer, monkeypatch):
    explorer = tool_budget_explorer(tokenizer)
    monkeypatch.setattr(explorer, "selection", lambda: 1 / 0)
    explorer.budget.value = 100
    assert "ZeroDivisionError" in explorer.problem.value
    assert "alert" in explorer.problem.value
    monkeypatch.undo()
    explorer.budget.value = 200
    assert explorer.problem.value == ""


@pytest.mark.model
def test_what_is_shown_depends_on_where_the_slider_is_and_not_on_how_it_came_there(history, tokenizer):
    for budget in (history.budget.max, 300, 1_200):
        history.budget.value = budget
    assert history.view.value == history_explorer(tokenizer, budget=1_200).view.value
