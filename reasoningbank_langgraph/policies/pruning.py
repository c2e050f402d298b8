"""Which lessons go out of use, by rule, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import NamedTuple

from reasoningbank_langgraph.policies.credit import Credit
from reasoningbank_langgraph.records import MemoryItem


class Standing(NamedTuple):
    """A lesson in use, and what speaks for keeping it."""

    item: MemoryItem
    last_used: datetime
    """When an attempt that is known was last shown it; when it was written, if none is known."""
    novelty: float = 1.0
    """1 - its similarity to the most similar older lesson of the same outcome; 1 where that is not known."""

    @property
    def utility(self) -> float:
        """What pairs of attempts say of it; 0 without any."""
        known = self.item.utility
        return Credit(known.used, known.helped, known.hurt, known.ties).utility

    @property
    def value(self) -> float:
        """Verifier score x novelty; a lesson that no verifier scored counts as one of score 1."""
        score = self.item.verifier_score
        return (1.0 if score is None else score) * self.novelty


class Leaving(NamedTuple):
    """Why a lesson goes out of use."""

    rule: str
    """The rule, in words."""
    figures: str
    """What is so of the lesson."""

    def __str__(self) -> str:
        """Return both."""
        return f"{self.rule}: {self.figures}"


@dataclass(frozen=True)
class PruneRules:
    """The arguments of `MemoryBank.prune`.

    Raises:
        ValueError: there is no rule, or one asks for a number that makes no sense.
    """

    expired: bool = False
    min_utility: float | None = None
    unused_days: float | None = None
    min_value: float | None = None
    capacity: int | None = None

    def __post_init__(self) -> None:
        given = {rule.name: getattr(self, rule.name) for rule in fields(self)}
        if all(value is None or value is False for value in given.values()):
            raise ValueError(f"prune() takes at least one rule of {', '.join(given)}")
        for name, lowest, highest in (
            ("min_utility", -1, 1),
            ("unused_days", 0, 36_500),
            ("min_value", 0, 1),
            ("capacity", 0, 10**9),
        ):
            if given[name] is not None and not lowest <= given[name] <= highest:
                raise ValueError(f"{name} must be from {lowest} to {highest}, got {given[name]!r}")
        if self.capacity is not None and int(self.capacity) != self.capacity:
            raise ValueError(f"capacity must be a whole number, got {self.capacity!r}")

    @property
    def needs_novelty(self) -> bool:
        """Whether lessons have to be compared with each other."""
        return self.min_value is not None or self.capacity is not None

    def choose(self, lessons: Collection[Standing], now: datetime) -> dict[str, Leaving]:
        """Return the lessons that go out of use, by id: those that break a rule, then those beyond capacity."""
        found = {one.item.id: leaving for one in lessons if (leaving := self._broken(one, now))}
        if self.capacity is not None:
            left = sorted((one for one in lessons if one.item.id not in found), key=_worth)
            rule = f"over the capacity of {self.capacity}"
            found |= {one.item.id: Leaving(rule, _figures(one)) for one in left[: max(0, len(left) - self.capacity)]}
        return found

    def _broken(self, one: Standing, now: datetime) -> Leaving | None:
        until = one.item.valid_until
        if self.expired and until is not None and until <= now:
            return Leaving("no longer valid", f"valid until {until:%Y-%m-%d}")
        if self.min_utility is not None and one.utility < self.min_utility:
            return Leaving(f"utility below {self.min_utility:g}", f"{one.utility:.2f}")
        if self.unused_days is not None and now - one.last_used > timedelta(days=self.unused_days):
            return Leaving(f"not used for {self.unused_days:g} days", f"last on {one.last_used:%Y-%m-%d}")
        if self.min_value is not None and one.value < self.min_value:
            return Leaving(f"verifier score x novelty below {self.min_value:g}", f"{one.value:.2f}")
        return None


def last_uses(shown: Iterable[tuple[Iterable[str], datetime]]) -> dict[str, datetime]:
    """Return when each lesson was last shown, from what attempts were shown and when."""
    found: dict[str, datetime] = {}
    for ids, moment in shown:
        found |= {name: max(moment, found.get(name, moment)) for name in ids}
    return found


def _worth(one: Standing) -> tuple[float, float, datetime, str]:
    """Return what lessons are ordered by when there is no room for all: those that leave first come first."""
    return one.utility, one.value, one.last_used, one.item.id


def _figures(one: Standing) -> str:
    return f"utility {one.utility:.2f}, verifier score x novelty {one.value:.2f}, last used {one.last_used:%Y-%m-%d}"
