"""The rendered prompt as HTML: every piece coloured by the bucket that pays for it, control tokens in boxes."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from ctxcourse.messages import normalise, split_system
from ctxcourse.model.tree import shared
from ctxcourse.plots.pictures import part_style

Message = Mapping[str, Any]
BUCKETS = ("system", "tools", "conversation", "tool_results")


class Renderer(Protocol):
    """What the view needs of a tokenizer or model: the prompt, its pieces, and its size."""

    def render(self, messages: Any, tools: Any = None) -> str:
        """Return the prompt as the model sees it."""

    def split_prompt(self, messages: Any, tools: Any = None) -> list[tuple[str, bool]]:
        """Return the prompt in pieces, each with whether it is a control token."""

    def count_prompt(self, messages: Any, tools: Any = None) -> int:
        """Return the size of the prompt in tokens."""


class HTML(str):
    """A string that a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        return str(self)


def prompt_view(tok: Renderer, messages: Sequence[Message], tools: Sequence[Message] | None = None) -> HTML:
    """Return the prompt exactly as the model is given it, as HTML for a notebook.

    Colours tell the four buckets apart (the generation prompt at the end belongs to ``system``, like all
    scaffolding), and boxes mark control tokens; a control token that somebody merely typed is plain text and
    gets no box.
    """
    pieces = list(labelled_pieces(tok, messages, tools))
    body = "".join(_piece(text, control, bucket) for text, control, bucket in pieces)
    present = {bucket for _, _, bucket in pieces}
    count = tok.count_prompt(messages, tools)
    return HTML(
        f'<div class="ctx-prompt"><div style="margin:4px 0">{_legend(present)} '
        f"<b>{count:,} tokens</b></div>"
        '<pre style="white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.6;max-height:26em;overflow:auto;'
        f'padding:6px;border:1px solid rgba(127,127,127,.5)">{body}</pre></div>'
    )


def labelled_pieces(
    tok: Renderer, messages: Sequence[Message], tools: Sequence[Message] | None = None
) -> Iterator[tuple[str, bool, str]]:
    """Yield the prompt in pieces ``(text, is_control_token, bucket)``; joined, the texts are the prompt."""
    pieces = tok.split_prompt(messages, tools)
    system_ends = shared(tok.render(messages, tools), tok.render(messages))
    blocks = _block_buckets(messages)
    at, block, closed = 0, -1, False
    for text, control in pieces:
        if control and text == "<|im_start|>":
            block, closed = block + 1, False
        closed = closed or (control and text == "<|im_end|>")
        bucket = blocks[block] if 0 <= block < len(blocks) else "system"
        cut = min(max(system_ends - at, 0), len(text)) if tools and block == 0 and not closed else len(text)
        if cut:
            yield text[:cut], control, bucket
        if cut < len(text):
            yield text[cut:], control, "tools"
        at += len(text)


def _block_buckets(messages: Sequence[Message]) -> list[str]:
    """The bucket of each block between ``<|im_start|>`` and ``<|im_end|>``: tool results in a row share a block."""
    opening, rest = split_system(normalise(list(messages)))
    buckets = ["system"] * (len(opening) or 1)  # the template's default system message, where there is none
    roles = [message["role"] for message in rest]
    for position, role in enumerate(roles):
        if role == "tool" and position and roles[position - 1] == "tool":
            continue
        buckets.append("tool_results" if role == "tool" else "conversation")
    return buckets


def _tint(bucket: str) -> str:
    colour = part_style(bucket)[0].lstrip("#")
    red, green, blue = (int(colour[place : place + 2], 16) for place in (0, 2, 4))
    return f"rgba({red},{green},{blue},.28)"


def _piece(text: str, control: bool, bucket: str) -> str:
    shown = html.escape(text)
    style = f"background:{_tint(bucket)}"
    if not control:
        return f'<span data-bucket="{bucket}" style="{style}">{shown}</span>'
    style += ";border:1px solid currentColor;border-radius:3px;padding:0 2px;font-weight:bold"
    return f'<span data-bucket="{bucket}" data-control="true" style="{style}">{shown}</span>'


def _legend(present: set[str]) -> str:
    names = [name for name in BUCKETS if name in present]
    chips = [
        f'<span style="background:{_tint(name)};padding:1px 6px;margin-right:4px">{name.replace("_", " ")}</span>'
        for name in names
    ]
    box = '<span style="border:1px solid currentColor;border-radius:3px;padding:0 4px">control token</span>'
    return "".join(chips) + box
