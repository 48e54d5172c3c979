"""The completion store: what was put comes back, for its key alone, and no trouble of the disk costs an answer."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcourse.errors import CourseError
from ctxcourse.model.completions import CompletionStore, StoredCompletion, StoreError, StoreWarning
from ctxcourse.model.sqlitefile import SqliteFile, on_network

GREEDY = {"decoding": "greedy", "max_new_tokens": 12}
ANSWER = StoredCompletion((785, 6722, 315, 9625, 374, 12095, 13), "stop", 1.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "completions.sqlite3"


@pytest.fixture
def store(path: Path) -> CompletionStore:
    return CompletionStore(path, wait=0.2)


@contextmanager
def no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def use_raw(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement, values)


def used(store: CompletionStore, prompts: range, gets: bool = False) -> list[StoredCompletion | None]:
    """Ask for each of the prompts of one token, if wanted, then put an answer to each; return what was found."""
    found = [store.get("m", [i], GREEDY) for i in prompts] if gets else []
    for i in prompts:
        store.put("m", [i], GREEDY, ANSWER)
    return found


def together(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


token_ids = st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 12), max_size=8)
plain = st.none() | st.booleans() | st.integers(0, 3) | st.floats(allow_nan=False, allow_infinity=False) | st.text()
decodings = st.dictionaries(
    st.sampled_from(["a", "b", "ab"]) | st.text(max_size=2), plain | st.lists(plain, max_size=2)
)
fingerprints = st.sampled_from(["m@1", "m@12", "m@", "", "m\0", "\udcff"]) | st.text(st.characters())
keys = st.tuples(fingerprints, token_ids, decodings)
completions = st.builds(
    StoredCompletion,
    token_ids.map(tuple),
    st.sampled_from(["stop", "length"]),
    st.floats(0, allow_nan=False, allow_infinity=False),
)


def as_bytes(key: tuple[str, list[int], dict[str, Any]]) -> str:
    return json.dumps(key, sort_keys=True)  # tells 1, 1.0 and true apart, which Python calls equal


@settings(max_examples=50, deadline=None)
@given(puts=st.lists(st.tuples(keys, completions), max_size=8), others=st.lists(keys, max_size=8))
def test_what_is_put_comes_back_for_its_key_and_for_no_other(
    puts: list[tuple[Any, StoredCompletion]], others: list[Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder, no_warning():
        store, expected = CompletionStore(Path(folder) / "store"), {}
        for key, completion in puts:
            store.put(*key, completion)
            expected[as_bytes(key)] = completion
        again = CompletionStore(Path(folder) / "store")
        for key in [key for key, _ in puts] + others:
            assert store.get(*key) == again.get(*key) == expected.get(as_bytes(key))
        assert store.info().completions == len(expected)


def test_neighbouring_keys_are_different_keys(store: CompletionStore) -> None:
    store.put("m", [1, 2], {"n": 12}, ANSWER)
    neighbours: list[tuple[str, list[int], dict[str, Any]]] = [
        ("m", [12], {"n": 12}), ("m", [1], {"n": 12}), ("m", [2, 1], {"n": 12}), ("m", [1, 2, 0], {"n": 12}),
        ("m", [1, 2], {"n": 13}), ("m", [1, 2], {"n": "12"}), ("m", [1, 2], {}), ("M", [1, 2], {"n": 12}),
        ("m ", [1, 2], {"n": 12}), ("m", [1, 2], {"n": 12.0}),
    ]  # fmt: skip
    assert [store.get(*key) for key in neighbours] == [None] * len(neighbours)
    assert store.get("m", [1, 2], {"n": 12}) == ANSWER


def test_keys_whose_parts_are_the_same_bytes_when_they_are_joined(store: CompletionStore) -> None:
    bytes_of_settings = list(struct.unpack("<2I", b'{"n":13}'))
    store.put("m", bytes_of_settings, {"n": 12}, ANSWER)
    assert store.get('m{"n":12}', [], {"n": 13}) is None
    store.put('m{"n":12}', [], {"n": 13}, StoredCompletion((), "stop", 0.0))
    assert store.get("m", bytes_of_settings, {"n": 12}) == ANSWER


def test_the_order_of_the_settings_and_the_kind_of_sequence_do_not_matter(store: CompletionStore) -> None:
    store.put("m", [1, 2], {"a": 1, "b": 2}, ANSWER)
    assert store.get("m", (1, 2), {"b": 2, "a": 1}) == ANSWER


def test_a_later_completion_takes_the_place_of_an_earlier_one(store: CompletionStore) -> None:
    for seconds in (3.0, 2.0):
        store.put("m", [1], GREEDY, StoredCompletion((5,), "length", seconds))
    assert store.get("m", [1], GREEDY) == StoredCompletion((5,), "length", 2.0)
    assert store.info().completions == 1


def test_it_lies_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXCOURSE_HOME", str(tmp_path / "not there yet"))
    CompletionStore().put("m", [1], GREEDY, ANSWER)
    assert CompletionStore(tmp_path / "not there yet" / "completions.sqlite3").get("m", [1], GREEDY) == ANSWER


def test_a_row_is_small_and_holds_no_prompt(store: CompletionStore, path: Path) -> None:
    for i in range(2_000):
        store.put("qwen2.5-coder-0.5b@1d9614638d18", [i] * 1_000, GREEDY, StoredCompletion((i,) * 12, "length", 1.0))
    assert store.info().bytes < 2_000 * 400 + 4_200_000  # the log beside the file stays under 4.2 MB
    store.close()
    assert store.info().bytes < 2_000 * 400


BAD_SETTINGS: list[Any] = [{1: "a"}, {"a": (1,)}, {"a": float("nan")}, {"a": {1, 2}}, {"a": {2: 1}}]


@pytest.mark.parametrize("bad", BAD_SETTINGS, ids=repr)
def test_settings_that_are_not_plain_json_are_refused(store: CompletionStore, bad: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="JSON"):
        store.get("m", [1], bad)
    with pytest.raises(StoreError, match="JSON"):
        store.put("m", [1], bad, ANSWER)


@pytest.mark.parametrize("ids", [[-1], [2**32], [1.5], ["1"]])
def test_what_are_no_token_ids_is_refused(store: CompletionStore, ids: Any) -> None:
    with pytest.raises(StoreError, match="whole numbers"):
        store.get("m", ids, GREEDY)
    with pytest.raises(StoreError, match="whole numbers"):
        store.put("m", [1], GREEDY, StoredCompletion(tuple(ids), "stop", 1.0))


@pytest.mark.parametrize(
    ("reason", "seconds"), [("cancelled", 1.0), ("", 1.0), ("stop", -1.0), ("stop", float("nan")), ("stop", 1e999)]
)
def test_only_a_finished_completion_can_be_stored(reason: str, seconds: float) -> None:
    with pytest.raises(StoreError):
        StoredCompletion((1,), reason, seconds)


# rows that are not as they were written

MANGLED = {
    "one id": "UPDATE completions SET new_ids = x'01000000' || substr(new_ids, 5)",
    "ids cut": "UPDATE completions SET new_ids = substr(new_ids, 1, 5)",
    "ids that are null": "UPDATE completions SET new_ids = NULL",
    "ids that are text": "UPDATE completions SET new_ids = 'x' || char(0xd800)",
    "the reason": "UPDATE completions SET stop_reason = 'length'",
    "a reason that is no text": "UPDATE completions SET stop_reason = x'ff'",
    "a reason that is a number": "UPDATE completions SET stop_reason = 7.5",
    "the seconds": "UPDATE completions SET seconds = seconds + 1",
    "seconds that are text": "UPDATE completions SET seconds = 'soon'",
    "the prompt's length": "UPDATE completions SET prompt_tokens = 4",
    "the seal": "UPDATE completions SET seal = zeroblob(16)",
}


@pytest.mark.parametrize("what", MANGLED)
def test_a_mangled_row_counts_as_missing_and_can_be_put_again(store: CompletionStore, path: Path, what: str) -> None:
    store.put("m", [1, 2, 3], GREEDY, ANSWER)
    use_raw(path, MANGLED[what])
    with no_warning():
        assert store.get("m", [1, 2, 3], GREEDY) is None
        store.put("m", [1, 2, 3], GREEDY, ANSWER)
        assert store.get("m", [1, 2, 3], GREEDY) == ANSWER


def test_a_row_under_another_key_counts_as_missing(store: CompletionStore, path: Path) -> None:
    store.put("m", [1], GREEDY, ANSWER)
    store.put("m", [2], GREEDY, StoredCompletion((9,), "length", 1.0))
    rows = sqlite3.connect(path).execute("SELECT key FROM completions").fetchall()
    (one,), (two,) = rows
    for old, new in ((one, b"x"), (two, one), (b"x", two)):
        use_raw(path, "UPDATE completions SET key = ? WHERE key = ?", new, old)
    assert store.get("m", [1], GREEDY) is None
    assert store.get("m", [2], GREEDY) is None


# files that are not as they were written


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return filled(tmp_path_factory.mktemp("whole") / "store")


def filled(path: Path) -> bytes:
    store = CompletionStore(path)
    for i in range(60):
        store.put("m", [i], GREEDY, StoredCompletion((i,) * 12, "length", float(i)))
    store.close()
    return path.read_bytes()


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_whatever_happens_to_the_bytes_of_the_file_no_wrong_completion_comes_back(
    whole: bytes, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, content = Path(folder) / "store", bytearray(whole)
        for _ in range(data.draw(st.integers(1, 6))):
            place = data.draw(st.integers(0, 120) | st.integers(0, len(content) - 1))
            piece = data.draw(st.binary(min_size=1, max_size=20))
            content[place : place + len(piece)] = piece
        if data.draw(st.booleans()):
            del content[data.draw(st.integers(0, len(content) - 1)) :]
        path.write_bytes(content)
        store = CompletionStore(path, wait=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoreWarning)
            for i in range(60):
                expected = StoredCompletion((i,) * 12, "length", float(i))
                assert store.get("m", [i], GREEDY) in (None, expected)
            store.put("m", [60], GREEDY, ANSWER)
            assert store.get("m", [60], GREEDY) in (None, ANSWER)


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "no database": lambda content: b"These are not the bytes of a database. " * 200,
    "a short text": lambda content: b"xy",
    "cut in the middle": lambda content: content[: len(content) // 2],
    "its end overwritten": lambda content: content[:4_096] + b"\xff" * (len(content) - 4_096),
    "its schema overwritten": lambda content: content[:100] + b"\xff" * 3_996 + content[4_096:],
    "a name that is no text": lambda content: content.replace(b"completions", b"\x80\x1b[1mtions", 1),
    "another schema": lambda content: content.replace(b"TABLE completions (key BLOB", b"TABLE somethings_ (key BLOB"),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("first", ["get", "put"])
def test_a_damaged_file_is_moved_aside_and_a_new_one_begun(path: Path, damage: str, first: str) -> None:
    broken = DAMAGED[damage](filled(path))
    path.write_bytes(broken)
    store = CompletionStore(path)
    with pytest.warns(StoreWarning, match="damaged") as told:
        found = used(store, range(60), gets=first == "get")
    assert found == [None] * len(found)
    assert len(told) == 1
    assert str(path) in str(told[0].message)
    assert "completions.sqlite3.corrupt" in str(told[0].message)
    assert str(told[0].message).isprintable()
    assert told[0].filename == __file__
    assert path.with_name(path.name + ".corrupt").read_bytes() == broken
    assert [CompletionStore(path).get("m", [i], GREEDY) for i in range(60)] == [ANSWER] * 60


def test_every_damaged_file_is_kept(path: Path, store: CompletionStore) -> None:
    for content in (b"first", b"second", b"third"):
        path.write_bytes(content)
        with pytest.warns(StoreWarning, match="damaged"):
            assert store.get("m", [1], GREEDY) is None
        store.close()
    kept = {p.name: p.read_bytes() for p in path.parent.glob("*.corrupt*")}
    name = path.name + ".corrupt"
    assert kept == {name: b"first", f"{name}-2": b"second", f"{name}-3": b"third"}


def test_two_that_find_the_same_damage_begin_one_new_store(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both, move = threading.Barrier(2), SqliteFile.set_aside

    def when_both_have_found_it(file: SqliteFile, which: tuple[int, int] | None) -> Path | None:
        both.wait(timeout=60)
        return move(file, which)

    monkeypatch.setattr(SqliteFile, "set_aside", when_both_have_found_it)
    one, two = CompletionStore(path), CompletionStore(path)
    content = filled(path)
    for i, store in enumerate((one, two)):
        assert store.get("m", [i], GREEDY) is not None
    with path.open("r+b") as file:  # under both their feet: the table's pages, not the header
        file.seek(4_096)
        file.write(b"\xff" * (len(content) - 4_096))
    for store in (one, two):
        store.close()
    threads = [
        threading.Thread(target=used, args=(one, range(50))),
        threading.Thread(target=used, args=(two, range(50, 100))),
    ]
    with pytest.warns(StoreWarning) as told:
        together(threads)
    assert len(told) == 1
    assert [p.name for p in path.parent.glob("*.corrupt*")] == [path.name + ".corrupt"]
    assert one.info().completions == 100


@pytest.mark.parametrize("what", ["the file", "its folder"])
def test_a_file_that_is_deleted_while_it_is_open_is_begun_again(tmp_path: Path, what: str) -> None:
    store = CompletionStore(tmp_path / "home" / "completions.sqlite3")
    store.put("m", [1], GREEDY, ANSWER)
    if what == "the file":
        store.path.unlink()
    else:
        shutil.rmtree(store.path.parent)
    with no_warning():
        assert store.get("m", [1], GREEDY) is None
        store.put("m", [2], GREEDY, ANSWER)
        assert store.get("m", [2], GREEDY) == ANSWER
    assert CompletionStore(store.path).get("m", [2], GREEDY) == ANSWER


# stores that cannot be used


def check_that_no_answer_is_lost(store: CompletionStore, says: str) -> None:
    """Every ``get`` is None, every ``put`` does nothing, one warning says what, where and what to do."""
    with pytest.warns(StoreWarning) as told:
        assert used(store, range(3), gets=True) == [None] * 3
    assert len(told) == 1, [str(w.message) for w in told]
    text = str(told[0].message)
    assert says in text
    assert str(store.path) in text
    assert "computed and not remembered" in text
    for asked_for in (store.info, store.clear):
        with pytest.raises(CourseError, match=says):
            asked_for()


def test_a_store_of_a_newer_version_is_left_alone(path: Path) -> None:
    filled(path)
    use_raw(path, "PRAGMA user_version = 2")
    before = path.read_bytes()
    check_that_no_answer_is_lost(CompletionStore(path), "Update ctxcourse")
    assert path.read_bytes() == before


def test_a_database_of_somebody_else_is_left_alone(path: Path) -> None:
    use_raw(path, "CREATE TABLE letters (text TEXT)")
    before = path.read_bytes()
    check_that_no_answer_is_lost(CompletionStore(path), "another version")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("letters",)]
    assert len(path.read_bytes()) == len(before)


def test_a_folder_in_the_place_of_the_store(path: Path) -> None:
    path.mkdir()
    check_that_no_answer_is_lost(CompletionStore(path), "CTXCOURSE_HOME")


def test_a_file_in_the_place_of_the_cache_folder(path: Path) -> None:
    path.write_text("a file")
    store = CompletionStore(path / "completions.sqlite3")
    check_that_no_answer_is_lost(store, "CTXCOURSE_HOME")


@contextmanager
def locked_for(path: Path, seconds: float) -> Iterator[None]:
    """Hold the write lock of a database from the beginning of the block, for some time."""
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(seconds, lambda: holder.execute("COMMIT"))
    timer.start()
    yield
    timer.join()
    holder.close()


def test_a_locked_store_is_told_once_and_waited_for_once_and_used_again(path: Path) -> None:
    store = CompletionStore(path, wait=1.0)
    store.put("m", [1], GREEDY, ANSWER)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        started = time.perf_counter()
        with pytest.warns(StoreWarning, match="locked by another process") as told:
            used(store, range(2, 7))
        assert 1.0 <= time.perf_counter() - started < 3.0  # not five times a second
        assert len(told) == 1
        assert store.get("m", [1], GREEDY) == ANSWER  # reading needs no lock
        with pytest.raises(CourseError, match="Close the program"):
            store.clear()
    with no_warning():
        store.put("m", [9], GREEDY, ANSWER)
        with locked_for(path, 0.3):
            store.put("m", [10], GREEDY, ANSWER)  # it waits again
        found = {i for i in range(20) if store.get("m", [i], GREEDY)}
    assert found == {1, 9, 10}


def test_a_lock_that_is_given_back_in_time_is_no_trouble(path: Path) -> None:
    store = CompletionStore(path, wait=20.0)
    store.put("m", [1], GREEDY, ANSWER)
    with locked_for(path, 0.3), no_warning():
        store.put("m", [2], GREEDY, ANSWER)
    assert store.get("m", [2], GREEDY) == ANSWER


SCRIPT = """
import json, sys, warnings
from pathlib import Path
from ctxcourse.model.completions import CompletionStore, StoredCompletion
store, told = CompletionStore(Path(sys.argv[1])), []
warnings.showwarning = lambda message, *rest: told.append(str(message))
warnings.simplefilter("always")
for i in range(int(sys.argv[2])):
    store.put("m", [i], {}, StoredCompletion(tuple(range(2_000)), "stop", 1.0))
