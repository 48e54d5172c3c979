"""Remember finished completions on the disk, so that what was computed once need not be computed again.

One SQLite file in the cache folder, with a row for each completion, found by a digest of the model's fingerprint, the
prompt's token ids and the decoding settings. The prompt itself is not kept, so a row takes some 200 bytes. Nothing is
evicted: :meth:`CompletionStore.info` tells the size, :meth:`CompletionStore.clear` empties the store.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sqlite3
import struct
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ctxcourse.home import cache_home
from ctxcourse.model.sqlitefile import GUARD, DamagedError, Result, SqliteFile, ask
from ctxcourse.model.sqlitefile import StoreError as StoreError

FORMAT = 1
TABLE = (
    "CREATE TABLE completions (key BLOB PRIMARY KEY, model TEXT, prompt_tokens INTEGER, new_ids BLOB, "
    "stop_reason TEXT, seconds REAL, created TEXT, seal BLOB) WITHOUT ROWID"
)


class StoreWarning(UserWarning):
    """The completion store cannot be used as it is: answers are computed and not remembered, or it was begun anew."""


@dataclass(frozen=True)
class StoredCompletion:
    """A finished greedy completion: its token ids, why it ended, and the seconds that computing it took.

    ``stop_reason`` is ``"stop"`` where the model ended its answer and ``"length"`` where the limit did.

    Raises:
        StoreError: another stop reason, or seconds that are negative or not finite.
    """

    new_ids: tuple[int, ...]
    stop_reason: str
    seconds: float

    def __post_init__(self) -> None:
        if self.stop_reason not in ("stop", "length"):
            raise StoreError(f"A finished completion ends with 'stop' or 'length', not with {self.stop_reason!r}.")
        if not (math.isfinite(self.seconds) and self.seconds >= 0):
            raise StoreError(f"The seconds of a completion are a number of at least 0, not {self.seconds!r}.")


@dataclass(frozen=True)
class StoreInfo:
    """What a store holds: its file, the completions in all and by model fingerprint, and the bytes on the disk.

    ``oldest`` is the day (UTC, ``YYYY-MM-DD``) on which the oldest completion was computed; None in an empty store.
    """

    path: Path
    completions: int
    bytes: int
    per_model: dict[str, int]
    oldest: str | None


class CompletionStore:
    """Finished completions in one SQLite file, shared by threads and processes.

    A store that is locked, unwritable, full, damaged or made by another version costs nobody an answer: :meth:`get` is
    then None, :meth:`put` does nothing, and each kind of trouble is told once, as a :class:`StoreWarning`. A damaged
    file is moved aside (``….corrupt``) and a new one begun. ``path`` defaults to ``completions.sqlite3`` in the cache
    folder; ``wait`` is how many seconds to wait for a lock that another process holds.
    """

    def __init__(self, path: Path | None = None, wait: float = 5.0):
        self.path = Path(os.path.realpath(path or cache_home() / "completions.sqlite3"))
        self._file = SqliteFile(self.path, "The completion store", TABLE, FORMAT, wait)
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<CompletionStore {self.path}>"

    def get(self, fingerprint: str, ids: Sequence[int], settings: dict[str, Any]) -> StoredCompletion | None:
        """Return the completion of the prompt ``ids`` by this model under these settings, or None.

        Raises:
            StoreError: an id is not a whole number of 32 bits, or the settings are not plain JSON.
        """
        key = _key(fingerprint, ids, settings)
        query = "SELECT prompt_tokens, new_ids, stop_reason, seconds, seal FROM completions WHERE key = ?"
        rows = self._attempt(lambda connection: connection.execute(query, (key,)).fetchall())
        return _unsealed(key, len(ids), rows[0]) if rows else None

    def put(self, fingerprint: str, ids: Sequence[int], settings: dict[str, Any], completion: StoredCompletion) -> None:
        """Remember a completion, in the place of an earlier one with the same key.

        Raises:
            StoreError: an id is not a whole number of 32 bits, or the settings are not plain JSON.
        """
        key, new_ids, reason = _key(fingerprint, ids, settings), _packed(completion.new_ids), completion.stop_reason
        seconds, now = float(completion.seconds), datetime.now(UTC).isoformat(timespec="seconds")
        seal = _seal(key, len(ids), new_ids, reason.encode(), seconds)
        row = (key, _label(fingerprint), len(ids), new_ids, reason, seconds, now, seal)
        statement = "INSERT OR REPLACE INTO completions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._attempt(lambda connection: connection.execute(statement, row).fetchall())

    def info(self) -> StoreInfo:
        """Return what the store holds; a store that does not exist yet is empty, and is not made.

        Raises:
            StoreError: the file cannot be read.
        """
        query = "SELECT model, count(*), min(created) FROM completions GROUP BY model ORDER BY model"
        rows = self._file.run(lambda c: c.execute(query).fetchall()) if self._file.exists() else []
        per_model = {_text(model): count for model, count, _ in rows}
        oldest = min((_text(created)[:10] for _, _, created in rows), default=None)
        return StoreInfo(self.path, sum(per_model.values()), self._file.size(), per_model, oldest)

    def clear(self, fingerprint: str | None = None) -> int:
        """Forget every completion, or those of one model, give the room back, and return how many they were.

        Raises:
            StoreError: the file cannot be read or written to.
        """

        def delete(connection: sqlite3.Connection) -> int:
            where, which = ("", ()) if fingerprint is None else (" WHERE model = ?", (_label(fingerprint),))
            removed = connection.execute(f"DELETE FROM completions{where}", which).rowcount
            with suppress(sqlite3.OperationalError):  # while another process reads, the room is given back later
                connection.execute("VACUUM")
                ask(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
            return removed

        return self._file.run(delete) if self._file.exists() else 0

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._file.close()

    def _attempt(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """Do ``work``, or tell the trouble and return None; with a damaged file, begin a new one and do it there."""
        for _ in range(2):
            try:
                return self._file.run(work)
            except DamagedError as trouble:
                try:
                    aside = self._file.set_aside(trouble.file)
                except StoreError as another:
                    self._tell(f"{trouble} {another} Until then answers are computed and not remembered.")
                    break
                if aside is not None:
                    self._tell(f"{trouble} It is now {aside.name}, and a new store was begun.")
            except StoreError as trouble:
                self._tell(f"{trouble} Until then answers are computed and not remembered.")
                break
        return None

    def _tell(self, text: str) -> None:
        with GUARD:
            known = text in self._told
            self._told.add(text)
        if not known:
            warnings.warn(text, StoreWarning, stacklevel=4)  # the line that called get or put


def _text(value: Any) -> str:
    """Return a text of a row, which in a damaged one may be anything."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _label(fingerprint: str) -> str:
    """Return a fingerprint as text that SQLite takes: a folder's name may hold bytes that are no text."""
    return fingerprint.encode(errors="backslashreplace").decode()


