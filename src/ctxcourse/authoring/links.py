"""The links of the course's documents: Markdown files, and the Markdown cells of notebooks."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

_CODE = re.compile(r"^(```|~~~).*?^\1|(`+)(?!`).+?(?<!`)\2(?!`)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)|\b(?:src|href)=["']([^"']+)["']|^\[[^]^]+\]:\s+(\S+)""", re.MULTILINE)


def links(path: Path, text: str) -> Iterator[Path]:
    """The files that the document links, relative to where ``path`` is relative to; addresses with a scheme left out.

    A link out of that folder begins with ``..``. Code is not looked at.

    >>> [str(target) for target in links(Path("notebooks/a.md"), "[1](../b.md#top), [2](#top), [3](https://a.b/c)")]
    ['b.md']
    """
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for found in _LINK.finditer(_CODE.sub("", text)):
        target = unquote((found[1] or found[2] or found[3]).partition("#")[0])
        if target and not re.match(r"[a-zA-Z][\w+.-]*:", target):
            yield Path(posixpath.normpath(posixpath.join(path.parent.as_posix(), target)))
