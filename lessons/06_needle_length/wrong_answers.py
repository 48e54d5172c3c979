# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="design" fails="test_volume_is_constant_in_tokens" says="Add up the tokens"
def design(volumes, lookalikes, trials, record, filler):  # holds the number of lines constant, not that of tokens
    usable = [volume for volume in volumes if volume >= (1 + max(lookalikes, default=0)) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    return [
        {"records": v // record, "lookalikes": k, "filler": v // record - 1 - k, "depth": 0.5, "trial": t}
        for v in usable
        for k in lookalikes
        for t in range(trials)
    ]


# %% question="design" fails="test_volume_is_constant_in_tokens" says="the needle's with them"
def design(volumes, lookalikes, trials, record, filler):  # forgets that the needle takes up tokens
    usable = [volume for volume in volumes if volume >= (1 + max(lookalikes, default=0)) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    cells = []
    for v in usable:
        for k in lookalikes:
            f = (v - k * record) // filler
            cells += [{"records": 1 + k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": t} for t in range(trials)]
    return cells


# %% question="design" fails="test_lines_of_a_cell" says="the needle among them"
def design(volumes, lookalikes, trials, record, filler):  # `records` as the number of lookalikes and filler, without the needle
    usable = [volume for volume in volumes if volume >= (1 + max(lookalikes, default=0)) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    cells = []
    for v in usable:
        for k in lookalikes:
            f = (v - (1 + k) * record) // filler
            cells += [{"records": k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": t} for t in range(trials)]
    return cells


# %% question="design" fails="test_not_confounded" says="out altogether"
def design(volumes, lookalikes, trials, record, filler):  # leaves out only the combinations that do not fit
    if len(volumes) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    cells = []
    for v in volumes:
        for k in lookalikes:
            f = (v - (1 + k) * record) // filler
            if v >= (1 + k) * record:
                cells += [{"records": 1 + k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": t} for t in range(trials)]
    return cells


# %% question="design" fails="test_not_confounded" says="one that just holds it is in"
def design(volumes, lookalikes, trials, record, filler):  # wants room for filler everywhere
    usable = [volume for volume in volumes if volume > (1 + max(lookalikes, default=0)) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    cells = []
    for v in usable:
        for k in lookalikes:
            f = (v - (1 + k) * record) // filler
            cells += [{"records": 1 + k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": t} for t in range(trials)]
    return cells


# %% question="design" fails="test_not_confounded" says="occur at every volume"
def design(volumes, lookalikes, trials, record, filler):  # one factor at a time: two arms that cross in one cell
    usable = [volume for volume in volumes if volume >= (1 + max(lookalikes, default=0)) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    arms = [(v, lookalikes[0]) for v in usable] + [(usable[-1], k) for k in lookalikes[1:]]
    cells = []
    for v, k in arms:
        f = (v - (1 + k) * record) // filler
        cells += [{"records": 1 + k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": t} for t in range(trials)]
    return cells


# %% question="design" fails="test_paired" says="If they count on"
def design(volumes, lookalikes, trials, record, filler):  # numbers the trials through the whole sweep
    usable = [volume for volume in volumes if volume >= (1 + max(lookalikes, default=0)) * record]
    if len(usable) < 2 or len(lookalikes) < 2 or trials < 1:
        raise ValueError("nothing to separate")
    cells = []
    for v in usable:
        for k in lookalikes:
            f = (v - (1 + k) * record) // filler
            for _ in range(trials):
                cells.append({"records": 1 + k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": len(cells)})
    return cells


# %% question="design" fails="test_refuses_what_separates_nothing" says="one number of lookalikes"
def design(volumes, lookalikes, trials, record, filler):  # looks at the volumes only, and before the small ones are out
    if len(volumes) < 2:
        raise ValueError("one volume is no sweep")
    cells = []
    for v in [volume for volume in volumes if volume >= (1 + max(lookalikes, default=0)) * record]:
        for k in lookalikes:
            f = (v - (1 + k) * record) // filler
            cells += [{"records": 1 + k + f, "lookalikes": k, "filler": f, "depth": 0.5, "trial": t} for t in range(trials)]
    return cells


# %% question="verdict" fails="test_intervals_not_shares" says="400 calls"
def verdict(volume, interference):  # a drop of a quarter counts as a fall, whatever the number of calls
    def falls(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2 or wilson(seen[0]["hits"], seen[0]["n"]).low <= 0.5:
            return None
        return seen[0]["hits"] / seen[0]["n"] - seen[-1]["hits"] / seen[-1]["n"] > 0.25

    v, i = falls(volume), falls(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="verdict" fails="test_intervals_not_shares" says="compare the ends of the intervals"
def verdict(volume, interference):  # the hardest's share, not its upper end, against the easiest's lower end
    def falls(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2 or wilson(seen[0]["hits"], seen[0]["n"]).low <= 0.5:
            return None
        return seen[-1]["hits"] / seen[-1]["n"] < wilson(seen[0]["hits"], seen[0]["n"]).low

    v, i = falls(volume), falls(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="verdict" fails="test_order_and_direction" says="sort by level"
def verdict(volume, interference):  # takes the rows as they come
    def falls(rows):
        seen = [wilson(row["hits"], row["n"]) for row in rows if row["n"]]
        if len(seen) < 2 or seen[0].low <= 0.5:
            return None
        return seen[-1].high < seen[0].low

    v, i = falls(volume), falls(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="verdict" fails="test_order_and_direction" says="a rise no fall"
def verdict(volume, interference):  # any two intervals apart, in either direction
    def moves(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2 or wilson(seen[0]["hits"], seen[0]["n"]).low <= 0.5:
            return None
        a, b = (wilson(row["hits"], row["n"]) for row in (seen[0], seen[-1]))
        return a.low > b.high or b.low > a.high

    v, i = moves(volume), moves(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="verdict" fails="test_order_and_direction" says="a dip in between"
def verdict(volume, interference):  # the worst cell, wherever it stands
    def falls(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2 or wilson(seen[0]["hits"], seen[0]["n"]).low <= 0.5:
            return None
        return min(wilson(row["hits"], row["n"]).high for row in seen) < wilson(seen[0]["hits"], seen[0]["n"]).low

    v, i = falls(volume), falls(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="verdict" fails="test_nowhere_to_fall" says="above one half"
def verdict(volume, interference):  # forgets the floor
    def falls(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2:
            return None
        return wilson(seen[-1]["hits"], seen[-1]["n"]).high < wilson(seen[0]["hits"], seen[0]["n"]).low

    v, i = falls(volume), falls(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="verdict" fails="test_nowhere_to_fall" says="two levels with observations"
def verdict(volume, interference):  # takes a sweep that cannot fall for one that does not
    def falls(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2 or wilson(seen[0]["hits"], seen[0]["n"]).low <= 0.5:
            return False
        return wilson(seen[-1]["hits"], seen[-1]["n"]).high < wilson(seen[0]["hits"], seen[0]["n"]).low

    v, i = falls(volume), falls(interference)
    return "both" if v and i else "volume" if v else "interference" if i else "undecided"


# %% question="verdict" fails="test_four_verdicts" says="if both fall"
def verdict(volume, interference):  # the two arguments the wrong way round
    def falls(rows):
        seen = sorted((row for row in rows if row["n"]), key=lambda row: row["level"])
        if len(seen) < 2 or wilson(seen[0]["hits"], seen[0]["n"]).low <= 0.5:
            return None
        return wilson(seen[-1]["hits"], seen[-1]["n"]).high < wilson(seen[0]["hits"], seen[0]["n"]).low

    i, v = falls(volume), falls(interference)
    if v is None or i is None or not (v or i):
        return "undecided"
    return "both" if v and i else "volume" if v else "interference"


# %% question="reading" fails="test_overlapping" says="does not show that there is none"
def reading(claim):  # takes an overlap for a proof that nothing differs
    answers = {
        "A": ("shown", "apart"),
        "B": ("contradicted", "overlap"),
        "C": ("shown", "overlap"),
        "D": ("shown", "apart"),
        "E": ("open", "floor"),
        "F": ("open", "confounded"),
        "G": ("open", "not measured"),
        "H": ("contradicted", "apart"),
    }
    return answers[claim]


# %% question="reading" fails="test_not_comparable" says="or the tokens too"
def reading(claim):  # believes the growing register
    answers = {
        "A": ("shown", "apart"),
        "B": ("open", "overlap"),
        "C": ("open", "overlap"),
        "D": ("shown", "apart"),
        "E": ("open", "floor"),
        "F": ("shown", "apart"),
        "G": ("open", "not measured"),
        "H": ("contradicted", "apart"),
    }
    return answers[claim]


# %% question="reading" fails="test_not_comparable" says="first reason that fits"
def reading(claim):  # does not see the floor, and reads a line on beyond its last point
    answers = {
        "A": ("shown", "apart"),
        "B": ("open", "overlap"),
        "C": ("open", "overlap"),
        "D": ("shown", "apart"),
        "E": ("open", "overlap"),
        "F": ("open", "confounded"),
        "G": ("shown", "floor"),
        "H": ("contradicted", "apart"),
    }
    return answers[claim]


# %% question="reading" fails="test_settled" says="or the opposite"
def reading(claim):  # the right reasons, and `shown` wherever the intervals are apart
    answers = {
        "A": ("shown", "apart"),
        "B": ("open", "overlap"),
        "C": ("open", "overlap"),
        "D": ("shown", "apart"),
        "E": ("open", "floor"),
        "F": ("open", "confounded"),
        "G": ("open", "not measured"),
        "H": ("shown", "apart"),
    }
    return answers[claim]
