"""Ask the model something, and see the prompt that it is really given."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets as W

from ctxcourse.model.answers import Completion
from ctxcourse.model.qwen import Model
from ctxcourse.widgets.prompt_html import prompt_view
from ctxcourse.widgets.running import Runner, ShouldStop, Work, cost_text


class AskBox(W.VBox):
    """A question for the model, its answer, and the prompt as the model sees it.

    Children by name: ``system`` (empty for the template's own), ``question``, ``runner``, ``answer``,
    ``prompt``. The prompt is drawn again whenever a text changes; the answer stands until the next run or change.
    """

    def __init__(
        self,
        model: Model,
        question: str = "What is a context window? Answer in one sentence.",
        system: str = "",
        max_new_tokens: int = 64,
    ) -> None:
        self.model, self.max_new_tokens = model, max_new_tokens
        self.completion: Completion | None = None
        wide = {"layout": {"width": "46em"}, "style": {"description_width": "9em"}}
        self.system = W.Text(
            value=system,
            description="System message",
            tooltip="What stands before the conversation; empty for the default of the template",
            placeholder="empty: the template's default one",
            **wide,
        )
        self.question = W.Textarea(
            value=question, description="Question", tooltip="What the model is asked", rows=3, **wide
        )
        self.answer, self.prompt = W.HTML(), W.HTML()
        self.runner = Runner(self._prepare, self._show, label="Ask", pace=model, clear=self._clear)
        for control in (self.system, self.question):
            control.observe(self._changed, names="value")
        super().__init__([self.system, self.question, self.runner, self.answer, self.prompt])
        self._changed(None)

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages that the texts make."""
        system = [{"role": "system", "content": self.system.value}] if self.system.value.strip() else []
        return [*system, {"role": "user", "content": self.question.value}]

    def _changed(self, _: Any) -> None:
        try:
            self.runner.stop("Stopped: the question has changed.")
            self._clear()
            self.prompt.value = str(prompt_view(self.model, self.messages()))
        except Exception as error:
            self.runner.fail(error)

    def _clear(self) -> None:
        self.completion = None
        self.answer.value = ""

    def _prepare(self) -> tuple[int, Work]:
        messages = self.messages()

        def work(should_stop: ShouldStop) -> Completion:
            return self.model.complete(messages, max_new_tokens=self.max_new_tokens, should_stop=should_stop)

        return self.model.pending_tokens(messages) + self.max_new_tokens, work

    def _show(self, completion: Completion) -> None:
        self.completion = completion
        ended = "" if completion.stop_reason == "stop" else ", cut off by the limit of new tokens"
        self.answer.value = (
            f'<div class="ctx-answer"><b>Answer:</b> <div style="white-space:pre-wrap;font-size:110%;'
            f'border-left:4px solid currentColor;padding-left:8px">{html.escape(completion.text)}</div>'
            f"{cost_text(completion)}{ended}</div>"
        )
