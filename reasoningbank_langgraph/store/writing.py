"""The writing operations. A batch reaches Chroma in one upsert, so after a crash it is there whole or not at all.

Deletions of a mixed batch travel in that upsert too, as do vectors an item no longer has. Where other processes read,
each such row is written over by one marked "deleted". Elsewhere one row marked so says which they are, and this process
shows them to no reader. Afterwards all these rows are removed, those that a crash leaves when the bank is next opened.
Above 5000 rows a batch takes several upserts, further vectors first, items last: a crash between two of these leaves
a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from reasoningbank_langgraph.store.batch import Change
from reasoningbank_langgraph.store.cache.collection import CachedCollection, now_us
from reasoningbank_langgraph.store.reading import Reader
from reasoningbank_langgraph.store.row_layout import (
    DELETED,
    ChromaRow,
    EmbeddedEntry,
    Entry,
    Vector,
    removal,
    row_id,
    rows_of,
    tombstone,
)

MICROSECONDS_PER_MINUTE = 60_000_000
_NAMED = 1_000
"""Rows that one marked "deleted" names."""


class Writer:
    """Carries out the writes on a collection, one batch at a time.

    Args:
        collection: the collection.
        reader: says which items have not expired.
    """

    def __init__(self, collection: CachedCollection, reader: Reader) -> None:
        self._collection = collection
        self._reader = reader

    def commit(self, changes: Sequence[Change], vectors: Mapping[str, Vector]) -> None:
        """Write and delete the items of one batch; `vectors` holds the vector of every text."""
        if not changes:
            return
        with self._collection.writing:
            before = self._collection.find({change.id: (change.namespace, change.key) for change in changes})
            token = uuid4().hex
            moment = self._collection.tick(after=max((entry.updated for entry in before.values()), default=0))
            written = [
                self._entry(change, order, before.get(change.id), token, moment, vectors)
                for order, change in enumerate(changes)
                if change.document is not None
            ]
            removed = [before[change.id] for change in changes if change.document is None and change.id in before]
            replaced = [before[entry.id] for entry, _ in written if entry.id in before]
            self._send(written, replaced, removed, token)

    def remove(self, entries: Sequence[Entry]) -> None:
        """Delete items."""
        with self._collection.writing:
            self._send([], [], entries, "")

    def refresh(self, entries: Sequence[Entry]) -> None:
        """Restart the time to live of the items that have one and were not changed since they were read."""
        mortal = {entry.id: entry for entry in entries if entry.ttl}
        if not mortal:
            return
        with self._collection.writing:
            current = self._collection.find({entry.id: (entry.namespace, entry.key) for entry in mortal.values()})
            unchanged = [entry for entry in current.values() if entry.token == mortal[entry.id].token]
            later = [
                replace(entry, expires=now_us() + round(entry.ttl * MICROSECONDS_PER_MINUTE)) for entry in unchanged
            ]
            self._collection.rows.set_expiry({row_id(entry.id, 0): entry.expires for entry in later})
            for old, new in zip(unchanged, later, strict=True):
                self._collection.touch(old, new)

    def _entry(
        self, change: Change, order: int, before: Entry | None, token: str, moment: int, vectors: Mapping[str, Vector]
    ) -> EmbeddedEntry:
        lives_on = before is not None and self._reader.alive(before, moment)
        entry = Entry(
            id=change.id,
            namespace=change.namespace,
            key=change.key,
            document=change.document or "{}",
            created=before.created if before and lives_on else moment,
            updated=moment,
            order=order,
            expires=moment + round(change.ttl * MICROSECONDS_PER_MINUTE) if change.ttl else 0,
            ttl=change.ttl,
            vectors=len(change.texts),
            token=token,
            paths=change.paths,
        )
        return EmbeddedEntry(entry, [vectors[text] for text in change.texts])

    def _send(
        self, written: list[EmbeddedEntry], replaced: Sequence[Entry], removed: Sequence[Entry], token: str
    ) -> None:
        surplus = dict([*_surplus(written, replaced), *(pair for entry in removed for pair in _all_rows(entry))])
        rows, only_marked = self._collection.rows, {"row": DELETED} if self._collection.shared else None
        try:
            if written:
                marks = self._marks(surplus, token)
                rows.upsert([*_in_order(written, self._collection.dims), *marks])
                rows.hide(() if only_marked else surplus)
                self._collection.update(written, replaced, removed)
                rows.delete(list(dict.fromkeys([*surplus, *(mark.id for mark in marks)])), only_marked)
            elif surplus:
                rows.delete(list(surplus))
                self._collection.update([], [], removed)
        except BaseException:
            self._collection.invalidate()
            raise

    def _marks(self, surplus: Mapping[str, Entry], token: str) -> list[ChromaRow]:
        """Return the rows that say of others that they go."""
        dims = self._collection.dims
        if self._collection.shared:
            return [tombstone(row, entry.namespace, token, dims) for row, entry in surplus.items()]
        gone = [(row, entry.token) for row, entry in surplus.items()]
        parts = [dict(gone[start : start + _NAMED]) for start in range(0, len(gone), _NAMED)]
        return [removal(part, token, number, dims) for number, part in enumerate(parts)]


def _in_order(written: list[EmbeddedEntry], dims: int) -> list[ChromaRow]:
    rows = [rows_of(entry, vectors, dims) for entry, vectors in written]
    return [*(row for some in rows for row in some[:-1]), *(some[-1] for some in rows)]


def _surplus(written: list[EmbeddedEntry], replaced: Sequence[Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield the rows of vectors that items had and no longer have."""
    old = {entry.id: entry for entry in replaced}
    for entry, vectors in written:
        before = old.get(entry.id)
        if before:
            yield from ((row_id(entry.id, ordinal), before) for ordinal in range(max(1, len(vectors)), before.vectors))


def _all_rows(entry: Entry) -> Iterator[tuple[str, Entry]]:
    return ((row_id(entry.id, ordinal), entry) for ordinal in range(max(1, entry.vectors)))
