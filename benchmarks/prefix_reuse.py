"""Measure exact prefix reuse beside its peers, and write `benchmarks/prefix_reuse.md` and `.json`.

    python benchmarks/prefix_reuse.py                      everything, three rounds: over an hour, most of it plain
    python benchmarks/prefix_reuse.py --plain-rounds 1     plain transformers in the first round only
    python benchmarks/prefix_reuse.py --only rows,depths --sides ours,plain --output /tmp/some
    python benchmarks/prefix_reuse.py --to-the-limit --only growing60 --rounds 1 --sides plain,ours \\
        --output benchmarks/prefix_reuse_to_the_limit      answers of 60 tokens, where the model would end sooner
    python benchmarks/prefix_reuse.py --quick              three short prompts of each, once: does it all still run?

In each round the sides take turns, each in a process of its own, so that all see the same machine; between them the
peak of the machine is measured again. An answer of ours that is not plain transformers' own is listed; it is an error,
and the exit status 1, unless the logits of the two tokens lie within 0.001 of each other. Install `pip install -e
.[bench]` first: it compiles llama-cpp-python for this very CPU, in about eight minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from prefix_limit import Peak, Work, distinct_tokens, shared
from prefix_sides import Side, Turn
from prefix_table import table
from prefix_workloads import WORKLOADS, Workload, make_workloads

from ctxcourse import load_tokenizer
from ctxcourse.home import cache_home
from ctxcourse.model.artefacts import DEFAULT_MODEL, KNOWN
from ctxcourse.model.fetch import fetch_file
from ctxcourse.model.weights import ensure_model

RESULTS = Path(__file__).with_name("prefix_reuse")
SIDES = ("plain", "llama", "ours")
NEAR_TIE = 1e-3


def start(names: list[str], workloads: dict[str, Workload], ends: set[int]) -> dict[str, Side]:
    """Start the processes of the sides; each reads its weights before the next one starts."""
    folder = str(ensure_model(DEFAULT_MODEL).path)
    longest = max(len(ids) + each.new_tokens for each in workloads.values() for ids in each.prompts)
    about: dict[str, tuple[Any, ...]] = {"plain": (folder, ends), "ours": (DEFAULT_MODEL,)}
    if "llama" in names:
        gguf, _ = fetch_file(KNOWN[DEFAULT_MODEL], cache_home() / "downloads")
        threads = psutil.cpu_count(logical=False) or os.cpu_count() or 1
        about["llama"] = (str(gguf), ends, -(-(longest + 1) // 256) * 256, threads)
    return {name: Side(name, *about[name]) for name in names}


def differences(workload: Workload, mine: Turn, theirs: Turn, plain: Side, ends: set[int]) -> list[dict[str, Any]]:
    """Return where our answers are not plain transformers' own, with the gap of the logits at the first other token."""
    found = []
    for number, expected in zip(workload.sample, theirs.answers, strict=True):
        answer = mine.answers[number]
        if answer == expected:
            continue
        at = shared(answer, expected)
        read = [*workload.prompts[number], *expected[:at]]
        gap = plain.gap(read, answer[at : at + 1] or sorted(ends))
        found.append({"prompt": number, "new_token": at, "gap": gap, "ours": answer, "plain": expected})
    return found


def header(work: Work) -> dict[str, Any]:
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    packages = {name: version(name) for name in ("torch", "transformers", "ctxcourse")}
    about = {
        "date": f"{date.today():%-d %B %Y}",
        "command": " ".join(["python benchmarks/prefix_reuse.py", *sys.argv[1:]]),
        "machine": f"{psutil.cpu_count(logical=False)} cores, {psutil.virtual_memory().total / 1e9:.0f} GB, {system}",
        "packages": packages,
        "work": {"linear": work.linear, "head": work.head, "attention": work.attention},
    }
    try:
        from llama_cpp import llama_print_system_info
    except ImportError:
        return about
    packages["llama-cpp-python"] = version("llama-cpp-python")
    return {**about, "llama": llama_print_system_info().decode().strip(" |")}


