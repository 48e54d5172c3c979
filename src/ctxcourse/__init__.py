"""Context engineering for language models, measured on a real model: the package of the workbook.

The names below are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxcourse.budget import ContextBudget as ContextBudget
    from ctxcourse.errors import CourseError as CourseError
    from ctxcourse.loading import load_model as load_model
    from ctxcourse.loading import load_tokenizer as load_tokenizer
    from ctxcourse.model.answers import Completion as Completion
    from ctxcourse.samples import load_sample as load_sample
    from ctxcourse.tokens import buckets as buckets
    from ctxcourse.tokens import catalogue_cost as catalogue_cost

_NAMES = {
    "Completion": "ctxcourse.model.answers",
    "ContextBudget": "ctxcourse.budget",
    "CourseError": "ctxcourse.errors",
    "buckets": "ctxcourse.tokens",
    "catalogue_cost": "ctxcourse.tokens",
    "load_model": "ctxcourse.loading",
    "load_sample": "ctxcourse.samples",
    "load_tokenizer": "ctxcourse.loading",
}
_MODULES = ("budget", "messages", "needle", "plots", "tokens", "widgets")

__all__ = [
    "Completion",
    "ContextBudget",
    "CourseError",
    "buckets",
    "catalogue_cost",
    "load_model",
    "load_tokenizer",
]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"ctxcourse.{name}")
    raise AttributeError(f"module 'ctxcourse' has no attribute {name!r}")
