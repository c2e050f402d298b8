"""What training brought, adapter by adapter and cycle by cycle: records of `summary.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from reasoningbank_langgraph.experiments.stats import Interval
from reasoningbank_langgraph.records import Count, Record


class Retest(Record):
    """What an arm made of the pairs that the first arm missed, and of those that it had right."""

    arm: str
    solved: Interval
    """Share of the missed ones."""
    missed: Count
    broken: Interval
    """Share of those it had right."""
    had: Count


class AdapterSummary(Record):
    """What an adapter was made from and how well it fits."""

    adapter: str
    """Also the name of its arm."""
    solutions: Count
    """That were looked at."""
    left_out: Mapping[str, int]
    """Of these, by reason."""
    harvested: Count
    """Rows that the harvest made; of these chance took as many as the smallest harvest has."""
    train: Count
    """Rows of an epoch, each as often as it weighs."""
    validation: Count
    too_long: Count
    """Rows with too many tokens, which were not learned."""
    characters: Count
    """Of the solutions of an epoch."""
    data_sha256: str
    loss_before: float
    """Validation loss without the adapter."""
    loss_after: float
    best_step: Count
    """Whose weights were kept."""
    steps: Count
    seconds: float
    """Of the training."""


class CycleSummary(Record):
    """One cycle of protocol `compound`: what was learned, what was trained of it, and what the test says."""

    cycle: Annotated[int, Field(ge=1)]
    bank: Count
    """Items at its end."""
    attempts: Count
    """At the train problems."""
    right: Count
    """Of these."""
    distinct: float
    """Right solutions of a problem that was solved, equal ones counted once, mean over problems: two are equal where
    their numbers are, in order."""
    repeated: float
    """Share of the attempts whose text an earlier attempt of the cycle at that problem has too."""
    reply_length: float
    """Mean over the attempts, in characters."""
    rows: Count
    """That were harvested of all cycles so far, to train on and to validate with."""
    accepted: bool
    reason: str
    """`accepted`, `not better`, or why nothing was trained."""
    tried: Count = 0
    """Validation problems that adapter and base answered."""
    tried_right: Count = 0
    """With the adapter."""
    base_right: Count = 0
    p: float | None = None
    """Of McNemar's exact test, adapter against base; None without a trial."""
