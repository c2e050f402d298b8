"""Items and vectors in memory: what a search reads instead of asking Chroma.

The unit is a region: everything below one namespace prefix, read from Chroma at once and kept true by every write.
Regions share a bound in bytes; the least recently used go first. Nothing a reader holds is ever changed: slots are
only appended, and a replaced item stays visible to searches that began before.
"""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np

from reasoningbank_langgraph.store.cache.matrix import Slice, descending
from reasoningbank_langgraph.store.cache.namespace import Fresh, Held, Space
from reasoningbank_langgraph.store.namespaces import Namespace
from reasoningbank_langgraph.store.row_layout import Entry, Vector


class Region:
    """All namespaces below one prefix, each also found by every prefix of its own."""

    def __init__(self, dims: int) -> None:
        self.dims = dims
        self.nbytes = 0
        self.under: defaultdict[Namespace, dict[Namespace, Space]] = defaultdict(dict)

    @property
    def count(self) -> int:
        """Items in it."""
        return sum(len(space.items) for _, space in self.spaces())

    def spaces(self) -> Iterable[tuple[Namespace, Space]]:
        """Return its namespaces and what is in them."""
        return self.under[()].items() if () in self.under else ()

    def add(self, space: Space, namespace: Namespace) -> None:
        """Take in a whole namespace that it does not have yet."""
        self.nbytes += space.nbytes
        for depth in range(len(namespace) + 1):
            self.under[namespace[:depth]][namespace] = space

    def space(self, namespace: Namespace) -> Space | None:
        """Return a namespace's items, None if it has never had any."""
        return self.under[namespace].get(namespace) if namespace in self.under else None

    def put(self, entries: Iterable[Fresh], version: int) -> None:
        """Add or replace items, in order."""
        by_namespace: defaultdict[Namespace, list[Fresh]] = defaultdict(list)
        for entry, vectors in entries:
            by_namespace[entry.namespace].append((entry, vectors))
        for namespace, some in by_namespace.items():
            space = self.space(namespace) or self._new_space(namespace)
            before = space.nbytes
            space.put(some, version)
            space.compact(self.dims)
            self.nbytes += space.nbytes - before

    def drop(self, namespace: Namespace, key: str, version: int) -> None:
        """Remove an item."""
        space = self.space(namespace)
        if space is not None:
            before = space.nbytes
            space.drop(key, version)
            self.nbytes += space.nbytes - before

    def _new_space(self, namespace: Namespace) -> Space:
        space = Space(self.dims)
        self.add(space, namespace)
        return space


class Snapshot:
    """Everything below a prefix at one moment; its methods yield items from the best down, as far as they are read."""

    def __init__(self, spaces: Sequence[Space], version: int, *, everything: bool) -> None:
        self._version = version
        self._parts: list[tuple[Slice, list[Held]]] = [
            (space.matrix.slice(), space.owners) for space in spaces if space.matrix.count
        ]
        self._plain = [list(space.plain.values()) for space in spaces if space.plain]
        self._all = [list(space.items.values()) for space in spaces] if everything else []

    def scored(self, query: Vector) -> Iterator[tuple[float, Entry]]:
        """Yield (cosine, item) for the items with vectors; an item counts with its best one."""
        seen: set[int] = set()
        for score, held in self._ranked(query):
            if held.gone > self._version and id(held) not in seen:
                seen.add(id(held))
                yield score, held.entry

    def unscored(self) -> Iterator[Entry]:
        """Yield the items without vectors, last written first."""
        return _newest(self._plain)

    def newest(self) -> Iterator[Entry]:
        """Yield all items, last written first; only in a snapshot of everything."""
        return _newest(self._all)

    def _ranked(self, query: Vector) -> Iterator[tuple[float, Held]]:
        if len(self._parts) == 1:
            (part, owners) = self._parts[0]
            yield from ((score, owners[slot]) for score, slot in part.ranked(query))
        elif self._parts:
            starts = np.fromiter(accumulate((len(part.rows) for part, _ in self._parts), initial=0), np.intp)
            scores = np.concatenate([part.rows @ query for part, _ in self._parts])
            for score, place in descending(scores):
                number = int(np.searchsorted(starts, place, side="right")) - 1
                yield score, self._parts[number][1][place - int(starts[number])]


