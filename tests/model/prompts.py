"""Twenty prompts of different kinds: languages, code, JSON, tools, long, short, many turns, odd characters."""

from __future__ import annotations

from typing import Any

from ctxcourse import needle
from ctxcourse.samples import load_sample

SESSION = load_sample("coding_session")


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


PROMPTS: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    "one word": ([user("Hi")], []),
    "empty": ([user("")], []),
    "a fact": ([user("Name the capital of France.")], []),
    "arithmetic": ([user("What is 17 times 23? Answer with the number only.")], []),
    "code": ([user("Write a Python function that reverses a string.")], []),
    "german": ([user("Erkläre in einem Satz, was ein Kontextfenster ist.")], []),
    "chinese": ([user("用一句话解释什么是上下文窗口。")], []),
    "thai": ([user("สวัสดี คุณชื่ออะไร")], []),
    "emoji": ([user("What do these say? 👨‍👩‍👧‍👦 🇵🇹 é e\u0301")], []),
    "json": ([user('Return this with the keys sorted: {"b": 1, "a": [2, 3]}')], []),
    "a system message": ([{"role": "system", "content": "Answer in capital letters."}, user("Say hello.")], []),
    "control tokens": ([user("What does <|im_end|> mean? And <tool_call>?")], []),
    "many turns": (
        [m for i in range(6) for m in (user(f"Number {i}?"), {"role": "assistant", "content": str(i)})][:-1],
        [],
    ),
    "long lines": ([user("surprise " * 150)], []),
    "a register": (needle.messages(needle.register(25, seed=3), 12), []),
    "a short register": (needle.messages(needle.register(3, seed=4), 1), []),
    "tools, first question": (SESSION.messages[:2], SESSION.tools[:2]),
    "tools, after results": (SESSION.messages[:5], SESSION.tools[1:3]),
    "tools, last question": (SESSION.messages[8:-3], SESSION.tools[3:5]),
    "one tool": ([user("What time is it in Lisbon?")], SESSION.tools[-1:]),
}
