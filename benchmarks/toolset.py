"""Measure the selection of tools within a budget, and write the table `benchmarks/toolset.md`.

    python benchmarks/toolset.py

The peer follows the same rule without knowing what a tool costs: it renders the whole prompt at every step. Both get
the same scores, and every row ends only if both chose the same tools. Times are of the processor, one thread, so that
they mean something on a machine that others use, too.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from ctxcourse import load_tokenizer
from ctxcourse.retrieval.ordering import best_first
from ctxcourse.tools.catalogues import catalogue
from ctxcourse.tools.toolset import Toolset

PAGE = Path(__file__).with_suffix(".md")
ROWS = [(50, 2_000), (200, 2_000), (1_000, 500), (1_000, 2_000), (1_000, 8_000)]
QUERY = "Since when do the logs of the payments team show timeouts, and was anything deployed shortly before?"
MESSAGES = [{"role": "user", "content": QUERY}]
TEAMS = [
    *("payments", "orders", "search", "checkout", "inventory", "shipping", "billing", "identity", "catalogue"),
    *(
        "pricing",
        "returns",
        "loyalty",
        "mail",
        "reviews",
        "fraud",
        "storage",
        "network",
        "mobile",
        "analytics",
        "support",
    ),
]
TURNS = 5


def many_tools(number: int) -> list[dict[str, Any]]:
    """The course's fifty tools, once for every team: no two schemas are alike."""
    tools = []
    for team in TEAMS:
        for tool in catalogue(50):
            function = tool["function"]
            function["name"] += f"_{team}"
            function["description"] += f" Only for what the {team} team runs."
            tools.append(tool)
    return tools[:number]


def measured(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the milliseconds of processor time that the work took, and what it returned."""
    started = time.process_time()
    returned = work()
    return 1000 * (time.process_time() - started), returned


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    return min((measured(work) for _ in range(TURNS)), key=lambda pair: pair[0])


def render_every_step(tools: Sequence[Any], scores: Sequence[float], budget: int, counter: Any) -> list[str]:
    """From the best tool down: render what is chosen with the next tool, and keep it if that fits."""
    nothing, kept = counter.count_prompt(MESSAGES), []
    for index in best_first(scores):
        if counter.count_prompt(MESSAGES, [*kept, tools[index]]) - nothing <= budget:
            kept.append(tools[index])
    return [tool["function"]["name"] for tool in kept]


def row(number: int, budget: int, counter: Any) -> str:
    tools = many_tools(number)
    toolset = Toolset(tools)
    first_scores, scores = measured(lambda: toolset.scores(QUERY))
    first_fit, _ = measured(lambda: toolset.fit(scores, budget, counter, messages=MESSAGES))
    scoring, _ = least(lambda: toolset.scores(QUERY))
    fitting, chosen = least(lambda: toolset.fit(scores, budget, counter, messages=MESSAGES))
    rendering, size = least(lambda: counter.count_prompt(MESSAGES, chosen.tools))
    every_step, names = measured(lambda: render_every_step(tools, list(scores.values()), budget, counter))
    assert names == chosen.names
    assert chosen.tokens == size - counter.count_prompt(MESSAGES) <= budget
    cells = [
        *(f"{number:,}", f"{budget:,}", f"{len(names)} for {chosen.tokens:,}", f"{scoring:.2f} ms"),
        *(f"{fitting:.1f} ms", f"{rendering:.1f} ms", f"{every_step / 1000:.1f} s"),
        *(f"{every_step / (scoring + fitting):,.0f}", f"{first_scores:.0f} ms", f"{first_fit / 1000:.2f} s"),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, print and write."""
    counter = load_tokenizer()
    counter.count_prompt(MESSAGES, catalogue(5).tools)  # compiles the template
    catalogue(5).scores(QUERY)  # imports bm25s
    head = ["tools", "budget", "chosen", "scores", "fit", "one render", "render every step", "times as long"]
    head += ["first scores", "first fit"]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    print(*lines, sep="\n", flush=True)
    for number, budget in ROWS:
        lines.append(row(number, budget, counter))
        print(lines[-1], flush=True)
    table = "\n".join(lines)
    page = f"""# Selecting tools within a budget

Made by `python benchmarks/toolset.py` on {date.today():%-d %B %Y}: {platform.system()} {platform.machine()}, Python
{platform.python_version()}. Times are of the processor, one thread: the best of {TURNS} turns; the peer and the first
calls are timed once.

*Scores* holds one query against every tool by BM25; *fit* selects within a budget of rendered tokens. The two together
are what an agent pays at every call. *Render every step* is the peer: the same rule and the same scores, with the whole
prompt rendered at every step. It chose the same tools in every row.

{table}

*Fit* is hardly more than *one render* of the prompt with what was chosen, by which the sum is checked, so that it grows
with the budget and little with the catalogue. *First scores* gathers the words of all tools. *First fit* measures what
each tool costs, with one render a tool; that is done once for a schema and a counter, and a `ToolCosts` hands it from
one toolset to the next.
"""
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
