"""Checking a bank against itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.records import Record
from reasoningbank_langgraph.store.cache.collection import Shelf
from reasoningbank_langgraph.store.cache.namespace import FOREVER
from reasoningbank_langgraph.store.row_layout import (
    DELETED,
    VECTOR,
    Entry,
    Stored,
    Vector,
    entry_of,
    filler,
    is_first,
    item_of,
)
from reasoningbank_langgraph.store.values import decode_value

AT_ONCE = 256
"""Rows whose vectors are asked for in one call."""
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
    """Rows a crash left behind; invisible, removed when the bank is opened."""
    unreadable: int
    """Rows that do not have the shape that was written."""
    differing: int = 0
    """Items of which memory, or what is kept beside Chroma to fill it quickly, says something else than Chroma."""
    ok: bool
    """Nothing missing, unreadable, orphaned or differing, every row indexed. If not, `rebuild_index()` helps."""


def inspect(shelf: Shelf) -> StoreReport:
    """Compare all rows of a collection with each other and with its index."""
    items: dict[str, Entry] = {}
    further: defaultdict[tuple[str, str], int] = defaultdict(int)
    tombstones = unreadable = 0
    for row in shelf.rows.scan(None):
        kind = row.metadata.get("row")
        try:
            if is_first(row):
                items[item_of(row.id)] = entry_of(row)
                decode_value(row.id, row.document or "")
            elif kind == VECTOR:
                further[item_of(row.id), str(row.metadata["token"])] += 1
            else:
                tombstones += kind == DELETED
                unreadable += kind != DELETED
        except (StoreCorruptedError, KeyError):
            unreadable += 1
    wanted = {(entry.id, entry.token): entry.vectors - 1 for entry in items.values() if entry.vectors}
    missing = sum(max(0, count - further.get(key, 0)) for key, count in wanted.items())
    orphans = sum(max(0, count - wanted.get(key, 0)) for key, count in further.items())
    rows = shelf.rows.count()
    memory = _Memory(shelf, items)
    indexed = sum(_indexed(shelf, part, memory) for part in _parts(shelf.rows.ids(None)))
    return StoreReport(
        rows=rows,
        indexed=indexed,
        reachable=_reachable(shelf, rows),
        items=len(items),
        vectors=sum(entry.vectors for entry in items.values()) - missing,
        missing_vectors=missing,
        orphans=orphans,
        tombstones=tombstones,
        unreadable=unreadable,
        differing=len(memory.differing),
        ok=not (missing or orphans or unreadable or memory.differing) and indexed == rows,
    )


def _reachable(shelf: Shelf, rows: int) -> int:
    if not rows:
        return 0
    try:
        return len(shelf.rows.nearest(filler("verify", shelf.dims), rows, None))
    except StoreCorruptedError:
        return 0


class _Memory:
    """What is in memory, or kept to be, compared with the items and vectors that Chroma has."""

    def __init__(self, shelf: Shelf, items: dict[str, Entry]) -> None:
        self._vectors: defaultdict[str, list[Vector]] = defaultdict(list)
        self.differing: set[str] = set()
        for prefix, region in shelf.regions():
            there = {held.entry.id: held.entry for _, space in region.spaces() for held in space.items.values()}
            wanted = {item: entry for item, entry in items.items() if entry.namespace[: len(prefix)] == prefix}
            self.differing |= {item for item in there.keys() | wanted.keys() if there.get(item) != wanted.get(item)}
            for _, space in region.spaces():
                for held, vector in zip(space.owners, space.matrix.slice().rows, strict=True):
                    if held.gone == FOREVER:
                        self._vectors[held.entry.id].append(vector)

    def compare(self, row: Stored) -> None:
        """Note an item that has no vector like this one, which is its own in Chroma; removed rows are not."""
        item = item_of(row.id)
        own = self._vectors.get(item) if row.metadata.get("row") != DELETED else None
        if own and row.vector is not None and not any(np.allclose(row.vector, one, atol=ALIKE) for one in own):
            self.differing.add(item)


def _indexed(shelf: Shelf, ids: list[str], memory: _Memory) -> int:
    """Count the rows that have a vector; Chroma refuses a whole call for one that has none, so halve until found."""
    try:
        rows = list(shelf.rows.get(ids, documents=False, vectors=True))
    except StoreCorruptedError:
        middle = len(ids) // 2
        return 0 if middle == 0 else _indexed(shelf, ids[:middle], memory) + _indexed(shelf, ids[middle:], memory)
    for row in rows:
        memory.compare(row)
    return sum(row.vector is not None for row in rows)


def _parts(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
