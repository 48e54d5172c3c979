"""Say where the seconds of one needle at nine depths go, operator by operator; write `benchmarks/prefix_profile.md`.

    python benchmarks/prefix_profile.py            in about two minutes

The workload is `depths` of `prefix_reuse.py`. It runs once without a profiler, and once with torch's, whose own cost is
shown by the difference; the shares are of the second.
"""

from __future__ import annotations

import os
import platform
import time
from datetime import date
from pathlib import Path

import torch
from prefix_limit import distinct_tokens
from prefix_workloads import make_workloads

from ctxcourse import load_model
from ctxcourse.model.artefacts import DEFAULT_MODEL

PAGE = Path(__file__).with_suffix(".md")
KINDS = {
    "products of the linear layers": ("mkldnn::_linear_pointwise", "aten::addmm", "aten::mm"),
    "attention": ("aten::_scaled_dot_product_flash_attention_for_cpu", "aten::bmm", "aten::baddbmm", "aten::exp_"),
    "copies, into the memory of keys and values among them": ("aten::copy_", "aten::cat", "aten::index_select"),
}
OTHERS = "element by element: activations, norms, rotations, sums"
LEAST = 0.005


def main() -> None:
    model = load_model(DEFAULT_MODEL)
    workload = make_workloads(model.tokenizer)["depths"]
    prompts = [list(ids) for ids in workload.prompts]

    def seconds() -> float:
        model.forget()
        started = time.perf_counter()
        model.complete_many(prompts, workload.new_tokens, remember=False, progress=False)
        return time.perf_counter() - started

    model.complete_many(prompts[:1], 2, remember=False, progress=False)
    alone = seconds()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        watched = seconds()
    found = {event.key: event.self_cpu_time_total / 1e6 for event in profile.key_averages()}
    total = sum(found.values())
    kind_of = {name: kind for kind, names in KINDS.items() for name in names}
    kinds = dict.fromkeys([*KINDS, OTHERS], 0.0)
    for name, spent in found.items():
        kinds[kind_of.get(name, OTHERS)] += spent
    lines = ["| what | seconds | share |", "|---|---|---|"]
    lines += [f"| {kind} | {spent:.2f} | {spent / total:.0%} |" for kind, spent in kinds.items()]
    lines += ["", "| operator | seconds | share |", "|---|---|---|"]
    largest = sorted(found.items(), key=lambda pair: -pair[1])
    lines += [f"| `{name}` | {spent:.2f} | {spent / total:.1%} |" for name, spent in largest if spent > LEAST * total]
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    PAGE.write_text(
        f"# Where the seconds of `depths` go\n\nMade by `python benchmarks/prefix_profile.py` on "
        f"{date.today():%-d %B %Y}: {system}, torch {torch.__version__}.\n{len(prompts)} prompts, "
        f"{distinct_tokens(workload.prompts):,} distinct tokens: {alone:.1f} s without the profiler, {watched:.1f} s "
        f"with it, of which {total:.1f} s are in torch's operators\n(by the thread that calls them).\n\n"
        + "\n".join(lines)
        + "\n",
        encoding="utf-8",
    )
    print(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
