"""Make the virtual environment of the course: the standard library only, so that any Python 3.11+ can run it.

    python3 tools/bootstrap.py [FOLDER]

A second run with nothing changed does nothing. On Linux the plain torch package holds several GB of GPU libraries, so
its CPU build is taken from PyTorch's own index; elsewhere the plain package is the CPU build.
"""

import hashlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
import venv
from pathlib import Path

if sys.version_info < (3, 11):
    sys.exit(f"The course needs Python 3.11 or newer, not {sys.version.split()[0]}: set PYTHON=python3.11")
import tomllib

ROOT = Path(__file__).resolve().parent.parent
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
EXTRAS = "[instructor,test,embeddings]" if (ROOT / "lessons").exists() else ""  # a student release needs neither
PIP = "pip==26.3"


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv").absolute()
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, wanted = folder / "ctxcourse-stamp", fingerprint()
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return
    print(f"Setting up {folder} (once, some minutes)", flush=True)
    stamp.unlink(missing_ok=True)
    try:
        venv.create(folder, with_pip=True, symlinks=os.name != "nt", clear=not made_by_this_python(python))
    except (subprocess.CalledProcessError, OSError) as error:
        sys.exit(f"{folder} could not be made: {error}\nOn Debian and Ubuntu: apt install python3-venv")
    pip(python, PIP)
    torch = next(d for d in project()["dependencies"] if d.startswith("torch=="))
    print("1 of 2: torch", flush=True)
    pip(python, torch, *cpu_index())
    print("2 of 2: JupyterLab, transformers and the rest", flush=True)
    pip(python, "-c", str(ROOT / "constraints.txt"), "-e", f"{ROOT}{EXTRAS}")
    stamp.write_text(wanted)


def made_by_this_python(python: Path) -> bool:
    try:
        answer = subprocess.run([python, "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    except OSError:
        return False
    return answer.stdout.rstrip("\n") == sys.version


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def fingerprint() -> str:
    """Name what the environment was made from: Python, this file, the pins, and where the checkout stands."""
    files = [ROOT / "pyproject.toml", ROOT / "constraints.txt", Path(__file__)]
    content = b"".join(f.read_bytes() for f in files) + f"{ROOT}{sys.version}".encode()
    return hashlib.sha256(content).hexdigest()


def cpu_index() -> list[str]:
    """Return the pip options that bring torch's CPU build, where the plain package is another one."""
    if sys.platform != "linux":
        return []
    try:
        urllib.request.urlopen(f"{CPU_BUILDS}/torch/", timeout=5).close()
    except (urllib.error.URLError, OSError):
        print(f"{CPU_BUILDS} cannot be reached: taking torch from pip's usual index (it may be a larger GPU build)")
        return []
    return ["--extra-index-url", CPU_BUILDS]


def pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    if subprocess.run(command).returncode:
        sys.exit(f"pip failed: {' '.join(command)}\nMend what it says above and run the same command again.")


if __name__ == "__main__":
    main()
