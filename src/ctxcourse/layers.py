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
        # which documents, in which order
        "ordering",
        "relevance",
        "dedup",
        "intent",
        # what is kept of a conversation
        "history",
        "compressors",
        "elision",
        "rolling",
        "summaries",
        "sentences",
        "key_sentences",
        # which tools, in which words, for how many tokens
        "tool_text",
        "tool_costs",
        "tool_search",
        "tool_selection",
        "toolset",
        "catalogues",
        "scaffolding",
        "tool_calls",
    ),
    # the only importer of torch and transformers
    "model": ("model",),
    # context and model joined
    "course": (
        "loading",
        "progress",
        "doctor",
        "needle",
        "owners",
        "filler",
        "sweeps",
        "own",
        "own_answers",
        "own_table",
        "own_templates",
        "tables",
        "trials",
        "experiments",
        "results",
        "published",
        "shipped",
        "embeddings",
    ),
    # what is seen in a notebook
    "notebook": (
        "widgets",
        "explorer",
        "running",
        "plots",
        "pictures",
        "needle_cells",
        "needle_grids",
        "needle_panels",
        "needle_plots",
        "needle_widgets",
        "cell_view",
        "length_widget",
        "point_widget",
        "position_widget",
        "register_view",
        "rows_widget",
        "experiment_plots",
        "toolbox_widgets",
        "prompt_html",
        "learn",
        "mistakes",
        "quiz",
        "questions",
    ),
    "grading": ("grading",),
    "authoring": ("authoring",),
    "top": ("cli", "cli_cells", "cli_common", "cli_experiment", "cli_needle", "__init__"),
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
