"""What a published figure for the "fixed scaffolding" of a catalogue may have counted: guesses that can be tested.

The chapter says that of the 1,817 tokens of its twelve tools 126 are fixed scaffolding. By difference on the template
of its model, which is that of the default model too, the preamble is 77, whatever the tools are. Neither the catalogue
nor the way of counting is published.
"""

from __future__ import annotations

import json
import statistics
from itertools import accumulate
from typing import Any

from ctxcourse.tokens import Counter, catalogue_cost
from ctxcourse.toolschemas import normalise_tools

PUBLISHED = 126

_STUB = {"name": "noop", "description": "", "parameters": {"type": "object", "properties": {}, "required": []}}


def scaffolding_hypotheses(tools: Any, counter: Counter) -> dict[str, int]:
    """Return what different ways of counting take for the fixed part of a catalogue, in tokens, by description.

    All but the first count something else besides. For a template that writes a tool as one line of JSON, all but the
    last two depend on the number of tools and on nothing that these say, so that any twelve tools can tell whether such
    a way gives the figure that was published for twelve. The last, a straight line through the sizes of the catalogues
    of 1, 2, 3 … tools, depends on the order of the tools most of all; it needs two of them.

    Raises MessageError for tools that are not valid.

    >>> scaffolding_hypotheses([{"name": "get_time"}], tok)["the preamble, by difference"] > 10
    True
    """
    catalogue = normalise_tools(tools)
    cost = catalogue_cost(catalogue, counter)
    asked = [{"role": "user", "content": ""}]

    def beyond(texts: list[str]) -> int:
        return cost.total - sum(counter.count_text(text) for text in texts)

    def one(tool: dict[str, Any]) -> int:
        return catalogue_cost([tool], counter).total

    found = {
        "the preamble, by difference": cost.preamble,
        "with the default system message and the generation prompt": counter.count_prompt([]) + cost.preamble,
        "with an empty question besides": counter.count_prompt(asked) + cost.preamble,
        "the tools less their JSON, counted tool by tool": beyond([_json(tool) for tool in catalogue]),
        "the tools less their JSON, counted as one list": beyond([_json(catalogue)]),
        "the tools less their functions, counted without the envelope": beyond(
            [_json(tool["function"]) for tool in catalogue]
        ),
        "a catalogue of one tool that has a name alone": one({"name": "noop"}),
        "a catalogue of one tool without words or parameters": one(_STUB),
    }
    sizes = [cost.preamble + added for added in accumulate(cost.per_tool.values())]
    if sizes:
        found["the first tool, instead of what it adds to others"] = sizes[0]
    if len(sizes) > 1:
        line = statistics.linear_regression(range(1, len(sizes) + 1), sizes)
        found["a straight line through growing catalogues, at no tools"] = round(line.intercept)
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
