"""Join the model and context layers: a model whose messages are validated by the course's own rules."""

from __future__ import annotations

import functools

from ctxcourse.messages import normalise, normalise_tools
from ctxcourse.model.files import Progress
from ctxcourse.model.qwen import Model
from ctxcourse.model.tokenizer import ChatTokenizer, cached_tokenizer
from ctxcourse.model.weights import ModelFolder, ensure_model
from ctxcourse.progress import ProgressBar


def _folder(name: str | None, progress: Progress | None) -> ModelFolder:
    if progress is not None:
        return ensure_model(name, progress)
    with ProgressBar() as bar:  # appears only where something has to be fetched
        return ensure_model(name, bar)


@functools.lru_cache(maxsize=2)
def _model(folder: ModelFolder) -> Model:
    return Model(folder, cached_tokenizer(folder.path, normalise, normalise_tools))


def load_model(name: str | None = None, progress: Progress | None = None) -> Model:
    """Return the model, brought to this machine first where needed; the weights are read at the first answer.

    ``name`` is one of the course's models, a Hub id, a folder or a ``.gguf`` file; without it the environment variable
    ``CTXCOURSE_MODEL`` decides. The same object comes back at the next call. A bar shows the work where there is any;
    ``progress(stage, done, total)`` takes its place.

    Raises:
        WeightsError: the model cannot be found, fetched or checked.
    """
    return _model(_folder(name, progress))


def load_tokenizer(name: str | None = None, progress: Progress | None = None) -> ChatTokenizer:
    """Return the model's tokenizer with its chat template, without torch and without weights in memory."""
    return cached_tokenizer(_folder(name, progress).path, normalise, normalise_tools)
