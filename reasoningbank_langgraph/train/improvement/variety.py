"""How much the solutions of a cycle differ: a model that learns from itself may come to say one thing only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, Self

from reasoningbank_langgraph.experiments.solving import is_right
from reasoningbank_langgraph.records import normalise_task
from reasoningbank_langgraph.train.harvest.examples import chain_of

if TYPE_CHECKING:
    from reasoningbank_langgraph.math_solver.problems import Problem


class Variety(NamedTuple):
    """Figures of the attempts of one cycle, as `CycleSummary` explains them."""

    attempts: int
    right: int
    distinct: float
    repeated: float
    reply_length: float

    @classmethod
    def of(cls, replies: Mapping[Problem, Sequence[str]]) -> Self:
        """Count the attempts of a cycle, by problem."""
        every = [reply for said in replies.values() for reply in said]
        right = {problem: [one for one in said if is_right(problem, one)] for problem, said in replies.items()}
        ways = [len({chain_of(one) or normalise_task(one) for one in said}) for said in right.values() if said]
        different = sum(len({*map(normalise_task, said)}) for said in replies.values())
        return cls(
            attempts=len(every),
            right=sum(map(len, right.values())),
            distinct=fmean(ways) if ways else 0.0,
            repeated=1 - different / len(every) if every else 0.0,
            reply_length=fmean(map(len, every)) if every else 0.0,
        )
