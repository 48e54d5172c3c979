"""Measure what bounds attention: the whole of it, its two products alone, and its exponentials alone.

    python benchmarks/attention.py

One layer of the default model (14 heads that share 2 key-value heads, 64 numbers each): new tokens that see all that
came before, as in an agent's call. `benchmarks/attention.md` is written anew.
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

PAGE = Path(__file__).with_suffix(".md")
HEADS, GROUPS, DIM = 14, 2, 64
NEW, SEEN = (1, 16, 205, 512), (1_000, 5_000, 10_000)
TURNS = 7


def parts(rows: int, seen: int) -> dict[str, Callable[[], Any]]:
    """Return what is timed: each computes for all heads of one layer."""
    query = torch.randn(1, GROUPS, HEADS // GROUPS * rows, DIM)  # heads that share keys are rows beside each other
    keys, values = torch.randn(2, 1, GROUPS, seen, DIM)
    across = keys.transpose(2, 3)
    scores = torch.randn(1, GROUPS, HEADS // GROUPS * rows, seen)
    out = torch.empty_like(scores)
    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu

    def products() -> None:
        torch.matmul(query, across, out=out)
        torch.matmul(scores, values)

    return {
        "attention": lambda: flash(query, keys, values, 0.0, False),
        "its products": products,
        "its exponentials": lambda: torch.exp(scores, out=out),
    }


def main() -> None:
    """Measure, print and write."""
    lines = [
        "# What bounds attention\n",
        f"Made by `python benchmarks/attention.py` on {date.today():%-d %B %Y}: {os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}, torch {version('torch')}. Milliseconds for one layer, the best of "
        f"{TURNS}, taking turns; the products write their scores to memory, which attention does not.\n",
        "| new tokens | tokens seen | attention | its products | its exponentials | GFLOP/s of attention |",
        "| --- " * 6 + "|",
    ]
    print(*lines, sep="\n")
    for rows in NEW:
        for seen in SEEN:
            timed = parts(rows, seen)
            best = dict.fromkeys(timed, float("inf"))
            for _ in range(TURNS):
                for name, compute in timed.items():
                    started = time.perf_counter()
                    compute()
                    best[name] = min(best[name], time.perf_counter() - started)
            speed = 4e-9 * HEADS * DIM * rows * seen / best["attention"]
            cells = " | ".join(f"{1000 * seconds:.2f}" for seconds in best.values())
            lines.append(f"| {rows} | {seen:,} | {cells} | {speed:.0f} |")
            print(lines[-1], flush=True)
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with torch.inference_mode():
        main()
