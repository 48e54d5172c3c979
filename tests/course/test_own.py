"""Readers' own records: what may stand in a table, what is refused and how, which calls come of it, who is right."""

from __future__ import annotations

import datetime
import math
import pickle

import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.needle import DEPTHS
from ctxcourse.needle.own import OwnCall, OwnError, first_value, read_records
from ctxcourse.needle.sweeps import Call, SweepError

SENTENCE, QUESTION = "{name} sits in room {room}.", "In which room is {name}? Answer with the room and nothing else."
ROOMS = "name,room\nAnn,12\nAnn Marie,123\nBo,007\nCleo,NA\n"


def rooms(text=ROOMS, sentence=SENTENCE, question=QUESTION, answer="room"):
    return read_records(text, sentence, question, answer)


def of_values(values, sentence="{n}: {v}"):
    """Records whose answers are these values."""
    frame = pd.DataFrame({"n": [f"Item {n}x" for n in range(len(values))], "v": values})
    return read_records(frame, sentence, "What is {n}?", "v")


# Reading


def test_values_stay_the_text_that_they_are():
    found = rooms()
    assert found.answers == ("12", "123", "007", "NA")
    assert found.lines[2:] == ("Bo sits in room 007.", "Cleo sits in room NA.")
    assert found.questions[1] == "In which room is Ann Marie? Answer with the room and nothing else."
    assert found.places == ("line 2", "line 3", "line 4", "line 5")
    assert found.names == ("Ann", "Ann Marie", "Bo", "Cleo")
    assert len(found) == 4


