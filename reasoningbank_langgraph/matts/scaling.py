"""What can be chosen about the scaling of one task."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from reasoningbank_langgraph.chat.threads import is_plain
from reasoningbank_langgraph.extraction import Judged

Mode = Literal["parallel", "sequential", "both"]
"""How several attempts are made. `parallel`: side by side; `sequential`: one, whose answer is checked again; `both`:
side by side, each checked again."""
Choose = Callable[[Sequence[Judged]], int]
"""Gets the rollouts that ended, in order, and returns the index of the best."""
Select = Literal["verifier", "majority", "model"] | Choose
"""Where selection starts; what settles nothing goes on to the next. `verifier`: with what a verifier accepted;
`majority`: with the most frequent answer; `model`: with a model's choice. A function of your own selects alone."""

MemoryUse = Literal["all", "none", "half", "on_disagreement"]
"""Which rollouts see the memory. `all`: every one does; `none`: no one does; `half`: a half runs without, the larger
one if k is odd, drawn by a hash of the task; `on_disagreement`: the first ones run without, and only if their answers
differ, the rest is run, with memory."""

PAPER_TEMPERATURE = 0.7
"""Sampling temperature of the paper's rollouts (appendix A.3)."""


_COUNTS = (
    ("k", 1, True),
    ("min_attempts", 1, True),
    ("max_concurrency", 1, False),
    ("stop_after", 1, False),
    ("checks", 0, False),
    ("unaided", 2, False),
)
"""Fields that count something: name, least value, whether there has to be one."""


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """How much is tried on one task, and how the best is found.

    `k` counts attempts: `parallel` makes k of them side by side, `sequential` makes one and checks it k - 1 times,
    `both` makes k side by side and checks each.
    """

    k: int = 3
    mode: Mode = "parallel"
    select: Select = "verifier"
    """Where selection starts: with the `verifier`, else the `majority`, else the choice of a `model`; each goes on to
    the next where it settles nothing. What refuses, gives no answer or is judged wrong has no vote where another has
    one. Or a function of your own."""
    min_attempts: int = 1
    """Rollouts that must end without an error."""
    max_concurrency: int | None = None
    """Rollouts of one task at a time; the rest follow in waves. None: all at once."""
    temperatures: float | Sequence[float | None] | None = None
    """Temperatures of the rollouts, used in turn; None in place of one leaves the solver's own. Default: the solver's
    own for the first rollout and 0.7 (paper appendix A.3) for the others."""
    stop_after: int | None = None
    """End early: when a verifier has accepted that many rollouts, or no further rollout can change the majority."""
    checks: int | None = None
    """Checks of each rollout. Default: k - 1 in mode `sequential`, 1 in mode `both`."""
    all_checks: bool = False
    """Make every check, also after two in a row that left the answer as it was: each rollout then costs the same."""
    refiner: Any = None
    """Node that checks: like a solver, it reads `task, messages, memory_prompt` (the last message asks for the check)
    and returns `answer` and/or `messages`. Default: the model is asked directly."""
    verifiers: Collection[str] = ("reference",)
    """Judges (`Verdict.judge`) whose verdict is proof and not opinion. `reference` knows the answer: an oracle."""
    rollout_time_limit: float | None = 600.0
    """Seconds one rollout may take, judge and checks included; then it counts as failed. None for no limit."""
    memory: MemoryUse = "all"
    """Which rollouts see the memory: `all`, `none`, a `half`, or with `on_disagreement` those after the first ones, and
    only if the first ones, made without memory, disagree. `selection["comparison"]` counts what came of both sides; it
    is fair evidence with `half` only."""
    unaided: int | None = None
    """With `on_disagreement`: rollouts that run without memory first, fewer than k. Default: a bare majority of k."""
    agreement: float = 1.0
    """With `on_disagreement`: the share of the unaided rollouts that must give the same answer, above 0 and up to 1,
    for it to stand: two at least, and more than give any other. One that fails, refuses or gives no answer agrees with
    none; what a judge says does not count."""

    def __post_init__(self) -> None:
        if isinstance(self.verifiers, str):
            object.__setattr__(self, "verifiers", (self.verifiers,))
        if self.mode not in ("parallel", "sequential", "both"):
            raise ValueError(f"mode must be 'parallel', 'sequential' or 'both', got {self.mode!r}")
        if self.select not in ("verifier", "majority", "model") and not is_plain(self.select):
            raise ValueError(f"select must be 'verifier', 'majority', 'model' or a sync function, got {self.select!r}")
        for name, least, wanted in _COUNTS:
            value = getattr(self, name)
            if not _is_count(value, least) and (wanted or value is not None):
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
        if self.min_attempts > self.rollouts:
            raise ValueError(f"min_attempts is {self.min_attempts} and there are {self.rollouts} rollouts: lower it")
        if self.checks and self.mode == "parallel":
            raise ValueError(f"checks={self.checks} needs mode='sequential' or 'both'")
        self._check_numbers()
        self._check_memory()

    def _check_numbers(self) -> None:
        if self.rollout_time_limit is not None and not _is_positive(self.rollout_time_limit):
            raise ValueError(f"rollout_time_limit must be seconds above 0 or None, got {self.rollout_time_limit!r}")
        asked = self._several_temperatures
        if not asked or not all(value is None or value == 0 or _is_positive(value) for value in asked):
            raise ValueError(f"temperatures must be one number of at least 0, or several, got {self.temperatures!r}")

    def _check_memory(self) -> None:
        if self.memory not in ("all", "none", "half", "on_disagreement"):
            raise ValueError(f"memory must be 'all', 'none', 'half' or 'on_disagreement', got {self.memory!r}")
        if not _is_positive(self.agreement) or self.agreement > 1:
            raise ValueError(f"agreement must be a share above 0 and up to 1, got {self.agreement!r}")
        if self.memory == "half" and self.rollouts < 2:
            raise ValueError("memory='half' compares rollouts: give mode='parallel' or 'both', and k of at least 2")
        if self.memory == "on_disagreement":
            self._check_first_attempts()
        elif self.unaided is not None:
            raise ValueError(f"unaided={self.unaided} needs memory='on_disagreement'")

    def _check_first_attempts(self) -> None:
        if self.rollouts < 3:
            raise ValueError("memory='on_disagreement' needs mode='parallel' or 'both', and k of at least 3")
        if self.first_attempts >= self.rollouts:
            raise ValueError(f"unaided={self.unaided} leaves no rollout for the memory: k is {self.k}")
        if self.min_attempts > self.first_attempts:
            raise ValueError(
                f"min_attempts is {self.min_attempts}, and {self.first_attempts} rollouts may settle the answer: "
                "lower it, or raise unaided"
            )

    @property
    def first_attempts(self) -> int:
        """Rollouts that are made before the memory is looked up: 0 unless `memory` is `on_disagreement`."""
        if self.memory != "on_disagreement":
            return 0
        return self.rollouts // 2 + 1 if self.unaided is None else self.unaided

    @property
    def rollouts(self) -> int:
        """Rollouts of one task at most."""
        return 1 if self.mode == "sequential" else self.k

    @property
    def checks_each(self) -> int:
        """Checks of each rollout at most."""
        if self.mode == "parallel":
            return 0
        default = self.k - 1 if self.mode == "sequential" else 1
        return default if self.checks is None else self.checks

    @property
    def wave(self) -> int:
        """Rollouts that start together: with an early end in view, no more than can bring it about."""
        if self.max_concurrency:
            return self.max_concurrency
        return max(self.stop_after, self.rollouts // 2 + 1) if self.stop_after else self.rollouts

    def temperature(self, number: int) -> float | None:
        """Return the temperature of a rollout, None for the solver's own."""
        if self.temperatures is None:
            return PAPER_TEMPERATURE if number else None
        several = self._several_temperatures
        return several[number % len(several)]

    @property
    def _several_temperatures(self) -> Sequence[float | None]:
        given = self.temperatures
        return [given] if isinstance(given, str) or not isinstance(given, Sequence) else given


def _is_count(value: Any, least: int) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and int(value) >= least


def _is_positive(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool) and 0 < float(value) < math.inf
