"""The writing ops. A batch reaches Chroma in one upsert, so after a crash it is there whole or not at all.

Deletions of a mixed batch travel in that upsert as rows marked "deleted", as do vectors an item no longer has;
afterwards such rows are removed. What a crash leaves of them is invisible and goes the next time the bank is opened.
Above 5000 rows a batch takes several upserts, further vectors first, items last: a crash between two of these leaves
a part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import uuid4

from reasoningbank_langgraph.store.batch import Change
from reasoningbank_langgraph.store.cache.collection import Shelf, now
from reasoningbank_langgraph.store.reading import Reader
from reasoningbank_langgraph.store.row_layout import DELETED, Entry, Row, Vector, row_id, rows_of, tombstone

MICROSECONDS_PER_MINUTE = 60_000_000
Written = tuple[Entry, list[Vector]]


class Writer:
    """Carries out writes on a shelf, one batch at a time.

    Args:
        shelf: the collection.
        reader: says which items are there.
    """

    def __init__(self, shelf: Shelf, reader: Reader) -> None:
        self._shelf = shelf
        self._reader = reader

    def commit(self, changes: Sequence[Change], vectors: Mapping[str, Vector]) -> None:
        """Write and delete the items of one batch; `vectors` holds the vector of every text."""
        if not changes:
            return
        with self._shelf.writing:
            before = self._shelf.find({change.id: (change.namespace, change.key) for change in changes})
            token = uuid4().hex
            moment = self._shelf.tick(after=max((entry.updated for entry in before.values()), default=0))
            written = [
                self._written(change, order, before.get(change.id), token, moment, vectors)
                for order, change in enumerate(changes)
                if change.document is not None
            ]
            gone = [before[change.id] for change in changes if change.document is None and change.id in before]
            replaced = [before[entry.id] for entry, _ in written if entry.id in before]
            self._send(written, replaced, gone, token)

    def remove(self, entries: Sequence[Entry]) -> None:
        """Delete items."""
        with self._shelf.writing:
            self._send([], [], entries, "")

    def refresh(self, entries: Sequence[Entry]) -> None:
        """Start the time to live of items anew, those that have one and were not changed since they were read."""
        mortal = {entry.id: entry for entry in entries if entry.ttl}
        if not mortal:
            return
        with self._shelf.writing:
            current = self._shelf.find({entry.id: (entry.namespace, entry.key) for entry in mortal.values()})
            kept = [entry for entry in current.values() if entry.token == mortal[entry.id].token]
            later = [replace(entry, expires=now() + round(entry.ttl * MICROSECONDS_PER_MINUTE)) for entry in kept]
            self._shelf.rows.set_expiry({row_id(entry.id, 0): entry.expires for entry in later})
            for old, new in zip(kept, later, strict=True):
                self._shelf.touch(old, new)

    def _written(
        self,
        change: Change,
        order: int,
        before: Entry | None,
        token: str,
        moment: int,
        vectors: Mapping[str, Vector],
    ) -> Written:
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
        return entry, [vectors[text] for text in change.texts]

    def _send(self, written: list[Written], replaced: Sequence[Entry], gone: Sequence[Entry], token: str) -> None:
        surplus = [*_surplus(written, replaced), *(pair for entry in gone for pair in _all_rows(entry))]
        try:
            if written:
                self._shelf.rows.upsert(_in_order(written, surplus, token, self._shelf.dims))
                self._shelf.show(written, replaced, gone)
                self._shelf.rows.delete([row for row, _ in surplus], {"row": DELETED})
            elif surplus:
                self._shelf.rows.delete([row for row, _ in surplus])
                self._shelf.show([], [], gone)
        except BaseException:
            self._shelf.forget()
            raise


def _in_order(written: list[Written], surplus: list[tuple[str, Entry]], token: str, dims: int) -> list[Row]:
    rows = [rows_of(entry, vectors, dims) for entry, vectors in written]
    extra = [row for some in rows for row in some[:-1]]
    firsts = [some[-1] for some in rows]
    return [*extra, *firsts, *(tombstone(row, entry.namespace, token, dims) for row, entry in surplus)]


def _surplus(written: list[Written], replaced: Sequence[Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield the rows of vectors that items had and no longer have."""
    old = {entry.id: entry for entry in replaced}
    for entry, vectors in written:
        before = old.get(entry.id)
        if before:
            yield from ((row_id(entry.id, ordinal), before) for ordinal in range(max(1, len(vectors)), before.vectors))


def _all_rows(entry: Entry) -> Iterator[tuple[str, Entry]]:
    return ((row_id(entry.id, ordinal), entry) for ordinal in range(max(1, entry.vectors)))
