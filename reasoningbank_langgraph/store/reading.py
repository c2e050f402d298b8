"""The reading operations, answered from memory or from Chroma."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from langgraph.store.base import GetOp, Item, ListNamespacesOp, Result, SearchItem, SearchOp, TTLConfig

from reasoningbank_langgraph.errors import OperationTypeError, StoreCorruptedError, StoreError
from reasoningbank_langgraph.store.batch import Batch
from reasoningbank_langgraph.store.cache.collection import CachedCollection, now_us
from reasoningbank_langgraph.store.filters import matches, needed_parts, sure_opening
from reasoningbank_langgraph.store.index_search import IndexSearch
from reasoningbank_langgraph.store.namespaces import Namespace, as_namespace, listed
from reasoningbank_langgraph.store.row_layout import Entry, Vector, item_id, row_id
from reasoningbank_langgraph.store.rows import Rows
from reasoningbank_langgraph.store.stored_item import StoredItem, fields_of, time_of, value_of

Scored = tuple[float | None, Entry]


class ReadResults(NamedTuple):
    """What the reading ops of a batch found, by their places in it."""

    items: dict[int, Entry | None]
    hits: dict[int, list[StoredItem]]
    namespaces: dict[int, list[Namespace]]

    def results(self, size: int) -> list[Result]:
        """Return the results of the whole batch; writes answer None. Values are fresh copies."""
        results: list[Result] = [None] * size
        for place, entry in self.items.items():
            results[place] = _item(entry) if entry else None
        for place, some in self.hits.items():
            results[place] = list[SearchItem](some)
        for place, namespaces in self.namespaces.items():
            results[place] = namespaces
        return results

    def to_refresh(self, batch: Batch) -> list[Entry]:
        """Return the items read by ops that ask for a refresh, except those the same batch writes anyway."""
        read = [entry for place, entry in self.items.items() if entry and batch.gets[place].refresh_ttl]
        read += [hit.entry for place, some in self.hits.items() if batch.searches[place].refresh_ttl for hit in some]
        return [entry for entry in read if entry.id not in batch.changes]


class Reader:
    """Answers the reads on a collection.

    Args:
        collection: the collection.
        ttl: with `omit_expired`, expired items are not there, even before they are swept.
    """

    def __init__(self, collection: CachedCollection, ttl: TTLConfig | None) -> None:
        self._collection = collection
        self._ttl = ttl

    @property
    def _omit_expired(self) -> bool:
        return bool(self._ttl and self._ttl.get("omit_expired"))

    def read(self, batch: Batch, queries: Mapping[str, Vector]) -> ReadResults:
        """Carry out the reading ops of a batch; `queries` holds the vector of every query."""
        while True:
            rows = self._collection.rows
            try:
                return self._collection.settled(lambda: self._read(batch, queries))
            except StoreError:
                with self._collection.writing:  # a replacement of Chroma's collection holds this lock
                    if self._collection.rows is rows:
                        raise

    def _read(self, batch: Batch, queries: Mapping[str, Vector]) -> ReadResults:
        return ReadResults(
            self.get(batch.gets),
            {place: self.search(op, queries.get(op.query or "")) for place, op in batch.searches.items()},
            {place: self.namespaces(op) for place, op in batch.listings.items()},
        )

    def get(self, ops: Mapping[int, GetOp]) -> dict[int, Entry | None]:
        """Return the item each op asks for, None where there is none."""
        wanted = {place: (item_id(op.namespace, op.key), (op.namespace, op.key)) for place, op in ops.items()}
        found = self._collection.find(dict(wanted.values()))
        now = now_us()
        entries = {place: found.get(item) for place, (item, _) in wanted.items()}
        return {place: entry if entry and self.alive(entry, now) else None for place, entry in entries.items()}

    def search(self, op: SearchOp, query: Vector | None) -> list[StoredItem]:
        """Return the page an op asks for: with a query by similarity, then what has no vector; else newest first."""
        return list(islice(self._matching(op, query), op.offset, op.offset + op.limit))

    def _matching(self, op: SearchOp, query: Vector | None) -> Iterator[StoredItem]:
        now, parts, fields = now_us(), needed_parts(op.filter), tuple(op.filter or ())
        opening = sure_opening(op.filter)
        for score, entry in self._candidates(op.namespace_prefix, query, parts):
            is_sure = opening is not None and entry.document.startswith(opening)
            if self.alive(entry, now) and (is_sure or matches(fields_of(entry, fields), op.filter)):
                yield StoredItem(entry, score)

    def vectors(self, namespace: Namespace, keys: Iterable[str]) -> dict[str, list[Vector]]:
        """Return the stored vectors of the items of a namespace that have some, by key."""
        if isinstance(keys, str) or not isinstance(keys, Iterable):
            raise OperationTypeError("keys", "a list of keys", keys)
        labels = as_namespace(namespace)
        wanted = {item_id(labels, key): (labels, key) for key in map(str, keys)}

        def found() -> dict[str, list[Vector]]:
            moment, items = now_us(), self._collection.find(wanted).values()
            entries = [entry for entry in items if entry.vectors and self.alive(entry, moment)]
            vectors = stored_vectors(entries, self._collection.rows)
            return {entry.key: vectors[entry.id] for entry in entries}

        with self._collection.writing:
            return self._collection.settled(found)

    def namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """Return the namespaces an op asks for."""
        return listed(self._collection.namespaces(now_us() if self._omit_expired else None), op)

    def alive(self, entry: Entry, moment: int) -> bool:
        """Say whether an item is there for readers at a moment."""
        return not (self._omit_expired and entry.expired(moment))

    def _candidates(self, prefix: Namespace, query: Vector | None, parts: Sequence[str]) -> Iterator[Scored]:
        source = self._collection.snapshot(prefix, everything=query is None) or IndexSearch(
            self._collection.rows, prefix
        )
        if query is None:
            return _scoreless(source.newest(parts))
        scored = ((min(1.0, max(0.0, cosine)), entry) for cosine, entry in source.scored(query, parts))
        return chain(scored, _scoreless(source.unscored(parts)))


def stored_vectors(entries: Collection[Entry], rows: Rows) -> dict[str, list[Vector]]:
    """Return the vectors of items by the items' ids.

    Raises:
        StoreCorruptedError: an item lacks a vector.
    """
    ids = [row_id(entry.id, ordinal) for entry in entries for ordinal in range(entry.vectors)]
    found = {row.id: row for row in rows.get(ids, documents=False, vectors=True)}
    vectors: dict[str, list[Vector]] = {}
    for entry in entries:
        own = [found.get(row_id(entry.id, ordinal)) for ordinal in range(entry.vectors)]
        vectors[entry.id] = [
            row.vector for row in own if row and row.vector is not None and row.metadata["token"] == entry.token
        ]
        if len(vectors[entry.id]) != entry.vectors:
            raise StoreCorruptedError(f"item {entry.key!r} lacks vectors: rebuild_index() makes them anew")
    return vectors


def _item(entry: Entry) -> Item:
    return Item(
        value=value_of(entry),
        key=entry.key,
        namespace=entry.namespace,
        created_at=time_of(entry.created),
        updated_at=time_of(entry.updated),
    )


def _scoreless(entries: Iterable[Entry]) -> Iterator[Scored]:
    return ((None, entry) for entry in entries)
