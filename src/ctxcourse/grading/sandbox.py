"""Where a student's kernel runs: in a bubblewrap sandbox where the machine has one, else as a plain process.

The sandbox starts from an empty file system and shows what is needed to run Python with the course's packages, read-
only: solutions, lesson sources, home folders and other submissions are not hidden but absent. It has no network (the
grader talks to the kernel through sockets in a private folder), no processes but its own, and limits on memory and on
their number.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ctxcourse.errors import CourseError
from ctxcourse.home import cache_home

MEMORY = 3 * 2**30
"""Bytes of memory that a submission may use, over all its processes."""
PROCESSES = 64
"""Processes and threads that a submission may have at once."""
SCRATCH = 256 * 2**20
"""Size of the sandbox's own /tmp, in bytes; it lives in memory."""

ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "fonts",
    "ssl",
    "localtime",
    "mime.types",
    "passwd",
    "group",
)

# Runs inside the sandbox, before the kernel. RLIMIT_NPROC counts per user, and is set once the user is the sandbox's.
LAUNCHER = """
import os, resource, runpy, sys
uid, memory, processes = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
if uid:
    os.setgroups([]); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid)
for what, most in (("DATA", memory), ("AS", 2 * memory), ("CORE", 0), ("NPROC", processes)):
    if most >= 0 and hasattr(resource, "RLIMIT_" + what):
        try: resource.setrlimit(getattr(resource, "RLIMIT_" + what), (most, most))
        except (ValueError, OSError): pass
del sys.argv[1:4]
"""
KERNEL = LAUNCHER + "runpy.run_module('ipykernel_launcher', run_name='__main__', alter_sys=True)"
PROBE = (
    LAUNCHER
    + """
import zmq, ipykernel, ctxcourse
def check(error):
    if not isinstance(error, FileNotFoundError): sys.exit(str(error))
for folder, _, files in os.walk(os.environ["CTXCOURSE_HOME"], onerror=check):
    for file in files:
        if not os.access(os.path.join(folder, file), os.R_OK): sys.exit(file + " cannot be read by others")
"""
)


class SandboxUnavailable(CourseError):
    """A sandbox was required, and this machine offers none."""


@dataclass(frozen=True)
class Sandbox:
    """How kernels are isolated on this machine.

    Attributes:
        name: ``"bubblewrap"`` or ``"none"``, for the report.
        reason: why there is no sandbox; empty where there is one.
        uid: the user id that the sandbox changes to when the grader is root; 0 where a user namespace does it.
    """

    name: str
    reason: str = ""
    uid: int = 0

    @property
    def isolated(self) -> bool:
        """Whether student code is kept apart from the grader."""
        return self.name != "none"

    def command(
        self, folder: Path, arguments: Iterable[str], masked: Iterable[Path] = (), code: str = KERNEL
    ) -> list[str]:
        """Return the command that starts a kernel whose connection file and sockets are in ``folder``.

        Args:
            folder: the kernel's private folder, the only one of the machine's that it can write.
            arguments: arguments of the kernel.
            masked: folders to show empty even if they lie below one that the kernel needs.
            code: what Python runs.
        """
        # A number of processes is only limited where the user is the sandbox's own.
        processes = PROCESSES if self.isolated and (self.uid or _limits_per_namespace()) else -1
        python = [sys.executable, "-I", "-c", code, str(self.uid), str(MEMORY), str(processes), *arguments]
        return [*_bwrap(folder, self.uid, tuple(masked)), *python] if self.isolated else python

    def prepare(self, folder: Path) -> None:
        """Make ``folder`` writable for the sandbox's user, and copy there what takes matplotlib seconds to find out."""
        import platformdirs

        fonts = folder / "mpl"
        fonts.mkdir()
        for cache in platformdirs.user_cache_path("matplotlib").glob("fontlist-*.json"):
            with contextlib.suppress(OSError):
                shutil.copy(cache, fonts)
        if self.uid:
            for path in (folder, fonts):
                os.chown(path, self.uid, self.uid)


def find_sandbox(wanted: str = "auto") -> Sandbox:
    """Return the isolation to use.

    Args:
        wanted: ``"auto"`` (bubblewrap if it works), ``"require"`` or ``"none"``.

    Raises:
        SandboxUnavailable: if one is required and cannot be had.
    """
    if wanted == "none":
        return Sandbox("none", "it was switched off")
    sandbox = _probe()
    if wanted == "require" and not sandbox.isolated:
        raise SandboxUnavailable(
            f"no sandbox: {sandbox.reason}. Install bubblewrap (`apt install bubblewrap`), or use --sandbox=none."
        )
    return sandbox


