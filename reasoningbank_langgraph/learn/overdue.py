"""What waits too long: judged by a model, or given up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from reasoningbank_langgraph.chat.models import ModelLike, chat_model
from reasoningbank_langgraph.extraction.metadata import Metadata
from reasoningbank_langgraph.judges import JudgeLike
from reasoningbank_langgraph.learn.asking import critic_of
from reasoningbank_langgraph.nodes._learner import Learner, Outcome
from reasoningbank_langgraph.policies import PolicyLike
from reasoningbank_langgraph.records import PendingAttempt, utc_now

if TYPE_CHECKING:
    from reasoningbank_langgraph.bank import MemoryBank


class Overdue(NamedTuple):
    """What `resolve_overdue` did."""

    resolved: int
    """Attempts that were judged and distilled, and wait no more."""
    dropped: int
    """Attempts that were given up."""
    waiting: int
    """Attempts that still wait."""
    failure: str | None = None
    """What the last call that failed said."""


def resolve_overdue(
    bank: MemoryBank,
    *,
    model: ModelLike,
    judge: JudgeLike | None = None,
    after: timedelta = timedelta(days=7),
    drop_after: timedelta | None = None,
    time_limit: float = 120.0,
    policy: PolicyLike = "append",
    metadata: Metadata | None = None,
) -> Overdue:
    """Let a model judge and distil the attempts that wait too long, and give up those that wait longer still.

    Those that only waited for a model, because it could not be reached, are tried at once, whatever their age. If it
    still cannot be reached, the call ends there, and nothing is lost. Call it from time to time, from a scheduler.

    Args:
        bank: the bank.
        model: judges, unless `judge` is given, and distils.
        judge: any judge, or a function from `Attempt` to `Verdict`.
        after: how long an attempt waits for a verdict from outside.
        drop_after: age at which an attempt that still waits is given up; None for never.
        time_limit: seconds one call may take.
        policy: what becomes of lessons that the bank has already, as in `create_consolidate`.
        metadata: tags, scope and difficulty of the lessons, as there.
    """
    learner = _learner(model, judge, time_limit=time_limit, policy=policy, metadata=metadata)
    plan = _Plan.of(bank.pending(), after, drop_after)
    dropped = len(bank.drop_pending(plan.dropped))
    outcomes = list[Outcome]()
    for pending in plan.due:
        outcomes.append(learner.learn(bank, pending))
        if outcomes[-1].ends_all:
            break
    return _counted(outcomes, dropped, len(bank.pending()))


async def aresolve_overdue(
    bank: MemoryBank,
    *,
    model: ModelLike,
    judge: JudgeLike | None = None,
    after: timedelta = timedelta(days=7),
    drop_after: timedelta | None = None,
    time_limit: float = 120.0,
    policy: PolicyLike = "append",
    metadata: Metadata | None = None,
) -> Overdue:
    """Async form of `resolve_overdue`."""
    learner = _learner(model, judge, time_limit=time_limit, policy=policy, metadata=metadata)
    plan = _Plan.of(await bank.apending(), after, drop_after)
    dropped = len(await bank.adrop_pending(plan.dropped))
    outcomes = list[Outcome]()
    for pending in plan.due:
        outcomes.append(await learner.alearn(bank, pending))
        if outcomes[-1].ends_all:
            break
    return _counted(outcomes, dropped, len(await bank.apending()))


class _Plan(NamedTuple):
    """What is to be done with the attempts that wait."""

    due: list[PendingAttempt]
    dropped: list[str]

    @classmethod
    def of(cls, waiting: Sequence[PendingAttempt], after: timedelta, drop_after: timedelta | None) -> Self:
        now = utc_now()
        dropped = [one.id for one in waiting if drop_after is not None and now - one.created_at > drop_after]
        due = [one for one in waiting if one.waits_for == "model" or now - one.created_at > after]
        return cls([one for one in due if one.id not in dropped], dropped)


def _learner(model: ModelLike, judge: JudgeLike | None, *, time_limit: float, **taken: Any) -> Learner:
    chat = chat_model(model)
    return Learner(critic_of(chat, judge, time_limit), model=chat, time_limit=time_limit, **taken)


def _counted(outcomes: Sequence[Outcome], dropped: int, waiting: int) -> Overdue:
    failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
    resolved, given_up = (sum(outcome.now == word for outcome in outcomes) for word in ("resolved", "dropped"))
    return Overdue(resolved, dropped + given_up, waiting, failures[-1] if failures else None)
