"""One table in one SQLite file, shared by threads, processes and forked processes, with its errors in plain words."""

from __future__ import annotations

import itertools
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from ctxcourse.errors import CourseError

HURRY = 0.05  # seconds to wait for a lock after an attempt that failed: a stuck file costs one long wait, not many
BESIDE = ("-journal", "-shm", "-wal", "")  # what SQLite adds to a file's name, and the file itself
NETWORK = {
    *("9p", "afs", "beegfs", "ceph", "cifs", "drvfs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "nfs", "nfs4"),
    *("smb3", "smbfs"),
}

Result = TypeVar("Result")
FileId = tuple[int, int]  # device and inode


class StoreError(CourseError, ValueError):
    """A store on the disk cannot be used, or was given what it cannot hold."""


class DamagedError(StoreError):
    """A store's file does not hold what was written to it; ``file`` says which file that was."""

    def __init__(self, text: str, file: FileId | None):
        super().__init__(text)
        self.file = file


class SqliteFile:
    """A file with one table: made where there is none, opened when it is first used, opened again when it was replaced.

    ``table`` is the statement that creates the table, ``version`` (SQLite's ``user_version``) what marks files of this
    form, ``wait`` the seconds to wait for a lock that another process holds. ``what`` names the file in errors.

    It writes ahead (https://www.sqlite.org/wal.html) where the file system can: readers never wait for a writer. After
    a power cut the last rows may be missing; after the death of a process none is.
    """

    def __init__(self, path: Path, what: str, table: str, version: int, wait: float):
        self.path, self.what, self.table, self.version, self.wait = path, what, table, version, wait
        self._connection: sqlite3.Connection | None = None
        self._file: FileId | None = None  # what the connection reads
        self._hurried = False
        with GUARD:
            _FILES.add(self)

    def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what ``work`` makes of the open connection. It is alone in this process; text comes as bytes.

        Raises:
            StoreError: the file is locked, full, not writable or of another version.
            DamagedError: it does not hold what was written to it.
        """
        with GUARD:
            try:
                if self._connection is not None and self._file != file_id(self.path):
                    self.close()
                if self._connection is None:
                    self._connection = self._connect()
                result = work(self._connection)
                if self._hurried:
                    self._hurried = False
                    self._connection.execute(f"PRAGMA busy_timeout = {self.wait * 1000:.0f}")
            except BaseException as error:  # also KeyboardInterrupt: no half-read statement may stay open
                self.close()
                if not isinstance(error, sqlite3.Error | OSError | UnicodeDecodeError):
                    raise
                self._hurried = True
                raise self._explained(error) from error
        return result

    def exists(self) -> bool:
        """Return whether there is such a file.

        Raises:
            StoreError: the operating system does not say.
        """
        try:
            return file_id(self.path) is not None
        except OSError as error:
            raise self._explained(error) from error

    def size(self) -> int:
        """Return the bytes on the disk, with those of the log that SQLite keeps beside the file."""
        total = 0
        for suffix in BESIDE:
            with suppress(OSError):
                total += os.stat(f"{self.path}{suffix}").st_size
        return total

    def close(self) -> None:
        """Close the file; the next :meth:`run` opens it again."""
        with GUARD:
            connection, self._connection = self._connection, None
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def set_aside(self, file: FileId | None) -> Path | None:
        """Rename the damaged ``file`` to ``….corrupt`` and return its new path; None where somebody else has done so.

        Raises:
            StoreError: it cannot be renamed.
        """
        from filelock import FileLock, Timeout

        self.close()
        try:
            with FileLock(f"{self.path}.lock", timeout=self.wait):
                if file_id(self.path) != file:
                    return None
                names = (f"{self.path}.corrupt{f'-{n}' if n > 1 else ''}" for n in itertools.count(1))
                aside = next(name for name in names if not os.path.lexists(name))
                for suffix in BESIDE:  # the file last: SQLite reads no log that has no file
                    with suppress(FileNotFoundError):
                        os.rename(f"{self.path}{suffix}", f"{aside}{suffix}")
                return Path(aside)
        except (OSError, NotImplementedError, Timeout) as error:
            raise StoreError(f"It cannot be moved out of the way ({error}).") from error

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        patience = min(self.wait, HURRY) if self._hurried else self.wait
        connection = sqlite3.connect(self.path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            self._file = file_id(self.path)
            connection.text_factory = bytes  # whatever a damaged row holds, nothing is decoded on the way
            if not on_network(self.path) and ask(connection, "PRAGMA journal_mode") != b"wal":
                with suppress(sqlite3.OperationalError):  # another process is just making the file
                    ask(connection, "PRAGMA journal_mode = WAL")
            if ask(connection, "PRAGMA journal_mode") == b"wal":
                ask(connection, "PRAGMA synchronous = NORMAL")
            if ask(connection, "PRAGMA user_version") != self.version:
                self._make_table(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_table(self, connection: sqlite3.Connection) -> None:
        with connection:  # commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            version = ask(connection, "PRAGMA user_version")
            if version == 0 and ask(connection, "SELECT count(*) FROM sqlite_master") == 0:
                connection.execute(self.table)
                connection.execute(f"PRAGMA user_version = {self.version}")
            elif version != self.version:
                raise StoreError(
                    f"{self.what} {self.path} was made by another version of ctxcourse (its format is {version}, this "
                    f"one's {self.version}). Update ctxcourse, or set CTXCOURSE_HOME to another folder."
                )

    def _explained(self, error: sqlite3.Error | OSError | UnicodeDecodeError) -> StoreError:
        """Say what is wrong with the file, where it is, and what to do."""
        code, file = getattr(error, "sqlite_errorcode", 0) & 0xFF, f"{self.what} {self.path}"
        if isinstance(error, UnicodeDecodeError):  # sqlite3, of a message in which SQLite quotes a damaged name
            code = sqlite3.SQLITE_CORRUPT
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
            return StoreError(f"{file} is locked by another process. Close the program that holds it.")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
            reason = str(error).split(" (")[0]  # without what SQLite quotes of the damaged bytes
            return DamagedError(
                f"{file} is damaged ({reason}). It can be deleted at the cost of time alone.", self._file
            )
        if code == sqlite3.SQLITE_FULL:
            return StoreError(f"{file} cannot grow: its disk is full. Free some space, or set CTXCOURSE_HOME.")
        if isinstance(error, OSError) or code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            reason = getattr(error, "strerror", None) or str(error)
            return StoreError(
                f"{file} cannot be opened for writing ({reason}). Set CTXCOURSE_HOME to a folder you can write to."
            )
        return StoreError(f"{file} cannot be used ({error}). Look after its disk, or set CTXCOURSE_HOME to another.")


def ask(connection: sqlite3.Connection, query: str) -> Any:
    """Return the first value that ``query`` gives, or None where it gives none."""
    with closing(connection.execute(query)) as cursor:
        rows = cursor.fetchall()
    return rows[0][0] if rows else None


def file_id(path: Path) -> FileId | None:
    """Return device and inode of a file, or None where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def on_network(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Return whether ``path`` lies on a network file system, where several machines cannot share a write-ahead log.

    ``mounts`` is Linux's list of mounts (``man 5 proc_pid_mountinfo``); where there is none, the answer is no.
    """
    longest, kind = -1, ""
    with suppress(OSError):
        for line in mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            fields, _, rest = line.partition(" - ")
            point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields.split(" ")[4])
            if len(point) >= longest and path.is_relative_to(point):  # of two on one point, the later is seen
                longest, kind = len(point), rest.split(" ")[0]
    return kind in NETWORK


GUARD = threading.RLock()  # held by whoever uses a connection, and while the process forks
_FILES: weakref.WeakSet[SqliteFile] = weakref.WeakSet()


def _before_fork() -> None:
    """Close every file: a child must inherit neither a connection nor SQLite's notes of the locks that one holds.

    See https://www.sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_
    """
    GUARD.acquire()
    for file in list(_FILES):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=GUARD.release, after_in_child=GUARD.release)
