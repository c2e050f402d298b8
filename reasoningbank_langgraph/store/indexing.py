"""How values become vectors: which texts of a value are embedded, and the checks on the embedder's answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig, ensure_embeddings, get_text_at_path, tokenize_path
from langgraph.store.base.embed import EmbeddingsLambda
from numpy.typing import NDArray

from reasoningbank_langgraph.embeddings import PackagedMiniLM, default_embeddings, embedder_name, model_of
from reasoningbank_langgraph.errors import EmbeddingError, StoreSettingError
from reasoningbank_langgraph.store.row_layout import Paths, Vector

WHOLE = "$"
IndexSetting = Mapping[str, Any] | None
"""LangGraph's `IndexConfig`, or None for a store without vectors."""
NOT_GIVEN: Final[Any] = object()
NO_EMBEDDER = "no embedder"
SAMPLE_TEXT = "A train of 120 m passes Zoë's signal in 6 s: how fast is it?"
"""The text whose vector distinguishes embedders of the same name."""

logger = logging.getLogger(__name__)


class Embedded(NamedTuple):
    """Unit vectors by text."""

    documents: Mapping[str, Vector]
    queries: Mapping[str, Vector]


@dataclass(frozen=True)
class Indexing:
    """What a store embeds, and with what.

    Args:
        embeddings: None for a store without vectors.
        dims: length of the vectors; 0 while unknown.
        fields: paths that are embedded where `put` names none.
        sample: the embedder's vector of a fixed text; None where its name was enough or the embedder failed.
    """

    embeddings: Embeddings | None
    dims: int = 0
    fields: tuple[str, ...] = (WHOLE,)
    sample: tuple[float, ...] | None = None

    @classmethod
    def from_settings(cls, index: IndexSetting, embeddings: Embeddings | None) -> Indexing:
        """Read LangGraph's `IndexConfig` (`embed, dims, fields`) or its short form; the packaged embedder fills in.

        Raises:
            ValueError: both forms were given, or `fields` is no list.
            StoreSettingError: what is given to embed with is no embedder, or `dims` no number.
            EmbeddingError: no embedder can be made from a name.
            MissingDependencyError: the packaged embedder is needed and not installed.
        """
        if index is not NOT_GIVEN and embeddings is not None:
            raise ValueError("pass index or embeddings, not both: embeddings=x is short for index={'embed': x}")
        if index is None:
            return cls(None)
        config: Mapping[str, Any] = {"embed": embeddings} if index is NOT_GIVEN else index
        if isinstance(config.get("fields"), str):
            raise ValueError(f"fields is a list of paths, got {config['fields']!r}")
        embed = config.get("embed")
        if not isinstance(dims := config.get("dims") or 0, int):
            raise StoreSettingError("dims", "a whole number", dims)
        embedder = default_embeddings() if embed is None else _embedder_of(embed)
        return cls(embedder, dims, tuple(config.get("fields") or (WHOLE,)))

    def moved_to(self, embeddings: Embeddings) -> Indexing:
        """Return the same fields with another embedder, measured; errors as `from_settings` and `measured` say."""
        return type(self)(_embedder_of(embeddings), fields=self.fields).measured()

    @property
    def name(self) -> str:
        """Name of the embedder, as the bank records it."""
        return NO_EMBEDDER if self.embeddings is None else embedder_name(self.embeddings)

    @property
    def config(self) -> IndexConfig | None:
        """This as LangGraph describes it; None for a store without vectors."""
        if self.embeddings is None:
            return None
        return {"dims": self.dims, "embed": self.embeddings, "fields": list(self.fields)}

    def measured(self) -> Indexing:
        """Return this with `dims` and `sample`, for which a sentence is embedded where one of them is missing.

        The name of an embedder that names its model is trusted where the length is given.

        Raises:
            EmbeddingError: the embedder returns no vector.
        """
        if self.embeddings is None or (self.dims and model_of(self.embeddings)):
            return self
        if isinstance(self.embeddings, PackagedMiniLM):
            return replace(self, dims=self.embeddings.dims)
        vector = self._sample_vector()
        if not (self.dims or len(vector)):
            raise EmbeddingError(f"{self.name} returned no vector for a text")
        return replace(self, dims=self.dims or len(vector)).with_sample(vector)

    def _sample_vector(self) -> Sequence[float]:
        try:
            vectors = self._run(self._documents([SAMPLE_TEXT]), self._adocuments([SAMPLE_TEXT]))
        except Exception as error:
            if not self.dims:
                raise
            logger.warning("%s could not be told from others of its name: %s", self.name, type(error).__name__)
            return ()
        return vectors[0] if len(vectors) else ()

    def with_sample(self, vector: Sequence[float]) -> Indexing:
        """Return this with the direction of a vector as its sample, if it has one."""
        try:
            return replace(self, sample=tuple(self._unit([vector], 1, "document")[0].tolist()))
        except EmbeddingError:  # an embedder with a small vocabulary may give this text no direction
            return self

    def texts(self, value: Mapping[str, Any], paths: Paths) -> list[str]:
        """Return the texts of a value that get a vector each; no text twice, no blank one."""
        if self.embeddings is None:
            return []
        texts: list[str] = []
        for path in self.fields if paths is None else paths:
            tokens = path if path == WHOLE else tokenize_path(path)
            texts += [_without_surrogates(text) for text in get_text_at_path(dict(value), tokens)]
        return [text for text in dict.fromkeys(texts) if text.strip()]

    def embed(self, documents: Sequence[str], queries: Sequence[str]) -> Embedded:
        """Embed distinct texts: all documents in one call, each query once. Without texts no call is made.

        Raises:
            EmbeddingError: the answer has the wrong number or length of vectors, or one without a direction: zero, NaN
                or infinity.
        """
        if self.embeddings is None:
            return Embedded({}, {})
        texts = [_without_surrogates(query) for query in queries]
        vectors = self._run(self._documents(documents), self._adocuments(documents)) if documents else []
        answers = [self._run(self._query(query), self._aquery(query)) for query in texts]
        return self._checked(documents, vectors, queries, answers)

    async def aembed(self, documents: Sequence[str], queries: Sequence[str]) -> Embedded:
        """Do what `embed` does, with the embedder's own asynchronous methods."""
        if self.embeddings is None:
            return Embedded({}, {})
        vectors = await self._adocuments(documents)() if documents else []
        answers = await asyncio.gather(*(self._aquery(_without_surrogates(query))() for query in queries))
        return self._checked(documents, vectors, queries, answers)

    def _checked(self, documents: Sequence[str], vectors: Any, queries: Sequence[str], answers: Any) -> Embedded:
        rows = self._unit(vectors, len(documents), "document")
        units = self._unit(answers, len(queries), "query")
        return Embedded(dict(zip(documents, rows, strict=True)), dict(zip(queries, units, strict=True)))

    def _unit(self, raw: Any, count: int, what: str) -> NDArray[np.float32]:
        if count == 0:
            return np.empty((0, self.dims), np.float32)
        vectors = self._numbers(raw, count, what)
        largest: NDArray[np.float64] = np.abs(vectors).max(axis=1, keepdims=True)
        self._require(np.isfinite(largest[:, 0]), what, "NaN or infinity")
        self._require(largest[:, 0] > 0, what, "a zero vector, which is close to nothing")
        vectors = vectors / largest
        units: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return units

    def _numbers(self, raw: Any, count: int, what: str) -> NDArray[np.float64]:
        try:
            vectors = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError, ArithmeticError, RuntimeError) as error:
            odd = self._odd_one(raw, what)
            raise EmbeddingError(f"{self.name} returned something that is no list of vectors{odd}") from error
        if vectors.shape != (count, self.dims):
            raise EmbeddingError(f"{self.name} returned the shape {vectors.shape}, expected {(count, self.dims)}")
        return vectors

    def _odd_one(self, raw: Any, what: str) -> str:
        with suppress(TypeError, ValueError):
            for place, vector in enumerate(raw, start=1):
                if len(vector) != self.dims:
                    return f": {len(vector)} numbers instead of {self.dims} for {what} {place}"
        return ""

    def _require(self, good: NDArray[np.bool_], what: str, instead: str) -> None:
        if not good.all():
            place = int(np.flatnonzero(~good)[0]) + 1
            raise EmbeddingError(f"{self.name} returned {instead}, for {what} {place} of {len(good)}")

    def _documents(self, texts: Sequence[str]) -> Callable[[], Any]:
        return lambda: self._embedder.embed_documents(list(texts))

    def _query(self, text: str) -> Callable[[], Any]:
        return lambda: self._embedder.embed_query(text)

    def _adocuments(self, texts: Sequence[str]) -> Callable[[], Awaitable[Any]]:
        return lambda: self._embedder.aembed_documents(list(texts))

    def _aquery(self, text: str) -> Callable[[], Awaitable[Any]]:
        return lambda: self._embedder.aembed_query(text)

    @property
    def _embedder(self) -> Embeddings:
        if self.embeddings is None:
            raise EmbeddingError("this store has no embedder")
        return self.embeddings

    def _run(self, call: Callable[[], Any], acall: Callable[[], Awaitable[Any]]) -> Any:
        """Call the embedder; an async-only function gets a loop in a thread of its own, as this thread may run one."""
        if not (isinstance(self.embeddings, EmbeddingsLambda) and not hasattr(self.embeddings, "func")):
            return call()

        async def answer() -> Any:
            return await acall()

        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(answer())).result()


def _embedder_of(embed: Any) -> Embeddings:
    if not isinstance(embed, str | Embeddings) and not callable(embed):
        raise StoreSettingError("embeddings", "an Embeddings, a function or 'PROVIDER:MODEL'", embed)
    try:
        return ensure_embeddings(embed)
    except Exception as error:
        raise EmbeddingError(f"no embedder can be made from {embed!r}: {error}") from error


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which tokenizers cannot take; all other text stays as it is."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
