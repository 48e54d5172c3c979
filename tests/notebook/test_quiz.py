"""The quiz, driven as a reader would: choose, press, read."""

from __future__ import annotations

import json
from pathlib import Path

import ipywidgets
import pytest

from ctxcourse import questions
from ctxcourse.quiz import Quiz, QuizItem, quiz


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Quiz:
    def option(text: str, correct: bool = False) -> dict:
        return {"text": text, "correct": correct, "explanation": f"Because of `{text}` < 2."}

    quiz_data = [
        {"question": "What does `f(x)` cost?", "options": [option("`one`"), option("two", True)]},
        {"question": "Second?", "options": [option("a", True), option("b")]},
    ]
    data = {"stem": "01_turns", "title": "Turns", "questions": {}, "quiz": quiz_data}
    (tmp_path / "01_turns.json").write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "00_start.json").write_text(json.dumps(data | {"quiz": []}), encoding="utf-8")
    monkeypatch.setattr(questions, "FOLDER", tmp_path)
    return quiz("01_turns")


def press(item: QuizItem, index: int | None) -> str:
    item.choice.index = index
    item.button.click()
    return str(item.feedback.value)


def test_nothing_is_chosen_or_revealed_at_first(shown: Quiz) -> None:
    assert [item.choice.index for item in shown.items] == [None, None]
    assert all("Because" not in item.feedback.value for item in shown.items)
    assert "2 questions." in shown.score.value
    assert "Choose an answer first." in press(shown.items[0], None)
    assert shown.answered == 0


@pytest.mark.parametrize(("index", "verdict"), [(0, "Not this one"), (1, "Right")])
def test_every_answer_is_explained(shown: Quiz, index: int, verdict: str) -> None:
    text = press(shown.items[0], index)
    assert verdict in text
    assert f"Because of <code>{['`one`', 'two'][index].strip('`')}</code>" in text or "Because of" in text
    assert "&lt; 2." in text


def test_score_counts_first_tries(shown: Quiz) -> None:
    press(shown.items[0], 0)
    assert "0 of 1 right at the first try; 1 to go." in shown.score.value
    assert "Right" in press(shown.items[0], 1)
    assert (shown.right, shown.answered) == (0, 1)
    press(shown.items[1], 0)
    assert "1 of 2 right at the first try." in shown.score.value


def test_code_is_marked_in_texts_and_plain_in_options(shown: Quiz) -> None:
    assert "<code>f(x)</code>" in shown.items[0].children[0].value
    assert [text for text, _ in shown.items[0].choice.options] == ["one", "two"]


def test_only_core_widgets_that_a_keyboard_reaches(shown: Quiz) -> None:
    def walk(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from walk(child)

    kinds = {type(widget)._model_name.default_value for widget in walk(shown)}
    assert kinds <= {"VBoxModel", "HTMLModel", "RadioButtonsModel", "ButtonModel"}
    assert not any(isinstance(widget, ipywidgets.Output) for widget in walk(shown))
    assert all('aria-live="polite"' in item.feedback.value for item in shown.items)
    assert all(item.button.tooltip.startswith("Check the answer to question") for item in shown.items)


def test_errors_are_shown_in_the_widget(shown: Quiz) -> None:
    shown.items[0].question = questions.QuizQuestion("Broken", ())
    assert "could not be checked (IndexError" in press(shown.items[0], 1)
    assert shown.answered == 0


@pytest.mark.usefixtures("shown")
def test_a_lesson_without_quiz_is_refused() -> None:
    with pytest.raises(questions.UnknownQuestion, match="did you mean '01_turns'"):
        quiz("01_turn")
    with pytest.raises(questions.UnknownQuestion, match="no quiz belongs to a lesson '00_start'"):
        quiz("00_start")
