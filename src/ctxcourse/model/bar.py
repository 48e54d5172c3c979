"""The bar that shows how far a call with many prompts has come, in tokens and not in calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ctxcourse.model.plain import PlainEngine
from ctxcourse.model.prefix import PrefixEngine


@contextmanager
def token_bar(
    engine: PrefixEngine | PlainEngine, prompts: list[list[int]], max_new_tokens: int, shown: bool
) -> Iterator[Callable[[int], None]]:
    """Show a bar over the tokens that a call computes at most, and give what advances it."""
    from tqdm.auto import tqdm

    with tqdm(
        total=engine.expected(prompts, max_new_tokens),
        unit="token",
        delay=2,
        leave=False,
        disable=not shown,
    ) as bar:
        yield bar.update
