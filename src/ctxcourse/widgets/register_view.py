"""A list of lines and an answer to it as HTML: the needle and its rivals marked, the class of the answer a badge.

What is shown is described by plain values, so that a register, a list with filler in it and a reader's own records
look the same in every widget.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable, Sequence

from ctxcourse.needle import SYMBOLS, Kind
from ctxcourse.plots.pictures import OUTCOME_COLOURS

UNFOLDED = 30  # lists up to this length are shown whole
AROUND = 3  # lines left visible around a marked one in a longer list


def badge(kind: Kind) -> str:
    """Return the class of an answer as a coloured badge with its symbol."""
    return (
        f'<span style="background:{OUTCOME_COLOURS[kind]};color:#FFFFFF;padding:1px 8px;'
        f'border-radius:4px;white-space:nowrap"><b>{SYMBOLS[kind]} {kind}</b></span>'
    )


def answer_html(answer: str, kind: Kind, verdict: str, label: str = "Answer") -> str:
    """Return an answer with its class and a verdict in words; ``answer`` is text, ``verdict`` HTML."""
    return (
        f'<div class="ctx-answer" style="font-size:110%"><b>{label}:</b> '
        f"<code>{html.escape(answer) or '(nothing)'}</code> {badge(kind)} {verdict}</div>"
    )


def lines_html(lines: Sequence[str], row: int, rivals: Collection[int] = (), faint: Collection[int] = ()) -> str:
    """Return lines as HTML: the needle's ``row`` marked ▶, ``rivals`` (whose values were given instead) marked ⇄.

    ``faint`` lines, such as filler, are printed paler. A list longer than 30 lines shows its ends and what stands
    around the marks; the rest is behind folds. Rows count from 0, and are numbered from 1 for the reader.
    """
    shown = set(_visible(len(lines), [row, *rivals]))
    noun = "lines" if faint else "records"
    parts: list[str] = []
    hidden: list[str] = []
    for place, line in enumerate([*lines, ""]):
        if hidden and (place in shown or place == len(lines)):
            parts.append(
                f'<details><summary style="cursor:pointer;opacity:.75">… {len(hidden)} more {noun}</summary>'
                f"{''.join(hidden)}</details>"
            )
            hidden = []
        if place < len(lines):
            mark = "needle" if place == row else "rival" if place in rivals else ""
            (parts if place in shown else hidden).append(_line_html(place, line, mark, place in faint))
    return box_html("".join(parts))


def box_html(content: str) -> str:
    """Return lines that are HTML already in the box of a register, which scrolls where it is long."""
    return (
        '<div class="ctx-register" style="max-height:39em;overflow:auto;line-height:1.45;'
        f'border:1px solid rgba(127,127,127,.5);padding:6px">{content}</div>'
    )


def number_html(place: int, sign: str = "") -> str:
    """Return the number of a line, counted from 1 for the reader, with a sign before it."""
    return f'<span style="opacity:.65;display:inline-block;width:3.4em;text-align:right">{sign} {place + 1}</span>'


def _visible(length: int, marks: Iterable[int]) -> Iterable[int]:
    if length <= UNFOLDED:
        return range(length)
    centres = [0, length - 1, *marks]
    return (place for centre in centres for place in range(centre - AROUND, centre + AROUND + 1))


def _line_html(place: int, line: str, mark: str, faint: bool) -> str:
    style, sign = "border-left:4px solid transparent", ""
    if mark == "needle":
        style, sign = "border-left:4px solid currentColor;background:rgba(240,228,66,.35)", "▶"
    elif mark == "rival":
        colour = OUTCOME_COLOURS["other record"]
        style, sign = f"border-left:4px solid {colour};background:rgba(184,74,0,.22)", "⇄"
    text = html.escape(line)
    if faint:
        text = f'<i data-faint="true" style="opacity:.7">{text}</i>'
    return (
        f'<div data-row="{place}" data-mark="{mark}" style="{style};padding-left:4px">'
        f"{number_html(place, sign)} {text}</div>"
    )
