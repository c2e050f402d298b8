"""Removing lessons, with those learned from them, or only taking them out of sight."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

from reasoningbank_langgraph.bank.arguments import as_id
from reasoningbank_langgraph.bank.item_values import TASK_VECTOR, Namespace, delete, retired, rewrite
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.records import ItemStatus, utc_now

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

Value = dict[str, Any]


def forget(namespace: Namespace, chosen: Mapping[str, str | None], *, cascade: bool) -> Ops[list[str]]:
    """Remove the rows one selector chooses and, with `cascade`, those that descend from them; return their ids."""
    selectors = {name: as_id(value) for name, value in chosen.items() if value is not None}
    if len(selectors) != 1:
        raise ValueError(f"forget() takes exactly one of {', '.join(chosen)}, got {', '.join(selectors) or 'none'}")
    if "" in selectors.values():
        raise ValueError(f"forget() got an empty {next(iter(selectors))}: that would remove all lessons without one")
    rows = yield from rows_where(namespace, {} if cascade else selectors)
    removed = {row.key for row in rows if all(row.value.get(name) == value for name, value in selectors.items())}
    if cascade:
        removed |= _descendants(rows, removed)
    return (yield from remove(namespace, removed))


def forget_all(namespace: Namespace) -> Ops[list[str]]:
    """Remove every row of the bank and return their ids."""
    rows = yield from rows_where(namespace, {})
    keys = [row.key for row in rows]
    if keys:
        yield [delete(key, namespace) for key in keys]
    return keys


def remove(namespace: Namespace, removed: Collection[str]) -> Ops[list[str]]:
    """Remove rows by key; the rows left of their experiences can still be found by their task."""
    if not removed:
        return []
    rows = yield from rows_where(namespace, {})
    after = {row.key: {**row.value, "status": "gone"} if row.key in removed else row.value for row in rows}
    present = [row.key for row in rows if row.key in removed]
    successors = {key: value for key, value in _handed_on(after, present).items() if key not in removed}
    yield [
        *(delete(key, namespace) for key in present),
        *(rewrite(namespace, key, value) for key, value in successors.items()),
    ]
    return present


def set_status(namespace: Namespace, ids: Collection[str], status: ItemStatus) -> Ops[list[str]]:
    """Set the status of those items that have another one; return their ids."""
    if status not in get_args(ItemStatus):
        raise ValueError(f"status must be one of {', '.join(get_args(ItemStatus))}, got {status!r}")
    rows = yield from rows_where(namespace, {})
    affected = [row.key for row in rows if row.key in ids and row.value["status"] != status]
    if not affected:
        return []
    moment = utc_now()
    values = {
        "status": status,
        "retired_at": None if status == "active" else moment.isoformat(),
        "retired": retired(status, moment),
        "updated_at": moment.isoformat(),
    }
    after = {row.key: {**row.value, **values} if row.key in affected else row.value for row in rows}
    changed = {key: after[key] for key in affected} | _handed_on(after, affected)
    yield [rewrite(namespace, key, value) for key, value in changed.items()]
    return affected


def _descendants(rows: Sequence[SearchItem], ancestors: Iterable[str]) -> set[str]:
    """Return the keys of rows learned in runs that were shown one of these, and of their descendants in turn."""
    parents = {row.key: {*row.value["provenance"]["memory_ids_used"], *row.value["supersedes"]} for row in rows}
    descendants = set(ancestors)
    found = descendants
    while found:
        found = {key for key, used in parents.items() if key not in descendants and used & descendants}
        descendants |= found
    return descendants


def _handed_on(after: Mapping[str, Value], affected: Iterable[str]) -> dict[str, Value]:
    """Return the rows to change so that an active row of each affected experience carries the vector of the task."""
    changed: dict[str, Value] = {}
    for experience in {after[key]["experience_id"] for key in affected}:
        group = {key: value for key, value in after.items() if value["experience_id"] == experience}
        carriers = [key for key, value in group.items() if TASK_VECTOR in value["index"]]
        active = [key for key, value in group.items() if value["status"] == "active"]
        if carriers and active and not set(carriers) & set(active):
            successor = group[active[0]]
            changed[active[0]] = {**successor, "index": [TASK_VECTOR, *successor["index"]]}
            # Given up by the others: InMemoryStore refuses a batch that embeds one text twice.
            changed |= {key: {**group[key], "index": _without_task(group[key])} for key in carriers}
    return changed


def _without_task(value: Value) -> list[str]:
    return [field for field in value["index"] if field != TASK_VECTOR]
