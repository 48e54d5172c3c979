"""What the model returns, and how it refuses: completions, and the errors of a call."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctxcourse.errors import CourseError


class PromptError(CourseError, ValueError):
    """What was given is no prompt, or there is nothing in it to answer: the message says which and what is possible."""


class WindowError(PromptError):
    """A prompt and the answer asked for do not fit the model's context window."""


class BusyError(CourseError):
    """The model cannot be asked now, or never here: it is answering in this thread, or the process was forked."""


class Cancelled(CourseError):
    """The caller asked to stop before the answer was complete; the model can be used again at once."""


@dataclass(frozen=True)
class Completion:
    """One answer of the model.

    ``prompt_tokens`` were given to it, ``computed_tokens`` of them were computed for this answer: fewer where a prefix
    was known from before or is shared with another prompt of the same call, and none where the whole answer was
    ``remembered`` by the completion store (``seconds`` is then the look-up's), or is that of an equal prompt of the
    same call. ``new_tokens`` were generated (``new_ids``), in ``seconds``; prompts that
    are computed together share the time by the rows each of them had. ``stop_reason`` is ``"stop"`` where the model
    ended its answer and ``"length"`` where the limit did. ``fingerprint`` names the weights.
    """

    text: str
    prompt_tokens: int
    computed_tokens: int
    new_tokens: int
    seconds: float
    stop_reason: str
    fingerprint: str
    remembered: bool = False
    new_ids: tuple[int, ...] = field(default=(), repr=False)


@dataclass
class Answer:
    """The answer to one prompt of token ids, before it is a :class:`Completion`; the fields mean the same."""

    new_ids: list[int] = field(default_factory=list)
    stop_reason: str = "length"
    computed_tokens: int = 0
    seconds: float = 0.0


@dataclass
class Profile:
    """Where the time of a call went: seconds and rows of its forward passes; tokens guessed by lookup, and taken."""

    prefill_seconds: float = 0.0
    prefill_rows: int = 0
    decode_seconds: float = 0.0
    decode_steps: int = 0
    decode_rows: int = 0
    guessed: int = 0
    taken: int = 0
