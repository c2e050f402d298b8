"""Access to one Chroma collection: in pieces Chroma accepts, always with explicit vectors, with named errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from reasoningbank_langgraph.errors import StoreCorruptedError, StoreError, StoreUnavailableError
from reasoningbank_langgraph.store.layout import Row, Stored, Vector

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

CHUNK = 5000
"""Rows in one call: below Chroma's own limit (5461) and SQLite's limit of variables."""


class Near(NamedTuple):
    """A row that Chroma's index found, with its cosine similarity."""

    row: Stored
    cosine: float


class Rows:
    """The rows of one collection.

    Args:
        client: the client that owns the collection.
        collection: opened without an embedding function.
    """

    def __init__(self, client: ClientAPI, collection: Collection) -> None:
        self.collection = collection
        limit = client.get_max_batch_size()
        self._chunk = min(CHUNK, limit) if isinstance(limit, int) and limit > 0 else CHUNK

    def count(self) -> int:
        """Return the number of rows."""
        with chroma_errors():
            return self.collection.count()

    def upsert(self, rows: Sequence[Row]) -> None:
        """Write rows, in one call and so all or none of them, up to 5000; longer lists in several calls, in order."""
        for part in _chunks(rows, self._chunk):
            with chroma_errors(StoreError):
                self.collection.upsert(
                    ids=[row.id for row in part],
                    embeddings=np.stack([row.vector for row in part]),
                    documents=[row.document for row in part],
                    metadatas=[row.metadata for row in part],
                )

    def set_expiry(self, expiry: Mapping[str, int]) -> None:
        """Set when rows expire: row id to microseconds since 1970."""
        for part in _chunks(list(expiry), self._chunk):
            with chroma_errors(StoreError):
                self.collection.update(ids=part, metadatas=[{"expires": expiry[row]} for row in part])

    def delete(self, ids: Sequence[str], where: dict[str, Any] | None = None) -> None:
        """Remove rows by id, those that also meet `where` if it is given."""
        for part in _chunks(ids, self._chunk):
            with chroma_errors(StoreError):
                self.collection.delete(ids=part, where=where)

    def ids(self, where: dict[str, Any] | None, limit: int | None = None) -> list[str]:
        """Return the ids of the rows that meet a condition, at most `limit` of them."""
        with chroma_errors():
            return self.collection.get(where=where, limit=limit, include=[])["ids"]

    def get(self, ids: Sequence[str], *, documents: bool = True, vectors: bool = False) -> Iterator[Stored]:
        """Read rows by id, in no particular order; rows that do not exist are left out."""
        include: list[Any] = ["metadatas", *["documents"] * documents, *["embeddings"] * vectors]
        for part in _chunks(ids, self._chunk):
            with chroma_errors():
                found = self.collection.get(ids=part, include=include)
            yield from _stored(found)

    def scan(self, where: dict[str, Any] | None, *, documents: bool = True, vectors: bool = False) -> Iterator[Stored]:
        """Read all rows that meet a condition as of now, in pieces."""
        return self.get(self.ids(where), documents=documents, vectors=vectors)

    def nearest(self, query: Vector, count: int, where: dict[str, Any] | None) -> list[Near]:
        """Ask Chroma's index for the rows closest to a unit vector, closest first."""
        with chroma_errors():
            found = self.collection.query(
                query_embeddings=query[None, :],
                n_results=count,
                where=where,
                include=["metadatas", "documents", "distances"],
            )
        columns = (found["ids"], found["metadatas"], found["documents"], found["distances"])
        first = [(column or [[]])[0] for column in columns]
        return [Near(Stored(row, meta, text, None), 1.0 - gap) for row, meta, text, gap in zip(*first, strict=True)]


@contextmanager
def chroma_errors(refused: type[StoreError] = StoreCorruptedError) -> Iterator[None]:
    """Name what Chroma raises.

    Raises:
        StoreUnavailableError: the server does not answer.
        StoreError: Chroma refused the call; for reads `StoreCorruptedError`, which `rebuild_index()` can mend.
    """
    import httpx
    from chromadb.errors import ChromaError

    try:
        yield
    except httpx.TransportError as error:
        raise StoreUnavailableError(f"the Chroma server does not answer: {error}") from error
    except ChromaError as error:
        hint = "; rebuild_index() makes the index anew" if refused is StoreCorruptedError else ""
        raise refused(f"Chroma answered {type(error).__name__}: {error}{hint}") from error


def _stored(found: Any) -> Iterator[Stored]:
    count = len(found["ids"])
    documents = found["documents"] or [None] * count
    vectors = found["embeddings"]
    for place, row in enumerate(found["ids"]):
        vector = None if vectors is None else np.asarray(vectors[place], dtype=np.float32)
        yield Stored(row, found["metadatas"][place] or {}, documents[place], vector)


def _chunks(things: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(things), size):
        yield list(things[start : start + size])
