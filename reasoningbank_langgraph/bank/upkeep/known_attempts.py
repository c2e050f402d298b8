"""What a bank has of one attempt: that it waits, its episode, its lessons, and what it was judged so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from langgraph.store.base import GetOp

from reasoningbank_langgraph.bank.item_values import LATER, OVERTURNED, Namespace, to_episode, to_item, to_pending
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.errors import UnknownAttemptError
from reasoningbank_langgraph.extraction import Judged
from reasoningbank_langgraph.extraction.results import episode_id
from reasoningbank_langgraph.extraction.waiting import judged_group, pending_episodes, with_verdict
from reasoningbank_langgraph.namespaces import EPISODES, PENDING, beside
from reasoningbank_langgraph.records import PendingAttempt, Verdict

if TYPE_CHECKING:
    from langgraph.store.base import Item, SearchItem


class Known(NamedTuple):
    """What a bank has of one attempt."""

    id: str
    pending: Item | None
    episodes: Sequence[SearchItem]
    """Those of its experience."""
    lessons: Sequence[SearchItem]
    """Those of its experience, whatever their status, and merged ones that stand for these alone."""

    @property
    def episode(self) -> SearchItem | None:
        """Its own."""
        return next((row for row in self.episodes if row.key == self.id), None)

    @property
    def status(self) -> str | None:
        """What it was judged so far."""
        if self.episode:
            return str(self.episode.value["outcome"])
        in_use = self.active or [row for row in self.lessons if OVERTURNED not in row.value]
        said = {str(row.value.get(LATER, row.value["outcome"])) for row in in_use}
        return next(iter(said & {"success", "failure"}), None)

    @property
    def active(self) -> list[SearchItem]:
        """The lessons in use."""
        return [row for row in self.lessons if row.value["status"] == "active"]

    def returning(self, verdict: Verdict) -> list[SearchItem]:
        """Return the lessons that were learned under an equal verdict, before another one overturned it."""
        return [row for row in self.lessons if row.value.get(OVERTURNED) == verdict.status]

    def contradicts(self, verdict: Verdict) -> bool:
        """Say whether another verdict is known, also one whose lessons a model has still to distil."""
        waits = to_pending(self.pending).verdict if self.pending else None
        return bool({self.status, waits and waits.status} - {None, verdict.status})

    def is_settled(self, verdict: Verdict) -> bool:
        """Say whether this verdict changes nothing."""
        undecided = verdict.status == "indeterminate"
        return undecided or (self.status == verdict.status and (self.pending is None or bool(self.active)))

    def waiting(self, verdict: Verdict) -> PendingAttempt | None:
        """Return the attempt with this verdict, to be distilled; None if only its lessons are left."""
        if self.pending:
            return with_verdict(to_pending(self.pending), verdict)
        if self.episode is None:
            return None
        others = [to_episode(row) for row in self.episodes if row.key != self.id]
        return pending_episodes([to_episode(self.episode), *others], verdict)


def find(namespace: Namespace, attempt_id: str) -> Ops[Known]:
    """Return what the bank has of an attempt. Raises `UnknownAttemptError` if that is nothing."""
    pending, episode = yield [GetOp(beside(namespace, ending), attempt_id) for ending in (PENDING, EPISODES)]
    row = episode or pending or (yield from _lesson_of(namespace, attempt_id))
    digest = row.value["attempt_digest"]
    where = {"attempt_digest": digest} if digest else {"experience_id": row.value["experience_id"]}
    episodes = yield from rows_where(beside(namespace, EPISODES), where)
    lessons = yield from rows_where(namespace, where)
    return Known(attempt_id, pending, episodes, [*lessons, *(yield from _merged_of(namespace, lessons))])


def _merged_of(namespace: Namespace, lessons: Sequence[SearchItem]) -> Ops[list[SearchItem]]:
    """Return the merged lessons that stand for some of these lessons and for no other."""
    names = {row.key for row in lessons if row.value["status"] == "superseded"}
    rows = (yield from rows_where(namespace, {})) if names else []
    sources = {row.key: {one["id"] for one in row.value.get("sources", ())} for row in rows}
    return [row for row in rows if sources[row.key] and sources[row.key] <= names]


def _lesson_of(namespace: Namespace, attempt_id: str) -> Ops[Item]:
    """Return a lesson of an attempt that was itself not kept."""
    for row in (yield from rows_where(namespace, {})):
        digest = row.value["attempt_digest"]
        if digest and episode_id(digest) == attempt_id:
            return row
    raise UnknownAttemptError(attempt_id)


def to_distil(namespace: Namespace, attempt_id: str, verdict: Verdict, *, overturns: bool) -> Ops[list[Judged]]:
    """Return what the model is to be asked about; nothing where the verdict brings nothing new."""
    known = yield from find(namespace, attempt_id)
    waiting = known.waiting(verdict)
    stands = not overturns and known.contradicts(verdict)
    if stands or waiting is None or known.is_settled(verdict) or known.returning(verdict):
        return []
    names = list(dict.fromkeys(name for kept in waiting.group for name in kept.shown))
    rows = (yield [GetOp(namespace, name) for name in names]) if names else []
    return judged_group(waiting, {row.key: to_item(row) for row in rows if row})
