"""Items and vectors in memory: what a search reads instead of asking Chroma.

What is read from Chroma and dropped as a whole is a prefix: everything below one namespace prefix, which every write
then updates. All prefixes share a limit in bytes; the least recently used go first. Nothing a reader has is ever
changed: rows are only appended, and a replaced item stays visible to searches that began before.
"""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import attrgetter

import numpy as np

from reasoningbank_langgraph.store.cache.matrix import MatrixView, descending
from reasoningbank_langgraph.store.cache.namespace import CachedItem, CachedNamespace
from reasoningbank_langgraph.store.namespaces import Namespace
from reasoningbank_langgraph.store.row_layout import EmbeddedEntry, Entry, Vector


class CachedPrefix:
    """All namespaces below one prefix, each also found by every prefix of its own."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.nbytes = 0
        self.under: defaultdict[Namespace, dict[Namespace, CachedNamespace]] = defaultdict(dict)

    @property
    def count(self) -> int:
        """Items in it."""
        return sum(len(cached.items) for _, cached in self.namespaces())

    def namespaces(self) -> Iterable[tuple[Namespace, CachedNamespace]]:
        """Return its namespaces with their items."""
        return self.under[()].items() if () in self.under else ()

    def add(self, cached: CachedNamespace, namespace: Namespace) -> None:
        """Add a whole namespace that it does not have yet."""
        self.nbytes += cached.nbytes
        for depth in range(len(namespace) + 1):
            self.under[namespace[:depth]][namespace] = cached

    def get(self, namespace: Namespace) -> CachedNamespace | None:
        """Return a namespace's items, None if it has never had any."""
        return self.under[namespace].get(namespace) if namespace in self.under else None

    def put(self, entries: Iterable[EmbeddedEntry], version: int) -> None:
        """Add or replace items, in order."""
        by_namespace: defaultdict[Namespace, list[EmbeddedEntry]] = defaultdict(list)
        for embedded in entries:
            by_namespace[embedded.entry.namespace].append(embedded)
        for namespace, own in by_namespace.items():
            cached = self.get(namespace) or self._add_namespace(namespace)
            before = cached.nbytes
            cached.put(own, version)
            cached.compact(self.dims)
            self.nbytes += cached.nbytes - before

    def drop(self, namespace: Namespace, key: str, version: int) -> None:
        """Remove an item."""
        cached = self.get(namespace)
        if cached is not None:
            before = cached.nbytes
            cached.drop(key, version)
            self.nbytes += cached.nbytes - before

    def _add_namespace(self, namespace: Namespace) -> CachedNamespace:
        cached = CachedNamespace(self.dims)
        self.add(cached, namespace)
        return cached


class Snapshot:
    """Everything below a prefix at one moment. Its methods sort only as far as the caller reads.

    They leave out the items whose JSON text lacks one of the `parts`, which costs less than to make and to parse them.
    """

    def __init__(self, namespaces: Sequence[CachedNamespace], version: int, *, everything: bool) -> None:
        self._version = version
        self._parts: list[tuple[MatrixView, list[CachedItem]]] = [
            (cached.matrix.view(), cached.owners) for cached in namespaces if cached.matrix.count
        ]
        self._plain = [list(cached.plain.values()) for cached in namespaces if cached.plain]
        self._all = [list(cached.items.values()) for cached in namespaces] if everything else []

    def scored(self, query: Vector, parts: Sequence[str]) -> Iterator[tuple[float, Entry]]:
        """Yield (cosine, item) for the items with vectors; an item counts with its best one."""
        seen: set[int] = set()
        for score, item in self._ranked(query):
            if item.removed_at > self._version and id(item) not in seen and _may_match(item, parts):
                seen.add(id(item))
                yield score, item.entry

    def unscored(self, parts: Sequence[str]) -> Iterator[Entry]:
        """Yield the items without vectors, last written first."""
        return _newest(self._plain, parts)

    def newest(self, parts: Sequence[str]) -> Iterator[Entry]:
        """Yield all items, last written first; only in a snapshot of everything."""
        return _newest(self._all, parts)

    def _ranked(self, query: Vector) -> Iterator[tuple[float, CachedItem]]:
        if len(self._parts) == 1:
            (part, owners) = self._parts[0]
            yield from ((score, owners[slot]) for score, slot in part.ranked(query))
        elif self._parts:
            starts = np.fromiter(accumulate((len(part.rows) for part, _ in self._parts), initial=0), np.intp)
            scores = np.concatenate([part.rows @ query for part, _ in self._parts])
            for score, place in descending(scores):
                number = int(np.searchsorted(starts, place, side="right")) - 1
                yield score, self._parts[number][1][place - int(starts[number])]


