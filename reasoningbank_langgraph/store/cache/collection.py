"""What the stores on one collection share within a process: its rows, their cache, and the lock of the one writer.

Two stores that the same process opens on the same collection get the same `CachedCollection`, so neither reads stale
vectors.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from reasoningbank_langgraph.store.cache.cache import Cache, CachedPrefix, Snapshot
from reasoningbank_langgraph.store.cache.saved_prefixes import SavedPrefixes
from reasoningbank_langgraph.store.namespaces import Namespace, Tally
from reasoningbank_langgraph.store.retry import read_beside_writers
from reasoningbank_langgraph.store.row_layout import (
    ITEM,
    PLAIN,
    VECTOR,
    EmbeddedEntry,
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

T = TypeVar("T")

FIRST_ROWS = {"row": {"$in": [ITEM, PLAIN]}}

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_collections: WeakValueDictionary[str, CachedCollection] = WeakValueDictionary()
# Reentrant, because the garbage collector may let go of a store at any moment.
_collections_lock = threading.RLock()


def _leave_to_parent() -> None:
    """Leave the collections, and a lock that a thread may hold, to the parent of this forked child."""
    global _collections_lock  # noqa: PLW0603 - a lock that another thread of the parent item is never let go here
    _collections_lock = threading.RLock()
    _collections.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


def now_us() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000


class CachedCollection:
    """One collection as this process sees it.

    Args:
        rows: access to the collection.
        dims: length of its vectors, 0 for none.
        shared: other processes may write to it, so nothing is kept in memory.
        limit: bytes the cache may take.
        saved: what earlier processes saved of the cache; only for a bank in a folder that this process alone has open.
    """

    def __init__(self, rows: Rows, *, dims: int, shared: bool, limit: int, saved: SavedPrefixes | None = None) -> None:
        self.rows = rows
        self.dims = dims
        self.shared = shared
        self.cache = Cache(dims, 0 if shared else limit)
        self.writing = threading.RLock()
        self._saved = saved
        self._tally: Tally | None = None
        self._too_large: set[Namespace] = set()
        self._last = 0
        self._stores = 0

    def join(self) -> None:
        """Count a store that uses this."""
        with _collections_lock:
            self._stores += 1

    def leave(self, release: Callable[[], None]) -> None:
        """Count a store less, then let others write: after the last one nothing stays in memory."""
        with _collections_lock:
            self._stores -= 1
            if self._stores <= 0:
                for name in [name for name, collection in _collections.items() if collection is self]:
                    del _collections[name]
                if self._saved is not None:
                    self._saved.save(str(self.rows.collection.id), self.cache.prefixes(), self.rows.cipher)
                self._clear()
        release()

    def tick(self, after: int) -> int:
        """Return a time for the next write, later than `after` and the write before, even if the clock went back."""
        self._last = max(self._last + 1, after + 1, now_us())
        return self._last

    def snapshot(self, prefix: Namespace, *, everything: bool = False) -> Snapshot | None:
        """Return what is below a prefix, read from Chroma the first time; None if it may not or cannot be in memory."""
        if self.shared:
            return None
        found = self.cache.snapshot(prefix, everything=everything)
        if found is None and prefix not in self._too_large:
            with self.writing:
                self._load(prefix)
                found = self.cache.snapshot(prefix, everything=everything)
        return found

    def find(self, wanted: Mapping[str, tuple[Namespace, str]]) -> dict[str, Entry]:
        """Return the items with these ids (id to namespace and key) as far as they exist."""
        found: dict[str, Entry] = {}
        missing: list[str] = []
        for item, (namespace, key) in wanted.items():
            covered, entry = (False, None) if self.shared else self.cache.entry(namespace, key)
            if entry:
                found[item] = entry
            elif not covered:
                missing.append(row_id(item, 0))
        found |= {entry.id: entry for entry in self.entries(self.rows.get(missing))}
        return found

    def settled(self, read: Callable[[], T]) -> T:
        """Make a read, on a server again where it met a change of another client."""
        return read_beside_writers(read) if self.shared else read()

    def entries(self, rows: Iterable[StoredRow]) -> Iterator[Entry]:
        """Read the items among some rows."""
        return (entry_of(row) for row in rows if is_first(row))

    def namespaces(self, alive_at: int | None) -> list[Namespace]:
        """Return the namespaces that have an item, or one not expired at a moment."""
        if self.shared:
            return self._count_all().namespaces(alive_at)
        with self.writing:
            self._tally = self._tally or self._count_all()
            return self._tally.namespaces(alive_at)

    def update(self, written: Sequence[EmbeddedEntry], replaced: Sequence[Entry], removed: Sequence[Entry]) -> None:
        """Bring memory up to date with what Chroma has taken; `replaced` and `removed` are the items as they were."""
        if self.shared:
            return
        added = [entry for entry, _ in written]
        self._count([*replaced, *removed], added)
        self._load_before_change({entry.namespace for entry in chain(removed, added)})
        self.cache.apply(written, removed)

    def touch(self, before: Entry, after: Entry) -> None:
        """Bring memory up to date with an item's new expiry."""
        if not self.shared:
            self._count([before], [after])
            self._load_before_change({after.namespace})
            self.cache.touch(after)

    def invalidate(self) -> None:
        """Drop what is in memory and in files: it may differ from Chroma, for example after a write that failed."""
        if self._saved is not None:
            self._saved.drop()
        self._clear()

    def _clear(self) -> None:
        self.cache.clear()
        self._tally = None
        self._too_large.clear()

    def has(self, rows: Rows) -> bool:
        """Say whether these are the rows of this collection."""
        return bool(self.rows.collection.id == rows.collection.id)

    def switch_to(self, rows: Rows, dims: int) -> None:
        """Go on with another of Chroma's collections, whose vectors may have another length."""
        self.rows, self.dims = rows, dims
        self.cache.dims = dims
        self.invalidate()

    def prefixes(self) -> Iterator[tuple[Namespace, CachedPrefix]]:
        """Yield the prefixes in memory, and those in files that may still be loaded."""
        yield from self.cache.prefixes()
        if self._saved is not None:
            yield from self._saved.prefixes(self.dims, self.rows.cipher)

    def _count(self, removed: Sequence[Entry], added: Sequence[Entry]) -> None:
        if self._tally is None:
            return
        for entry in removed:
            self._tally.remove(entry.namespace, entry.id, entry.expires)
        for entry in added:
            self._tally.add(entry.namespace, entry.id, entry.expires)

    def _count_all(self) -> Tally:
        tally = Tally()
        for entry in self.entries(self.rows.scan(FIRST_ROWS, documents=False)):
            tally.add(entry.namespace, entry.id, entry.expires)
        return tally

    def _load(self, prefix: Namespace) -> None:
        if self.cache.covers(prefix) or self._load_file(prefix):
            return
        firsts: list[tuple[Entry, Vector | None]] = []
        further: defaultdict[tuple[str, str], list[Vector]] = defaultdict(list)
        size = 0
        for row in self.rows.scan(below(prefix), vectors=self.dims > 0):
            size += (0 if row.vector is None else row.vector.nbytes) + len(row.document or "")
            if size > self.cache.limit:
                self._too_large.add(prefix)
                return
            if is_first(row):
                firsts.append((entry_of(row), row.vector))
            elif row.metadata.get("row") == VECTOR and row.vector is not None:
                further[item_of(row.id), row.metadata["token"]].append(row.vector)
        self.cache.install(prefix, _contents(firsts, further, self.dims))
        if not self.cache.covers(prefix):
            self._too_large.add(prefix)

    def _load_file(self, namespace: Namespace) -> bool:
        """Load the saved prefix that covers a namespace, if there is one; say whether it is in memory now."""
        found = self._saved.read(namespace, self.dims, self.rows.cipher) if self._saved is not None else None
        if found is not None:
            self.cache.install(*found)
        return self.cache.covers(namespace)

    def _load_before_change(self, namespaces: Iterable[Namespace]) -> None:
        """Load the saved prefixes of namespaces that will change: memory is updated, files are not."""
        if self._saved is None:
            return
        for namespace in namespaces:
            if not self.cache.covers(namespace):
                self._load_file(namespace)
            self._saved.changed(namespace)


