"""A bank opened without the embedder that made it: for reading, deleting and changes that keep every embedded text."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from langgraph.store.base import Op, Result

from reasoningbank_langgraph.embeddings import AbsentEmbedder
from reasoningbank_langgraph.errors import EncryptionKeyError, StorePathError
from reasoningbank_langgraph.store.batch import Batch, make_batch
from reasoningbank_langgraph.store.chroma import ChromaStore
from reasoningbank_langgraph.store.chroma_files import DATABASE_FILE
from reasoningbank_langgraph.store.cipher import BankCipher
from reasoningbank_langgraph.store.collection import COLLECTION, recorded_embedder
from reasoningbank_langgraph.store.folder.opening import OpenFolder, open_folder
from reasoningbank_langgraph.store.indexing import NO_EMBEDDER, Embedded
from reasoningbank_langgraph.store.maintenance.migration import rekey_bank
from reasoningbank_langgraph.store.maintenance.repair import StoreReport
from reasoningbank_langgraph.store.reading import stored_vectors
from reasoningbank_langgraph.store.row_layout import Vector, row_id
from reasoningbank_langgraph.store.settings import Progress, StoreSettings
from reasoningbank_langgraph.store.values import decode_value


def open_without_embedder(path: str | os.PathLike[str], encryption_key: bytes | None = None) -> ChromaStore:
    """Open the bank in a folder, whichever embedder made it.

    A search with a query, and a write with a text that the items it changes do not have, raise `EmbeddingError`.

    Args:
        path: the folder.
        encryption_key: the bank's key, if it has one.

    Raises:
        StorePathError: there is no bank; nothing was made.
        StoreLockedError: another store has it open.
        EncryptionKeyError: the key does not fit the bank; nothing was written.
        StoreCorruptedError: the folder holds something that is no bank, or an index that has to be made anew.
        StoreSchemaError: the bank was made by a newer version.
    """
    return _open(path, COLLECTION, encryption_key)


def rekey(
    path: str | os.PathLike[str],
    key: bytes | None,
    new_key: bytes,
    *,
    collection: str = COLLECTION,
    progress: Progress | None = None,
) -> StoreReport:
    """Encrypt the bank in a folder with another key, or for the first time, and remove what the old one could read.

    The old key opens the bank until all items are written anew; from then on only the new one does. A kill at any
    moment leaves a whole bank. Call it again with the same keys to end the work: what is done is not done again.

    Args:
        path: the folder, which no store may have open.
        key: the key until now; None for a bank that is not encrypted.
        new_key: 16, 24 or 32 random bytes.
        collection: name of the Chroma collection, if the bank was made with another than the default.
        progress: called with the items done and the items in all, at the start and after every 256 items.

    Returns:
        What `verify()` finds in the end.

    Raises:
        EncryptionKeyError: neither key opens the bank; nothing was written.
        StorePathError: there is no bank; nothing was made.
        StoreLockedError: another store has it open.
        StoreError: the bank is damaged, or the disk is full; call it again after that.
    """
    cipher = BankCipher(new_key)
    with _open_with_either(path, collection, key, new_key) as store:
        store.rekey(cipher, progress)
        return store.verify()


def _open_with_either(
    path: str | os.PathLike[str], collection: str, key: bytes | None, new_key: bytes
) -> _StoreWithoutEmbedder:
    try:
        return _open(path, collection, key)
    except EncryptionKeyError as refused:
        try:
            return _open(path, collection, new_key)
        except EncryptionKeyError:
            raise refused from None


def _open(path: str | os.PathLike[str], collection: str, key: bytes | None) -> _StoreWithoutEmbedder:
    if not (Path(path) / DATABASE_FILE).is_file():
        raise StorePathError(path, "there is no bank")
    folder = open_folder(path, collection, BankCipher.of(key), can_embed=False)
    try:
        recorded = recorded_embedder(folder.client, collection)
        if recorded is None:
            raise StorePathError(path, f"it has no collection {collection!r}")
        name, dims = recorded
        index = None if name == NO_EMBEDDER else {"embed": AbsentEmbedder(name), "dims": dims}
        return _StoreWithoutEmbedder.in_folder(
            folder, {"index": index, "collection": collection, "encryption_key": key}
        )
    except BaseException:
        folder.release()
        raise


class _StoreWithoutEmbedder(ChromaStore):
    """Writes with the vectors that the texts of a batch have in the bank."""

    @classmethod
    def in_folder(cls, folder: OpenFolder, settings: StoreSettings) -> Self:
        return cls._owning(folder.client, settings, folder.release, folder.saved)

    def rekey(self, cipher: BankCipher, progress: Progress | None) -> None:
        self._lifetime.check()
        rekey_bank(self._collection, self._indexing, cipher, progress)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        self._lifetime.check()
        batch = make_batch(ops, self._indexing)
        with self._collection.writing:
            kept = self._collection.settled(lambda: self._kept(batch)) if batch.documents else {}
            fresh = [text for text in batch.documents if text not in kept]
            embedded = self._indexing.embed(fresh, batch.queries)
            vectors = Embedded({**kept, **embedded.documents}, embedded.queries)
            return self._carry_out(batch, vectors, self._indexing)

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
