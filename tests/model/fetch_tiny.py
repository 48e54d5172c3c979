"""Run in a process of its own by the tests: bring the tiny model here, and say what happened as one JSON object."""

from __future__ import annotations

import json
import sys

from ctxcourse.errors import CourseError
from ctxcourse.home import cache_home
from ctxcourse.model.artefacts import KNOWN, Artefact, Carrier
from ctxcourse.model.fetch import fetch_file
from ctxcourse.model.weights import ensure_model


def main() -> None:
    what, about = sys.argv[1], json.loads(sys.argv[2])
    pairs = about.pop("carrier")
    carrier = Carrier(tuple(map(tuple, pairs))) if pairs else None
    artefact = Artefact(name="tiny", label="a tiny model", carrier=carrier, **about)
    KNOWN["tiny"] = artefact
    stages: list[str] = []

    def progress(stage: str, done: int, total: int) -> None:
        if not stages or stages[-1] != stage:
            stages.append(stage)

    result: dict[str, object]
    try:
        if what == "file":
            path, notes = fetch_file(artefact, cache_home() / "downloads", progress)
            result = {"path": str(path), "notes": notes}
        else:
            folder = ensure_model("tiny", progress)
            result = {"path": str(folder.path), "notes": list(folder.notes), "fingerprint": folder.fingerprint}
    except CourseError as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({**result, "stages": stages}))


main()
