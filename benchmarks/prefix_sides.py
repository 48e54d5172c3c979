"""The three that are compared, each in a process of its own that waits while another computes.

Plain transformers, llama-cpp-python with its own reuse of the last prompt's prefix, and this package. A process loads
its weights and answers one short prompt before it is timed; every turn begins with no prefix in memory.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import psutil
from prefix_limit import computed_in_order
from prefix_workloads import Workload

Answer = Callable[[Workload], "Turn"]
WARM_UP = Workload("warm-up", "", (tuple(range(1_000, 1_064)),), 2, True, (0,))
LONG_ANSWER = 32
"""New tokens from which llama.cpp is faster without flash attention: measured at 6,000 tokens, 9 % slower at reading a
prompt and 20 % faster at each new token. Its batches of 512 tokens are the fastest of 128, 256, 512 and 2,048."""


@dataclass
class Turn:
    """One side's answers to one workload, once: lists run over the prompts that it answered, in their given order."""

    seconds: float = 0.0
    answers: list[list[int]] = field(default_factory=list)  # token ids without the end marker
    computed: list[int] = field(default_factory=list)  # tokens of the prompts that were computed, and not reused
    profile: dict[str, float] = field(default_factory=dict)
    setting: str = ""
    peak_gb: float = 0.0  # memory of the process since its start, 10^9 bytes
    others: float = 0.0  # cores that other processes (and the machine's host) used meanwhile


class Side:
    """A process that answers workloads when it is asked to."""

    def __init__(self, name: str, *about: Any):
        context = multiprocessing.get_context("spawn")
        self.name = name
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name, *about), daemon=True)
        self._process.start()
        theirs.close()
        self._receive()

    def answer(self, workload: Workload) -> Turn:
        self._line.send(("answer", (workload,)))
        turn: Turn = self._receive()
        return turn

    def gap(self, ids: Sequence[int], tokens: Sequence[int]) -> float:
        """Return by how much the best of ``tokens`` lies below the best logit after ``ids`` (plain side only)."""
        self._line.send(("gap", (ids, tokens)))
        gap: float = self._receive()
        return gap

    def close(self) -> None:
        self._line.close()
        self._process.join()

    def _receive(self) -> Any:
        try:
            return self._line.recv()
        except EOFError:
            raise SystemExit(f"The process of {self.name} ended; what it wrote last says why.") from None


def serve(line: Connection, name: str, *about: Any) -> None:
    """Answer requests until the other end of the line is closed."""
    work = {"plain": plain, "llama": llama, "ours": ours}[name](*about)
    work["answer"](WARM_UP)
    line.send("ready")
    while True:
        try:
            method, arguments = line.recv()
        except EOFError:
            return
        started, others = time.perf_counter(), seconds_of_others()
        result = work[method](*arguments)
        if isinstance(result, Turn):
            unit = 1 if sys.platform == "darwin" else 1024
            result.peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
            result.others = (seconds_of_others() - others) / (time.perf_counter() - started)
        line.send(result)


def seconds_of_others() -> float:
    """Return the processor seconds since the machine's start that were neither idle nor this process's."""
    machine = psutil.cpu_times()
    return sum(machine[:8]) - machine.idle - getattr(machine, "iowait", 0.0) - time.process_time()


def plain(folder: str, ends: set[int]) -> dict[str, Callable[..., Any]]:
    """One untouched ``generate`` per prompt."""
    import torch
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)

    def answer(workload: Workload) -> Turn:
        turn = Turn()
        started = time.perf_counter()
        for number in workload.sample:
            ids = torch.tensor([workload.prompts[number]])
            given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            network.generation_config.eos_token_id = None if workload.to_the_limit else sorted(ends)
            found = network.generate(
                **given, do_sample=False, repetition_penalty=1.0, max_new_tokens=workload.new_tokens
            )
            new = found[0, ids.shape[1] :].tolist()
            ended = () if workload.to_the_limit else ends
            turn.answers.append(new[: next((i for i, token in enumerate(new) if token in ended), len(new))])
            turn.computed.append(ids.shape[1])
        turn.seconds = time.perf_counter() - started
        return turn

    def gap(ids: Sequence[int], tokens: Sequence[int]) -> float:
        with torch.inference_mode():
            logits = network(input_ids=torch.tensor([ids]), logits_to_keep=1).logits[0, -1]
        return float(logits.max() - logits[list(tokens)].max())

    return {"answer": answer, "gap": gap}


