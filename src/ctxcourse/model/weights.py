"""Find the model on this machine, or bring it here: fetch, check, convert, once, under a lock."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctxcourse.home import cache_home
from ctxcourse.model.artefacts import Artefact, WeightsError, find_artefact
from ctxcourse.model.convert import MANIFEST, convert_gguf, read_manifest, write_manifest
from ctxcourse.model.fetch import HUB_TIMEOUT, fetch_file, hub_problem
from ctxcourse.model.files import (
    Progress,
    check_space,
    clear_content_errors,
    clear_disk_errors,
    no_progress,
    sha256_of,
    tqdm_reporting_to,
)

EXPANSION = 5.4  # bytes of a converted folder for a byte of 4-bit GGUF (measured: 2.53 GB from 0.49 GB)


@dataclass(frozen=True)
class ModelFolder:
    """A folder that transformers can load, and where it came from.

    ``fingerprint`` names the exact weights: results are only comparable where it is equal. ``notes`` are sentences
    for the reader about how the folder came to be (empty when it was simply there).
    """

    artefact: Artefact
    path: Path
    fingerprint: str
    notes: tuple[str, ...] = field(default=(), compare=False)


def model_path(artefact: Artefact) -> Path:
    """Return the folder in the cache that holds (or will hold) the artefact in loadable form."""
    if artefact.path is None:
        return cache_home() / "models" / artefact.name
    if artefact.path.is_dir():
        return artefact.path
    stat = artefact.path.stat()
    which = hashlib.sha256(f"{artefact.path}|{stat.st_size}|{stat.st_mtime_ns}".encode()).hexdigest()[:12]
    return cache_home() / "models" / f"{artefact.path.stem}-{which}"


def find_model(name: str | None = None) -> ModelFolder | None:
    """Return the model if it is complete on this machine, without any network, or None."""
    artefact = find_artefact(name)
    folder = model_path(artefact)
    if artefact.path is not None and artefact.path.is_dir():
        return ModelFolder(artefact, folder, _local_fingerprint(folder))
    manifest = read_manifest(folder)
    return ModelFolder(artefact, folder, manifest["fingerprint"]) if manifest else None


def ensure_model(name: str | None = None, progress: Progress = no_progress) -> ModelFolder:
    """Return the model's folder, fetching and converting it first where that has not been done.

    Safe with several processes: one works, the others wait for it. ``progress`` is told the stage, the amount done
    and the amount there is.

    Raises:
        WeightsError: it cannot be fetched, is not what was published, or the cache folder cannot hold it.
    """
    found = find_model(name)
    if found:
        return found
    from filelock import FileLock, Timeout

    artefact, home = find_artefact(name), cache_home()
    with clear_disk_errors(home):
        home.mkdir(parents=True, exist_ok=True)
        lock = FileLock(home / "models.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            progress("waiting for another process that is fetching the model", 0, 0)
            lock.acquire()
        try:
            return find_model(name) or _make(artefact, progress)
        finally:
            lock.release()


def _make(artefact: Artefact, progress: Progress) -> ModelFolder:
    folder = model_path(artefact)
    notes = [] if artefact.pinned else [f"{artefact.name} is not pinned by the course."]
    folder.parent.mkdir(parents=True, exist_ok=True)
    if artefact.path is None and artefact.filename is None:
        _take_repository(artefact, folder, progress)
    else:
        if artefact.path is not None:
            gguf, digest = artefact.path, sha256_of(artefact.path, progress)
        else:
            gguf, happened = fetch_file(artefact, cache_home() / "downloads", progress)
            notes += happened
            digest = artefact.sha256 or sha256_of(gguf, progress)
        check_space(folder.parent, int(gguf.stat().st_size * EXPANSION))
        try:
            with clear_content_errors(gguf, "a GGUF model"):
                convert_gguf(gguf, folder, _about(artefact, digest), progress)
        except WeightsError:
            shutil.rmtree(folder.with_name(folder.name + ".unfinished"), ignore_errors=True)
            raise
    manifest = read_manifest(folder)
    if manifest is None:
        raise WeightsError(f"{folder} is not complete after it was made. Run `ctxcourse model remove` and fetch again.")
    return ModelFolder(artefact, folder, manifest["fingerprint"], tuple(notes))


def _take_repository(artefact: Artefact, folder: Path, progress: Progress) -> None:
    """Download a repository of safetensors from the Hub into ``folder`` by way of a folder beside it."""
    problem = hub_problem(artefact)
    if problem:
        raise WeightsError(
            f"{artefact.repo} comes from the Hub alone, and {problem}. Connect to the network and try again."
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    assert artefact.repo is not None
    incoming = folder.with_name(folder.name + ".incoming")  # kept when a download breaks off: it resumes there
    try:
        snapshot_download(
            artefact.repo,
            revision=artefact.revision,
            local_dir=incoming,
            allow_patterns=["*.json", "*.safetensors", "*.jinja", "merges.txt"],
            etag_timeout=HUB_TIMEOUT,
            tqdm_class=tqdm_reporting_to(progress, "fetching"),
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, ConnectionError) as error:
        raise WeightsError(
            f"The download of {artefact.repo} broke off ({type(error).__name__}). Run it again: it resumes."
        ) from error
    weights = sorted(incoming.glob("*.safetensors"))
    if not weights:
        raise WeightsError(f"{artefact.repo} holds no .safetensors file, so the course cannot load it.")
    digest = hashlib.sha256("".join(sha256_of(w, progress) for w in weights).encode()).hexdigest()
    write_manifest(incoming, _about(artefact, digest), progress)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(incoming, folder)


def _about(artefact: Artefact, digest: str) -> dict[str, Any]:
    """Return what a manifest says of a model besides its files."""
    published = ("repo", "revision", "filename", "size", "sha256")
    source = {"path": str(artefact.path)} if artefact.path else {key: getattr(artefact, key) for key in published}
    return {"name": artefact.name, "source": source, "fingerprint": f"{artefact.name}@{digest[:12]}"}


def _local_fingerprint(folder: Path) -> str:
    """Return the fingerprint of a folder of the user's own, remembered by the size and time of its files."""
    files = sorted([*folder.glob("*.safetensors"), *folder.glob("config.json"), *folder.glob("generation_config.json")])
    if not any(f.suffix == ".safetensors" for f in files):
        raise WeightsError(
            f"{folder} holds no .safetensors file. Give a folder saved by transformers, or a .gguf file."
        )
    state = [[f.name, f.stat().st_size, f.stat().st_mtime_ns] for f in files]
    key = hashlib.sha256(json.dumps([str(folder), state]).encode()).hexdigest()
    memory = cache_home() / "fingerprints" / key
    with suppress(OSError):
        return memory.read_text(encoding="ascii")
    digest = hashlib.sha256("".join(sha256_of(f) for f in files).encode()).hexdigest()
    fingerprint = f"{folder.name}@{digest[:12]}"
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text(fingerprint, encoding="ascii")
    return fingerprint


