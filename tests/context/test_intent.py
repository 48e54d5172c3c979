"""Intent by keywords: whole words, in any script."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.retrieval.intent import IntentError, intent
from ctxcourse.retrieval.relevance import fold

from .strategies import texts


def found(keyword: str, query: str) -> bool:
    return intent(query, {"category": [keyword]}) == ["category"]


@pytest.mark.parametrize(
    ("keyword", "query"),
    [
        ("test", "Test it!"),
        ("test", "(test)"),
        ("TEST", "run the test_suite"),
        ("test", "un-test-ed"),
        ("test", "用test吧"),
        ("shard", "pay-shard-7 is slow"),
        ("log", "the user's 'log'"),
        ("unit test", "Run the unit\n  test now"),
        ("unit test", "unit-tests? the UNIT_TEST"),
        ("unit-test", "a unit test"),
        ("error rate", "error–rate"),
        ("c++", "in C++, please"),
        ("node.js", "a Node.js service"),
        (".net", "ASP.NET"),
        ("24/7", "support 24/7?"),
        ("🚀", "ship it🚀now"),
        ("don't", "Don't do it"),
        ("don't", "Don’t do it"),
        ("o’clock", "at five o'clock"),
        ("straße", "in der STRASSE"),
        ("тест", "Запусти ТЕСТ!"),
        ("ΣΊΣΥΦΟΣ", "ο σίσυφος"),
        ("हिन्दी", "आपका हिन्दी अनुवाद"),
        ("café", "the cafe\u0301 is open"),
        ("خواهم", "می خواهم"),
        ("天気", "東京の天気は？"),
        ("測試", "運行測試"),
        ("データ", "ﾃﾞｰﾀを見る"),
        ("ภาษา", "เรียนภาษาไทย"),
        ("날씨", "서울 날씨가 어때"),
        ("error 天気", "the error  天気予報"),
        ("gpt 模型", "我的gpt 模型很好"),
        ("４４１７", "ext 4417"),
    ],
)
def test_found(keyword, query):
    assert found(keyword, query)


@pytest.mark.parametrize(
    ("keyword", "query"),
    [
        ("test", "What is the latest?"),
        ("test", "tests"),
        ("test", "testé"),
        ("test", "teste\u0301"),
        ("test", "test2"),
        ("y", "x\u0302y"),
        ("cafe", "café"),
        ("cafe", "cafe\u0301"),
        ("é", "e"),
        ("тест", "протест"),
        ("тест", "тестовый"),
        ("हिन", "हिन्दी"),
        ("हिन्द", "हिन्दी"),
        ("سلام", "السلام"),
        ("unit test", "unit latest"),
        ("unit test", "the unit? Test it"),
        ("unit test", "test unit"),
        ("unit test", "unittest"),
        ("node.js", "node js"),
        ("c++", "c"),
        ("a.c", "abc"),
        ("4417", "44170"),
        ("か", "がく"),
        ("か", "か\u3099く"),
        ("ที", "ที่นี่"),
        ("天気", "天の気"),
        ("날씨", "날 씨"),
    ],
)
def test_not_found(keyword, query):
    assert not found(keyword, query)


def test_categories_come_in_the_order_of_the_table_each_once():
    table = {"logs": ["log", "logs"], "empty": [], "weather": ("forecast",), "tests": {"test"}}
    assert intent("test the logs, log the forecast, test", table) == ["logs", "weather", "tests"]
    assert intent("forecast", table) == ["weather"]
    assert intent("nothing of the sort", table) == []


@pytest.mark.parametrize("query", ["", "  ", "?!"])
def test_an_empty_query_and_an_empty_table_give_no_category(query):
    assert intent(query, {"tests": ["test"]}) == []
    assert intent(query, {}) == []


WORDS = ["test", "latest", "Тест", "протест", "हिन्दी", "café", "x1", "unit test", "c++"]


@given(st.sampled_from(WORDS), texts, texts)
def test_a_keyword_set_apart_is_found_whatever_stands_around_it(keyword, before, after):
    assert found(keyword, f"{before} {keyword} , {after}")


@given(st.sampled_from([word for word in WORDS if word[-1].isalpha()]), st.sampled_from("aяéह7\u0301"))
def test_a_keyword_within_a_longer_word_is_not_found(keyword, letter):
    assert not found(keyword, f"{letter.strip(chr(0x301)) or 'a'}{keyword}")
    assert not found(keyword, f"{keyword}{letter}")


@given(texts, texts)
def test_a_query_is_its_own_keyword_and_case_and_normal_form_make_no_difference(text, query):
    keyword = f"{text}k"
    assert found(keyword, keyword)
    decomposed = unicodedata.normalize("NFD", query)
    assert found(keyword, query) == found(keyword, decomposed) == found(fold(keyword), query)
    assert found(keyword, f"{query} {decomposed}") or not found(keyword, query)


@pytest.mark.parametrize(
    ("query", "table", "said"),
    [
        (None, {}, "the query must be a string, not null"),
        ("q", ["test"], "keywords must be a dict of lists, by category, not list"),
        ("q", {"tests": "test"}, "keywords of 'tests' must be a list, not str: 'test'"),
        ("q", {"tests": None}, "keywords of 'tests' must be a list, not null"),
        ("q", {"tests": ["test", ""]}, "a keyword of 'tests' is ''"),
        ("q", {"tests": [" \u00a0\n"]}, "a keyword of 'tests' is"),
        ("q", {"tests": ["—_-"]}, "a keyword of 'tests' is"),
        ("q", {"tests": ["\u200d"]}, "a keyword of 'tests' is"),
        ("q", {"tests": [7]}, "a keyword of 'tests' is 7"),
    ],
)
def test_what_cannot_be_matched_is_refused_by_name(query, table, said):
    with pytest.raises(IntentError, match=said):
        intent(query, table)
    assert issubclass(IntentError, CourseError)
