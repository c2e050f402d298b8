"""Checking a bank against itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from reasoningbank_langgraph.errors import StoreCorruptedError
from reasoningbank_langgraph.records import Record
from reasoningbank_langgraph.store.layout import DELETED, VECTOR, Entry, entry_of, filler, is_first, item_of
from reasoningbank_langgraph.store.shelf import Shelf
from reasoningbank_langgraph.store.values import decode_value

AT_ONCE = 256
"""Rows whose vectors are asked for in one call."""


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
    ok: bool
    """Nothing missing, unreadable or orphaned, and every row indexed. If not, `rebuild_index()` helps."""


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
    indexed = sum(_indexed(shelf, part) for part in _parts(shelf.rows.ids(None)))
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
        ok=not (missing or orphans or unreadable) and indexed == rows,
    )


def _reachable(shelf: Shelf, rows: int) -> int:
    if not rows:
        return 0
    try:
        return len(shelf.rows.nearest(filler("verify", shelf.dims), rows, None))
    except StoreCorruptedError:
        return 0


def _indexed(shelf: Shelf, ids: list[str]) -> int:
    """Count the rows that have a vector; Chroma refuses a whole call for one that has none, so halve until found."""
    try:
        return sum(row.vector is not None for row in shelf.rows.get(ids, documents=False, vectors=True))
    except StoreCorruptedError:
        middle = len(ids) // 2
        return 0 if middle == 0 else _indexed(shelf, ids[:middle]) + _indexed(shelf, ids[middle:])


def _parts(ids: list[str]) -> Iterator[list[str]]:
    return (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
