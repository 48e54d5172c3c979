"""A lesson's quiz as core widgets: one choice a question, every answer explained, a score kept.

Each question is a group of radio buttons and a button. Tab and Space are enough to answer it (JupyterLab keeps the
arrow keys for moving between cells), and explanations are announced to screen readers. A wrong choice can be changed:
the score counts the questions answered right at the first try.
"""

from __future__ import annotations

import html
import re
from typing import Any

import ipywidgets

from ctxcourse.questions import QuizQuestion, quiz_questions

__all__ = ["Quiz", "quiz"]

# Core radio labels have one line of fixed height, with the button floating behind their text: long options need more.
_STYLE = """<style>
.ctxcourse-quiz .widget-radio-box { width: auto; max-width: none; }
.ctxcourse-quiz .widget-radio-box label {
  display: flex; flex-direction: row-reverse; justify-content: flex-end; align-items: flex-start;
  height: auto; margin: 2px 0; max-width: none; white-space: normal; line-height: 1.4;
}
.ctxcourse-quiz .widget-radio-box label input { flex: none; margin-top: 1px; }
.ctxcourse-quiz .widget-html-content { line-height: 1.4; }
.ctxcourse-quiz .widget-html-content p { margin: 4px 0; }
</style>"""


class Quiz(ipywidgets.VBox):
    """The widget that ``quiz`` returns; ``right`` and ``answered`` count questions, at the first try."""

    def __init__(self, questions: list[QuizQuestion]) -> None:
        self.first_tries: dict[int, bool] = {}
        self.items = [QuizItem(self, number, question) for number, question in enumerate(questions)]
        self.score = ipywidgets.HTML()
        super().__init__([ipywidgets.HTML(_STYLE), *self.items, self.score])
        self.add_class("ctxcourse-quiz")
        self.show_score()

    @property
    def answered(self) -> int:
        """How many questions have been answered at least once."""
        return len(self.first_tries)

    @property
    def right(self) -> int:
        """How many questions were answered right at the first try."""
        return sum(self.first_tries.values())

    def show_score(self) -> None:
        """Write the score under the questions."""
        total = len(self.items)
        if not self.answered:
            text = "1 question." if total == 1 else f"{total} questions."
        else:
            text = f"{self.right} of {self.answered} right at the first try"
            text += "." if self.answered == total else f"; {total - self.answered} to go."
        self.score.value = _live(f"<p><strong>{text}</strong></p>")


class QuizItem(ipywidgets.VBox):
    """One question of a quiz: its options, its button and, once answered, the reason."""

    def __init__(self, quiz: Quiz, number: int, question: QuizQuestion) -> None:
        self.quiz, self.number, self.question = quiz, number, question
        self.choice = ipywidgets.RadioButtons(
            options=[(option.text.replace("`", ""), place) for place, option in enumerate(question.options)],
            index=None,
            layout=ipywidgets.Layout(width="auto"),
        )
        self.button = ipywidgets.Button(
            description="Check answer", tooltip=f"Check the answer to question {number + 1}"
        )
        self.feedback = ipywidgets.HTML(_live(""))
        self.button.on_click(self.answer)
        text = ipywidgets.HTML(f"<p><strong>{number + 1}.</strong> {_inline(question.question)}</p>")
        super().__init__([text, self.choice, self.button, self.feedback])

    def answer(self, _button: Any = None) -> None:
        """Explain the chosen option; whatever goes wrong is shown in the widget."""
        try:
            self.feedback.value = _live(self._explain())
            self.quiz.show_score()
        except Exception as problem:
            text = html.escape(f"{type(problem).__name__}: {problem}")
            self.feedback.value = _live(f"<p>This answer could not be checked ({text}).</p>")

    def _explain(self) -> str:
        if self.choice.index is None:
            return "<p>Choose an answer first.</p>"
        option = self.question.options[self.choice.index]
        self.quiz.first_tries.setdefault(self.number, option.correct)
        verdict = "✓ Right." if option.correct else "✗ Not this one."
        return f"<p><strong>{verdict}</strong> {_inline(option.explanation)}</p>"


def quiz(stem: str) -> Quiz:
    """The quiz of the lesson ``stem``, such as ``01_token_budget``, to be shown as the last value of a cell.

    Raises UnknownQuestion for a lesson that does not exist or has no quiz.
    """
    return Quiz(quiz_questions(stem))


def _inline(text: str) -> str:
    """Text as HTML, with code between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def _live(content: str) -> str:
    return f'<div role="status" aria-live="polite">{content}</div>'
