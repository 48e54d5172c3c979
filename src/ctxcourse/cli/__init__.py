"""The command line, `ctxcourse`."""

from ctxcourse.cli.main import app

__all__ = [
    "app",
]
