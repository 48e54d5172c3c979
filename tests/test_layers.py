"""The layers of the package: imports point downwards only, and what is heavy is loaded late."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "ctxcourse"

CONTEXT = {"messages", "tokens", "budget", "fitted", "pairing", "plain", "toolschemas", "trimming", "samples"}
NOTEBOOK = {
    "widgets",
    "explorer",
    "running",
    "plots",
    "pictures",
    "prompt_html",
    "learn",
    "quiz",
    "questions",
    "mistakes",
}
COURSE = {"needle", "owners", "loading", "progress", "doctor"}
BESIDE = {"grading", "authoring"}

LAYERS: dict[str, tuple[set[str], set[str]]] = {
    # layer: (its modules, what it may import besides itself)
    "errors": ({"errors"}, set()),
    "context": (CONTEXT, {"errors"}),
    "model": ({"model"}, {"errors"}),
    "course": (COURSE, {"errors", "model"} | CONTEXT),
    "notebook": (NOTEBOOK, {"errors", "model"} | CONTEXT | COURSE),
    "grading": ({"grading"}, {"errors"}),
    "authoring": ({"authoring"}, {"errors", "grading", "questions"}),
    "top": ({"cli", "__init__"}, {"errors", "model"} | CONTEXT | COURSE | NOTEBOOK | BESIDE),
}


def unit(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Return the modules of the package, and the foreign top-level packages, that a file imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{a.name}" if node.module == "ctxcourse" else node.module for a in node.names}
    return found


FILES = sorted(SOURCE.rglob("*.py"))


def test_every_module_has_a_layer() -> None:
    known = set().union(*(modules for modules, _ in LAYERS.values()))
    assert {unit(path) for path in FILES} == known


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_imports_point_downwards(path: Path) -> None:
    own, allowed = next(pair for pair in LAYERS.values() if unit(path) in pair[0])
    for name in imports(path):
        if name.startswith("ctxcourse."):
            target = name.split(".")[1]
            if target in set().union(*(modules for modules, _ in LAYERS.values())):
                assert target in own | allowed, f"{path.name} imports {name}"


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
