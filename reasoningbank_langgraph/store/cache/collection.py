"""What the stores on one collection share within a process: the rows, what is in memory of them, and one writer's turn.

Two stores opened on the same collection by the same process get the same shelf, so neither reads stale vectors.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from reasoningbank_langgraph.store.cache.cache import Region, Snapshot, View
from reasoningbank_langgraph.store.cache.namespace import Fresh
from reasoningbank_langgraph.store.cache.saved_prefixes import SavedRegions
from reasoningbank_langgraph.store.namespaces import Namespace, Tally
from reasoningbank_langgraph.store.row_layout import (
    ITEM,
    PLAIN,
    VECTOR,
    Entry,
    Stored,
    Vector,
    below,
    entry_of,
    is_first,
    item_of,
    row_id,
)
from reasoningbank_langgraph.store.rows import Rows

FIRST_ROWS = {"row": {"$in": [ITEM, PLAIN]}}

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

_shelves: WeakValueDictionary[str, Shelf] = WeakValueDictionary()
# Reentrant, because the garbage collector may let go of a store at any moment.
_shelves_turn = threading.RLock()


def _begin_anew() -> None:
    """Leave the shelves to the parent of this forked child, and the turn to the thread that had it there."""
    global _shelves_turn  # noqa: PLW0603 - a lock that another thread of the parent held is never let go here
    _shelves_turn = threading.RLock()
    _shelves.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def now() -> int:
    """Return the time in microseconds since 1970."""
    return time.time_ns() // 1000


class Shelf:
    """One collection as this process sees it.

    Args:
        rows: access to the collection.
        dims: length of its vectors, 0 for none.
        shared: other processes may write to it, so nothing is kept in memory.
        limit: bytes the view may hold.
        saved: what earlier processes kept of the view; only for a bank in a folder that this process alone has open.
    """

    def __init__(self, rows: Rows, *, dims: int, shared: bool, limit: int, saved: SavedRegions | None = None) -> None:
        self.rows = rows
        self.dims = dims
        self.shared = shared
        self.view = View(dims, 0 if shared else limit)
        self.writing = threading.RLock()
        self._saved = saved
        self._tally: Tally | None = None
        self._too_large: set[Namespace] = set()
        self._last = 0
        self._stores = 0

    def join(self) -> None:
        """Count a store that uses this shelf."""
        with _shelves_turn:
            self._stores += 1

    def leave(self, release: Callable[[], None]) -> None:
        """Count a store less, which then lets others write; after the last one nothing is kept, as they may."""
        with _shelves_turn:
            self._stores -= 1
            if self._stores <= 0:
                for name in [name for name, shelf in _shelves.items() if shelf is self]:
                    del _shelves[name]
                if self._saved is not None:
                    self._saved.keep(str(self.rows.collection.id), self.view.regions())
                self._clear()
        release()

    def tick(self, after: int) -> int:
        """Return a time for the next write, later than `after` and the write before, even if the clock went back."""
        self._last = max(self._last + 1, after + 1, now())
        return self._last

    def snapshot(self, prefix: Namespace, *, everything: bool = False) -> Snapshot | None:
        """Return what is below a prefix, read from Chroma the first time; None if it may not or cannot be in memory."""
        if self.shared:
            return None
        found = self.view.snapshot(prefix, everything=everything)
        if found is None and prefix not in self._too_large:
            with self.writing:
                self._load(prefix)
                found = self.view.snapshot(prefix, everything=everything)
        return found

    def find(self, wanted: Mapping[str, tuple[Namespace, str]]) -> dict[str, Entry]:
        """Return the items with these ids (id to namespace and key) as far as they exist."""
        found: dict[str, Entry] = {}
        asked: list[str] = []
        for item, (namespace, key) in wanted.items():
            covered, entry = (False, None) if self.shared else self.view.entry(namespace, key)
            if entry:
                found[item] = entry
            elif not covered:
                asked.append(row_id(item, 0))
        found |= {entry.id: entry for entry in self.entries(self.rows.get(asked))}
        return found

    def entries(self, stored: Iterable[Stored]) -> Iterator[Entry]:
        """Read the items among some rows."""
        return (entry_of(row) for row in stored if is_first(row))

    def namespaces(self, alive_at: int | None) -> list[Namespace]:
        """Return the namespaces that have an item, or one not expired at a moment."""
        if self.shared:
            return self._counted().namespaces(alive_at)
        with self.writing:
            self._tally = self._tally or self._counted()
            return self._tally.namespaces(alive_at)

    def show(self, written: Sequence[Fresh], replaced: Sequence[Entry], gone: Sequence[Entry]) -> None:
        """Bring memory up to date with what Chroma has taken: `replaced` and `gone` are the items as they were."""
        if self.shared:
            return
        self._count(replaced, gone, [entry for entry, _ in written])
        self._outdate({entry.namespace for entry in chain(gone, (entry for entry, _ in written))})
        self.view.apply(written, gone)

    def touch(self, before: Entry, after: Entry) -> None:
        """Bring memory up to date with an item's new expiry."""
        if not self.shared:
            self._count([before], [], [after])
            self._outdate({after.namespace})
            self.view.touch(after)

    def forget(self) -> None:
        """Drop what is known: it may differ from Chroma, for example after a write that failed half way."""
        if self._saved is not None:
            self._saved.drop()
        self._clear()

    def _clear(self) -> None:
        self.view.clear()
        self._tally = None
        self._too_large.clear()

    def on(self, rows: Rows) -> bool:
        """Say whether these are the rows of this shelf's collection."""
        return bool(self.rows.collection.id == rows.collection.id)

    def move(self, rows: Rows, dims: int) -> None:
        """Go on with another collection, whose vectors may be of another length."""
        self.rows, self.dims = rows, dims
        self.view.dims = dims
        self.forget()

    def regions(self) -> Iterator[tuple[Namespace, Region]]:
        """Return what is in memory, and what is kept to be brought there and still true."""
        yield from self.view.regions()
        if self._saved is not None:
            yield from self._saved.regions(self.dims)

    def _count(self, replaced: Sequence[Entry], gone: Sequence[Entry], added: Sequence[Entry]) -> None:
        if self._tally is None:
            return
        for entry in [*replaced, *gone]:
            self._tally.remove(entry.namespace, entry.id, entry.expires)
        for entry in added:
            self._tally.add(entry.namespace, entry.id, entry.expires)

    def _counted(self) -> Tally:
        tally = Tally()
        for entry in self.entries(self.rows.scan(FIRST_ROWS, documents=False)):
            tally.add(entry.namespace, entry.id, entry.expires)
        return tally

    def _load(self, prefix: Namespace) -> None:
        if self.view.covers(prefix) or self._bring(prefix):
            return
        firsts: list[tuple[Entry, Vector | None]] = []
        more: dict[tuple[str, str], list[tuple[str, Vector]]] = {}
        size = 0
        for row in self.rows.scan(below(prefix), vectors=self.dims > 0):
            size += (0 if row.vector is None else row.vector.nbytes) + len(row.document or "")
            if size > self.view.limit:
                self._too_large.add(prefix)
                return
            if is_first(row):
                firsts.append((entry_of(row), row.vector))
            elif row.metadata.get("row") == VECTOR and row.vector is not None:
                more.setdefault((item_of(row.id), row.metadata["token"]), []).append((row.id, row.vector))
        self.view.install(prefix, _region(firsts, more, self.dims))
        if not self.view.covers(prefix):
            self._too_large.add(prefix)

    def _bring(self, namespace: Namespace) -> bool:
        """Bring what was kept of a namespace to memory; say whether it is there now."""
        found = self._saved.read(namespace, self.dims) if self._saved is not None else None
        if found is not None:
            self.view.install(*found)
        return self.view.covers(namespace)

    def _outdate(self, namespaces: Iterable[Namespace]) -> None:
        """Bring what was kept of namespaces to memory, which is kept true, before they differ from it."""
        if self._saved is None:
            return
        for namespace in namespaces:
            if not self.view.covers(namespace):
                self._bring(namespace)
            self._saved.changed(namespace)


def _region(
    firsts: list[tuple[Entry, Vector | None]], more: dict[tuple[str, str], list[tuple[str, Vector]]], dims: int
) -> Region:
    region = Region(dims)
    firsts.sort(key=lambda pair: (pair[0].updated, -pair[0].order))
    region.put(
        (
            (entry, [first, *(vector for _, vector in more.get((entry.id, entry.token), ()))])
            if entry.vectors and first is not None
            else (entry, [])
            for entry, first in firsts
        ),
        version=0,
    )
    return region


def shelf_for(client: ClientAPI, rows: Rows, *, shared: bool, limit: int, saved: SavedRegions | None = None) -> Shelf:
    """Return this process's shelf for a collection, a new one if no store has it open; the caller has to `join` it."""
    collection, settings = rows.collection, client.get_settings()
    place = settings.persist_directory if settings.is_persistent else ""
    name = json.dumps([place, collection.tenant, collection.database, collection.name])
    with _shelves_turn:
        shelf = None if shared else _shelves.get(name)
        if shelf is None or not shelf.on(rows):
            shelf = _shelves[name] = Shelf(
                rows, dims=collection.metadata["dims"], shared=shared, limit=limit, saved=saved
            )
        shelf.rows = rows
        return shelf
