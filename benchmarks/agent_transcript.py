"""The transcript of a coding agent: one change, carried through the modules of a repository that does not exist.

The agent replaces `datetime.utcnow()` by a function of the repository's own: it lists, searches, reads, edits and
tests, one tool call a step, and every step copies names that earlier results brought. The files, names, commits and
failures are drawn from a seed; the tools are those of the course's sample session.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctxcourse.samples import load_sample

Message = dict[str, Any]
Step = tuple[Message, Message]  # the agent's tool call, and the result of it

TOOLS = load_sample("coding_session").tools
NOUNS = ("pallet", "carrier", "invoice", "return", "supplier", "batch", "shelf", "route", "parcel", "customer", "label")
VERBS = ("reserve", "release", "count", "move", "close", "expire", "assign", "split", "confirm", "print", "weigh")
FIELDS = ("reserved_at", "released_at", "seen_at", "moved_at", "closed_at", "expires_at", "printed_at", "checked_at")
PEOPLE = ("Ines Duarte", "Tomasz Wilk", "Aylin Kaya", "Joost de Wit", "Mireille Roux", "Sami Niemi")

SYSTEM = """You are a coding agent that works in the repository `depot`, the stock-keeping service of a warehouse.

How to work
- Read before you change. Search for every place that uses a name before you rename it or change what it returns.
- Call one tool at a time and wait for its result. Do not describe what you are going to do at length: do it.
- Make the smallest change that solves the problem. Do not reformat lines that you do not have to touch, do not reorder
  imports, do not rename variables because another name would be nicer.
- A passage that you replace must occur exactly once in the file. Take enough of the lines around it.
- After every change run the tests that cover the file. When they fail, read the failure to its end before you edit
  again; a test that fails for a reason of its own is reported and not repaired on the side.
- Never open an issue unless the user asks for one. Never edit anything under `vendor/` or `migrations/`.

How the repository is laid out
- `stock/` holds one module for each thing that the warehouse keeps; each has a test of the same name in `tests/`.
- `stock/clock.py` is the only module that may ask the operating system what time it is. Everything that it returns
  carries the time zone UTC. Tests freeze it with the fixture `frozen_clock`.
- `stock/records.py` reads and writes rows of the database. Times are stored as text in ISO 8601 with an offset; rows
  that were written before version 3.0 have none and are read as naive times.
- Public functions have type hints and a docstring of one sentence. Errors derive from `stock.errors.DepotError`.

How to answer
- When you are done, say in at most five sentences what was changed, in which files, and which tests ran.
- Quote names, paths and numbers exactly as they stand in the results of the tools. If you have not seen one, say so.
- Answer in the language of the question. No headings, no tables, no emoji.
"""

REQUEST = """Ticket {ticket}: `datetime.utcnow()` is deprecated since Python 3.12 and gives naive times. Since the
database driver was updated on Monday, they no longer compare with what we read back, and the nightly job stops. This is
from its log:

Traceback (most recent call last):
  File "/srv/depot/stock/nightly.py", line {line}, in main
    closed = {function}(code, quantity={quantity})
  File "/srv/depot/{path}", line {inner}, in {function}
    if record.expires_at < datetime.utcnow():
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
TypeError: can't compare offset-naive and offset-aware datetimes

The run {run} left {left} rows of the table `{table}` unfinished; Aylin finished them by hand this morning with
`python -m stock.nightly --only {table} --since 2026-09-{day:02d}T02:00:00+00:00`, so there is no hurry about the data.

Please replace every `datetime.utcnow()` in `stock/` by `utc_now()` from `stock/clock.py`, module by module:
- `utc_now()` takes no arguments and returns an aware `datetime`; `tests/test_clock.py` shows how to freeze it.
- In some modules the time is put into a record as text with `.isoformat()`. With an aware time that text gets `+00:00`
  at its end. That is wanted, but a test here and there compares the text, and then the test is what has to change.
- The modules need `datetime` for nothing else, so they lose the import.
- `stock/{other}.py` is being rewritten by Joost on the branch `{branch}`. If there is something in it, change it all
  the same; he will merge.
- Leave the lines alone that parse times from customers' files. They go through `stock/dates.py`, which has its own
  ticket, {second}.