class View:
    """The regions in memory, within a bound.

    Args:
        dims: length of the vectors, 0 for none.
        limit: bytes all regions together may hold.
    """

    def __init__(self, dims: int, limit: int) -> None:
        self.dims = dims
        self.limit = limit
        self._version = 0
        self._state = threading.RLock()
        self._regions: OrderedDict[Namespace, Region] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        with self._state:
            return sum(region.nbytes for region in self._regions.values())

    def covers(self, prefix: Namespace) -> bool:
        """Say whether everything below a prefix is in memory."""
        with self._state:
            return self._region(prefix) is not None

    def entry(self, namespace: Namespace, key: str) -> tuple[bool, Entry | None]:
        """Return whether a namespace is covered and, if it is, the item with this key."""
        with self._state:
            region = self._region(namespace)
            space = region.space(namespace) if region else None
            held = space.items.get(key) if space else None
            return region is not None, held.entry if held else None

    def snapshot(self, prefix: Namespace, *, everything: bool = False) -> Snapshot | None:
        """Return what is below a prefix now, None if it is not covered; `everything` adds the items without a query."""
        with self._state:
            region = self._region(prefix)
            if region is None:
                return None
            spaces = list(region.under[prefix].values()) if prefix in region.under else []
            return Snapshot(spaces, self._version, everything=everything)

    def regions(self) -> list[tuple[Namespace, Region]]:
        """Return the regions with their prefixes."""
        with self._state:
            return list(self._regions.items())

    def install(self, prefix: Namespace, region: Region) -> None:
        """Keep a region just read; regions within it are dropped, then old ones until the bound is met."""
        with self._state:
            for inner in [known for known in self._regions if known[: len(prefix)] == prefix]:
                del self._regions[inner]
            self._regions[prefix] = region
            self._shrink()

    def apply(self, written: Sequence[Fresh], removed: Sequence[Entry]) -> None:
        """Show a batch that Chroma has taken, all of it at once."""
        with self._state:
            self._version += 1
            for entry in removed:
                region = self._region(entry.namespace)
                if region:
                    region.drop(entry.namespace, entry.key, self._version)
            by_region: dict[int, tuple[Region, list[Fresh]]] = {}
            for entry, vectors in written:
                region = self._region(entry.namespace)
                if region:
                    by_region.setdefault(id(region), (region, []))[1].append((entry, vectors))
            for region, entries in by_region.values():
                region.put(entries, self._version)
            self._shrink()

    def touch(self, entry: Entry) -> None:
        """Show a new expiry of an item."""
        with self._state:
            region = self._region(entry.namespace)
            space = region.space(entry.namespace) if region else None
            held = space.items.get(entry.key) if space else None
            if held:
                held.entry = entry

    def clear(self) -> None:
        """Forget everything; the next search reads from Chroma."""
        with self._state:
            self._regions.clear()

    def _region(self, prefix: Namespace) -> Region | None:
        for depth in range(len(prefix) + 1):
            region = self._regions.get(prefix[:depth])
            if region is not None:
                self._regions.move_to_end(prefix[:depth])
                return region
        return None

    def _shrink(self) -> None:
        while self._regions and self.nbytes > self.limit:
            self._regions.popitem(last=False)


def _newest(groups: Sequence[list[Held]]) -> Iterator[Entry]:
    ordered = (sorted((held.entry for held in group), key=lambda entry: entry.newest_first) for group in groups)
    return heapq.merge(*ordered, key=lambda entry: entry.newest_first)
