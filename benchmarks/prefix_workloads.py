"""What the benchmark of prefix reuse asks: five sets of prompts, as token ids of the default model's tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from agent_transcript import TOOLS, Message, Repository

from ctxcourse import needle

if TYPE_CHECKING:
    from ctxcourse.model.tokenizer import ChatTokenizer

SEED = 42
CALLS = 40
SURVEY = 2  # steps of the transcript that lie before the first call
CUT = 8_000  # tokens of the transcript that the probes are appended to, at most
PROBES = (
    "Which ticket is this work for?",
    "Which ticket covers the dates in customers' files?",
    "On which branch is Joost working?",
    "Who finished the rows by hand?",
    "How many rows did the nightly run leave unfinished?",
    "Which module is the only one that may ask for the time?",
    "Which fixture freezes the clock?",
    "Which file did you change last?",
    "Which test failed first?",
    "Which tests ran last, and did they pass?",
    "Which commit did you see first?",
    "Which folders must never be edited?",
)
WORKLOADS = ("rows", "depths", "growing8", "growing60", "probes")


@dataclass(frozen=True)
class Workload:
    """Prompts as token ids, and how they are asked.

    ``together`` says whether all prompts are known before the first answer; where not, each call is answered before the
    next is known. ``sample`` are the numbers of the prompts that plain transformers answers; its time is scaled to all.
    With ``to_the_limit`` an end marker is a token like any other, so that every answer has ``new_tokens``.
    """

    name: str
    title: str
    prompts: tuple[tuple[int, ...], ...]
    new_tokens: int
    together: bool
    sample: tuple[int, ...]
    to_the_limit: bool = False

    @property
    def tokens(self) -> int:
        return sum(map(len, self.prompts))

    def quick(self) -> Workload:
        """Return the first three prompts of it, the second of them for plain transformers where it takes a sample."""
        sampled = len(self.sample) < len(self.prompts)
        return replace(self, prompts=self.prompts[:3], sample=(1,) if sampled else (0, 1, 2))


def make_workloads(tokenizer: ChatTokenizer, quick: bool = False) -> dict[str, Workload]:
    """Return the workloads by name; quick ones are three prompts each, none of them longer than about 3,000 tokens."""
    register = needle.register(25, seed=SEED)
    rows = [needle.messages(register, row) for row in range(len(register))]
    row = register.slot(0.3)
    # after a move the record is found again by its owner, for the row has another number
    depths = []
    for depth in needle.DEPTHS:
        moved = register.move(row, depth)
        depths.append(needle.messages(moved, moved.records.index(register.records[row])))

    repository = Repository(SEED)
    messages = repository.opening()
    steps = list(islice(repository.steps(), SURVEY + CALLS - 1))
    messages += [message for step in steps[:SURVEY] for message in step]
    conversation = [list(messages)]
    for step in steps[SURVEY:]:
        messages += step
        conversation.append(list(messages))
    growing = encode(tokenizer, conversation, TOOLS)
    fits = max(i for i, ids in enumerate(growing) if len(ids) <= (3_000 if quick else CUT))
    probes = [[*conversation[fits], {"role": "user", "content": f"{probe} Answer in one line."}] for probe in PROBES]

    title = "an agent's conversation that grows from call to call"
    seen = tuple(range(3, CALLS, 8))
    made = [
        workload("rows", "one register of 25 records, every row asked", encode(tokenizer, rows)),
        workload("depths", "one needle at nine depths of the register", encode(tokenizer, depths)),
        Workload("growing8", title, growing, 8, False, seen),
        Workload("growing60", title, growing, 60, False, seen),
        workload("probes", "twelve probes over one transcript", encode(tokenizer, probes, TOOLS), sample=(0, 6)),
    ]
    return {each.name: each.quick() if quick else each for each in made}


def workload(name: str, title: str, prompts: tuple[tuple[int, ...], ...], sample: tuple[int, ...] = ()) -> Workload:
    return Workload(name, title, prompts, needle.NEW_TOKENS, True, sample or tuple(range(len(prompts))))


def encode(
    tokenizer: ChatTokenizer, prompts: Sequence[list[Message]], tools: list[Message] | None = None
) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(tokenizer.encode_prompt(messages, tools)) for messages in prompts)
