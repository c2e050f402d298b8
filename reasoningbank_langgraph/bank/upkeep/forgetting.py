"""Removing lessons and episodes, with what was learned from them, or only taking them out of sight."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

from langgraph.store.base import PutOp

from reasoningbank_langgraph.bank.arguments import as_id
from reasoningbank_langgraph.bank.item_values import (
    NEVER,
    TASK_VECTOR,
    Namespace,
    attempt_of_row,
    delete,
    micros,
    rewrite,
)
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.bank.rows.ledger import draft_of_rows
from reasoningbank_langgraph.namespaces import (
    CREDIT,
    EPISODES,
    HEADS,
    LEDGER,
    LEFT_OUT,
    PENDING,
    RESERVED_ENDINGS,
    THREADS,
    beside,
)
from reasoningbank_langgraph.policies import ChangeKind
from reasoningbank_langgraph.records import ItemStatus, utc_now

if TYPE_CHECKING:
    from langgraph.store.base import PutOp, SearchItem

Value = dict[str, Any]

LESSON_FORGOTTEN = "lesson_forgotten"
"""Field of an episode of which a lesson was removed: no lesson is made of it again."""


def forget(
    namespace: Namespace, chosen: Mapping[str, str | None], *, cascade: bool, reason: str, dry_run: bool
) -> Ops[list[str]]:
    """Remove the rows one selector chooses; with `cascade` also those that descend from them.

    Returns:
        Their ids, those of episodes only where one was named.
    """
    selectors = {name: as_id(value) for name, value in chosen.items() if value is not None}
    if len(selectors) != 1:
        raise ValueError(f"forget() takes exactly one of {', '.join(chosen)}, got {', '.join(selectors) or 'none'}")
    if "" in selectors.values():
        raise ValueError(f"forget() got an empty {next(iter(selectors))}: that would remove all lessons without one")
    where = {} if cascade else selectors
    lessons = yield from rows_where(namespace, where)
    episodes = yield from attempts_where(namespace, where)
    rows = [*lessons, *episodes, *(yield from rows_where(beside(namespace, LEFT_OUT), where))]
    removed = {row.key for row in rows if all(row.value.get(name) == value for name, value in selectors.items())}
    named = removed & {selectors.get("id", "")} - {row.key for row in lessons}
    if cascade:
        removed = _with_descendants(lessons, episodes, removed)
    if dry_run:
        return [*named, *(row.key for row in lessons if row.key in removed)]
    return [*named, *(yield from remove(namespace, removed, reason))]


def attempts_where(namespace: Namespace, where: Mapping[str, Any]) -> Ops[list[SearchItem]]:
    """Return the rows of attempts that meet a filter: episodes, and attempts that wait."""
    rows: list[SearchItem] = []
    for place in _places_of_attempts(namespace):
        rows += yield from rows_where(place, where)
    return rows


def _places_of_attempts(namespace: Namespace) -> list[Namespace]:
    return [beside(namespace, ending) for ending in (PENDING, EPISODES)]


def forget_all(namespace: Namespace, reason: str) -> Ops[list[str]]:
    """Remove every row of the bank and beside it, except the ledger and how far threads were read.

    Returns:
        The ids of the lessons.
    """
    lessons = yield from rows_where(namespace, {})
    rows = list(lessons)
    for ending in RESERVED_ENDINGS:
        if ending not in (HEADS, LEDGER, THREADS):
            rows += yield from rows_where(beside(namespace, ending), {})
    if rows:
        told = [row for row in rows if row.namespace in (namespace, *_places_of_attempts(namespace))]
        drafts = draft_of_rows(namespace, "forgotten", told, reason=reason)
        yield [*(delete(row.key, row.namespace) for row in rows), *drafts]
    return [row.key for row in lessons]


def remove(namespace: Namespace, removed: Collection[str], reason: str) -> Ops[list[str]]:
    """Remove rows by key, an attempt with the last of its lessons too. Returns the ids of the lessons.

    What is left of their experiences stays findable by its task.
    """
    if not removed:
        return []
    rows = yield from rows_where(namespace, {})
    attempts = yield from attempts_where(namespace, {})
    credit = yield from rows_where(beside(namespace, CREDIT), {})
    left_out = yield from rows_where(beside(namespace, LEFT_OUT), {})
    gone = {row.key: row for row in _going(attempts, rows, removed)}
    emptied = _attempts_gone([*rows, *attempts], {*removed, *gone})
    values = {row.key: row.value for row in rows}
    present = [key for key in values if key in removed]
    leaving = [*(row for row in rows if row.key in removed), *gone.values()]
    yield [
        *rewritten(namespace, values, dict.fromkeys(present)),
        *(delete(row.key, row.namespace) for row in attempts if row.key in gone),
        *_marked(attempts, {attempt_of_row(row) for row in rows if row.key in removed}, gone),
        *(delete(row.key, row.namespace) for row in left_out if {row.key, attempt_of_row(row)} & {*removed, *emptied}),
        *_without_groups(credit, {*removed, *gone}),
        *draft_of_rows(namespace, "forgotten", leaving, reason=reason),
    ]
    return present


def _going(episodes: Sequence[SearchItem], lessons: Sequence[SearchItem], removed: Collection[str]) -> list[SearchItem]:
    """Return the attempts that go: those that were chosen, and those of which no lesson is left."""
    gone = _attempts_gone(lessons, removed)
    return [row for row in episodes if row.key in removed or attempt_of_row(row) in gone]


def _marked(episodes: Sequence[SearchItem], attempts: Collection[str], gone: Collection[str]) -> list[PutOp]:
    """Return what marks the episodes that stay, of attempts that lose a lesson."""
    return [
        PutOp(row.namespace, row.key, {**row.value, LESSON_FORGOTTEN: True}, [TASK_VECTOR])
        for row in episodes
        if row.key not in gone
        and attempt_of_row(row) in attempts
        and LESSON_FORGOTTEN not in row.value
        and row.namespace[-1].endswith(EPISODES)
    ]


def _attempts_gone(rows: Sequence[SearchItem], removed: Collection[str]) -> set[str]:
    """Return the attempts of which one of these rows goes and none stays."""
    before = {attempt_of_row(row) for row in rows if row.key in removed}
    return before - {attempt_of_row(row) for row in rows if row.key not in removed}


def _without_groups(rows: Iterable[SearchItem], removed: Collection[str]) -> list[PutOp]:
    """Return what removes the credit of lessons that go, and what attempts that go said of others.

    Args:
        rows: the credit.
        removed: ids of the lessons and episodes that go.
    """
    puts: list[PutOp] = []
    for row in rows:
        left = [one for one in row.value["groups"] if one["known_as"] not in removed]
        if row.key in removed or not left:
            puts.append(PutOp(row.namespace, row.key, None))
        elif len(left) < len(row.value["groups"]):
            puts.append(PutOp(row.namespace, row.key, {**row.value, "groups": left}, index=False))
    return puts


def set_status(namespace: Namespace, ids: Collection[str], status: ItemStatus, reason: str) -> Ops[list[str]]:
    """Set the status of those items that have another one; return their ids."""
    affected, puts = yield from change_of_status(namespace, ids, status, reason)
    if puts:
        yield puts
    return affected


def change_of_status(
    namespace: Namespace, ids: Collection[str], status: ItemStatus, reason: str, actor: str = ""
) -> Ops[tuple[list[str], list[PutOp]]]:
    """Return the ids of those items that have another status, and the operations that set it, with their reason."""
    if status not in get_args(ItemStatus):
        raise ValueError(f"status must be one of {', '.join(get_args(ItemStatus))}, got {status!r}")
    rows, moment = (yield from rows_where(namespace, {})), utc_now()
    told = [row for row in rows if row.key in ids and row.value["status"] != status]
    changed = {row.key: with_status(row.value, status, moment) for row in told}
    kind: ChangeKind = "released" if status == "active" else status
    drafts = draft_of_rows(namespace, kind, told, after={"status": status}, reason=reason, actor=actor)
    return list(changed), [*rewritten(namespace, {row.key: row.value for row in rows}, changed), *drafts]


def with_status(value: Mapping[str, Any], status: ItemStatus, moment: datetime) -> Value:
    """Return a row with another status since a moment. It remembers the times between which it was out of use."""
    fields: Value = {"status": status, "updated_at": moment.isoformat()}
    if status == "active":
        gap = [value["retired"], micros(moment)]
        fields |= {"retired_at": None, "retired": NEVER, "gaps": [*value.get("gaps", ()), gap]}
    elif value["status"] == "active":
        fields |= {"retired_at": moment.isoformat(), "retired": micros(moment)}
    return {**value, **fields}


def rewritten(
    namespace: Namespace, before: Mapping[str, Value], changed: Mapping[str, Mapping[str, Any] | None]
) -> list[PutOp]:
    """Return the operations that write changed rows, and remove those that are None.

    What is left of their experiences stays findable by the task: whatever lets a row go or come back asks here.

    Args:
        namespace: the bank.
        before: the rows of these experiences, or of all.
        changed: what becomes of some of them, and new ones.
    """
    ops = {**changed, **_heirs(before, changed)}
    return [rewrite(namespace, key, value) if value else delete(key, namespace) for key, value in ops.items()]


def _heirs(before: Mapping[str, Value], changed: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Value]:
    """Return the rows that get the vector of their task, where none in use has it, or none that is left.

    Where none is in use, one that may come back gets it. One that goes out of use keeps it, for searches of the past.
    """
    rows = [row for row in [*before.values(), *changed.values()] if row]
    affected = {(value or before[key])["experience_id"] for key, value in changed.items()}
    affected &= {row["experience_id"] for row in rows if TASK_VECTOR in row["index"]}
    groups: dict[str, dict[str, Mapping[str, Any]]] = {name: {} for name in affected}
    for key, row in {**before, **changed}.items():
        if row and row["experience_id"] in groups:
            groups[row["experience_id"]][key] = row
    heirs: dict[str, Value] = {}
    for left in groups.values():
        in_use = {key: row for key, row in left.items() if row["status"] == "active"} or left
        if in_use and not any(TASK_VECTOR in row["index"] for row in in_use.values()):
            first = next(iter(in_use))
            heirs[first] = {**in_use[first], "index": [TASK_VECTOR, *in_use[first]["index"]]}
    return heirs


def _with_descendants(
    lessons: Sequence[SearchItem], episodes: Sequence[SearchItem], chosen: Collection[str]
) -> set[str]:
    """Return the keys of these rows, of all that descend from them, and of all that goes with those and theirs.

    An episode goes with the last of its lessons, so what was learned from the episode goes too.
    """
    gone, before = set(chosen), -1
    while len(gone) > before:
        before = len(gone)
        gone |= _descendants(lessons, episodes, gone)
        gone.update(row.key for row in _going(episodes, lessons, gone))
    return gone


def _descendants(lessons: Sequence[SearchItem], episodes: Sequence[SearchItem], ancestors: Iterable[str]) -> set[str]:
    """Return the keys of rows learned from one of these or in runs that were shown one, of theirs, and so on."""
    kept: dict[str, set[str]] = {}
    for row in episodes:
        kept.setdefault(attempt_of_row(row), set()).add(row.key)
    children: dict[str, list[str]] = {}
    parents = {row.key: _parents(row) for row in episodes}
    parents |= {row.key: _parents(row) | kept.get(attempt_of_row(row), set()) for row in lessons}
    for key, used in parents.items():
        for parent in used:
            children.setdefault(parent, []).append(key)
    descendants = set(ancestors)
    ahead = list(descendants)
    while ahead:
        found = set(children.get(ahead.pop(), ())) - descendants
        descendants |= found
        ahead += found
    return descendants


def _parents(row: SearchItem) -> set[str]:
    return {*row.value["provenance"]["memory_ids_used"], *row.value.get("supersedes", ())}