Begin with a list of what there is. Run the tests of each module as you go, and everything once at the end."""


@dataclass(frozen=True)
class Module:
    """A file of the repository: two functions that ask for the time and one that does not, and the test of it."""

    noun: str
    lines: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"stock/{plural(self.noun)}.py"

    @property
    def test(self) -> str:
        return f"tests/test_{plural(self.noun)}.py"

    @property
    def uses(self) -> list[int]:
        """The indices of the lines to change."""
        return [i for i, line in enumerate(self.lines) if "utcnow" in line]

    def function(self, line: int) -> str:
        """Return the name of the function that the line with an index lies in."""
        heads = [text for text in self.lines[:line] if text.startswith("def ")]
        return heads[-1].removeprefix("def ").split("(")[0]

    def matches(self) -> str:
        return "\n".join(f"{self.path}:{i + 1}:{self.lines[i]}" for i in self.uses)

    def numbered(self) -> str:
        return "\n".join(f"{i:3} {line}".rstrip() for i, line in enumerate(self.lines, start=1))


class Repository:
    """Everything drawn from one seed; ``steps`` plays the agent's work in it."""

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        self.modules = [self._module(noun) for noun in self.draw.sample(NOUNS, len(NOUNS))]
        self.calls = 0

    def opening(self) -> list[Message]:
        """Return the messages before the agent's first call: who it is, and what is wanted."""
        draw, first, other = self.draw, self.modules[0], plural(self.modules[3].noun)
        request = REQUEST.format(
            ticket=f"DEP-{draw.randint(1000, 9999)}",
            second=f"DEP-{draw.randint(1000, 9999)}",
            line=draw.randint(60, 190),
            inner=first.uses[0] + 1,
            function=first.function(first.uses[0]),
            path=first.path,
            quantity=draw.randint(2, 40),
            run=f"{draw.getrandbits(48):012x}",
            left=draw.randint(100, 900),
            table=plural(first.noun),
            day=draw.randint(1, 28),
            other=other,
            branch=f"jdw/{other}-{draw.randint(100, 999)}",
        )
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": request}]

    def steps(self) -> Iterator[Step]:
        """Yield one tool call and its result after another: the survey, then module by module."""
        names = sorted(["clock", "errors", "records", *(plural(module.noun) for module in self.modules)])
        listing = "\n".join(f"stock/{name}.py" for name in names)
        yield self._step("list_directory", {"path": "stock"}, listing, "I begin with what there is.")
        places = "\n".join(module.matches() for module in self.modules)
        yield self._step("search_code", {"pattern": r"utcnow\(", "glob": "stock/*.py"}, places)
        for module in self.modules:
            yield from self._change(module)

    def _change(self, module: Module) -> Iterator[Step]:
        draw, path = self.draw, module.path
        if draw.random() < 0.3:
            history = [
                f"{draw.getrandbits(28):07x} 2026-0{draw.randint(1, 9)}-{draw.randint(10, 28)} {draw.choice(PEOPLE)}   "
                f"{plural(module.noun)}: {verb} by {draw.choice(FIELDS)}"
                for verb in draw.sample(VERBS, 3)
            ]
            yield self._step("git_log", {"path": path, "limit": 3}, "\n".join(history))
        says = draw.choice(["", f"Next is `{path}`.", f"On to `{path}`, which has {len(module.uses)} of them."])
        yield self._step("read_file", {"path": path}, module.numbered(), says)
        yield self._edit(path, "from datetime import datetime\n", "from stock.clock import utc_now\n")
        for use in module.uses:
            old = "\n".join(module.lines[use - 1 : use + 2])
            yield self._edit(path, old, old.replace("datetime.utcnow()", "utc_now()"))
            if use == module.uses[0] and draw.random() < 0.5:
                continue
            code, minute = f"{module.noun[:2].upper()}-{draw.randint(10_000, 99_999)}", draw.randint(10, 59)
            name = module.function(use)
            expected = f'assert {name}("{code}", {draw.randint(2, 40)}).row["changed"] == "2026-09-14T08:{minute}:00"'
            fails = draw.random() < 0.8
            yield self._tests(module, name, expected if fails else "")
            if fails:
                yield self._edit(module.test, expected, expected.replace(':00"', ':00+00:00"'))
                yield self._tests(module, name)

    def _edit(self, path: str, old: str, new: str) -> Step:
        return self._step("edit_file", {"path": path, "old": old, "new": new}, f"1 passage replaced in {path}")

    def _tests(self, module: Module, name: str, failing: str = "") -> Step:
        draw, test, passed = self.draw, module.test, self.draw.randint(5, 19)
        result = f"{test} {'.' * passed} [100%]\n===== {passed} passed in {draw.randint(20, 190) / 100:.2f}s ====="
        if failing:
            time = failing.split('"')[-2]
            result = (
                f"{test} {'.' * passed}F\n===== FAILURES =====\n____ test_{name} ____\n\n"
                f"    def test_{name}(frozen_clock):\n>       {failing}\n"
                f"E       AssertionError: assert '{time}+00:00' == '{time}'\n\n"
                f"{test}:{draw.randint(20, 90)}: AssertionError\n---- Captured log call ----\n"
                + "".join(
                    f"INFO {module.path}: {name} {draw.getrandbits(40):010x} in {n} rows\n" for n in (7, 12, 31, 64)
                )
                + f"===== 1 failed, {passed} passed in {draw.randint(20, 190) / 100:.2f}s ====="
            )
        return self._step("run_tests", {"selection": test, "stop_at_first": True}, result)

    def _step(self, tool: str, arguments: dict[str, Any], result: str, says: str = "") -> Step:
        self.calls += 1
        call = {"id": f"call_{self.calls}", "type": "function", "function": {"name": tool, "arguments": arguments}}
        asked = {"role": "assistant", "content": says, "tool_calls": [call]}
        return asked, {"role": "tool", "tool_call_id": f"call_{self.calls}", "content": result}

    def _module(self, noun: str) -> Module:
        draw, table = self.draw, plural(noun)
        verbs, fields = draw.sample(VERBS, 3), draw.sample(FIELDS, 2)
        asking = [
            [
                f"    if record.free < quantity + {draw.randint(1, 9)}:",
                '        raise ShortageError(f"{code}: {record.free} free, {quantity} wanted")',
                f"    record.{fields[0]} = datetime.utcnow()",
                "    return save(record)",
            ],
            [
                f"    if record.{fields[0]} and record.{fields[0]} < datetime.utcnow():",
                f'        raise LateError(f"{{code}} was over at {{record.{fields[0]}}}")',
                "    record.quantity -= quantity",
                f'    return save(record, table="{table}")',
            ],
            [
                f"    for row in record.rows[:{draw.randint(12, 96)}]:",
                f'        row["{verbs[1]}_count"] = row.get("{verbs[1]}_count", 0) + quantity',
                f'        row["{fields[1]}"] = datetime.utcnow().isoformat()',
                f'    log.info("%s: %d rows of {noun}", code, len(record.rows))',
                "    return save(record)",
            ],
        ]
        plain = [
            f'    heaviest = max(record.rows, key=lambda row: row["grams"] * {draw.randint(2, 12)})',
            f'    if heaviest["grams"] > {draw.randint(1_000, 60_000)}:',
            f'        heaviest["note"] = f"{verbs[2]} by hand, two people, lane {draw.randint(1, 40)}"',
            "    return save(record)",
        ]
        lines = [
            f'"""Keep the {table} of the warehouse: {", ".join(verbs)}."""',
            "",
            "from datetime import datetime",
            "from logging import getLogger",
            "",
            "from stock.errors import LateError, ShortageError",
            "from stock.records import Record, find_record, save",
            "",
            "log = getLogger(__name__)",
        ]
        for verb, body in zip(verbs, [*draw.sample(asking, 2), plain], strict=True):
            lines += [
                "",
                "",
                f"def {verb}_{noun}(code: str, quantity: int) -> Record:",
                f'    """{verb.capitalize()} ``quantity`` of the {noun} ``code`` and return its record."""',
                f'    record = find_record("{table}", code)',
                *body,
            ]
        return Module(noun, tuple(lines))


def plural(noun: str) -> str:
    """Return the plural of one of the nouns above.

    >>> [plural("pallet"), plural("batch"), plural("shelf")]
    ['pallets', 'batches', 'shelves']
    """
    return {"batch": "batches", "shelf": "shelves"}.get(noun, f"{noun}s")
