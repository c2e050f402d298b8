"""The rows of one Chroma collection: in pieces Chroma accepts, always with explicit vectors, with named errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from reasoningbank_langgraph.errors import StoreError
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.connect import is_shared
from reasoningbank_langgraph.store.retry import call_chroma
from reasoningbank_langgraph.store.row_layout import ChromaRow, StoredRow, Vector, place_of

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

CHUNK = 5000
_LONGEST_PART = 1_000
"""Rows in one call: below Chroma's own limit (5461) and SQLite's limit of variables."""


class NearRow(NamedTuple):
    """A row that Chroma's index found, with its cosine similarity."""

    row: StoredRow
    cosine: float


class Rows:
    """The rows of one collection.

    Args:
        client: the client that owns the collection.
        collection: opened without an embedding function.
        cipher: encrypts every document that is written; None if the collection is not encrypted.
    """

    def __init__(self, client: ClientAPI, collection: Collection, cipher: BankCipher | None) -> None:
        self.client = client
        self.collection = collection
        self.cipher = cipher
        self._shared = is_shared(client)
        self._failed: StoreError | None = None
        self._hidden: set[str] = set()
        limit = call_chroma(client.get_max_batch_size, StoreError)
        self._chunk = min(CHUNK, limit) if isinstance(limit, int) and limit > 0 else CHUNK

    @property
    def name(self) -> str:
        """Name of the collection."""
        return self.collection.name

    @property
    def hidden(self) -> int:
        """How many rows are there still and no reader sees."""
        return len(self._hidden)

    def count(self) -> int:
        """Return the number of rows, but for hidden ones."""
        return call_chroma(self.collection.count) - self.hidden

    def hide(self, ids: Iterable[str]) -> None:
        """Show rows to no reader any more: they are about to be removed. Written again, they are seen again."""
        self._hidden.update(ids)

    def upsert(self, rows: Sequence[ChromaRow]) -> None:
        """Write rows, in one call and so all or none of them, up to 5000; longer lists in several calls, in order."""
        for part in _chunks(rows, self._chunk):
            self._write(partial(self.collection.upsert, **_columns([self._encrypted(row) for row in part])))
            self._hidden.difference_update(row.id for row in part)

    def set_expiry(self, expiry: Mapping[str, int]) -> None:
        """Set when rows expire: row id to microseconds since 1970."""
        for part in _chunks(list(expiry), self._chunk):
            times: Any = [{"expires": expiry[row]} for row in part]
            self._write(partial(self.collection.update, ids=part, metadatas=times))

    def delete(self, ids: Sequence[str], where: dict[str, Any] | None = None) -> None:
        """Remove rows by id, those that also meet `where` if it is given."""
        for part in _chunks(ids, self._chunk):
            self._write(partial(self.collection.delete, ids=part, where=where))
            self._hidden.difference_update(part)

    def _write(self, call: Callable[[], Any]) -> None:
        """Make a call that writes.

        After one that failed inside an embedded Chroma, for example on a full disk, the next can block the whole
        process for ever. So none is made until the bank is opened again.
        """
        if self._failed is not None:
            raise StoreError(f"no more writes after one that failed: close the bank and open it again ({self._failed})")
        try:
            call_chroma(call, StoreError)
        except StoreError as error:
            self._failed = None if self._shared else error
            raise

    def ids(self, where: dict[str, Any] | None, limit: int | None = None, part: str | None = None) -> list[str]:
        """Return the ids of the rows that meet a condition, at most `limit`.

        Only of those whose document has a part, where one is named and Chroma can read it: no document is encrypted. Of
        a long part the beginning is looked for, as SQLite takes no more than 50,000 bytes.
        """
        having: Any = {"$contains": part[:_LONGEST_PART]} if part and self.cipher is None else None
        read = partial(self.collection.get, where=where, where_document=having, limit=limit, include=[])
        found = call_chroma(read)["ids"]
        return [row for row in found if row not in self._hidden] if self._hidden else found

    def get(self, ids: Sequence[str], *, documents: bool = True, vectors: bool = False) -> Iterator[StoredRow]:
        """Read rows by id, in no particular order; rows that do not exist are left out."""
        include: list[Any] = ["metadatas", *["documents"] * documents, *["embeddings"] * vectors]
        for part in _chunks(ids, self._chunk):
            found = self._stored(call_chroma(partial(self.collection.get, ids=part, include=include)))
            yield from (row for row in found if row.id not in self._hidden)

    def scan(
        self, where: dict[str, Any] | None, *, part: str | None = None, documents: bool = True, vectors: bool = False
    ) -> Iterator[StoredRow]:
        """Read all rows that meet a condition as of now, in pieces."""
        return self.get(self.ids(where, part=part), documents=documents, vectors=vectors)

    def nearest(self, query: Vector, count: int, where: dict[str, Any] | None) -> list[NearRow]:
        """Ask Chroma's index for the rows closest to a unit vector, closest first."""
        found = call_chroma(
            lambda: self.collection.query(
                query_embeddings=query[None, :],
                n_results=count,
                where=where,
                include=["metadatas", "documents", "distances"],
            )
        )
        columns = (found["ids"], found["metadatas"], found["documents"], found["distances"])
        first = [(column or [[]])[0] for column in columns]
        return [
            NearRow(StoredRow(row, meta, text, None, self.cipher), 1.0 - gap)
            for row, meta, text, gap in zip(*first, strict=True)
            if row not in self._hidden
        ]

    def _encrypted(self, row: ChromaRow) -> ChromaRow:
        if self.cipher is None or not row.document:
            return row
        return row._replace(document=self.cipher.seal_text(row.document, place_of(row.id, row.metadata)))

    def _stored(self, found: Any) -> Iterator[StoredRow]:
        count = len(found["ids"])
        documents = found["documents"] or [None] * count
        vectors = found["embeddings"]
        for place, row in enumerate(found["ids"]):
            vector = None if vectors is None else np.asarray(vectors[place], dtype=np.float32)
            yield StoredRow(row, found["metadatas"][place] or {}, documents[place], vector, self.cipher)


def _columns(rows: Sequence[ChromaRow]) -> dict[str, Any]:
    return {
        "ids": [row.id for row in rows],
        "embeddings": np.stack([row.vector for row in rows]),
        "documents": [row.document for row in rows],
        "metadatas": [row.metadata for row in rows],
    }


def _chunks(things: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(things), size):
        yield list(things[start : start + size])
