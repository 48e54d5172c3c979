"""Examine the set-up of this machine, one finding at a time."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

from ctxcourse.errors import CourseError

QUESTION = "Name the capital of France in one short sentence."
NEEDED_GB = 5.0  # free memory for the weights in float32 and a prompt of some thousand tokens


@dataclass(frozen=True)
class Finding:
    """One line of the report: what was looked at, whether it is as it should be, and what was seen."""

    what: str
    good: bool
    text: str


def examine(model_name: str | None = None) -> Iterator[Finding]:
    """Yield the findings: Python, pinned packages, memory, model files, and an answer from the model.

    An error in one of them becomes a finding that says what to do; it does not stop the others.
    """
    yield Finding(
        "python",
        sys.version_info >= (3, 11),
        f"{platform.python_version()} on {platform.system()} {platform.machine()}",
    )
    yield _versions()
    free = free_memory_gb()
    text = "not known on this system" if free is None else f"{free:.1f} GB free, {os.cpu_count()} cores"
    too_little = free is not None and free < NEEDED_GB
    yield Finding(
        "memory",
        not too_little,
        text + (f"; close something: about {NEEDED_GB:g} GB are needed" if too_little else ""),
    )
    try:
        from ctxcourse.loading import load_model

        model = load_model(model_name)
        yield Finding("model", True, model.label)
        yield Finding("fingerprint", True, model.fingerprint)
        answer = model.complete(QUESTION, max_new_tokens=30)
        line = " ".join(answer.text.split())
        speed = f"{answer.prompt_tokens} tokens read, {answer.new_tokens} written, {answer.seconds:.1f} s with loading"
        yield Finding("answer", bool(line), f"{line} ({speed})")
    except CourseError as error:
        yield Finding("model", False, str(error))


def _versions() -> Finding:
    """Compare what is installed with the versions that the course pins."""
    wrong, seen = [], []
    for requirement in requires("ctxcourse") or []:
        if ";" in requirement or "==" not in requirement:
            continue
        name, wanted = requirement.split("==")
        try:
            found = version(name)
        except PackageNotFoundError:
            wrong.append(f"{name} is missing (pinned: {wanted})")
            continue
        if found.split("+")[0] != wanted:
            wrong.append(f"{name} is {found} (pinned: {wanted})")
        if name in ("torch", "transformers", "jupyterlab", "nbval"):
            seen.append(f"{name} {found}")
    return Finding("packages", not wrong, "; ".join(wrong) or ", ".join(seen))


def free_memory_gb() -> float | None:
    """Return the memory that a process can still take, in GB (10^9 bytes), or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        return int(fields["MemAvailable"].split()[0]) * 1024 / 1e9
    except (OSError, KeyError, ValueError):
        return None
