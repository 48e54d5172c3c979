# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="arrange" fails="test_blocks" says="place blocks or single chunks"
def arrange(chunks, anchors):  # every chunk on its own
    if anchors < 0:
        raise ValueError("anchors")
    ranked = sorted(chunks, key=lambda chunk: float("-inf") if chunk[2] is None else chunk[2], reverse=True)
    rest = ranked[anchors:]
    return ranked[:anchors] + rest[1::2] + rest[0::2][::-1]


# %% question="arrange" fails="test_blocks" says="not the order of the list"
def arrange(chunks, anchors):  # leaves a block as its chunks came
    if anchors < 0:
        raise ValueError("anchors")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def best(block):
        return max((score for _, _, score in block if score is not None), default=float("-inf"))

    ranked = sorted(blocks.values(), key=best, reverse=True)
    rest = ranked[anchors:]
    return [chunk for block in ranked[:anchors] + rest[1::2] + rest[0::2][::-1] for chunk in block]


# %% question="arrange" fails="test_rank" says="not its sum, mean or first"
def arrange(chunks, anchors):  # ranks a block by the mean of its chunks
    if anchors < 0:
        raise ValueError("anchors")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def mean(block):
        scores = [score for _, _, score in block if score is not None]
        return sum(scores) / len(scores) if scores else float("-inf")

    ranked = sorted(blocks.values(), key=mean, reverse=True)
    rest = ranked[anchors:]
    order = ranked[:anchors] + rest[1::2] + rest[0::2][::-1]
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]


# %% question="arrange" fails="test_rank" says="None is below any score"
def arrange(chunks, anchors):  # takes what was not scored for a score of 0
    if anchors < 0:
        raise ValueError("anchors")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)
    ranked = sorted(blocks.values(), key=lambda block: max(score or 0 for _, _, score in block), reverse=True)
    rest = ranked[anchors:]
    order = ranked[:anchors] + rest[1::2] + rest[0::2][::-1]
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]


# %% question="arrange" fails="test_rank" says="ties stay as they came"
def arrange(chunks, anchors):  # sorts upwards and turns the list round, ties and all
    if anchors < 0:
        raise ValueError("anchors")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def best(block):
        return max((score for _, _, score in block if score is not None), default=float("-inf"))

    ranked = sorted(blocks.values(), key=best)[::-1]
    rest = ranked[anchors:]
    order = ranked[:anchors] + rest[1::2] + rest[0::2][::-1]
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]


# %% question="arrange" fails="test_anchors" says="the next best directly behind the anchors"
def arrange(chunks, anchors):  # the lesson's order for the rest: its best behind the anchors, its second best last
    if anchors < 0:
        raise ValueError("anchors")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def best(block):
        return max((score for _, _, score in block if score is not None), default=float("-inf"))

    ranked = sorted(blocks.values(), key=best, reverse=True)
    rest = ranked[anchors:]
    order = ranked[:anchors] + rest[0::2] + rest[1::2][::-1]
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]


# %% question="arrange" fails="test_anchors" says="whether the number of blocks is even or odd"
def arrange(chunks, anchors):  # from the worst on, by turns to the front and to the back: the number decides who is last
    if anchors < 0:
        raise ValueError("anchors")
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def best(block):
        return max((score for _, _, score in block if score is not None), default=float("-inf"))

    ranked = sorted(blocks.values(), key=best, reverse=True)
    placed = []
    for number, block in enumerate(reversed(ranked[anchors:])):
        if number % 2:
            placed.append(block)
        else:
            placed.insert(0, block)
    order = ranked[:anchors] + placed
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]


# %% question="arrange" fails="test_limits" says="what does a slice make of −1"
def arrange(chunks, anchors):  # trusts that anchors is no less than 0
    blocks = {}
    for chunk in chunks:
        blocks.setdefault(chunk[0], []).append(chunk)

    def best(block):
        return max((score for _, _, score in block if score is not None), default=float("-inf"))

    ranked = sorted(blocks.values(), key=best, reverse=True)
    rest = ranked[anchors:]
    order = ranked[:anchors] + rest[1::2] + rest[0::2][::-1]
    return [chunk for block in order for chunk in sorted(block, key=lambda chunk: chunk[1])]


# %% question="thin_out" fails="test_keeps_the_better" says="from the highest score down"
def thin_out(documents, threshold, budget):  # keeps whichever of two doubles comes first in the list
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in range(len(documents)):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": kept, "dropped": dropped, "left_out": left_out, "won_back": won_back}


# %% question="thin_out" fails="test_keeps_the_better" says="sorted by index at the end"
def thin_out(documents, threshold, budget):  # returns the lists in the order of the scores
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": kept, "dropped": dropped, "left_out": left_out, "won_back": won_back}


# %% question="thin_out" fails="test_alike" says="by the smaller number of words"
def thin_out(documents, threshold, budget):  # the package's likeness: in both, divided by in either
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            either = words[i] | words[j]
            if either and len(words[i] & words[j]) / len(either) > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_alike" says="whichever of the two it is"
def thin_out(documents, threshold, budget):  # always asks how much of the worse one stands in the better
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            if words[i] and len(words[i] & words[j]) / len(words[i]) > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_alike" says="not as much as it"
def thin_out(documents, threshold, budget):  # as much as the threshold is enough
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer >= threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_numbers" says="Both sets have to be the same"
def thin_out(documents, threshold, budget):  # dedup as everybody writes it: numbers are words like others
    words = [set(document["text"].lower().split()) for document in documents]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_numbers" says="not only of those that are digits"
