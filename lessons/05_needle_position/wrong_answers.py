# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="score" fails="test_three_kinds" says="A made-up number is returned as well"
def score(answer, question, right, others):  # looks for the known values only, so that a made-up number is lost
    import re

    if question:
        answer = answer.replace(question, " ")
    numbers = []
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    plain = {"".join(str(int(digit)) for digit in number) for number in numbers}
    candidates = {number for number in plain if len(number) == len(right)}
    if candidates == {right}:
        return "hit", right
    if len(candidates) == 1 and candidates < set(others):
        return "other record", candidates.pop()
    return "neither", None


# %% question="score" fails="test_commits_itself" says="whichever comes first"
def score(answer, question, right, others):  # the lesson's rule: the first number counts
    import re

    if question:
        answer = answer.replace(question, " ")
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        for number in ["".join(groups)] if is_one else groups:
            found = "".join(str(int(digit)) for digit in number)
            if len(found) == len(right):
                return ("hit" if found == right else "other record" if found in others else "neither"), found
    return "neither", None


# %% question="score" fails="test_commits_itself" says="the same candidate twice is one"
def score(answer, question, right, others):  # counts a number that is repeated as two
    import re

    if question:
        answer = answer.replace(question, " ")
    numbers = []
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    plain = ["".join(str(int(digit)) for digit in number) for number in numbers]
    candidates = [number for number in plain if len(number) == len(right)]
    if len(candidates) != 1:
        return "neither", None
    found = candidates[0]
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_separators" says="any other chain falls into its groups"
def score(answer, question, right, others):  # throws away every separator between digits
    import re

    if question:
        answer = answer.replace(question, " ")
    answer = re.sub(r"(?<=\d)[,.'](?=\d)", "", answer)
    plain = {"".join(str(int(digit)) for digit in number) for number in re.findall(r"\d+", answer)}
    candidates = {number for number in plain if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_separators" says="judged as a whole"
def score(answer, question, right, others):  # joins wherever three digits follow a separator
    import re

    if question:
        answer = answer.replace(question, " ")
    answer = re.sub(r"(?<=\d)[,.'](?=\d{3}(?!\d))", "", answer)
    plain = {"".join(str(int(digit)) for digit in number) for number in re.findall(r"\d+", answer)}
    candidates = {number for number in plain if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_digits" says="four digits inside five"
def score(answer, question, right, others):  # finds four digits anywhere
    import re

    if question:
        answer = answer.replace(question, " ")
    answer = re.sub(r"(?<!\d)(\d{1,3})[,.'](\d{3})(?!\d)", r"\1\2", answer)
    candidates = {"".join(str(int(digit)) for digit in number) for number in re.findall(r"\d{4}", answer)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_digits" says="know 0 to 9 only"
def score(answer, question, right, others):  # knows the digits of one script
    import re

    if question:
        answer = answer.replace(question, " ")
    numbers = []
    for chain in re.findall(r"[0-9]+(?:[,.'][0-9]+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    candidates = {number for number in numbers if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_digits" says="lose a zero"
def score(answer, question, right, others):  # reads numbers as numbers, which have no leading zeros
    import re

    if question:
        answer = answer.replace(question, " ")
    numbers = []
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    candidates = {str(int(number)) for number in numbers if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_question_is_set_aside" says="set aside wherever it stands"
def score(answer, question, right, others):  # takes the question's own number for an answer
    import re

    numbers = []
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    plain = ["".join(str(int(digit)) for digit in number) for number in numbers]
    candidates = {number for number in plain if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="score" fails="test_question_is_set_aside" says="replace do with an empty one"
def score(answer, question, right, others):  # an empty question puts a space between all characters
    import re

    numbers = []
    for chain in re.findall(r"\d+(?:[,.']\d+)*", answer.replace(question, " ")):
        groups = re.split(r"[,.']", chain)
        is_one = len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
        numbers += ["".join(groups)] if is_one else groups
    plain = ["".join(str(int(digit)) for digit in number) for number in numbers]
    candidates = {number for number in plain if len(number) == len(right)}
    if len(candidates) != 1:
        return "neither", None
    found = candidates.pop()
    return ("hit" if found == right else "other record" if found in others else "neither"), found


# %% question="wilson" fails="test_published_examples" says="not p ± z"
def wilson(hits, n, z):  # the schoolbook's interval
    if n < 1 or not 0 <= hits <= n or z < 0:
        raise ValueError("no interval")
    p = hits / n
    half = z * (p * (1 - p) / n) ** 0.5
    return max(0.0, p - half), p, min(1.0, p + half)


# %% question="wilson" fails="test_published_examples" says="denominator under both parts"
def wilson(hits, n, z):  # divides the middle and forgets to divide the half
    if n < 1 or not 0 <= hits <= n or z < 0:
        raise ValueError("no interval")
    p = hits / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, middle - half), middle, min(1.0, middle + half)


# %% question="wilson" fails="test_middle_and_any_z" says="or the share of hits"
def wilson(hits, n, z):  # gives the share for the middle
    if n < 1 or not 0 <= hits <= n or z < 0:
        raise ValueError("no interval")
    p = hits / n
    spread = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / spread
    half = z / spread * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return 0.0 if hits == 0 else middle - half, p, 1.0 if hits == n else middle + half


# %% question="wilson" fails="test_middle_and_any_z" says="or as 1.96"
def wilson(hits, n, z):  # knows one z
    if n < 1 or not 0 <= hits <= n or z < 0:
        raise ValueError("no interval")
    p, z = hits / n, 1.96
    spread = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / spread
    half = z / spread * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return 0.0 if hits == 0 else middle - half, middle, 1.0 if hits == n else middle + half


# %% question="wilson" fails="test_none_and_all" says="do not cancel"
def wilson(hits, n, z):  # trusts floating-point numbers to come out at 0 and 1
    if n < 1 or not 0 <= hits <= n or z < 0:
        raise ValueError("no interval")
    p = hits / n
    spread = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / spread
    half = z / spread * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return middle - half, middle, middle + half


# %% question="wilson" fails="test_impossible" says="A ValueError for each of them"
def wilson(hits, n, z):  # thinks of n = 0 and of nothing else
    if n == 0:
        raise ValueError("n is 0")
    p = hits / n
    spread = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / spread
    half = z / spread * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return 0.0 if hits == 0 else middle - half, middle, 1.0 if hits == n else middle + half


# %% question="wilson" fails="test_impossible" says="nothing tried"
def wilson(hits, n, z):  # with nothing tried, everything is possible: from 0 to 1
    if n == 0:
        return 0.0, 0.5, 1.0
    if n < 0 or not 0 <= hits <= n or z < 0:
        raise ValueError("no interval")
    p = hits / n
    spread = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / spread
    half = z / spread * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return 0.0 if hits == 0 else middle - half, middle, 1.0 if hits == n else middle + half


# %% question="paired_difference" fails="test_pairs_by_trial" says="The rows come in any order"
def paired_difference(rows, first, second):  # pairs the rows by their order
    at_first = [hit for _, depth, hit in rows if depth == first]
    at_second = [hit for _, depth, hit in rows if depth == second]
    pairs = list(zip(at_first, at_second, strict=False))
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    difference = (only_first - only_second) / len(pairs) if pairs else None
    left_out = abs(len(at_first) - len(at_second))
    return {"pairs": len(pairs), "only_first": only_first, "only_second": only_second, "difference": difference, "left_out": left_out}


# %% question="paired_difference" fails="test_pairs_by_trial" says="need not be counted from 0"
def paired_difference(rows, first, second):  # takes trials for places in a list
    hits = {(trial, depth): hit for trial, depth, hit in rows}
    trials = range(len({trial for trial, _, _ in rows}))
    pairs = [(hits[t, first], hits[t, second]) for t in trials if (t, first) in hits and (t, second) in hits]
    alone = [t for t in trials if ((t, first) in hits) != ((t, second) in hits)]
    only_first = sum(a and not b for a, b in pairs)
    only_second = sum(b and not a for a, b in pairs)
    difference = (only_first - only_second) / len(pairs) if pairs else None
    return {"pairs": len(pairs), "only_first": only_first, "only_second": only_second, "difference": difference, "left_out": len(alone)}


# %% question="paired_difference" fails="test_difference_over_pairs" says="without trials that have one depth only"
def paired_difference(rows, first, second):  # compares the shares of all rows, paired or not
    at_first = {trial: hit for trial, depth, hit in rows if depth == first}
    at_second = {trial: hit for trial, depth, hit in rows if depth == second}
    shared = at_first.keys() & at_second.keys()
    difference = None
    if shared:
        difference = sum(at_first.values()) / len(at_first) - sum(at_second.values()) / len(at_second)
    return {
        "pairs": len(shared),
        "only_first": sum(at_first[t] and not at_second[t] for t in shared),
        "only_second": sum(at_second[t] and not at_first[t] for t in shared),
        "difference": difference,
        "left_out": len(at_first.keys() ^ at_second.keys()),
    }


# %% question="paired_difference" fails="test_difference_over_pairs" says="not by those that differ"
def paired_difference(rows, first, second):  # divides by the pairs that differ
    at_first = {trial: hit for trial, depth, hit in rows if depth == first}
    at_second = {trial: hit for trial, depth, hit in rows if depth == second}
    shared = at_first.keys() & at_second.keys()
    only_first = sum(at_first[t] and not at_second[t] for t in shared)
    only_second = sum(at_second[t] and not at_first[t] for t in shared)
    differing = only_first + only_second
    return {
        "pairs": len(shared),
        "only_first": only_first,
        "only_second": only_second,
        "difference": (only_first - only_second) / differing if differing else 0.0 if shared else None,
        "left_out": len(at_first.keys() ^ at_second.keys()),
    }


# %% question="paired_difference" fails="test_difference_over_pairs" says="First minus second"
def paired_difference(rows, first, second):  # a distance, without a sign
    at_first = {trial: hit for trial, depth, hit in rows if depth == first}
    at_second = {trial: hit for trial, depth, hit in rows if depth == second}
    shared = at_first.keys() & at_second.keys()
    only_first = sum(at_first[t] and not at_second[t] for t in shared)
    only_second = sum(at_second[t] and not at_first[t] for t in shared)
    return {
        "pairs": len(shared),
        "only_first": only_first,
        "only_second": only_second,
        "difference": abs(only_first - only_second) / len(shared) if shared else None,
        "left_out": len(at_first.keys() ^ at_second.keys()),
    }


# %% question="paired_difference" fails="test_left_out" says="those with neither are no loss"
def paired_difference(rows, first, second):  # counts every trial that is not a pair
    at_first = {trial: hit for trial, depth, hit in rows if depth == first}
    at_second = {trial: hit for trial, depth, hit in rows if depth == second}
    shared = at_first.keys() & at_second.keys()
    only_first = sum(at_first[t] and not at_second[t] for t in shared)
    only_second = sum(at_second[t] and not at_first[t] for t in shared)
    return {
        "pairs": len(shared),
        "only_first": only_first,
        "only_second": only_second,
        "difference": (only_first - only_second) / len(shared) if shared else None,
        "left_out": len({trial for trial, _, _ in rows} - shared),
    }


# %% question="paired_difference" fails="test_left_out" says="where there is no pair"
def paired_difference(rows, first, second):  # divides by nothing
    at_first = {trial: hit for trial, depth, hit in rows if depth == first}
    at_second = {trial: hit for trial, depth, hit in rows if depth == second}
    shared = at_first.keys() & at_second.keys()
    only_first = sum(at_first[t] and not at_second[t] for t in shared)
    only_second = sum(at_second[t] and not at_first[t] for t in shared)
    return {
        "pairs": len(shared),
        "only_first": only_first,
        "only_second": only_second,
        "difference": (only_first - only_second) / len(shared),
        "left_out": len(at_first.keys() ^ at_second.keys()),
    }