class Cache:
    """The prefixes in memory, within a limit.

    Args:
        dims: length of the vectors, 0 for none.
        limit: bytes that all prefixes together may take.
    """

    def __init__(self, dims: int, limit: int) -> None:
        self.dims = dims
        self.limit = limit
        self._version = 0
        self._state = threading.RLock()
        self._prefixes: OrderedDict[Namespace, CachedPrefix] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        with self._state:
            return sum(contents.nbytes for contents in self._prefixes.values())

    def covers(self, prefix: Namespace) -> bool:
        """Say whether everything below a prefix is in memory."""
        with self._state:
            return self._contents(prefix) is not None

    def entry(self, namespace: Namespace, key: str) -> tuple[bool, Entry | None]:
        """Return whether a namespace is covered and, if it is, the item with this key."""
        with self._state:
            contents = self._contents(namespace)
            cached = contents.get(namespace) if contents else None
            item = cached.items.get(key) if cached else None
            return contents is not None, item.entry if item else None

    def snapshot(self, prefix: Namespace, *, everything: bool = False) -> Snapshot | None:
        """Return what is below a prefix now, None if it is not covered; `everything` adds the items without a query."""
        with self._state:
            contents = self._contents(prefix)
            if contents is None:
                return None
            namespaces = list(contents.under[prefix].values()) if prefix in contents.under else []
            return Snapshot(namespaces, self._version, everything=everything)

    def prefixes(self) -> list[tuple[Namespace, CachedPrefix]]:
        """Return the prefixes in memory with their contents."""
        with self._state:
            return list(self._prefixes.items())

    def install(self, prefix: Namespace, contents: CachedPrefix) -> None:
        """Add a prefix just read; those below it are dropped, then the least recently used until the limit is met."""
        with self._state:
            for inner in [other for other in self._prefixes if other[: len(prefix)] == prefix]:
                del self._prefixes[inner]
            self._prefixes[prefix] = contents
            self._shrink()

    def apply(self, written: Sequence[EmbeddedEntry], removed: Sequence[Entry]) -> None:
        """Take over a batch that Chroma has taken; readers see all of it or nothing."""
        with self._state:
            self._version += 1
            for entry in removed:
                contents = self._contents(entry.namespace)
                if contents:
                    contents.drop(entry.namespace, entry.key, self._version)
            by_prefix: dict[int, tuple[CachedPrefix, list[EmbeddedEntry]]] = {}
            for embedded in written:
                contents = self._contents(embedded.entry.namespace)
                if contents:
                    by_prefix.setdefault(id(contents), (contents, []))[1].append(embedded)
            for contents, own in by_prefix.values():
                contents.put(own, self._version)
            self._shrink()

    def touch(self, entry: Entry) -> None:
        """Take over an item's new expiry."""
        with self._state:
            contents = self._contents(entry.namespace)
            cached = contents.get(entry.namespace) if contents else None
            item = cached.items.get(entry.key) if cached else None
            if item:
                item.entry = entry

    def clear(self) -> None:
        """Drop everything; the next search reads from Chroma."""
        with self._state:
            self._prefixes.clear()

    def _contents(self, prefix: Namespace) -> CachedPrefix | None:
        for depth in range(len(prefix) + 1):
            contents = self._prefixes.get(prefix[:depth])
            if contents is not None:
                self._prefixes.move_to_end(prefix[:depth])
                return contents
        return None

    def _shrink(self) -> None:
        while self._prefixes and self.nbytes > self.limit:
            self._prefixes.popitem(last=False)


_ORDER, _UPDATED = attrgetter("order"), attrgetter("updated")


def _newest(groups: Sequence[list[CachedItem]], parts: Sequence[str]) -> Iterator[Entry]:
    chosen = ((item.entry for item in group if _may_match(item, parts)) for group in groups)
    ordered = (sorted(sorted(entries, key=_ORDER), key=_UPDATED, reverse=True) for entries in chosen)
    return heapq.merge(*ordered, key=lambda entry: entry.newest_first)


def _may_match(item: CachedItem, parts: Sequence[str]) -> bool:
    """Say whether an item has all parts. One whose text was cut off counts, so that its reader reports it."""
    if not parts:
        return True
    document = item.document
    for part in parts:  # quicker than all(): a search asks this of every item
        if part not in document:
            return not document.endswith("}")
    return True