def thin_out(documents, threshold, budget):  # takes only words made of digits for numbers
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if word.isdigit()} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_budget" says="because of a kept one only"
def thin_out(documents, threshold, budget):  # removes doubles first, and only then looks at the budget
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    unique, dropped = [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in unique:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            unique.append(i)
    kept, left_out = [], []
    for i in unique:
        if documents[i]["tokens"] <= budget:
            kept.append(i)
            budget -= documents[i]["tokens"]
        else:
            left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_budget" says="a later, smaller one still fit"
def thin_out(documents, threshold, budget):  # stops at the first that does not fit
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget and not left_out:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(documents[i]["tokens"] for i, _ in dropped)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="thin_out" fails="test_budget" says="only they are won back"
def thin_out(documents, threshold, budget):  # calls everything that is not in the prompt won back
    words = [set(document["text"].lower().split()) for document in documents]
    numbers = [{word for word in own if any(c.isdigit() for c in word)} for own in words]
    kept, dropped, left_out = [], [], []
    for i in sorted(range(len(documents)), key=lambda i: -documents[i]["score"]):
        for j in kept:
            fewer = min(len(words[i]), len(words[j]))
            if fewer and len(words[i] & words[j]) / fewer > threshold and numbers[i] == numbers[j]:
                dropped.append((i, j))
                break
        else:
            if documents[i]["tokens"] <= budget:
                kept.append(i)
                budget -= documents[i]["tokens"]
            else:
                left_out.append(i)
    won_back = sum(document["tokens"] for i, document in enumerate(documents) if i not in kept)
    return {"kept": sorted(kept), "dropped": sorted(dropped), "left_out": sorted(left_out), "won_back": won_back}


# %% question="against_source" fails="test_depths" says="depth of the last position 1"
def against_source(figures, documents, claim):  # divides by the number of documents
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / documents <= end)
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    if not values:
        return "not in the table", []
    agree = sum(low <= v <= high for v in values)
    return ("supported" if agree == len(values) else "mixed" if agree else "contradicted"), positions


# %% question="against_source" fails="test_depths" says="whatever the order of the figures"
def against_source(figures, documents, claim):  # leaves the positions in the order of the table
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = [p for p in accuracy if start <= p / (documents - 1) <= end]
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    if not values:
        return "not in the table", []
    agree = sum(low <= v <= high for v in values)
    return ("supported" if agree == len(values) else "mixed" if agree else "contradicted"), positions


# %% question="against_source" fails="test_levels" says="and not their mean"
def against_source(figures, documents, claim):  # one mean for all figures
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    if not positions or (kind != "level" and not {0, documents - 1} <= accuracy.keys()):
        return "not in the table", []
    value = sum(accuracy[p] for p in positions) / len(positions)
    if kind != "level":
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        value = (ends - value) * (100 / ends if kind == "per cent" else 1)
    return ("supported" if low <= value <= high else "contradicted"), positions


# %% question="against_source" fails="test_levels" says="Some but not all of them is mixed"
def against_source(figures, documents, claim):  # what does not support contradicts
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    if not values:
        return "not in the table", []
    return ("supported" if all(low <= v <= high for v in values) else "contradicted"), positions


# %% question="against_source" fails="test_drops" says="not the better one"
def against_source(figures, documents, claim):  # measures the drop from the higher end
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = max(accuracy[0], accuracy[documents - 1])
        values = [(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    if not values:
        return "not in the table", []
    agree = sum(low <= v <= high for v in values)
    return ("supported" if agree == len(values) else "mixed" if agree else "contradicted"), positions


# %% question="against_source" fails="test_drops" says="Per cent is of the ends"
def against_source(figures, documents, claim):  # takes per cent and points for one thing
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [ends - v for v in values]
    if not values:
        return "not in the table", []
    agree = sum(low <= v <= high for v in values)
    return ("supported" if agree == len(values) else "mixed" if agree else "contradicted"), positions


# %% question="against_source" fails="test_drops" says="dropped by less than nothing"
def against_source(figures, documents, claim):  # a distance, without a sign
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [abs(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    if not values:
        return "not in the table", []
    agree = sum(low <= v <= high for v in values)
    return ("supported" if agree == len(values) else "mixed" if agree else "contradicted"), positions


# %% question="against_source" fails="test_not_in_table" says="supports nothing, and contradicts nothing"
def against_source(figures, documents, claim):  # all of no figures agree
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    values = [accuracy[p] for p in positions]
    if kind != "level":
        if 0 not in accuracy or documents - 1 not in accuracy:
            return "not in the table", []
        ends = (accuracy[0] + accuracy[documents - 1]) / 2
        values = [(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    if all(low <= v <= high for v in values):
        return "supported", positions
    return ("mixed" if any(low <= v <= high for v in values) else "contradicted"), positions


# %% question="against_source" fails="test_not_in_table" says="that were measured may be others"
def against_source(figures, documents, claim):  # takes the outermost figures of the table for the ends
    kind, start, end, low, high = claim
    accuracy = dict(figures)
    positions = sorted(p for p in accuracy if start <= p / (documents - 1) <= end)
    values = [accuracy[p] for p in positions]
    if not values:
        return "not in the table", []
    if kind != "level":
        ends = (accuracy[min(accuracy)] + accuracy[max(accuracy)]) / 2
        values = [(ends - v) * (100 / ends if kind == "per cent" else 1) for v in values]
    agree = sum(low <= v <= high for v in values)
    return ("supported" if agree == len(values) else "mixed" if agree else "contradicted"), positions
