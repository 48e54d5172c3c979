"""The internals of nbval that grading builds on, checked before they are used."""

from __future__ import annotations

import inspect

from ctxcourse.errors import CourseError


class NbvalChanged(CourseError):
    """The installed nbval is not one that grading works with."""


def check_nbval() -> None:
    """Check that nbval has what grading uses.

    Raises:
        NbvalChanged: with the version that is installed, and what it lacks.
    """
    import nbval
    import nbval.plugin as plugin

    lacking = []
    for owner, name, parameters in (
        ("", "coalesce_streams", ["outputs"]),
        ("", "find_metadata_tags", ["cell_metadata"]),
        ("", "find_comment_markers", ["cellsource"]),
        ("IPyNbFile", "setup", ["self"]),
        ("IPyNbFile", "teardown", ["self"]),
        ("IPyNbFile", "collect", ["self"]),
        ("IPyNbFile", "setup_sanitize_files", ["self"]),
        ("IPyNbCell", "__init__", ["self", "name", "parent", "cell_num", "cell", "options"]),
        ("IPyNbCell", "setup", ["self"]),
        ("IPyNbCell", "runtest", ["self"]),
        ("IPyNbCell", "repr_failure", ["self", "excinfo"]),
        ("IPyNbCell", "compare_outputs", ["self", "test", "ref", "skip_compare"]),
    ):
        place = getattr(plugin, owner, None) if owner else plugin
        found = getattr(place, name, None)
        if found is None or list(inspect.signature(found).parameters) != parameters:
            lacking.append(f"{owner}.{name}({', '.join(parameters)})".lstrip("."))
    for name in ("nbformat", "NotebookNode"):
        if not hasattr(plugin, name):
            lacking.append(name)
    if lacking:
        version = getattr(nbval, "__version__", "of an unknown version")
        raise NbvalChanged(
            f"grading works with nbval 0.11, and nbval {version} is installed, which lacks: {'; '.join(lacking)}."
            " Install the pinned one: pip install 'nbval==0.11.*'"
        )
