"""Matrix products for a few rows: the form and the padding that read a weight matrix fastest.

A step of decoding multiplies one row, or a few, by every weight of the model, and its time is that of reading them.
``torch.mm(w, x.T)`` reads them two to three times as fast as ``F.linear(x, w)`` does, but only at some numbers of
rows: one row costs more than two, and nine more than sixteen. Rows of zeros are added up to the next number that
pays. Measured by ``benchmarks/products.py``.
"""

from __future__ import annotations

from typing import Any

FEW = 64
"""Rows up to which padding pays."""


def padded(rows: int) -> int:
    """Return how many rows a product of ``rows`` rows is computed with: 2, 4, then the next multiple of 16 up to 64.

    >>> [padded(rows) for rows in (1, 2, 3, 5, 16, 17, 65)]
    [2, 2, 4, 16, 16, 32, 65]
    """
    if rows <= 2:
        return 2
    if rows <= 4:
        return 4
    return -(-rows // 16) * 16 if rows <= FEW else rows


def product(x: Any, weight: Any, bias: Any = None) -> Any:
    """Return ``x @ weight.T + bias`` for ``x`` of shape ``(..., in)`` and ``weight`` of shape ``(out, in)``."""
    import torch

    rows = x.reshape(-1, x.shape[-1])
    count = rows.shape[0]
    if count <= FEW:  # the second factor has to lie column by column: as the transpose of rows that lie in order
        block = rows.new_zeros(padded(count), rows.shape[1])
        block[:count] = rows
        rows = block
    result = torch.mm(weight, rows.T).T[:count]
    if bias is not None:
        result = result + bias
    return result.reshape(*x.shape[:-1], weight.shape[0]) if x.dim() != 2 else result


def use_fast_products(network: Any) -> None:
    """Let every linear layer of a network compute with :func:`product`; its weights stay where they are."""
    import torch

    for module in network.modules():
        if type(module) is torch.nn.Linear and module.weight.dtype == torch.float32:
            module.__class__ = _fast_linear()


def _fast_linear() -> type:
    global _FAST
    if _FAST is None:
        import torch

        class FastLinear(torch.nn.Linear):
            """A linear layer whose product is :func:`product`."""

            def forward(self, input: Any) -> Any:
                return product(input, self.weight, self.bias)

        _FAST = FastLinear
    return _FAST


_FAST: type | None = None