@pytest.mark.parametrize("source", ["text", "path", "name of a path"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_files_and_pasted_lines_with_any_separator_line_ending_and_mark(tmp_path, source, separator, ending, mark):
    text = mark + ROOMS.replace(",", separator).replace("\n", ending)
    path = tmp_path / "rooms.csv"
    path.write_bytes(text.encode("utf-8"))
    found = rooms({"text": text, "path": path, "name of a path": str(path)}[source])
    assert found == rooms()


def test_the_separator_is_the_one_that_makes_the_columns():
    found = rooms('name;room;note\nAnn;"1;2";a, b, c\nBo;"3,4";d, e\n')
    assert found.answers == ("1;2", "3,4")
    one = read_records("fact, or not\nthe sky is blue\n", "{fact, or not}", "What colour?", "fact, or not")
    assert one.lines == ("the sky is blue",)


def test_blank_lines_and_lines_of_separators_are_no_records():
    found = rooms("\n\nname,room\n\nAnn,12\n,\n  \nBo,13\n\n")
    assert (found.answers, found.places) == (("12", "13"), ("line 5", "line 8"))


def test_quoted_cells_keep_separators_quotes_and_the_count_of_lines():
    text = 'note,name,room\n"two\nlines","Ives, Ada","the ""blue"" one"\n,Bo,13\n'
    found = rooms(text)
    assert found.lines == ('Ives, Ada sits in room the "blue" one.', "Bo sits in room 13.")
    assert found.places == ("line 2", "line 4")


def test_a_data_frame_is_read_like_a_file():
    frame = pd.DataFrame({"name": ["Ann", "Ann Marie", "Bo", "Cleo"], "room": ["12", "123", "007", "NA"]})
    before = frame.copy()
    found = read_records(frame, SENTENCE, QUESTION, "room")
    assert (found.lines, found.questions, found.answers) == (rooms().lines, rooms().questions, rooms().answers)
    assert found.places == ("row 0", "row 1", "row 2", "row 3")
    assert frame.equals(before)
    assert read_records(frame.set_index("name", drop=False), SENTENCE, QUESTION, "room") == found


@pytest.mark.parametrize(
    ("cells", "answers"),
    [
        ([7, 12], ("7", "12")),
        ([7.0, 0.1], ("7.0", "0.1")),
        ([True, False], ("True", "False")),
        ([datetime.date(2024, 5, 1), datetime.date(2024, 6, 1)], ("2024-05-01", "2024-06-01")),
        (pd.to_datetime(["2024-05-01", "2024-06-01"]), ("2024-05-01", "2024-06-01")),
        (pd.Categorical(["b", "a"]), ("b", "a")),
        (pd.array([7, 12], dtype="Int64"), ("7", "12")),
        ([7, "x"], ("7", "x")),
    ],
)
def test_cells_that_are_no_text_are_written_as_pandas_writes_them(cells, answers):
    assert of_values(cells).answers == answers


@pytest.mark.parametrize("gap", [float("nan"), None, pd.NA, pd.NaT, "", "  ", "\u00a0"])
def test_missing_cells_are_named_by_row_and_column(gap):
    with pytest.raises(OwnError, match="row 1, column 'v' is empty"):
        of_values(["a", gap, "c"])


def test_columns_that_no_template_names_may_hold_anything():
    found = rooms("name,room,room2,room2\nAnn,12,,x\nBo,13,,\n")
    assert found.answers == ("12", "13")


def test_columns_of_a_data_frame_need_not_be_text():
    found = read_records(pd.DataFrame([["Ann", 12], ["Bo", 13]]), "{0} sits in {1}.", "Where is {0}?", "1")
    assert found.lines == ("Ann sits in 12.", "Bo sits in 13.")


@pytest.mark.parametrize(
    "value",
    [
        "{name}",
        "{",
        "}}",
        "{0}",
        "%s",
        r"\1",
        r"a.b*c",
        "(x",
        "[a-z]+",
        "$5",
        "C++",
        "機密",
        "n°5",
        "👩‍👩‍👧",
        "e\u0301a",
    ],
)
def test_any_value_stands_in_its_line_as_it_is_and_is_found(value):
    found = of_values([value, "plain"])
    assert found.lines[0] == f"Item 0x: {value}"
    call = found.call(0, 0.5)
    assert call.right == value
    for answer in (value, f" {value}.", f"It is {value}, I think.", f"**{value}**"):
        assert call.score(answer) == ("hit", value, call.row)
    assert found.call(1, 0.5).score(f"It is {value}.").kind == "other record"


def test_braces_in_templates():
    found = rooms(sentence="{{{name}}} is in {room} {{name}}.")
    assert found.lines[0] == "{Ann} is in 12 {name}."
    odd = read_records("first:name,room [no.],x!r\nAnn,12,y\n", "{first:name}: {room [no.]}", "{x!r}?", "room [no.]")
    assert (odd.lines, odd.questions) == (("Ann: 12",), ("y?",))


# What is refused


def refused(said, *arguments, **named):
    with pytest.raises(OwnError, match=said) as caught:
        rooms(*arguments, **named)
    assert isinstance(caught.value, CourseError)
    return str(caught.value)


@pytest.mark.parametrize("text", ["\n", "\ufeff\n", " \n\t\n", ",,\n", "\r\n\r\n"])
def test_an_empty_table_is_refused(text):
    refused("the text is empty", text)


def test_an_empty_file_a_missing_file_and_a_folder_are_refused_by_name(tmp_path):
    (tmp_path / "empty.csv").write_bytes(b"")
    refused(r"empty\.csv is empty", tmp_path / "empty.csv")
    refused(r"none\.csv does not exist", tmp_path / "none.csv")
    refused("cannot be read", tmp_path)
    refused("cannot be read", "a\0b")


@pytest.mark.parametrize("source", ["name,room\n", "name,room\r\n\r\n", pd.DataFrame({"name": [], "room": []})])
def test_a_header_alone_is_refused(source):
    refused("no records", source)


@pytest.mark.parametrize("source", [None, 7, ["name,room"], b"name,room\nAnn,12\n", {"name": ["Ann"]}])
def test_other_sources_are_refused_by_type(source):
    refused(f"not from {'null' if source is None else type(source).__name__}", source)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("name,room\nAnn,12\nJürgen,13\n".encode("latin-1"), "rooms.csv is not UTF-8: byte 0xfc in line 3"),
        (ROOMS.encode("utf-16"), "rooms.csv is not UTF-8: byte 0xff in line 1"),
    ],
)
def test_another_encoding_is_refused_by_line(tmp_path, content, said):
    (tmp_path / "rooms.csv").write_bytes(content)
    refused(said, tmp_path / "rooms.csv")


