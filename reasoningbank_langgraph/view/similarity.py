"""Lessons by their similarity, placed for a drawing: the two directions in which their vectors differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from reasoningbank_langgraph.text.visible import printable
from reasoningbank_langgraph.view.html import short

if TYPE_CHECKING:
    from reasoningbank_langgraph.records import MemoryItem
    from reasoningbank_langgraph.store.row_layout import Vector

MOST = 1_000
"""Lessons on one map."""
_WIDTH, _LEAST_HEIGHT, _HEIGHT = 760, 240, 480
_EDGE, _RADIUS, _GAP = 24, 5, 9
_LABELS, _TRIES = 20, 200
_BASIS, _ROUNDS = 12, 20
_LETTERS, _LETTER_WIDTH, _LETTER_HEIGHT = 28, 6.0, 9
Places = NDArray[np.float64]


class Dot(NamedTuple):
    """A lesson in the drawing; its place is in pixels."""

    item: MemoryItem
    x: float
    y: float

    @property
    def anchor(self) -> str:
        """Which end of its title is beside it: the one that leaves more room."""
        return "start" if self.x < _WIDTH / 2 else "end"

    @property
    def beside(self) -> float:
        """Where that end is, across."""
        return self.x + (_GAP if self.anchor == "start" else -_GAP)


class Label(NamedTuple):
    """The title of a dot, beside it."""

    text: str
    x: float
    y: float
    anchor: str
    width: float
    """Roughly."""

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.x - self.width if self.anchor == "end" else self.x


class SimilarityMap(NamedTuple):
    """Dots, titles of some of them, and the size of the whole in pixels."""

    dots: Sequence[Dot]
    """From left to right."""
    labels: Sequence[Label]
    height: int
    share: float
    """Part of all the differences between the vectors that is in the two directions."""
    width: int = _WIDTH


def similarity_map(items: Sequence[MemoryItem], vectors: Mapping[str, Vector]) -> SimilarityMap | None:
    """Place the lessons that have a vector; None if none has. The same lessons are always placed alike."""
    known = [item for item in items if item.id in vectors]
    if not known:
        return None
    flat, share = _flattened(np.stack([vectors[item.id] for item in known]).astype(np.float64))
    places, height = _fitted(flat)
    order = np.lexsort((places[:, 1], places[:, 0]))
    dots = [Dot(known[row], *(round(float(one), 1) for one in places[row])) for row in order]
    return SimilarityMap(dots, _labels(dots, places[order]), height, share)


def _flattened(vectors: Places) -> tuple[Places, float]:
    """Return the first two principal components of each vector, and the part of the variance that is in them."""
    centred = vectors - vectors.mean(axis=0)
    found = centred @ _axes(centred)
    flat = np.zeros((len(vectors), 2))
    flat[:, : found.shape[1]] = found
    flat *= np.where(flat[np.abs(flat).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # an axis has no direction of its own
    total = float((centred**2).sum())
    return flat, float((flat**2).sum()) / total if total else 1.0


def _axes(centred: Places) -> Places:
    """Return the first two principal axes, by subspace iteration from a fixed start: quick also for long vectors."""
    basis = np.random.default_rng(0).standard_normal((centred.shape[1], _BASIS))
    for _ in range(_ROUNDS):
        basis = np.linalg.qr(centred.T @ (centred @ basis))[0]
    turned = np.linalg.svd(centred @ basis, full_matrices=False)[2]
    axes: Places = basis @ turned[:2].T
    return axes


def _fitted(flat: Places) -> tuple[Places, int]:
    """Return places in pixels, with one scale for both directions, and the height that they take."""
    spans = np.maximum(np.ptp(flat, axis=0), 1e-9)
    room = np.array([_WIDTH - 2 * _EDGE, _HEIGHT - 2 * _EDGE])
    scale = float((room / spans).min())
    height = max(_LEAST_HEIGHT, round(float(spans[1]) * scale) + 2 * _EDGE)
    middle = (flat.max(axis=0) + flat.min(axis=0)) / 2
    return (flat - middle) * scale + np.array([_WIDTH / 2, height / 2]), height


def _labels(dots: Sequence[Dot], places: Places) -> list[Label]:
    """Return titles that cover no dot and no other title, of dots that are far apart."""
    labels, row = list[Label](), int(np.abs(places - places.mean(axis=0)).sum(axis=1).argmin())
    nearest = np.full(len(dots), np.inf)
    for _ in range(min(_TRIES, len(dots))):
        free = (label for label in _beside(dots[row]) if not _covers(label, places, labels))
        labels += [label for label in [next(free, None)] if label]
        nearest = np.minimum(nearest, np.hypot(*(places - places[row]).T))
        row = int(nearest.argmax())
    return labels[:_LABELS]


def _beside(dot: Dot) -> list[Label]:
    """Return the title on each side of a dot, as far as it is in the drawing."""
    text = short(printable(dot.item.title), _LETTERS)
    letters = sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
    places = ((dot.x + _GAP, "start"), (dot.x - _GAP, "end"))
    labels = [Label(text, x, dot.y + 4, anchor, letters * _LETTER_WIDTH) for x, anchor in places]
    return [label for label in labels if 0 <= label.left <= _WIDTH - label.width]


def _covers(label: Label, places: Places, others: Sequence[Label]) -> bool:
    left, y = label.left, label.y - 4
    near = np.abs(places[:, 1] - y) < _LETTER_HEIGHT
    if (near & (places[:, 0] > left - _RADIUS) & (places[:, 0] < left + label.width + _RADIUS)).any():
        return True
    return any(
        abs(other.y - label.y) < 2 * _LETTER_HEIGHT and -other.width < other.left - left < label.width
        for other in others
    )
