"""Load the model into this process and let it answer: greedy, without penalties, always the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError
from ctxcourse.model.convert import quiet_bars
from ctxcourse.model.files import clear_content_errors
from ctxcourse.model.tokenizer import ChatTokenizer, Message
from ctxcourse.model.weights import ModelFolder

if TYPE_CHECKING:
    import torch

PREFILL_CHUNK = 512  # tokens a forward pass: bounds the memory of the element-wise work


class WindowError(CourseError, ValueError):
    """A prompt and the answer asked for do not fit the model's context window."""


class Cancelled(CourseError):
    """The caller asked to stop before the answer was complete; the model can be used again at once."""


@dataclass(frozen=True)
class Completion:
    """One answer of the model.

    ``prompt_tokens`` were given to it, ``computed_tokens`` of them were computed for this answer (all, unless a
    prefix was reused), ``new_tokens`` were generated, in ``seconds``. ``stop_reason`` is ``"stop"`` where the model
    ended its answer and ``"length"`` where the limit did. ``fingerprint`` names the weights.
    """

    text: str
    prompt_tokens: int
    computed_tokens: int
    new_tokens: int
    seconds: float
    stop_reason: str
    fingerprint: str


class Model:
    """A chat model on the CPU in float32, decoded greedily. The weights are read at the first answer.

    Counting and rendering are the tokenizer's and need no weights: ``count_text``, ``count_prompt``, ``render``.
    """

    def __init__(self, folder: ModelFolder, tokenizer: ChatTokenizer):
        self.folder, self.tokenizer = folder, tokenizer
        self.name, self.label = folder.artefact.name, folder.artefact.label
        self.fingerprint = folder.fingerprint
        self.count_text, self.count_prompt = tokenizer.count_text, tokenizer.count_prompt
        self.token_spans, self.render = tokenizer.token_spans, tokenizer.render
        self.encode, self.decode = tokenizer.encode, tokenizer.decode
        self.encode_prompt, self.split_prompt = tokenizer.encode_prompt, tokenizer.split_prompt
        self._network: Any = None
        self._loading = threading.Lock()  # a widget's thread and a cell may both ask first

    def __repr__(self) -> str:
        return f"<Model {self.label}, {self.fingerprint}>"

    @property
    def config(self) -> Any:
        """The network's configuration, as transformers reads it (no weights needed)."""
        if self._network is not None:
            return self._network.config
        from transformers import AutoConfig

        with clear_content_errors(self.folder.path, "a model of transformers"):
            return AutoConfig.from_pretrained(self.folder.path)

    @property
    def context_window(self) -> int:
        """How many tokens prompt and answer may have together."""
        window: int = self.config.max_position_embeddings
        return window

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of key-value cache that one token occupies: keys and values of every layer, in float32."""
        config = self.config
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        size: int = 2 * config.num_hidden_layers * config.num_key_value_heads * head * 4
        return size

    @property
    def network(self) -> Any:
        """The transformers model itself, read from the disk when it is first asked for."""
        with self._loading:
            if self._network is None:
                self._network = _read_network(self.folder.path)
        return self._network

    def complete(
        self,
        prompt: str | Sequence[Message],
        tools: Sequence[Message] | None = None,
        max_new_tokens: int = 64,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Completion:
        """Answer ``prompt`` (messages, or a string taken as one user message) and return the completion.

        ``should_stop`` is asked between pieces of work; when it says yes, the call ends with :class:`Cancelled`.

        Raises:
            WindowError: prompt and answer do not fit the context window; nothing has been computed.
            Cancelled: ``should_stop`` said so.
        """
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        if not messages:
            raise WindowError("There is nothing to answer: the prompt has no messages. Give at least one.")
        if isinstance(max_new_tokens, bool) or not isinstance(max_new_tokens, int) or max_new_tokens < 1:
            raise WindowError(f"max_new_tokens must be a whole number of at least 1, not {max_new_tokens!r}.")
        started = time.perf_counter()
        ids = self.tokenizer.encode_prompt(messages, tools)
        self._check_window(len(ids), max_new_tokens)
        new, reason = self._decode(ids, max_new_tokens, should_stop)
        return Completion(
            text=self.tokenizer.decode(new),
            prompt_tokens=len(ids),
            computed_tokens=len(ids),
            new_tokens=len(new),
            seconds=time.perf_counter() - started,
            stop_reason=reason,
            fingerprint=self.fingerprint,
        )

    def _check_window(self, prompt_tokens: int, max_new_tokens: int) -> None:
        window = self.context_window
        if prompt_tokens + max_new_tokens > window:
            over = prompt_tokens + max_new_tokens - window
            raise WindowError(
                f"The prompt has {prompt_tokens:,} tokens and {max_new_tokens:,} are wanted for the answer: {over:,} "
                f"more than the window of {window:,}. Shorten the prompt or ask for fewer new tokens."
            )

    def _decode(self, ids: list[int], max_new_tokens: int, should_stop: Callable[[], bool]) -> tuple[list[int], str]:
        """Return the greedy continuation of ``ids`` without its end marker, and why it ended."""
        import torch
        from transformers import DynamicCache

        network, ends = self.network, self._end_tokens()
        cache = DynamicCache(config=network.config)
        new: list[int] = []
        with torch.inference_mode():
            for start in range(0, len(ids), PREFILL_CHUNK):
                if should_stop():
                    raise Cancelled("Stopped before the prompt was read.")
                logits = self._forward(torch.tensor([ids[start : start + PREFILL_CHUNK]]), cache)
            while True:
                token = int(logits.argmax())
                if token in ends:
                    return new, "stop"
                new.append(token)
                if len(new) == max_new_tokens:
                    return new, "length"
                if should_stop():
                    raise Cancelled(f"Stopped after {len(new)} new tokens.")
                logits = self._forward(torch.tensor([[token]]), cache)

    def _forward(self, ids: torch.Tensor, cache: Any) -> torch.Tensor:
        """Run the network over the next tokens and return the logits after the last of them, shape ``(vocab,)``."""
        output = self.network(input_ids=ids, cache=cache, use_cache=True, logits_to_keep=1)
        logits: torch.Tensor = output.logits[0, -1]
        return logits

    def _end_tokens(self) -> set[int]:
        end = self.network.generation_config.eos_token_id
        ends = set(end) if isinstance(end, list) else {end}
        return ends | {
            self.tokenizer.control_tokens[t]
            for t in ("<|im_end|>", "<|endoftext|>")
            if t in self.tokenizer.control_tokens
        }


def _read_network(path: Path) -> Any:
    import torch
    from transformers import AutoModelForCausalLM

    with quiet_bars(), clear_content_errors(path, "a model of transformers"):
        return AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