@pytest.mark.parametrize(
    "text", ["name,room\nAnn,12\nBo\n", "name,room\nAnn,12\nBo,13,14\n", "name;room\nA;1\nB;2;3\n"]
)
def test_a_line_with_too_few_or_too_many_cells_is_refused_by_line(text):
    refused(r"the text, line 3: [13] cells, and the header has 2 columns", text)


@pytest.mark.parametrize("text", ['name,room\nAnn,12\n"Bo,13\nCleo,14\n', 'name,room\nAnn,12\n"Bo"x,13\n'])
def test_broken_quotes_are_refused_by_line(text):
    refused("the text, line 3: .*look at its quotes", text)


def test_unknown_columns_are_refused_with_those_that_there_are():
    for named in (
        {"sentence": "{nam} sits in {room}."},
        {"question": "Where is {nam}?"},
        {"answer": "nam"},
        {"sentence": "{} {room}"},
    ):
        refused(r"the text has no column '(nam)?'; it has 'name', 'room'", **named)
    refused("it has 'name|room'", "name|room\nAnn|12\n")
    refused("it has 'Name', ' room'", "Name, room\nAnn, 12\n")


@pytest.mark.parametrize(
    "source", ["name,room,room\nAnn,12,13\n", pd.DataFrame([["A", 1, 2]], columns=["name", "room", "room"])]
)
def test_a_column_that_stands_twice_is_refused_by_place(source):
    refused(r"more than one column 'room' \(columns 2 and 3\)", source)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,room\nAnn,12\nBo,\n", "the text, line 3, column 'room' is empty"),
        ("name,room\n  ,12\nBo,13\n", "the text, line 2, column 'name' is empty"),
        ('name,room\nAnn,12\nBo,"1\n3"\n', "the text, line 3, column 'room' has a line break"),
        ("name,room\nAnn,12\nBo,12\n", r"line 2 and line 3: the same answer \(column 'room'\), '12'"),
        ("name,room\nAnn,Blue  Room\nBo,blue room\n", "line 2 and line 3: the same answer.*'blue room'"),
        ("name,room\nAnn,12\nBo,13\nAnn,14\n", "line 2 and line 4: the same question, 'In which room is Ann"),
    ],
)
def test_unusable_records_are_refused_by_line_and_column(text, said):
    refused(said, text)


def test_half_a_surrogate_pair_is_refused_where_it_stands():
    with pytest.raises(OwnError, match="row 1, column 'v' holds half of a surrogate pair"):
        read_records(
            pd.DataFrame({"n": ["a", "b"], "v": ["x", "\ud83d"]}, dtype=object), "{n}: {v}", "What is {n}?", "v"
        )
    refused("the sentence holds half of a surrogate", sentence="{name} {room} \ud83d")


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"sentence": "{name} sits somewhere."}, r"line 2: the sentence 'Ann sits somewhere.' does not hold .*{room}"),
        ({"sentence": "{name} has X{room}Y."}, "does not hold the answer '12' as a word"),
        ({"question": "Is {room} where {name} sits?"}, "the question holds {room}, which is the answer"),
        ({"question": "Which room is it?"}, "line 2 and line 3: the same question"),
        ({"sentence": "{name sits in {room}."}, "the sentence has a single '{' at character 0"),
        ({"question": "Where is name}?"}, "the question has a single '}' at character 13"),
        ({"sentence": ""}, "the sentence is ''"),
        ({"question": "Where\nis {name}?"}, "the question is .*one line"),
        ({"sentence": None}, "the sentence must be a string"),
        ({"question": 7}, "the question must be a string"),
        ({"answer": None}, "no column None"),
    ],
)
def test_templates_that_cannot_be_used_are_refused(named, said):
    refused(said, **named)


