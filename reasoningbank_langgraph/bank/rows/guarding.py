"""What the guard of a bank knows: a row for each model, and one for each task that counted in a test."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.store.base import GetOp, PutOp

from reasoningbank_langgraph.bank.item_values import Namespace, micros, name_of
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.ledger import draft
from reasoningbank_langgraph.errors import InvalidRecordError, StoreCorruptedError
from reasoningbank_langgraph.namespaces import GUARD, beside
from reasoningbank_langgraph.policies import Credit, GuardStatus, Pairs, Trial, compare

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from langgraph.store.base import Item

    from reasoningbank_langgraph.bank.snapshots import Past


class DatedTrial(NamedTuple):
    """A task that counted in a test of a guard: how it was solved, and when it was counted."""

    time: datetime
    shown: bool
    """Whether it was solved with memory."""
    right: bool


class Counted(NamedTuple):
    """What a trial came to."""

    puts: Sequence[PutOp] = ()
    switched: GuardStatus | None = None
    """What the guard knows now, if the state changed."""
    ids: Sequence[str] = ()
    """Lessons the task was shown in this test or an earlier one."""
    credit: Credit = Credit()
    """What the other try says of them, without memory and in another test: chance drew which came with it."""


def status_of(namespace: Namespace, model: str) -> Ops[GuardStatus]:
    """Return what the guard knows of a model."""
    (row,) = yield [GetOp(beside(namespace, GUARD), _status_key(model))]
    return _status(row, model)


def statuses(namespace: Namespace) -> Ops[list[GuardStatus]]:
    """Return what the guard knows of each model, in the order of their names."""
    rows = yield from rows_where(beside(namespace, GUARD), {"kind": "status"})
    return sorted((_status(row, "") for row in rows), key=lambda status: status.model)


def history(namespace: Namespace, model: str, past: Past | None) -> Ops[list[DatedTrial]]:
    """Return the tasks that counted for a model, oldest first; one that counted in several tests as in the last."""
    rows = yield from rows_where(beside(namespace, GUARD), {"kind": "task"})
    start = _task_key(model, "")
    own = (row for row in rows if row.key.startswith(start) and (past is None or micros(row.updated_at) <= past.at))
    return sorted(DatedTrial(row.updated_at, row.value["shown"], row.value["right"]) for row in own)


def count(namespace: Namespace, trial: Trial | None) -> Ops[Counted]:
    """Count a trial that ended, unless its task counted in this test before or the test is over."""
    if trial is None or trial.right is None:
        return Counted()
    place, model = beside(namespace, GUARD), trial.guard.model
    keys = _status_key(model), _task_key(model, trial.task_key)
    known, counted = yield [GetOp(place, key) for key in keys]
    before = _status(known, model)
    if trial.test != before.tests or (counted is not None and counted.value["test"] == trial.test):
        return Counted()
    after = trial.guard.after(before, shown=trial.withheld is None, right=trial.right)
    task = {"test": trial.test, "right": trial.right, "shown": trial.withheld is None, "ids": list(trial.ids)}
    pair = _pair(task, counted.value if counted else {})
    task["paired"] = pair is not None
    values: list[dict[str, Any]] = [{"kind": "status", "status": after.to_json()}, {"kind": "task", **task}]
    puts = [
        PutOp(place, key, {**value, **name_of(place)}, index=False) for key, value in zip(keys, values, strict=True)
    ]
    switched = after if after.changes != before.changes else None
    if switched:
        puts += _drafts(namespace, before, switched)
    return Counted(puts, switched, *(pair or ()))


def _drafts(namespace: Namespace, before: GuardStatus, after: GuardStatus) -> list[PutOp]:
    """Return what the ledger says of a switch, with the pairs of tasks that decided."""
    now = {"state": after.state, **(after.decided_by or Pairs()).to_json()}
    reason = "an always-valid test on pairs of tasks, one of each with memory"
    was = {"state": before.state}
    return draft(namespace, "switched", [after.model], before=was, after=now, reason=reason, actor="guard")


def _pair(now: Mapping[str, Any], earlier: Mapping[str, Any]) -> tuple[Sequence[str], Credit] | None:
    """Return the lessons a task was shown in one test and their credit, if the other one was without memory.

    An attempt is in one pair: in two, the luck of one attempt would count twice.
    """
    if earlier.get("paired") or earlier.get("shown") in (None, now["shown"]):
        return None
    shown, held_out = (now, earlier) if now["shown"] else (earlier, now)
    return shown["ids"], compare([shown["right"]], [held_out["right"]])


def _status(row: Item | None, model: str) -> GuardStatus:
    if row is None:
        return GuardStatus(model=model)
    try:
        return GuardStatus.model_validate(row.value["status"])
    except (KeyError, InvalidRecordError) as error:
        raise StoreCorruptedError(
            f"row {row.key!r} of namespace {row.namespace!r} is no status of a guard: {error!r:.200}"
        ) from error


def _status_key(model: str) -> str:
    return f"status {_digest(model)}"


def _task_key(model: str, task_key: str) -> str:
    return f"task {_digest(model)} {task_key}"


def _digest(model: str) -> str:
    return hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:16]
