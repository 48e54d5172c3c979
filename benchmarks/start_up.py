"""Measure what a newcomer waits for, and write the table `benchmarks/start_up.md`.

    python benchmarks/start_up.py          everything, in about eight minutes, most of them installing and converting
    python benchmarks/start_up.py --warm   without the cold start

Each figure stands beside its peer from the same run: the same model answering the same question by plain transformers,
which reads the GGUF file at every start. Times are of one machine under whatever load it has; compare within a run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "benchmarks" / "start_up.md"
QUESTION = "Name the capital of France."

OURS = f"""
from ctxcourse import load_model
print(load_model().complete({QUESTION!r}, max_new_tokens=12).text)
"""
PLAIN = f"""
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
folder, name = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
prompt = tokenizer.apply_chat_template(
    [{{"role": "user", "content": {QUESTION!r}}}], add_generation_prompt=True, return_dict=True, return_tensors="pt"
)
answer = model.generate(**prompt, do_sample=False, max_new_tokens=12)
print(tokenizer.decode(answer[0, prompt["input_ids"].shape[1]:], skip_special_tokens=True))
"""
LOADING = """
import time
from ctxcourse import load_model
model = load_model()
import torch, transformers
from transformers import AutoModelForCausalLM
started = time.perf_counter()
model.network
print(time.perf_counter() - started)
"""


def timed(command: list[str], **more: object) -> tuple[float, float, str]:
    """Run a command and return its seconds, its peak memory in GB (10^9 bytes) and what it printed."""
    with tempfile.NamedTemporaryFile("r") as report:
        wrapped = [sys.executable, str(Path(__file__)), "--measure", report.name, *command]
        done = subprocess.run(wrapped, stdout=subprocess.PIPE, text=True, check=True, **more)  # type: ignore[call-overload]
        seconds, peak = json.loads(report.read())
    return seconds, peak, done.stdout.strip()


def measure(report: str, command: list[str]) -> None:
    """In a process of its own, so that the peak memory is that of one command alone."""
    import resource

    started = time.perf_counter()
    done = subprocess.run(command)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    Path(report).write_text(json.dumps([seconds, peak]))
    sys.exit(done.returncode)


def median(command: list[str], runs: int = 5) -> float:
    return statistics.median(timed(command)[0] for _ in range(runs))


def cold() -> list[tuple[str, str, str, str]]:
    """Clone the committed state into a new folder with nothing cached, and go on to the first answer."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        environment = {**os.environ, "CTXCOURSE_HOME": f"{folder}/home", "PIP_NO_CACHE_DIR": "1"}
        shell = ["sh", "-c"]
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        make = "make environment >&2"
        seconds, _, _ = timed([*shell, make], cwd=clone, env=environment)
        rows.append(("clone to installed packages, cold", f"{seconds:.0f} s", "", "`make environment`"))
        fetched, peak, _ = timed([*shell, "make setup >&2"], cwd=clone, env=environment)
        rows.append(("model fetched, checked and converted", f"{fetched:.0f} s", "", "`make setup`"))
        rows.append(("peak memory of the conversion", f"{peak:.1f} GB", "", "the same"))
        asked, _, text = timed([*shell, f".venv/bin/ctxcourse ask '{QUESTION}'"], cwd=clone, env=environment)
        assert "Paris" in text
        total = seconds + fetched + asked
        rows.append(("clone to first answer, cold", f"{total:.0f} s", "", "the three together"))
        again, _, _ = timed(
            [*shell, f"make setup >&2 && .venv/bin/ctxcourse ask '{QUESTION}'"], cwd=clone, env=environment
        )
        rows.append(("the same, warm", f"{again:.1f} s", "", "`make setup`, `ctxcourse ask`"))
    return rows


def warm() -> list[tuple[str, str, str, str]]:
    from ctxcourse.home import cache_home
    from ctxcourse.model.artefacts import DEFAULT_MODEL, KNOWN
    from ctxcourse.model.fetch import fetch_file

    python = [sys.executable, "-c"]
    start = median([*python, "pass"])
    imports = {name: median([*python, f"import {name}"]) - start for name in ("ctxcourse", "transformers")}
    gguf, _ = fetch_file(KNOWN[DEFAULT_MODEL], cache_home() / "downloads")
    loads = statistics.median(float(timed([*python, LOADING])[2]) for _ in range(3))
    ours = timed([*python, OURS])
    plain = timed([*python, PLAIN, str(gguf.parent), gguf.name])
    assert ours[2] == plain[2], (ours[2], plain[2])
    return [
        (
            "import",
            f"{imports['ctxcourse']:.3f} s",
            f"{imports['transformers']:.2f} s",
            "`import ctxcourse`; `import transformers`",
        ),
        ("weights from the disk", f"{loads:.1f} s", "", "`load_model().network`, torch already imported"),
        ("process to first answer", f"{ours[0]:.1f} s", f"{plain[0]:.1f} s", "the same question, the same answer"),
        ("peak memory of that process", f"{ours[1]:.2f} GB", f"{plain[1]:.2f} GB", "the same"),
    ]


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], sys.argv[3:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--warm", action="store_true", help="leave the cold start out")
    options = parser.parse_args()
    rows = ([] if options.warm else cold()) + warm()
    lines = ["| what | ours | plain transformers on the GGUF | how |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    print("\n".join(lines))
    if not options.warm:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
        system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
        about = (
            f"# Starting up\n\nMade by `python benchmarks/start_up.py` on {date.today():%-d %B %Y}: "
            f"{os.cpu_count()} cores, "
            f"{memory:.0f} GB, {system}.\nMedians of five (imports) or three (weights) runs, else single runs.\n\n"
        )
        TABLE.write_text(about + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