def _packed(ids: Sequence[int]) -> bytes:
    """Return token ids as little-endian numbers of 32 bits."""
    try:
        return struct.pack(f"<{len(ids)}I", *ids)
    except struct.error as error:
        raise StoreError("Token ids are whole numbers from 0 to 4,294,967,295, and one of these is not.") from error


def _key(fingerprint: str, ids: Sequence[int], settings: dict[str, Any]) -> bytes:
    """Return the SHA-256 of the three parts, each preceded by its length, so that no two keys read alike."""
    try:
        canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
        same: bool = json.loads(canonical) == settings
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise StoreError(f"Decoding settings are a dict that JSON gives back unchanged, and this is not: {settings!r}")
    digest = hashlib.sha256()
    for part in (fingerprint.encode(errors="surrogatepass"), canonical.encode(), _packed(ids)):
        digest.update(struct.pack("<Q", len(part)) + part)
    return digest.digest()


def _seal(key: bytes, prompt_tokens: int, new_ids: bytes, stop_reason: bytes, seconds: float) -> bytes:
    """Return a digest that binds a completion to its key: a row that was altered or moved does not fit it."""
    head = struct.pack("<QQd", prompt_tokens, len(new_ids), seconds)
    return hashlib.sha256(key + head + new_ids + stop_reason).digest()[:16]


def _unsealed(key: bytes, prompt_tokens: int, row: Sequence[Any]) -> StoredCompletion | None:
    """Return the completion in a row, or None where the row is not as it was written."""
    tokens, new_ids, reason, seconds, seal = row
    kinds = isinstance(new_ids, bytes) and isinstance(reason, bytes) and isinstance(seconds, float)
    if not kinds or tokens != prompt_tokens or seal != _seal(key, prompt_tokens, new_ids, reason, seconds):
        return None
    return StoredCompletion(struct.unpack(f"<{len(new_ids) // 4}I", new_ids), reason.decode(), seconds)
