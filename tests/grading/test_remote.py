"""The `student` proxy over a namespace in this process: what comes through, and what is refused."""

from __future__ import annotations

import collections
import enum
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcourse.grading import remote
from ctxcourse.grading.agent import make_agent
from ctxcourse.grading.remote import (
    BadReply,
    Handle,
    KernelDied,
    MissingName,
    NotAttempted,
    NotFinite,
    Student,
    StudentError,
)

Pair = collections.namedtuple("Pair", "first second")


class Colour(enum.IntEnum):
    RED = 1


class Word(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class Counter:
    def __init__(self):
        self.total = 0

    def add(self, n):
        self.total += n
        return self


class Local:
    """A namespace, and the transport to it; replies can be put in the agent's place."""

    def __init__(self, namespace, forge=None):
        self.generation = 0
        self.serve = make_agent(namespace)
        self.forge = forge

    def send(self, text):
        return self.forge(json.loads(text)["nonce"]) if self.forge else self.serve(text)


def proxy(**namespace):
    return Student(Local(namespace))


plain = st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.floats(allow_nan=False) | st.text(max_size=8)
keys = st.text(max_size=4) | st.integers(-99, 99) | st.tuples(st.integers(0, 9), st.text(max_size=2))
data = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(keys, max_size=4)
    ),
    max_leaves=20,
)


@given(data)
def test_data_comes_back_as_it_was(value):
    returned = proxy(same=lambda x: x).allowing_nonfinite().same(value)
    assert returned == value
    assert type(returned) is type(value)


@given(data)
def test_data_arrives_as_it_was_sent(value):
    seen = []
    proxy(take=seen.append).take(value)
    assert seen == [value]


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (Pair(1, (2, 3)), (1, (2, 3))),
        (collections.defaultdict(list, a=[1]), {"a": [1]}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.deque([1, 2]), [1, 2]),
        (Colour.RED, 1),
        (Word("x"), "x"),
        (np.arange(3), [0, 1, 2]),
        (np.float64(0.5), 0.5),
        (np.int32(7), 7),
        (np.bool_(True), True),
        ({1: 2}.keys(), [1]),
        (frozenset({1}), {1}),
        ([Word("x"), Word("y")], ["x", "y"]),
    ],
)
def test_subclasses_and_arrays_become_plain_data(value, arrives):
    returned = proxy(value=value).value
    assert returned == arrives
    assert type(returned) is type(arrives)
    assert returned != object()


def test_other_objects_stay_there_and_can_be_called():
    student = proxy(Counter=Counter)
    counter = student.Counter()
    assert counter.add(2).add(3).total == 5
    assert repr(counter) == "<the student's Counter>"


@pytest.mark.parametrize(
    "use",
    [
        bool,
        len,
        list,
        int,
        float,
        hash,
        lambda h: h == 1,
        lambda h: h != 1,
        lambda h: h < 1,
        lambda h: 1 in h,
        lambda h: h[0],
        lambda h: h + 1,
        lambda h: f"{h:>3}",
    ],
)
def test_a_handle_is_not_data(use):
    handle = proxy(Counter=Counter).Counter()
    with pytest.raises(TypeError):
        use(handle)


def test_a_handle_is_lost_with_its_kernel():
    student = proxy(Counter=Counter, use=lambda c: c.total)
    handle = student.Counter()
    assert student.use(handle) == 0
    student._transport.generation += 1
    for call in (lambda: handle.total, lambda: handle.add(1), lambda: student.use(handle)):
        with pytest.raises(KernelDied):
            call()


def test_an_exception_arrives_with_type_and_message():
    def fail(x):
        raise ValueError(f"no {x}")

    with pytest.raises(StudentError, match=r"^ValueError: no 7$"):
        proxy(fail=fail).fail(7)


def test_a_name_stands_for_a_callable():
    student = proxy(count=len, apply=lambda f, x: f(x))
    assert student.apply(student.name("count"), "four") == 4
    with pytest.raises(MissingName, match="does not define nothing"):
        student.apply(student.name("nothing"), 1)
    with pytest.raises(TypeError, match=r"student\.name"):
        student.apply(len, "four")