def test_answers_longer_than_a_model_may_write_are_refused_by_line():
    class Letters:
        def count_text(self, text):
            return len(text)

    rooms().check_answers(Letters())
    with pytest.raises(OwnError, match=r"line 3: the answer 'abcdefghijklm' takes 13 tokens, and a model may write 12"):
        rooms("name,room\nAnn,12\nBo,abcdefghijklm\n").check_answers(Letters())


# Calls


def test_a_call_has_the_record_at_its_depth_and_the_others_in_order():
    found = rooms()
    call = found.call(1, 1.0, trial=3)
    assert isinstance(call, Call)
    assert call.lines == (found.lines[0], *found.lines[2:], found.lines[1])
    assert call.values == ("12", "007", "NA", "123")
    assert (call.row, call.right, call.needle, call.owner) == (3, "123", "line 3", "Ann Marie")
    assert (call.experiment, call.trial, call.records, call.share, call.depth) == ("position", 3, 4, 1.0, 1.0)
    assert call.asked == found.questions[1]


def test_the_prompt_is_a_system_sentence_the_lines_and_the_question():
    call = rooms().call(0, 0.0)
    system, user = call.messages()
    assert (system["role"], user["role"]) == ("system", "user")
    assert user["content"] == "The list:\n" + "\n".join(call.lines) + "\n\n" + call.asked
    assert not any(value in system["content"] for value in call.values)


sizes = st.integers(1, 40)


def numbered(size):
    return rooms("name,room\n" + "".join(f"P{n},R{n}\n" for n in range(size)))


def check(call, found):
    assert call.lines[call.row] == found.lines[found.answers.index(call.right)]
    assert call.values[call.row] == call.right
    assert sorted(call.lines) == sorted(found.lines)
    assert [found.lines[found.answers.index(value)] for value in call.values] == list(call.lines)
    assert call.records == len(call.lines) == len(found)
    assert call.asked == found.questions[found.answers.index(call.right)]
    assert call.owner in call.asked


@given(sizes, st.integers(1, 60), st.integers(0, 10**6))
def test_position_moves_another_record_in_each_trial_and_never_asks_the_same_twice(size, trials, seed):
    found = numbered(size)
    trials = min(trials, math.factorial(min(size, 8)))
    calls = found.position([0, 0.25, 1], trials, seed)
    assert [(call.trial, call.depth) for call in calls] == [(t, d) for t in range(trials) for d in (0, 0.25, 1)]
    assert {(call.trial, call.seed) for call in calls} == {(t, seed * 10_000 + t) for t in range(trials)}
    for call in calls:
        check(call, found)
        assert call.row == round(call.depth * (size - 1))
    for depth in (0, 0.25, 1):
        at = [call for call in calls if call.depth == depth]
        assert len({(call.lines, call.asked) for call in at}) == trials
        rights = [call.right for call in at]
        assert max(map(rights.count, rights)) - min(map(rights.count, found.answers)) <= 1
    for trial in range(trials):
        of_trial = [call for call in calls if call.trial == trial]
        others = {tuple(line for line in call.lines if line != call.lines[call.row]) for call in of_trial}
        assert len({call.right for call in of_trial}) == len(others) == 1
        if trial < size:
            right = of_trial[0].right
            assert others == {tuple(line for line, v in zip(found.lines, found.answers, strict=True) if v != right)}
    assert calls == found.position([0, 0.25, 1], trials, seed)


@given(sizes, st.integers(1, 8), st.integers(0, 10**6))
def test_rows_asks_every_row_of_each_order(size, trials, seed):
    found = numbered(size)
    trials = min(trials, math.factorial(min(size, 8)))
    calls = found.rows(trials, seed)
    assert [(call.trial, call.row) for call in calls] == [(t, row) for t in range(trials) for row in range(size)]
    assert calls[0].lines == found.lines
    assert len({call.lines for call in calls}) == trials
    assert {call.experiment for call in calls} == {"rows"}
    for call in calls:
        check(call, found)
        assert call.depth == (call.row / (size - 1) if size > 1 else 0.0)


