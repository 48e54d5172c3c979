"""Prompt lookup: guesses at the next tokens, copied from where the last few stood before.

An agent repeats what it has read: identifiers, paths, whole calls. A guess costs little, because several rows are
multiplied for one reading of the weights, and changes nothing: the model's own choice decides at every token, and a
wrong guess is thrown away. After Saxena, "Prompt Lookup Decoding", 2023.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

LONGEST, SHORTEST = 4, 2
"""Tokens at the end of the text that must have stood there before, most and least."""
WIDTH = array("I").itemsize


class Lookup:
    """The tokens of one prompt and of what has been generated after it.

    >>> Lookup([5, 6, 7, 8, 9, 5, 6]).guess(3)
    [7, 8, 9]
    """

    def __init__(self, ids: Sequence[int]) -> None:
        self._text = bytearray(array("I", ids).tobytes())

    def add(self, ids: Sequence[int]) -> None:
        """Append tokens."""
        self._text += array("I", ids).tobytes()

    def guess(self, most: int) -> list[int]:
        """Return up to ``most`` tokens that followed the latest earlier place with the same ending, or none."""
        text, end = self._text, len(self._text)
        for length in range(LONGEST, SHORTEST - 1, -1):
            if most < 1 or end <= length * WIDTH:
                continue
            ending, before = text[end - length * WIDTH :], end - WIDTH
            while (at := text.rfind(ending, 0, before)) >= 0:
                if at % WIDTH == 0:
                    start = at + length * WIDTH
                    return list(array("I", bytes(text[start : start + most * WIDTH])))
                before = at + length * WIDTH - 1
        return []
