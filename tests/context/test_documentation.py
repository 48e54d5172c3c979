"""The examples in the docstrings run."""

import doctest
import importlib

import pytest

MODULES = ["budget", "fitted", "messages", "pairing", "plain", "tokens", "toolschemas", "trimming"]
WITH_EXAMPLES = {"budget", "messages", "tokens", "toolschemas"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(counter, name):
    module = importlib.import_module(f"ctxcourse.{name}")

    result = doctest.testmod(module, extraglobs={"tok": counter}, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0
    assert (result.attempted > 0) == (name in WITH_EXAMPLES)
