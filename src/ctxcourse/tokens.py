"""Counting, exactly: what each part of a prompt costs, by difference of whole renders.

Adding up the parts of a prompt does not give its size: role markers, a default system message and the tool preamble
are written by the chat template, not by the parts. So every figure here is the size of something the model could be
given, or the difference of two such sizes.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.messages import Message, Tool, normalise, normalise_tools, paired, split_system
from ctxcourse.plain import MessageError, checked_string, shown

_PUBLISHED_TOKENS_PER_WORD = 1.3


class Counter(Protocol):
    """Whatever counts tokens: a tokenizer, a model, or your own.

    ``count_text`` counts plain text; ``count_prompt`` counts the rendered prompt that the model would be given, with
    its generation prompt; ``token_spans`` gives the ``(start, end)`` characters of each token, in order (tokens that
    share a character have overlapping spans).
    """

    def count_text(self, text: str) -> int:
        """Return the number of tokens of plain text."""

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> int:
        """Return the number of tokens of the rendered prompt."""

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the characters that each token covers."""


def estimate_words(text: str) -> int:
    """Return the *published* estimate of a text's tokens: words × 1.3, rounded down. It is wrong; see below.

    Words are what stands between white space, so a paragraph of Chinese, an identifier or a page of minified JSON is
    one word, and its estimate is 1. Use `count_text`.

    >>> estimate_words("the quick brown fox"), estimate_words("機密扱いの書類は金庫に保管してください")
    (5, 1)
    """
    return int(len(text.split()) * _PUBLISHED_TOKENS_PER_WORD)


def count_text(text: str, counter: Counter) -> int:
    """Return the tokens of plain text; control tokens spelled in it count as the text they are.

    Raises MessageError if ``text`` is no string or no valid Unicode.
    """
    return counter.count_text(checked_string(text, "the text"))


def count_prompt(messages: Any, tools: Any, counter: Counter) -> int:
    """Return the tokens that the model would be given for a conversation, generation prompt included.

    Raises MessageError for messages and tools that are no valid conversation, see `normalise` and `check_pairs`.
    """
    ready = paired(messages)
    return counter.count_prompt(ready, normalise_tools(tools))


@dataclass(frozen=True)
class Buckets:
    """What fills a prompt, in tokens; the four figures add up to `total`, the size of the rendered prompt.

    ``system`` holds the system message and the generation prompt (or the template's own default message where there
    is none), ``tools`` the schemas and their preamble, ``tool_results`` what tools returned, ``conversation`` the
    rest: what users and the model wrote, with its calls.
    """

    system: int
    tools: int
    conversation: int
    tool_results: int

    @property
    def total(self) -> int:
        """The tokens of the whole prompt."""
        return self.system + self.tools + self.conversation + self.tool_results

    def as_dict(self) -> dict[str, int]:
        """Return the four figures and their total, by name."""
        return {**asdict(self), "total": self.total}


def buckets(messages: Any, tools: Any, counter: Counter) -> Buckets:
    """Return what fills a prompt, by four renders and three subtractions.

    The renders are: everything; the opening system message with the tools; the same without tools; everything without
    tool results. Each ends with the generation prompt, which therefore lands in ``system``. A system message further
    down is part of the conversation.

    Raises MessageError for messages and tools that are no valid conversation, see `normalise` and `check_pairs`.

    >>> parts = buckets([{"role": "user", "content": "Hello"}], None, tok)
    >>> parts.total == tok.count_prompt([{"role": "user", "content": "Hello"}])
    True
    >>> parts.system == tok.count_prompt([])
    True
    """
    ready = paired(messages)
    catalogue = normalise_tools(tools)
    opening, _ = split_system(ready)
    total = counter.count_prompt(ready, catalogue)
    with_tools = counter.count_prompt(opening, catalogue)
    without_tools = counter.count_prompt(opening, [])
    without_results = counter.count_prompt([m for m in ready if m["role"] != "tool"], catalogue)
    results = total - without_results
    return Buckets(
        system=without_tools,
        tools=with_tools - without_tools,
        conversation=total - with_tools - results,
        tool_results=results,
    )


@dataclass(frozen=True)
class CatalogueCost:
    """What a tool catalogue adds to a prompt, in tokens: ``total == preamble + sum(per_tool.values())``.

    ``preamble`` is paid once, whatever the tools, and not at all without tools; ``per_tool`` is what each tool adds
    to a catalogue that already has one, by name and in order.
    """

    preamble: int
    per_tool: dict[str, int]
    total: int


def catalogue_cost(tools: Any, counter: Counter, messages: Any = ()) -> CatalogueCost:
    """Return what the tools add to every prompt, by difference of whole renders.

    The first tool of a catalogue brings the preamble with it, so a tool's own cost is measured beside a tool that is
    already there. ``messages`` is the conversation that the catalogue is rendered with (default: none).

    Raises MessageError for tools or messages that are not valid.

    >>> cost = catalogue_cost([{"name": "get_time", "description": "Return the time."}], tok)
    >>> cost.total == cost.preamble + cost.per_tool["get_time"]
    True
    >>> catalogue_cost([], tok)
    CatalogueCost(preamble=0, per_tool={}, total=0)
    """
    ready, catalogue = normalise(messages), normalise_tools(tools)
    if not catalogue:
        return CatalogueCost(0, {}, 0)
    names = [tool["function"]["name"] for tool in catalogue]
    probe = {"type": "function", "function": {"name": "probe" + "_" * max(map(len, names))}}
    alone = counter.count_prompt(ready, [probe])
    per_tool = {
        name: counter.count_prompt(ready, [probe, tool]) - alone for name, tool in zip(names, catalogue, strict=True)
    }
    total = counter.count_prompt(ready, catalogue) - counter.count_prompt(ready, [])
    return CatalogueCost(total - sum(per_tool.values()), per_tool, total)


def truncate(text: str, max_tokens: int, counter: Counter) -> str:
    """Return the longest prefix of whole tokens that has at most ``max_tokens`` tokens.

    The cut never falls inside a grapheme cluster (what a reader calls one character: an emoji with its modifiers, a
    letter with its accents), so up to a cluster's worth of tokens may stay unused. The prefix is counted again after
    the cut, because text can be tokenised differently once its continuation is gone.

    Raises MessageError if ``text`` is no string or no valid Unicode, or ``max_tokens`` no integer from 0 up.

    >>> truncate("Attention is a budget.", 1_000, tok)
    'Attention is a budget.'
    >>> truncate("Attention is a budget.", 0, tok)
    ''
    """
    checked_string(text, "the text")
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
        raise MessageError(f"max_tokens must be an integer from 0 up, not {shown(max_tokens)}")
    if max_tokens == 0 or counter.count_text(text) <= max_tokens:
        return text if max_tokens else ""
    for cut in reversed(_places_to_cut(text, counter.token_spans(text)[: max_tokens + 1])):
        if counter.count_text(text[:cut]) <= max_tokens:
            return text[:cut]
    return ""


def _places_to_cut(text: str, spans: list[tuple[int, int]]) -> list[int]:
    """Return, in order, where a token and a grapheme cluster begin together, up to the last span's start."""
    starts, furthest = [], 0
    for start, end in spans:
        if start >= furthest:
            starts.append(start)
        furthest = max(furthest, end)
    limit = spans[-1][0]
    clusters = set()
    for cluster in regex.finditer(r"\X", text):
        if cluster.start() > limit:
            break
        clusters.add(cluster.start())
    return [start for start in starts if start in clusters and start <= limit]
