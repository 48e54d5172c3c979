"""Run in a process of its own by the tests: put completions into a store, get others', and say what went wrong.

python put_and_get.py STORE put WRITER COUNT [network]   say ready, wait for a line, work, print a JSON list
python put_and_get.py FOLDER make WRITER COUNT           for each line put one completion into the next new store
python put_and_get.py STORE forever                      put without end, print the number of each when it is put
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from pathlib import Path

from ctxcourse.model import sqlitefile
from ctxcourse.model.completions import CompletionStore, StoredCompletion

WRITERS = 4


def prompt(writer: int, number: int) -> list[int]:
    return [writer, number] * 20


def answer(writer: int, number: int) -> StoredCompletion:
    ids = random.Random(f"{writer} {number}").choices(range(150_000), k=12)
    return StoredCompletion(tuple(ids), "length", float(number))


def put_one(store: CompletionStore, writer: int, number: int) -> None:
    store.put("m", prompt(writer, number), {"n": 12}, answer(writer, number))


def put_and_get(store: CompletionStore, writer: int, count: int) -> list[str]:
    """Put ``count`` completions, after each get it and one of another writer; return what went wrong."""
    wrong, chance = [], random.Random(writer)
    for number in range(count):
        put_one(store, writer, number)
        if store.get("m", prompt(writer, number), {"n": 12}) != answer(writer, number):
            wrong.append(f"{writer} does not find its own {number}")
        other, guess = chance.randrange(WRITERS), chance.randrange(number + 1)
        if store.get("m", prompt(other, guess), {"n": 12}) not in (None, answer(other, guess)):
            wrong.append(f"{writer} finds something else for {guess} of {other}")
    return wrong


def main() -> None:
    warnings.simplefilter("error")
    if "network" in sys.argv:
        sqlitefile.on_network = lambda path: True
    if sys.argv[2] == "make":
        for number in range(int(sys.argv[4])):
            sys.stdin.readline()
            put_one(CompletionStore(Path(sys.argv[1], str(number)), wait=30), int(sys.argv[3]), number)
            print(number, flush=True)
        return
    store = CompletionStore(Path(sys.argv[1]), wait=30)
    if sys.argv[2] == "forever":
        for number in range(10**9):
            put_one(store, 0, number)
            print(number, flush=True)
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(put_and_get(store, int(sys.argv[3]), int(sys.argv[4]))))


if __name__ == "__main__":
    main()
