"""Read a lesson's ``quiz.yaml``.

The file is a list of questions. Each has a text and at least two options; one option is right; every option,
right or wrong, says why::

    - question: How many tokens does a system message of `n` tokens add to a prompt?
      options:
        - text: Exactly n
          explanation: Its role markers are tokens too.
        - text: n, and those of its role markers
          correct: true
          explanation: Each message is wrapped in control tokens, and they are billed.

All values are text: ``text: 128,000`` and ``text: yes`` need no quotes. Text between backticks is shown as
code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctxcourse.authoring.errors import AuthorError

_QUESTION_KEYS = {"question", "options"}
_OPTION_KEYS = {"text", "correct", "explanation"}


def read_quiz(path: Path, root: Path) -> list[dict[str, Any]]:
    """The quiz as plain data: ``[{"question": str, "options": [{"text", "correct": bool, "explanation"}]}]``.

    Raises AuthorError, with the line, for YAML that cannot be read, unknown or missing keys, a question
    without exactly one correct option, an option without explanation, and duplicates.
    """
    import yaml

    name = path.relative_to(root).as_posix()
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = None if mark is None else mark.line + 1
        raise AuthorError(f"this is not valid YAML: {problem.problem or problem.context}", name, line) from None
    reader = _Reader(name)
    questions = [reader.question(item) for item in reader.items(node, "the quiz", at_least=1)]
    reader.refuse_twice("question", [(item["question"], line) for item, line in reader.lines])
    return questions


class _Reader:
    """Turns YAML nodes, which know their lines, into checked data."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[tuple[dict[str, Any], int]] = []

    def error(self, message: str, node: Any) -> AuthorError:
        return AuthorError(message, self.name, 1 if node is None else node.start_mark.line + 1)

    def items(self, node: Any, what: str, at_least: int) -> list[Any]:
        if node is None or node.id != "sequence" or len(node.value) < at_least:
            raise self.error(f"{what} must be a list of at least {at_least} (lines that begin with `- `)", node)
        return list(node.value)

    def mapping(self, node: Any, known: set[str], what: str) -> dict[str, Any]:
        if node.id != "mapping":
            raise self.error(f"{what} must have the keys {', '.join(sorted(known))}", node)
        found: dict[str, Any] = {}
        for key, value in node.value:
            if key.value not in known:
                raise self.error(f"unknown key {key.value!r} in {what}; known: {', '.join(sorted(known))}", key)
            if key.value in found:
                raise self.error(f"the key {key.value!r} stands twice in {what}", key)
            found[key.value] = value
        return found

    def text(self, found: dict[str, Any], key: str, what: str, node: Any) -> str:
        value = found.get(key)
        if value is None or value.id != "scalar" or not value.value.strip():
            where = node if value is None else value
            raise self.error(f"{what} has no {key}" if value is None else f"the {key} of {what} is empty", where)
        return str(value.value).strip()

    def question(self, node: Any) -> dict[str, Any]:
        found = self.mapping(node, _QUESTION_KEYS, "a question")
        text = self.text(found, "question", "a question", node)
        if "options" not in found:
            raise self.error(f"the question {text!r} has no options", node)
        nodes = self.items(found["options"], f"the options of {text!r}", at_least=2)
        options = [self.option(option, text) for option in nodes]
        right = sum(option["correct"] for option in options)
        if right != 1:
            raise self.error(
                f"the question {text!r} has {right} options with `correct: true`; it needs exactly one", node
            )
        self.refuse_twice(
            "option",
            [(option["text"], place.start_mark.line + 1) for option, place in zip(options, nodes, strict=True)],
        )
        question = {"question": text, "options": options}
        self.lines.append((question, node.start_mark.line + 1))
        return question

    def option(self, node: Any, question: str) -> dict[str, Any]:
        found = self.mapping(node, _OPTION_KEYS, f"an option of {question!r}")
        text = self.text(found, "text", f"an option of {question!r}", node)
        explanation = self.text(found, "explanation", f"the option {text!r}", node)
        correct = "false" if "correct" not in found else str(found["correct"].value)
        if correct not in ("true", "false"):
            raise self.error(
                f"`correct` of the option {text!r} must be true or false, not {correct!r}", found["correct"]
            )
        return {"text": text, "correct": correct == "true", "explanation": explanation}

    def refuse_twice(self, what: str, texts: list[tuple[str, int]]) -> None:
        seen: set[str] = set()
        for text, line in texts:
            if text in seen:
                raise AuthorError(f"the {what} {text!r} stands twice", self.name, line)
            seen.add(text)
