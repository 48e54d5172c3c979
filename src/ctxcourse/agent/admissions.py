"""Whether an answer admits that it does not have what was asked for: rules on words, which know no meaning.

Whoever knows no shard may say so in many ways ("not mentioned", "no shard name is available", "could you provide the
number?"), and much that begins alike says something else: "no shards are affected", "I see no errors". So words of
denial count only together with what was asked for, with information or context, or at the end of what is said.
"""

from __future__ import annotations

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.agent.identifiers import Sort, prose_of
from ctxcourse.needle.own_answers import folded

_NOUNS: dict[Sort, str] = {
    "employee number": r"(?:employee )?numbers?",
    "shard": r"shards?(?: names?| numbers?)?",
}
_NOUN = "|".join(_NOUNS.values())
# Words that may stand between "no" or a verb and what it is about: at most three, and no preposition.
_WORDS = r"(?:(?!(?:on|in|of|for|with|from|to|at|by|about|and)\b)[\w'-]+ ){0,3}"
_SOURCE = r"information|records?|mention|details?|context|knowledge|memory|history|access|data|name|answer|employee"
_OBJECT = (
    rf" (?:{_WORDS}(?:{_NOUN}|{_SOURCE})|(?:which|what|whose|who|whether|where|it)|(?:that|this|one)(?=\W*$|[.,;!?]))"
)
_END = r"\W*(?:$|[.,;:!?])"
_SEEN = (
    r"(?:find|see|locate|access|retrieve|provide|have|determine|identify|mention|specify|state|contain|include|say|name"
    r"|give)"
)
_GIVEN = r"(?:specified|mentioned|provided|stated|given|named|known|recorded|listed|told)"
_ASKED_FOR = r"\b[^.?!]*\b(?:employee|numbers?|shards?|information|details?|context)"
_NONE = r"(?:no|there (?:is|are|was|were) not (?:an?|any))"
_IN_HERE = r"(?: (?:in|from) (?:the|this|our|my|your)(?: \w+){1,2})?"


def _admissions(noun: str) -> regex.Pattern[str]:
    """Return what admits, in an answer to a question for what ``noun`` names."""
    return regex.compile(
        r"\b(?:(?:do|did|does|can|could) not (?:\w+ )?(?:know|recall|remember|tell|answer)"
        rf"|(?:do|did|does|can|could) not (?:\w+ )?{_SEEN}(?:{_OBJECT}|(?={_END}))"
        rf"|(?:unable|not able) to (?:\w+ )?(?:know|recall|remember|tell|answer|{_SEEN})"
        r"|(?:am|are) (?:not (?:sure|certain|aware)|unsure)"
        rf"|not (?:\w+ )?{_GIVEN}"
        r"|(?:was|were|been|be|is|are) not (?:found|confirmed|clear|identified|determined|in (?:the|this|our|my))"
        r"|can not be (?:found|confirmed|identified|determined)"
        r"|(?:is|are|remains?) (?:unknown|unclear)"
        rf"|(?:no|without) {_WORDS}(?:information|records?|mention|details?|context|knowledge|idea)"
        rf"|{_NONE} {_WORDS}(?:{_NOUN}) (?:(?:is|are|was|were|has|have|been|yet) ){{0,3}}(?:\w+ly )?{_GIVEN}"
        rf"|{_NONE} (?!{_WORDS}affected){_WORDS}(?:{_NOUN}){_IN_HERE}(?=\W*(?:$|[.!?;]))"
        rf"|(?:{noun})(?: \w+){{0,2}} (?:is|are|was|were) (?:not (?:\w+ )?available|unavailable)"
        rf"|no {_WORDS}(?:{noun}) (?:(?:is|are|was|were) )?available"
        r"|needs? (?:more|further|additional) (?:information|details?|context)"
        rf"|please (?:\w+ )?(?:provide|specify|tell|give|share|clarify|confirm){_ASKED_FOR}"
        rf"|(?:can|could|would) you (?:please )?(?:provide|specify|tell|give|share|clarify|confirm){_ASKED_FOR})\b"
        r"|^\W*(?:unknown|none|n/a|not known)\W*$"
    )


_ADMITS = {sort: _admissions(noun) for sort, noun in _NOUNS.items()}
_SHORT_FORMS = (("can't", "can not"), ("cannot", "can not"), ("n't", " not"), ("i'm ", "i am "), ("'ve ", " have "))


def admits(answer: str, sort: Sort) -> bool:
    """Return whether an answer says in words that it does not have what was asked for, or asks for it.

    What stands in a call, or behind one, is not looked at. Which sort of identifier was asked for decides what it means
    that something is not available.

    >>> [admits(answer, "shard") for answer in ("The shard was not mentioned.", "No shards are affected.")]
    [True, False]
    """
    text = folded(prose_of(answer))
    for short, full in _SHORT_FORMS:
        text = text.replace(short, full)
    return bool(_ADMITS[sort].search(" ".join(text.split())))
