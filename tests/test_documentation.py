"""The examples in the docstrings of the whole package run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
WITH_EXAMPLES = sorted(path for path in SOURCE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8"))


def test_there_are_examples() -> None:
    assert len(WITH_EXAMPLES) > 8


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_examples_give_what_they_show(path: Path) -> None:
    from tests.context.conftest import SmallCounter

    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    result = doctest.testmod(
        importlib.import_module(name), extraglobs={"tok": SmallCounter()}, optionflags=doctest.ELLIPSIS
    )
    assert result.failed == 0
    assert result.attempted > 0
