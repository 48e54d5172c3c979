"""The model's tokenizer and chat template: what a prompt looks like to the model, and what it costs.

Needs no torch and no weights. Text that somebody wrote can never become a control token here: a prompt is split at
the control tokens that the template itself wrote, and everything between them is encoded as plain text.
"""

from __future__ import annotations

import functools
import json
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from ctxcourse.model.artefacts import WeightsError
from ctxcourse.model.files import clear_content_errors

Message = dict[str, Any]
Normalise = Callable[[Any], list[dict[str, Any]]]

_SHORT = 4_096  # characters of a short piece of a prompt
_SHORT_KEPT, _LONG_KEPT = 16_384, 64  # pieces whose tokens are remembered

_OPEN, _CLOSE = (
    "\ue0c1",
    "\ue0c2",
)  # private-use characters that stand for a control token written by somebody


class ChatTokenizer:
    """Counts and renders with one model's own tokenizer and chat template.

    ``normalise`` and ``normalise_tools`` are applied to the messages and tools that come in; they validate and bring
    them into the form the template expects.
    """

    def __init__(self, folder: Path, normalise: Normalise, normalise_tools: Normalise):
        from tokenizers import Tokenizer

        self.folder = folder
        self._normalise, self._normalise_tools = normalise, normalise_tools
        if not (folder / "tokenizer.json").exists():
            raise WeightsError(f"{folder} holds no tokenizer.json: give a folder saved by transformers.")
        with clear_content_errors(folder, "a tokenizer with a chat template"):
            content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
            self.chat_template = _read_template(folder)
            added = content.pop("added_tokens", [])
            self.control_tokens: dict[str, int] = {t["content"]: t["id"] for t in added}
            self._hidden = {t["content"] for t in added if t["special"]}
            content["added_tokens"] = []
            self._text = Tokenizer.from_str(json.dumps(content))
        self._names = {number: name for name, number in self.control_tokens.items()}
        longest_first = sorted(self.control_tokens, key=len, reverse=True)
        self._control = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if longest_first else None
        self._short_piece = functools.lru_cache(_SHORT_KEPT)(self._encode_piece)
        self._long_piece = functools.lru_cache(_LONG_KEPT)(self._encode_piece)

    # Text

    def encode(self, text: str) -> list[int]:
        """Return the token ids of plain text; control tokens spelled in it are encoded as the text they are."""
        ids: list[int] = self._text.encode(text, add_special_tokens=False).ids
        return ids

    def count_text(self, text: str) -> int:
        """Return how many tokens plain text has, by itself and without any message around it."""
        return len(self.encode(text))

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the ``(start, end)`` characters that each token of ``text`` covers, in order.

        A character of several bytes can be spread over several tokens; their spans then overlap.
        """
        spans: list[tuple[int, int]] = self._text.encode(text, add_special_tokens=False).offsets
        return spans

    def decode(self, ids: Iterable[int], control: bool = False) -> str:
        """Return the text of token ids.

        Role markers and their like are left out unless ``control`` is true; ``<tool_call>`` tags are part of the text.
        """
        pieces, run = [], []
        for number in ids:
            name = self._names.get(number)
            if name is None:
                run.append(number)
                continue
            pieces.append(self._text.decode(run, skip_special_tokens=False))
            run = []
            if control or name not in self._hidden:
                pieces.append(name)
        pieces.append(self._text.decode(run, skip_special_tokens=False))
        return "".join(pieces)

    # Prompts

    def render(self, messages: Sequence[Message], tools: Sequence[Message] | None = None) -> str:
        """Return the prompt as the template writes it, ending where the model is to answer.

        No message at all is legal: the result is what the template writes before the first message (its default
        system message and the tool preamble), followed by the generation prompt.
        """
        return self._restore(self._render(messages, tools))

    def encode_prompt(self, messages: Sequence[Message], tools: Sequence[Message] | None = None) -> list[int]:
        """Return the token ids that the model is given for ``messages`` and ``tools``.

        What stands between two control tokens is tokenised by itself, and remembered: a message that was in an earlier
        prompt costs a look-up here.
        """
        ids = array("I")
        for piece in self._pieces(self._render(messages, tools)):
            number = self.control_tokens.get(piece)
            if number is not None:
                ids.append(number)
            else:
                ids += self._short_piece(piece) if len(piece) <= _SHORT else self._long_piece(piece)
        return ids.tolist()

    @property
    def tokenised(self) -> int:
        """How many pieces of prompts were tokenised and remembered since the last `forget`."""
        return self._short_piece.cache_info().misses + self._long_piece.cache_info().misses

    def forget(self) -> None:
        """Drop the remembered pieces of prompts."""
        self._short_piece.cache_clear()
        self._long_piece.cache_clear()

    def _encode_piece(self, piece: str) -> array[int]:
        return array("I", self.encode(self._restore(piece)))

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[Message] | None = None) -> int:
        """Return how many tokens the model is given for ``messages`` and ``tools``."""
        return len(self.encode_prompt(messages, tools))

    def split_prompt(
        self, messages: Sequence[Message], tools: Sequence[Message] | None = None
    ) -> list[tuple[str, bool]]:
        """Return the rendered prompt in pieces ``(text, is_control_token)``, for showing it."""
        pieces = self._pieces(self._render(messages, tools))
        return [(self._restore(piece), piece in self.control_tokens) for piece in pieces]

    def _pieces(self, rendered: str) -> list[str]:
        parts = self._control.split(rendered) if self._control else [rendered]
        return [part for part in parts if part]

    def _render(self, messages: Sequence[Message], tools: Sequence[Message] | None) -> str:
        ready = [self._guard(m) for m in self._normalise(messages)]
        schemas = [self._guard(t) for t in self._normalise_tools(tools or [])] or None
        if ready:
            return self._apply(ready, schemas)
        # With additive user messages, what the second one adds is one message; take it off a prompt with one.
        user = {"role": "user", "content": "x"}
        one = self._apply([user], schemas, generation_prompt=False)
        message = self._apply([user, user], schemas, generation_prompt=False)[len(one) :]
        if not message or not one.endswith(message):
            raise WeightsError("This chat template cannot render a prompt without messages; give at least one.")
        whole = self._apply([user], schemas)
        return one[: -len(message)] + whole[len(one) :]

    def _apply(self, messages: list[Message], tools: list[Message] | None, generation_prompt: bool = True) -> str:
        from jinja2 import TemplateError
        from transformers.utils.chat_template_utils import render_jinja_template

        try:
            rendered, _ = render_jinja_template(
                conversations=[messages],
                tools=tools,
                chat_template=self.chat_template,
                add_generation_prompt=generation_prompt,
                bos_token="",
                eos_token="",
            )
        except TemplateError as error:
            raise WeightsError(f"The chat template of {self.folder} does not take these messages: {error}") from error
        result: str = rendered[0]
        return result

    def _guard(self, value: Any) -> Any:
        """Replace every control token spelled inside a message or schema by a stand-in of private-use characters."""
        if isinstance(value, str):
            escaped = value.replace(_OPEN, _OPEN + "o" + _CLOSE)
            if self._control is None:
                return escaped
            return self._control.sub(lambda m: f"{_OPEN}{self.control_tokens[m[0]]}{_CLOSE}", escaped)
        if isinstance(value, dict):
            return {self._guard(k): self._guard(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._guard(v) for v in value]
        return value

    def _restore(self, text: str) -> str:
        if _OPEN not in text:
            return text
        return re.sub(f"{_OPEN}(o|[0-9]+){_CLOSE}", lambda m: _OPEN if m[1] == "o" else self._names[int(m[1])], text)


def _read_template(folder: Path) -> str:
    jinja = folder / "chat_template.jinja"
    if jinja.exists():
        return jinja.read_text(encoding="utf-8")
    template: str = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))["chat_template"]
    return template


@functools.lru_cache(maxsize=4)
def cached_tokenizer(folder: Path, normalise: Normalise, normalise_tools: Normalise) -> ChatTokenizer:
    """Return the tokenizer of a model folder, read once per process."""
    return ChatTokenizer(folder, normalise, normalise_tools)
