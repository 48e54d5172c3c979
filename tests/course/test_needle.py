"""Registers, moves and the rules by which an answer is classified; no model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse import needle
from ctxcourse.errors import CourseError
from ctxcourse.needle import Record, Register, RegisterError, classify, first_extension, numbers, register
from ctxcourse.needle.owners import OWNERS

lengths = st.integers(1, needle.LONGEST)
seeds = st.integers(0, 10_000)
THREE = Register(
    (
        Record("INC-10001", "Ada Ives", "7305"),
        Record("INC-10002", "Bo Lund", "4411"),
        Record("INC-10003", "Cleo Mars", "0920"),
    )
)
QUESTION = needle.question(THREE, 0)


@given(lengths, seeds)
def test_a_register_has_unique_tickets_owners_and_four_digit_extensions(records, seed):
    drawn = register(records, seed)
    assert len(drawn) == len(drawn.lines) == records
    for field in ("ticket", "owner", "extension"):
        assert len({getattr(record, field) for record in drawn.records}) == records
    for record, line in zip(drawn.records, drawn.lines, strict=True):
        assert numbers(record.extension) == [record.extension]
        assert len(record.extension) == 4
        assert line.count(record.extension) == line.count(record.owner) == line.count(record.ticket) == 1


@given(lengths, seeds)
def test_all_sentences_follow_one_pattern(records, seed):
    stripped = {
        record.line.replace(record.ticket, "").replace(record.owner, "").replace(record.extension, "")
        for record in register(records, seed).records
    }
    assert len(stripped) == 1


@given(lengths, seeds)
def test_same_seed_same_register_and_a_shorter_one_is_its_beginning(records, seed):
    assert register(records, seed) == register(records, seed)
    assert register(records, seed).records == register(needle.LONGEST, seed).records[:records]


def test_registers_stay_what_they_were_when_figures_were_recorded():
    drawn = [*register(2, seed=1).records, *register(1, seed=2).records]
    assert [(record.ticket, record.owner, record.extension) for record in drawn] == [
        ("INC-27611", "Henry Whitfield", "6713"),
        ("INC-84606", "Emeka Eze", "8244"),
        ("INC-17412", "Mikael Berg", "2008"),
    ]


def test_another_seed_gives_another_register():
    drawn = {register(25, seed).text() for seed in range(32)}
    golds = {register(25, seed).records[0] for seed in range(32)}
    assert len(drawn) == len(golds) == 32


@given(lengths, seeds, st.data())
def test_moving_changes_the_place_of_one_record_only(records, seed, data):
    before = register(records, seed)
    row = data.draw(st.integers(0, records - 1))
    depth = data.draw(st.sampled_from(needle.DEPTHS) | st.floats(0, 1))
    after = before.move(row, depth)
    slot = after.slot(depth)
    assert slot == round(depth * (records - 1))
    assert after.records[slot] == before.records[row]
    others = [record for record in before.records if record != before.records[row]]
    assert [record for record in after.records if record != before.records[row]] == others


def test_depths_reach_both_ends():
    assert [register(25).slot(depth) for depth in needle.DEPTHS] == [0, 3, 6, 9, 12, 15, 18, 21, 24]
    assert register(1).slot(1.0) == 0


@given(lengths, seeds, st.data())
def test_the_question_is_about_one_owner_and_the_register_stands_in_the_prompt(records, seed, data):
    drawn = register(records, seed)
    row = data.draw(st.integers(0, records - 1))
    content = needle.messages(drawn, row)[-1]["content"]
    assert drawn.text() in content
    asked = content.rsplit("\n", 1)[1]
    assert [record.owner for record in drawn.records if record.owner in asked] == [drawn.records[row].owner]
    assert not numbers(asked)


@pytest.mark.parametrize("records", [0, -1, 141, 2.0, True, "25"])
def test_impossible_lengths_are_refused_with_the_value(records):
    with pytest.raises(RegisterError, match=r"records=.*from 1 to 140"):
        register(records)


@pytest.mark.parametrize("depth", [-0.01, 1.01, float("nan"), float("inf"), "0.5", None])
def test_impossible_depths_are_refused(depth):
    with pytest.raises(RegisterError, match="from 0"):
        register(3).move(0, depth)


@pytest.mark.parametrize("row", [-1, 3, 1.0, True, None])
def test_impossible_rows_are_refused_everywhere(row):
    for use in (
        lambda: THREE.move(row, 0.5),
        lambda: needle.messages(THREE, row),
        lambda: classify("7305", THREE, row),
    ):
        with pytest.raises(CourseError, match="rows 0 to 2"):
            use()


@pytest.mark.parametrize("field", ["ticket", "owner", "extension"])
def test_duplicates_are_refused_by_name_and_row(field):
    values = {"ticket": "INC-10009", "owner": "Di Noor", "extension": "5555"}
    values[field] = getattr(THREE.records[1], field)
    with pytest.raises(RegisterError, match=f"rows 1 and 3 have the same {field}"):
        Register((*THREE.records, Record(**values)))


@pytest.mark.parametrize("extension", ["730", "73055", "7,305", "", "73O5", "٧٣٠٥"])
def test_an_extension_is_four_plain_digits(extension):
    with pytest.raises(RegisterError, match="not four digits"):
        Register((Record("INC-1", "Ada Ives", extension),))


def test_an_empty_register_is_refused():
    with pytest.raises(RegisterError, match="at least one record"):
        Register(())


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("7305", "hit"),
        (" 7305.", "hit"),
        ("Ada Ives can be reached at extension 7305.", "hit"),
        ("**7305**", "hit"),
        ("x7305", "hit"),
        # thousands separators
        ("7,305", "hit"),
        ("7.305", "hit"),
        ("7'305", "hit"),
        ("7’305", "hit"),
        ("7\u00a0305", "hit"),
        ("7\u202f305", "hit"),
        ("7_305", "hit"),
        ("7,30", "neither"),
        ("7,3055", "neither"),
        ("17,305", "neither"),
        ("7,305,411", "neither"),
        ("7 305", "neither"),
        # two numbers: the first of four digits counts
        ("7305 or 4411", "hit"),
        ("4411, not 7305", "other record"),
        ("4411,7305", "other record"),
        ("9999 and then 7305", "neither"),
        ("Ticket INC-10001: 7305", "hit"),
        ("INC-10002 4411", "other record"),
        # longer and shorter runs of digits
        ("73051", "neither"),
        ("17305", "neither"),
        ("730", "neither"),
        ("73 05", "neither"),
        ("73-05", "neither"),
        ("10001", "neither"),
        # leading zeros and digits of other scripts
        ("0920", "other record"),
        ("920", "neither"),
        ("７３０５", "hit"),
        ("٧٣٠٥", "hit"),
        # no number at all, and the question repeated
        ("", "neither"),
        ("   \n", "neither"),
        ("I don't know.", "neither"),
        (QUESTION, "neither"),
        (f"{QUESTION} 7305", "hit"),
        (f"{QUESTION}\n4411", "other record"),
    ],
)
def test_rules_of_classification(answer, kind):
    assert classify(answer, THREE, row=0) == kind


def test_digits_of_a_repeated_question_are_set_aside():
    numbered = Register((Record("INC-1", "Unit 4411", "7305"), Record("INC-2", "Bo Lund", "4411")))
    asked = needle.question(numbered, 0)
    assert "4411" in asked
    assert classify(f"{asked} 7305", numbered, row=0) == "hit"
    assert classify(asked, numbered, row=0) == "neither"


@given(st.text())
def test_every_answer_has_exactly_one_class_and_it_follows_from_the_number_found(answer):
    found = first_extension(answer, QUESTION)
    kind = classify(answer, THREE, row=0)
    expected = {"7305": "hit", "4411": "other record", "0920": "other record"}.get(found, "neither")
    assert kind == expected
    assert found is None or (len(found) == 4 and found.isascii() and found.isdecimal())


@given(st.text(alphabet=st.characters(exclude_categories=("Nd",)), max_size=30), st.integers(0, 2))
def test_text_without_digits_around_a_number_changes_nothing(text, row):
    answer = f"{text}\n{THREE.records[row].extension}\n{text}"
    assert classify(answer, THREE, row=row) == "hit"


def test_names_are_enough_and_no_part_of_one_is_used_twice():
    assert len(OWNERS) >= needle.LONGEST
    parts = [part for owner in OWNERS for part in owner.split(" ")]
    assert len(parts) == len(set(parts)) == 2 * len(OWNERS)
    assert all(part[:1].isupper() and part.replace("-", "").isalpha() for part in parts)


@pytest.mark.parametrize("seed", [-1, None, "1", 1.0, True, [1]])
def test_a_seed_that_is_no_whole_number_is_refused(seed) -> None:
    with pytest.raises(RegisterError, match="seed"):
        register(3, seed=seed)
