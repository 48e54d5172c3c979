# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="turn_buckets" fails="test_added_by_each_turn" says="subtract what was there"
def turn_buckets(messages, tools, tok):  # what the prompt holds by then, not what the turn added
    starts = [i for i, m in enumerate(messages) if m["role"] == "user"]
    ends = [*starts[1:], len(messages)] if starts else []
    return [asdict(buckets(messages[:end], tools, tok)) for end in ends]


# %% question="turn_buckets" fails="test_turns_add_up" says="and the last turn"
def turn_buckets(messages, tools, tok):  # forgets the last turn: it has no user message after it
    starts = [i for i, m in enumerate(messages) if m["role"] == "user"]
    before = dict.fromkeys(("system", "tools", "conversation", "tool_results"), 0)
    rows = []
    for end in starts[1:]:
        now = asdict(buckets(messages[:end], tools, tok))
        rows.append({name: tokens - before[name] for name, tokens in now.items()})
        before = now
    return rows


# %% question="turn_buckets" fails="test_tool_calls_stay_in_their_turn" says="ends only at the next user message"
def turn_buckets(messages, tools, tok):  # ends a turn at every answer of the assistant
    ends = [i + 1 for i, m in enumerate(messages) if m["role"] == "assistant" and not m.get("tool_calls")]
    before = dict.fromkeys(("system", "tools", "conversation", "tool_results"), 0)
    rows = []
    for end in ends:
        now = asdict(buckets(messages[:end], tools, tok))
        rows.append({name: tokens - before[name] for name, tokens in now.items()})
        before = now
    return rows


# %% question="turn_buckets" fails="test_unusual_conversations" says="How many turns"
def turn_buckets(messages, tools, tok):  # takes for granted that there is a user message
    starts = [i for i, m in enumerate(messages) if m["role"] == "user"]
    before = dict.fromkeys(("system", "tools", "conversation", "tool_results"), 0)
    rows = []
    for end in [*starts[1:], len(messages)]:
        now = asdict(buckets(messages[:end], tools, tok))
        rows.append({name: tokens - before[name] for name, tokens in now.items()})
        before = now
    return rows


# %% question="reserve" fails="test_least_comes_first" says="greedy first request"
def reserve(window, generation, requests):  # gives each what it wants at once, in order of priority
    room = window - generation
    if room <= 0:
        raise ValueError("no room")
    granted = dict.fromkeys((r["name"] for r in requests), 0)
    for r in sorted(requests, key=lambda r: r["priority"]):
        if r["least"] <= room:
            granted[r["name"]] = min(r["wanted"], room)
            room -= granted[r["name"]]
    return granted


# %% question="reserve" fails="test_left_out" says="the next one may be small enough"
def reserve(window, generation, requests):  # stops at the first request that does not fit
    room = window - generation
    if room <= 0:
        raise ValueError("no room")
    granted = dict.fromkeys((r["name"] for r in requests), 0)
    served = []
    for r in sorted(requests, key=lambda r: r["priority"]):
        if r["least"] > room:
            break
        granted[r["name"]] = r["least"]
        room -= r["least"]
        served.append(r)
    for r in served:
        more = min(r["wanted"] - r["least"], room)
        granted[r["name"]] += more
        room -= more
    return granted


# %% question="reserve" fails="test_priorities" says="1 is the most important"
def reserve(window, generation, requests):  # sorts the wrong way round
    room = window - generation
    if room <= 0:
        raise ValueError("no room")
    granted = dict.fromkeys((r["name"] for r in requests), 0)
    served = []
    for r in sorted(requests, key=lambda r: r["priority"], reverse=True):
        if r["least"] <= room:
            granted[r["name"]] = r["least"]
            room -= r["least"]
            served.append(r)
    for r in served:
        more = min(r["wanted"] - r["least"], room)
        granted[r["name"]] += more
        room -= more
    return granted


# %% question="reserve" fails="test_limits" says="more than window − generation"
def reserve(window, generation, requests):  # forgets the tokens kept for generation
    room = window
    granted = dict.fromkeys((r["name"] for r in requests), 0)
    served = []
    for r in sorted(requests, key=lambda r: r["priority"]):
        if r["least"] <= room:
            granted[r["name"]] = r["least"]
            room -= r["least"]
            served.append(r)
    for r in served:
        more = min(r["wanted"] - r["least"], room)
        granted[r["name"]] += more
        room -= more
    return granted


# %% question="waste" fails="test_share_of_used" says="without those kept for generation"
def waste(used):  # counts the reserve as if it were used
    remedies = {"history": "summarise history", "tools": "prune tools", "documents": "rerank documents"}
    total = sum(used.values())
    if total == 0 or set(used) <= {"generation"}:
        return []
    found = [(name, t / total, remedies.get(name)) for name, t in used.items() if t > 0.3 * total and name != "generation"]
    return sorted(found, key=lambda entry: entry[1], reverse=True)


# %% question="waste" fails="test_share_of_used" says="not of the window"
def waste(used):  # measures against the window
    remedies = {"history": "summarise history", "tools": "prune tools", "documents": "rerank documents"}
    return [(name, t / 128_000, remedies.get(name)) for name, t in used.items() if t / 128_000 > 0.3]


# %% question="waste" fails="test_threshold" says="exactly thirty per cent"
def waste(used):  # flags thirty per cent as well
    remedies = {"history": "summarise history", "tools": "prune tools", "documents": "rerank documents"}
    prompt = {name: tokens for name, tokens in used.items() if name != "generation"}
    total = sum(prompt.values())
    if total == 0:
        return []
    found = [(name, t / total, remedies.get(name)) for name, t in prompt.items() if t >= 0.3 * total]
    return sorted(found, key=lambda entry: entry[1], reverse=True)


# %% question="waste" fails="test_order_and_remedies" says="Sort by share"
def waste(used):  # leaves the order of the dict
    remedies = {"history": "summarise history", "tools": "prune tools", "documents": "rerank documents"}
    prompt = {name: tokens for name, tokens in used.items() if name != "generation"}
    total = sum(prompt.values())
    return [(name, t / total, remedies.get(name)) for name, t in prompt.items() if total and t > 0.3 * total]


# %% question="waste" fails="test_nothing_used" says="divide by it"
def waste(used):  # divides by nothing
    remedies = {"history": "summarise history", "tools": "prune tools", "documents": "rerank documents"}
    prompt = {name: tokens for name, tokens in used.items() if name != "generation"}
    total = sum(prompt.values())
    found = [(name, t / total, remedies.get(name)) for name, t in prompt.items() if t / total > 0.3]
    return sorted(found, key=lambda entry: entry[1], reverse=True)
