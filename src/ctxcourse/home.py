"""Where the package keeps what it fetched and computed on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """Return the folder for models and downloads: ``CTXCOURSE_HOME``, else the user's cache folder."""
    chosen = os.environ.get("CTXCOURSE_HOME")
    if chosen:
        return Path(chosen).expanduser().resolve()
    import platformdirs

    return Path(platformdirs.user_cache_dir("ctxcourse"))
