"""Linear layers with packed weights: the products of torch's own, for every number and layout of rows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import linear

from ctxcourse.model.products import FEWEST, pack_linear_layers

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN")
SHAPES = [(1, 1), (7, 5), (32, 48), (48, 32), (130, 64), (64, 129)]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda rows: rows,
    "transposed": lambda rows: rows.t().contiguous().t(),
    "every second row": lambda rows: rows.repeat_interleave(2, 0)[::2],
    "every second column": lambda rows: rows.repeat_interleave(2, 1)[:, ::2],
    "the same row": lambda rows: rows[:1].expand(rows.shape[0], -1),
    "in a batch": lambda rows: rows[None],
    "in a batch, transposed": lambda rows: rows[:, None].transpose(0, 1),
}


def layer(inputs: int, outputs: int, bias: bool, seed: int = 0) -> torch.nn.Linear:
    torch.manual_seed(seed)
    return torch.nn.Linear(inputs, outputs, bias).requires_grad_(False)


def packed(original: torch.nn.Linear) -> torch.nn.Linear:
    network = torch.nn.Sequential(copy.deepcopy(original))
    pack_linear_layers(network)
    return network[0]


@settings(max_examples=150, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    bias=st.booleans(),
    rows=st.integers(1, 130),
    layout=st.sampled_from(sorted(LAYOUTS)),
)
def test_the_product_is_that_of_linear(shape: tuple[int, int], bias: bool, rows: int, layout: str) -> None:
    original = layer(*shape, bias)
    x = LAYOUTS[layout](torch.randn(rows, shape[0]))
    with torch.inference_mode():
        result, expected = packed(original)(x), linear(x, original.weight, original.bias)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert (result - expected).abs().max() < 1e-4


@pytest.mark.parametrize("shape", [(0, 32), (32,), (2, 3, 32), (1, 0, 32)])
def test_other_shapes_than_rows(shape: tuple[int, ...]) -> None:
    original, x = layer(32, 48, bias=True), torch.randn(shape)
    torch.testing.assert_close(packed(original)(x), original(x), atol=1e-4, rtol=0)


def test_a_large_product_is_as_exact_as_torchs() -> None:
    original, x = layer(4_864, 896, bias=False), torch.randn(33, 4_864)
    exact = linear(x.double(), original.weight.double())
    off = (packed(original)(x) - exact).abs().max()
    assert off <= 4 * (original(x) - exact).abs().max()


@pytest.mark.parametrize("rows", range(1, 2 * FEWEST + 1))
def test_a_row_does_not_depend_on_those_beside_it(rows: int) -> None:
    layer_with_packing, x = packed(layer(64, 64, bias=True)), torch.randn(rows, 64)
    spoilt = x.clone()
    spoilt[:-1] = torch.nan
    torch.testing.assert_close(layer_with_packing(spoilt)[-1], layer_with_packing(x)[-1])
    assert layer_with_packing(x).isfinite().all()


def test_only_plain_layers_of_float32_are_packed_and_the_weights_stay() -> None:
    class Special(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input) + 1

    network = torch.nn.ModuleList(
        [layer(8, 8, bias=True), Special(8, 8), torch.nn.Linear(8, 8, dtype=torch.float64), torch.nn.Embedding(8, 8)]
    )
    before = copy.deepcopy(network)
    pack_linear_layers(network)
    assert [type(now) is type(then) for now, then in zip(network, before, strict=True)] == [False, True, True, True]
    assert network.state_dict().keys() == before.state_dict().keys()
    for now, then in zip(network.parameters(), before.parameters(), strict=True):
        assert torch.equal(now, then)
    x = torch.randn(3, 8)
    torch.testing.assert_close(network[1](x), before[1](x))


def test_packing_twice_is_packing_once() -> None:
    network = torch.nn.Sequential(layer(8, 8, bias=True))
    pack_linear_layers(network)
    once = network[0].packed
    pack_linear_layers(network)
    assert network[0].packed is once


def test_weights_that_are_mapped_from_a_file_can_be_read_after_their_memory_was_given_back(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    torch.manual_seed(0)
    weight = torch.randn(1_000, 1_000)
    save_file({"weight": weight}, tmp_path / "weights.safetensors")
    original = layer(1_000, 1_000, bias=False)
    original.weight = torch.nn.Parameter(load_file(tmp_path / "weights.safetensors")["weight"], requires_grad=False)
    pack_linear_layers(torch.nn.Sequential(original))
    assert torch.equal(original.weight, weight)
    x = torch.randn(5, 1_000)
    torch.testing.assert_close(original(x), linear(x, weight), atol=1e-3, rtol=0)
