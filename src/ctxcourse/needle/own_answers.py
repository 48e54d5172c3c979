"""Which of a list's values an answer names: the rule for values that are any text, not four digits.

What this module does not do: judge whether the value is the right one (see `ctxcourse.needle.registers.score`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped, unused-ignore]

# The characters of a word: letters, marks, digits and the underscore. Not so in scripts that write no spaces between
# words, or hang endings on them: there a value counts wherever it stands.
_UNSPACED = "".join(
    rf"\p{{{script}}}"
    for script in ("Han", "Hiragana", "Katakana", "Hangul", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan")
)
_IN_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{_UNSPACED}]]"
_THOUSANDS = "[,.'_\u00a0\u2009\u202f]?"


def first_value(answer: str, values: Iterable[str], asked: str = "") -> str | None:
    """Return the value that an answer names first, or None.

    The rule: the question ``asked``, repeated word for word, is set aside. Of all values that occur in the rest as
    whole words, the one that begins first counts; where two begin at the same place, the longer one. Upper and lower
    case, the kind and amount of white space, the shape of apostrophes and the script of digits make no difference. A
    whole number is also found with thousands separators. Digits joined by a point or a comma are one number, so 12 is
    not in 12.5. In scripts without spaces between words, a value counts wherever it stands.

    >>> first_value("ANN MARIE, and not Ann.", ["Ann", "Ann Marie", "12"])
    'Ann Marie'
    >>> first_value("123, 12.5 or room12", ["12"]) is None
    True
    """
    text = folded(answer)
    if asked:
        text = text.replace(folded(asked), " ")
    found: list[tuple[int, int, bool, str]] = []
    for value in values:
        match = _pattern(value).search(text)
        if match:  # 3.125 is how 3125 may be written, but it is 3.125 where there is such a value
            found.append((match.start(), -len(match.group()), match.group() != folded(value), value))
    return min(found)[-1] if found else None


def folded(text: str) -> str:
    """Return a text without the differences of case, composition, apostrophes and digits.

    >>> folded("O’BRIEN") == folded("o'Brien")
    True
    """
    lower = unicodedata.normalize("NFC", text).casefold()
    plain = unicodedata.normalize("NFC", lower).replace("’", "'")
    return "".join(str(int(character)) if character.isdecimal() else character for character in plain)


@lru_cache(maxsize=10_000)
def _pattern(value: str) -> Any:
    """Return the pattern that finds a value in a folded text as whole words."""
    text = folded(value).strip()
    inside = r"\s+".join(regex.escape(word) for word in text.split())
    if text.isdecimal() and len(text) > 3:
        groups = [text[max(0, end - 3) : end] for end in range(len(text), 0, -3)]
        inside = _THOUSANDS.join(reversed(groups))
    before, after = "", ""
    if regex.match(_IN_WORD, text[:1], regex.V1):
        before = rf"(?<!{_IN_WORD})" + (r"(?<!\d[.,])" if text[0].isdecimal() else "")
    if regex.match(_IN_WORD, text[-1:], regex.V1):
        after = rf"(?!{_IN_WORD})" + (r"(?![.,]\d)" if text[-1].isdecimal() else "")
    return regex.compile(before + inside + after, regex.V1)
