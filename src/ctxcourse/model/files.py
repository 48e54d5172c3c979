"""Files and disks: progress, digests, and the operating system's errors in words that say what to do."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ctxcourse.errors import CourseError
from ctxcourse.model.artefacts import WeightsError

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is (the same unit; bytes here)."""

BLOCK = 1 << 20


def no_progress(stage: str, done: int, total: int) -> None:
    """Show nothing."""


def sha256_of(path: Path, progress: Progress = no_progress, stage: str = "checking") -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    digest, total, done = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            progress(stage, done, total)
    return digest.hexdigest()


@contextmanager
def clear_disk_errors(folder: Path) -> Iterator[None]:
    """Turn the operating system's errors about ``folder`` into sentences that say what to do."""
    try:
        yield
    except OSError as error:
        cause: OSError | None = error
        while cause is not None and cause.errno is None and isinstance(cause.__cause__, OSError):
            cause = cause.__cause__
        code = cause.errno if cause else None
        if code in (errno.ENOSPC, errno.EDQUOT):
            raise WeightsError(
                f"The disk that holds {folder} is full. Free some space, or set CTXCOURSE_HOME to a folder "
                "on a larger disk; what was complete has been kept."
            ) from error
        if code in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise WeightsError(
                f"{folder} cannot be written to ({os.strerror(code)}). Set CTXCOURSE_HOME to a folder you can write to."
            ) from error
        if code in (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP):
            raise WeightsError(
                f"{folder} cannot be made a folder ({os.strerror(code)}). Set CTXCOURSE_HOME to a folder, or to a "
                "place where one can be made."
            ) from error
        raise


@contextmanager
def clear_content_errors(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library raises over a file that is not ``what`` into a sentence that names the file.

    Errors of the operating system (a full disk, a missing right) pass; they are not about the content.
    """
    try:
        yield
    except CourseError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = (str(error).strip().splitlines() or [""])[0][:200]
        raise WeightsError(
            f"{path} cannot be read as {what} ({type(error).__name__}: {reason}). Is it complete? Get it again, or "
            "give another one with --model or CTXCOURSE_MODEL."
        ) from error


def stated_number(path: Path, name: str) -> int | None:
    """Return a whole number that a JSON file gives under ``name`` at its top, None where it gives none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8")).get(name)
    except (OSError, ValueError, AttributeError):
        return None
    return value if type(value) is int else None


def check_space(folder: Path, needed: int) -> None:
    """Raise WeightsError where the disk of ``folder`` has fewer than ``needed`` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise WeightsError(
            f"{needed / 1e9:.1f} GB are needed in {folder} and {free / 1e9:.1f} GB are free, so the disk would be "
            "full before the model is there. Free some space, or set CTXCOURSE_HOME to a folder on a larger disk."
        )


def tqdm_reporting_to(progress: Progress, stage: str) -> type[Any]:
    """Return a tqdm class that reports to ``progress`` and writes nothing itself."""
    from tqdm.auto import tqdm

    class Reporting(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": False, "file": _Nowhere()})

        def update(self, n: float | None = 1) -> bool | None:
            shown: bool | None = super().update(n)
            progress(stage, int(self.n), int(self.total or 0))
            return shown

    return Reporting


class _Nowhere:
    """A text stream that keeps nothing."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        pass
