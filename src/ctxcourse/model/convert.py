"""Turn a GGUF file into a folder that loads in seconds: safetensors, tokenizer and chat template.

Transformers reads GGUF itself, which takes most of a minute; the result is kept, with a manifest that says what it
was made from. The manifest is written last, so a folder without one is unfinished and is made again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ctxcourse.model.files import Progress, no_progress, sha256_of, tqdm_reporting_to

MANIFEST = "ctxcourse.json"
FORMAT = 1  # raise it when what a converted folder holds changes, so that older ones are made again


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a complete model folder, or None where the folder is missing, unfinished or older.

    Completeness is checked by the names and sizes of the files, which costs no reading; ``verify`` reads them.
    """
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        sizes = {name: (folder / name).stat().st_size for name in manifest["files"]}
        complete = all(sizes[name] == entry["size"] for name, entry in manifest["files"].items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if complete and manifest.get("format") == FORMAT else None


def write_manifest(folder: Path, about: dict[str, Any], progress: Progress = no_progress) -> None:
    """Record size and digest of every file in ``folder``, flush them to the disk, and write the manifest last."""
    files = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and ".cache" not in p.relative_to(folder).parts):
        _flush(path)
        files[path.relative_to(folder).as_posix()] = {
            "size": path.stat().st_size,
            "sha256": sha256_of(path, progress, "recording"),
        }
    made_with = {name: version(name) for name in ("torch", "transformers")}
    content = {"format": FORMAT, **about, "made_with": made_with, "files": files}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1), encoding="utf-8")
    _flush(folder / MANIFEST)


def convert_gguf(gguf: Path, folder: Path, about: dict[str, Any], progress: Progress = no_progress) -> None:
    """Convert ``gguf`` into ``folder``, beside it first and renamed when it is complete.

    The weights are the file's own values in float32. The output head is stored at a higher precision than the input
    embedding, so the two stay apart. The tokenizer gets the NFC normaliser that the model's published tokenizer has
    and a GGUF file has no place for.
    """
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    progress("converting: tokenizer", 0, 0)
    _convert_tokenizer(gguf, unfinished)
    _convert_weights(gguf, unfinished, progress)
    write_manifest(unfinished, about, progress)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(unfinished, folder)
    _flush(folder.parent)


def _convert_tokenizer(gguf: Path, folder: Path) -> None:
    from tokenizers import normalizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    if tokenizer.backend_tokenizer.normalizer is None:
        tokenizer.backend_tokenizer.normalizer = normalizers.NFC()
    tokenizer.save_pretrained(folder)


def _convert_weights(gguf: Path, folder: Path, progress: Progress) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, GenerationConfig

    progress("converting: weights", 0, 0)
    with _reading_shown(progress):
        model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = model.config
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    head, embedding = weights.get("lm_head.weight"), weights["model.embed_tokens.weight"]
    config.tie_word_embeddings = head is None or torch.equal(head, embedding)
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    for attribute in ("quantization_config", "_name_or_path", "_model_name_or_path"):
        if hasattr(config, attribute):
            delattr(config, attribute)
    progress("converting: writing", 0, 0)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    config.save_pretrained(folder)
    stop = GenerationConfig(
        bos_token_id=config.bos_token_id, eos_token_id=config.eos_token_id, pad_token_id=config.pad_token_id
    )
    stop.save_pretrained(folder)


@contextmanager
def _reading_shown(progress: Progress) -> Iterator[None]:
    """While it is open, transformers' loop over the file's tensors reports to ``progress`` and not to the terminal."""
    from transformers import modeling_gguf_pytorch_utils as reader

    before = reader.tqdm
    reader.tqdm = tqdm_reporting_to(progress, "converting: weights")
    try:
        with quiet_bars():
            yield
    finally:
        reader.tqdm = before


@contextmanager
def quiet_bars() -> Iterator[None]:
    """While it is open, transformers shows no progress bars of its own."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