def _contents(
    firsts: list[tuple[Entry, Vector | None]], further: Mapping[tuple[str, str], list[Vector]], dims: int
) -> CachedPrefix:
    """Return the items of a prefix, in the order they were written, each with its first and its further vectors."""
    contents = CachedPrefix(dims)
    firsts.sort(key=lambda pair: (pair[0].updated, -pair[0].order))
    contents.put(
        (
            EmbeddedEntry(entry, [first, *further.get((entry.id, entry.token), ())])
            if entry.vectors and first is not None
            else EmbeddedEntry(entry, [])
            for entry, first in firsts
        ),
        version=0,
    )
    return contents


def cached_collection(
    client: ClientAPI, rows: Rows, *, shared: bool, limit: int, saved: SavedPrefixes | None = None
) -> CachedCollection:
    """Return what this process shares of a collection, made if no store has it open; the caller has to `join` it."""
    chroma, settings = rows.collection, client.get_settings()
    place = settings.persist_directory if settings.is_persistent else ""
    name = json.dumps([place, chroma.tenant, chroma.database, chroma.name])
    with _collections_lock:
        cached = None if shared else _collections.get(name)
        if cached is None or not cached.has(rows):
            dims = chroma.metadata["dims"]
            cached = _collections[name] = CachedCollection(rows, dims=dims, shared=shared, limit=limit, saved=saved)
        cached.rows = rows
        return cached
