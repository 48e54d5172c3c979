"""What each tool of a run cost and was used for: a definition is billed at every call, whether or not it is wanted."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from ctxcourse.agent.transcript import Transcript
from ctxcourse.messages import Message, split_system
from ctxcourse.pairing import calls_of
from ctxcourse.tokens import Counter, catalogue_cost

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class ToolUse:
    """One tool of a run.

    ``defined`` is false for a name that the model called and no definition bears. ``definition_tokens`` is what the
    definition adds to a prompt that has others, and ``billed_tokens`` that times the calls to the model; ``called`` is
    how often the model called the tool, and ``result_tokens`` what its results take of the whole transcript.
    """

    tool: str
    defined: bool
    definition_tokens: int
    called: int
    result_tokens: int
    billed_tokens: int


@dataclass(frozen=True)
class ToolBill:
    """The tools of a run: those defined, in their order, then those that were only called, in order of the first call.

    ``preamble`` is what the tools cost together beside their definitions, and ``requests`` the number of calls to the
    model; the tools' bucket of each prompt is the preamble and all definitions.
    """

    requests: int
    preamble: int
    tools: tuple[ToolUse, ...]

    @property
    def billed(self) -> int:
        """The tokens billed for preamble and definitions over the whole run."""
        return self.requests * self.preamble + sum(use.billed_tokens for use in self.tools)

    @property
    def unused(self) -> tuple[ToolUse, ...]:
        """The tools that were defined and never called."""
        return tuple(use for use in self.tools if not use.called)

    @property
    def unknown(self) -> tuple[ToolUse, ...]:
        """The tools that were called and do not exist."""
        return tuple(use for use in self.tools if not use.defined)

    def frame(self) -> DataFrame:
        """Return the tools as a table, one row a tool, with the fields of `ToolUse` as columns."""
        from pandas import DataFrame

        return DataFrame([asdict(use) for use in self.tools], columns=[one.name for one in fields(ToolUse)])


def tool_bill(transcript: Transcript, counter: Counter) -> ToolBill:
    """Return what each tool of a run cost, what its results take, and how often it was called.

    The results' tokens are what leaves the render of the whole transcript when one tool's results go after another's,
    in the order of the table; so they add up to its ``tool_results`` bucket. Results that share a message of the
    template are parted that way to a token or two, no better.

    >>> from ctxcourse.samples import load_sample
    >>> found = tool_bill(Transcript(*load_sample()), tok)
    >>> found.requests, [use.tool for use in found.unused]
    (10, ['list_directory', 'open_issue', 'get_current_time'])
    """
    cost = catalogue_cost(transcript.tools, counter, split_system(transcript.messages)[0])
    made = Tally(call["function"]["name"] for message in transcript.messages for call in calls_of(message))
    requests = len(transcript.calls())
    names = list(dict.fromkeys([*cost.per_tool, *made]))
    results = _result_tokens(transcript, counter, names)
    uses = [
        ToolUse(
            tool=name,
            defined=name in cost.per_tool,
            definition_tokens=cost.per_tool.get(name, 0),
            called=made[name],
            result_tokens=results[name],
            billed_tokens=requests * cost.per_tool.get(name, 0),
        )
        for name in names
    ]
    return ToolBill(requests, cost.preamble, tuple(uses))


def _result_tokens(transcript: Transcript, counter: Counter, names: list[str]) -> dict[str, int]:
    left = transcript.messages
    of_call = {call["id"]: call["function"]["name"] for message in left for call in calls_of(message)}
    size = counter.count_prompt(left, transcript.tools)
    tokens: dict[str, int] = {}
    for name in names:
        rest = [message for message in left if _tool_of(message, of_call) != name]
        after = size if len(rest) == len(left) else counter.count_prompt(rest, transcript.tools)
        tokens[name] = size - after
        left, size = rest, after
    return tokens


def _tool_of(message: Message, of_call: dict[str, str]) -> str | None:
    return of_call[message["tool_call_id"]] if message["role"] == "tool" else None
