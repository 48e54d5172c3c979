"""A real JupyterLab server and a page of headless Chromium, for the browser tests and for the screenshots.

Nothing here waits for a fixed time: every wait is for something in the page, with a limit. The notebooks that
are opened are copies, so that nothing the page saves reaches the repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from playwright.sync_api import Locator, Page, expect, sync_playwright

REPOSITORY = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ERROR = "[data-mime-type='application/vnd.jupyter.error']"
SERVER_SECONDS = 60
PAGE_SECONDS = 180  # a cold model on a busy machine


def notebook_of(*cells: str) -> nbformat.NotebookNode:
    """Return a notebook with the given code cells."""
    made = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    made.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    return made


@contextmanager
def lab_server(folder: Path, theme: str) -> Iterator[str]:
    """Serve ``folder / "notebooks"`` with JupyterLab on a free port and yield its address; stop it at the end.

    Configuration, runtime files, workspaces and settings live in ``folder`` too: the user's own are not touched.
    """
    root = folder / "notebooks"
    root.mkdir(parents=True, exist_ok=True)
    settings = folder / "config" / "labconfig"
    settings.mkdir(parents=True)
    quiet = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (settings / "page_config.json").write_text(json.dumps(quiet), encoding="utf-8")
    for extension, chosen in (
        ("apputils-extension/themes", {"theme": theme}),
        ("notebook-extension/tracker", {"windowingMode": "none"}),  # cells out of sight stay in the page
    ):
        file = folder / "settings" / "@jupyterlab" / f"{extension}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps(chosen), encoding="utf-8")
    names = {"CONFIG_DIR": "config", "RUNTIME_DIR": "runtime", "DATA_DIR": "data"}
    environment = os.environ | {f"JUPYTER_{name}": str(folder / place) for name, place in names.items()}
    environment |= {
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "IPYTHONDIR": str(folder / "ipython"),
    }
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--IdentityProvider.token=", f"--port={port}",
        "--ServerApp.port_retries=0", "--ip=127.0.0.1", f"--ServerApp.root_dir={root}",
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    log = folder / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for_server(server, address, log)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_for_server(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    limit = time.monotonic() + SERVER_SECONDS
    while time.monotonic() < limit:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/api/status", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


@dataclass
class LabPage:
    """One page on a server: opens notebooks, runs them, finds their widgets; ``errors`` holds console errors."""

    page: Page
    address: str
    folder: Path
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PAGE_SECONDS * 1000)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)

    def open(self, name: str, notebook: nbformat.NotebookNode | None = None) -> None:
        """Open a notebook (one given, or a copy of the repository's own) and wait until its kernel is idle."""
        target = self.folder / "notebooks" / name
        if notebook is None:
            shutil.copy(REPOSITORY / "notebooks" / name, target)
        else:
            nbformat.write(notebook, target)
        self.page.goto(f"{self.address}/lab/tree/{name}")
        self.wait_idle()

    def wait_idle(self) -> None:
        """Wait until the kernel has nothing left to run."""
        # The notebook's own indicator says idle before there is a kernel; the status bar names the kernel.
        expect(self.page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=PAGE_SECONDS * 1000)
        idle = self.page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
        expect(idle).to_have_count(1, timeout=PAGE_SECONDS * 1000)

    def run_all(self) -> None:
        """Run every cell and wait until the last has run; a cell that fails before it is shown with its error."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        last = self.page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").last
        ran = last.filter(has_text=re.compile(r"\[\d+\]:"))
        failed = self.page.locator(ERROR)
        expect(ran.or_(failed).first).to_be_attached(timeout=PAGE_SECONDS * 1000)
        self.wait_idle()
        assert ran.count(), f"a cell failed, and those after it did not run:\n{failed.first.inner_text()}"

    def complaints(self) -> Locator:
        """Return the outputs that are errors, or were written to standard error."""
        return self.page.locator(f"{ERROR}, [data-mime-type='application/vnd.jupyter.stderr']")

    def output(self, marker: str) -> Locator:
        """Return the output area of the one cell that holds an element with the CSS class ``marker``."""
        element = self.page.locator(marker)
        return self.page.locator(".jp-Cell-outputArea").filter(has=element)

    def slider(self, area: Locator, name: str) -> Locator:
        """Return the handle of the slider with a label."""
        box = area.locator(".widget-slider").filter(has=self.page.get_by_text(name, exact=True))
        return box.get_by_role("slider")


@contextmanager
def lab_page(folder: Path, width: int = 1280, height: int = 1000, theme: str = "JupyterLab Light") -> Iterator[LabPage]:
    """Start a server and a browser and yield a page; both end with the block."""
    with lab_server(folder, theme) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            yield LabPage(page, address, folder)
        finally:
            browser.close()
