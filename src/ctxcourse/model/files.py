"""Files and disks: digests with progress, and the operating system's errors in words that say what to do."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
        raise


def check_space(folder: Path, needed: int) -> None:
    """Raise WeightsError where the disk of ``folder`` has fewer than ``needed`` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise WeightsError(
            f"{needed / 1e9:.1f} GB are needed in {folder} and {free / 1e9:.1f} GB are free, so the disk would be "
            "full before the model is there. Free some space, or set CTXCOURSE_HOME to a folder on a larger disk."
        )
