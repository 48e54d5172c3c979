from __future__ import annotations

from typing import Any

import pytest

from ctxcourse import load_model, load_tokenizer
from ctxcourse.model.qwen import Model
from ctxcourse.model.tokenizer import ChatTokenizer


@pytest.fixture(scope="session")
def tok() -> ChatTokenizer:
    return load_tokenizer()


@pytest.fixture(scope="session")
def model() -> Model:
    return load_model()


@pytest.fixture(scope="session")
def published(tok: ChatTokenizer) -> Any:
    """The same tokenizer as transformers loads it, to compare with."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tok.folder)
