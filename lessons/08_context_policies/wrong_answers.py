# Answers that a student would really write, each with the test it must fail and words from the hint it must bring.

# %% question="keep" fails="test_valid_to_the_end" says="with the results of its calls"
def keep(messages, counter):  # words alone, in the current turn as well
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    return [
        {"role": m["role"], "content": m["content"]}
        for i, m in enumerate(messages)
        if m["role"] in ("system", "user") or (m["role"] == "assistant" and m["content"] and i >= recent)
    ]


# %% question="keep" fails="test_valid_to_the_end" says="each call kept with its results"
def keep(messages, counter):  # takes the results away and leaves their calls
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    old = [m for i, m in enumerate(messages[: users[-1]]) if m["role"] in ("system", "user") or (m["role"] == "assistant" and i >= recent)]
    return old + messages[users[-1] :]


# %% question="keep" fails="test_valid_to_the_end" says="the system message first"
def keep(messages, counter):  # forgets the system message
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    old = [
        {"role": m["role"], "content": m["content"]}
        for i, m in enumerate(messages[: users[-1]])
        if m["role"] == "user" or (m["role"] == "assistant" and m["content"] and i >= recent)
    ]
    return old + messages[users[-1] :]


# %% question="keep" fails="test_words_of_recent_turns" says="Every text of the user and of the assistant"
def keep(messages, counter):  # what the user said, and the current turn
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    return [m for m in messages[: users[-1]] if m["role"] in ("system", "user")] + messages[users[-1] :]


# %% question="keep" fails="test_words_of_recent_turns" says="in the same message as a call"
def keep(messages, counter):  # drops what the assistant says while it calls
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    old = [
        m
        for i, m in enumerate(messages[: users[-1]])
        if m["role"] in ("system", "user") or (m["role"] == "assistant" and not m.get("tool_calls") and i >= recent)
    ]
    return old + messages[users[-1] :]


# %% question="keep" fails="test_recorded_run_is_cheaper" says="does the whole run cost less"
def keep(messages, counter):  # everything, at every call
    return messages


# %% question="keep" fails="test_recorded_run_is_cheaper" says="does the whole run cost less"
def keep(messages, counter):  # the policy that was to be beaten
    return UserMessages(4).prompt(messages, counter).messages


# %% question="keep" fails="test_recorded_run_is_cheaper" says="still stated at turn 40"
def keep(messages, counter):  # the last four turns, without results; older turns are gone
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    old = [
        {"role": m["role"], "content": m["content"]}
        for i, m in enumerate(messages[: users[-1]])
        if m["role"] == "system" or (m["role"] in ("user", "assistant") and m["content"] and i >= recent)
    ]
    return old + messages[users[-1] :]


# %% question="keep" fails="test_elsewhere_it_holds" says="only which did"
def keep(messages, counter):  # keeps of the old turns the two sentences that the recording needs
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    kept = []
    for i, m in enumerate(messages[: users[-1]]):
        known = "4417" in m["content"] or "pay-shard-7" in m["content"]
        if m["role"] == "system" or (m["role"] == "user" and (i >= recent or known)):
            kept.append(m)
        elif m["role"] == "assistant" and m["content"] and i >= recent:
            kept.append({"role": "assistant", "content": m["content"]})
    return kept + messages[users[-1] :]


# %% question="keep" fails="test_elsewhere_it_holds" says="a decision that has no number"
def keep(messages, counter):  # takes what has a digit in it for what matters
    users = [i for i, m in enumerate(messages) if m["role"] == "user"] or [0]
    recent = users[-4] if len(users) > 3 else users[0]
    kept = []
    for i, m in enumerate(messages[: users[-1]]):
        figures = any(letter.isdigit() for letter in m["content"])
        if m["role"] == "system" or (m["role"] == "user" and (i >= recent or figures)):
            kept.append(m)
        elif m["role"] == "assistant" and m["content"] and i >= recent:
            kept.append({"role": "assistant", "content": m["content"]})
    return kept + messages[users[-1] :]


