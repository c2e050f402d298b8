"""How an adapter is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass

TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Layers that can be adapted, by their names in transformers."""


@dataclass(frozen=True)
class TuneSettings:
    """How an adapter is trained; all numbers but the seed are above 0."""

    rank: int = 8
    """Of the two matrices that are learned for each target; what they add is scaled by 2."""
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    """Layers to adapt, some of `TARGETS`; the attention."""
    epochs: float = 3.0
    """How often each row is learned, if the validation loss does not end it earlier."""
    learning_rate: float = 2e-4
    """At its highest: it rises in the first twentieth of the steps and falls as a cosine."""
    batch: int = 8
    """Rows a step."""
    longest: int = 1024
    """Tokens of a row; rows with more are left out and counted."""
    patience: int = 2
    """How many validations in a row may bring no lower loss."""
    seed: int = 0
    """Of the order of the rows and of the first weights."""

    def __post_init__(self) -> None:
        numbers = (self.rank, self.epochs, self.learning_rate, self.batch, self.longest, self.patience)
        if not all(0 < number < math.inf for number in numbers):
            raise ValueError(f"numbers of a training, but for the seed, are above 0 and finite: {self}")
        if not 0 <= self.seed < 2**32:
            raise ValueError(f"the seed is 0 or more and below 2**32, got {self.seed}")
        if not self.targets or {*self.targets} - {*TARGETS}:
            raise ValueError(
                f"layers to adapt are some of {', '.join(TARGETS)}, got {', '.join(self.targets) or 'none'}"
            )
