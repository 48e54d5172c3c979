"""Readers' tables as text: a file, pasted lines or a DataFrame becomes rows of strings that are what they were.

``007``, ``NA`` and ``1.50`` stay as they stand in a file: nothing is taken for a number, a date or a gap. What this
module does not do: know what the columns mean.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxcourse.errors import CourseError
from ctxcourse.plain import kind

if TYPE_CHECKING:
    from pandas import DataFrame, Series

SEPARATORS = (",", ";", "\t")


class OwnError(CourseError, ValueError):
    """A table or a template that cannot be used: the message says where, which value, and what to do."""


@dataclass(frozen=True)
class Table:
    """The cells of a table as text; ``places`` says where each row stands, for messages (``line 2``, ``row 0``)."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    places: tuple[str, ...]

    def columns(self, names: list[str]) -> list[dict[str, str]]:
        """Return these columns of every row, by name.

        Raises `OwnError` for a column that is missing or stands twice in the header, and without any row.
        """
        for name in names:
            if name not in self.header:
                known = ", ".join(map(repr, self.header))
                raise OwnError(f"{self.name} has no column {name!r}; it has {known}")
            if self.header.count(name) > 1:
                places = " and ".join(str(n) for n, each in enumerate(self.header, 1) if each == name)
                raise OwnError(f"{self.name} has more than one column {name!r} (columns {places}): rename one of them")
        if not self.rows:
            raise OwnError(f"{self.name} has a header and no records: put at least one below it")
        return [{name: row[self.header.index(name)] for name in names} for row in self.rows]


def read_table(source: str | Path | DataFrame, names: list[str]) -> Table:
    """Return a table of text from a CSV file (its path), CSV lines (a string with line breaks) or a DataFrame.

    Files are UTF-8, with or without a byte order mark. The separator is whichever of comma, semicolon and tab makes
    columns of ``names`` out of the header. Blank lines are left out. Raises `OwnError` for what cannot be read, with
    the line.
    """
    if isinstance(source, str) and ("\n" in source or "\r" in source):
        return _from_text(source.removeprefix("\ufeff"), "the text", names)
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        return _from_text(_read(path), str(path), names)
    from pandas import DataFrame

    if not isinstance(source, DataFrame):
        raise OwnError(f"records come from a file's path, CSV lines or a DataFrame, not from {kind(source)}")
    return _from_frame(source)


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise OwnError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:  # a ValueError where the path holds a null character
        raise OwnError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise OwnError(
            f"{path} is not UTF-8: byte 0x{content[error.start]:02x} in line {line}; save it as UTF-8 (in a "
            "spreadsheet: “CSV UTF-8”)"
        ) from None


def _from_text(text: str, name: str, names: list[str]) -> Table:
    if not text.strip("\r\n \ufeff" + "".join(SEPARATORS)):
        raise OwnError(f"{name} is empty: it needs a line with the names of the columns, and records below it")

    def fitting(separator: str) -> tuple[int, int]:
        try:
            _, header = next(_records(text, name, separator), (0, ()))
        except OwnError:
            return (-1, 0)
        return (len(set(names) & set(header)), len(header))

    separator = max(SEPARATORS, key=fitting)
    (_, header), *records = _records(text, name, separator)
    for line, row in records:
        if len(row) != len(header):
            raise OwnError(
                f"{name}, line {line}: {len(row)} cells, and the header has {len(header)} columns; a cell that holds "
                f"{separator!r} needs quotes around it"
            )
    return Table(name, header, tuple(row for _, row in records), tuple(f"line {line}" for line, _ in records))


def _records(text: str, name: str, separator: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield every record that is not blank, with the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield line, tuple(row)
            line = reader.line_num + 1
    except csv.Error as error:
        raise OwnError(f"{name}, line {line}: {error}; look at its quotes") from error


def _from_frame(frame: DataFrame) -> Table:
    columns = [_texts(frame.iloc[:, place]) for place in range(frame.shape[1])]
    rows = tuple(zip(*columns, strict=True))
    places = tuple(f"row {number}" for number in range(len(rows)))
    return Table("the table", tuple(str(name) for name in frame.columns), rows, places)


def _texts(column: Series) -> list[str]:
    """Return a column as text: strings as they are, missing cells empty, the rest as pandas writes it."""
    cells: list[Any] = list(column)
    if column.dtype != object and not all(isinstance(cell, str) for cell in cells):
        cells = list(column.astype(str).astype(object))  # dates without a time of day, say
    return ["" if gap else str(cell) for cell, gap in zip(cells, column.isna(), strict=True)]
