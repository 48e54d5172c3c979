"""A small random model with a long window, as a folder: real tokenizer, real engine, real store, nothing to fetch."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcourse.model.convert import convert_gguf
from tests.model.tiny import write_gguf


def write_small_model(folder: Path, window: int = 40_000) -> Path:
    """Write the model into a new folder and return it; its tokens are bytes, so prompts are four times as long."""
    gguf = folder.with_suffix(".gguf")
    write_gguf(gguf)
    convert_gguf(gguf, folder, {"name": folder.name, "source": {}, "fingerprint": "small@0"})
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"max_position_embeddings": window}))
    return folder