def test_the_defaults_fit_the_list():
    assert [len({call.trial for call in numbered(size).position()}) for size in (1, 2, 3, 5, 25, 40)] == [
        1,
        2,
        6,
        32,
        32,
        32,
    ]
    assert {call.depth for call in numbered(25).position()} == set(DEPTHS)
    assert [call.lines for call in rooms().rows()] == [rooms().lines] * 4
    assert {call.seed for call in rooms().rows()} == {10_000}


def test_another_seed_asks_in_another_order():
    orders = {tuple(call.right for call in numbered(25).position([0.5], 25, seed)) for seed in range(20)}
    assert len(orders) == 20


@pytest.mark.parametrize("depth", [-0.1, 1.1, float("nan"), "0.5", None, True])
def test_impossible_depths_are_refused(depth):
    for use in (lambda: rooms().call(0, depth), lambda: rooms().position([depth])):
        with pytest.raises(SweepError, match="depth"):
            use()


@pytest.mark.parametrize("row", [-1, 4, 1.0, True, None])
def test_impossible_rows_are_refused(row):
    with pytest.raises(OwnError, match="rows 0 to 3"):
        rooms().call(row, 0.5)


@pytest.mark.parametrize("trials", [0, -1, 1.0, True, "3", 25])
def test_impossible_trials_are_refused(trials):
    for use in (rooms().position, rooms().rows):
        with pytest.raises(SweepError, match="trials="):
            use(trials=trials)


def test_more_trials_than_a_short_list_has_orders_say_how_many_there_are():
    with pytest.raises(SweepError, match="trials=32: a list of 4 can be asked in 24 different ways"):
        rooms().position(trials=32)
    assert len(rooms().position([0.5], 24)) == 24


@pytest.mark.parametrize("seed", [-1, 1.0, True, None, "1"])
def test_impossible_seeds_are_refused(seed):
    for use in (rooms().position, rooms().rows):
        with pytest.raises(SweepError, match="seed="):
            use(seed=seed)


def test_calls_are_values():
    call = rooms().call(0, 0.5)
    assert isinstance(call, OwnCall)
    assert call == rooms().call(0, 0.5) == pickle.loads(pickle.dumps(call))
    assert len({call, rooms().call(0, 0.5), rooms().call(1, 0.5)}) == 2


# Scoring


