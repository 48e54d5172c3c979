"""More than three hundred prompts of every kind, as token ids, in families that are asked together."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ctxcourse import needle
from ctxcourse.model.tokenizer import ChatTokenizer
from tests.model.prompts import PROMPTS, SESSION, user

Named = dict[str, list[int]]
LETTERS = 151_643  # token ids below this one are text, those from it on are control tokens
QUESTIONS = (
    "What is {a} times {b}? Answer with the number only.",
    "Write {a} in words, then {b}.",
    "Which is larger, {a} or {b}?",
    "Write a Python function that returns the list of primes between {a} and {b}.",
    "Nenne drei Zahlen zwischen {a} und {b}.",
    "列出 {a} 到 {b} 之间的三个数字。",
    'Sort the keys: {{"z": {a}, "y": {b}, "x": null}}',
    "Repeat exactly: id-{a}-{b}-{a}-{b}-{a}",
)


@dataclass(frozen=True)
class Family:
    """Prompts that are given to one call; every answer has up to ``new_tokens``."""

    prompts: Callable[[ChatTokenizer], Named]
    new_tokens: int


def many_prompts(tokenizer: ChatTokenizer) -> Named:
    """Return the prompts of all families by name."""
    return {
        f"{family}: {name}": ids for family in FAMILIES for name, ids in FAMILIES[family].prompts(tokenizer).items()
    }


def everyday_prompts(tokenizer: ChatTokenizer) -> Named:
    """Return thirty prompts, of every kind as well, most of them short."""
    too_long = ("a register", "tools, after results", "tools, last question")
    chosen = {name: tokenizer.encode_prompt(*PROMPTS[name]) for name in PROMPTS if name not in too_long}
    long = tokenizer.encode_prompt(SESSION.messages[:14], SESSION.tools[:5])
    short = chosen["a short register"]
    chosen |= {
        "long, with tools": long,
        "the same again": long,
        "inside the long one": long[: len(long) // 3],
        "inside that": long[: len(long) // 9],
        "the long one's tools, another question": tokenizer.encode_prompt(SESSION.messages[:2], SESSION.tools[:5]),
        "the short register again": short,
        "its beginning": short[:-7],
        "another of its rows": tokenizer.encode_prompt(needle.messages(needle.register(3, seed=4), 2)),
        "one row moved": tokenizer.encode_prompt(needle.messages(needle.register(3, seed=4).move(1, 0.0), 0)),
        "one token": [9_707],
        "random ids": random_ids(0, 60),
        "random ids that share forty": [*random_ids(0, 40), *random_ids(1, 9)],
        "control tokens too": random.Random(2).choices(range(LETTERS - 20, LETTERS + 22), k=30),
    }
    return chosen


def kinds(tokenizer: ChatTokenizer) -> Named:
    return {name: tokenizer.encode_prompt(*prompt) for name, prompt in PROMPTS.items()}


def disjoint(tokenizer: ChatTokenizer) -> Named:
    """Short questions that share the template's beginning alone; every eighth is asked twice."""
    draw, made = random.Random(0), {}
    for number in range(64):
        a, b = draw.sample(range(10, 999), 2)
        text = QUESTIONS[number % len(QUESTIONS)].format(a=a, b=b)
        made[f"question {number}"] = tokenizer.encode_prompt([user(text)])
    return made | {f"question {number} again": made[f"question {number}"] for number in range(0, 64, 8)}


def rows(tokenizer: ChatTokenizer) -> Named:
    """Rows asked for in registers of several lengths."""
    made = {}
    for length, seed, every in ((3, 11, 1), (3, 12, 1), (8, 13, 1), (8, 14, 1), (15, 15, 1), (25, 16, 4), (50, 17, 17)):
        register = needle.register(length, seed=seed)
        for row in range(0, length, every):
            made[f"{length} records of seed {seed}, row {row}"] = asked(tokenizer, register, row)
    return made


def depths(tokenizer: ChatTokenizer) -> Named:
    """One record at several depths of a register; its question stays the same."""
    made = {}
    for length, seed, places in ((5, 21, 5), (12, 22, 9), (12, 23, 9), (25, 24, 5)):
        register = needle.register(length, seed=seed)
        for place in range(places):
            moved = register.move(length // 3, place / (places - 1))
            row = moved.records.index(register.records[length // 3])
            made[f"{length} records of seed {seed}, moved to row {row}"] = asked(tokenizer, moved, row)
    return made


def asked(tokenizer: ChatTokenizer, register: needle.Register, row: int) -> list[int]:
    return tokenizer.encode_prompt(needle.messages(register, row))


def transcript(tokenizer: ChatTokenizer) -> Named:
    """An agent's transcript, cut after every turn."""
    turns = range(1, len(SESSION.messages) + 1)
    return {
        f"{turn} messages": tokenizer.encode_prompt(SESSION.messages[:turn], SESSION.tools[:2])
        for turn in turns
        if not calls_tools(SESSION.messages[turn - 1])
    }


def calls_tools(message: dict[str, Any]) -> bool:
    return bool(message.get("tool_calls"))


def nested(tokenizer: ChatTokenizer) -> Named:
    """The beginnings of a text, each inside the next; and of one without any template."""
    register = asked(tokenizer, needle.register(18, seed=31), 7)
    plain = tokenizer.encode(needle.register(8, seed=32).text())
    made = {f"the first {end} of a prompt": register[:end] for end in range(25, len(register), 25)}
    return made | {f"the first {end} of a text": plain[:end] for end in (*range(1, 8), *range(8, len(plain), 16))}


def random_ids(seed: int, length: int) -> list[int]:
    return random.Random(seed).choices(range(LETTERS), k=length)


def random_tokens(tokenizer: ChatTokenizer) -> Named:
    """Token ids drawn at random: alone, as a tree, and with control tokens."""
    made = {
        f"{length} ids of seed {seed}": random_ids(seed, length)
        for length in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
        for seed in (41, 42, 45)
    }
    draw, tree = random.Random(43), [random_ids(44, 30)]
    while len(tree) < 40:  # every one leaves an earlier one somewhere, or goes on from its end
        stem = draw.choice(tree)
        tree.append(stem[: draw.randint(1, len(stem))] + random_ids(draw.randrange(10**6), draw.randint(0, 12)))
    made |= {f"a tree's branch {number}": ids for number, ids in enumerate(tree)}
    controls = range(LETTERS - 10, LETTERS + 22)
    return made | {f"control tokens {seed}": random.Random(seed).choices(controls, k=20) for seed in range(4)}


def long(tokenizer: ChatTokenizer) -> Named:
    """Four to eight thousand tokens: registers, a transcript with all its tools, ids at random."""
    system, *turns = SESSION.messages
    twice, thrice = ([system, *turns * times][:-2] for times in (2, 4))
    register = needle.register(140, seed=51)
    return {
        "140 records": asked(tokenizer, register, 70),
        "140 records, another row": asked(tokenizer, register, 3),
        "140 records, one moved": asked(tokenizer, register.move(9, 1.0), 139),
        "a transcript twice": tokenizer.encode_prompt(twice, SESSION.tools),
        "a transcript four times": tokenizer.encode_prompt(thrice, SESSION.tools),
        "random ids": random_ids(52, 4_000),
    }


FAMILIES: dict[str, Family] = {
    "kinds": Family(kinds, 24),
    "disjoint": Family(disjoint, 20),
    "rows": Family(rows, 12),
    "depths": Family(depths, 12),
    "transcript": Family(transcript, 40),
    "nested": Family(nested, 16),
    "random": Family(random_tokens, 16),
    "long": Family(long, 24),
}
