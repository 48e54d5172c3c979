# ruff: noqa

# %% saves the whole of every prompt but the first question="turn_bill" fails="test_growing_turn" says="already paid for"
def turn_bill(calls):
    return sum(calls), sum(calls[1:])


# %% question="turn_bill" fails="test_growing_turn" says="already paid for"
def turn_bill(calls):
    return calls[-1], sum(calls[:-1])


# %% question="turn_bill" fails="test_growing_turn" says="already paid for"
def turn_bill(calls):
    return sum(calls), sum(calls) - calls[-1]


# %% question="turn_bill" fails="test_single_call" says="reuse before the first call"
def turn_bill(calls):
    return sum(calls), sum(calls)


# %% question="dearest_call" fails="test_dearest" says="from 0"
def dearest_call(calls):
    return calls.index(max(calls)) + 1 if calls else None


# %% question="dearest_call" fails="test_dearest" says="None is for no call"
def dearest_call(calls):
    return calls.index(max(calls))


# %% question="dearest_call" fails="test_dearest" says="first of equals"
def dearest_call(calls):
    return max(range(len(calls)), key=lambda n: (calls[n], n), default=None)
