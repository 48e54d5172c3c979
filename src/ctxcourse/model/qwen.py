"""Load the model into this process and let it answer: greedy, without penalties, always the same."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ctxcourse.model.answers import Answer, BusyError, Completion, PromptError, WindowError
from ctxcourse.model.attention import supports_packing
from ctxcourse.model.bar import token_bar
from ctxcourse.model.completions import CompletionStore, StoredCompletion
from ctxcourse.model.convert import quiet_bars
from ctxcourse.model.files import clear_content_errors, stated_number
from ctxcourse.model.openings import Rules, ToolChoice, begin_suppress_tokens, of_one_rule, settings_of
from ctxcourse.model.plain import PlainEngine
from ctxcourse.model.prefix import PrefixEngine
from ctxcourse.model.products import pack_linear_layers
from ctxcourse.model.prompts import Prompt, PromptOrPair, checked_prompts, prompt_ids, which, whole_number
from ctxcourse.model.tokenizer import ChatTokenizer, Message
from ctxcourse.model.weights import ModelFolder


class Model:
    """A chat model on the CPU in float32, decoded greedily. The weights are read at the first answer.

    Counting and rendering are the tokenizer's and need no weights: ``count_text``, ``count_prompt``, ``render``.
    """

    def __init__(self, folder: ModelFolder, tokenizer: ChatTokenizer):
        self.folder, self.tokenizer = folder, tokenizer
        self.name, self.label, self.fingerprint = folder.artefact.name, folder.artefact.label, folder.fingerprint
        self.count_text, self.count_prompt = tokenizer.count_text, tokenizer.count_prompt
        self.token_spans, self.render = tokenizer.token_spans, tokenizer.render
        self.encode, self.decode = tokenizer.encode, tokenizer.decode
        self.encode_prompt, self.split_prompt = tokenizer.encode_prompt, tokenizer.split_prompt
        self.store = CompletionStore()
        self._engine: PrefixEngine | PlainEngine | None = None
        self._computing = threading.Lock()
        self._asked_by: int | None = None  # the thread that is being answered
        self._loaded_in = 0  # the process in which the weights were read
        self._loading = threading.Lock()  # a widget's thread and a cell may both ask first

    def __repr__(self) -> str:
        return f"<Model {self.label}, {self.fingerprint}>"

    @cached_property
    def config(self) -> Any:
        """The configuration of the network, as transformers reads it (no weights needed)."""
        from transformers import AutoConfig

        with clear_content_errors(self.folder.path, "a model of transformers"):
            return AutoConfig.from_pretrained(self.folder.path)

    @cached_property
    def context_window(self) -> int:
        """How many tokens prompt and answer may have together."""
        return self._number("max_position_embeddings")

    @cached_property
    def vocabulary(self) -> int:
        """How many token ids there are, from 0 up."""
        return self._number("vocab_size")

    def _number(self, name: str) -> int:
        """Return a number of the configuration; where the file says it, transformers need not be imported for it."""
        stated = stated_number(self.folder.path / "config.json", name)
        return int(getattr(self.config, name)) if stated is None else stated

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of key-value cache that one token occupies: keys and values of every layer, in float32."""
        config = self.config
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        return int(2 * config.num_hidden_layers * config.num_key_value_heads * head * 4)

    @property
    def network(self) -> Any:
        """The network of transformers, read from the disk when it is first asked for.

        Its linear layers compute with a packed copy of their weights, so changes of these have no effect; and it is
        not to be called while another thread asks the model.
        """
        return self.engine.network

    def complete(
        self,
        prompt: Prompt,
        tools: Sequence[Message] | None = None,
        max_new_tokens: int = 64,
        should_stop: Callable[[], bool] = lambda: False,
        remember: bool = False,
        tool_choice: ToolChoice | None = None,
        unlike: Sequence[str] = (),
    ) -> Completion:
        """Answer ``prompt`` (messages, a string taken as one user message, or token ids) and return the completion.

        What this process has computed of the prompt before, as part of any other, is not computed again:
        ``computed_tokens`` says how much was. ``should_stop`` is asked between pieces of work; when it says yes, the
        call ends with :class:`Cancelled`. With ``remember``, the completion store is looked into first, and keeps the
        answer for calls with the same settings. ``tool_choice`` and ``unlike`` say how the answer may begin, see
        `ctxcourse.model.openings`; without them it is plain greedy decoding. Room for all new tokens is reserved before
        the first, at the cost of what was computed for other prompts: ask for what you need.

        Raises:
            PromptError: this is no prompt, ``max_new_tokens`` is no whole number from 1 up, ``tool_choice`` or
                ``unlike`` is none, or (WindowError) the prompt does not fit the window with its answer; nothing has
                been computed.
            Cancelled: ``should_stop`` said so.
            BusyError: the call comes from within another, or in a forked process.
        """
        ids = prompt_ids(self.tokenizer, self.vocabulary, prompt, tools)
        rules = [begin_suppress_tokens(self.tokenizer, self.vocabulary, tool_choice, unlike)]
        [completion] = self._answered([ids], max_new_tokens, remember, should_stop, progress=False, rules=rules)
        return completion

    def complete_many(
        self,
        prompts: Iterable[PromptOrPair],
        max_new_tokens: int = 64,
        remember: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
        progress: bool = True,
        finished: Callable[[int, Completion], None] | None = None,
        tool_choice: ToolChoice | None = None,
        unlike: Sequence[Sequence[str]] = (),
    ) -> list[Completion]:
        """Answer many prompts, each prefix that they share computed once, and return their completions in order.

        Once, as far as memory keeps it; and a network whose attention cannot be packed (see ``supports_packing``) is
        asked plainly, one prompt after the other. Without ``tool_choice`` the texts are those of plain greedy decoding,
        up to rounding where two tokens are as good as equal. A prompt is what ``complete`` takes, or a pair of it and
        its tools. Finished completions go into the completion store one by one, so that an interrupted call continues
        where it stopped; ``remember=False`` leaves the store alone. A bar shows the progress in tokens of a call that
        takes longer than two seconds, unless ``progress`` is false. ``finished(number, completion)`` is called once for
        each prompt as soon as it is answered, remembered ones included; numbers count the prompts from 0. It may not
        ask the model itself. ``tool_choice`` is for all prompts, ``unlike`` has a list of texts for each, see
        ``complete``. What ``finished`` or ``should_stop`` raises ends the call and drops every computed prefix; what is
        finished stays in the store.

        Raises:
            PromptError: something is no prompt, no ``tool_choice``, no list of texts for each prompt, or (WindowError)
                does not fit the window; nothing has been computed.
            Cancelled: ``should_stop`` said so; what was finished is in the store.
            BusyError: the call comes from within another, or in a forked process.
        """
        pairs, vocabulary = checked_prompts(prompts), self.vocabulary
        ids = [
            prompt_ids(self.tokenizer, vocabulary, prompt, tools, which(number, len(pairs)))
            for number, (prompt, tools) in enumerate(pairs)
        ]
        if unlike and len(unlike) != len(ids):
            raise PromptError(f"unlike has {len(unlike)} lists of texts for {len(ids)} prompts: give one for each.")
        lists = {repr(texts): texts for texts in unlike or [()]}  # many prompts share a list, and a rule is large
        known = {
            name: begin_suppress_tokens(self.tokenizer, vocabulary, tool_choice, texts) for name, texts in lists.items()
        }
        rules = [known[repr(texts)] for texts in unlike or [()] * len(ids)]
        return self._answered(ids, max_new_tokens, remember, should_stop, progress, rules, finished)

    def _answered(
        self,
        ids: list[list[int]],
        max_new_tokens: int,
        remember: bool,
        should_stop: Callable[[], bool],
        progress: bool,
        rules: Rules,
        finished: Callable[[int, Completion], None] | None = None,
    ) -> list[Completion]:
        limit = whole_number(max_new_tokens)
        if limit is None or limit < 1:
            raise PromptError(f"max_new_tokens must be a whole number of at least 1, not {max_new_tokens!r}.")
        for number, prompt in enumerate(ids):
            self._check_window(prompt, limit, which(number, len(ids)))
        settings = {rule: settings_of(limit, rule) for rule in set(rules)}
        store = self.store if remember else None
        done: dict[int, Completion] = {}

        def keep(number: int, completion: Completion) -> None:
            done[number] = completion
            if finished is not None:
                finished(number, completion)

        for number, prompt in enumerate(ids if store else []):
            started = time.perf_counter()
            found = store.get(self.fingerprint, prompt, settings[rules[number]])  # type: ignore[union-attr]
            if found is not None:
                seconds = time.perf_counter() - started
                answer = Answer(list(found.new_ids), found.stop_reason, seconds=seconds)
                keep(number, self._completion(answer, len(prompt), remembered=True))
        missing = [number for number in range(len(ids)) if number not in done]

        def computed(part: list[int], index: int, answer: Answer) -> None:
            number = part[index]
            if store is not None and answer.computed_tokens:  # of equal prompts, the one that was computed
                stored = StoredCompletion(tuple(answer.new_ids), answer.stop_reason, answer.seconds)
                store.put(self.fingerprint, ids[number], settings[rules[number]], stored)
            keep(number, self._completion(answer, len(ids[number])))

        if missing:
            with self._alone(), token_bar(self.engine, [ids[n] for n in missing], limit, progress) as advance:
                for part in of_one_rule(missing, ids, rules):
                    prompts, of_part = [ids[n] for n in part], [rules[n] for n in part]
                    told = partial(computed, part)
                    self.engine.run(prompts, limit, told, should_stop, advance, of_part)
        return [done[number] for number in range(len(ids))]

    def pending_tokens(self, prompt: Prompt, tools: Sequence[Message] | None = None) -> int:
        """Return how many tokens of a prompt :meth:`complete` would compute now; the rest is known from before.

        Raises `PromptError` for what is no prompt.
        """
        ids = prompt_ids(self.tokenizer, self.vocabulary, prompt, tools)
        return max(1, len(ids) - (self._engine.computed(ids) if self._engine else 0))

    def forget(self) -> None:
        """Drop the prefixes that were computed in this process; the completion store keeps its answers.

        Raises `BusyError` from within a call.
        """
        with self._alone():
            if self._engine is not None:
                self._engine.forget()

    @property
    def engine(self) -> PrefixEngine | PlainEngine:
        """What computes the answers: with prefix reuse where the network's attention allows it."""
        with self._loading:
            if self._engine is None:
                network = _read_network(self.folder.path)
                kind = PrefixEngine if supports_packing(network) else PlainEngine
                self._engine, self._loaded_in = kind(network, self._end_tokens(network)), os.getpid()
        return self._engine

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other thread ask meanwhile; raises `BusyError` where waiting for it would never end."""
        if self._asked_by == threading.get_ident():
            raise BusyError(
                "The model is answering in this very thread: the call comes from within its should_stop, or from an "
                "event that this handles. Ask it when that answer is complete."
            )
        if self._loaded_in not in (0, os.getpid()):
            raise BusyError(
                "This process was forked from one that had read the model's weights, and their threads are not in it. "
                'Start processes with multiprocessing.get_context("spawn"), and load the model in each.'
            )
        with self._computing:
            try:
                self._asked_by = threading.get_ident()
                yield
            finally:
                self._asked_by = None

    def _completion(self, answer: Answer, prompt_tokens: int, remembered: bool = False) -> Completion:
        return Completion(
            text=self.tokenizer.decode(answer.new_ids),
            prompt_tokens=prompt_tokens,
            computed_tokens=answer.computed_tokens,
            new_tokens=len(answer.new_ids),
            seconds=answer.seconds,
            stop_reason=answer.stop_reason,
            fingerprint=self.fingerprint,
            remembered=remembered,
            new_ids=tuple(answer.new_ids),
        )

    def _check_window(self, ids: Sequence[int], max_new_tokens: int, which: str) -> None:
        window = self.context_window
        over = len(ids) + max_new_tokens - window
        if over > 0:
            raise WindowError(
                f"{which}The prompt has {len(ids):,} tokens and {max_new_tokens:,} are wanted for the answer: {over:,} "
                f"more than the window of {window:,}. Shorten the prompt or ask for fewer new tokens."
            )

    def _end_tokens(self, network: Any) -> set[int]:
        end = network.generation_config.eos_token_id
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
        network = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    pack_linear_layers(network)
    return network
