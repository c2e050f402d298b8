"""A bank checked against itself and against Chroma's index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.records import Record
from reasoningbank_langgraph.store.cache.collection import CachedCollection
from reasoningbank_langgraph.store.cache.namespace import FOREVER
from reasoningbank_langgraph.store.row_layout import (
    DELETED,
    VECTOR,
    Entry,
    StoredRow,
    Vector,
    entry_of,
    filler,
    is_first,
    item_of,
)
from reasoningbank_langgraph.store.values import decode_value

AT_ONCE = 256
"""Rows whose vectors are read in one call."""
ALIKE = 1e-4
"""Largest difference of a number in two copies of one vector: Chroma makes them of length one again."""


class StoreReport(Record):
    """What `verify()` found."""

    rows: int
    """Rows Chroma counts."""
    indexed: int
    """Rows whose vector the index has; fewer means that it was damaged."""
    reachable: int
    """Rows a search of the index for everything returns. An approximate index reaches fewer than it has where many
    vectors are nearly alike; searches in memory do not use it, and others then score the rest one by one."""
    items: int
    vectors: int
    """Vectors of living items."""
    missing_vectors: int
    """Vectors items should have and do not."""
    orphans: int
    """Vectors of items that have changed since or are gone; invisible to searches."""
    tombstones: int
    """Rows that a crash or an error left; invisible, removed when the bank is opened."""
    unreadable: int
    """Rows that do not have the shape that was written."""
    differing: int = 0
    """Items that differ in memory, or in the files that fill it quickly, from what Chroma has."""
    ok: bool
    """Nothing missing, unreadable, orphaned or differing, every row indexed. If not, `rebuild_index()` helps."""


def inspect(collection: CachedCollection) -> StoreReport:
    """Compare all rows of a collection with each other and with its index."""
    items: dict[str, Entry] = {}
    further: defaultdict[tuple[str, str], int] = defaultdict(int)
    tombstones, unreadable = collection.rows.hidden, 0
    for row in collection.rows.scan(None):
        kind = row.metadata.get("row")
        try:
            if is_first(row):
                entry = items[item_of(row.id)] = entry_of(row)
                decode_value(row.id, entry.document)
            elif kind == VECTOR:
                further[item_of(row.id), str(row.metadata["token"])] += 1
            else:
                tombstones += kind == DELETED
                unreadable += kind != DELETED
        except (StoreCorruptedError, KeyError):
            unreadable += 1
    expected = {(entry.id, entry.token): entry.vectors - 1 for entry in items.values() if entry.vectors}
    missing = sum(max(0, count - further.get(key, 0)) for key, count in expected.items())
    orphans = sum(max(0, count - expected.get(key, 0)) for key, count in further.items())
    rows = collection.rows.count()
    memory = _Memory(collection, items)
    indexed = sum(_indexed(collection, part, memory) for part in _parts(collection.rows.ids(None)))
    return StoreReport(
        rows=rows,
        indexed=indexed,
        reachable=_reachable(collection, rows),
        items=len(items),
        vectors=sum(entry.vectors for entry in items.values()) - missing,
        missing_vectors=missing,
        orphans=orphans,
        tombstones=tombstones,
        unreadable=unreadable,
        differing=len(memory.differing),
        ok=not (missing or orphans or unreadable or memory.differing) and indexed == rows,
    )


def _reachable(collection: CachedCollection, rows: int) -> int:
    if not rows:
        return 0
    try:
        return len(collection.rows.nearest(filler("verify", collection.dims), rows, None))
    except StoreCorruptedError:
        return 0


class _Memory:
    """What is in memory or in files to fill it, compared with the items and vectors that Chroma has."""

    def __init__(self, collection: CachedCollection, items: dict[str, Entry]) -> None:
        self._vectors: defaultdict[str, list[Vector]] = defaultdict(list)
        self.differing: set[str] = set()
        for prefix, contents in collection.prefixes():
            cached_items = {
                item.entry.id: item.entry for _, cached in contents.namespaces() for item in cached.items.values()
            }
            stored_items = {item: entry for item, entry in items.items() if entry.namespace[: len(prefix)] == prefix}
            both = cached_items.keys() | stored_items.keys()
            self.differing |= {item for item in both if cached_items.get(item) != stored_items.get(item)}
            for _, cached in contents.namespaces():
                for item, vector in zip(cached.owners, cached.matrix.view().rows, strict=True):
                    if item.removed_at == FOREVER:
                        self._vectors[item.entry.id].append(vector)

    def compare(self, row: StoredRow) -> None:
        """Note an item that Chroma gives this vector and memory does not; rows marked deleted do not count."""
        item = item_of(row.id)
        own = self._vectors.get(item) if row.metadata.get("row") != DELETED else None
        if own and row.vector is not None and not any(np.allclose(row.vector, one, atol=ALIKE) for one in own):
            self.differing.add(item)


def _indexed(collection: CachedCollection, ids: list[str], memory: _Memory) -> int:
    """Count the rows with a vector. Chroma refuses a whole call for one without, so halve calls until it is found."""
    try:
        rows = list(collection.rows.get(ids, documents=False, vectors=True))
    except StoreCorruptedError:
        middle = len(ids) // 2
        return (
            0
            if middle == 0
            else _indexed(collection, ids[:middle], memory) + _indexed(collection, ids[middle:], memory)
        )
    for row in rows:
        memory.compare(row)
    return sum(row.vector is not None for row in rows)


def _parts(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
