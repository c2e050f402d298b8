"""The items and vectors of one namespace in memory; an item may stay in a file until it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from reasoningbank_langgraph.store.cache.matrix import Matrix
from reasoningbank_langgraph.store.row_layout import Entry, Vector

ITEM_BYTES = 1_000
"""Memory of one item beside its text and vectors, roughly."""
COMPACT_FROM = 1_024


Fresh = tuple[Entry, Sequence[Vector]]
"""An item to show, with its vectors."""


FOREVER = float("inf")


class Held:
    """An item in memory and the version of the view at which it was replaced.

    Args:
        known: the item, or its place among those that `read` makes when they are asked for.
        read: makes the item.
    """

    __slots__ = ("gone", "known", "read")

    def __init__(self, known: Entry | int, read: Callable[[int], Entry] | None = None) -> None:
        self.known = known
        self.read = read
        self.gone = FOREVER

    @property
    def entry(self) -> Entry:
        """The item."""
        known = self.known  # once: another thread may put the item in its place
        if isinstance(known, int) and self.read is not None:
            known = self.known = self.read(known)
        return cast("Entry", known)

    @entry.setter
    def entry(self, entry: Entry) -> None:
        self.known = entry


class Space:
    """The items of one namespace, in the order they were written."""

    def __init__(self, dims: int) -> None:
        self.items: dict[str, Held] = {}
        self.plain: dict[str, Held] = {}
        self.matrix = Matrix(dims)
        self.owners: list[Held] = []
        self.living = 0
        """Vectors of items that were not replaced."""
        self.text_bytes = 0

    @classmethod
    def of(
        cls, items: dict[str, Held], plain: dict[str, Held], owners: list[Held], matrix: Matrix, texts: int
    ) -> Space:
        """Return the space of these items, whose texts have so many bytes; `owners` are those of the vectors."""
        space = cls(0)
        space.items, space.owners, space.matrix, space.living = items, owners, matrix, len(owners)
        space.plain = plain
        space.text_bytes = texts + ITEM_BYTES * len(items)
        return space

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self.matrix.nbytes + self.text_bytes

    def put(self, entries: Sequence[Fresh], version: int) -> None:
        """Add or replace items."""
        rows: list[Vector] = []
        for entry, vectors in entries:
            self.drop(entry.key, version)
            held = self.items[entry.key] = Held(entry)
            self.text_bytes += len(entry.document) + ITEM_BYTES
            self.owners += [held] * len(vectors)
            rows += vectors
            self.living += len(vectors)
            if not vectors:
                self.plain[entry.key] = held
        if rows:
            self.matrix.append(np.stack(rows))

    def drop(self, key: str, version: int) -> None:
        """Remove an item, for readers that begin from now on."""
        held = self.items.pop(key, None)
        if held is None:
            return
        self.plain.pop(key, None)
        held.gone = version
        self.living -= held.entry.vectors
        self.text_bytes -= len(held.entry.document) + ITEM_BYTES

    def compact(self, dims: int) -> None:
        """Give back the slots of replaced items once they are the greater part."""
        if self.matrix.count < max(COMPACT_FROM, 2 * self.living):
            return
        rows, owners, matrix = self.matrix.slice().rows, self.owners, Matrix(dims)
        kept = [slot for slot, held in enumerate(owners) if held.gone == FOREVER]
        matrix.append(rows[kept])
        self.matrix, self.owners = matrix, [owners[slot] for slot in kept]
