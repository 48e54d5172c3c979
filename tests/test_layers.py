"""The layers of the package: imports point downwards only, and what is heavy is loaded late."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ctxcourse
from ctxcourse.layers import BELOW, LAYERS

SOURCE = Path(__file__).parents[1] / "src" / "ctxcourse"


def unit(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Return the modules, of this package and of others, that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from ctxcourse import load_model` is an import of the module that defines it
            names = {a.name: ctxcourse._NAMES.get(a.name, f"ctxcourse.{a.name}") for a in node.names}
            found |= set(names.values()) if node.module == "ctxcourse" else {node.module}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


LAYER_OF = {module: layer for layer, modules in LAYERS.items() for module in modules}


def test_every_module_has_a_layer_and_every_name_leads_to_one() -> None:
    assert {unit(path) for path in FILES} == set(LAYER_OF)
    assert {name.split(".")[1] for name in ctxcourse._NAMES.values()} <= set(LAYER_OF)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_imports_point_downwards(path: Path) -> None:
    layer = LAYER_OF[unit(path)]
    for name in imports(path):
        if name.startswith("ctxcourse."):
            target = LAYER_OF[name.split(".")[1]]
            assert target == layer or target in BELOW[layer], f"{path.name} ({layer}) imports {name} ({target})"


def test_below_is_downwards() -> None:
    order = list(LAYERS)
    assert all(order.index(lower) < order.index(layer) for layer in order[:-1] for lower in BELOW[layer])


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_torch_and_transformers_are_imported_by_the_model_layer_alone(path: Path) -> None:
    heavy = {name.split(".")[0] for name in imports(path)} & {"torch", "transformers", "gguf", "safetensors"}
    assert not heavy or unit(path) == "model"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_modules_can_be_read_at_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("statement", ["import ctxcourse", "import ctxcourse.cli", "import ctxcourse.grading.plugin"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    heavy = ("torch", "transformers", "numpy", "pandas", "matplotlib", "huggingface_hub", "ipywidgets")
    code = f"import sys; {statement}; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
