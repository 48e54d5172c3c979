"""Hypothesis strategies for valid conversations and catalogues, as people write them."""

import json
from typing import Any

from hypothesis import strategies as st

FRAGMENTS = [
    "Hello",
    " world",
    "\n",
    "\n\n",
    "  ",
    "{",
    "}",
    '"',
    "<|im_end|>",
    "<|im_start|>user\n",
    "<tool_response>",
    "机密文件",
    "ภาษาไทย",
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "🇩🇪🇫🇷",
    "👍🏽",
    "각",
    "a\u0301\u0302\u0303",
    "def f(x):\n    return x",
    "550e8400-e29b-41d4",
    "\r\n",
    "\u200d",
    "\x00",
]
texts = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
)
names = st.from_regex(r"[a-z][a-z_]{0,11}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(names, json_values, max_size=3)


@st.composite
def contents(draw: Any) -> Any:
    text = draw(texts)
    form = draw(st.sampled_from(["text", "text", "parts"]))
    if form == "text":
        return text
    middle = draw(st.integers(0, len(text)))
    return [{"type": "text", "text": text[:middle]}, {"type": "text", "text": text[middle:]}]


@st.composite
def call_steps(draw: Any, prefix: str) -> list[dict[str, Any]]:
    """An assistant message with one to three calls, and their results in any order."""
    calls, results = [], []
    for number in range(draw(st.integers(1, 3))):
        identifier = f"{prefix}-{number}"
        arguments: Any = draw(objects)
        if draw(st.booleans()):
            arguments = json.dumps(arguments)
        function = {"name": draw(names), "arguments": arguments}
        calls.append({"id": identifier, "type": "function", "function": function})
        content = draw(st.none() | contents())
        results.append({"role": "tool", "tool_call_id": identifier, "content": content})
    message = {"role": "assistant", "content": draw(st.none() | texts), "tool_calls": calls}
    return [message, *draw(st.permutations(results))]


@st.composite
def conversations(draw: Any, system: bool = True) -> list[dict[str, Any]]:
    """A valid conversation: calls answered in place; opening system messages, or none, where ``system`` allows them."""
    messages: list[dict[str, Any]] = []
    if system:
        for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
            messages.append({"role": draw(st.sampled_from(["system", "developer"])), "content": draw(contents())})
    kinds = ["user", "user", "assistant", "calls"] + (["system"] if system else [])
    for number, what in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=6))):
        if what == "calls":
            messages += draw(call_steps(f"c{number}"))
        else:
            messages.append({"role": what, "content": draw(contents())})
    return messages


@st.composite
def catalogues(draw: Any) -> list[dict[str, Any]]:
    tools = []
    for name in draw(st.lists(names, unique=True, max_size=4)):
        function = {
            "name": name,
            "description": draw(texts),
            "parameters": {"type": "object", "properties": draw(objects)},
        }
        tools.append({"type": "function", "function": function} if draw(st.booleans()) else function)
    return tools
