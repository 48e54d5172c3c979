"""The widgets of the needle lessons: where the answer stands, how long the list is, and every row asked."""

from __future__ import annotations

from ctxcourse.length_widget import LengthExplorer
from ctxcourse.position_widget import PositionExplorer
from ctxcourse.rows_widget import EveryRow

__all__ = ["EveryRow", "LengthExplorer", "PositionExplorer"]
