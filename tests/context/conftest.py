"""A real, small tokenizer with a chat template of its own, so that counting is tested without any weights."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from ctxcourse.messages import normalise, normalise_tools

settings.register_profile("context", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("context")

SENTENCES = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.",
    "A context window is a budget: what spends it is less the number of tokens than the number of rivals.",
    "system user assistant tool tool_call tool_response name arguments description parameters properties",
    '{"type": "function", "function": {"name": "search_logs", "parameters": {"type": "object"}}}',
    "def count(text):\n    return len(text.split())\n\n\n",
    "机密文件必须保存在保险箱里。ありがとうございます。",
    "Write the answer.\n\nThen stop.\n\n\n\nReally   stop.",
]
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEFAULT_SYSTEM = "You are a small model in a test."
START, END = "<|im_start|>", "<|im_end|>"


def train_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


class SmallCounter:
    """Its template has what makes counting hard: a default system message, a tool preamble, merged results."""

    def __init__(self) -> None:
        self.tokenizer = train_tokenizer()

    def count_text(self, text: str) -> int:
        return len(self.tokenizer.encode(text).ids)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self.tokenizer.encode(text).offsets

    def count_prompt(self, messages: Sequence[dict[str, Any]], tools: Any = None) -> int:
        return sum(1 if control else self.count_text(text) for text, control in self.pieces(messages, tools))

    def render(self, messages: Sequence[dict[str, Any]], tools: Any = None) -> str:
        return "".join(text for text, _ in self.pieces(messages, tools))

    def pieces(self, messages: Any, tools: Any = None) -> list[tuple[str, bool]]:
        """The prompt as runs of plain text and control tokens, ``(text, is_control)``."""
        messages, tools = normalise(messages), normalise_tools(tools)
        out: list[tuple[str, bool]] = []
        opening = DEFAULT_SYSTEM
        if messages and messages[0]["role"] == "system":
            opening, messages = messages[0]["content"], messages[1:]
        if tools:
            lines = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
            opening += f"\n\n# Tools\n\nYou may call these:\n<tools>\n{lines}\n</tools>\n\nAnswer with JSON."
        self._block(out, "system", opening)
        for index, message in enumerate(messages):
            content = message["content"]
            if message["role"] == "tool":
                first = index == 0 or messages[index - 1]["role"] != "tool"
                last = index + 1 == len(messages) or messages[index + 1]["role"] != "tool"
                if first:
                    out += [(START, True), ("user", False)]
                out.append((f"\n<tool_response>\n{content}\n</tool_response>", False))
                if last:
                    out += [(END, True), ("\n", False)]
                continue
            for call in message.get("tool_calls", []):
                content += f"\n<tool_call>\n{json.dumps(call['function'], ensure_ascii=False)}\n</tool_call>"
            self._block(out, message["role"], content)
        out += [(START, True), ("assistant\n", False)]
        return _joined(out)

    @staticmethod
    def _block(out: list[tuple[str, bool]], role: str, content: str) -> None:
        out += [(START, True), (f"{role}\n{content}", False), (END, True), ("\n", False)]


def _joined(pieces: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Join neighbouring runs of text, which a tokenizer sees as one."""
    joined: list[tuple[str, bool]] = []
    for text, control in pieces:
        if joined and not control and not joined[-1][1]:
            joined[-1] = (joined[-1][0] + text, False)
        else:
            joined.append((text, control))
    return joined


@pytest.fixture(scope="session")
def counter() -> SmallCounter:
    return SmallCounter()


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """The course model's own tokenizer, for the figures that are its own."""
    from ctxcourse import load_tokenizer

    return load_tokenizer()