# %% question="recomputed" fails="test_behind_the_first_difference" says="Everything behind the first token that differs"
def recomputed(prompts, block):  # spares what is the same in the same place, also behind a difference
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = sum(one == other for one, other in zip(before, prompt[:-1], strict=False))
        made.append(len(prompt) - same // block * block)
        before = prompt
    return made


def moved(opening, parts, pins, block):
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_behind_the_first_difference" says="the prompt before is the one that counts"
def recomputed(prompts, block):  # a cache that remembers every prompt there was
    if block < 1:
        raise ValueError("a block has at least one token")
    made, seen = [], []
    for prompt in prompts:
        best = 0
        for before in seen:
            same = 0
            while same < min(len(before), len(prompt) - 1) and before[same] == prompt[same]:
                same += 1
            best = max(best, same)
        made.append(len(prompt) - best // block * block)
        seen.append(prompt)
    return made


def moved(opening, parts, pins, block):
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_behind_the_first_difference" says="one token always is"
def recomputed(prompts, block):  # a prompt that is sent twice costs nothing
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = 0
        while same < min(len(before), len(prompt)) and before[same] == prompt[same]:
            same += 1
        made.append(len(prompt) - same // block * block)
        before = prompt
    return made


def moved(opening, parts, pins, block):
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_whole_blocks" says="behind the rule of the last token"
def recomputed(prompts, block):  # rounds first, and then leaves one token
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = 0
        while same < min(len(before), len(prompt)) and before[same] == prompt[same]:
            same += 1
        made.append(len(prompt) - min(same // block * block, len(prompt) - 1))
        before = prompt
    return made


def moved(opening, parts, pins, block):
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_whole_blocks" says="A block is at least 1"
def recomputed(prompts, block):  # token by token, whatever the block
    made, before = [], []
    for prompt in prompts:
        same = 0
        while same < min(len(before), len(prompt) - 1) and before[same] == prompt[same]:
            same += 1
        made.append(len(prompt) - same)
        before = prompt
    return made


def moved(opening, parts, pins, block):
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_pin_that_changes" says="the opening and the conversation are spared"
def recomputed(prompts, block):
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = 0
        for one, other in zip(before, prompt[:-1], strict=False):
            if one != other:
                break
            same += 1
        made.append(len(prompt) - same + same % block)
        before = prompt
    return made


def moved(opening, parts, pins, block):  # leaves the pins of the calls before where they stood
    front, end, talk, told = [], [], [], []
    for part, pin in zip(parts, pins, strict=True):
        talk = talk + part
        told = told + part + pin
        front.append(opening + pin + talk)
        end.append(opening + told)
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_pin_that_stays" says="At the front it is computed once"
def recomputed(prompts, block):
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = 0
        for one, other in zip(before, prompt[:-1], strict=False):
            if one != other:
                break
            same += 1
        made.append(len(prompt) - same + same % block)
        before = prompt
    return made


def moved(opening, parts, pins, block):  # the two the wrong way round
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_pin_that_changes" says="computed again in each call"
def recomputed(prompts, block):
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = 0
        for one, other in zip(before, prompt[:-1], strict=False):
            if one != other:
                break
            same += 1
        made.append(len(prompt) - same + same % block)
        before = prompt
    return made


def moved(opening, parts, pins, block):  # takes the first pin for all of them
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pins[0] + talk for talk in talks]
    end = [opening + talk + pins[0] for talk in talks]
    return {"front": sum(recomputed(front, block)), "end": sum(recomputed(end, block))}


# %% question="recomputed" fails="test_pin_that_changes" says="the opening and the conversation are spared"
def recomputed(prompts, block):
    if block < 1:
        raise ValueError("a block has at least one token")
    made, before = [], []
    for prompt in prompts:
        same = 0
        for one, other in zip(before, prompt[:-1], strict=False):
            if one != other:
                break
            same += 1
        made.append(len(prompt) - same + same % block)
        before = prompt
    return made


def moved(opening, parts, pins, block):  # counts without blocks
    talks = [[token for part in parts[: call + 1] for token in part] for call in range(len(parts))]
    front = [opening + pin + talk for talk, pin in zip(talks, pins, strict=True)]
    end = [opening + talk + pin for talk, pin in zip(talks, pins, strict=True)]
    return {"front": sum(recomputed(front, 1)), "end": sum(recomputed(end, 1))}


# %% question="sources" fails="test_runs_with_a_digit" says="hyphens at the ends"
def sources(answer, messages):  # leaves hyphens where they are
    import re

    def identifiers(text):
        runs = re.findall(r"(?:[^\W_]|-)+", text.casefold())
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            for i in reversed(range(len(messages))):
                if messages[i]["role"] == role and identifier in identifiers(messages[i]["content"]):
                    found[identifier] = (kind, i)
    return found


# %% question="sources" fails="test_runs_with_a_digit" says="with a digit in them"
def sources(answer, messages):  # takes every word
    import re

    def identifiers(text):
        return [run.strip("-") for run in re.findall(r"(?:[^\W_]|-)+", text.casefold()) if run.strip("-")]

    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            for i in reversed(range(len(messages))):
                if messages[i]["role"] == role and identifier in identifiers(messages[i]["content"]):
                    found[identifier] = (kind, i)
    return found


# %% question="sources" fails="test_runs_with_a_digit" says="Whole runs of letters, digits and hyphens"
def sources(answer, messages):  # knows the letters of English
    import re

    def identifiers(text):
        runs = [run.strip("-") for run in re.findall(r"[a-z0-9-]+", text.casefold())]
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            for i in reversed(range(len(messages))):
                if messages[i]["role"] == role and identifier in identifiers(messages[i]["content"]):
                    found[identifier] = (kind, i)
    return found


# %% question="sources" fails="test_best_source_first_message" says="The user before a tool"
def sources(answer, messages):  # whoever said it first
    import re

    def identifiers(text):
        runs = [run.strip("-") for run in re.findall(r"(?:[^\W_]|-)+", text.casefold())]
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    found = {}
    kinds = {"user": "user", "tool": "tool", "assistant": "agent"}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for i, message in enumerate(messages):
            if message["role"] in kinds and identifier in identifiers(message["content"]):
                found[identifier] = (kinds[message["role"]], i)
                break
    return found


# %% question="sources" fails="test_best_source_first_message" says="the first message of the best kind"
def sources(answer, messages):  # where it was said last
    import re

    def identifiers(text):
        runs = [run.strip("-") for run in re.findall(r"(?:[^\W_]|-)+", text.casefold())]
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            for i in range(len(messages)):
                if messages[i]["role"] == role and identifier in identifiers(messages[i]["content"]):
                    found[identifier] = (kind, i)
    return found


# %% question="sources" fails="test_no_part_of_another" says="Compare whole identifiers"
def sources(answer, messages):  # looks for it anywhere in the text
    import re

    def identifiers(text):
        runs = [run.strip("-") for run in re.findall(r"(?:[^\W_]|-)+", text.casefold())]
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            for i in reversed(range(len(messages))):
                if messages[i]["role"] == role and identifier in messages[i]["content"].casefold():
                    found[identifier] = (kind, i)
    return found


# %% question="sources" fails="test_no_part_of_another" says="4417 is not in 44170"
def sources(answer, messages):  # trusts a word boundary, which a hyphen is
    import re

    def identifiers(text):
        runs = [run.strip("-") for run in re.findall(r"(?:[^\W_]|-)+", text.casefold())]
        return [run for run in runs if any(letter.isdigit() for letter in run)]

    found = {}
    for identifier in identifiers(answer):
        found[identifier] = ("nobody", None)
        for role, kind in (("assistant", "agent"), ("tool", "tool"), ("user", "user")):
            for i in reversed(range(len(messages))):
                text = messages[i]["content"].casefold()
                if messages[i]["role"] == role and re.search(rf"\b{re.escape(identifier)}\b", text):
                    found[identifier] = (kind, i)
    return found
