# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="replay" fails="test_turns_and_buckets" says="belongs to turn 1"
def replay(messages, tools, summarise, tok, threshold=5_000):  # loses what stands before the first user message
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    left, rows, start = [], [], None
    for turn, (begin, end) in enumerate(zip(asked, [*asked[1:], len(messages)], strict=True), start=1):
        made = rule.compress([*left, *messages[begin:end]], tok)
        left = made.messages
        if start is None and made.dropped:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": made.spent_tokens})
    return rows, start


# %% question="replay" fails="test_turns_and_buckets" says="One row a turn"
def replay(messages, tools, summarise, tok, threshold=5_000):  # a row for each answer, not for each turn
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    left, rows, start, begin, turn = [], [], None, 0, 0
    for place, message in enumerate(messages):
        turn += message["role"] == "user"
        if message["role"] != "assistant" or message.get("tool_calls"):
            continue
        made = rule.compress([*left, *messages[begin : place + 1]], tok)
        left, begin = made.messages, place + 1
        if start is None and made.dropped:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": made.spent_tokens})
    return rows, start


# %% question="replay" fails="test_threshold_with_tools" says="counts messages alone"
def replay(messages, tools, summarise, tok, threshold=5_000):  # forgets that the tools count
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    rule = RollingSummary(summarise, threshold, summary_tokens=threshold // 10)
    edges = [0, *asked[1:], len(messages)]
    left, rows, start = [], [], None
    for turn in range(1, len(edges)):
        made = rule.compress([*left, *messages[edges[turn - 1] : edges[turn]]], tok)
        left = made.messages
        if start is None and made.dropped:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": made.spent_tokens})
    return rows, start


# %% question="replay" fails="test_carried_on" says="begin with what the last one left"
def replay(messages, tools, summarise, tok, threshold=5_000):  # compresses the recording anew at each turn
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    rows, start = [], None
    for turn, end in enumerate([*asked[1:], len(messages)], start=1):
        made = rule.compress(messages[:end], tok)
        if start is None and made.dropped:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(made.messages, tools, tok)), "spent": made.spent_tokens})
    return rows, start


# %% question="replay" fails="test_carried_on" says="that turn's own"
def replay(messages, tools, summarise, tok, threshold=5_000):  # adds up what was spent so far
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    edges = [0, *asked[1:], len(messages)]
    left, rows, start, spent = [], [], None, 0
    for turn in range(1, len(edges)):
        made = rule.compress([*left, *messages[edges[turn - 1] : edges[turn]]], tok)
        left = made.messages
        spent += made.spent_tokens
        if start is None and made.dropped:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": spent})
    return rows, start


# %% question="replay" fails="test_start" says="that turn is no start"
def replay(messages, tools, summarise, tok, threshold=5_000):  # starts where the limit is passed
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    edges = [0, *asked[1:], len(messages)]
    left, rows, start = [], [], None
    for turn in range(1, len(edges)):
        made = rule.compress([*left, *messages[edges[turn - 1] : edges[turn]]], tok)
        left = made.messages
        if start is None and made.tokens_before > limit:
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": made.spent_tokens})
    return rows, start


# %% question="replay" fails="test_start" says="ends in stubs"
def replay(messages, tools, summarise, tok, threshold=5_000):  # starts where a summary stands
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    edges = [0, *asked[1:], len(messages)]
    left, rows, start = [], [], None
    for turn in range(1, len(edges)):
        made = rule.compress([*left, *messages[edges[turn - 1] : edges[turn]]], tok)
        left = made.messages
        if start is None and any("retold" in note for note in made.notes):
            start = turn
        rows.append({"turn": turn, **asdict(buckets(left, tools, tok)), "spent": made.spent_tokens})
    return rows, start


