"""A text as its sentences, in any script, without losing a character.

Rules and a short list of abbreviations (English, some German, French and Spanish), no model. What they cannot know,
they get wrong: a sentence that begins with a small letter after a full stop is taken for the rest of the one before,
and Thai, which writes no full stops, is parted at blank lines alone.
"""

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.plain import checked_string

# The mark that may end a sentence with what closes behind it, or white space; both without backtracking.
_PLACE = regex.compile(
    r"(?P<mark>[\p{SB=STerm}\p{SB=ATerm}…]++)(?P<close>[\p{Pe}\p{Pf}\p{Pi}\"'*_]*+)(?P<space>\s*+)|\s++"
)
_WIDE = regex.compile(r"[。！？｡︒︕︖]")
_LINE_OF_ITS_OWN = regex.compile(r"[-*•–+] |#{1,6} |[|>]|\(?\d{1,3}[.)] |\d{4}-\d\d-\d\d")
_NEXT_WORD = regex.compile(r"[\p{Ps}\p{Pi}\p{Pf}\"'*_¿¡]*+(?P<word>[\p{L}\p{M}\p{N}]*+)")
_WORD_BEFORE = regex.compile(r"[\p{L}\p{M}\p{N}.&'’-]++$")
_INITIALS = regex.compile(r"\p{Lu}|\p{L}{1,2}(?:\.\p{L}{1,2})+")
_NUMBER_OF_AN_ITEM = regex.compile(r"\s*[\(\[]?(?:\d{1,3}|\p{L}|[ivxIVX]{1,4})")
_LOOK_BACK, _LOOK_AHEAD = 40, 60


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TITLES = _listed(
    "Adm Capt Cmdr Col Dr Dra Gen Gov Hon Hr Ing Lic Lt Maj Messrs Mlle Mme Mr Mrs Ms Mt Mx Prof Rep Rev Sen Sgt Sr St"
)
_INSIDE = _listed(
    "approx bzw ca cf d.h dept e.g eds esp exkl ggf i.e incl inkl p.ex resp sog tel u u.a univ vgl viz vs z z.b zzgl"
)
_BEFORE_NUMBERS = _listed("abs art ch eq eqs fig figs kap no nos nr p par pp pt s sec tab vol")
_SOMETIMES_LAST = _listed("al ave bros co corp etc inc jr ltd sr usw")
_COMMON_FIRST = _listed(
    "a after all an and as at but by das der die dies diese each el er es every for from he her here his how however "
    "if il ils in is it its la le les my no nobody now on one or our she sie since so some that the their then there "
    "these they this those thus to today two und we what when where which who why wir with yes you your"
)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with the white space behind it: joined, they are the text again.

    A sentence ends at a mark that ends sentences in some script (``. ! ? … 。 ！ ？ । ؟ ።`` and more) with the quotes
    and brackets that close behind it, before white space; after the wide marks of Chinese and Japanese none is needed.
    It also ends at a blank line and before a line that begins as a list item, a heading, a table row or a date does.
    It does not end inside a number or an address, where no white space follows; after an abbreviation, an initial or
    the number of a list item; or where the next word begins with a small letter, as after an ellipsis.

    Raises MessageError if ``text`` is no string or no valid Unicode.

    >>> split_sentences("Dr. Ito paid 3.14 e.g. at https://a.io/b.c?d=1. Why? Nobody knows …")
    ['Dr. Ito paid 3.14 e.g. at https://a.io/b.c?d=1. ', 'Why? ', 'Nobody knows …']
    >>> split_sentences("发票到期了。没有人知道！")
    ['发票到期了。', '没有人知道！']
    """
    checked_string(text, "the text")
    sentences, start = [], 0
    for place in _PLACE.finditer(text):
        if place.start() == 0 and not place["mark"]:
            continue  # white space at the very front belongs to the first sentence
        if place.end() < len(text) and _ends(text, start, place):
            sentences.append(text[start : place.end()])
            start = place.end()
    return [*sentences, text[start:]] if start < len(text) else sentences


def _ends(text: str, start: int, place: "regex.Match[str]") -> bool:
    """Tell whether the sentence that begins at ``start`` ends with this mark or white space."""
    mark, space = place["mark"], place["space"] if place["mark"] else place[0]
    if space.count("\n") > 1 or ("\n" in space and _LINE_OF_ITS_OWN.match(text, place.end())):
        return True
    if not mark:
        return False
    if _WIDE.search(mark):
        return bool(space) or not place["close"] or not text[place.end()].isalpha()
    if not space:
        return False
    word = _NEXT_WORD.match(text, place.end(), place.end() + _LOOK_AHEAD)["word"]
    if word[:1].islower() and (place["close"] or mark.strip("!?")):
        return False
    return mark != "." or not _belongs_to_its_word(text[max(start, place.start() - _LOOK_BACK) : place.start()], word)


def _belongs_to_its_word(before: str, word: str) -> bool:
    """Tell whether a full stop after ``before`` is part of an abbreviation, an initial or the number of an item."""
    if _NUMBER_OF_AN_ITEM.fullmatch(before):
        return True
    found = _WORD_BEFORE.search(before)
    last = found[0] if found else ""
    name = last.casefold()
    if last in _TITLES or name in _INSIDE:
        return True
    if name in _BEFORE_NUMBERS:
        return word[:1].isdigit()
    if name in _SOMETIMES_LAST or (last != "I" and _INITIALS.fullmatch(last)):
        return word.casefold() not in _COMMON_FIRST
    return False
