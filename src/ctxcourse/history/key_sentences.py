"""The sentences of a text that matter most, as they stand: nothing is written anew, so nothing can be made up."""

import math
from collections import Counter as Tally
from collections.abc import Sequence

import regex  # type: ignore[import-untyped, unused-ignore]

from ctxcourse.history.protocol import checked_size
from ctxcourse.history.sentences import split_sentences
from ctxcourse.plain import checked_string
from ctxcourse.tokens import Counter, truncate

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2,}")


def key_sentences(text: str, budget: int, counter: Counter, query: str | None = None) -> str:
    """Return the best sentences of a text, in their own order, with at most ``budget`` tokens.

    A word counts for much where several sentences use it but not all, after tf-idf with sentences for documents: with
    n of N sentences it weighs log(n) · log(N / n). A sentence scores the sum over its words, divided by the square root
    of their number, so that length alone does not win. With a ``query``, sentences that share its words come first,
    each shared word weighing log((N + 1) / n); without a shared word, and among equals, the first score decides, then
    the order of the text. A sentence of the same words as a better one adds nothing and is passed over, one that no
    longer fits makes room for a shorter one, and where not even one fits the best is cut to whole tokens.

    A text that fits is returned as it is. Every sentence is counted once, and the result once more, whole. Raises
    MessageError for texts that are no strings, HistoryError for a budget that is no integer from 1 up.

    >>> text = "The bill was due on Friday. It rained all day. Nobody had paid the bill. We had soup."
    >>> key_sentences(text, 25, tok, query="Who paid?")
    'Nobody had paid the bill.'
    """
    checked_string(text, "the text")
    budget = checked_size(budget, "the budget of key sentences")
    if query is not None:
        checked_string(query, "the query")
    if counter.count_text(text) <= budget:
        return text
    sentences = split_sentences(text)
    ranking = _ranked([_words(sentence) for sentence in sentences], _words(query or ""))
    chosen, left = [], budget
    for index in ranking:
        cost = counter.count_text(sentences[index])
        if cost <= left:
            chosen.append(index)
            left -= cost
    while chosen:
        kept = "".join(sentences[index] for index in sorted(chosen)).strip()
        if counter.count_text(kept) <= budget:
            return kept
        chosen.pop()
    return truncate(sentences[ranking[0]].strip(), budget, counter)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text without case; of scripts that part no words, all pairs of neighbours."""
    words: set[str] = set()
    for found in _WORD.findall(text.casefold()):
        rest = found
        for run in _UNSPACED.findall(found):
            words.update(run[at : at + 2] for at in range(len(run) - 1))
            rest = rest.replace(run, " ")
        words.update(rest.split())
    return frozenset(words)


def _ranked(sentences: Sequence[frozenset[str]], query: frozenset[str]) -> list[int]:
    """Return the indices of the sentences, best first, without those that repeat a better one."""
    total, used_by = len(sentences), Tally(word for words in sentences for word in words)
    weights = {word: math.log(n) * math.log(total / n) for word, n in used_by.items()}
    asked = {word: math.log((total + 1) / used_by[word]) for word in query if word in used_by}

    def score(words: frozenset[str]) -> tuple[float, float]:
        shared = math.fsum(asked[word] for word in words if word in asked)
        return shared, math.fsum(weights[word] for word in words) / math.sqrt(max(len(words), 1))

    scores = [score(words) for words in sentences]
    seen, ranking = set(), []
    for index in sorted(range(total), key=lambda index: scores[index], reverse=True):
        if sentences[index] not in seen:
            ranking.append(index)
        if sentences[index]:
            seen.add(sentences[index])
    return ranking
