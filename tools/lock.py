"""Print the versions of everything installed as pip constraints, without torch (its builds differ by machine)."""

import re
from importlib.metadata import distributions

LEFT_OUT = {"ctxcourse", "pip", "setuptools", "torch"}
BENCHMARK = {"llama-cpp-python", "diskcache"}  # the extra `bench`, compiled where it is wanted


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


installed = {canonical(d.metadata["Name"]): d.version for d in distributions()}
print("# Everything the environment holds, made by `make lock`. torch: see pyproject.toml and tools/bootstrap.py.")
for name, version in sorted(installed.items()):
    if name not in LEFT_OUT | BENCHMARK and not name.startswith("nvidia-"):
        print(f"{name}=={version}")
