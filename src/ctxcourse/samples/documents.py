"""Twenty short documents with a question each, and the rule by which an answer is a hit or a miss."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from ctxcourse.retrieval.relevance import fold

Kind = Literal["hit", "miss"]

KINDS: tuple[Kind, ...] = ("hit", "miss")
PLACES: tuple[str, ...] = ("beginning", "middle", "end")


@dataclass(frozen=True)
class Document:
    """A text, a question about it, and the answer, which stands in the text once, word for word.

    ``place`` says where: in the first fifth (``"beginning"``), in the ``"middle"``, or near the ``"end"``. ``also``
    holds other ways to say the answer; ``rivals`` are the expressions of its kind in the same text.
    """

    title: str
    text: str
    question: str
    answer: str
    also: tuple[str, ...]
    rivals: tuple[str, ...]
    place: str

    def holds(self, text: str) -> bool:
        """Return whether a shortened text still has the answer, in the document's words or in others of ``also``."""
        return _first(text, (self.answer, *self.also)) is not None

    def kind(self, answer: str) -> Kind:
        """Return whether what a model said is a hit: the answer is named, and no rival is named before it.

        Expressions are found as whole words, without regard to case and white space. Of several the first decides, as
        the first number does in `ctxcourse.needle`; whoever names all that could be meant has not answered.

        >>> tower = next(document for document in load_documents() if document.answer == "1871")
        >>> tower.kind("It was completed in 1871."), tower.kind("In 1884, or in 1871."), tower.kind("In 18711.")
        ('hit', 'miss', 'miss')
        """
        right, rival = _first(answer, (self.answer, *self.also)), _first(answer, self.rivals)
        return "hit" if right is not None and (rival is None or right < rival) else "miss"


def load_documents() -> list[Document]:
    """Return the twenty documents; the three places take turns, so that the first few have all of them.

    >>> [document.place for document in load_documents()[:4]]
    ['beginning', 'middle', 'end', 'beginning']
    """
    source = files("ctxcourse.samples") / "documents.json"
    content: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return [
        Document(**{**entry, "also": tuple(entry["also"]), "rivals": tuple(entry["rivals"])})
        for entry in content["documents"]
    ]


def _first(text: str, expressions: Iterable[str]) -> int | None:
    """Return where the first of the expressions begins in a text, or None where none of them stands in it."""
    folded = " ".join(fold(text).split())
    found = (re.search(rf"(?<!\w){re.escape(fold(each))}(?!\w)", folded) for each in expressions)
    return min((place.start() for place in found if place), default=None)
