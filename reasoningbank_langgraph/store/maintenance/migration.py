"""A bank written anew into a second collection, which then replaces the first.

The first stays as it is until the second is complete, so a crash at any point leaves a whole bank: the old one, or the
new one, which gets its name when the bank is next opened. No other process may write meanwhile. Only rows that belong
to an item are copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice

from reasoningbank_langgraph.errors import EmbeddingMismatchError, NotOnServerError, StoreCorruptedError
from reasoningbank_langgraph.store.cache.collection import FIRST_ROWS, CachedCollection
from reasoningbank_langgraph.store.cipher import BankCipher, fits
from reasoningbank_langgraph.store.collection import (
    REBUILD,
    REINDEX,
    REKEY,
    VACUUM,
    begin_collection,
    check_embedder,
    drop,
    resume_collection,
    successor,
    take_place,
)
from reasoningbank_langgraph.store.connect import folder_of
from reasoningbank_langgraph.store.folder.cleaning import clear_leftovers, finish_removals, purge, remove_old_index
from reasoningbank_langgraph.store.indexing import Indexing
from reasoningbank_langgraph.store.reading import stored_vectors
from reasoningbank_langgraph.store.row_layout import ChromaRow, Entry, entry_of, row_id, rows_of
from reasoningbank_langgraph.store.rows import Rows
from reasoningbank_langgraph.store.settings import Progress
from reasoningbank_langgraph.store.values import decode_value

RowsOfItems = Callable[[list[Entry]], list[ChromaRow]]

AT_ONCE = 256
"""Items embedded and written at once."""


def fit_bank(collection: CachedCollection, indexing: Indexing, reindex: bool | Progress) -> None:
    """End what a crash cut off, then move a bank of another embedder to this one, if the caller allows it.

    Args:
        collection: the bank.
        indexing: the embedder the bank has to fit.
        reindex: whether to move it, or the function that is called with the progress.

    Raises:
        EmbeddingMismatchError: the embedders differ and `reindex` is False.
    """
    finish_removals(collection.rows)
    try:
        check_embedder(collection.rows.collection, indexing)
    except EmbeddingMismatchError:
        if not reindex:
            raise
        reindex_bank(collection, indexing, None if reindex is True else reindex)
    if not collection.shared:
        clear_leftovers(collection.rows)


def rebuild_bank(collection: CachedCollection, indexing: Indexing) -> None:
    """Embed every document again.

    Raises:
        StoreCorruptedError: a document cannot be read, or the new collection is not whole. The old one is in use.
    """
    _write_anew(collection, REBUILD, indexing, lambda entries: _embed(entries, indexing))
    remove_old_index(collection.rows.client)


def vacuum_bank(collection: CachedCollection, indexing: Indexing) -> None:
    """Copy documents and vectors as they are, then clean the files of what is left of the old collection.

    Raises:
        NotOnServerError: the files belong to a server.
        StoreCorruptedError: an item cannot be read or lacks a vector. The old collection is in use.
        StoreError: the database could not be cleaned. The new collection is in use.
    """
    if collection.shared:
        raise NotOnServerError
    with collection.writing:
        _write_anew(collection, VACUUM, indexing, lambda entries: _copy(entries, collection))
        _purge(collection)


def rekey_bank(collection: CachedCollection, indexing: Indexing, cipher: BankCipher, progress: Progress | None) -> None:
    """Encrypt every document with another key, except those that an earlier, stopped call encrypted; clean the files.

    Raises:
        StoreCorruptedError: an item cannot be read or lacks a vector. The old collection is in use.
        StoreError: the database could not be cleaned. The new collection is in use.
    """
    with collection.writing:
        if not fits(collection.rows.collection.metadata, cipher):
            _move(collection, REKEY, indexing, cipher, lambda entries: _copy(entries, collection), progress)
        _purge(collection)


def _purge(collection: CachedCollection) -> None:
    folder = folder_of(collection.rows.client)
    if folder is not None:
        purge(folder)


def reindex_bank(collection: CachedCollection, indexing: Indexing, progress: Progress | None) -> None:
    """Embed every document with another embedder, except those that an earlier, stopped call embedded.

    Raises:
        StoreCorruptedError: a document cannot be read, or the new collection is not whole. The old one is in use.
    """
    cipher = collection.rows.cipher
    _move(collection, REINDEX, indexing, cipher, lambda entries: _embed(entries, indexing), progress)
    remove_old_index(collection.rows.client)


def _move(
    collection: CachedCollection,
    job: str,
    indexing: Indexing,
    cipher: BankCipher | None,
    rows_of_items: RowsOfItems,
    progress: Progress | None,
) -> None:
    progress = progress or _ignore
    with collection.writing:
        old = collection.rows
        target = resume_collection(old.client, old.name, job, indexing, cipher)
        rows = Rows(old.client, target or begin_collection(old.client, old.name, job, indexing, cipher), cipher)
        items = old.ids(FIRST_ROWS)
        wanted: set[str] = set()
        done = 0
        progress(done, len(items))
        for entries in _batches(collection.entries(old.get(items))):
            wanted.update(_bring_up_to_date(rows, entries, rows_of_items))
            done += len(entries)
            progress(done, len(items))
        rows.delete([row for row in rows.ids(None) if row not in wanted])
        _check_whole(rows, len(wanted))
        _replace(collection, rows, indexing.dims)


def _ignore(done: int, total: int) -> None:
    pass


def _write_anew(collection: CachedCollection, job: str, indexing: Indexing, rows_of_items: RowsOfItems) -> None:
    with collection.writing:
        old = collection.rows
        target = begin_collection(old.client, old.name, job, indexing, old.cipher)
        try:
            rows = Rows(old.client, target, old.cipher)
            _fill(rows, collection, rows_of_items)
        except BaseException:
            with suppress(Exception):
                drop(old.client, successor(old.name))
            raise
        _replace(collection, rows, indexing.dims)


def _replace(collection: CachedCollection, rows: Rows, dims: int) -> None:
    take_place(rows.client, rows.collection, collection.rows.name)
    collection.switch_to(rows, dims)


def _fill(rows: Rows, collection: CachedCollection, rows_of_items: RowsOfItems) -> None:
    count = 0
    for entries in _batches(collection.entries(collection.rows.scan(FIRST_ROWS))):
        batch = rows_of_items(entries)
        rows.upsert(batch)
        count += len(batch)
    _check_whole(rows, count)


def _check_whole(rows: Rows, expected: int) -> None:
    count = rows.count()
    if count != expected:
        raise StoreCorruptedError(f"the new collection has {count} rows, expected {expected}: the old one stays in use")


def _bring_up_to_date(rows: Rows, entries: list[Entry], rows_of_items: RowsOfItems) -> Iterator[str]:
    """Write the rows of these items that are missing or outdated; yield the ids of all their rows.

    A copy counts only with the token of its item: an item that was written since is written again. Its time to live
    is the one thing that changes without a new token.
    """
    found = map(entry_of, rows.get([row_id(entry.id, 0) for entry in entries], documents=False))
    copies = {(entry.id, entry.token): entry for entry in found}
    pairs = [(entry, copies[entry.id, entry.token]) for entry in entries if (entry.id, entry.token) in copies]
    rows.set_expiry({row_id(entry.id, 0): entry.expires for entry, copy in pairs if entry.expires != copy.expires})
    fresh = rows_of_items([entry for entry in entries if (entry.id, entry.token) not in copies])
    rows.upsert(fresh)
    yield from (row.id for row in fresh)
    yield from (row_id(copy.id, ordinal) for _, copy in pairs for ordinal in range(max(1, copy.vectors)))


def _embed(entries: list[Entry], indexing: Indexing) -> list[ChromaRow]:
    texts = [indexing.texts(decode_value(row_id(entry.id, 0), entry.document), entry.paths) for entry in entries]
    vectors = indexing.embed(list(dict.fromkeys(chain.from_iterable(texts))), []).documents
    batch: list[ChromaRow] = []
    for entry, some in zip(entries, texts, strict=True):
        batch += rows_of(replace(entry, vectors=len(some)), [vectors[text] for text in some], indexing.dims)
    return batch


def _copy(entries: list[Entry], collection: CachedCollection) -> list[ChromaRow]:
    vectors = stored_vectors(entries, collection.rows)
    return [row for entry in entries for row in rows_of(entry, vectors[entry.id], collection.dims)]


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while batch := list(islice(entries, AT_ONCE)):
        yield batch
