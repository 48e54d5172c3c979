"""The completion store under several processes and threads, under forks, and under processes that are killed."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ctxcourse.model.completions import CompletionStore
from tests.model.put_and_get import WRITERS, answer, prompt, put_and_get

SCRIPT = Path(__file__).with_name("put_and_get.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[2])}

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "completions.sqlite3"


def check_all_there(path: Path, writers: range, count: int) -> None:
    store = CompletionStore(path)
    found = {(w, n): store.get("m", prompt(w, n), {"n": 12}) for w in writers for n in range(count)}
    assert [key for key, value in found.items() if value != answer(*key)] == []
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert list(path.parent.glob("*.corrupt*")) == []


class Worker:
    """The script in a process of its own."""

    def __init__(self, path: Path, *arguments: str):
        command = [sys.executable, str(SCRIPT), str(path), *arguments]
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def go(self) -> None:
        self.stdin.write("go\n")
        self.stdin.flush()

    def end(self, status: int = 0) -> str:
        """Wait until it ends, see that it complained of nothing, and return the rest of what it said."""
        with self.process:
            said = self.stdout.read()
            assert self.stderr.read() == ""
            assert self.process.wait(timeout=60) == status
        return said


Start = Callable[..., Worker]


@pytest.fixture
def start() -> Iterator[Start]:
    workers: list[Worker] = []

    def start_one(path: Path, *arguments: str) -> Worker:
        workers.append(Worker(path, *arguments))
        return workers[-1]

    yield start_one
    for worker in workers:
        worker.process.kill()
        with worker.process:
            pass


@pytest.mark.parametrize(("disk", "count"), [("local", 400), ("network", 60)])
def test_four_processes_lose_nothing_and_mix_nothing_up(start: Start, path: Path, disk: str, count: int) -> None:
    workers = [start(path, "put", str(writer), str(count), disk) for writer in range(WRITERS)]
    assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * WRITERS
    assert not path.exists()
    for worker in workers:
        worker.go()
    assert [json.loads(worker.end()) for worker in workers] == [[]] * WRITERS
    with closing(sqlite3.connect(path)) as connection:
        mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    assert (mode == "wal") is (disk == "local")
    check_all_there(path, range(WRITERS), count)


def test_stores_that_four_processes_make_at_once(start: Start, tmp_path: Path) -> None:
    """SQLite may refuse at once, however long it is told to wait, while another process turns writing ahead on."""
    workers = [start(tmp_path, "make", str(writer), "60") for writer in range(WRITERS)]
    for number in range(60):
        for worker in workers:
            worker.go()
        assert [worker.stdout.readline() for worker in workers] == [f"{number}\n"] * WRITERS
    assert [worker.end() for worker in workers] == [""] * WRITERS
    for number in range(60):
        assert CompletionStore(tmp_path / str(number)).info().completions == WRITERS


def test_threads_share_one_store_or_have_their_own(path: Path) -> None:
    shared, wrong = CompletionStore(path), []
    threads = [
        threading.Thread(
            target=lambda w=w: wrong.extend(put_and_get(shared if w % 2 else CompletionStore(path), w, 150))
        )
        for w in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    check_all_there(path, range(WRITERS), 150)


def test_a_process_killed_in_the_middle_of_writing_harms_nothing(start: Start, path: Path) -> None:
    chance, put = random.Random(0), 0
    for _ in range(6):
        writer = start(path, "forever")
        said = writer.stdout.readline()
        time.sleep(chance.uniform(0.01, 0.2))
        writer.process.send_signal(signal.SIGKILL)
        said += writer.end(status=-signal.SIGKILL)
        put = max([put, *(int(line) + 1 for line in said.split("\n")[:-1])])  # the last line may be cut
        store = CompletionStore(path)
        assert [store.get("m", prompt(0, n), {"n": 12}) for n in range(put)] == [answer(0, n) for n in range(put)]
        assert put_and_get(store, 1, 20) == []
        store.close()
    assert put > 20
    check_all_there(path, range(1), put)


needs_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system never forks")


def in_forks(store: CompletionStore, writers: range, count: int) -> list[int]:
    """Let forked children put and get with the parent's store; return their exit codes."""
    children = []
    for writer in writers:
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(60)  # a child that hangs fails the test
                os._exit(len(put_and_get(store, writer, count)))
            finally:
                os._exit(99)  # pytest must not go on in the child
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_store_that_was_open_before_a_fork_can_be_used_on_both_sides(path: Path) -> None:
    store = CompletionStore(path, wait=30)
    assert put_and_get(store, 0, 20) == []
    working = threading.Thread(target=put_and_get, args=(store, 0, 300))  # also while the process forks
    working.start()
    assert in_forks(store, range(1, WRITERS), 200) == [0] * (WRITERS - 1)
    working.join()
    check_all_there(path, range(1), 300)
    check_all_there(path, range(1, WRITERS), 200)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_what_a_child_puts_survives_the_parent_closing_the_store(start: Start, path: Path) -> None:
    """SQLite forgets, in a child, that the parent held locks: a child that took them for its own would lose rows."""
    store = CompletionStore(path, wait=30)
    assert put_and_get(store, 0, 5) == []
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            wrong = put_and_get(store, 1, 5)
            os.write(ready[1], b"1")
            os.read(go[0], 1)
            os._exit(len(wrong + put_and_get(store, 2, 50)))
        finally:
            os._exit(99)
    os.read(ready[0], 1)
    store.close()  # the last connection of a database removes its log, unless others still use it
    other = start(path, "put", "3", "50")
    os.write(go[1], b"1")
    other.go()
    assert other.stdout.readline() == "ready\n"
    assert json.loads(other.end()) == []
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    check_all_there(path, range(2), 5)
    check_all_there(path, range(2, 4), 50)


@needs_fork
def test_a_fork_waits_for_no_lock_of_another_thread_in_the_child(path: Path) -> None:
    store = CompletionStore(path, wait=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for _ in range(20):
            busy = threading.Thread(target=put_and_get, args=(store, 0, 10))
            busy.start()
            assert in_forks(store, range(1, 2), 2) == [0]
            busy.join()
    check_all_there(path, range(1), 10)
