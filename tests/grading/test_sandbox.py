"""What a student's kernel is given of this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxcourse.grading.sandbox import Sandbox, environment
from ctxcourse.home import cache_home


@pytest.mark.parametrize("given", ["cache", "../cache", "~/cache", "link/cache"])
def test_the_models_folder_is_the_one_that_the_course_uses(given, tmp_path, monkeypatch):
    """The kernel runs in another folder and has another home: what it is given must not depend on either."""
    here = tmp_path / "here"
    (here / "real").mkdir(parents=True)
    (here / "link").symlink_to("real")
    home = tmp_path / "home"
    expected = {"cache": here / "cache", "../cache": tmp_path / "cache", "~/cache": home / "cache"}
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CTXCOURSE_HOME", given)
    seen = Path(environment(tmp_path)["CTXCOURSE_HOME"])
    assert seen == cache_home() == expected.get(given, here / "real" / "cache").resolve()
    if shutil.which("bwrap"):
        command = Sandbox("bubblewrap").command(tmp_path, ())
        bound = [command[n + 1 : n + 3] for n, word in enumerate(command) if word == "--ro-bind-try"]
        assert [str(seen), str(seen)] in bound
