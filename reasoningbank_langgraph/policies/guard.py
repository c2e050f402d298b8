"""Solves a share of the tasks without memory and switches it off where it hurts, on where it helps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from reasoningbank_langgraph.policies.evidence import evidence
from reasoningbank_langgraph.records import Count, Record

GuardState = Literal["trying", "on", "off"]
"""What a guard has found. `trying`: nothing yet, memory is shown; `on`: memory helps; `off`: memory hurts, so it is
shown to a few tasks only, which tell when that changes."""
Withheld = Literal["held_out", "guard_off"]
"""Why lessons that were found are not shown. `held_out`: the task is one of those that are solved without memory to
compare; `guard_off`: memory hurts and is switched off."""

_RARE = 0.25
"""Off, memory is shown to this part of the share that would else go without it."""
_WAITING = 8
_KINDS: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("share", (float, int), "a number"),
    ("alpha", (float, int), "a number"),
    ("model", str, "the name of a model"),
    ("seed", int, "a whole number"),
)


class Pairs(Record):
    """Pairs of tasks, one solved with memory and one without, by what came of the two."""

    fixed: Count = 0
    """Right with memory, wrong without."""
    broken: Count = 0
    """Wrong with memory, right without."""
    ties: Count = 0

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return self.fixed + self.broken + self.ties

    @property
    def hurts(self) -> float:
        """How much the pairs speak for memory doing harm: 1 is nothing, 20 is beyond 5 % of chance."""
        return evidence(self.broken, self.fixed)

    @property
    def helps(self) -> float:
        """How much they speak for memory doing good."""
        return evidence(self.fixed, self.broken)

    @property
    def harm_chance(self) -> float:
        """Chance that memory does harm, from 0 to 1, where before the pairs every chance of a break was as likely.

        Of a pair that differs, the chance that it is a break is then above 1/2 with this probability: `hurts` and
        `helps` are the two parts of the same integral.
        """
        return self.hurts / (self.hurts + self.helps)

    def with_one(self, *, shown: bool, held_out: bool) -> Pairs:
        """Return these and one more pair: whether each of its two tasks was solved."""
        kind = "ties" if shown == held_out else "fixed" if shown else "broken"
        return self.model_copy(update={kind: getattr(self, kind) + 1})


class GuardStatus(Record):
    """What a guard knows of one bank and one model."""

    model: str = ""

    state: GuardState = "trying"
    shown: Count = 0
    """Tasks solved with memory, in all; `shown_right` of them rightly."""
    shown_right: Count = 0
    held_out: Count = 0
    """Tasks solved without it, though there were lessons for them."""
    held_out_right: Count = 0
    pairs: Pairs = Pairs()
    """Of the test that runs."""
    decided_by: Pairs | None = None
    """Of the last test that came to an end."""
    tests: Count = 0
    """How many tests came to an end."""
    changes: Count = 0
    """How often the state changed."""
    waiting_shown: tuple[bool, ...] = ()
    """Whether tasks were solved that have no partner yet, the newest last."""
    waiting_held_out: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Guard:
    """Keeps memory from costing accuracy for long: some tasks are solved without it, and the difference is tested.

    A bank has a guard of its own for each model. A task with memory and one without, the latest that has no partner,
    make a pair; an always-valid test looks at the pairs of which one was solved (`GuardStatus.pairs`). Every test that
    comes to an end decides, `off` or `on`, and the next one begins with no pairs, also where it confirmed the state: so
    what an old bank did binds no decision on the present one. Each test finds harm where there is none with a chance
    of at most `alpha`; a memory that never makes a difference is ever switched off with one of at most
    `alpha / (1 - alpha)`. Mild harm is found late.

    Switched off, memory is shown to a quarter of `share` only. Between the two, the pairs of the running test say how
    many tasks see it: the likelier it is that memory does harm, the fewer (`held_out`), so that little is lost before
    a test comes to its end. Only pairs that are complete move this, so the test stays valid.

    Raises:
        ValueError: `share` or `alpha` is not between 0 and 1.
        TypeError: one of the four is of another type.
    """

    share: float = 0.2
    """Part of the tasks that are solved without memory, chosen by a hash of the task, anew for each test, where nothing
    speaks for harm. The evidence grows fastest at one half."""
    alpha: float = 0.05
    """Chance of a false alarm of one test."""
    model: str = ""
    """A name for the model that solves: another one begins anew."""
    seed: int = 0
    """Another one chooses other tasks."""

    def __post_init__(self) -> None:
        for name, kinds, wanted in _KINDS:
            if not isinstance(value := getattr(self, name), kinds) or isinstance(value, bool):
                raise TypeError(f"{name} must be {wanted}, got {type(value).__name__}: {value!r:.80}")
        for name in ("share", "alpha"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must be between 0 and 1, got {getattr(self, name)!r}")

    def held_out(self, status: GuardStatus) -> float:
        """Return the part of the tasks that is solved without memory as things stand, from 0 to 1."""
        most, lean = 1 - _RARE * self.share, 2 * status.pairs.harm_chance - 1
        if status.state == "off":
            return most - max(0.0, -lean) * (most - self.share)
        return self.share + max(0.0, lean) * (most - self.share)

    def trial(self, task_key: str, status: GuardStatus) -> Trial:
        """Return how a task is to be solved, with memory or without: the same while no more pairs are known."""
        digest = hashlib.sha256(f"{self.seed}|{status.tests}|{task_key}".encode()).digest()
        withheld: Withheld | None = None
        if int.from_bytes(digest[:8]) / 2**64 < self.held_out(status):
            withheld = "guard_off" if status.state == "off" else "held_out"
        return Trial(guard=self, task_key=task_key, test=status.tests, withheld=withheld)

    def after(self, status: GuardStatus, *, shown: bool, right: bool) -> GuardStatus:
        """Return what is known after one more task was solved, with memory or without it, rightly or not.

        A task may come once in a test: one that comes often would else decide alone.
        """
        arm, other = ("shown", "held_out") if shown else ("held_out", "shown")
        counted = {arm: getattr(status, arm) + 1, f"{arm}_right": getattr(status, f"{arm}_right") + right}
        own, partners = getattr(status, f"waiting_{arm}"), getattr(status, f"waiting_{other}")
        if not partners:
            return status.model_copy(update={**counted, f"waiting_{arm}": (*own, right)[-_WAITING:]})
        outcomes = {arm: right, other: partners[-1]}
        pairs = status.pairs.with_one(shown=outcomes["shown"], held_out=outcomes["held_out"])
        left = {f"waiting_{other}": partners[:-1]}
        return self._decide(status.model_copy(update={**counted, **left, "pairs": pairs}))

    def _decide(self, status: GuardStatus) -> GuardStatus:
        pairs, enough = status.pairs, 1 / self.alpha
        if max(pairs.hurts, pairs.helps) < enough:
            return status
        state: GuardState = "off" if pairs.hurts >= enough else "on"
        decided = {"state": state, "decided_by": pairs, "tests": status.tests + 1}
        afresh = {"pairs": Pairs(), "waiting_shown": (), "waiting_held_out": ()}
        return status.model_copy(update={**decided, **afresh, "changes": status.changes + (state != status.state)})


class Trial(Record):
    """One task on which a guard tries what memory does."""

    guard: Guard
    task_key: str
    test: Count
    """The test it belongs to, by how many came to an end before."""
    withheld: Withheld | None = None
    """Why it is solved without memory; None where it is solved with it."""
    ids: tuple[str, ...] = ()
    """Ids of the lessons that every attempt at it is shown."""
    right: bool | None = None
    """Whether it was solved; None while that is unknown."""
