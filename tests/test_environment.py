"""The two ways in have the same pins; the pins are exact; the lock file agrees with both."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"torch": "pytorch"}
EVERYTHING = list(chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()))


def pins(requirements: list[str]) -> dict[str, str]:
    return dict(re.fullmatch(r"([\w-]+)==([\w.]+)", line).groups() for line in requirements)  # type: ignore[union-attr]


def conda() -> tuple[list[str], list[str]]:
    """Return the conda packages and the pip requirements of environment.yml."""
    content = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    pip = next(entry["pip"] for entry in content["dependencies"] if isinstance(entry, dict))
    return [entry for entry in content["dependencies"] if isinstance(entry, str)], pip


def test_every_dependency_is_pinned_exactly() -> None:
    assert len(pins(EVERYTHING)) == len(EVERYTHING)


def test_conda_pins_are_the_projects() -> None:
    packages, _ = conda()
    pinned = {name: version for name, version, *_ in (p.split("=") for p in packages if "=" in p)}
    assert pinned.pop("python") == "3.11"
    ours = {CONDA_NAMES.get(name, name): version for name, version in pins(PROJECT["dependencies"]).items()}
    assert len(pinned) >= 6
    assert pinned == {name: ours[name] for name in pinned}


def test_conda_takes_its_cpu_build_of_torch() -> None:
    packages, _ = conda()
    torch = next(p for p in packages if p.startswith("pytorch"))
    assert re.fullmatch(r"pytorch=[\d.]+=cpu\*", torch)


def test_conda_installs_the_rest_from_the_project_itself() -> None:
    assert conda()[1] == ["-e .[instructor,test,embeddings]"]


def test_the_lock_file_agrees_with_the_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    locked = dict(line.split("==") for line in lines if not line.startswith("#"))
    wanted = pins(EVERYTHING)
    del wanted["torch"]  # its builds differ by machine
    for name in pins(PROJECT["optional-dependencies"]["bench"]):  # installed for `make bench` alone
        del wanted[name]
    assert {name: locked.get(name) for name in wanted} == wanted
