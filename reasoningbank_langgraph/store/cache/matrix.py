"""Unit vectors in one growing array, and their ranking by similarity to a query.

Reading the whole array is what a search costs once it no longer fits the processor's cache. From 32,768 rows on, the
array therefore keeps a narrow copy of itself: its rows projected onto their own 96 principal axes. A search then
reads the narrow copy, rescores the best few thousand exactly and, should the caller want more than those, all others
after them. The projection is used only if it loses nothing on a sample of the rows themselves (their ten
nearest, all found); vectors without structure, such as random ones, are always ranked exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reasoningbank_langgraph.store.row_layout import Vector

Array = NDArray[np.float32]

NARROW_FROM = 32_768
NARROW_DIMS = 96
RESCORED = 4_000
FIRST_BLOCK = 64
SAMPLE, PROBES, NEIGHBOURS = 8_192, 32, 10


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The rows of a matrix at one moment; they never change, whatever is written later."""

    rows: Array
    narrow: Array | None
    axes: Array | None

    def ranked(self, query: Vector) -> Iterator[tuple[float, int]]:
        """Yield (cosine, row) from the most similar row down to the last; equal ones in row order."""
        if self.narrow is None or self.axes is None:
            yield from descending(self.rows @ query)
            return
        chosen = np.sort(_best(self.narrow @ (query @ self.axes), RESCORED))
        yield from ((score, int(chosen[place])) for score, place in descending(self.rows[chosen] @ query))
        scores = self.rows @ query
        scores[chosen] = -np.inf
        yield from descending(scores)


class Matrix:
    """Rows that are only ever appended; capacity doubles, so appending costs little on average."""

    def __init__(self, dims: int) -> None:
        self.count = 0
        self._rows: Array = np.empty((0, dims), np.float32)
        self._narrow: Array | None = None
        self._axes: Array | None = None
        self._narrowed = 0

    @classmethod
    def of(cls, rows: Array, narrow: Array | None, axes: Array | None) -> Matrix:
        """Return the matrix of these rows and their narrow copy; neither is ever written to."""
        matrix = cls(rows.shape[1])
        matrix.count = matrix._narrowed = len(rows)
        matrix._rows, matrix._narrow, matrix._axes = rows, narrow, axes
        return matrix

    @property
    def nbytes(self) -> int:
        """Memory held, in bytes."""
        return self._rows.nbytes + (0 if self._narrow is None else self._narrow.nbytes)

    def append(self, vectors: Array) -> None:
        """Add rows at the end."""
        start, self.count = self.count, self.count + len(vectors)
        if self.count > len(self._rows):
            capacity = max(self.count, 2 * start)
            self._rows = _with_capacity(self._rows[:start], capacity)
            self._narrow = None if self._narrow is None else _with_capacity(self._narrow[:start], capacity)
        self._rows[start : self.count] = vectors
        if self.count >= max(NARROW_FROM, 2 * self._narrowed):
            self._narrow_down()
        elif self._narrow is not None and self._axes is not None:
            self._narrow[start : self.count] = vectors @ self._axes

    def view(self) -> MatrixView:
        """Return the rows as they are now."""
        narrow = None if self._narrow is None else self._narrow[: self.count]
        return MatrixView(self._rows[: self.count], narrow, self._axes)

    def _narrow_down(self) -> None:
        rows = self._rows[: self.count]
        self._narrow, self._axes, self._narrowed = None, None, self.count
        if rows.shape[1] <= 2 * NARROW_DIMS:
            return
        axes = _principal_axes(rows)
        narrow = _with_capacity(rows @ axes, len(self._rows))
        if _loses_nothing(rows, narrow[: self.count], axes):
            self._narrow, self._axes = narrow, axes


def descending(scores: Array) -> Iterator[tuple[float, int]]:
    """Yield (score, index) from the highest score down, sorting only as far as the caller reads; -inf is left out."""
    ceiling, size = np.float32(np.inf), FIRST_BLOCK
    while True:
        floor = np.float32(-np.inf) if size >= len(scores) else np.partition(scores, len(scores) - size)[-size]
        block = np.flatnonzero((scores >= floor) & (scores < ceiling) & (scores > -np.inf))
        order = block[np.argsort(-scores[block], kind="stable")]
        yield from zip(scores[order].tolist(), order.tolist(), strict=True)
        if size >= len(scores) or floor == -np.inf:
            return
        ceiling, size = floor, size * 4


def _best(scores: Array, count: int) -> NDArray[np.intp]:
    return np.argpartition(scores, len(scores) - count)[-count:] if count < len(scores) else np.arange(len(scores))


def _with_capacity(rows: Array, capacity: int) -> Array:
    larger: Array = np.empty((capacity, rows.shape[1]), np.float32)
    larger[: len(rows)] = rows
    return larger


def _spread(count: int, size: int) -> NDArray[np.intp]:
    return np.linspace(0, count - 1, min(size, count)).astype(np.intp)


def _principal_axes(rows: Array) -> Array:
    sample = rows[_spread(len(rows), SAMPLE)].astype(np.float64)
    axes = np.linalg.eigh(sample.T @ sample)[1][:, -NARROW_DIMS:]
    return np.ascontiguousarray(axes, dtype=np.float32)


def _loses_nothing(rows: Array, narrow: Array, axes: Array) -> bool:
    for query in rows[_spread(len(rows), PROBES)]:
        wanted = _best(rows @ query, NEIGHBOURS)
        if not np.isin(wanted, _best(narrow @ (query @ axes), RESCORED)).all():
            return False
    return True
