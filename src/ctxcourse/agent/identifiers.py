"""The identifiers in a text: employee numbers and names of shards, however people and models write them.

*Employee numbers* have exactly four digits, perhaps with a separator of thousands (4,417 is 4417; 4.417 is a decimal).
No employee number is: a part of a longer run of letters and digits or of a joined name (INC-2041, 4417ab, 10.0.4417.2,
2026/4417), unless it is joined to a word that says so (emp-4417, id_4417); a date or a time (2026-03-01, in 2026,
3 March 2026, 0930 UTC); a measure or an amount (1200 ms, 4096 rows, $4417).

*Shards* are named by a prefix, the word, and a number: pay-shard-7. Case, leading zeros and the joining character make
no difference (pay_shard_7, Pay-Shard-07, pay shard 7). Without a prefix (shard 7, shard-7, shard #7, shard no. 7, shard
is 7) it is the shard of that number, whatever its prefix; and a word before it counts as its prefix only where a shard
with that prefix is known ("the shard 7", but "orders shard 7" beside orders-shard-3). What is joined behind the number
belongs to the name: pay-shard-7-replica is another one. Numbers in words are not read.

What this module does not do: judge an answer (see `ctxcourse.agent.probes`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.messages import Message
from ctxcourse.needle.own_answers import folded
from ctxcourse.pairing import calls_of
from ctxcourse.tools.calls import parse_tool_calls

Sort = Literal["employee number", "shard"]

ARGUMENTS: dict[Sort, str] = {"employee number": "employee_number", "shard": "shard"}
"""How the tools call an argument of each sort."""

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–−", "-"))
_ALNUM = r"[^\W_]"
_FOUR = regex.compile(r"(?<!\d)\d(?:[,'_\u00a0\u2009\u202f]\d{3}|\d{3})(?!\d)")
_SAYS_SO = regex.compile(rf"(?<!{_ALNUM})(?:employee|emp|number|no|nr|id)[-_.#:]?$")
_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_NOT_BEFORE = regex.compile(rf"(?:{_ALNUM}|{_ALNUM}[-/@._]|\d[,':]|[$€£]\s?)$")
_NOT_BEHIND = regex.compile(
    rf"{_ALNUM}|_{_ALNUM}|[.,:']\d|[-/@]{_ALNUM}|\s?%|\s(?:utc|gmt|hours?|hrs?|h|minutes?|min|seconds?|sec|s|milliseconds?"
    r"|ms|bytes|b|kb|mb|gb|percent|rows|lines|tokens|errors|requests|connections|transactions|times)\b"
)
_YEAR = regex.compile(r"19\d\d|20\d\d")
_BEFORE_A_YEAR = regex.compile(rf"(?<!{_ALNUM})(?:in|since|until|during|year|(?:{_MONTHS})\.?(?:\s\d\d?,?)?)\s$")
# All repetitions are bounded, so that no text, however odd, takes more than a time in proportion to its length.
_GLUE = r"""(?:[^\S\n]|[-_:#"'`*=(]|\.(?!\s)){0,8}"""
_SHARD = regex.compile(
    rf"(?<!{_ALNUM})(?:(?P<joined>(?:{_ALNUM}{{1,40}}[-_]){{1,5}})|(?P<word>{_ALNUM}{{1,40}})[^\S\n]{{1,8}})?shards?{_GLUE}"
    rf"(?:(?P<verb>is)\b{_GLUE}|(?:number|no|nr|id|named|called)\b\.?{_GLUE})?"
    rf"(?P<number>\d{{1,40}})(?P<behind>[a-z]?(?:[-_]{_ALNUM}{{1,40}}){{0,5}})(?!{_ALNUM})(?![.,:]\d)"
)
_ONLY_A_NUMBER = regex.compile(r"[\W_]*(\d+)[\W_]*")


def identifiers(text: str, sort: Sort, known: Iterable[str] = ()) -> list[str]:
    """Return the identifiers of a sort in a text, in order, each as often as it occurs, in one spelling.

    Numbers come as four digits, shards as ``"pay-shard-7"`` or, without a prefix, ``"shard-7"``. The prefixes of
    ``known`` shards are known, and so are those in the text.

    >>> identifiers("INC-2041 since 09:30: 4,417 took 1200 ms", "employee number")
    ['4417']
    >>> identifiers("PAY_SHARD_07, the shard 7 and pay shard 8", "shard")
    ['pay-shard-7', 'shard-7', 'pay-shard-8']
    """
    plain = folded(text).translate(_DASHES)
    if sort == "employee number":
        return [
            regex.sub(r"\D", "", found[0])
            for found in _FOUR.finditer(plain)
            if _is_employee_number(found[0], plain[max(0, found.start() - 24) : found.start()], plain[found.end() :])
        ]
    matches = list(_SHARD.finditer(plain)) if "shard" in plain else []
    prefixes = {name.rpartition("-shard-")[0] for name in known}
    prefixes |= {regex.sub("_", "-", found["joined"]).rstrip("-") for found in matches if found["joined"]}
    # "the shard is 3 minutes behind" names none
    return [_name(found, prefixes) for found in matches if not (found["verb"] and _goes_on(plain, found.end()))]


def identifiers_in(messages: Iterable[Message], sort: Sort) -> list[str]:
    """Return the identifiers of a sort in the texts of messages and in the arguments of their calls, in order.

    >>> identifiers_in([{"role": "user", "content": "Is it pay-shard-7, or pay-shard-1?"}], "shard")
    ['pay-shard-7', 'pay-shard-1']
    """
    return identifiers("\n\n".join(text for message in messages for text in _texts(message)), sort)


def first_identifier(answer: str, sort: Sort, known: Iterable[str] = ()) -> str | None:
    """Return the identifier of a sort that an answer gives, the first one, or None.

    A tool call counts by its arguments: where one is named for the sort (``employee_number``, ``shard``), its value
    decides, even if that is no identifier; otherwise the first in any of its values. Text before the call comes first,
    text behind it last. A call that was cut off is read as far as it goes. An answer that is nothing but a number names
    the shard of that number.

    >>> call = '<tool_call>{"name": "file_ticket", "arguments": {"title": "1022", "employee_number": 4417}}</tool_call>'
    >>> first_identifier(call, "employee number"), first_identifier(call[:-40], "employee number")
    ('4417', '1022')
    >>> first_identifier("**7**", "shard"), first_identifier("It is pool 7.", "shard")
    ('shard-7', None)
    """
    known = list(known)
    calls = [call for call in parse_tool_calls(answer) if not call.problem]
    begins = "<tool_call>" in answer or "{" in answer
    found = identifiers(prose_of(answer), sort, known)
    if found:
        return found[0]
    for call in calls:
        named = call.arguments.get(ARGUMENTS[sort])
        meant = call.arguments if named is None else {ARGUMENTS[sort]: named}
        found = identifiers("\n".join(spoken(meant)), sort, known)
        if found or named is not None:
            return found[0] if found else None
    if begins:
        cut = regex.search(rf'{ARGUMENTS[sort]}\\*"\s*:\s*[^,}}\n]*', answer)
        found = identifiers(cut[0] if cut else answer, sort, known)
    number = _ONLY_A_NUMBER.fullmatch(folded(answer)) if sort == "shard" else None
    return found[0] if found else f"shard-{_plain(number[1])}" if number else None


def prose_of(answer: str) -> str:
    """Return what an answer says before anything in it that may be a call.

    >>> prose_of('I look. <tool_call>{"name": "get_time", "arguments": {}}</tool_call>')
    'I look. '
    """
    return answer.partition("<tool_call>")[0].partition("{")[0]


def spoken(arguments: Any, name: str = "") -> Iterator[str]:
    """Yield each value in a call's arguments behind its name, since a bare 7 is a shard only under that name.

    >>> list(spoken({"shard": 7, "about": {"services": ["payments-api", "ledger-db"]}}))
    ['shard: 7', 'services: payments-api', 'services: ledger-db']
    """
    if isinstance(arguments, dict):
        for key, value in arguments.items():
            yield from spoken(value, key)
    elif isinstance(arguments, list):
        for value in arguments:
            yield from spoken(value, name)
    else:
        whole = isinstance(arguments, float) and arguments.is_integer()
        yield f"{name}: {int(arguments) if whole else arguments}"


def same(one: str, other: str) -> bool:
    """Return whether two identifiers, as the functions here give them, mean the same: a bare shard fits any prefix.

    >>> same("shard-7", "pay-shard-7"), same("orders-shard-7", "pay-shard-7"), same("4417", "4418")
    (True, False, False)
    """
    bare, full = sorted((one, other), key=len)
    return one == other or (bare.startswith("shard-") and full.endswith(f"-{bare}"))


def among(identifier: str, others: Collection[str]) -> bool:
    """Return whether an identifier means the same as one of the others."""
    return any(same(identifier, other) for other in others)


def _is_employee_number(number: str, before: str, behind: str) -> bool:
    if _NOT_BEHIND.match(behind[:16]):
        return False
    if _NOT_BEFORE.search(before) and not _SAYS_SO.search(before):
        return False
    return not (_YEAR.fullmatch(number) and _BEFORE_A_YEAR.search(before))


def _name(found: Any, prefixes: Collection[str]) -> str:
    prefix = found["joined"] or (found["word"] if found["word"] in prefixes else "")
    parts = [prefix.rstrip("-_"), "shard", _plain(found["number"]) + found["behind"]]
    return "-".join(part for part in parts if part).replace("_", "-")


def _plain(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _goes_on(text: str, at: int) -> bool:
    """Return whether a word follows directly."""
    return bool(regex.compile(r"\s+\p{L}").match(text, at))


def _texts(message: Message) -> Iterator[str]:
    yield message["content"]
    for call in calls_of(message):
        yield "\n".join(spoken(call["function"]["arguments"]))
