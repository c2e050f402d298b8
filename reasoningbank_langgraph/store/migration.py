"""A bank made anew in a second collection, which then takes the place of the first.

The first stays as it is until the second is complete, so a crash at any point leaves a whole bank: the old one, or
the new one, which is given its name when the bank is next opened. No other process may write meanwhile. Rows that are
no items any more are not taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from reasoningbank_langgraph.errors import EmbeddingMismatchError, NotOnServerError, StoreCorruptedError
from reasoningbank_langgraph.store.cache.collection import FIRST_ROWS, Shelf
from reasoningbank_langgraph.store.collection import (
    REBUILD,
    REINDEX,
    VACUUM,
    begin,
    check_embedder,
    drop,
    resume,
    successor,
    take_place,
)
from reasoningbank_langgraph.store.connect import folder_of
from reasoningbank_langgraph.store.folder import purge
from reasoningbank_langgraph.store.indexing import Indexing
from reasoningbank_langgraph.store.leftovers import remove_old_index
from reasoningbank_langgraph.store.row_layout import Entry, Row, entry_of, row_id, rows_of
from reasoningbank_langgraph.store.rows import Rows
from reasoningbank_langgraph.store.settings import Progress
from reasoningbank_langgraph.store.values import decode_value

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

AT_ONCE = 256
"""Items embedded and written in one go."""


def fit_bank(client: ClientAPI, shelf: Shelf, name: str, indexing: Indexing, reindex: bool | Progress) -> None:
    """Move a bank that was made with another embedder to this one, if that is wished.

    Args:
        client: the client that owns the collection.
        shelf: the bank.
        name: its collection's name.
        indexing: the embedder the bank has to fit.
        reindex: whether to move it, or the function to tell how far that is.

    Raises:
        EmbeddingMismatchError: it is not wished.
    """
    try:
        check_embedder(shelf.rows.collection, indexing)
    except EmbeddingMismatchError:
        if not reindex:
            raise
        reindex_bank(client, shelf, name, indexing, None if reindex is True else reindex)


def rebuild_bank(client: ClientAPI, shelf: Shelf, name: str, indexing: Indexing) -> None:
    """Embed every document again.

    Raises:
        StoreCorruptedError: a document cannot be read, or the new collection is not whole. The old one is in use.
    """
    _make_anew(client, shelf, name, REBUILD, indexing, lambda entries: _embedded(entries, indexing))
    remove_old_index(client)


def vacuum_bank(client: ClientAPI, shelf: Shelf, name: str, indexing: Indexing) -> None:
    """Take over documents and vectors as they are, then clean the files of what is left of the old collection.

    Raises:
        NotOnServerError: the files belong to a server.
        StoreCorruptedError: an item cannot be read or lacks a vector. The old collection is in use.
        StoreError: the database could not be cleaned. The new collection is in use.
    """
    if shelf.shared:
        raise NotOnServerError
    with shelf.writing:
        _make_anew(client, shelf, name, VACUUM, indexing, lambda entries: _copied(entries, shelf))
        folder = folder_of(client)
        if folder is not None:
            purge(folder)


def reindex_bank(client: ClientAPI, shelf: Shelf, name: str, indexing: Indexing, progress: Progress | None) -> None:
    """Embed every document with another embedder; what an earlier, stopped call embedded is taken over.

    Raises:
        StoreCorruptedError: a document cannot be read, or the new collection is not whole. The old one is in use.
    """
    progress = progress or _unseen
    with shelf.writing:
        collection = resume(client, name, REINDEX, indexing) or begin(client, name, REINDEX, indexing)
        rows = Rows(client, collection)
        items = shelf.rows.ids(FIRST_ROWS)
        wanted: set[str] = set()
        done = 0
        progress(done, len(items))
        for entries in _batches(shelf.entries(shelf.rows.get(items))):
            wanted.update(_brought(rows, entries, indexing))
            done += len(entries)
            progress(done, len(items))
        rows.delete([row for row in rows.ids(None) if row not in wanted])
        _check_whole(rows, len(wanted))
        _move(client, shelf, rows, name, indexing.dims)
    remove_old_index(client)


def _unseen(done: int, total: int) -> None:
    pass


def _make_anew(
    client: ClientAPI,
    shelf: Shelf,
    name: str,
    job: str,
    indexing: Indexing,
    made: Callable[[list[Entry]], list[Row]],
) -> None:
    with shelf.writing:
        collection = begin(client, name, job, indexing)
        try:
            rows = Rows(client, collection)
            _fill(rows, shelf, made)
        except BaseException:
            with suppress(Exception):
                drop(client, successor(name))
            raise
        _move(client, shelf, rows, name, indexing.dims)


def _move(client: ClientAPI, shelf: Shelf, rows: Rows, name: str, dims: int) -> None:
    take_place(client, rows.collection, name)
    shelf.move(rows, dims)


def _fill(rows: Rows, shelf: Shelf, made: Callable[[list[Entry]], list[Row]]) -> None:
    written = 0
    for entries in _batches(shelf.entries(shelf.rows.scan(FIRST_ROWS))):
        batch = made(entries)
        rows.upsert(batch)
        written += len(batch)
    _check_whole(rows, written)


def _check_whole(rows: Rows, expected: int) -> None:
    count = rows.count()
    if count != expected:
        raise StoreCorruptedError(f"the new collection has {count} rows, expected {expected}: the old one stays in use")


def _brought(rows: Rows, entries: list[Entry], indexing: Indexing) -> Iterator[str]:
    """Write what is missing or older than these items; yield the ids of all their rows.

    A row that is there counts only with the token of the item: what was written since then is embedded again. The
    time to live is the one thing that changes without a new token.
    """
    found = map(entry_of, rows.get([row_id(entry.id, 0) for entry in entries], documents=False))
    there = {(entry.id, entry.token): entry for entry in found}
    kept = [(entry, there[entry.id, entry.token]) for entry in entries if (entry.id, entry.token) in there]
    rows.set_expiry({row_id(now.id, 0): now.expires for now, then in kept if now.expires != then.expires})
    fresh = _embedded([entry for entry in entries if (entry.id, entry.token) not in there], indexing)
    rows.upsert(fresh)
    yield from (row.id for row in fresh)
    yield from (row_id(then.id, ordinal) for _, then in kept for ordinal in range(max(1, then.vectors)))


def _embedded(entries: list[Entry], indexing: Indexing) -> list[Row]:
    texts = [indexing.texts(decode_value(row_id(entry.id, 0), entry.document), entry.paths) for entry in entries]
    vectors = indexing.embed(list(dict.fromkeys(chain.from_iterable(texts))), []).documents
    batch: list[Row] = []
    for entry, some in zip(entries, texts, strict=True):
        batch += rows_of(replace(entry, vectors=len(some)), [vectors[text] for text in some], indexing.dims)
    return batch


def _copied(entries: list[Entry], shelf: Shelf) -> list[Row]:
    ids = [row_id(entry.id, ordinal) for entry in entries for ordinal in range(entry.vectors)]
    found = {row.id: row for row in shelf.rows.get(ids, documents=False, vectors=True)}
    batch: list[Row] = []
    for entry in entries:
        own = [found.get(row_id(entry.id, ordinal)) for ordinal in range(entry.vectors)]
        vectors = [row.vector for row in own if row and row.vector is not None and row.metadata["token"] == entry.token]
        if len(vectors) != entry.vectors:
            raise StoreCorruptedError(f"item {entry.key!r} lacks vectors: rebuild_index() makes them anew")
        batch += rows_of(entry, vectors, shelf.dims)
    return batch


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    while batch := list(islice(entries, AT_ONCE)):
        yield batch
