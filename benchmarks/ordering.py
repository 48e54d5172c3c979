"""Measure ordering and deduplication beside the libraries that one would use instead; write `benchmarks/ordering.md`.

    python benchmarks/ordering.py

The peers are no part of the course: `pip install -e .[bench]` brings them, and without them there is no page. Every
column gets the same documents, made by a seed, in the form of its library; making that form is not timed. Times are of
the processor, not of the clock, since the machine may have other work.
"""

from __future__ import annotations

import os
import platform
import random
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from ctxcourse.retrieval.dedup import dedup
from ctxcourse.retrieval.ordering import best_first, reorder
from ctxcourse.retrieval.relevance import words

PAGE = Path(__file__).with_suffix(".md")
PEERS = ("llama-index-core", "haystack-ai", "langchain-community", "datasketch")
TURNS = 7
SLOW_TURNS = 3
EVERY_PAIR_UP_TO = 2_000

Work = Callable[[], Any]


def installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def best_of(turns: int, columns: dict[str, Work]) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the least seconds of each column, which take turns, and what each returned."""
    least, returned = dict.fromkeys(columns, float("inf")), {}
    for _ in range(turns):
        for name, work in columns.items():
            started = time.process_time()
            returned[name] = work()
            least[name] = min(least[name], time.process_time() - started)
    return least, returned


def show(lines: list[str], *more: str) -> None:
    """Add lines to a table and print them."""
    lines += more
    print(*more, sep="\n", flush=True)


def header(cells: Sequence[str]) -> tuple[str, str]:
    return f"| {' | '.join(cells)} |", "| --- " * len(cells) + "|"


def order_table() -> list[str]:
    lines: list[str] = []
    for number in (9, 10, 1_000, 10_000):
        generator = random.Random(number)
        texts = [f"document {index}" for index in range(number)]
        scores = [generator.random() for _ in texts]
        columns = orderers(texts, scores)
        if not lines:
            show(lines, *header(["documents", *columns]))
        least, orders = best_of(TURNS, columns)
        best = texts[best_first(scores)[0]]
        cells = [f"{1000 * least[name]:.3f} ms, the best at {orders[name].index(best) + 1:,}" for name in columns]
        show(lines, f"| {number:,} | {' | '.join(cells)} |")
    return lines


def orderers(texts: Sequence[str], scores: Sequence[float]) -> dict[str, Work]:
    """Return, by library, what puts documents into their order and returns the texts."""
    from haystack import Document
    from haystack.components.rankers import LostInTheMiddleRanker
    from langchain_community.document_transformers import LongContextReorder as Transformer
    from langchain_core.documents import Document as Page
    from llama_index.core.postprocessor import LongContextReorder
    from llama_index.core.schema import NodeWithScore, TextNode

    columns: dict[str, Work] = {"ctxcourse": lambda: reorder(texts, scores)}
    pairs = list(zip(texts, scores, strict=True))
    nodes = [NodeWithScore(node=TextNode(text=text), score=score) for text, score in pairs]
    llama = LongContextReorder()
    columns["llama-index-core"] = lambda: [node.text for node in llama.postprocess_nodes(nodes)]
    documents = [Document(content=text, score=score) for text, score in pairs]
    ranker = LostInTheMiddleRanker()

    def haystack() -> list[str]:
        ranked = sorted(documents, key=lambda document: document.score, reverse=True)
        return [document.content for document in ranker.run(documents=ranked)["documents"]]

    columns["haystack-ai"] = haystack
    pages = [Page(page_content=text) for text in texts]
    transformer = Transformer()

    def langchain() -> list[str]:
        ranked = [pages[index] for index in sorted(range(len(pages)), key=scores.__getitem__, reverse=True)]
        return [page.page_content for page in transformer.transform_documents(ranked)]

    columns["langchain-community"] = langchain
    return columns


def prose(number: int) -> list[str]:
    """Documents of 40 to 200 words of a vocabulary of 50,000, used as unevenly as that of any language."""
    generator = random.Random(0)
    vocabulary = [f"w{index}" for index in range(50_000)]
    weights = list(accumulate(1 / rank for rank in range(1, 50_001)))
    lengths = [generator.randint(40, 200) for _ in range(number)]
    return [" ".join(generator.choices(vocabulary, cum_weights=weights, k=length)) for length in lengths]


def register(number: int) -> list[str]:
    """Documents of one pattern, four words of which are a document's own."""
    pattern = "Ticket INC-{0} is currently assigned to First{0} Last{0}, who can be reached at internal extension x{0}."
    return [pattern.format(index) for index in range(number)]


def hundred_words(number: int) -> list[str]:
    """The hard case: each document has half of the same hundred words, so that no word is rare."""
    generator = random.Random(0)
    return [" ".join(f"w{index}" for index in generator.sample(range(100), 50)) for _ in range(number)]


