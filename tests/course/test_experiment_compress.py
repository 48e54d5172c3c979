"""The compress experiment: its documents and strategies, the rule for an answer, and a table from a small model."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from ctxcourse import load_model, load_tokenizer
from ctxcourse.experiments import compress
from ctxcourse.experiments.compress import STRATEGIES, TABLE, CompressCall, budget, calls, cells, compressed, run
from ctxcourse.model.answers import Cancelled, Completion
from ctxcourse.model.qwen import Model
from ctxcourse.needle.sweeps import SweepError
from ctxcourse.samples.documents import PLACES, Document, load_documents
from ctxcourse.tables import TableError
from tests.small_model import write_small_model

DOCUMENTS = load_documents()


class Reader:
    """A model whose tokens are characters: it sums up by quoting the end, and answers where it sees the answer."""

    label, fingerprint = "a reader of endings", "reader@1"

    def __init__(self, summary: str | None = None) -> None:
        self.summary = summary
        self.batches: list[int] = []

    def count_text(self, text: str) -> int:
        return len(text)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(place, place + 1) for place in range(len(text))]

    def encode_prompt(self, prompt: list[dict[str, Any]]) -> list[int]:
        return [ord(character) for message in prompt for character in message["content"]]

    def complete_many(self, prompts: Any, max_new_tokens: int, **_: Any) -> list[Completion]:
        self.batches.append(len(prompts))
        found = []
        for prompt in prompts:
            answer, size = self.answer(prompt[1]["content"]), len(self.encode_prompt(prompt))
            found.append(Completion(answer, size, size, len(answer), 0.5, "stop", self.fingerprint))
        return found

    def answer(self, asked: str) -> str:
        text = asked.split("<text>\n")[1].split("\n</text>")[0]
        if "Summarise" in asked:
            return text[-300:] if self.summary is None else self.summary
        document = next(document for document in DOCUMENTS if document.question in asked)
        return f"It is {document.answer}." if document.answer in text else "I do not know."


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return run(calls(), Reader(), command="ctxcourse experiment compress")


# The documents


def test_there_are_twenty_documents_with_different_titles_questions_and_answers() -> None:
    assert len(DOCUMENTS) == 20
    for field in ("title", "text", "question", "answer"):
        assert len({getattr(document, field) for document in DOCUMENTS}) == 20
    assert Counter(document.place for document in DOCUMENTS) == {"beginning": 7, "middle": 7, "end": 6}


def test_three_documents_in_a_row_have_their_answers_in_three_places() -> None:
    for first in range(len(DOCUMENTS) - 2):
        assert {document.place for document in DOCUMENTS[first : first + 3]} == set(PLACES)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.title)
def test_an_answer_stands_once_where_it_is_said_to_and_its_rivals_in_the_same_text(document: Document) -> None:
    assert document.text.count(document.answer) == 1
    assert document.text.strip() == document.text
    depth = document.text.index(document.answer) / len(document.text)
    low, high = {"beginning": (0, 0.2), "middle": (0.35, 0.65), "end": (0.8, 1)}[document.place]
    assert low <= depth <= high
    assert not document.holds(document.question)
    assert document.kind(document.answer) == "hit"
    assert len(document.rivals) >= 2
    for rival in document.rivals:
        assert re.search(rf"(?<!\w){re.escape(rival)}(?!\w)", document.text)
        assert document.kind(rival) == "miss"
        assert document.kind(f"{document.question} {document.answer}") == "hit"
        assert document.kind(f"It is {rival} and not {document.answer}.") == "miss"
        assert document.kind(f"It is {document.answer} and not {rival}.") == "hit"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.title)
def test_no_other_way_to_say_the_answer_stands_elsewhere_in_the_text(document: Document) -> None:
    assert document.holds(document.text)
    assert not document.holds(document.text.replace(document.answer, "…"))
    for other in document.also:
        assert document.kind(f"I think it was {other}.") == "hit"


@pytest.mark.parametrize(
    ("answer", "said", "kind"),
    [
        ("85 euros", "Up to 85  Euros.", "hit"),
        ("85 euros", "185 euros", "miss"),
        ("85 euros", "855", "miss"),
        ("85 euros", "", "miss"),
        ("118 metres", "At 118 meters, not 140 metres", "hit"),
        ("118 metres", "At a depth of 1118 metres", "miss"),
        ("pier 6", "PIER 6", "hit"),
        ("pier 6", "pier 66", "miss"),
        ("ninety days", "90 days", "hit"),
        ("ninety days", "thirty days, or ninety days", "miss"),
        ("orders-shard-3", "orders-shard-30", "miss"),
    ],
)
def test_the_rule_for_an_answer(answer: str, said: str, kind: str) -> None:
    assert next(document for document in DOCUMENTS if document.answer == answer).kind(said) == kind


@given(st.sampled_from(DOCUMENTS), st.text(max_size=30), st.text(max_size=30))
def test_an_answer_is_found_in_whatever_stands_around_it(document: Document, before: str, after: str) -> None:
    assert document.holds(f"{before} {document.answer} {after}")


@pytest.mark.model
def test_every_document_has_from_350_to_600_tokens() -> None:
    tok = load_tokenizer()
    assert {document.title for document in DOCUMENTS if not 350 <= tok.count_text(document.text) <= 600} == set()
    assert max(budget(document, tok) for document in DOCUMENTS) <= compress.SUMMARY_TOKENS


@pytest.mark.model
def test_every_strategy_keeps_to_a_quarter_by_the_models_tokenizer_and_truncation_keeps_the_beginnings() -> None:
    tok = load_tokenizer()
    for call in calls():
        text = compressed(call, tok, summary=call.document.text)
        if call.strategy != "full":
            assert tok.count_text(text) <= tok.count_text(call.document.text) / 4
        if call.strategy == "truncation":
            assert call.document.holds(text) == (call.document.place == "beginning")


# The strategies


@given(st.sampled_from(DOCUMENTS), st.sampled_from(STRATEGIES), st.text(max_size=700))
@settings(max_examples=60, deadline=None)
def test_no_strategy_is_longer_than_its_budget(document: Document, strategy: str, summary: str) -> None:
    reader = Reader()
    text = compressed(CompressCall(document, strategy), reader, summary)
    kept_whole = strategy == "full" or (strategy == "summary" and not summary.strip())
    assert text == document.text if kept_whole else 0 < len(text) <= budget(document, reader)
    if strategy == "truncation":
        assert document.text.startswith(text)
    if strategy == "key sentences":
        assert all(part.strip() in document.text for part in re.split(r"(?<=\.)\s", text))


def test_no_strategy_sees_the_question() -> None:
    for call in calls(documents=3):
        other = Document(**{**vars(call.document), "question": "Who knows?", "answer": "nobody"})
        assert compressed(call, Reader()) == compressed(CompressCall(other, call.strategy), Reader())


# run


def test_a_table_has_one_row_a_call_with_what_was_kept_and_answered(frame: pd.DataFrame) -> None:
    assert list(frame.columns) == list(TABLE.columns)
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == dict(TABLE.columns)
    assert len(frame) == 80
    for call, row in zip(calls(), frame.itertuples(), strict=True):
        assert (row.experiment, row.document, row.strategy) == ("compress", call.document.title, call.strategy)
        assert row.text == compressed(call, Reader(), call.document.text[-300:])
        assert (row.tokens_before, row.tokens_after) == (len(call.document.text), len(row.text))
        assert row.ratio == row.tokens_after / row.tokens_before
        assert row.holds == (call.document.answer in row.text)
        assert row.answer == (f"It is {call.document.answer}." if row.holds else "I do not know.")
        assert row.kind == ("hit" if row.holds else "miss")
        assert row.new_tokens == len(row.answer)
        assert (row.spent_tokens > len(call.document.text)) == (row.strategy == "summary")
        assert row.spent_tokens == 0 or row.strategy == "summary"


def test_two_batches_are_asked_summaries_first() -> None:
    reader = Reader()
    run(calls(documents=4), reader)
    assert reader.batches == [4, 16]
    without = Reader()
    run(calls(documents=4, strategies=["full", "truncation"]), without)
    assert without.batches == [8]


def test_an_empty_summary_is_refused_and_still_paid_for() -> None:
    frame = run(calls(documents=2, strategies=["summary"]), Reader(summary="  "))
    assert list(frame["ratio"]) == [1.0, 1.0]
    assert list(frame["text"]) == [document.text for document in DOCUMENTS[:2]]
    assert (frame["spent_tokens"] > frame["tokens_before"]).all()


def test_cells_count_hits_and_say_how_much_was_kept(frame: pd.DataFrame) -> None:
    found = cells(frame).set_index("strategy")
    assert list(found.index) == list(STRATEGIES)
    assert (found["n"] == 20).all()
    assert list(found["hit"] + found["miss"]) == [20] * 4
    assert found.loc["full", "hit"] == 20
    assert found.loc["full", "ratio"] == found.loc["full", "holds"] == 1
    assert found.loc["truncation", "hit"] == 7
    assert found.loc["truncation", "holds"] == 7 / 20
    assert (found["ratio"][1:] <= 0.25).all()
    assert ((found["low"] <= found["hit"] / 20) & (found["hit"] / 20 <= found["high"])).all()


def test_provenance_is_that_of_the_questions_and_says_what_the_summaries_were(frame: pd.DataFrame) -> None:
    about = frame.attrs["provenance"]
    assert (about["experiment"], about["calls"], about["summaries"]["calls"]) == ("compress", 80, 20)
    spent = frame["spent_tokens"].sum() - sum(len(document.text[-300:]) for document in DOCUMENTS)
    assert about["tokens_in_prompts"] == frame["prompt_tokens"].sum()
    assert about["summaries"]["tokens_in_prompts"] == about["summaries"]["computed_tokens"] == spent
    assert about["summaries"]["remembered"] == 0
    assert about["arguments"] == {"documents": 20, "strategies": list(STRATEGIES)}
    assert about["command"] == "ctxcourse experiment compress"


def test_a_table_comes_back_from_its_file_as_it_was(frame: pd.DataFrame, tmp_path: Path) -> None:
    TABLE.save(frame, tmp_path / "compress")
    back = TABLE.load(tmp_path / "compress.csv")
    assert_frame_equal(back, frame)
    assert back.attrs == frame.attrs


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(SweepError, match=r"documents=21.*from 1 to 20"):
        calls(documents=21)
    with pytest.raises(TableError, match=r"'sumary'.*truncation"):
        calls(strategies=["sumary"])
    with pytest.raises(TableError, match=r"compress\.calls"):
        run([], Reader())


# A real, small model


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Model:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CTXCOURSE_HOME", str(home))
        return load_model(str(write_small_model(home / "small")))


def test_a_real_model_is_asked_and_a_stopped_run_goes_on(small: Model) -> None:
    asked = calls(documents=2)
    with pytest.raises(Cancelled):
        run(asked, small, progress=False, should_stop=lambda: True)
    first = run(asked, small, progress=False)
    assert (first["prompt_tokens"] > first["tokens_after"]).all()
    assert (first["new_tokens"] <= compress.NEW_TOKENS).all()
    assert first.attrs["provenance"]["fingerprint"] == small.fingerprint
    again = run(asked, small, progress=False)
    assert_frame_equal(again, first)
    about = again.attrs["provenance"]
    assert about["remembered"] == about["calls"] == 8
    assert about["summaries"]["remembered"] == about["summaries"]["calls"] == 2
    assert again.attrs["provenance"]["computed_tokens"] == 0
