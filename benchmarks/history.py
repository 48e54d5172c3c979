"""Trim histories of 100, 1,000 and 10,000 messages to a budget, beside langchain-core's `trim_messages`.

    python benchmarks/history.py            writes benchmarks/history.md, in about two minutes

Both sides use one counter, the whole render of the course model's tokenizer, and have to keep the same messages. The
tokenizer remembers the pieces of prompts that it has tokenised; each measurement begins with none. The peer is no part
of the course's environment: pip install langchain-core==1.8.3
"""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ctxcourse import load_tokenizer
from ctxcourse.history.compressors import Truncation

try:
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages
except ImportError:
    sys.exit("This benchmark needs its peer: pip install langchain-core==1.8.3")

PAGE = Path(__file__).with_suffix(".md")
LENGTHS = (100, 1_000, 10_000)
FIXED = 2_000
ROUNDS = 3


class Watched:
    """The course's tokenizer, with a note of every prompt that it is asked to count."""

    def __init__(self) -> None:
        self.tokenizer = load_tokenizer()
        self.reset()

    def reset(self) -> None:
        self.tokenizer.forget()
        self.calls = self.messages = 0
        self.seconds = 0.0

    def count_text(self, text: str) -> int:
        return self.tokenizer.count_text(text)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self.tokenizer.token_spans(text)

    def count_prompt(self, messages: Sequence[dict[str, Any]], tools: Any = None) -> int:
        self.calls += 1
        self.messages += sum(message["content"] != "" for message in messages)  # not the frame of a single step
        started = time.process_time()
        size = self.tokenizer.count_prompt(messages, tools)
        self.seconds += time.process_time() - started
        return size


def talk(length: int) -> list[dict[str, Any]]:
    """Return a conversation of questions and answers, 20 to 60 tokens a message."""
    messages = []
    for number in range(length):
        role = ("user", "assistant")[number % 2]
        detail = " It was looked at again, and nothing had changed." * (number % 4)
        messages.append({"role": role, "content": f"Note {number}: shard pay-shard-{number % 17} is slow.{detail}"})
    return messages


def ours(messages: list[dict[str, Any]], budget: int, watched: Watched) -> Callable[[], list[str]]:
    return lambda: [message["content"] for message in Truncation(budget).compress(messages, watched).messages]


def langchain(messages: list[dict[str, Any]], budget: int, watched: Watched) -> Callable[[], list[str]]:
    """Its messages are made, and turned back for the counter by a look-up, outside the time that is taken."""
    kinds = {"user": HumanMessage, "assistant": AIMessage}
    theirs = [kinds[message["role"]](message["content"], id=str(at)) for at, message in enumerate(messages)]
    by_id = {str(at): message for at, message in enumerate(messages)}

    def counter(chosen: list[Any]) -> int:
        return watched.count_prompt([by_id[message.id] for message in chosen])

    return lambda: [
        message.content for message in trim_messages(theirs, max_tokens=budget, token_counter=counter, strategy="last")
    ]


def measured(run: Callable[[], list[str]], watched: Watched) -> tuple[list[str], int, int, int, float, float]:
    """Return what was kept, the counter's calls, what it rendered and tokenised, CPU seconds: all, the counter's."""
    taken = []
    for _ in range(ROUNDS):
        watched.reset()
        started = time.process_time()
        kept = run()
        taken.append((time.process_time() - started, watched.seconds))
    total, inside = (statistics.median(column) for column in zip(*taken, strict=True))
    return kept, watched.calls, watched.messages, watched.tokenizer.tokenised, total, inside


def main() -> None:
    watched = Watched()
    watched.count_prompt(talk(10))  # the template is compiled here
    lines = [
        "| messages | budget | kept | side | counter calls | rendered, per message | tokenised, per message "
        "| seconds | in the counter | ratio |",
        "|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|",
    ]
    for length in LENGTHS:
        messages = talk(length)
        for budget in (FIXED, watched.count_prompt(messages) // 2):
            sides = {"ctxcourse": ours, "langchain-core": langchain}
            results = {name: measured(make(messages, budget, watched), watched) for name, make in sides.items()}
            assert results["ctxcourse"][0] == results["langchain-core"][0]
            for name, (kept, calls, rendered, pieces, seconds, inside) in results.items():
                ratio = seconds / results["ctxcourse"][4]
                lines.append(
                    f"| {length:,} | {budget:,} | {len(kept):,} | {name} | {calls:,} | {rendered / length:.2f} "
                    f"| {pieces / length:.2f} "
                    f"| {seconds:.3f} | {inside:.3f} | {ratio:.1f} |"
                )
    print("\n".join(lines))
    PAGE.write_text(page(lines), encoding="utf-8")


def page(lines: list[str]) -> str:
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"""# Trimming a history

Made by `python benchmarks/history.py` on {date.today():%-d %B %Y}: {system},
langchain-core {version("langchain-core")}. Histories of questions and answers are cut to their newest messages, once to
{FIXED:,} tokens and once to half of their size. Both sides count whole renders by the course model's tokenizer,
and both kept exactly the same messages. Seconds are of the processor, medians of {ROUNDS}; the ratio is to ours.

{chr(10).join(lines)}

`Truncation` renders the whole history once, which gives its size before; then single steps from the newest to the
first that does not fit, each behind an empty system message (not counted in the table); then the result once, whole,
to check it against the budget. So a message is rendered once if it goes and three times if it stays, and tokenised
once, whatever the length of the history: the tokenizer remembers what it has tokenised (a few pieces more than
messages are what the template writes around them). That helps the peer as much. `trim_messages` renders the whole
history once and then looks for the cut by bisection, each time with a render of what would be kept: where little is
kept, two renders of everything; where half is, half of log₂(messages).
"""


if __name__ == "__main__":
    main()
