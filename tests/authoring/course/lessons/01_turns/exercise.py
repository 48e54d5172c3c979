# ruff: noqa

# %% [markdown]
# # Exercise 01 · Turns

# %% tags=["setup"]
from ctxcourse.learn import case, check

# %% [markdown]
# ## Question 1 · The bill of a turn (3 points)
#
# A turn may hold several calls to the model, and each pays for the whole prompt again. Return `(billed, saved)`.


# %% tags=["answer"] question="turn_bill"
def turn_bill(calls):
    """Return ``(billed, saved)`` for the prompt sizes of one turn's calls, in order."""
    ### BEGIN SOLUTION
    billed = sum(calls)
    saved = sum(min(before, after) for before, after in zip(calls, calls[1:]))
    return billed, saved
    ### END SOLUTION


# %% tags=["check"] question="turn_bill"
check(turn_bill, case([2_547], gives=(2_547, 0), hint="The first call has nothing to reuse."))

# %% [markdown] tags=["hint"] question="turn_bill"
# Pair each call with the one before it.

# %% [markdown] tags=["hint"] question="turn_bill"
# `zip(calls, calls[1:])` gives these pairs.


# %% tags=["hidden-tests"] question="turn_bill"
### BEGIN HIDDEN TESTS
@points(1, title="One call is billed once and saves nothing", hint="What is there to reuse before the first call?")
def test_single_call(student):
    assert student.turn_bill([2_547]) == (2_547, 0)


@points(2, title="A growing turn", hint="Which part of the second prompt was already paid for in the first?")
@pytest.mark.parametrize("calls", [[100, 140, 200], [7, 7, 7], [], [1, 1_000_000]])
def test_growing_turn(student, calls):
    assert student.turn_bill(calls) == (sum(calls), sum(calls[:-1]))


### END HIDDEN TESTS

# %% [markdown]
# ## Question 2 · The dearest call (1 point)


# %% tags=["answer"] question="dearest_call"
def dearest_call(calls):
    """Return the position of the largest prompt, the first of equals; None where there is no call."""
    ### BEGIN SOLUTION
    return max(range(len(calls)), key=calls.__getitem__, default=None)
    ### END SOLUTION


# %% [markdown] tags=["hint"] question="dearest_call"
# `max` takes a `key` and a `default`.


# %% tags=["hidden-tests"] question="dearest_call"
### BEGIN HIDDEN TESTS
@points(
    1,
    title="The first of equals, from 0",
    hint="Positions count from 0, the first of equals wins, None is for no call.",
)
@pytest.mark.parametrize(("calls", "expected"), [([3, 9, 9], 1), ([5], 0), ([], None)])
def test_dearest(student, calls, expected):
    assert student.dearest_call(calls) == expected


### END HIDDEN TESTS
