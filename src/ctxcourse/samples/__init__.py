"""Conversations that ship with the course, for its lessons and for trying things out."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, NamedTuple

from ctxcourse.errors import CourseError


class Sample(NamedTuple):
    """A conversation in the OpenAI chat format and the tool schemas that it was held with."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def load_sample(name: str = "coding_session") -> Sample:
    """Return a fresh copy of the sample conversation called ``name``.

    Raises:
        CourseError: there is no such sample; the message lists those there are.
    """
    folder = files(__package__)
    names = sorted(f.name.removesuffix(".json") for f in folder.iterdir() if f.name.endswith(".json"))
    if name not in names:
        raise CourseError(f"There is no sample {name!r}. There are: {', '.join(names)}.")
    content = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Sample(content["messages"], content["tools"])