def test_failures_of_the_grader_are_no_exceptions_that_a_test_could_expect():
    def stub():
        raise NotImplementedError("Need to implement stub")

    student = proxy(stub=stub, nan=math.nan, recursive=lambda: student)
    for call in (lambda: student.absent, student.stub, lambda: student.nan):
        with pytest.raises(remote.GradingFailure) as info:
            call()
        assert isinstance(info.value, pytest.fail.Exception)
        assert not isinstance(info.value, Exception)
    with pytest.raises(NotAttempted):
        student.stub()
    with pytest.raises(MissingName):
        student["absent"]


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, [1.0, (math.nan,)], {"a": math.inf}, np.array([math.nan])]
)
def test_numbers_that_are_not_finite_are_refused_unless_allowed(value):
    student = proxy(value=value)
    with pytest.raises(NotFinite):
        _ = student.value
    assert repr(student.allowing_nonfinite().value) in (repr(value), repr([math.nan]))


def test_numbers_that_are_not_finite_can_be_sent():
    assert proxy(check=lambda x: x != x).check(math.nan) is True


def test_a_result_too_large_or_too_deep_is_an_error_of_the_student():
    deep: list = []
    for _ in range(100):
        deep = [deep]
    loop: list = []
    loop.append(loop)
    student = proxy(deep=deep, loop=loop, large="x" * 3_000_000)
    for name in ("deep", "loop"):
        with pytest.raises(StudentError, match="nested too deeply"):
            student[name]
    with pytest.raises(StudentError, match="ResultTooLarge"):
        _ = student.large


@pytest.mark.parametrize(
    "reply",
    [
        *("", "null", "[]", "{}", "1", '"ok"', '{"ok": 1}', "[" * 100_000, '"' + "x" * 3_000_000 + '"', None, 7, b"{}"),
        *('{"nonce": "N"}', '{"nonce": "0", "ok": 1}', '{"nonce": "N", "ok": 1, "ok": 1}'),
        *('{"nonce": "N", "ok": 1, "more": 2}', '{"nonce": "N", "missing": 1}', '{"nonce": "N", "error": "x"}'),
        *('{"nonce": "N", "error": ["x"]}', '{"nonce": "N", "error": [1, 2]}', '{"nonce": "N", "ok": NaN}'),
        *('{"nonce": "N", "ok": Infinity}', '{"nonce": "N", "ok": 1e999}', '{"nonce": "N", "ok": ' + "1" * 5000 + "}"),
        '{"nonce": "N", "ok": ' + "[" * 200 + "]" * 200 + "}",
        '{"nonce": "N", "ok": {"$": "tuple"}}',
        '{"nonce": "N", "ok": {"$": "code", "v": 1}}',
        '{"nonce": "N", "ok": {"$": "set", "v": [[1]]}}',
        '{"nonce": "N", "ok": {"$": "set", "v": 1}}',
        '{"nonce": "N", "ok": {"$": "dict", "v": [1]}}',
        '{"nonce": "N", "ok": {"$": "float", "v": "1"}}',
        '{"nonce": "N", "ok": {"$": "handle", "v": "x"}}',
    ],
)
def test_what_is_no_honest_reply_is_refused(reply):
    def forge(nonce):
        return reply.replace('"N"', f'"{nonce}"') if isinstance(reply, str) else reply

    with pytest.raises(BadReply):
        _ = Student(Local({}, forge)).anything


@pytest.mark.parametrize("tag", ["set", "dict"])
def test_keys_that_collide_are_refused(tag):
    keys = [n * (2**61 - 1) for n in range(20_000)]
    value = keys if tag == "set" else [[key, 0] for key in keys]

    def forge(nonce):
        return json.dumps({"nonce": nonce, "ok": {"$": tag, "v": value}})

    with pytest.raises(BadReply, match="neither text nor small numbers"):
        _ = Student(Local({}, forge)).anything


@given(st.binary(max_size=200))
def test_the_agent_survives_any_result(raw):
    class Hostile:
        def __init__(self):
            self.raw = raw

        def __getattr__(self, name):
            raise RuntimeError(name)

        __class__ = property(lambda self: 1 / 0)

    class Odd(Exception):
        def __str__(self):
            raise KeyboardInterrupt

    def fail():
        raise ValueError(raw)

    def odd():
        raise Odd

    student = proxy(value=Hostile(), fail=fail, odd=odd)
    assert outcome(lambda: student.value) in (Handle, StudentError)
    assert outcome(student.fail) is StudentError
    assert outcome(student.odd) is StudentError


def outcome(call):
    """The type of what a call returns or raises."""
    try:
        return type(call())
    except StudentError as error:
        return type(error)