def run(options: argparse.Namespace, save: Any) -> dict[str, Any]:
    tokenizer = load_tokenizer(DEFAULT_MODEL)
    ends = {tokenizer.control_tokens[name] for name in ("<|im_end|>", "<|endoftext|>")}
    made = make_workloads(tokenizer, options.quick)
    workloads = {name: replace(made[name], to_the_limit=options.to_the_limit) for name in options.only}
    from transformers import AutoConfig

    folder = ensure_model(DEFAULT_MODEL).path
    work = Work.of(folder, AutoConfig.from_pretrained(folder))
    peak = Peak(work.shapes)
    sides = start(options.sides, workloads, ends)
    results: dict[str, Any] = {**header(work), "workloads": {}}
    for name, workload in workloads.items():
        results["workloads"][name] = {
            "title": workload.title,
            "calls": len(workload.prompts),
            "sample": len(workload.sample),
            "new_tokens": workload.new_tokens,
            "to_the_limit": workload.to_the_limit,
            "tokens": workload.tokens,
            "distinct": distinct_tokens(workload.prompts),
            "least_of_prompts": work.of_prompts(workload.prompts),
            "turns": {side: [] for side in sides},
            "equal": {},
            "differences": [],
        }
    for round_ in range(options.rounds):
        for name, workload in workloads.items():
            entry, turns = results["workloads"][name], {}
            for side, process in sides.items():
                if side == "plain" and round_ >= options.plain_rounds:
                    continue
                peak.measure()
                turn = turns[side] = process.answer(workload)
                kept = {key: value for key, value in asdict(turn).items() if key != "answers"}
                entry["turns"][side].append({**kept, "computed": sum(turn.computed)})
                print(f"round {round_ + 1}, {name}, {side}: {turn.seconds:.2f} s", file=sys.stderr, flush=True)
            compare(entry, workload, turns, sides, ends)
            answered = next((turns[side] for side in ("ours", "llama") if side in turns), None)
            if answered:  # ours, or the peer's, whose answers are as long
                entry["least_of_all"] = work.of_answers(workload.prompts, answered.answers)
            results["rounds"] = round_ + 1
            results["peak"] = {
                "gflops": peak.gflops,
                "gflops_of_layers": peak.gflops_of_layers,
                "measured": peak.measured,
                "shapes": [[*shape, speed, form] for shape, (speed, form) in peak.best.items()],
            }
            save(results)
    for process in sides.values():
        process.close()
    return results


def compare(
    entry: dict[str, Any], workload: Workload, turns: dict[str, Turn], sides: dict[str, Side], ends: set[int]
) -> None:
    """Record how many answers are plain transformers' own, and list those of ours that are not."""
    theirs = turns.get("plain")
    if theirs is None:
        return
    for side in turns.keys() & {"llama", "ours"}:
        pairs = zip(workload.sample, theirs.answers, strict=True)
        entry["equal"].setdefault(side, []).append(sum(turns[side].answers[i] == answer for i, answer in pairs))
    if "ours" in turns:
        for each in differences(workload, turns["ours"], theirs, sides["plain"], ends):
            if each not in entry["differences"]:
                entry["differences"].append(each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain-rounds", type=int, help="rounds in which plain transformers takes part (default: all)")
    parser.add_argument("--only", default=",".join(WORKLOADS), help=f"some of {','.join(WORKLOADS)}")
    parser.add_argument("--sides", default=",".join(SIDES), help=f"some of {','.join(SIDES)}")
    parser.add_argument("--to-the-limit", action="store_true", help="no answer ends before its last new token")
    parser.add_argument("--quick", action="store_true", help="three short prompts of each workload, one round")
    parser.add_argument("--output", type=Path, help="write the table and the results beside this name")
    options = parser.parse_args()
    options.only, options.sides = chosen(parser, options.only, WORKLOADS), chosen(parser, options.sides, SIDES)
    options.rounds = 1 if options.quick else options.rounds
    options.plain_rounds = options.rounds if options.plain_rounds is None else options.plain_rounds
    other = options.quick or options.to_the_limit
    complete = options.only == list(WORKLOADS) and options.sides == list(SIDES) and not other
    output = options.output or (RESULTS if complete else None)

    def save(results: dict[str, Any]) -> None:
        if output:
            output.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
            output.with_suffix(".md").write_text(table(results), encoding="utf-8")

    results = run(options, save)
    print(table(results))
    errors = [
        f"ERROR: {name}, prompt {each['prompt']}, new token {each['new_token']}: {each['gap']:.4f} below the best logit"
        for name, entry in results["workloads"].items()
        for each in entry["differences"]
        if each["gap"] > NEAR_TIE
    ]
    if errors:
        sys.exit("\n".join(errors))


def chosen(parser: argparse.ArgumentParser, text: str, known: tuple[str, ...]) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            parser.error(f"{name!r} is none of {', '.join(known)}")
    return [name for name in known if name in names]


if __name__ == "__main__":
    main()
