"""Measure the matrix products that the model's layers are made of, at few rows and at many, and write a table.

    python benchmarks/products.py

Each figure is the time for all linear layers of the network but the output head, with weights too many for any cache,
in milliseconds: best of three, the forms taking turns. `benchmarks/products.md` is written anew.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from ctxcourse import load_model
from ctxcourse.model.products import FEWEST

PAGE = Path(__file__).with_suffix(".md")
ROWS = (1, 2, 4, 8, 16, 25, 32, 64, 128, 256, 512)
TURNS = 3


def forms() -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Return the ways to compute ``x @ w.T``: torch's two, and what the package uses."""
    return {
        "`F.linear(x, w)`": lambda x, w, packed: torch.nn.functional.linear(x, w),
        "`torch.mm(w, x.T).T`": lambda x, w, packed: torch.mm(w, x.T).T,
        "oneDNN, `w` packed": lambda x, w, packed: torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], ""),
    }


def main() -> None:
    """Measure, print and write."""
    head = 100_000  # an output head has at least as many rows
    shapes = [tuple(m.weight.shape) for m in load_model().network.modules() if isinstance(m, torch.nn.Linear)]
    weights = [torch.randn(shape) for shape in shapes if shape[0] < head]
    packed = [torch.ops.mkldnn._reorder_linear_weight(weight, FEWEST) for weight in weights]
    lines = [
        "# Matrix products at few rows and at many\n",
        f"Made by `python benchmarks/products.py` on {date.today():%-d %B %Y}: {os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}, torch {version('torch')}. Milliseconds for all "
        f"{len(weights)} linear layers but the output head, {sum(w.nbytes for w in weights) / 1e9:.2f} GB of float32 "
        f"weights: the best of {TURNS}, the forms taking turns.\n",
        f"| rows | {' | '.join(forms())} | GFLOP/s of the last |",
        "| --- " * (len(forms()) + 2) + "|",
    ]
    print(*lines, sep="\n")
    for rows in ROWS:
        inputs = {width: torch.randn(rows, width) for width in {w.shape[1] for w in weights}}
        best = dict.fromkeys(forms(), float("inf"))
        for _ in range(TURNS):
            for name, multiply in forms().items():
                started = time.perf_counter()
                for weight, other in zip(weights, packed, strict=True):
                    multiply(inputs[weight.shape[1]], weight, other)
                best[name] = min(best[name], time.perf_counter() - started)
        speed = 2e-9 * rows * sum(w.numel() for w in weights) / best["oneDNN, `w` packed"]
        lines.append(f"| {rows} | {' | '.join(f'{1000 * seconds:.0f}' for seconds in best.values())} | {speed:.0f} |")
        print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with torch.inference_mode():
        main()