def with_copies(texts: list[str]) -> list[str]:
    """Turn the last fifth into copies of others, with one word in forty replaced, and shuffle."""
    generator = random.Random(1)
    originals = texts[: len(texts) * 4 // 5]
    copies = []
    for text in generator.sample(originals, len(texts) - len(originals)):
        copy = text.split()
        for place in generator.sample(range(len(copy)), len(copy) // 40):
            copy[place] = "replaced"
        copies.append(" ".join(copy))
    mixed = originals + copies
    generator.shuffle(mixed)
    return mixed


def every_pair(texts: Sequence[str], order: Sequence[int]) -> list[int]:
    """Keep, from the best, what is not too much like a kept one, by comparing it with all of them."""
    sets = [frozenset(words(text)) for text in texts]
    kept: list[int] = []
    for index in order:
        own = sets[index]
        both = [len(own & sets[other]) for other in kept]
        if not any(b > 0.8 * (len(own) + len(sets[other]) - b) for b, other in zip(both, kept, strict=True)):
            kept.append(index)
    return sorted(kept)


def by_minhash(texts: Sequence[str], order: Sequence[int]) -> list[int]:
    """The same rule with datasketch, which finds likely pairs by 128 hashes of each document."""
    from datasketch import MinHash, MinHashLSH

    index_of, kept = MinHashLSH(threshold=0.8, num_perm=128), {}
    for index in order:
        sketch = MinHash(num_perm=128)
        sketch.update_batch([word.encode() for word in set(words(texts[index]))])
        if not any(sketch.jaccard(kept[other]) > 0.8 for other in index_of.query(sketch)):
            index_of.insert(index, sketch)
            kept[index] = sketch
    return sorted(kept)


def words_table() -> list[str]:
    head = ["documents", "ctxcourse", "datasketch", "every pair", "dropped", "datasketch decides otherwise"]
    lines: list[str] = []
    show(lines, *header(head))
    for make, sizes in ((prose, (1_000, 2_000, 4_000, 8_000)), (register, (1_000, 8_000)), (hundred_words, (1_000,))):
        for number in sizes:
            texts, generator = with_copies(make(number)), random.Random(2)
            scores = [generator.random() for _ in texts]
            order = best_first(scores)
            columns: dict[str, Work] = {
                "ours": lambda t=texts, s=scores: dedup(t, s, count=len).kept_indices,
                "datasketch": lambda t=texts, o=order: by_minhash(t, o),
            }
            least, kept = best_of(SLOW_TURNS, columns)
            if number <= EVERY_PAIR_UP_TO:
                once, all_pairs = best_of(1, {"pairs": lambda t=texts, o=order: every_pair(t, o)})
                least.update(once)
                assert all_pairs["pairs"] == kept["ours"]
            cells = [f"{least[name]:.2f} s" if name in least else "" for name in ("ours", "datasketch", "pairs")]
            otherwise = f"{len(set(kept['datasketch']) ^ set(kept['ours'])):,}"
            what = make.__name__.replace("_", " ")
            dropped = number - len(kept["ours"])
            show(lines, f"| {number:,}, {what} | {' | '.join(cells)} | {dropped:,} | {otherwise} |")
    return lines


def embeddings_table() -> list[str]:
    lines: list[str] = []
    show(lines, *header(["documents", "ctxcourse", "langchain-community", "of each pair dropped"]))
    for number in (1_000, 2_000, 4_000):
        generator = np.random.default_rng(0)
        better = generator.normal(size=(number // 2, 384))
        rows = np.concatenate([better, better + 0.3 * generator.normal(size=better.shape)])
        texts = [str(index) for index in range(number)]
        columns: dict[str, Work] = {"ours": lambda t=texts, r=rows: dedup(t, count=len, embeddings=r).kept}
        columns["theirs"] = redundant_filter(texts, rows)
        least, kept = best_of(SLOW_TURNS, columns)
        which = [which_were_dropped(kept[name], texts) for name in columns]
        cells = [f"{least[name]:.2f} s" for name in columns]
        show(lines, f"| {number:,} | {' | '.join(cells)} | {'; '.join(which)} |")
    return lines


def which_were_dropped(kept: list[str], texts: list[str]) -> str:
    """Say which of each pair is gone; the better ones are the first half."""
    half = len(texts) // 2
    if kept == texts[:half]:
        return "the lower ranked"
    return "the higher ranked" if kept == texts[half:] else f"{len(texts) - len(kept):,} of both"


def redundant_filter(texts: list[str], rows: Any) -> Work:
    """langchain-community's filter, given the same embeddings, as the lists of floats that it asks for."""
    from langchain_community.document_transformers import EmbeddingsRedundantFilter
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

    lists = rows.tolist()

    class Ready(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [lists[int(text)] for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return lists[int(text)]

    transformer = EmbeddingsRedundantFilter(embeddings=Ready(), similarity_threshold=0.8)
    pages = [Document(page_content=text) for text in texts]
    return lambda: [page.page_content for page in transformer.transform_documents(pages)]


def main() -> None:
    """Measure, print and write."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    missing = [package for package in PEERS if not installed(package)]
    if missing:
        raise SystemExit(f"This page compares with {', '.join(missing)}, not installed here: pip install -e .[bench]")
    peers = ", ".join(f"{package} {version(package)}" for package in PEERS)
    page = f"""# Ordering and deduplication

Made by `python benchmarks/ordering.py` on {date.today():%-d %B %Y}: {os.cpu_count()} cores, {platform.system()}
{platform.machine()}, Python {platform.python_version()}; {peers}.
Times are of the processor, all cores together: the best of {TURNS} turns, after the first table of {SLOW_TURNS}.

## Ordering by score

From scores to a list in order, and the place of the document with the best score in it. The sort is timed for all: two
of the peers ask for documents that are ranked already.

{{}}

## Near-duplicates by words

One document in five is a copy of another with one word in forty replaced, which is none in a short document. More than
80 % alike, from texts and scores to what is kept. *Every pair* (one turn) compares each document with all that are
kept; the run checks that it keeps the same ones. datasketch estimates the likeness from 128 hashes, and so errs
where it is near the limit. *Hundred words* is the case that an index of rare words does not help: there are none.

{{}}

## Near-duplicates by embeddings

Rows of 384 numbers, which are given and not computed. The second half of the documents are copies of the first half
with some noise, so that the first of each pair is the higher ranked. The last column names what ctxcourse drops, then
the peer.

{{}}
"""
    tables = ["\n".join(table()) for table in (order_table, words_table, embeddings_table)]
    PAGE.write_text(page.format(*tables), encoding="utf-8")


if __name__ == "__main__":
    main()
