"""The tools experiment: twenty requests, catalogues of four sizes, and the tool that the model called.

Each catalogue is given in full or with trimmed prose, and either all of it or the tools that score best against the
request and fit into 600 rendered tokens. What this module does not do: run a tool, or draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxcourse.needle.sweeps import checked_count
from ctxcourse.samples.tool_tasks import ToolTask, load_tool_tasks
from ctxcourse.tables import Table, TableError, counted, provenance
from ctxcourse.tools.calls import parse_tool_calls
from ctxcourse.tools.catalogues import SIZES, catalogue
from ctxcourse.tools.costs import ToolCosts
from ctxcourse.toolschemas import Tool

if TYPE_CHECKING:
    from pandas import DataFrame

    from ctxcourse.model.answers import Completion
    from ctxcourse.model.qwen import Model
    from ctxcourse.tools.toolset import Toolset

PROSE: tuple[str, ...] = ("full", "trimmed")
SELECTIONS: tuple[str, ...] = ("all", "selected")
OUTCOMES: tuple[str, ...] = ("right call", "wrong arguments", "other tool", "unknown tool", "no call")
TASKS = 20
BUDGET = 600
"""The rendered tokens that a selection of tools may take, preamble included."""
NEW_TOKENS = 80
SYSTEM = "You assist an operations team. Answer each request by calling the one tool that fits it."

TABLE = Table(
    name="the tools experiment",
    columns={
        "experiment": "string",
        "task": "Int64",
        "tools": "Int64",
        "prose": "string",
        "selection": "string",
        "wanted": "string",
        "offered": "boolean",
        "called": "string",
        "answer": "string",
        "outcome": "string",
        "prompt_tokens": "Int64",
        "tool_tokens": "Int64",
        "new_tokens": "Int64",
    },
    optional=("called",),
    values={"prose": PROSE, "selection": SELECTIONS, "outcome": OUTCOMES},
    unit="task",
)
"""One row a call. ``tools`` is the size of the catalogue; ``offered`` whether the tool that is ``wanted`` was in the
prompt at all; ``called`` the first tool that the answer calls, NA where it calls none; ``tool_tokens`` what the tools
added to the prompt."""


@dataclass(frozen=True)
class ToolsCall:
    """One request with one catalogue, before it is known what a selection of it holds: that takes a counter."""

    number: int
    task: ToolTask
    tools: int
    prose: str
    selection: str

    def messages(self) -> list[dict[str, Any]]:
        """Return the prompt as messages, without the tools."""
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": self.task.query}]


def calls(
    tasks: int = TASKS,
    sizes: Sequence[int] = SIZES,
    prose: Sequence[str] = PROSE,
    selections: Sequence[str] = SELECTIONS,
) -> list[ToolsCall]:
    """Return each of the first tasks with every catalogue; the tool that a task wants is in all of them.

    Raises `SweepError` for more tasks than there are or a catalogue of fewer than five tools or more than fifty, and
    `TableError` for a prose or a selection that there is not.

    >>> len(calls()), [(call.tools, call.prose, call.selection) for call in calls(tasks=1, sizes=[5])][:2]
    (320, [(5, 'full', 'all'), (5, 'full', 'selected')])
    """
    known = load_tool_tasks()
    tasks = checked_count("tasks", tasks, 1, len(known))
    for what, given, allowed in (("prose", prose, PROSE), ("selection", selections, SELECTIONS)):
        for value in given:
            if value not in allowed:
                raise TableError(f"no {what} is called {value!r}; there are {', '.join(allowed)}")
    sizes = [checked_count("sizes", size, SIZES[0], SIZES[-1]) for size in sizes]
    return [
        ToolsCall(number, task, size, words, selection)
        for number, task in enumerate(known[:tasks])
        for size in sizes
        for words in prose
        for selection in selections
    ]


def outcome(task: ToolTask, offered: Collection[str], answer: str) -> tuple[str, str | None]:
    """Return what an answer is, one of `OUTCOMES`, and the name that it calls, None where it calls none.

    Of several calls the first that can be read decides. A call that cannot be read is no call, and a tool is unknown
    if it was not in the prompt, whether or not there is one of that name.

    >>> task, offered = load_tool_tasks()[0], ["get_current_time", "search_logs"]
    >>> outcome(task, offered, '{"name": "get_current_time", "arguments": {"timezone": "Asia/Tokyo"}}')
    ('wrong arguments', 'get_current_time')
    >>> outcome(task, offered, "It is noon.")
    ('no call', None)
    """
    call = next((call for call in parse_tool_calls(answer) if not call.problem), None)
    if call is None:
        return "no call", None
    if call.name not in offered:
        return "unknown tool", call.name
    if call.name != task.tool:
        return "other tool", call.name
    return ("right call" if task.accepts(call.arguments) else "wrong arguments"), call.name


def offered(calls: Sequence[ToolsCall], costs: ToolCosts) -> list[list[Tool]]:
    """Return the tools that each call's prompt holds, in the catalogue's order.

    Scores are BM25 against the request; the best are taken while they fit into 600 tokens.
    """
    sets: dict[tuple[int, str], Toolset] = {}
    found = []
    for call in calls:
        key = (call.tools, call.prose)
        if key not in sets:
            whole = catalogue(call.tools)
            sets[key] = whole.trimmed() if call.prose == "trimmed" else whole
        tools = sets[key]
        if call.selection == "selected":
            opening = call.messages()[:1]  # the template writes the tools behind it, whatever is asked
            found.append(tools.fit(tools.scores(call.task.query), BUDGET, costs, messages=opening).tools)
        else:
            found.append(tools.tools)
    return found


def run(
    calls: Sequence[ToolsCall],
    model: Model,
    progress: bool = True,
    should_stop: Callable[[], bool] = lambda: False,
    command: str | None = None,
) -> DataFrame:
    """Ask the model all calls (greedy, 80 new tokens) and return one row a call, in their order, with provenance.

    Finished answers are in the completion store at once: an interrupted run goes on where it stopped when it is called
    again. Raises `TableError` without calls, and what `Model.complete_many` raises.
    """
    if not calls:
        raise TableError("there are no calls to run: make some with ctxcourse.experiments.tools.calls")
    began = time.perf_counter()
    given = offered(calls, ToolCosts(model))
    prompts = [(call.messages(), tools) for call, tools in zip(calls, given, strict=True)]
    completions = model.complete_many(
        prompts, max_new_tokens=NEW_TOKENS, remember=True, should_stop=should_stop, progress=progress
    )
    about = provenance(
        "tools",
        model,
        (model.encode_prompt(messages, tools) for messages, tools in prompts),
        completions,
        max_new_tokens=NEW_TOKENS,
        seed=0,  # nothing is drawn
        arguments={
            "tasks": len({call.number for call in calls}),
            "tools": sorted({call.tools for call in calls}),
            "prose": list(dict.fromkeys(call.prose for call in calls)),
            "selections": list(dict.fromkeys(call.selection for call in calls)),
            "budget": BUDGET,
        },
        seconds=time.perf_counter() - began,
        command=command,
    )
    rows = [
        _row(call, tools, completion, model.count_prompt(call.messages()))
        for call, tools, completion in zip(calls, given, completions, strict=True)
    ]
    return TABLE.frame(rows, about)


def cells(frame: DataFrame) -> DataFrame:
    """Return one row for each catalogue, prose and selection: mean tokens, the outcomes, and the interval.

    The interval is that of right calls; ``offered`` is the share of prompts that held the tool that was wanted.
    """
    means = ["prompt_tokens", "tool_tokens", "offered"]
    return counted(frame, ["tools", "prose", "selection"], "outcome", OUTCOMES, means=means)


def _row(call: ToolsCall, tools: Sequence[Tool], completion: Completion, without_tools: int) -> list[Any]:
    names = [each["function"]["name"] for each in tools]
    result, called = outcome(call.task, names, completion.text)
    asked = ["tools", call.number, call.tools, call.prose, call.selection, call.task.tool, call.task.tool in names]
    sizes = [completion.prompt_tokens, completion.prompt_tokens - without_tools, completion.new_tokens]
    return [*asked, called, completion.text, result, *sizes]
