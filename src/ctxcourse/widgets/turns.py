"""Go through the calls of a run, and see the prompt of each as the model was given it, with what it costs.

Nothing asks a model. The bill is made once, for a long run in a thread; a call's prompt is rendered when the slider
comes to it. What this module does not do: count (see `ctxcourse.agent.accounting`).
"""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import ipywidgets as W

from ctxcourse.agent.accounting import Bill, BilledCall, Encoder, bill, check_encoder
from ctxcourse.agent.transcript import Call, Transcript
from ctxcourse.errors import CourseError
from ctxcourse.messages import Message, Tool
from ctxcourse.model.answers import Cancelled
from ctxcourse.model.tree import shared
from ctxcourse.pairing import calls_of
from ctxcourse.plots.pictures import part_style
from ctxcourse.widgets.prompt_html import BUCKETS, Renderer, labelled_pieces
from ctxcourse.widgets.running import Recounter, ShouldStop, Work, error_html

HEAD = 220
"""How many characters of a long piece stand before its fold."""
FOLD = 330
"""Pieces of more characters than this are folded."""


class RenderingEncoder(Encoder, Renderer, Protocol):
    """What the explorer needs of a tokenizer: it counts, it gives the tokens, and it shows the prompt in pieces."""


class TurnExplorer(W.VBox):
    """A slider over the calls of a run; for each the buckets of its prompt, the bill so far, and the prompt itself.

    ``counter`` is the course's tokenizer, or whatever else renders, counts and encodes prompts. Children by name:
    ``call`` (its value is the number of the call, from 1), ``runner``, ``problem``, ``figures`` and ``prompt``. A bill
    that takes longer than a second is made in a thread, and can be stopped; its figures come when it is done. Raises
    CourseError for a transcript without a call.
    """

    def __init__(self, transcript: Transcript, counter: RenderingEncoder) -> None:
        self.transcript, self.counter = transcript, counter
        self._calls = transcript.calls()
        if not self._calls:
            raise CourseError("there is no call to show: the transcript has no message of an assistant")
        self._bill: Bill | None = None
        self._drawing = threading.RLock()  # a long bill is done in a thread of its own
        self._sizes: dict[str, int] = {}
        self.call = W.SelectionSlider(
            options=[(f"turn {call.turn}, call {call.number}", call.number) for call in self._calls],
            value=1,
            description="Call",
            tooltip=f"A call to the model, 1 to {len(self._calls)}, with the turn that it belongs to",
            style={"description_width": "4em"},
            layout=W.Layout(width="44em", max_width="98%"),
        )
        self.figures, self.prompt, self.problem = W.HTML(), W.HTML(), W.HTML()
        self.runner = Recounter(self._prepare, self._show, label="Bill")
        self.call.observe(self._moved, names="value")
        super().__init__([self.call, self.problem, self.runner, self.figures, self.prompt])
        self._draw()
        self.runner.again()

    @property
    def bill(self) -> Bill:
        """The bill of the run; what is still being counted is waited for, and what was stopped is counted now.

        Raises what `ctxcourse.agent.accounting.bill` raises.
        """
        self.runner.wait()
        if self._bill is None:
            self._show(bill(self.transcript, self.counter))
        assert self._bill is not None
        return self._bill

    def billed(self) -> BilledCall:
        """Return the call that is shown, as it stands in the bill."""
        number: int = self.call.value
        return self.bill.calls[number - 1]

    def _moved(self, _: Any) -> None:
        try:
            self._draw()
            self.problem.value = ""
        except Exception as error:
            self.problem.value = error_html(error)

    def _draw(self) -> None:
        with self._drawing:
            self.prompt.value = self._prompt_html(self._calls[self.call.value - 1])
            if self._bill is None:
                self.figures.value = "<div>The figures come when the whole run has been billed.</div>"
                return
            longest = max(call.prompt_tokens for call in self._bill.calls)
            self.figures.value = figures_html(self._bill.calls[self.call.value - 1], longest, len(self._calls))

    def _prepare(self) -> tuple[int, Work]:
        return 0, lambda should_stop: bill(self.transcript, _Telling(self.counter, self._teller(should_stop)))

    def _teller(self, should_stop: ShouldStop) -> Callable[[int], None]:
        most = self._calls[-1].index

        def told(messages: int) -> None:
            if should_stop():
                raise Cancelled("Stopped.")
            # Prompts grow from call to call, so the time goes with the square of how far they have come.
            self.runner.share = max(self.runner.share or 0.0, (messages / max(most, 1)) ** 2)

        return told

    def _show(self, made: Bill) -> None:
        with self._drawing:
            self._bill = made
            self._draw()

    def _prompt_html(self, call: Call) -> str:
        pieces = self._pieces(call.number)
        new = shared(self._pieces(call.number - 1), pieces) if call.number > 1 else 0
        shown = [self._piece_html(*piece) for piece in pieces]
        if new:
            shown.insert(new, _note("▼ from here on new since the call before", "display:block;font-weight:bold"))
        answer = _answer_text(self.transcript.messages[call.index])
        return (
            f'<div class="ctx-turn" role="region" tabindex="0" aria-label="The prompt of call {call.number}, turn '
            f'{call.turn}, piece by piece; long pieces are folded" style="white-space:pre-wrap;overflow-wrap:anywhere;'
            "line-height:1.6;max-height:26em;overflow:auto;padding:6px;border:1px solid rgba(127,127,127,.5);"
            f'font-family:monospace;font-size:.92em">{"".join(shown)}</div>'
            f'<div class="ctx-answer" style="margin:4px 0;overflow-wrap:anywhere"><b>The model answers:</b> '
            f"{html.escape(answer)}</div>"
        )

    def _pieces(self, number: int) -> list[tuple[str, bool, str]]:
        prompt = self.transcript.prompt(self._calls[number - 1])
        return list(labelled_pieces(self.counter, prompt, self.transcript.tools))

    def _piece_html(self, text: str, control: bool, bucket: str) -> str:
        style = f"background:{_tint(bucket)}"
        if control:
            style += ";border:1px solid currentColor;border-radius:3px;padding:0 2px;font-weight:bold"
        mark = f'<span data-bucket="{bucket}" style="{style}">'
        if control or len(text) <= FOLD:
            return f"{mark}{html.escape(text)}</span>"
        rest = text[HEAD:]
        if rest not in self._sizes:
            self._sizes[rest] = self.counter.count_text(rest)
        more = _note(f" … {self._sizes[rest]:,} more tokens of {_words(bucket)}", "font-weight:bold")
        return (
            f'{mark}{html.escape(text[:HEAD])}</span><details style="display:inline"><summary '
            f'style="cursor:pointer">{more}</summary>{mark}{html.escape(rest)}</span></details>'
        )


