"""Matrix products at the speed of the machine, for one row as for hundreds: oneDNN's, with weights laid out for it.

A step of decoding multiplies a few rows by every weight of the model, and its time is that of reading them; reading a
prompt multiplies hundreds of rows, and its time is that of arithmetic. With weights in oneDNN's own layout both are
as fast as with torch's products or faster: ``benchmarks/products.py`` measures them. All numbers are float32.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from typing import Any

FEWEST = 4
"""Rows that a product has at least: one row, computed alone, takes longer than four."""
_PAGE_OUT = 21  # MADV_PAGEOUT of Linux: give pages back that can be read again; nothing is ever lost by it


def pack_linear_layers(network: Any) -> None:
    """Let every float32 linear layer of a network compute with a packed copy of its weights.

    The weights themselves stay what they are, on the disk where they were mapped from it. Where torch has no oneDNN,
    or one without fast products (some builds for ARM), nothing is changed.
    """
    import torch

    fast = torch.backends.mkl.is_available() or torch.ops.mkldnn._is_mkldnn_acl_supported()
    if not (torch.backends.mkldnn.is_available() and fast):
        return
    for module in network.modules():
        if type(module) is torch.nn.Linear and module.weight.dtype == torch.float32:
            module.packed = torch.ops.mkldnn._reorder_linear_weight(module.weight.detach(), FEWEST)
            module.__class__ = _packed_linear()
            _page_out(module.weight)


@functools.cache
def _packed_linear() -> type:
    import torch

    class PackedLinear(torch.nn.Linear):
        """A linear layer that multiplies by its packed weights."""

        packed: torch.Tensor

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            rows = input.reshape(-1, self.in_features)
            count = rows.shape[0]
            if count < FEWEST:
                rows = torch.nn.functional.pad(rows, (0, 0, 0, FEWEST - count))
            result = torch.ops.mkldnn._linear_pointwise(rows, self.packed, self.bias, "none", [], "")
            return result[:count].view(*input.shape[:-1], self.out_features)

    return PackedLinear


def _page_out(tensor: Any) -> None:
    """Give the memory of a tensor that was mapped from a file back to the system, which can read it again at need."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    page = os.sysconf("SC_PAGESIZE")
    start = -(-tensor.data_ptr() // page) * page
    length = (tensor.data_ptr() + tensor.nbytes - start) // page * page
    if length > 0:  # a kernel that does not know the advice refuses it, and the memory is merely kept
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(length), _PAGE_OUT)
