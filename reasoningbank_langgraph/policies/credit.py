"""What a lesson is worth: attempts with and without it at the same task, compared.

A lesson that is shown on easy tasks sees them succeed whether it helps or not. So the success of the tasks it was shown
on says nothing of it; only the same task solved with it and without it does.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from reasoningbank_langgraph.policies.evidence import evidence
from reasoningbank_langgraph.policies.guard import Trial
from reasoningbank_langgraph.records import Provenance, Record

Key = TypeVar("Key", bound=Hashable)

ELIGIBLE = 0.9
"""What is at least this part as similar as the last one that similarity alone would choose may take its place."""
HARMFUL = 20.0
"""Evidence of harm at which a lesson is quarantined; a lesson without effect ever reaches it with a chance of 5 %."""
_TAIL = 0.1
_STEPS = 30


class Credit(NamedTuple):
    """What pairs of attempts at one task, one that was shown a lesson and one shown nothing, say of the lesson."""

    shown: int = 0
    """Attempts it was shown in, whether they have a partner or not."""
    right_with: int = 0
    """Pairs in which only the attempt with it was right."""
    right_without: int = 0
    """Pairs in which only the attempt without it was right."""
    ties: int = 0

    @classmethod
    def total(cls, credits: Iterable[Credit]) -> Credit:
        """Return the sum of several."""
        return cls(*(sum(column) for column in zip(cls(), *credits, strict=True)))

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.right_with + self.right_without + self.ties

    @property
    def utility(self) -> float:
        """Part of the tasks that the lesson surely gains, or below 0 surely loses; 0 without evidence.

        The chance that a pair that differs goes to the attempt with it has a Beta posterior with a uniform prior. Of
        the interval that holds 80 % of it, the bound nearer to one half counts, as a gain over one half times the part
        of the pairs that differ; an interval around one half counts 0.
        """
        differ = self.right_with + self.right_without
        if differ == 0:
            return 0.0
        more, fewer = max(self.right_with, self.right_without), min(self.right_with, self.right_without)
        sure = max(0.0, 2 * _lower_bound(more, fewer) - 1) * differ / self.pairs
        return sure if self.right_with >= self.right_without else 0.0 - sure

    @property
    def is_harmful(self) -> bool:
        """Whether an always-valid test says that it does harm, so that it may be looked at after each attempt."""
        return evidence(self.right_without, self.right_with) >= HARMFUL

    @property
    def is_helpful(self) -> bool:
        """Whether the same test says that it helps."""
        return evidence(self.right_with, self.right_without) >= HARMFUL


def compare(shown: Sequence[bool], held_out: Sequence[bool]) -> Credit:
    """Return what attempts at one task say of the lesson that was shown in the first: in pairs, in their order.

    Which attempts were shown it must not depend on how others ended. Where it is shown because attempts without it
    disagree, those without it are bad by choice, and any lesson would look good beside them.

    Args:
        shown: whether each attempt with it was right.
        held_out: likewise for those without any lesson.
    """
    pairs = list(zip(shown, held_out, strict=False))
    right_with = sum(one and not other for one, other in pairs)
    right_without = sum(other and not one for one, other in pairs)
    return Credit(len(shown), right_with, right_without, len(pairs) - right_with - right_without)


class GroupCredit(Record):
    """What a group of attempts at one task says of the lessons that some of them were shown."""

    ids: tuple[str, ...]
    """Ids of the lessons."""
    credit: Credit
    known_as: str
    """Id of a lesson or an episode of the group, by which its branch knows it."""
    provenance: Provenance


class Evidence(NamedTuple):
    """What one experience says of the memory it was shown."""

    trial: Trial | None = None
    """Its task as the guard drew it, with the outcome."""
    credit: GroupCredit | None = None


def eligible(scores: Mapping[Key, float], k: int) -> list[Key]:
    """Return the candidates that are similar enough to be among the k that are chosen, the most similar first."""
    by_score = sorted(scores, key=lambda key: -scores[key])
    last = scores[by_score[:k][-1]] if by_score else 0.0
    floor = last * (ELIGIBLE if last > 0 else 2 - ELIGIBLE)  # a store may score below 0
    return [key for key in by_score if scores[key] >= floor]


def by_utility(candidates: Sequence[Key], utilities: Mapping[Key, float]) -> list[Key]:
    """Return candidates with those of higher `Credit.utility` first, and else in their order."""
    return sorted(candidates, key=lambda key: -utilities.get(key, 0.0))


@lru_cache(maxsize=4096)
def _lower_bound(more: int, fewer: int) -> float:
    """Return what a Beta(more + 1, fewer + 1) variable is below with a chance of 10 %, by halving an interval."""
    low, high = 0.0, (more + 1) / (more + fewer + 2)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _chance_below(middle, more, fewer) > _TAIL else (middle, high)
    return low


def _chance_below(place: float, more: int, fewer: int) -> float:
    """Return the chance that the variable is below a place, which is below its mean: a sum of falling terms."""
    draws = more + fewer + 1
    chosen = math.lgamma(draws + 1) - math.lgamma(more + 2) - math.lgamma(fewer + 1)
    term = total = math.exp(chosen + (more + 1) * math.log(place) + fewer * math.log1p(-place))
    for count in range(more + 1, draws):
        term *= (draws - count) / (count + 1) * place / (1 - place)
        total += term
        if term < total * 1e-12:
            break
    return total
