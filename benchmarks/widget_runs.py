"""Press Run in a needle widget, timed from the button to the answer, and ask plain transformers the same prompts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from prefix_sides import Side
from prefix_workloads import Workload

from ctxcourse.model.answers import Completion
from ctxcourse.model.artefacts import DEFAULT_MODEL
from ctxcourse.model.weights import ensure_model
from ctxcourse.needle import NEW_TOKENS
from ctxcourse.widgets import PositionExplorer

GOALS = {8: (3.0, 1.5), 25: (8.0, 5.0)}  # seconds by records: cold, and after a move of the needle, wherever to
TRIALS = 5
PATIENCE = 600  # seconds for one Run


@dataclass
class Run:
    """The same Run for several trials: seconds from the button to the answer, and of plain transformers' answer.

    ``computed`` are the tokens of each prompt that were computed; ``different`` counts answers that are not plain
    transformers' own, token for token.
    """

    records: int
    what: str
    goal: float
    seconds: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    computed: list[int] = field(default_factory=list)
    different: int = 0


def press_run(run: Run, explorer: PositionExplorer) -> Completion:
    started = time.perf_counter()
    explorer.runner.run_button.click()
    ended = explorer.runner.wait(PATIENCE)
    run.seconds.append(time.perf_counter() - started)
    if not ended or explorer.runner.error:
        raise SystemExit(f"A Run at {run.records} records did not end well: {explorer.runner.error}")
    done = explorer.live[explorer.point, explorer.trial.value].completion
    assert not done.remembered
    run.tokens.append(done.prompt_tokens)
    run.computed.append(done.computed_tokens)
    return done


def live_runs(model: Any) -> list[Run]:
    """Run each trial with nothing computed before, then with the needle further down, then at the first line.

    After the three of a trial plain transformers, in a process of its own, answers the same prompts.
    """
    ends = {model.tokenizer.control_tokens[name] for name in ("<|im_end|>", "<|endoftext|>")}
    plain = Side("plain", str(ensure_model(DEFAULT_MODEL).path), ends)
    _ = model.network  # the weights are in memory, as after a reader's first Run
    model.complete("Warm up.", max_new_tokens=2)
    runs = []
    for records, (cold, after) in GOALS.items():
        explorer = PositionExplorer(model, records=records)
        three = (
            (Run(records, "cold, needle at depth 1/2", cold), 0.5),
            (Run(records, "then at 3/4", after), 0.75),
            (Run(records, "then at 0, before all others", after), 0.0),
        )
        for trial in range(TRIALS):
            explorer.trial.value = trial
            model.forget()
            answered = []
            for run, depth in three:
                explorer.depth.value = depth
                done = press_run(run, explorer)
                answered.append((run, tuple(model.encode_prompt(explorer.call.messages())), list(done.new_ids)))
            for run, prompt, answer in answered:
                turn = plain.answer(Workload("run", "", (prompt,), NEW_TOKENS, False, (0,)))
                run.plain.append(turn.seconds)
                run.different += turn.answers != [answer]
        runs += [run for run, _ in three]
    plain.close()
    return runs