# %% question="replay" fails="test_recorded_run" says="forty rows"
def replay(messages, tools, summarise, tok, threshold=5_000):  # the buckets of the recording, beside the replay's costs
    asked = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if not asked:
        return [], None
    limit = threshold - buckets(messages, tools, tok).tools
    rule = RollingSummary(summarise, limit, summary_tokens=limit // 10)
    edges = [0, *asked[1:], len(messages)]
    left, rows, start = [], [], None
    for turn in range(1, len(edges)):
        made = rule.compress([*left, *messages[edges[turn - 1] : edges[turn]]], tok)
        left = made.messages
        if start is None and made.dropped:
            start = turn
        now = asdict(buckets(messages[: edges[turn]], tools, tok))
        rows.append({"turn": turn, **now, "spent": made.spent_tokens})
    return rows, start


# %% question="cached" fails="test_grows_and_slides" says="do not begin with all of the prompt before"
def cached(prompts, block, least):  # calls it a break where nothing at all is shared
    if block < 1:
        raise ValueError("a block holds at least one token")

    def shared(one, other):
        most = min(len(one), len(other))
        return next((n for n in range(most) if one[n] != other[n]), most)

    computed, breaks = 0, []
    for call, prompt in enumerate(prompts):
        longest = max((shared(prompt, earlier) for earlier in prompts[:call]), default=0)
        taken = min(longest, len(prompt) - 1) // block * block
        computed += len(prompt) - (taken if taken >= least else 0)
        if call and not shared(prompt, prompts[call - 1]):
            breaks.append(call + 1)
    return {"billed": sum(map(len, prompts)), "computed": computed, "breaks": breaks}


# %% question="cached" fails="test_any_earlier" says="further than to the call before"
def cached(prompts, block, least):  # the lesson's rule: the call before alone
    if block < 1:
        raise ValueError("a block holds at least one token")

    def shared(one, other):
        most = min(len(one), len(other))
        return next((n for n in range(most) if one[n] != other[n]), most)

    computed, breaks = 0, []
    before = []
    for call, prompt in enumerate(prompts, start=1):
        found = shared(prompt, before)
        taken = min(found, len(prompt) - 1) // block * block
        computed += len(prompt) - (taken if taken >= least else 0)
        if found < len(before):
            breaks.append(call)
        before = prompt
    return {"billed": sum(map(len, prompts)), "computed": computed, "breaks": breaks}


# %% question="cached" fails="test_blocks" says="all but the last token"
def cached(prompts, block, least):  # a prompt that has been there before costs nothing
    if block < 1:
        raise ValueError("a block holds at least one token")

    def shared(one, other):
        most = min(len(one), len(other))
        return next((n for n in range(most) if one[n] != other[n]), most)

    computed, breaks = 0, []
    for call, prompt in enumerate(prompts):
        longest = max((shared(prompt, earlier) for earlier in prompts[:call]), default=0)
        taken = longest // block * block
        computed += len(prompt) - (taken if taken >= least else 0)
        if call and shared(prompt, prompts[call - 1]) < len(prompts[call - 1]):
            breaks.append(call + 1)
    return {"billed": sum(map(len, prompts)), "computed": computed, "breaks": breaks}


# %% question="cached" fails="test_blocks" says="then the least"
def cached(prompts, block, least):  # compares with the least before it rounds
    if block < 1:
        raise ValueError("a block holds at least one token")

    def shared(one, other):
        most = min(len(one), len(other))
        return next((n for n in range(most) if one[n] != other[n]), most)

    computed, breaks = 0, []
    for call, prompt in enumerate(prompts):
        longest = max((shared(prompt, earlier) for earlier in prompts[:call]), default=0)
        usable = min(longest, len(prompt) - 1)
        computed += len(prompt) - (usable // block * block if usable >= least else 0)
        if call and shared(prompt, prompts[call - 1]) < len(prompts[call - 1]):
            breaks.append(call + 1)
    return {"billed": sum(map(len, prompts)), "computed": computed, "breaks": breaks}


# %% question="cached" fails="test_real_run" says="even without prompts"
def cached(prompts, block, least):  # a block of nothing is noticed only where something is divided by it
    def shared(one, other):
        most = min(len(one), len(other))
        return next((n for n in range(most) if one[n] != other[n]), most)

    computed, breaks = 0, []
    for call, prompt in enumerate(prompts):
        if block < 1:
            raise ValueError("a block holds at least one token")
        longest = max((shared(prompt, earlier) for earlier in prompts[:call]), default=0)
        taken = min(longest, len(prompt) - 1) // block * block
        computed += len(prompt) - (taken if taken >= least else 0)
        if call and shared(prompt, prompts[call - 1]) < len(prompts[call - 1]):
            breaks.append(call + 1)
    return {"billed": sum(map(len, prompts)), "computed": computed, "breaks": breaks}


# %% question="just_in_time" fails="test_requests" says="has its definition already"
def just_in_time(messages, tools, tok):  # the definition comes one request too late
    opening = []
    for message in messages:
        if message["role"] != "system":
            break
        opening.append(message)
    bare = tok.count_prompt(opening, [])
    always = late = changes = 0
    called, last = set(), None
    for message in messages:
        if message["role"] == "assistant":
            now = [tool for tool in tools if tool["function"]["name"] in called]
            always += tok.count_prompt(opening, tools) - bare
            late += tok.count_prompt(opening, now) - bare
            changes += last is not None and now != last
            last = now
            called |= {call["function"]["name"] for call in message.get("tool_calls") or []}
    return {"always": always, "late": late, "changes": changes}


# %% question="just_in_time" fails="test_requests" says="not turns"
def just_in_time(messages, tools, tok):  # bills a turn once
    opening = []
    for message in messages:
        if message["role"] != "system":
            break
        opening.append(message)
    bare = tok.count_prompt(opening, [])
    always = late = changes = 0
    called, last = set(), None
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            called |= {call["function"]["name"] for call in message.get("tool_calls") or []}
            now = [tool for tool in tools if tool["function"]["name"] in called]
            changes += last is not None and now != last
            last = now
            if place + 1 == len(messages) or messages[place + 1]["role"] == "user":
                always += tok.count_prompt(opening, tools) - bare
                late += tok.count_prompt(opening, now) - bare
    return {"always": always, "late": late, "changes": changes}


# %% question="just_in_time" fails="test_rendered" says="beside the opening system messages"
def just_in_time(messages, tools, tok):  # counts definitions in a prompt of nothing else
    bare = tok.count_prompt([])
    always = late = changes = 0
    called, last = set(), None
    for message in messages:
        if message["role"] == "assistant":
            called |= {call["function"]["name"] for call in message.get("tool_calls") or []}
            now = [tool for tool in tools if tool["function"]["name"] in called]
            always += tok.count_prompt([], tools) - bare
            late += tok.count_prompt([], now) - bare
            changes += last is not None and now != last
            last = now
    return {"always": always, "late": late, "changes": changes}


# %% question="just_in_time" fails="test_rendered" says="order of the catalogue"
def just_in_time(messages, tools, tok):  # adds up tools one by one, and pays for the preamble each time
    opening = []
    for message in messages:
        if message["role"] != "system":
            break
        opening.append(message)
    bare = tok.count_prompt(opening, [])
    cost = {tool["function"]["name"]: tok.count_prompt(opening, [tool]) - bare for tool in tools}
    always = late = changes = 0
    called, last = set(), None
    for message in messages:
        if message["role"] == "assistant":
            called |= {call["function"]["name"] for call in message.get("tool_calls") or []} & cost.keys()
            always += tok.count_prompt(opening, tools) - bare
            late += sum(cost[name] for name in called)
            changes += last is not None and len(called) != last
            last = len(called)
    return {"always": always, "late": late, "changes": changes}


# %% question="just_in_time" fails="test_changes" says="the first request has none before it"
def just_in_time(messages, tools, tok):  # counts every call of a new tool as a change
    opening = []
    for message in messages:
        if message["role"] != "system":
            break
        opening.append(message)
    bare = tok.count_prompt(opening, [])
    always = late = changes = 0
    called = set()
    for message in messages:
        if message["role"] == "assistant":
            new = {call["function"]["name"] for call in message.get("tool_calls") or []} - called
            changes += len(new)
            called |= new
            now = [tool for tool in tools if tool["function"]["name"] in called]
            always += tok.count_prompt(opening, tools) - bare
            late += tok.count_prompt(opening, now) - bare
    return {"always": always, "late": late, "changes": changes}
