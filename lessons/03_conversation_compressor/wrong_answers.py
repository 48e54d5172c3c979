# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="compare" fails="test_truncation_and_ratio" says="not a mean of ratios"
def compare(documents, share, summarise, ask, tok):  # takes the mean of the documents' ratios
    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        import re

        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        ratios, held, found, spent, refused = [], 0, 0, 0, 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            ratios.append(tok.count_text(short) / size)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": sum(ratios) / n, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_truncation_and_ratio" says="rounded down"
def compare(documents, share, summarise, ask, tok):  # rounds the budget to the nearest token, or up
    import math
    import re

    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = math.ceil(share * size)
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_key_sentences_without_the_question" says="what will be asked tomorrow"
def compare(documents, share, summarise, ask, tok):  # lets the key sentences see the question
    import re

    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok, document["question"])
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_held_and_found" says="inside a longer word or number"
def compare(documents, share, summarise, ask, tok):  # looks for the answer with `in`
    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return answer.casefold() in text.casefold()

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_held_and_found" says="the reply was a guess"
def compare(documents, share, summarise, ask, tok):  # counts a right reply whatever the text holds
    import re

    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            held += holds(short, document["answer"])
            found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_summaries" says="Both were read and written"
def compare(documents, share, summarise, ask, tok):  # charges nothing for a summary that was refused
    import re

    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
                else:
                    spent += size + tok.count_text(short)
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_summaries" says="An empty summary"
def compare(documents, share, summarise, ask, tok):  # takes whatever is shorter, nothing at all included
    import re

    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = max(1, int(share * size))
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="compare" fails="test_small_and_impossible" says="the budget is at least 1"
def compare(documents, share, summarise, ask, tok):  # a budget of nothing
    import re

    if not documents or not 0 < share < 1:
        raise ValueError("give documents, and a share between 0 and 1")

    def holds(text, answer):
        return bool(re.search(rf"(?<![^\W_]){re.escape(answer.casefold())}(?![^\W_])", text.casefold()))

    rows = []
    for strategy in ("truncation", "summary", "key sentences"):
        before = after = held = found = spent = refused = 0
        for document in documents:
            text = document["text"]
            size = tok.count_text(text)
            budget = int(share * size)
            if strategy == "truncation":
                short = truncate(text, budget, tok)
            elif strategy == "key sentences":
                short = key_sentences(text, budget, tok)
            else:
                short = summarise(text, budget)
                spent += size + tok.count_text(short)
                if not short.strip() or tok.count_text(short) >= size:
                    short, refused = text, refused + 1
            before, after = before + size, after + tok.count_text(short)
            if holds(short, document["answer"]):
                held += 1
                found += holds(ask(short, document["question"]), document["answer"])
        n = len(documents)
        row = {"strategy": strategy, "ratio": after / before, "holds": held / n, "found": found / n}
        rows.append({**row, "spent": spent, "refused": refused})
    return rows


# %% question="window" fails="test_steps_stay_whole" says="its call with all its results"
def window(messages, last):  # the newest messages, wherever that cuts
    if last < 1:
        raise ValueError("a window of nothing")
    roles = [message["role"] for message in messages]
    opening = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    pinned = list(range(opening)) + ([roles.index("user")] if "user" in roles else [])
    rest = [i for i in range(len(roles)) if i not in pinned]
    return sorted(pinned + rest[-last:])


# %% question="window" fails="test_steps_stay_whole" says="left out as a whole"
def window(messages, last):  # the lesson's window, with a pin: takes in the step in which it begins
    if last < 1:
        raise ValueError("a window of nothing")
    roles = [message["role"] for message in messages]
    opening = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    pinned = list(range(opening)) + ([roles.index("user")] if "user" in roles else [])
    steps = []
    for i, role in enumerate(roles):
        if i in pinned:
            continue
        if role == "tool":
            steps[-1].append(i)
        else:
            steps.append([i])
    kept = []
    for step in reversed(steps):
        if len(kept) >= last:
            break
        kept += step
    return sorted(pinned + kept)


# %% question="window" fails="test_newest_without_holes" says="skip it and go on"
def window(messages, last):  # leaves out what does not fit, and goes on behind it
    if last < 1:
        raise ValueError("a window of nothing")
    roles = [message["role"] for message in messages]
    opening = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    pinned = list(range(opening)) + ([roles.index("user")] if "user" in roles else [])
    steps = []
    for i, role in enumerate(roles):
        if i in pinned:
            continue
        if role == "tool":
            steps[-1].append(i)
        else:
            steps.append([i])
    kept = []
    for step in reversed(steps):
        if not kept or len(kept) + len(step) <= last:
            kept += step
    return sorted(pinned + kept)


