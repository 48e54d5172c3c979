"""The results of the benchmark of prefix reuse as a page of markdown."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

NAMES = {"plain": "a: transformers", "llama": "b: llama-cpp-python", "ours": "c: ours"}


def table(results: dict[str, Any]) -> str:
    """Return the whole page."""
    entries = results["workloads"]
    parts = [
        "# Exact prefix reuse",
        "",
        about(results),
        "",
        *rows(
            ["workload", "calls", "tokens in all prompts", "distinct", *(f"computed by {n}" for n in NAMES.values())],
            [[name, *sizes(entry)] for name, entry in entries.items()],
        ),
        "",
        "Seconds for all calls: the median, and the range over the rounds.",
        "",
        *rows(
            ["workload", *NAMES.values(), "a ÷ c", "b ÷ c"],
            [[name, *(times(entry, side) for side in NAMES), *ratios(entry)] for name, entry in entries.items()],
        ),
        "",
        limits_text(results),
        "",
        *rows(
            ["workload", "limit i", "c ÷ limit i", "limit ii", "c ÷ limit ii", "a ÷ limit ii", "b ÷ limit ii"],
            [[name, *limits(entry, results["peak"]["gflops"])] for name, entry in entries.items()],
        ),
        "",
        "Where the seconds went (the last round; of b, the time to first tokens is its prefill):",
        "",
        *rows(["workload", "side", "profile"], profiles(entries)),
        "",
        *answers(entries),
    ]
    return "\n".join(parts) + "\n"


def about(results: dict[str, Any]) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in results["packages"].items())
    titles = "\n".join(
        f"- `{name}`: {entry['title']}; {new_tokens(entry)} new tokens a call."
        + (f" {sampled(entry)}" if entry["sample"] < entry["calls"] and entry["turns"].get("plain") else "")
        for name, entry in results["workloads"].items()
    )
    orders = [
        f"`{name}` {entry['turns']['llama'][-1]['setting']}"
        for name, entry in results["workloads"].items()
        if entry["turns"].get("llama")
    ]
    peer = ""
    if orders:
        peer = (
            "\n\nllama-cpp-python reads the same GGUF file, 4-bit weights multiplied as integers, so its answers are "
            "not bound to be float32's; those compared are the same where the table says so. "
            "It gets its prompts in the order in which it can reuse most, and the setting that is faster for it: "
            f"{'; '.join(orders)}. Its build: "
            f"{results.get('llama', 'not installed')}."
        )
    others = [turn["others"] for e in results["workloads"].values() for turns in e["turns"].values() for turn in turns]
    quiet = f"Meanwhile other processes used {statistics.median(others):.2f} cores (median; at most {max(others):.2f})."
    return (
        f"Made by `{results['command']}` on {results['date']}: {results['machine']}; {packages}. "
        f"Rounds: {results['rounds']}{plain_rounds(results)}; the sides alternate, a process each, "
        "weights in memory, no prefix known. "
        f"{quiet}\n\n"
        f"{titles}{peer}"
    )


def new_tokens(entry: dict[str, Any]) -> str:
    return f"{'' if entry.get('to_the_limit') else 'at most '}{entry['new_tokens']}"


def plain_rounds(results: dict[str, Any]) -> str:
    """Return in how many rounds plain transformers took part, where that is not all."""
    number = max(len(entry["turns"].get("plain", ())) for entry in results["workloads"].values())
    return f" (plain transformers in {number} of them)" if 0 < number < results["rounds"] else ""


def sampled(entry: dict[str, Any]) -> str:
    return f"Plain transformers answered {entry['sample']} of {entry['calls']}, and its seconds are scaled to all."


def sizes(entry: dict[str, Any]) -> list[str]:
    computed = [f"{turns[-1]['computed']:,}" if (turns := entry["turns"].get(side)) else "" for side in NAMES]
    computed[0] = f"{entry['tokens']:,}"
    return [str(entry["calls"]), f"{entry['tokens']:,}", f"{entry['distinct']:,}", *computed]


def seconds(entry: dict[str, Any], side: str) -> list[float]:
    """Return the seconds of each round for all calls; those of a sample are scaled."""
    scale = entry["calls"] / entry["sample"] if side == "plain" else 1
    return [turn["seconds"] * scale for turn in entry["turns"].get(side, [])]


def median(entry: dict[str, Any], side: str) -> float | None:
    found = seconds(entry, side)
    return statistics.median(found) if found else None


def times(entry: dict[str, Any], side: str) -> str:
    found = seconds(entry, side)
    if not found:
        return ""
    spread = f" ({min(found):.1f}–{max(found):.1f})" if len(found) > 1 else ""
    return f"{statistics.median(found):.1f}{spread}"


def ratio(above: float | None, below: float | None) -> str:
    return f"{above / below:.2f}" if above is not None and below else ""


def ratios(entry: dict[str, Any]) -> list[str]:
    return [ratio(median(entry, side), median(entry, "ours")) for side in ("plain", "llama")]


def limits_text(results: dict[str, Any]) -> str:
    peak, work = results["peak"], results["work"]
    shapes = "; ".join(f"{i} → {o}: {speed:.0f} ({form})" for o, i, speed, form in peak["shapes"])
    return (
        f"The limit is work ÷ {peak['gflops']:.0f} GFLOP/s, the best single-precision product at the shapes of the "
        f"layers, 512 rows, in any of {len(peak['measured'])} measurements of this run ({shapes}; all products of a "
        f"layer, each at its own best: {peak['gflops_of_layers']:.0f}). Limit i counts "
        f"{work['linear'] / 1e9:.3f} GFLOP for each distinct token of the prompts, and nothing else. Limit ii adds "
        f"attention ({work['attention'] / 1e3:.0f} kFLOP for each token seen from a token), the generated tokens, and "
        f"{work['head'] / 1e9:.3f} GFLOP of logits for each of these."
    )


def limits(entry: dict[str, Any], gflops: float) -> list[str]:
    ours = median(entry, "ours")
    first = entry["least_of_prompts"] / gflops / 1e9
    cells = [f"{first:.1f} s", ratio(ours, first)]
    if "least_of_all" not in entry:
        return [*cells, "", "", "", ""]
    second = entry["least_of_all"] / gflops / 1e9
    return [*cells, f"{second:.1f} s", *(ratio(median(entry, side), second) for side in ("ours", "plain", "llama"))]


def profiles(entries: dict[str, Any]) -> list[list[str]]:
    found = []
    for name, entry in entries.items():
        for side in ("llama", "ours"):
            turns = entry["turns"].get(side)
            if turns and turns[-1]["profile"]:
                numbers = [
                    f"{key.replace('_', ' ')} {value:.1f}"
                    if isinstance(value, float)
                    else f"{key.replace('_', ' ')} {value:,}"
                    for key, value in turns[-1]["profile"].items()
                ]
                found.append([name, NAMES[side], "; ".join(numbers)])
    return found


def answers(entries: dict[str, Any]) -> list[str]:
    """Return what was compared with plain transformers' answers, and every difference of ours."""
    lines = ["Answers that are plain transformers' own, token for token, of those that it gave (the worst round):", ""]
    cells = [
        [
            name,
            *(
                f"{min(found)} of {entry['sample']}" if (found := entry["equal"].get(s)) else ""
                for s in ("llama", "ours")
            ),
        ]
        for name, entry in entries.items()
    ]
    lines += rows(["workload", NAMES["llama"], NAMES["ours"]], cells)
    listed = [
        f"- `{name}`, prompt {each['prompt']}, new token {each['new_token']}: the logits are {each['gap']:.2g} apart."
        for name, entry in entries.items()
        for each in entry["differences"]
    ]
    if listed:
        lines += ["", "Where ours differs:", "", *listed]
    memory = [
        f"{NAMES[side]} {max(peaks):.2f} GB"
        for side in NAMES
        if (peaks := [turn["peak_gb"] for entry in entries.values() for turn in entry["turns"].get(side, [])])
    ]
    return [*lines, "", f"Peak memory of each process, over all workloads: {'; '.join(memory)}."]


def rows(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]
