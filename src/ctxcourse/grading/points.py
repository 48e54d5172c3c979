"""Declares what a hidden test is worth, and how hidden cells know that the grader compiles them."""

from __future__ import annotations

import pytest

from ctxcourse.errors import CourseError

GRADER = "__ctxcourse_grader__"
"""A name that only the grader defines in a module that it compiles from hidden cells."""


def points(number: float, *, title: str = "", hint: str = "") -> pytest.MarkDecorator:
    """Declare what a hidden test is worth; a parametrized one earns its points if all its cases pass.

    Args:
        number: the points, more than zero.
        title: what the test is about, shown to the student.
        hint: a question that helps, shown to a student who fails it.

    Raises:
        CourseError: if the number of points is none.
    """
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 < number < 1_000_000:
        raise CourseError(f"points(…) takes a number above zero, not {number!r}")
    return pytest.mark.points(number, title=title, hint=hint)