@functools.cache
def _probe() -> Sandbox:
    if shutil.which("bwrap") is None:
        return Sandbox("none", "bubblewrap (bwrap) is not installed")
    # Root needs a user id of its own for the sandbox: no limit on processes binds root, not even in a user namespace.
    candidates = [Sandbox("bubblewrap")]
    if os.geteuid() == 0:
        candidates.insert(0, Sandbox("bubblewrap", uid=200_000 + os.getpid() % 100_000))
    reason = ""
    for sandbox in candidates:
        try:
            done = subprocess.run(
                sandbox.command(Path("/tmp"), (), code=PROBE),
                capture_output=True,
                text=True,
                timeout=30,
                env=environment(Path("/tmp")),
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            reason = str(error)
            continue
        if done.returncode == 0:
            return sandbox
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return Sandbox("none", f"bubblewrap does not work here: {reason}")


def _limits_per_namespace() -> bool:
    release = os.uname().release.split(".")
    try:
        return (int(release[0]), int(release[1])) >= (5, 14)
    except (ValueError, IndexError):
        return False


@functools.cache
def _version() -> tuple[int, ...]:
    text = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in text.split()[-1].split(".") if part.isdigit()) if text.split() else ()


def environment(folder: Path) -> dict[str, str]:
    """Return the whole environment of a student's kernel: nothing of the grader's own is passed on."""
    # Libraries would start a thread for each core, and a submission may have only so many.
    keep = {
        "OMP_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "2",
        "RAYON_NUM_THREADS": "2",
        "TOKENIZERS_PARALLELISM": "false",
    }
    keep |= {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "CTXCOURSE_MODEL") if name in os.environ
    }
    home = str(folder)
    return {
        **keep,
        "HOME": home,
        "IPYTHONDIR": f"{home}/ipython",
        "MPLCONFIGDIR": f"{home}/mpl",
        "CTXCOURSE_HOME": str(cache_home()),
        "HF_HUB_OFFLINE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def _python_folders() -> list[Path]:
    """Return the folders that Python and the course's packages are imported from."""
    package = Path(__file__).resolve().parents[1]
    folders = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parents[1], package}
    for entry in map(Path, sys.path):
        # Source folders of packages installed in place would show their whole project: the course's own is bound above.
        if entry.name in ("site-packages", "dist-packages"):
            folders.add(entry)
    return sorted((f for f in folders if f.is_absolute() and f.is_dir()), key=lambda f: len(f.parts))


def _bwrap(folder: Path, uid: int, masked: tuple[Path, ...]) -> list[str]:
    size = ["--size", str(SCRATCH)] if _version() >= (0, 8) else []
    command = [
        "bwrap",
        "--die-with-parent",
        "--new-session",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
    ]
    if uid:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
        command += ["--disable-userns"] if _version() >= (0, 8) else []
    command += ["--ro-bind", "/usr", "/usr"]
    for top in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(top):
            command += ["--symlink", os.readlink(top), top]
        elif os.path.isdir(top):
            command += ["--ro-bind", top, top]
    for name in ETC:
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--proc", "/proc", "--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--chmod", "1777", "/dev/shm"]
    command += [*size, "--tmpfs", "/tmp", "--chmod", "1777", "/tmp"]
    shown = [*_python_folders(), cache_home()]
    # Folders that bubblewrap makes on the way are closed to a user other than the one it runs as.
    parents = {parent for path in shown for parent in path.parents if len(parent.parts) > 1}
    for parent in sorted(parents, key=lambda p: len(p.parts)):
        if not parent.is_relative_to("/usr") and parent != Path("/tmp"):
            command += ["--perms", "0755", "--dir", str(parent)]
    for path in shown:
        if not path.is_relative_to("/usr"):
            command += ["--ro-bind-try", str(path), str(path)]
    for path in masked:
        if path.is_dir() and any(path.resolve().is_relative_to(place.resolve()) for place in shown):
            command += ["--tmpfs", str(path.resolve())]
    if folder != Path("/tmp"):
        command += ["--bind", str(folder), str(folder)]
    return [*command, "--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--"]
