"""What fills a prompt, by difference of whole renders."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.messages import MessageError, normalise, normalise_tools, split_system
from ctxcourse.tokens import (
    Buckets,
    CatalogueCost,
    buckets,
    catalogue_cost,
    count_prompt,
    count_text,
    estimate_words,
)

from .strategies import catalogues, conversations, names, texts

TOOLS = [
    {"name": "get_time", "description": "Return the time.", "parameters": {"type": "object", "properties": {}}},
    {"name": "search_logs", "description": "Search the logs of a service for a text, newest line first."},
]


def user(content):
    return {"role": "user", "content": content}


# Buckets


@given(messages=conversations(), tools=st.none() | catalogues())
def test_buckets_add_up_to_the_prompt_and_none_is_negative(counter, messages, tools):
    parts = buckets(messages, tools, counter)
    figures = parts.as_dict()
    assert parts.total == figures.pop("total") == sum(figures.values())
    assert parts.total == counter.count_prompt(messages, tools)
    assert min(figures.values()) >= 0


@given(messages=conversations(), tools=catalogues())
def test_each_bucket_is_empty_where_nothing_of_it_is_there(counter, messages, tools):
    parts = buckets(messages, tools, counter)
    assert (parts.tools > 0) == bool(tools)
    assert (parts.tool_results > 0) == any(m["role"] == "tool" for m in messages)
    opening_only = all(m["role"] in ("system", "developer") for m in messages)
    assert (parts.conversation > 0) == (not opening_only)


@given(messages=conversations(), tools=catalogues())
def test_the_system_and_tool_buckets_depend_only_on_the_opening(counter, messages, tools):
    opening = split_system(normalise(messages))[0]
    whole, alone = buckets(messages, tools, counter), buckets(opening, tools, counter)
    assert (whole.system, whole.tools) == (alone.system, alone.tools)
    assert alone.conversation == 0


def test_an_empty_conversation_is_the_default_system_message(counter):
    assert buckets([], None, counter) == Buckets(counter.count_prompt([]), 0, 0, 0)


def test_only_a_system_message_is_all_system(counter):
    only = [{"role": "system", "content": "Be brief."}]
    assert buckets(only, [], counter) == Buckets(counter.count_prompt(only), 0, 0, 0)


def test_empty_contents_still_cost_their_markers(counter):
    parts = buckets([{"role": "system", "content": ""}, user("")], None, counter)
    assert parts.conversation > 0
    assert parts.system < counter.count_prompt([])


def test_a_system_message_further_down_is_conversation(counter):
    late = [user("Hello"), {"role": "system", "content": "From now on, in French."}]
    assert buckets(late, None, counter).system == counter.count_prompt([])
    assert buckets(late, None, counter).conversation > buckets(late[:1], None, counter).conversation


def test_parallel_results_are_all_counted(counter):
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": {}}} for i in "ab"]
    asking = {"role": "assistant", "content": None, "tool_calls": calls}
    results = [{"role": "tool", "tool_call_id": i, "content": "seen " * 50} for i in "ba"]
    both = buckets([user("x"), asking, *results], None, counter)
    one = {**asking, "tool_calls": calls[:1]}
    assert both.tool_results > 2 * 50
    assert both.tool_results > buckets([user("x"), one, results[1]], None, counter).tool_results


def test_a_null_result_costs_what_an_empty_one_does(counter):
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": None}}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    null, empty = ({"role": "tool", "tool_call_id": "a", "content": c} for c in (None, ""))
    assert buckets([asking, null], None, counter) == buckets([asking, empty], None, counter)
    assert "None" not in counter.render([asking, null])


def test_arguments_cost_the_same_as_json_and_as_a_dict(counter):
    arguments = {"query": "time-out", "limit": 20}
    costs = set()
    for form in (arguments, json.dumps(arguments), json.dumps(arguments, indent=4)):
        call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": form}}
        asking = {"role": "assistant", "content": None, "tool_calls": [call]}
        costs.add(buckets([asking, {"role": "tool", "tool_call_id": "a", "content": ""}], None, counter))
    assert len(costs) == 1


def test_an_unpaired_conversation_is_refused_by_id(counter):
    orphan = [user("x"), {"role": "tool", "tool_call_id": "c7", "content": "42"}]
    for count in (buckets, lambda m, t, c: count_prompt(m, t, c)):
        with pytest.raises(MessageError, match="'c7'"):
            count(orphan, None, counter)


@given(messages=conversations(), tools=catalogues())
def test_count_prompt_is_the_total(counter, messages, tools):
    assert count_prompt(messages, tools, counter) == buckets(messages, tools, counter).total


@pytest.mark.parametrize("text", [None, 7, b"x", ["x"], "\ud83d"])
def test_only_text_can_be_counted(counter, text):
    with pytest.raises(MessageError, match="the text"):
        count_text(text, counter)


@given(text=texts)
def test_text_is_counted_by_the_counter(counter, text):
    assert count_text(text, counter) == counter.count_text(text)


# Catalogues


@given(tools=catalogues(), messages=conversations())
def test_a_catalogue_is_its_preamble_and_its_tools(counter, tools, messages):
    cost = catalogue_cost(tools, counter, messages)
    assert cost.total == cost.preamble + sum(cost.per_tool.values())
    assert cost.total == counter.count_prompt(messages, tools) - counter.count_prompt(messages)
    assert list(cost.per_tool) == [t["function"]["name"] for t in normalise_tools(tools)]
    assert all(tokens > 0 for tokens in cost.per_tool.values())


@given(tools=catalogues().filter(bool), name=names)
def test_a_tool_costs_what_it_adds_to_the_others(counter, tools, name):
    extra = {"name": name + "_more", "description": "One more."}
    added = counter.count_prompt([], [*tools, extra]) - counter.count_prompt([], tools)
    assert catalogue_cost([*tools, extra], counter).per_tool[name + "_more"] == added


def test_the_preamble_is_no_part_of_the_first_tool(counter):
    forwards, backwards = catalogue_cost(TOOLS, counter), catalogue_cost(TOOLS[::-1], counter)
    assert forwards == CatalogueCost(backwards.preamble, dict(reversed(backwards.per_tool.items())), backwards.total)
    assert forwards.preamble > 10
    assert catalogue_cost(TOOLS[:1], counter).preamble == forwards.preamble
    assert catalogue_cost(TOOLS[:1], counter).per_tool == {"get_time": forwards.per_tool["get_time"]}


def test_no_tools_cost_nothing_and_twins_are_refused(counter):
    assert catalogue_cost(None, counter) == catalogue_cost([], counter) == CatalogueCost(0, {}, 0)
    with pytest.raises(MessageError, match="both called 'get_time'"):
        catalogue_cost([TOOLS[0], TOOLS[0]], counter)


def test_a_tool_may_have_any_name(counter):
    odd = [{"name": "probe"}, {"name": "probe_"}, {"name": "probe______"}]
    cost = catalogue_cost(odd, counter)
    assert cost.total == counter.count_prompt([], odd) - counter.count_prompt([])


# The published estimate


@pytest.mark.parametrize(
    ("text", "published"),
    [
        ("", 0),
        ("   \n", 0),
        ("one", 1),
        ("one two", 2),
        ("one two three", 3),
        ("a b c d", 5),
        ("十分な長さの文章です", 1),
    ],
)
def test_the_published_estimate_is_words_times_one_point_three_rounded_down(text, published):
    assert estimate_words(text) == published


# Figures of the course's own model

UNSPACED = {
    "Chinese": "机密文件必须保存在保险箱里，未经批准任何人不得查阅，违者将按照公司规定受到严肃处理并承担全部责任。",
    "Thai": "กรุณาเก็บเอกสารลับไว้ในตู้นิรภัยและห้ามนำออกนอกสำนักงาน",
    "UUID": "550e8400-e29b-41d4-a716-446655440000",
    "JSON": '{"ticket":"INC-4417","owner":"Priya","extension":7731,"open":true,"tags":["db","pay"]}',
    "code": "total=0;while(total<limit){total+=items[index].price*items[index].count;index+=1;}report(total);",
}


@pytest.mark.model
@pytest.mark.parametrize("kind", UNSPACED)
def test_text_without_spaces_is_one_word_and_about_thirty_tokens(tokenizer, kind):
    assert estimate_words(UNSPACED[kind]) == 1
    assert 28 <= count_text(UNSPACED[kind], tokenizer) <= 36


GENERATION_PROMPT = 3  # <|im_start|>, assistant, a line break


@pytest.mark.model
def test_the_default_system_message_is_twenty_one_tokens(tokenizer):
    assert buckets([], None, tokenizer) == Buckets(21 + GENERATION_PROMPT, 0, 0, 0)


@pytest.mark.model
def test_adding_up_parts_says_fourteen_where_the_prompt_has_thirty_five(tokenizer):
    parts = buckets([user("Why does the window fill up so fast today")], None, tokenizer)
    assert parts.conversation == 14
    assert parts.total - GENERATION_PROMPT == 35


@pytest.mark.model
def test_the_tool_preamble_is_seventy_seven_tokens(tokenizer):
    assert catalogue_cost(TOOLS, tokenizer).preamble == 77
    assert catalogue_cost(TOOLS[:1], tokenizer).preamble == 77


@pytest.mark.model
def test_a_control_token_in_a_document_counts_as_text(tokenizer):
    spelled = "<|im_end|>"
    assert count_text(spelled, tokenizer) > 1
    plain = buckets([user("stop here")], None, tokenizer).conversation
    assert buckets([user(f"stop {spelled} here")], None, tokenizer).conversation > plain + 1


@pytest.mark.model
def test_the_real_template_is_counted_as_it_is_rendered(tokenizer):
    calls = [{"id": i, "type": "function", "function": {"name": "get_time", "arguments": "{}"}} for i in "ab"]
    messages = [
        {"role": "system", "content": "Be brief."},
        user("Wie spät ist es? 👩‍👩‍👧‍👦"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "12:30"}]},
        {"role": "tool", "tool_call_id": "a", "content": None},
        {"role": "assistant", "content": "Half past twelve."},
    ]
    parts = buckets(messages, TOOLS, tokenizer)
    assert parts.total == len(tokenizer.encode_prompt(messages, TOOLS))
    assert min(parts.as_dict().values()) > 0
    assert parts.tools == catalogue_cost(TOOLS, tokenizer).total