# %% question="window" fails="test_pinned" says="takes no place in the window"
def window(messages, last):  # the pinned messages take places in the window
    if last < 1:
        raise ValueError("a window of nothing")
    roles = [message["role"] for message in messages]
    opening = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    pinned = list(range(opening)) + ([roles.index("user")] if "user" in roles else [])
    steps = []
    for i, role in enumerate(roles):
        if i in pinned:
            continue
        if role == "tool":
            steps[-1].append(i)
        else:
            steps.append([i])
    kept = []
    for step in reversed(steps):
        if kept and len(pinned) + len(kept) + len(step) > last:
            break
        kept += step
    return sorted(pinned + kept)


# %% question="window" fails="test_pinned" says="a later system message is no opening"
def window(messages, last):  # keeps system messages wherever they stand
    if last < 1:
        raise ValueError("a window of nothing")
    roles = [message["role"] for message in messages]
    pinned = [i for i, role in enumerate(roles) if role == "system"] + ([roles.index("user")] if "user" in roles else [])
    steps = []
    for i, role in enumerate(roles):
        if i in pinned:
            continue
        if role == "tool":
            steps[-1].append(i)
        else:
            steps.append([i])
    kept = []
    for step in reversed(steps):
        if kept and len(kept) + len(step) > last:
            break
        kept += step
    return sorted(pinned + kept)


# %% question="window" fails="test_newest_stays" says="kept whole if it is the newest"
def window(messages, last):  # keeps nothing where the newest step is too large
    if last < 1:
        raise ValueError("a window of nothing")
    roles = [message["role"] for message in messages]
    opening = next((i for i, role in enumerate(roles) if role != "system"), len(roles))
    pinned = list(range(opening)) + ([roles.index("user")] if "user" in roles else [])
    steps = []
    for i, role in enumerate(roles):
        if i in pinned:
            continue
        if role == "tool":
            steps[-1].append(i)
        else:
            steps.append([i])
    kept = []
    for step in reversed(steps):
        if len(kept) + len(step) > last:
            break
        kept += step
    return sorted(pinned + kept)


# %% question="fold" fails="test_read_whole" says="see each message to its end"
def fold(summary, old, room, summarise, tok):  # still cuts each message at a hundred characters
    if not old:
        return summary
    lines = [summary] if summary else []
    lines += [f"{message['role']}: {message['content'][:100]}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    size = tok.count_text(answer)
    if answer and size <= room and size < tok.count_text(text):
        return answer
    kept = ""
    for first in range(len(lines) - 1, -1, -1):
        longer = "\n".join(lines[first:])
        if tok.count_text(longer) > room:
            break
        kept = longer
    return kept or truncate(lines[-1], room, tok)


# %% question="fold" fails="test_bounded" says="in place of the one before"
def fold(summary, old, room, summarise, tok):  # one more summary behind the others, each of them small
    if not old:
        return summary
    lines = [f"{message['role']}: {message['content']}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    size = tok.count_text(answer)
    if not answer or size > room or size >= tok.count_text(text):
        answer = truncate(lines[-1], room, tok)
    return f"{summary}\n{answer}" if summary else answer


# %% question="fold" fails="test_bounded" says="Fold fifty times"
def fold(summary, old, room, summarise, tok):  # asks whether a summary shrinks, and never whether it fits
    if not old:
        return summary
    lines = [summary] if summary else []
    lines += [f"{message['role']}: {message['content']}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    return answer if answer and tok.count_text(answer) < tok.count_text(text) else text


# %% question="fold" fails="test_in_place_of_a_refused_summary" says="The newest lines"
def fold(summary, old, room, summarise, tok):  # cuts the text from its front, so that the oldest stays
    if not old:
        return summary
    lines = [summary] if summary else []
    lines += [f"{message['role']}: {message['content']}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    size = tok.count_text(answer)
    if answer and size <= room and size < tok.count_text(text):
        return answer
    return truncate(text, room, tok)


# %% question="fold" fails="test_in_place_of_a_refused_summary" says="counted joined"
def fold(summary, old, room, summarise, tok):  # adds up the lines, and forgets what stands between them
    if not old:
        return summary
    lines = [summary] if summary else []
    lines += [f"{message['role']}: {message['content']}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    size = tok.count_text(answer)
    if answer and size <= room and size < tok.count_text(text):
        return answer
    kept, left = [], room
    for line in reversed(lines):
        left -= tok.count_text(line)
        if left < 0:
            break
        kept.insert(0, line)
    return "\n".join(kept) or truncate(lines[-1], room, tok)


# %% question="fold" fails="test_in_place_of_a_refused_summary" says="a last line that is too long is cut"
def fold(summary, old, room, summarise, tok):  # where nothing fits, nothing is left
    if not old:
        return summary
    lines = [summary] if summary else []
    lines += [f"{message['role']}: {message['content']}" for message in old]
    text = "\n".join(lines)
    answer = summarise(text, room).strip()
    size = tok.count_text(answer)
    if answer and size <= room and size < tok.count_text(text):
        return answer
    while lines and tok.count_text("\n".join(lines)) > room:
        lines = lines[1:]
    return "\n".join(lines)
