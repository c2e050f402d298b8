"""Items straight from Chroma, for banks that others write to and namespaces too large for memory.

It has the three methods of a snapshot in memory. The caller has to see which items have all of the `parts`.
Chroma's index is asked for more and more rows until the caller has enough. An approximate index does not reach every
row, fewest where vectors are nearly alike or where it lost some because several processes wrote. Once it has nothing
more to give, the rows it did not return are scored one by one: slow, and complete. Up to 256 rows are all scored that
way, which is as quick as asking the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reasoningbank_langgraph.store.namespaces import Namespace
from reasoningbank_langgraph.store.row_layout import (
    ITEM,
    PLAIN,
    VECTOR,
    Entry,
    StoredRow,
    Vector,
    below,
    entry_of,
    is_first,
    item_of,
    row_id,
)
from reasoningbank_langgraph.store.rows import Rows

FIRST_COUNT, GROWTH = 64, 4
EXACT_UP_TO = 256
PAGE = 256


class IndexSearch:
    """Everything below a prefix, read from Chroma."""

    def __init__(self, rows: Rows, prefix: Namespace) -> None:
        self._rows = rows
        self._prefix = prefix

    def scored(self, query: Vector, parts: Sequence[str]) -> Iterator[tuple[float, Entry]]:
        """Yield (cosine, item) for the items with vectors, best first; an item counts with its best one."""
        seen: set[str] = set()
        for cosine, entry in self._scored_rows(query):
            if entry.id not in seen:
                seen.add(entry.id)
                yield cosine, entry

    def unscored(self, parts: Sequence[str]) -> Iterator[Entry]:
        """Yield the items without vectors, last written first."""
        return self._sorted([PLAIN], parts)

    def newest(self, parts: Sequence[str]) -> Iterator[Entry]:
        """Yield all items, last written first."""
        return self._sorted([ITEM, PLAIN], parts)

    def _where(self, kinds: list[str]) -> dict[str, Any]:
        of_kind = {"row": {"$in": kinds}}
        place = below(self._prefix)
        return {"$and": [place, of_kind]} if place else of_kind

    def _scored_rows(self, query: Vector) -> Iterator[tuple[float, Entry]]:
        where = self._where([ITEM, VECTOR])
        few = self._rows.ids(where, EXACT_UP_TO + 1)
        seen: set[str] = set()
        count = FIRST_COUNT
        while len(few) > EXACT_UP_TO:
            near = self._rows.nearest(query, count, where)
            fresh = [one for one in near if one.row.id not in seen]
            seen.update(one.row.id for one in fresh)
            yield from self._entries_of([(one.cosine, one.row) for one in fresh])
            if len(near) < count:
                break
            count *= GROWTH
        unseen = [row for row in self._rows.ids(where) if row not in seen]
        scored = [(_cosine(row, query), row) for row in self._rows.get(unseen, vectors=True)]
        yield from self._entries_of(sorted(scored, key=lambda pair: -pair[0]))

    def _entries_of(self, scored: list[tuple[float, StoredRow]]) -> Iterator[tuple[float, Entry]]:
        """Yield the items of the rows; a further vector counts only with the token of its item."""
        firsts = {item_of(row.id): row for _, row in scored if is_first(row)}
        missing = {item_of(row.id) for _, row in scored} - firsts.keys()
        firsts |= {item_of(row.id): row for row in self._rows.get([row_id(item, 0) for item in missing])}
        for cosine, row in scored:
            first = firsts.get(item_of(row.id))
            if first and is_first(first) and first.metadata["token"] == row.metadata["token"]:
                yield cosine, entry_of(first)

    def _sorted(self, kinds: list[str], parts: Sequence[str]) -> Iterator[Entry]:
        """Yield items in order; Chroma leaves out those without the first of the parts, which is the rarest."""
        entries = self._entries(self._rows.scan(self._where(kinds), part=next(iter(parts), None), documents=False))
        order = [entry.id for entry in sorted(entries, key=lambda entry: (*entry.newest_first, entry.id))]
        for start in range(0, len(order), PAGE):
            page = order[start : start + PAGE]
            found = {entry.id: entry for entry in self._entries(self._rows.get([row_id(item, 0) for item in page]))}
            yield from (found[item] for item in page if item in found)

    def _entries(self, rows: Iterable[StoredRow]) -> Iterator[Entry]:
        return (entry_of(row) for row in rows if is_first(row))


def _cosine(row: StoredRow, query: Vector) -> float:
    return 0.0 if row.vector is None else float(row.vector @ query)
