"""What a walk over threads has seen, what it has learned, and what it has left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal, NamedTuple

SkipReason = Literal[
    "already_learned",
    "forgotten",
    "no_task",
    "no_answer",
    "interrupted",
    "unfinished",
    "indeterminate",
    "outage",
    "no_namespace",
    "unreadable",
]
"""Why nothing was learned from an attempt. `already_learned`: the bank holds it; `forgotten`: the bank held it, and it
was removed; `no_task`: nobody asked for anything, or the task is too long; `no_answer`: the model has said nothing;
`interrupted`: the run waits for a human; `unfinished`: the run broke off, or still goes on; `indeterminate`: the judge
could not decide; `outage`: the judge or the model failed, or was not asked as it had failed three times in a row, and
the next walk tries again; `no_namespace`: the checkpoint does not hold the label of a tenant, or one that stores
refuse; `unreadable`: the checkpoint cannot be read."""


class Skip(NamedTuple):
    """An attempt that was left out."""

    thread_id: str
    checkpoint_id: str
    """The checkpoint at which its run ended or broke off."""
    reason: SkipReason
    why: str = ""
    """What the judge, the model or the checkpointer said, if anything."""


class Outcome(NamedTuple):
    """What became of one attempt."""

    at: datetime
    """When its run ended."""
    lessons: int = 0
    skip: Skip | None = None


class Coverage(NamedTuple):
    """What `learn_from_threads` did."""

    threads: int
    """Threads that were looked at: those with a checkpoint newer than `since`."""
    seen: int
    """Attempts in their runs that ended since then, and runs that broke off."""
    learned: int
    """Attempts that were judged and are now in a bank."""
    lessons: int
    """Lessons written."""
    skipped: int
    """Attempts that nothing was learned from."""
    reasons: Mapping[SkipReason, int]
    """Why not, counted."""
    skips: tuple[Skip, ...]
    """Which ones, oldest first, without those that had been learned already: each with `thread_id`, `checkpoint_id`,
    `reason` and, in `why`, what the judge, the model or the checkpointer said."""


def coverage_of(threads: int, outcomes: Iterable[Outcome]) -> Coverage:
    """Count outcomes."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.at)
    skips = [outcome.skip for outcome in ordered if outcome.skip]
    return Coverage(
        threads=threads,
        seen=len(ordered),
        learned=len(ordered) - len(skips),
        lessons=sum(outcome.lessons for outcome in ordered),
        skipped=len(skips),
        reasons=dict(Counter(skip.reason for skip in skips)),
        skips=tuple(skip for skip in skips if skip.reason != "already_learned"),
    )
