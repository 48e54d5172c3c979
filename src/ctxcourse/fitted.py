"""A prompt that fits its window, and the account of what was left out to make it fit."""

from dataclasses import dataclass
from html import escape
from textwrap import shorten

from ctxcourse.messages import Message, Tool

_BAR = 24
_LONGEST_NOTE = 90


@dataclass(frozen=True)
class Row:
    """One component of a fitted prompt, in tokens.

    ``wanted`` is what all of it would have cost, ``used`` what it costs as it was kept, ``cap`` the most it was
    allowed (None: whatever the others leave). ``note`` says in words what was cut or left out, empty if nothing was.
    """

    component: str
    wanted: int
    cap: int | None
    used: int
    truncated: bool
    note: str = ""


@dataclass(frozen=True)
class FittedPrompt:
    """A prompt within its budget: hand ``messages`` and ``tools`` to the model.

    All figures are tokens. ``prompt_tokens`` is the size of the rendered prompt; it is the sum of ``used`` over the
    ``rows`` plus ``scaffolding``, which is what the template writes around any content: the generation prompt and the
    markers of the system message, or the default one where none was given.
    """

    messages: list[Message]
    tools: list[Tool]
    prompt_tokens: int
    scaffolding: int
    rows: tuple[Row, ...]
    window: int
    generation: int

    @property
    def remaining(self) -> int:
        """The tokens of the window that neither the prompt nor the reserve for generation takes."""
        return self.window - self.generation - self.prompt_tokens

    @property
    def utilisation(self) -> float:
        """The share of the window that is taken, from 0 to 1; the reserve for generation counts as taken."""
        return (self.prompt_tokens + self.generation) / self.window

    def row(self, component: str) -> Row:
        """Return the row of one component; KeyError for a name that is none."""
        for row in self.rows:
            if row.component == component:
                return row
        raise KeyError(f"no component {component!r}: there are {', '.join(row.component for row in self.rows)}")

    def report(self) -> str:
        """Return the account as text: a line and a bar for each component, then what remains.

        A bar shows the share of its cap that a component uses, or of the window where it has no cap. Long notes are
        shortened here; the rows have them in full.
        """
        lines = [f"{'component':<12}{'used':>9}{'cap':>9}"]
        for row in self.rows:
            cap = "–" if row.cap is None else f"{row.cap:,}"
            line = f"{row.component:<12}{row.used:>9,}{cap:>9}  {_bar(self._share(row))}"
            lines.append(f"{line}  {shorten(row.note, _LONGEST_NOTE, placeholder=' …')}".rstrip())
        lines.append(f"{'scaffolding':<12}{self.scaffolding:>9,}")
        lines.append(f"{'generation':<12}{self.generation:>9,}")
        lines.append(f"{'remaining':<12}{self.remaining:>9,}{'':>9}  {_bar(self.remaining / self.window)}")
        lines.append(
            f"{self.prompt_tokens:,} prompt tokens + {self.generation:,} for generation = "
            f"{self.utilisation:.1%} of {self.window:,}"
        )
        return "\n".join(lines)

    def _share(self, row: Row) -> float:
        return row.used / (row.cap or self.window)

    def _repr_html_(self) -> str:
        cells = []
        for row in self.rows:
            cap = "–" if row.cap is None else f"{row.cap:,}"
            width = round(100 * self._share(row))
            bar = f'<div style="background:#0072B2;height:0.8em;width:{width}%"></div>'
            frame = f'<div style="width:12em;border:1px solid #888">{bar}</div>'
            cells.append(
                f"<tr><th scope='row'>{escape(row.component)}</th><td>{row.wanted:,}</td><td>{row.used:,}</td>"
                f"<td>{cap}</td><td>{frame}</td><td>{escape(row.note)}</td></tr>"
            )
        return (
            "<table><thead><tr><th>component</th><th>wanted</th><th>used</th><th>cap</th><th>share of cap</th>"
            f"<th>left out</th></tr></thead><tbody>{''.join(cells)}</tbody></table>"
            f"<p>{self.prompt_tokens:,} prompt tokens, {self.scaffolding:,} of them scaffolding, and "
            f"{self.generation:,} for generation: {self.utilisation:.1%} of {self.window:,}; "
            f"{self.remaining:,} remain.</p>"
        )


def _bar(share: float) -> str:
    """Return a bar of fixed width; anything above nothing shows at least one block."""
    filled = min(_BAR, max(round(share * _BAR), 1 if share > 0 else 0))
    return "█" * filled + "░" * (_BAR - filled)