@pytest.mark.parametrize(
    ("answer", "values", "found"),
    [
        # whole words, the first one, the longer one where two begin together
        ("12", ["12", "123"], "12"),
        ("123", ["12", "123"], "123"),
        ("1234", ["12", "123"], None),
        ("Ann Marie", ["Ann", "Ann Marie"], "Ann Marie"),
        ("Ann", ["Ann", "Ann Marie"], "Ann"),
        ("Ann Maries", ["Ann", "Ann Marie"], "Ann"),
        ("Annette", ["Ann", "Ann Marie"], None),
        ("Joann", ["Ann"], None),
        ("Marie Ann", ["Ann Marie", "Ann", "Marie"], "Marie"),
        ("not 13 but 12", ["12", "13"], "13"),
        ("room_12", ["12"], None),
        ("A-12", ["12", "A"], "A"),
        ("Ann's", ["Ann"], "Ann"),
        # case, white space, apostrophes, composition, digits of other scripts
        ("ANN marie", ["Ann Marie"], "Ann Marie"),
        ("Ann\n  Marie", ["Ann Marie"], "Ann Marie"),
        ("Ann\u00a0Marie", ["Ann Marie"], "Ann Marie"),
        ("O'Brien", ["O’Brien"], "O’Brien"),
        ("ZOE\u0308", ["zo\u00eb"], "zo\u00eb"),
        ("STRASSE", ["Straße"], "Straße"),
        ("１２", ["12"], "12"),
        ("٧٣٠٥", ["7305"], "7305"),
        # numbers
        ("12.", ["12"], "12"),
        ("12, 13", ["13", "12"], "12"),
        ("12.5", ["12"], None),
        ("12.5", ["12", "12.5"], "12.5"),
        ("0.12", ["12"], None),
        ("7,305", ["305", "7"], None),
        ("7,305", ["7305"], "7305"),
        ("7.305", ["7305", "7.305"], "7.305"),
        ("7305", ["7305", "7.305"], "7305"),
        ("1,234,567", ["1234567"], "1234567"),
        ("7,305,411", ["7305"], None),
        ("7 305", ["7305"], None),
        ("$5", ["5", "$5"], "$5"),
        ("US$5", ["$5"], "$5"),
        ("12%", ["12"], "12"),
        ("2024-05-01", ["2024-05-01", "2024"], "2024-05-01"),
        ("007", ["7", "007"], "007"),
        # scripts without spaces between words
        ("部屋は東京です。", ["東京", "京都"], "東京"),
        ("12号室です", ["12"], "12"),
        ("ห้อง12ครับ", ["12"], "12"),
        ("서울은", ["서울"], "서울"),
        ("東京都", ["東京", "東京都"], "東京都"),
        # nothing
        ("", ["12"], None),
        ("I don't know.", ["12"], None),
        ("12", [], None),
    ],
)
def test_rules_for_the_value_that_counts(answer, values, found):
    assert first_value(answer, values) == found
    assert first_value(answer, list(reversed(values))) == found


def test_the_question_repeated_word_for_word_is_set_aside():
    asked = "Who is in room 12?"
    assert first_value(f"{asked} 13", ["12", "13"], asked) == "13"
    assert first_value("who is in ROOM 12? 13", ["12", "13"], asked) == "13"
    assert first_value("Room 12? 13", ["12", "13"], asked) == "12"
    assert first_value(asked, ["12", "13"], asked) is None


def test_scores_name_the_row_in_the_order_of_the_call():
    call = rooms().call(0, 1.0)
    assert call.score("12") == ("hit", "12", 3)
    assert call.score("Room 007.") == ("other record", "007", 1)
    assert call.score("na") == ("other record", "NA", 2)
    assert call.score("Ann sits in room 123.") == ("other record", "123", 0)
    for nothing in ("", "1234", "7", "nowhere", call.asked):
        assert call.score(nothing) == ("neither", None, None)


words = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=8)
cells = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(str.strip)


@given(st.lists(cells, min_size=1, max_size=6), st.data())
@example(["12", "123", "1"], None)
def test_a_value_alone_or_in_a_sentence_is_found_as_itself(values, data):
    try:
        found = of_values(values, sentence="{n} = {v} !")
    except OwnError as error:
        assume("the same answer" not in str(error))
        raise
    for row, value in enumerate(values):
        depth = data.draw(st.sampled_from(DEPTHS)) if data else 0.5
        call = found.call(row, depth)
        for answer in (value, f"  {value}\n", f"zqx {value} zqx"):
            assert call.score(answer) == ("hit", value, call.row)
        for other in values:
            expected = "hit" if other == value else "other record"
            assert call.score(other).kind == expected


@given(st.text(max_size=60), st.lists(words, max_size=6))
def test_every_answer_has_one_value_or_none_and_the_rest_of_the_text_after_it_is_not_looked_at(answer, values):
    found = first_value(answer, values)
    assert found is None or found in values
    if found is not None:
        assert first_value(f"{answer} {' '.join(values)}", values) == found


def test_a_question_that_gives_its_answer_away_is_refused():
    with pytest.raises(OwnError, match=r"line 3: the question 'Where is Bo \(12\)\?' holds the answer '12'"):
        read_records("name,room\nAda,007\nBo (12),12\n", "{name} sits in room {room}.", "Where is {name}?", "room")
