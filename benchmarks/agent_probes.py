"""Ask all probes of all memory policies by exact prefix reuse, and a sample of them by one plain `generate` each.

    python benchmarks/agent_probes.py       writes benchmarks/agent_probes.md, in about a quarter of an hour

The completion store is left alone: every answer is computed, those of the summariser and of the note-taker too. The
plain side is transformers' own `generate` on a network of its own; it answers one probe of each policy, drawn at
random, and its time is taken times the number of that policy's probes. The answers have to be the same.
"""

from __future__ import annotations

import platform
import random
import tempfile
import time
from collections.abc import Collection, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from ctxcourse import load_model
from ctxcourse.agent.comparison import compared_policies
from ctxcourse.agent.probe_table import NEW_TOKENS, Probe, answered, not_begun_as, probes
from ctxcourse.agent.scenario import shipped_run
from ctxcourse.model.completions import CompletionStore
from ctxcourse.model.openings import begin_suppress_tokens
from ctxcourse.model.qwen import Model

PAGE = Path(__file__).with_suffix(".md")
Row = tuple[str, int, int, float, bool]


def plainly(network: Any, ids: Sequence[int], ends: Sequence[int], refused: Collection[int]) -> tuple[list[int], float]:
    """Return the new tokens of one plain `generate`, without the one that ends them, and its seconds."""
    started = time.perf_counter()
    with torch.inference_mode():
        out = network.generate(
            torch.tensor([list(ids)]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            do_sample=False,
            repetition_penalty=1.0,
            max_new_tokens=NEW_TOKENS,
            eos_token_id=list(ends),
            begin_suppress_tokens=sorted(refused),
        )
    new = out[0, len(ids) :].tolist()
    return (new[:-1] if new[-1] in ends else new), time.perf_counter() - started


def ours(model: Model) -> tuple[list[Probe], list[Any], float, float]:
    """Return all probes, their completions, and the seconds for making the prompts and for answering them."""
    run = shipped_run()
    model.complete("Hello", max_new_tokens=1)  # the weights are read before the clock starts
    started = time.perf_counter()
    asked = probes(compared_policies(model, run), run.messages, model)
    made = time.perf_counter()
    completions = answered(asked, run.messages, run.tools, model)
    return asked, completions, made - started, time.perf_counter() - made


def plain_sample(model: Model, asked: list[Probe], completions: list[Any]) -> list[Row]:
    """Return for each policy: its name, its probes, the sampled prompt's tokens, plain seconds, whether it agrees."""
    network = AutoModelForCausalLM.from_pretrained(model.folder.path, dtype=torch.float32).eval()
    ends, draw, tools = sorted(model.engine.ends), random.Random(8), shipped_run().tools
    rules = [
        begin_suppress_tokens(model.tokenizer, network.config.vocab_size, "none", texts)
        for texts in not_begun_as(asked, shipped_run().messages)
    ]
    plainly(network, model.encode_prompt([{"role": "user", "content": "Hello"}]), ends, rules[0])
    rows = []
    for policy in dict.fromkeys(probe.policy for probe in asked):
        places = [place for place, probe in enumerate(asked) if probe.policy == policy]
        place = draw.choice(places)
        ids = model.encode_prompt(asked[place].kept.messages, tools)
        new, seconds = plainly(network, ids, ends, rules[place])
        rows.append((policy, len(places), len(ids), seconds, new == list(completions[place].new_ids)))
        print(f"{policy}: {len(ids):,} tokens, {seconds:.1f} s, {'the same' if rows[-1][4] else 'ANOTHER answer'}")
    return rows


def main() -> None:
    model = load_model()
    with tempfile.TemporaryDirectory() as folder:
        model.store = CompletionStore(Path(folder) / "completions.sqlite3")
        asked, completions, making, answering = ours(model)
        model.store.close()
    print(f"{len(asked)} probes: prompts made in {making:.1f} s, answered in {answering:.1f} s")
    model.forget()
    rows = plain_sample(model, asked, completions)
    PAGE.write_text(page(rows, completions, making, answering), encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"))


def page(rows: list[Row], completions: list[Any], making: float, answering: float) -> str:
    plain = sum(number * seconds for _, number, _, seconds, _ in rows)
    tokens, computed = (
        sum(getattr(each, name) for each in completions) for name in ("prompt_tokens", "computed_tokens")
    )
    lines = [
        f"| {policy} | {number} | {size:,} | {seconds:.1f} | {number * seconds:,.0f} | {'yes' if same else 'no'} |"
        for policy, number, size, seconds, same in rows
    ]
    system = f"{platform.system()} {platform.machine()}, {torch.get_num_threads()} threads, Python"
    versions = f"{platform.python_version()}, torch {version('torch')}, transformers {version('transformers')}"
    return f"""# The probes of all policies

Made by `python benchmarks/agent_probes.py` on {date.today():%-d %B %Y}: {system} {versions}.
{len(completions)} probes of the recorded forty turns, {NEW_TOKENS} new tokens at most.

| | seconds |
|---|---:|
| making the prompts: the recording under every policy, with the calls of summariser and note-taker | {making:.1f} |
| answering all probes by exact prefix reuse: {computed:,} of {tokens:,} tokens computed | {answering:.1f} |
| together | {making + answering:.1f} |
| one plain `generate` for each probe, scaled from the sample below | {plain:,.0f} |
| **ratio: plain to answering** | **{plain / answering:.1f}** |
| ratio with the making of the prompts, which both sides need | {(plain + making) / (making + answering):.1f} |

| policy | probes | tokens of the sampled prompt | plain seconds | times its probes | same answer |
|---|---:|---:|---:|---:|---|
{chr(10).join(lines)}
"""


if __name__ == "__main__":
    main()
