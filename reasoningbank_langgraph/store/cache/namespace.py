"""The items and vectors of one namespace in memory. An item may stay in a file until it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np

from reasoningbank_langgraph.store.cache.matrix import Matrix
from reasoningbank_langgraph.store.row_layout import EmbeddedEntry, Entry, Vector

ITEM_BYTES = 1_000
"""Memory of one item beside its text and vectors, roughly."""
COMPACT_FROM = 1_024
FOREVER = float("inf")


class Loader(Protocol):
    """Makes items from the places where they are kept."""

    def __call__(self, place: int) -> Entry:
        """Return the item at a place."""

    def document(self, place: int) -> str:
        """Return the value of the item at a place as JSON text."""


class CachedItem:
    """An item in memory, and the version of the cache that replaced or removed it.

    Args:
        entry_or_place: the item, or the place from which `load` makes it when it is first needed.
        load: makes the item at its place.
    """

    __slots__ = ("entry_or_place", "load", "removed_at")

    def __init__(self, entry_or_place: Entry | int, load: Loader | None = None) -> None:
        self.entry_or_place = entry_or_place
        self.load = load
        self.removed_at = FOREVER

    @property
    def entry(self) -> Entry:
        """The item."""
        entry = self.entry_or_place  # read once: another thread may load the item meanwhile
        if isinstance(entry, int):
            entry = self.entry_or_place = cast("Loader", self.load)(entry)
        return entry

    @entry.setter
    def entry(self, entry: Entry) -> None:
        self.entry_or_place = entry

    @property
    def document(self) -> str:
        """Its value as JSON text, for which an item that is in a file is not made."""
        entry = self.entry_or_place
        if isinstance(entry, int):
            return cast("Loader", self.load).document(entry)
        return entry.document


class CachedNamespace:
    """The items of one namespace, in the order they were written."""

    def __init__(self, dims: int) -> None:
        self.items: dict[str, CachedItem] = {}
        self.plain: dict[str, CachedItem] = {}
        self.matrix = Matrix(dims)
        self.owners: list[CachedItem] = []
        self.living = 0
        """Vectors of items that were not replaced."""
        self.text_bytes = 0

    @classmethod
    def of(
        cls,
        items: dict[str, CachedItem],
        plain: dict[str, CachedItem],
        owners: list[CachedItem],
        matrix: Matrix,
        texts: int,
    ) -> CachedNamespace:
        """Return the namespace of these items; `owners` has the item of each vector, `texts` is their bytes."""
        cached = cls(0)
        cached.items, cached.owners, cached.matrix, cached.living = items, owners, matrix, len(owners)
        cached.plain = plain
        cached.text_bytes = texts + ITEM_BYTES * len(items)
        return cached

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.matrix.nbytes + self.text_bytes

    def put(self, entries: Sequence[EmbeddedEntry], version: int) -> None:
        """Add or replace items, in order."""
        rows: list[Vector] = []
        for entry, vectors in entries:
            self.drop(entry.key, version)
            item = self.items[entry.key] = CachedItem(entry)
            self.text_bytes += len(entry.document) + ITEM_BYTES
            self.owners += [item] * len(vectors)
            rows += vectors
            self.living += len(vectors)
            if not vectors:
                self.plain[entry.key] = item
        if rows:
            self.matrix.append(np.stack(rows))

    def drop(self, key: str, version: int) -> None:
        """Remove an item, for readers that begin from now on."""
        item = self.items.pop(key, None)
        if item is None:
            return
        self.plain.pop(key, None)
        item.removed_at = version
        self.living -= item.entry.vectors
        self.text_bytes -= len(item.entry.document) + ITEM_BYTES

    def compact(self, dims: int) -> None:
        """Give back the slots of replaced items once they are the greater part."""
        if self.matrix.count < max(COMPACT_FROM, 2 * self.living):
            return
        rows, owners, matrix = self.matrix.view().rows, self.owners, Matrix(dims)
        slots = [slot for slot, item in enumerate(owners) if item.removed_at == FOREVER]
        matrix.append(rows[slots])
        self.matrix, self.owners = matrix, [owners[slot] for slot in slots]
