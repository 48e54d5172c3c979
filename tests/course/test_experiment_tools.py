"""The tools experiment: its tasks, what each prompt offers, the rule for an answer, and a table from a small model."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ctxcourse import load_model, load_tokenizer
from ctxcourse.experiments import tools
from ctxcourse.experiments.tools import BUDGET, OUTCOMES, TABLE, ToolsCall, calls, cells, offered, outcome, run
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.model.qwen import Model
from ctxcourse.needle.sweeps import SweepError
from ctxcourse.samples.tool_tasks import ToolTask, load_tool_tasks
from ctxcourse.tables import TableError
from ctxcourse.tools.catalogues import SIZES, catalogue
from ctxcourse.tools.costs import ToolCosts
from ctxcourse.tools.toolset import Toolset
from tests.context.conftest import SmallCounter
from tests.small_model import write_small_model

TASKS = load_tool_tasks()
FIRST_FIVE = {tool["function"]["name"]: tool["function"]["parameters"] for tool in catalogue(5).tools}
TYPES = {"string": str, "integer": int}


def right_call(task: ToolTask) -> dict[str, Any]:
    """Return the call that a task wants, with the first value that is accepted for each argument."""
    arguments = {name: accepted[0] for name, accepted in task.arguments.items() if accepted[0] is not None}
    return {"name": task.tool, "arguments": arguments}


class Caller(SmallCounter):
    """A model that calls the tool it should among up to ten, and above that the last one it was offered."""

    label, fingerprint = "a caller", "caller@1"

    def encode_prompt(self, messages: Any, given: Any = None) -> list[int]:
        return list(self.render(messages, given).encode())

    def complete_many(self, prompts: Any, max_new_tokens: int, **_: Any) -> list[Completion]:
        return [self._completion(messages, given) for messages, given in prompts]

    def _completion(self, messages: Any, given: Any) -> Completion:
        task = next(task for task in TASKS if task.query == messages[-1]["content"])
        call = right_call(task) if len(given) <= 10 else {"name": given[-1]["function"]["name"], "arguments": {}}
        answer, size = f"<tool_call>\n{json.dumps(call)}\n</tool_call>", self.count_prompt(messages, given)
        return Completion(answer, size, size, self.count_text(answer), 0.5, "stop", self.fingerprint)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return run(calls(tasks=6), Caller(), command="ctxcourse experiment tools")


# The tasks


def test_the_first_five_tools_are_wanted_four_times_each() -> None:
    assert len(TASKS) == len({task.query for task in TASKS}) == 20
    assert Counter(task.tool for task in TASKS) == dict.fromkeys(FIRST_FIVE, 4)
    for first in range(0, 20, 5):
        assert {task.tool for task in TASKS[first : first + 5]} == set(FIRST_FIVE)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.query)
def test_accepted_values_are_those_that_the_schema_allows(task: ToolTask) -> None:
    schema = FIRST_FIVE[task.tool]
    assert set(schema["required"]) <= set(task.arguments) <= set(schema["properties"])
    for name, accepted in task.arguments.items():
        about = schema["properties"][name]
        assert accepted
        assert name not in schema["required"] or None not in accepted
        for value in accepted:
            assert value is None or type(value) is TYPES[about["type"]]
            assert value is None or value in about.get("enum", [value])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.query)
def test_what_is_left_out_only_where_it_may_be(task: ToolTask) -> None:
    arguments = right_call(task)["arguments"]
    assert task.accepts(arguments)
    assert not task.accepts({})
    assert not task.accepts({**arguments, "reason": "because"})
    assert task.accepts({**arguments, "reason": None})
    for name, accepted in task.arguments.items():
        without = {key: value for key, value in arguments.items() if key != name}
        assert task.accepts(without) == (None in accepted)
        assert not task.accepts({**arguments, name: "something else"})
        assert all(task.accepts({**arguments, name: value}) for value in accepted)


def test_texts_are_compared_without_case_and_numbers_by_their_type() -> None:
    task = ToolTask("?", "t", {"name": ("Marta Quill",), "limit": (5, None)})
    assert task.accepts({"name": " marta  QUILL "})
    assert task.accepts({"name": "Marta Quill", "limit": 5})
    for limit in ("5", 5.0, True, 6, [5]):
        assert not task.accepts({"name": "Marta Quill", "limit": limit})
    assert not task.accepts({"name": ["Marta Quill"]})
    assert not ToolTask("?", "t", {"limit": (1,)}).accepts({"limit": True})


@given(st.sampled_from(TASKS), st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=3)))
def test_a_call_is_accepted_only_with_what_was_asked_for(task: ToolTask, more: dict[str, Any]) -> None:
    arguments = {**right_call(task)["arguments"], **{f"x-{name}": value for name, value in more.items()}}
    assert task.accepts(arguments) == all(value is None for value in more.values())


# The calls


def test_every_task_meets_every_catalogue() -> None:
    made = calls()
    assert len(made) == len(set(map(repr, made))) == 20 * 4 * 2 * 2
    assert {(call.tools, call.prose, call.selection) for call in made} == {
        (size, prose, selection) for size in SIZES for prose in tools.PROSE for selection in tools.SELECTIONS
    }


def test_what_is_offered_is_the_catalogue_or_the_best_of_it_within_the_budget() -> None:
    counter, made = SmallCounter(), calls(tasks=5, sizes=[5, 20])
    for call, there in zip(made, offered(made, ToolCosts(counter)), strict=True):
        whole = catalogue(call.tools).trimmed() if call.prose == "trimmed" else catalogue(call.tools)
        if call.selection == "all":
            assert there == whole.tools
        else:
            added = counter.count_prompt(call.messages(), there) - counter.count_prompt(call.messages())
            assert added <= BUDGET
            assert all(tool in whole.tools for tool in there)


@pytest.mark.model
def test_selections_keep_to_the_budget_by_the_models_template() -> None:
    tok, made = load_tokenizer(), calls(tasks=5, sizes=[50], selections=["selected"])
    for call, there in zip(made, offered(made, ToolCosts(tok)), strict=True):
        assert 0 < tok.count_prompt(call.messages(), there) - tok.count_prompt(call.messages()) <= BUDGET


# outcome


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            '{"name": "get_current_time", "arguments": {"timezone": "Europe/Lisbon"}}',
            ("right call", "get_current_time"),
        ),
        ('{"name": "get_current_time", "arguments": {"timezone": "Lisbon"}}', ("wrong arguments", "get_current_time")),
        ('{"name": "get_current_time", "arguments": {}}', ("wrong arguments", "get_current_time")),
        ('{"name": "search_logs", "arguments": {}}', ("other tool", "search_logs")),
        ('{"name": "convert_time", "arguments": {}}', ("unknown tool", "convert_time")),
        ('{"name": "read_log", "arguments": {}}', ("unknown tool", "read_log")),
        ('{"name": "get_current_time", "arguments": {"timezone": "Europe', ("no call", None)),
        ("It is noon in Lisbon.", ("no call", None)),
        ("", ("no call", None)),
    ],
)
@pytest.mark.parametrize("form", ["{}", "<tool_call>\n{}\n</tool_call>", "```json\n{}\n```"])
def test_what_an_answer_is(answer: str, expected: tuple[str, str | None], form: str) -> None:
    assert outcome(TASKS[0], list(FIRST_FIVE), form.replace("{}", answer, 1)) == expected


def test_the_first_call_that_can_be_read_decides() -> None:
    right, other = json.dumps(right_call(TASKS[0])), '{"name": "search_logs", "arguments": {}}'
    assert outcome(TASKS[0], FIRST_FIVE, f"{right}\n{other}")[0] == "right call"
    assert outcome(TASKS[0], FIRST_FIVE, f"{other}\n{right}")[0] == "other tool"
    broken = f"<tool_call>\n{{oops\n</tool_call>\n<tool_call>\n{right}\n</tool_call>"
    assert outcome(TASKS[0], FIRST_FIVE, broken)[0] == "right call"
    assert outcome(TASKS[0], ["search_logs"], right)[0] == "unknown tool"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.query)
def test_the_call_that_a_task_wants_is_the_right_one(task: ToolTask) -> None:
    assert outcome(task, FIRST_FIVE, json.dumps(right_call(task))) == ("right call", task.tool)


# run


def test_a_table_has_one_row_a_call_in_order_with_what_was_offered_and_called(frame: pd.DataFrame) -> None:
    counter = SmallCounter()
    assert list(frame.columns) == list(TABLE.columns)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == dict(TABLE.columns)
    made = calls(tasks=6)
    given = offered(made, ToolCosts(counter))
    for call, there, row in zip(made, given, frame.itertuples(), strict=True):
        asked = (row.experiment, row.task, row.tools, row.prose, row.selection, row.wanted)
        assert asked == ("tools", call.number, call.tools, call.prose, call.selection, call.task.tool)
        names = Toolset(there).names
        assert row.offered == (call.task.tool in names)
        assert row.prompt_tokens == counter.count_prompt(call.messages(), there)
        assert row.tool_tokens == row.prompt_tokens - counter.count_prompt(call.messages())
        assert (row.outcome, row.called) == outcome(call.task, names, row.answer)


def test_outcomes_by_size_of_the_catalogue(frame: pd.DataFrame) -> None:
    whole = frame[frame["selection"] == "all"]
    assert set(whole["outcome"][whole["tools"] <= 10]) == {"right call"}
    assert set(whole["outcome"][whole["tools"] > 10]) == {"other tool"}
    assert (frame["tool_tokens"][frame["selection"] == "selected"] <= BUDGET).all()
    found = cells(frame)
    assert list(found.columns) == [
        *("tools", "prose", "selection", "prompt_tokens", "tool_tokens", "offered", "n"),
        *(name.replace(" ", "_") for name in OUTCOMES),
        *("low", "high"),
    ]
    assert len(found) == 16
    assert (found["n"] == 6).all()
    assert (found[[name.replace(" ", "_") for name in OUTCOMES]].sum(axis=1) == 6).all()
    assert (found["offered"][found["selection"] == "all"] == 1).all()
    sizes = found[found["selection"] == "all"].set_index(["prose", "tools"])["tool_tokens"]
    assert all(sizes["trimmed", size] < sizes["full", size] for size in SIZES)


def test_provenance_says_what_was_varied(frame: pd.DataFrame) -> None:
    about = frame.attrs["provenance"]
    assert (about["experiment"], about["calls"]) == ("tools", 96)
    assert about["tokens_in_prompts"] == frame["prompt_tokens"].sum()
    assert about["distinct_tokens"] > 0
    assert about["arguments"] == {
        "tasks": 6,
        "tools": [5, 10, 20, 50],
        "prose": ["full", "trimmed"],
        "selections": ["all", "selected"],
        "budget": 600,
    }


def test_a_table_comes_back_from_its_file_as_it_was(frame: pd.DataFrame, tmp_path: Path) -> None:
    some = frame.copy()
    some.attrs = frame.attrs
    some.loc[0, ["called", "answer", "outcome"]] = [pd.NA, "", "no call"]
    TABLE.save(some, tmp_path / "tools")
    back = TABLE.load(tmp_path / "tools.csv")
    assert_frame_equal(back, some)
    assert back.attrs == frame.attrs


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(SweepError, match=r"tasks=0.*from 1 to 20"):
        calls(tasks=0)
    with pytest.raises(SweepError, match=r"sizes=4.*from 5 to 50"):
        calls(sizes=[4])
    with pytest.raises(TableError, match=r"no prose is called 'short'; there are full, trimmed"):
        calls(prose=["short"])
    with pytest.raises(TableError, match=r"no selection is called 'some'"):
        calls(selections=["some"])
    with pytest.raises(TableError, match=r"tools\.calls"):
        run([], Caller())


# A real, small model

WITH_TOOLS = (
    "{%- if tools %}<|im_start|>system\n{{ messages[0].content }}"
    "{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}"
    "<|im_end|>\n{% set messages = messages[1:] %}{% endif %}"
    "{%- for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A real model of random weights whose template writes the tools, unlike that of the other tests."""
    home = tmp_path_factory.mktemp("home")
    folder = write_small_model(home / "small")
    (folder / "chat_template.jinja").write_text(WITH_TOOLS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(folder))


def test_a_real_model_is_asked_and_a_stopped_run_goes_on(small: Model) -> None:
    asked: list[ToolsCall] = calls(tasks=2, sizes=[5, 10])
    with pytest.raises(Cancelled):
        run(asked, small, progress=False, should_stop=lambda: True)
    first = run(asked, small, progress=False)
    whole = first[first["selection"] == "all"]
    assert (whole["tool_tokens"] > 1_000).all()  # its tokens are bytes
    assert (first["new_tokens"] <= tools.NEW_TOKENS).all()
    assert first.attrs["provenance"]["distinct_tokens"] < first["prompt_tokens"].sum()
    again = run(asked, small, progress=False)
    assert_frame_equal(again, first)
    assert again.attrs["provenance"]["remembered"] == len(asked) == 16
    assert again.attrs["provenance"]["computed_tokens"] == 0
