"""Attention for rows of many prompts in one forward pass, each seeing its own prefix and nothing else.

The rows that go through the network together are packed into one line. A plan says, for each run of rows, which
spans of keys they all see whole, and which rows see themselves causally. No mask is built: rows that do not see each
other never meet in a product. The parts of a row's attention are joined by their log-sum-exp, which is exact up to
rounding (Ye et al., "Cascade Inference", FlashInfer, 2024; Juravsky et al., "Hydragen", arXiv:2402.05099).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ctxcourse.model.keyvalues import Block
from ctxcourse.model.tree import Node

NAME = "ctxcourse_packed"
CAUSAL = 256
"""Rows that see each other causally in one product, of which half is thrown away; more rows are seen part by part."""


@dataclass
class Piece:
    """Tokens of one node that go through the network in one pass: ``ids``, from ``offset`` in the node on."""

    node: Node
    offset: int
    ids: Sequence[int]


@dataclass
class Seen:
    """Rows from ``first`` up to but not ``last``, which all see a block's keys from ``start`` up to but not ``end``."""

    first: int
    last: int
    block: Block
    start: int
    end: int


@dataclass
class Plan:
    """What a pass writes and sees: ``causal`` rows see themselves one by one, ``shared`` keys are seen whole."""

    causal: list[Seen] = field(default_factory=list)
    shared: list[Seen] = field(default_factory=list)
    writes: list[Seen] = field(default_factory=list)


def make_plan(pieces: Sequence[Piece]) -> Plan:
    """Return the plan of a pass over pieces that come depth first: the rows below a node lie together, behind it."""
    plan = Plan()
    below: dict[Node, list[int]] = {}  # rows of a node's descendants: first and last
    own: dict[Node, tuple[int, int]] = {}
    row = 0
    for piece in pieces:
        end = row + len(piece.ids)
        for node in piece.node.path()[:-1]:
            below.setdefault(node, [row, end])[1] = end
        below.setdefault(piece.node, [end, end])
        own[piece.node] = (row, end)
        row = end
    offsets = {piece.node: piece.offset for piece in pieces}
    latest: dict[Node | None, Seen] = {}

    def see(node: Node, first: int, last: int, start: int, end: int) -> None:
        """Rows first to last see tokens start to end of a node: together with what they saw before it, if it can be."""
        assert node.span is not None
        if first == last or start == end:
            return
        block, start, end = node.span.block, node.span.start + start, node.span.start + end
        before = latest.get(node) or latest.get(node.parent)
        if before and (before.first, before.last, before.block, before.end) == (first, last, block, start):
            before.end = end
        else:
            before = Seen(first, last, block, start, end)
            plan.shared.append(before)
        latest[node] = before

    for node, (first, last) in below.items():
        if node not in own:
            see(node, first, last, 0, len(node.tokens))
            continue
        begin, stop = own[node]
        offset, count = offsets[node], stop - begin
        assert node.span is not None
        block, at = node.span.block, node.span.start + offset
        plan.writes.append(Seen(begin, stop, block, at, at + count))
        if count > 1:
            for some in range(0, count, CAUSAL):  # rows of a later part see an earlier one whole
                end = min(some + CAUSAL, count)
                plan.causal.append(Seen(begin + some, begin + end, block, at + some, at + end))
                if end < count:
                    plan.shared.append(Seen(begin + end, stop, block, at + some, at + end))
            see(node, begin, last, 0, offset)
            see(node, stop, last, offset, offset + count)
        else:
            see(node, begin, last, 0, offset + 1)
    return plan


def attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: float, plan: Plan, **_: Any
) -> tuple[Any, None]:
    """Attention in the form transformers asks for, over one line of ``n`` packed rows.

    ``query`` has the shape (1, heads, n, dim), ``key`` and ``value`` (1, key-value heads, n, dim); the result has
    (1, n, heads, dim). The keys and values are written to where the plan says first.
    """
    import torch

    flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    layer, groups = module.layer_idx, key.shape[1]
    heads, rows, dim = query.shape[1:]
    share = heads // groups
    query = query[0].contiguous().view(groups, share, rows, dim)
    for seen in plan.writes:
        seen.block.keys[layer, :, seen.start : seen.end] = key[0, :, seen.first : seen.last]
        seen.block.values[layer, :, seen.start : seen.end] = value[0, :, seen.first : seen.last]
    parts = groups, share, -1
    result = torch.zeros_like(query)
    total = query.new_full((groups, share, rows), -torch.inf)  # the log-sum-exp of what a row has seen so far
    for seen in plan.causal:
        keys, values = (
            part[layer, :, None, seen.start : seen.end].expand(-1, share, -1, -1).reshape(1, heads, -1, dim)
            for part in (seen.block.keys, seen.block.values)
        )
        own = query[:, :, seen.first : seen.last].reshape(1, heads, -1, dim)
        found, logsumexp = flash(own, keys, values, 0.0, True, scale=scaling)
        result[:, :, seen.first : seen.last] = found.view(*parts, dim)
        total[:, :, seen.first : seen.last] = logsumexp.view(parts)
    for seen in plan.shared:
        run = slice(seen.first, seen.last)
        keys, values = (part[layer, None, :, seen.start : seen.end] for part in (seen.block.keys, seen.block.values))
        # the query heads that share a key head become more rows of it, so that keys are read once
        found, logsumexp = flash(query[:, :, run].reshape(1, groups, -1, dim), keys, values, 0.0, False, scale=scaling)
        _join(
            result[:, :, run], total[:, :, run], found.view(groups, share, -1, dim), logsumexp.view(groups, share, -1)
        )
    return result.view(heads, rows, dim).transpose(0, 1)[None], None


def _join(result: Any, total: Any, found: Any, logsumexp: Any) -> None:
    """Join a further part of the attention into ``result`` and ``total``, in place."""
    import torch

    both = torch.logaddexp(total, logsumexp)
    result.mul_((total - both).exp_()[..., None]).addcmul_(found, (logsumexp - both).exp_()[..., None])
    total.copy_(both)


@contextmanager
def packed_attention(network: Any) -> Iterator[None]:
    """Let a network use :func:`attend` for the time of a ``with`` block."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attend)
    before = network.config._attn_implementation
    try:
        network.config._attn_implementation = NAME
        yield
    finally:
        network.config._attn_implementation = before


def packed_forward(network: Any, pieces: Sequence[Piece], wanted: Sequence[int]) -> Any:
    """Run a network over pieces, and return the logits after the ``wanted`` rows, of shape (wanted, vocabulary)."""
    import torch

    positions = [piece.node.start + piece.offset + i for piece in pieces for i in range(len(piece.ids))]
    output = network(
        input_ids=torch.tensor([[token for piece in pieces for token in piece.ids]]),
        position_ids=torch.tensor([positions]),
        use_cache=False,
        logits_to_keep=torch.tensor(wanted, dtype=torch.long),
        plan=make_plan(pieces),
    )
    return output.logits[0]


FIXED_ROPE = ("default", "linear", "llama3", "yarn")
"""Rotary embeddings whose angles do not depend on how long the prompt is."""
KNOWN = ("qwen2", "qwen3", "llama", "mistral")
"""Architectures whose attention is known to be plain: causal, full, without sinks or caps."""


def supports_packing(network: Any) -> bool:
    """Return whether a network's attention is one that :func:`attend` computes."""
    config = network.config
    layers: Iterable[str] = getattr(config, "layer_types", None) or ["full_attention"]
    sliding = getattr(config, "sliding_window", None) if config.model_type == "mistral" else None
    full = set(layers) == {"full_attention"} and not sliding
    return config.model_type in KNOWN and full and has_fixed_angles(network)


def has_fixed_angles(network: Any) -> bool:
    """Return whether a token's rotary angles depend on its position alone, so that a prompt can be read in parts."""
    rope = getattr(network.config, "rope_parameters", None) or {}
    return rope.get("rope_type", "default") in FIXED_ROPE
