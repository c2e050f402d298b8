"""A bank opened without the embedder that made it: for reading, deleting and changes that keep every embedded text."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from langgraph.store.base import Op, Result

from reasoningbank_langgraph.embeddings import AbsentEmbedder
from reasoningbank_langgraph.errors import StorePathError
from reasoningbank_langgraph.store.batch import Batch, make_batch
from reasoningbank_langgraph.store.chroma import ChromaStore
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE
from reasoningbank_langgraph.store.collection import COLLECTION, recorded_embedder
from reasoningbank_langgraph.store.folder.opening import OpenFolder, open_folder
from reasoningbank_langgraph.store.indexing import NO_EMBEDDER, Embedded
from reasoningbank_langgraph.store.maintenance.migration import stored_vectors
from reasoningbank_langgraph.store.row_layout import Vector, row_id
from reasoningbank_langgraph.store.values import decode_value


def open_without_embedder(path: str | os.PathLike[str]) -> ChromaStore:
    """Open the bank in a folder, whichever embedder made it.

    A search with a query, and a write with a text that the items it changes do not have, raise `EmbeddingError`.

    Raises:
        StorePathError: there is no bank; nothing was made.
        StoreLockedError: another store has it open.
        StoreCorruptedError: the folder holds something that is no bank, or an index that has to be made anew.
        StoreSchemaError: the bank was made by a newer version.
    """
    if not (Path(path) / DATABASE_FILE).is_file():
        raise StorePathError(path, "there is no bank")
    folder = open_folder(path, COLLECTION, can_embed=False)
    try:
        recorded = recorded_embedder(folder.client, COLLECTION)
        if recorded is None:
            raise StorePathError(path, f"it has no collection {COLLECTION!r}")
        return _StoreWithoutEmbedder.in_folder(folder, *recorded)
    except BaseException:
        folder.release()
        raise


class _StoreWithoutEmbedder(ChromaStore):
    """Writes with the vectors that the texts of a batch have in the bank."""

    @classmethod
    def in_folder(cls, folder: OpenFolder, name: str, dims: int) -> Self:
        index = None if name == NO_EMBEDDER else {"embed": AbsentEmbedder(name), "dims": dims}
        return cls._owning(folder.client, {"index": index}, folder.release, folder.saved)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        self._lifetime.check()
        batch = make_batch(ops, self._indexing)
        with self._collection.writing:
            kept = self._kept(batch) if batch.documents else {}
            fresh = [text for text in batch.documents if text not in kept]
            embedded = self._indexing.embed(fresh, batch.queries)
            return self._carry_out(batch, Embedded({**kept, **embedded.documents}, embedded.queries))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _kept(self, batch: Batch) -> dict[str, Vector]:
        """Return the vector of each text that an item of the batch has now, where the item says what is embedded."""
        wanted = {change.id: (change.namespace, change.key) for change in batch.changes.values()}
        entries = [entry for entry in self._collection.find(wanted).values() if entry.paths]
        vectors = stored_vectors(entries, self._collection.rows)
        kept: dict[str, Vector] = {}
        for entry in entries:
            texts = self._indexing.texts(decode_value(row_id(entry.id, 0), entry.document), entry.paths)
            kept |= zip(texts, vectors[entry.id], strict=True)
        return kept
