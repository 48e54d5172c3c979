"""Where the package keeps what it fetched and computed on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from ctxcourse.errors import CourseError


def cache_home() -> Path:
    """Return the folder for models and downloads: ``CTXCOURSE_HOME``, else the user's cache folder.

    Raises CourseError where the variable names no place that can be.
    """
    chosen = os.environ.get("CTXCOURSE_HOME")
    if chosen:
        try:
            return Path(chosen).expanduser().resolve()
        except (OSError, RuntimeError, ValueError) as error:  # an unknown user, a loop of links, a null character
            raise CourseError(f"CTXCOURSE_HOME is {chosen!r}, and that is no folder: {error}. Name another.") from error
    import platformdirs

    return Path(platformdirs.user_cache_dir("ctxcourse"))
