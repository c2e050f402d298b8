"""How much the solutions of a cycle differ: a model that learns from itself may come to say one thing only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, Self

from reasoningbank_langgraph.records import normalise_task
from reasoningbank_langgraph.train.harvest.examples import chain_of

if TYPE_CHECKING:
    from reasoningbank_langgraph.records import Episode


class Variety(NamedTuple):
    """Figures of the attempts of one cycle, as `CycleSummary` explains them."""

    attempts: int
    right: int
    distinct: float
    repeated: float
    reply_length: float

    @classmethod
    def of(cls, attempts: Sequence[Episode]) -> Self:
        """Count the attempts of a cycle."""
        texts, ways = defaultdict[str, set[str]](set), defaultdict[str, set[object]](set)
        for one in attempts:
            texts[one.task_id].add(normalise_task(one.solution))
            if one.outcome == "success":
                ways[one.task_id].add(chain_of(one.solution) or normalise_task(one.solution))
        different = sum(map(len, texts.values()))
        return cls(
            attempts=len(attempts),
            right=sum(one.outcome == "success" for one in attempts),
            distinct=fmean(map(len, ways.values())) if ways else 0.0,
            repeated=1 - different / len(attempts) if attempts else 0.0,
            reply_length=fmean(len(one.solution) for one in attempts) if attempts else 0.0,
        )
