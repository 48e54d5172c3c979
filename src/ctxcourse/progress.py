"""One progress bar for work that goes through several stages."""

from __future__ import annotations

from typing import Any


class ProgressBar:
    """A tqdm bar, in a terminal or a notebook, that appears with the first report and follows the stages.

    Call it with the stage, the amount done and the amount there is (bytes or items; 0: not known).
    """

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show where the work stands."""
        if self._bar is None:
            from tqdm.auto import tqdm

            self._bar = tqdm(unit="B", unit_scale=True, unit_divisor=1000, miniters=1, leave=False)
        if stage != self._stage:
            self._stage = stage
            self._bar.reset(total=total or None)
            self._bar.set_description(stage)
        if total and self._bar.total != total:
            self._bar.total = total
        self._bar.update(max(0, done - self._bar.n))

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
