"""Which documents, in which order: relevance, reordering, near copies left out, and what a query is about."""

from ctxcourse.retrieval.dedup import Dedup, Dropped, dedup
from ctxcourse.retrieval.intent import IntentError, intent
from ctxcourse.retrieval.ordering import DocumentsError, best_first, rank, reorder
from ctxcourse.retrieval.relevance import STOP_WORDS, bm25_scores, query_words, relevant, word_overlap, words

__all__ = [
    "STOP_WORDS",
    "Dedup",
    "DocumentsError",
    "Dropped",
    "IntentError",
    "best_first",
    "bm25_scores",
    "dedup",
    "intent",
    "query_words",
    "rank",
    "relevant",
    "reorder",
    "word_overlap",
    "words",
]
