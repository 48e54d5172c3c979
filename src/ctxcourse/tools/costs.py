"""What each tool adds to a catalogue, in rendered tokens: measured once for each schema, and remembered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ctxcourse.messages import Message, normalise
from ctxcourse.tokens import Counter
from ctxcourse.toolschemas import Tool

_QUESTION: list[Message] = [{"role": "user", "content": "x"}]  # some templates write no tools without a question


class ToolCosts:
    """The costs of tools by one counter, by difference of whole renders, as `ctxcourse.tokens.catalogue_cost` has them.

    A schema is measured when it is first asked for, with one render, and never again: hand one object to several
    toolsets, or to those that an agent makes anew at every call, and they share what is known. Schemas are told apart
    by their JSON text with its order of keys, which is what a template renders. The tools have to be in the form of
    `ctxcourse.messages.normalise_tools`.

    ``messages`` is the conversation that the tools are rendered with. What it begins with can change the preamble by a
    token: the full stop of a system message may be one token with the line break that follows it, and a letter is not.

    >>> costs, tool = ToolCosts(tok), {"type": "function", "function": {"name": "get_time"}}
    >>> costs.total([tool]) == costs.preamble() + costs.of(tool)
    True
    """

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._known: dict[str, int] = {}
        self._beside: dict[str, int] = {}
        self._conversation = ""  # the last one, for which these two hold
        self._without_tools = self._preamble = 0

    def of(self, tool: Tool) -> int:
        """Return the tokens that a tool adds to a catalogue that already has one."""
        schema = json.dumps(tool, ensure_ascii=False)
        if schema not in self._known:
            other = "probe" if tool["function"]["name"] != "probe" else "other"
            if other not in self._beside:
                self._beside[other] = self._count(_QUESTION, [_probe(other)])
            self._known[schema] = self._count(_QUESTION, [_probe(other), tool]) - self._beside[other]
        return self._known[schema]

    def preamble(self, messages: Any = ()) -> int:
        """Return the tokens that are paid once, as soon as there is a tool.

        Raises MessageError for messages that are not valid.
        """
        self._measure(normalise(messages) or _QUESTION)
        return self._preamble

    def total(self, tools: Sequence[Tool], messages: Any = ()) -> int:
        """Return the tokens that the tools together add to a prompt: by rendering it, never by adding them up.

        Raises MessageError for messages that are not valid.
        """
        ready = normalise(messages) or _QUESTION
        self._measure(ready)
        return self._count(ready, tools) - self._without_tools if tools else 0

    def _measure(self, ready: list[Message]) -> None:
        conversation = json.dumps(ready, ensure_ascii=False)
        if conversation != self._conversation:
            probe = _probe("probe")
            self._without_tools = self._count(ready, [])
            self._preamble = self._count(ready, [probe]) - self._without_tools - self.of(probe)
            self._conversation = conversation

    def _count(self, messages: list[Message], tools: Sequence[Tool]) -> int:
        return self.counter.count_prompt(messages, list(tools))


def _probe(name: str) -> Tool:
    return {"type": "function", "function": {"name": name}}
