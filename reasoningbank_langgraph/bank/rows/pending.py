"""The attempts that wait for a verdict or for a model: a row for each, which goes once it is learned from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph.bank.item_values import Namespace, delete, put_pending, to_pending
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.snapshots import Past, rows_then
from reasoningbank_langgraph.namespaces import EPISODES, PENDING, beside
from reasoningbank_langgraph.records import Episode, MemoryItem, PendingAttempt

if TYPE_CHECKING:
    from langgraph.store.base import Item


def waiting(namespace: Namespace, past: Past | None) -> Ops[list[PendingAttempt]]:
    """Return all attempts that wait, oldest first; of those that waited at a moment, the ones that still do."""
    rows: Sequence[Item] = yield from rows_where(beside(namespace, PENDING), {})
    if past:
        rows = yield from rows_then(namespace, past, rows)
    return [to_pending(row) for row in rows]


def let_wait(namespace: Namespace, attempt: PendingAttempt) -> Ops[list[PutOp]]:
    """Return what writes an attempt that waits, unless it does already or was learned from before."""
    places = [beside(namespace, PENDING), beside(namespace, EPISODES)]
    known = yield [GetOp(place, attempt.id) for place in places]
    digest = attempt.provenance.attempt_digest
    lessons = (yield from rows_where(namespace, {"attempt_digest": digest})) if digest else []
    return [] if any(known) or lessons else [put_pending(attempt, places[0])]


def end_waiting(namespace: Namespace, kept: Sequence[Episode | MemoryItem]) -> Ops[list[PutOp]]:
    """Return what removes the row of the attempt that these records were learned from."""
    if not kept:
        return []
    digest = kept[0].provenance.attempt_digest
    where = {"attempt_digest": digest} if digest else {"experience_id": kept[0].experience_id}
    found = yield from rows_where(beside(namespace, PENDING), where)
    return drop(namespace, [row.key for row in found])


def drop(namespace: Namespace, names: Collection[str]) -> list[PutOp]:
    """Return what removes the rows of these attempts."""
    return [delete(name, beside(namespace, PENDING)) for name in names]
