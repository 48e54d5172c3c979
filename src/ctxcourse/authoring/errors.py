"""The author's errors: every one names the file and the line to look at."""

from __future__ import annotations

from pathlib import Path

from ctxcourse.errors import CourseError


class AuthorError(CourseError):
    """Something in a lesson's source that the author has to mend.

    ``path`` is relative to the course's root, ``line`` counts from 1 (None where a whole file is meant).
    """

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        self.path = str(path)
        self.line = line
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {message}")
