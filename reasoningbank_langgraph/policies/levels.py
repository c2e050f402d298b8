"""Which lessons come first where no similar task was learned from: those that several tasks led to."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

Key = TypeVar("Key", bound=Hashable)

LOW: Final = 0.6
"""Below this, the best similarity is low. With the packaged embedder and a model of half a billion parameters, lessons
cost points only in the third of 100 problems whose nearest task was less similar (`examples/experiments`)."""
GENERAL: Final = 3
"""How many tasks have led to a general lesson, at least."""


def is_low(scores: Mapping[Key, float]) -> bool:
    """Say whether there are candidates and even the best is not similar."""
    return bool(scores) and max(scores.values()) < LOW


def by_levels(scores: Mapping[Key, float], tasks: Mapping[Key, int]) -> list[dict[Key, float]]:
    """Return candidates in levels: those of an earlier level come before all of a later one.

    If even the best is not similar, general ones are a level of their own before the others. Else there is one level.

    Args:
        scores: similarity of each, 0..1.
        tasks: how many tasks led to each, as far as it is known.
    """
    if not is_low(scores):
        return [dict(scores)]
    general = {key: score for key, score in scores.items() if tasks.get(key, 0) >= GENERAL}
    rest = {key: score for key, score in scores.items() if key not in general}
    return [general, rest] if general else [rest]
