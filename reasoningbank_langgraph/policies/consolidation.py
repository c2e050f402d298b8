"""What becomes of a new lesson beside those a bank has: added, left out, or linked to one that says the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, Protocol, get_args

from reasoningbank_langgraph.policies.credit import Credit
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, MemoryItem, normalise_task

Copies = Literal["append", "skip", "link"]
"""What becomes of a lesson that the bank has already. `append`: it is added all the same, as in the paper; `skip`: one
that is equal is left out; `link`: that too, and one that says nearly the same is added with a link, so that a search
shows one of them."""
Action = Literal["add", "skip", "link"]
Effect = Literal["skipped", "linked", "run_cap", "hour_cap", "evicted"]
"""What a policy did with a lesson but adding it. `skipped`: left out, for the bank has it; `linked`: added, with a link
to a near copy; `run_cap`: left out, for its run had added as many as it may; `hour_cap`: left out, for the hour had
brought as many as it may; `evicted`: an old lesson was set aside, for the bank was full."""

MEASURED: Mapping[str, float] = MappingProxyType({"all-MiniLM-L6-v2": 0.8})
"""How similar title and description of near copies are, by embedder. Of 164 lessons that a model of 1.5 billion
parameters wrote, all 17 pairs above this and above `OVERLAP` say the same, read one by one; of the 78 pairs above this
alone, 43 do."""
OVERLAP = 0.6
"""Part of the words of two near copies that both have."""
_ROOM = 20


class Neighbour(NamedTuple):
    """A lesson of the bank that is like a new one: of the same outcome, in use, and valid as long."""

    item: MemoryItem
    similarity: float | None
    """Of title and description, by the store's embedder; None if the store has no index."""
    overlap: float
    """Part of the words of the two that both have, 0..1; 1 for one that is equal."""
    is_equal: bool
    """Whether its texts, tags, scope and difficulty are those of the new one."""


class Treatment(NamedTuple):
    """What is to become of a new lesson: it is added (`add`), left out (`skip`), or added with a link (`link`)."""

    action: Action
    to: str | None = None
    """Id of the neighbour it is skipped for or linked to."""


class Decide(Protocol):
    """A policy of your own: a function that decides on one new lesson, and depends on nothing but its arguments."""

    def __call__(self, lesson: MemoryItem, near: Sequence[Neighbour], /) -> Treatment:
        """Return what is to become of the lesson.

        Args:
            lesson: the new lesson.
            near: those of the bank that are equal, and then the ten most similar ones.
        """


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Keeps a bank small: lessons it has already are left out or linked, and there are bounds on how many it takes.

    A decision is made once for each attempt and written together with its lessons, so a retry or a replay decides
    alike. No lesson is changed. Lessons of different outcomes are never compared: a success stands beside a failure.

    Raises:
        ValueError: a setting makes no sense.
    """

    copies: Copies | Decide = "link"
    """What becomes of lessons the bank has already: `append`, `skip`, `link`, or a function of your own."""
    similarity: float | None = None
    """From which similarity of title and description on two lessons can be near copies, 0..1. Default: what was
    measured for the embedder. Their words must agree as well (`OVERLAP`)."""
    capacity: int | None = None
    """Lessons in use at most. When there are more, old ones are set aside (`quarantined`; `MemoryBank.set_status`
    brings them back), a twentieth of the capacity at once: first those of low utility, among these linked copies, and
    among these the oldest."""
    per_run: int | None = None
    """Lessons that one run may add: the one that `run_id` in the config names, or else each attempt by itself."""
    per_hour: int | None = None
    """Lessons that may be added to the bank within an hour, imported ones included."""

    def __post_init__(self) -> None:
        if not callable(self.copies) and self.copies not in get_args(Copies):
            raise ValueError(f"copies must be 'append', 'skip', 'link' or a function, got {self.copies!r}")
        if self.similarity is not None and not 0 < self.similarity <= 1:
            raise ValueError(f"similarity must be above 0 and up to 1, got {self.similarity!r}")
        for name, least in (("capacity", ITEMS_PER_GROUP), ("per_run", 1), ("per_hour", 1)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < least):
                raise ValueError(f"{name} must be a whole number of at least {least} or None, got {value!r}")

    @property
    def only_appends(self) -> bool:
        """Whether every lesson is added and none leaves."""
        return self.copies == "append" and self.capacity is self.per_run is self.per_hour is None

    def decide(self, lesson: MemoryItem, near: Sequence[Neighbour]) -> Treatment:
        """Return what is to become of a lesson.

        Args:
            lesson: the new lesson.
            near: those of the bank that are like it, equal ones first, then the most similar.

        Raises:
            ValueError: a function of your own decided on something else than one of these neighbours.
        """
        if callable(self.copies):
            return _checked(self.copies(lesson, near), near)
        if self.copies == "append":
            return Treatment("add")
        for one in near:
            if one.is_equal:
                return Treatment("skip", one.item.id)
            if self.copies == "link" and self._is_copy(one):
                return Treatment("link", one.item.id)
        return Treatment("add")

    def _is_copy(self, near: Neighbour) -> bool:
        """Say whether a neighbour says nearly the same: title and description are similar, and so are all words."""
        if near.similarity is None or self.similarity is None:
            return False
        return near.similarity >= self.similarity and near.overlap >= OVERLAP


PolicyLike = Copies | Policy
"""What `policy=` takes: `append`, `skip`, `link`, or a `Policy` with bounds or a function of your own."""


def as_policy(policy: PolicyLike) -> Policy:
    """Return a policy given by its name or as it is. Raises `ValueError` or `TypeError` if there is no such policy."""
    if isinstance(policy, str):
        return Policy(copies=policy)
    if not isinstance(policy, Policy):
        raise TypeError(f"policy must be 'append', 'skip', 'link' or a Policy, got {type(policy).__name__}")
    return policy


def words_of(title: str, description: str, content: str) -> frozenset[str]:
    """Return the words of a lesson."""
    return frozenset(re.findall(r"\w+", normalise_task(f"{title} {description} {content}")))


def word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return which part of the words of two lessons both have, 0..1."""
    return len(one & other) / len(one | other) if one or other else 1.0


def leaving(residents: Sequence[MemoryItem], capacity: int, coming: int) -> list[MemoryItem]:
    """Return the lessons that leave a full bank to make room for new ones, the first to go first.

    Args:
        residents: the lessons in use, each with its utility as `MemoryItem.utility`.
        capacity: lessons in use at most.
        coming: how many are to be added.
    """
    over = len(residents) + coming - capacity
    if over <= 0:
        return []
    stay = {item.id for item in residents}
    order = sorted(residents, key=lambda item: (_net(item), item.near not in stay, item.created_at, item.id))
    return order[: min(len(residents), max(over, capacity // _ROOM))]


def _net(item: MemoryItem) -> float:
    worth = item.utility
    return Credit(worth.used, worth.helped, worth.hurt, worth.ties).utility


def _checked(decision: object, near: Sequence[Neighbour]) -> Treatment:
    ids = {one.item.id for one in near}
    if not isinstance(decision, Treatment) or decision.action not in get_args(Action):
        raise ValueError(f"a policy returns a Treatment with 'add', 'skip' or 'link', got {decision!r:.200}")
    if (decision.action == "link" or decision.to is not None) and decision.to not in ids:
        raise ValueError(f"a policy skips or links for one of the neighbours it was given, got {decision!r:.200}")
    return decision
