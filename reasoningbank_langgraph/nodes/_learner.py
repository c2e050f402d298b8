"""One attempt that waits: judged, if it has no verdict, and distilled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from reasoningbank_langgraph.chat.outages import Outages
from reasoningbank_langgraph.errors import UnknownAttemptError
from reasoningbank_langgraph.extraction.waiting import restored
from reasoningbank_langgraph.judges.base import as_verdict, verdict_on_error
from reasoningbank_langgraph.records import Attempt, MemoryItem, PendingAttempt, Verdict

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable, RunnableConfig

    from reasoningbank_langgraph.bank import MemoryBank, ResolveResult
    from reasoningbank_langgraph.records import FailureKind

LASTING = ("unreachable", "busy", "timeout", "key", "not_found")
"""Kinds of failures that the next attempt would meet too."""


class Outcome(NamedTuple):
    """What became of an attempt."""

    now: Literal["resolved", "dropped", "waiting"]
    failure: str | None = None
    kind: FailureKind | None = None

    @property
    def ends_all(self) -> bool:
        """Whether there is no use in trying the next attempt."""
        return self.kind in LASTING


class Learner:
    """Learns from attempts that wait.

    Args:
        judge: judges those without a verdict.
        options: how they are distilled and their lessons taken, as `MemoryBank.resolve` does.
    """

    def __init__(self, judge: Runnable[Attempt, Any], **options: Any) -> None:
        self.judge, self._options = judge, options
        self._name, self._outages = judge.get_name(), Outages()

    def learn(self, bank: MemoryBank, pending: PendingAttempt) -> Outcome:
        """Learn from one attempt. A failure of the judge or the model leaves it waiting.

        If somebody else gives another verdict meanwhile, that one stands.
        """
        verdict = pending.verdict or self._judged(bank, pending)
        if verdict.status == "indeterminate":
            drops = _is_over(verdict, pending) and bank.drop_pending([pending.id])
            return _undecided(verdict, dropped=bool(drops))
        try:
            return _learned(bank.resolve(pending.id, verdict, overturns=False, **self._options))
        except UnknownAttemptError:  # forgotten meanwhile
            return Outcome("dropped")

    async def alearn(self, bank: MemoryBank, pending: PendingAttempt) -> Outcome:
        """Async form of `learn`."""
        verdict = pending.verdict or await self._ajudged(bank, pending)
        if verdict.status == "indeterminate":
            drops = _is_over(verdict, pending) and await bank.adrop_pending([pending.id])
            return _undecided(verdict, dropped=bool(drops))
        try:
            return _learned(await bank.aresolve(pending.id, verdict, overturns=False, **self._options))
        except UnknownAttemptError:
            return Outcome("dropped")

    def _judged(self, bank: MemoryBank, pending: PendingAttempt) -> Verdict:
        found = [bank.get(name) for name in pending.group[0].shown]
        try:
            return as_verdict(self._name, self.judge.invoke(_attempt(pending, found), _config(bank, pending)))
        except Exception as error:  # noqa: BLE001 - sorted out there
            return verdict_on_error(self._name, error, self._outages)

    async def _ajudged(self, bank: MemoryBank, pending: PendingAttempt) -> Verdict:
        found = [await bank.aget(name) for name in pending.group[0].shown]
        try:
            return as_verdict(self._name, await self.judge.ainvoke(_attempt(pending, found), _config(bank, pending)))
        except Exception as error:  # noqa: BLE001 - sorted out there
            return verdict_on_error(self._name, error, self._outages)


def _config(bank: MemoryBank, pending: PendingAttempt) -> RunnableConfig:
    return bank.tally.config("judge", episode=pending.id, experience=pending.experience_id)


def _attempt(pending: PendingAttempt, shown: list[MemoryItem | None]) -> Attempt:
    return restored(pending, pending.group[0], {item.id: item for item in shown if item})


def _is_over(verdict: Verdict, pending: PendingAttempt) -> bool:
    """Say whether the attempt waited for this verdict only, which decides nothing: in a run it teaches nothing too."""
    return verdict.reason != "error" and pending.waits_for == "model"


def _undecided(verdict: Verdict, *, dropped: bool) -> Outcome:
    failure = verdict.rationale if verdict.reason == "error" else None
    return Outcome("dropped" if dropped else "waiting", failure, verdict.failure)


def _learned(result: ResolveResult) -> Outcome:
    if result.failure is None:
        return Outcome("resolved")
    return Outcome("waiting", result.failure, result.failure_kind)
