from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .lab_page import CHROMIUM, LabPage, lab_page


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[LabPage]:
    """A page on a server of its own, which takes its kernels (and the models in them) along when it ends."""
    if not Path(CHROMIUM).exists() and not shutil.which(CHROMIUM):
        missing = f"no Chromium at {CHROMIUM}: install it, or name it in the environment variable CHROMIUM"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    with lab_page(tmp_path) as page:
        yield page