class _Telling:
    """A counter that tells how many messages each prompt has before it encodes it."""

    def __init__(self, encoder: Encoder, told: Callable[[int], None]) -> None:
        check_encoder(encoder)
        self._encoder, self._told = encoder, told
        self.count_text, self.token_spans = encoder.count_text, encoder.token_spans
        self.count_prompt = encoder.count_prompt

    def encode_prompt(self, messages: Sequence[Message], tools: Sequence[Tool] | None = None) -> list[int]:
        self._told(len(messages))
        return self._encoder.encode_prompt(messages, tools)


def turn_explorer(transcript: Transcript, counter: RenderingEncoder) -> TurnExplorer:
    """Return the turn explorer: the prompt of every call of a run, what fills it, and what it has cost so far.

    >>> from ctxcourse import load_sample, load_tokenizer
    >>> explorer = turn_explorer(Transcript(*load_sample()), load_tokenizer())
    >>> explorer.call.value = 3
    >>> explorer.billed().prompt_tokens - explorer.billed().recomputed == explorer.bill.calls[1].prompt_tokens
    True
    """
    return TurnExplorer(transcript, counter)


def figures_html(billed: BilledCall, longest: int, calls: int) -> str:
    """Return a call's figures as HTML: its buckets as a stacked bar and as text, its bill, and what a cache spares.

    ``longest`` is the size in tokens at which the bar is full, and ``calls`` the number of calls of the run.
    """
    sizes = {name: getattr(billed, name) for name in BUCKETS}
    listed = ", ".join(f"{_words(name)} {size:,}" for name, size in sizes.items())
    bars = "".join(
        f'<div data-bucket="{name}" style="width:{100 * size / max(longest, 1):.2f}%;background:{part_style(name)[0]}">'
        "</div>"
        for name, size in sizes.items()
    )
    share = {name: 100 * size / max(billed.prompt_tokens, 1) for name, size in sizes.items()}
    chips = "".join(
        f'<span style="background:{_tint(name)};padding:1px 6px;margin-right:6px">{_words(name)} <b>{size:,}</b> '
        f"({share[name]:.0f} %)</span>"
        for name, size in sizes.items()
    )
    return (
        f'<div role="img" aria-label="Call {billed.call} of {calls}, turn {billed.turn}: a prompt of '
        f'{billed.prompt_tokens:,} tokens ({listed})" style="display:flex;height:1.4em;max-width:60em;margin:4px 0;'
        f'border:1px solid rgba(127,127,127,.6)">{bars}</div><div style="line-height:1.9">{chips}</div>'
        f"<div>Prompt <b>{billed.prompt_tokens:,}</b> tokens; billed so far <b>{billed.billed_so_far:,}</b>; a prefix "
        f"cache of the call before computes <b>{billed.recomputed:,}</b> of them and takes over "
        f"{billed.prompt_tokens - billed.recomputed:,}.</div>"
    )


def _answer_text(answer: Message) -> str:
    made = [
        f"{call['function']['name']}({json.dumps(call['function']['arguments'], ensure_ascii=False)})"
        for call in calls_of(answer)
    ]
    return " ".join([*filter(None, [answer["content"]]), *made]) or "(nothing)"


def _note(words: str, style: str) -> str:
    return f'<em data-note="true" style="{style}">{html.escape(words)}</em>'


def _words(name: str) -> str:
    return name.replace("_", " ")


def _tint(bucket: str) -> str:
    return f"{part_style(bucket)[0]}47"  # 28 % of the bucket's colour, as in prompt_view