found = [i for i in range(int(sys.argv[2])) if store.get("m", [i], {}) is not None]
print(json.dumps([told, found]))
"""


def on_a_disk(path: Path, puts: int, *disk: str) -> tuple[list[str], list[int]]:
    """Put and get in a process that sees the folder of ``path`` as this kind of disk; what was told, what was found."""
    if shutil.which("bwrap") is None:
        if os.environ.get("CI"):
            pytest.fail("bubblewrap is missing: apt install bubblewrap")
        pytest.skip("bubblewrap makes the full and read-only disks of these tests: apt install bubblewrap")
    command = ["bwrap", "--dev-bind", "/", "/", *disk, sys.executable, "-c", SCRIPT, str(path), str(puts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    told, found = json.loads(done.stdout)
    return told, found


def test_a_read_only_disk(path: Path) -> None:
    filled(path)
    folder = str(path.parent)
    told, found = on_a_disk(path, 3, "--ro-bind", folder, folder)
    assert found == []
    assert len(told) == 1
    assert "CTXCOURSE_HOME" in told[0]
    assert str(path) in told[0]
    assert len(filled(path)) > 0  # and it can be used again


def test_a_disk_that_fills_up_keeps_what_is_on_it(path: Path) -> None:
    told, found = on_a_disk(path, 300, "--size", "1000000", "--tmpfs", str(path.parent))
    assert len(told) == 1
    assert "Free some space" in told[0]
    assert 10 < len(found) < 300
    assert found[:10] == list(range(10))


def test_a_disk_without_any_room(path: Path) -> None:
    told, found = on_a_disk(path, 3, "--size", "4096", "--tmpfs", str(path.parent))
    assert found == []
    assert len(told) == 1
    assert str(path) in told[0]


MOUNTS = r"""
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:50 / /home rw,relatime - nfs4 server:/export/home rw,vers=4.2
31 30 8:2 / /home/ada/scratch rw - xfs /dev/sdb1 rw
32 22 0:51 / /mnt/my\040share rw - cifs //server/share rw
33 22 0:52 / /mnt/c rw - 9p C:\134 rw
34 22 8:3 / /mnt/c rw - ext4 /dev/sdc1 rw
""".lstrip()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/cache/store", False),
        ("/home/ada/.cache/store", True),
        ("/homework/store", False),
        ("/home/ada/scratch/store", False),
        ("/mnt/my share/store", True),
        ("/mnt/c/store", False),  # covered by a later mount
    ],
)
def test_network_file_systems_are_known(tmp_path: Path, path: str, expected: bool) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert on_network(Path(path), mounts) is expected
    assert not on_network(Path(path), tmp_path / "none")


# what the user asks for


def test_info_and_clear(store: CompletionStore) -> None:
    for i in range(5):
        store.put("a@1", [i], GREEDY, ANSWER)
        store.put("b@2", [i], GREEDY, ANSWER) if i % 2 else None
    information = store.info()
    assert (information.path, information.completions) == (store.path, 7)
    assert information.per_model == {"a@1": 5, "b@2": 2}
    assert information.bytes > 4_096
    assert information.oldest == time.strftime("%Y-%m-%d", time.gmtime())
    assert store.clear("a@") == 0
    assert store.clear("a@1") == 5
    assert store.info().per_model == {"b@2": 2}
    assert store.get("b@2", [1], GREEDY) == ANSWER
    assert store.get("a@1", [1], GREEDY) is None
    assert store.clear() == 2
    assert store.info().completions == 0
    assert store.info().oldest is None


def test_clear_gives_the_room_back(store: CompletionStore, path: Path) -> None:
    for i in range(300):
        store.put("m", [i], GREEDY, StoredCompletion(tuple(range(1_000)), "length", 1.0))
    store.close()
    assert store.info().bytes > 1_000_000
    other = CompletionStore(path)  # another process, in effect, has it open
    assert other.get("m", [0], GREEDY) is not None
    assert store.clear() == 300
    assert store.info().bytes < 100_000
    assert other.get("m", [0], GREEDY) is None


def test_a_store_that_does_not_exist_is_empty_and_is_not_made(store: CompletionStore, path: Path) -> None:
    information = store.info()
    assert (information.completions, information.bytes, information.per_model) == (0, 0, {})
    assert store.clear() == 0
    assert not path.exists()


def test_info_and_clear_say_that_a_file_is_damaged_and_leave_it(store: CompletionStore, path: Path) -> None:
    path.write_bytes(b"no database")
    for asked_for in (store.info, store.clear):
        with pytest.raises(StoreError, match="is damaged"):
            asked_for()
    assert path.read_bytes() == b"no database"


def test_a_fingerprint_that_is_no_text_can_be_cleared_by_its_shown_name(store: CompletionStore) -> None:
    store.put("caf\udce9@1", [1], GREEDY, ANSWER)  # a folder's name in Latin-1, as Python reads it
    (shown,) = store.info().per_model
    assert shown.encode()  # can be printed
    assert store.clear(shown) == 1