def llama(gguf: str, ends: set[int], window: int, threads: int) -> dict[str, Callable[..., Any]]:
    """llama.cpp on the file as published; it reuses what a prompt shares with the one before."""
    from llama_cpp import Llama

    class Counting(Llama):
        """Notes how many tokens each forward pass is given."""

        passes: list[int]

        def eval(self, tokens: Sequence[int]) -> None:
            self.passes.append(len(tokens))
            super().eval(tokens)

    loaded: dict[bool, Any] = {}

    def load(flash: bool) -> Any:
        """Return the model with a setting, ready to be timed; the one with the other setting is dropped."""
        if flash not in loaded:
            loaded.clear()
            model = loaded[flash] = Counting(
                gguf, n_ctx=window, n_threads=threads, n_threads_batch=threads, flash_attn=flash, verbose=False
            )
            model.passes = []
            next(model.generate(list(WARM_UP.prompts[0]), temp=0.0))
        loaded[flash].reset()
        return loaded[flash]

    def answer(workload: Workload) -> Turn:
        flash = workload.new_tokens < LONG_ANSWER
        model = load(flash)
        turn, found = Turn(setting=f"as given, {'with' if flash else 'without'} flash attention"), {}
        numbers = list(range(len(workload.prompts)))
        ordered = sorted(numbers, key=lambda number: workload.prompts[number])
        reuse = [computed_in_order([workload.prompts[number] for number in order]) for order in (numbers, ordered)]
        if workload.together and reuse[1] < reuse[0]:
            numbers, turn.setting = ordered, turn.setting.replace("as given", "sorted by token ids")
        first = 0.0
        started = time.perf_counter()
        for number in numbers:
            model.passes = []
            new: list[int] = []
            before = time.perf_counter()
            for token in model.generate(list(workload.prompts[number]), temp=0.0, repeat_penalty=1.0):
                if not new:
                    first += time.perf_counter() - before
                if token in ends and not workload.to_the_limit:
                    break
                new.append(token)
                if len(new) == workload.new_tokens:
                    break
            found[number] = (new, model.passes[0])
        turn.seconds = time.perf_counter() - started
        turn.answers, turn.computed = (list(each) for each in zip(*(found[n] for n in sorted(found)), strict=True))
        turn.profile = {"prefill_seconds": first, "decode_seconds": turn.seconds - first}
        return turn

    return {"answer": answer}


def ours(name: str) -> dict[str, Callable[..., Any]]:
    """This package: all prompts at once where all are known, else one call after another."""
    from ctxcourse import load_model

    model = load_model(name)
    ends = set(model.engine.ends)

    def answer(workload: Workload) -> Turn:
        turn = Turn()
        model.engine.ends = set() if workload.to_the_limit else ends
        prompts, new_tokens = list(map(list, workload.prompts)), workload.new_tokens
        model.forget()
        for batch in [prompts] if workload.together else [[ids] for ids in prompts]:
            started = time.perf_counter()
            found = model.complete_many(batch, new_tokens, remember=False, progress=False)
            turn.seconds += time.perf_counter() - started
            turn.answers += [list(completion.new_ids) for completion in found]
            turn.computed += [completion.computed_tokens for completion in found]
            for key, value in asdict(model.engine.profile).items():
                turn.profile[key] = turn.profile.get(key, 0) + value
        return turn

    return {"answer": answer}
