"""The layers of the package, from the bottom up; a module imports from its own layer and from those below it.

``context`` and ``model`` stand side by side and do not import each other; ``grading`` knows nothing of either. A test
holds every import against this table.
"""

LAYERS: dict[str, tuple[str, ...]] = {
    "errors": ("errors", "home", "layers"),
    # pure logic: what a prompt is, what it costs, what to cut
    "context": (
        "messages",
        "pairing",
        "plain",
        "toolschemas",
        "tokens",
        "budget",
        "fitted",
        "trimming",
        "samples",
        "stats",
        "retrieval",  # which documents, in which order
        "history",  # what is kept of a conversation
        "tools",  # which tools, in which words, for how many tokens
    ),
    # the only importer of torch and transformers
    "model": ("model",),
    # context and model joined
    "course": (
        "loading",
        "progress",
        "doctor",
        "tables",
        "needle",
        "experiments",
        "policies",  # what each call of a run is given of the conversation so far
        "agent",  # the forty-turn run: environment, loop, transcript, bill, probes
        "results",
        "embeddings",
    ),
    # what is seen in a notebook
    "notebook": ("widgets", "plots", "learn", "mistakes", "quiz", "questions"),
    "grading": ("grading",),
    "authoring": ("authoring",),
    "top": ("cli", "__init__"),
}

BELOW: dict[str, tuple[str, ...]] = {
    "errors": (),
    "context": ("errors",),
    "model": ("errors",),
    "course": ("errors", "context", "model"),
    "notebook": ("errors", "context", "model", "course"),
    "grading": ("errors",),
    "authoring": ("errors", "grading"),
    "top": tuple(LAYERS),
}
