"""Twenty requests that want one call each, with the values that its arguments may have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ctxcourse.retrieval.relevance import fold


@dataclass(frozen=True)
class ToolTask:
    """A request, the ``tool`` that it wants, and for each of its arguments the values that are accepted.

    None among the values says that the argument may be left out; one that is not listed has to be.
    """

    query: str
    tool: str
    arguments: Mapping[str, tuple[Any, ...]]

    def accepts(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call with these arguments is what was asked for.

        Texts are compared without regard to case and white space, and anything else as it is: a number in quotes is a
        text, which a schema that wants an integer refuses. An argument that is null counts as left out.

        >>> task = ToolTask("Who is number 4417?", "get_employee", {"employee_number": (4417,)})
        >>> task.accepts({"employee_number": 4417}), task.accepts({"employee_number": "4417"}), task.accepts({})
        (True, False, False)
        """
        return all(
            any(_same(arguments.get(name), value) for value in self.arguments.get(name, (None,)))
            for name in {*self.arguments, *arguments}
        )


def load_tool_tasks() -> list[ToolTask]:
    """Return the twenty tasks: the first five tools of `ctxcourse.tools.catalogues` take turns, four times.

    >>> [task.tool for task in load_tool_tasks()[:3]]
    ['get_current_time', 'search_logs', 'search_tickets']
    """
    source = files("ctxcourse.samples") / "tool_tasks.json"
    content: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return [
        ToolTask(
            entry["query"],
            entry["tool"],
            {name: tuple(accepted) for name, accepted in entry["arguments"].items()},
        )
        for entry in content["tasks"]
    ]


def _same(given: Any, accepted: Any) -> bool:
    if isinstance(given, str) and isinstance(accepted, str):
        return fold(given).split() == fold(accepted).split()
    return type(given) is type(accepted) and bool(given == accepted)