def verify_model(name: str | None = None, progress: Progress = no_progress) -> list[str]:
    """Read every file of the model again and return what is wrong with it (an empty list: nothing).

    Raises:
        WeightsError: the model is not on this machine, or is a folder of the user's own with nothing to compare.
    """
    artefact = find_artefact(name)
    folder = model_path(artefact)
    manifest = read_manifest(folder)
    if manifest is None:
        if (folder / MANIFEST).exists():
            return [f"{folder} is incomplete; run `ctxcourse model fetch` to make it again"]
        if artefact.path is not None:
            raise WeightsError(f"{artefact.path} is your own, and nothing is recorded of it to compare it with.")
        raise WeightsError(f"{artefact.name} is not in {folder}. Run `ctxcourse model fetch` first.")
    wrong = [
        f"{folder / file}: the bytes are not the recorded ones"
        for file, entry in manifest["files"].items()
        if sha256_of(folder / file, progress, f"checking {file}") != entry["sha256"]
    ]
    download = cache_home() / "downloads" / (artefact.filename or "-")
    if artefact.sha256 and download.exists() and sha256_of(download, progress) != artefact.sha256:
        wrong.append(f"{download}: not the published file")
    return wrong


def remove_model(name: str | None = None) -> int:
    """Delete the model's folder and download from the cache and return the bytes won back.

    A folder or file of the user's own is never deleted.
    """
    artefact = find_artefact(name)
    freed = 0
    folders = [] if artefact.path is not None and artefact.path.is_dir() else [model_path(artefact)]
    folders += [f.with_name(f.name + suffix) for f in folders for suffix in (".unfinished", ".incoming")]
    downloads = cache_home() / "downloads"
    files = [downloads / artefact.filename] if artefact.filename else []
    folders += [downloads / f"{artefact.filename}.parts"] if artefact.filename else []
    with clear_disk_errors(cache_home()):
        for folder in folders:
            if folder.is_dir():
                freed += sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
                shutil.rmtree(folder)
        for file in files:
            if file.exists():
                freed += file.stat().st_size
                file.unlink()
    return freed
