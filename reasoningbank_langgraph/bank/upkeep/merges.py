"""One lesson in place of several that say the same: the originals stay as they are, out of use, and can come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid5

from langgraph.store.base import Item, PutOp

from reasoningbank_langgraph.bank.branches import Branch, visibility
from reasoningbank_langgraph.bank.item_values import (
    DISPROVED,
    OVERTURNED,
    Match,
    Namespace,
    content_key,
    put,
    to_item,
    without_secrets,
)
from reasoningbank_langgraph.bank.operations import Ops, part_of_row, rows_where
from reasoningbank_langgraph.bank.rows.ledger import ACTIVE, draft, draft_of_rows
from reasoningbank_langgraph.bank.upkeep.forgetting import rewritten, with_status
from reasoningbank_langgraph.errors import CannotMergeError
from reasoningbank_langgraph.extraction import IDS
from reasoningbank_langgraph.records import MemoryItem, Provenance, utc_now
from reasoningbank_langgraph.records.lessons import NEVER_OUT

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

Rows = Mapping[str, "SearchItem"]
_OF_SOURCE = ("thread_id", "task_id", "task_key", "since", "learned", "known_as")


def merge(namespace: Namespace, match: Match, ids: Sequence[str], text: Mapping[str, str]) -> Ops[MemoryItem]:
    """Write one lesson and take those it stands for out of use, in one batch; what is merged already stays so."""
    rows = {row.key: row for row in (yield from rows_where(namespace, {}))}
    merged = _merged(_originals(rows, ids), text)
    row, moment = rows.get(merged.id), utc_now()
    gone = [name for name in ids if rows[name].value["status"] != "active"]
    if gone and (row is None or row.value["status"] != "active"):
        raise CannotMergeError(f"{gone[0]!r} is {rows[gone[0]].value['status']}: only lessons in use can be merged")
    changed = {name: with_status(rows[name].value, "superseded", moment) for name in ids if name not in gone}
    if row is not None and row.value["status"] != "active":
        changed[merged.id] = with_status(row.value, "active", moment)
    sources = _sources(ids, {name: each.value for name, each in rows.items()})
    puts = [put(merged, namespace, match, carries_task_vector=True, sources=sources)] if row is None else []
    if changed:
        superseded, reason = {"status": "superseded"}, f"merged into {merged.id}"
        leaving = [rows[name] for name in ids if name in changed]
        drafts = [
            *draft(namespace, "merged", [merged.id], after=ACTIVE, reason=f"in place of {', '.join(ids)}"),
            *draft_of_rows(namespace, "superseded", leaving, after=superseded, reason=reason),
        ]
        yield [*puts, *rewritten(namespace, {key: each.value for key, each in rows.items()}, changed), *drafts]
    return merged if row is None else to_item(row).model_copy(update={"status": "active", "retired_at": None})


def undo(namespace: Namespace, merged_id: str) -> Ops[list[str]]:
    """Take a merged lesson out of use and bring back those it stands for, unless another one stands for them too."""
    rows = {row.key: row for row in (yield from rows_where(namespace, {}))}
    row = rows.get(merged_id)
    if row is None or not row.value.get("sources"):
        raise CannotMergeError(f"{merged_id!r} is no merged lesson of this bank: there is nothing to undo")
    if row.value["status"] != "active":
        return []
    others = {
        name
        for other in rows.values()
        if other.key != merged_id and other.value["status"] == "active"
        for name in other.value.get("supersedes", ())
    }
    originals = [rows[name] for name in row.value["supersedes"] if name in rows and name not in others]
    moment = utc_now()
    back = {
        each.key: with_status(each.value, "active", moment)
        for each in originals
        if each.value["status"] == "superseded" and not {DISPROVED, OVERTURNED} & each.value.keys()
    }
    changed = {**back, merged_id: with_status(row.value, "superseded", moment)}
    reason = f"undo of merging into {merged_id}"
    drafts = [
        *draft_of_rows(namespace, "undone", [row], after={"status": "superseded"}, reason=reason),
        *draft_of_rows(namespace, "undone", [rows[name] for name in back], after=ACTIVE, reason=reason),
    ]
    yield [*rewritten(namespace, {key: each.value for key, each in rows.items()}, changed), *drafts]
    return list(back)


def seen_from(
    namespace: Namespace, branch: Branch, task: Mapping[str, str], hits: Sequence[SearchItem]
) -> Ops[list[SearchItem]]:
    """Return hits without merged lessons that stand for one of the task at hand, or one that the branch may not see.

    Args:
        namespace: the bank.
        branch: the branch that asks.
        task: `task_id` and `task_key` of the task.
        hits: rows that were found.
    """
    sources = {
        hit.key: [part_of_row(namespace, one["id"], one) for one in hit.value.get("sources", ())] for hit in hits
    }
    mine = [row for rows in sources.values() for row in rows if row.value["thread_id"] == branch.thread_id]
    is_visible = (yield from visibility(namespace, branch, mine)) if mine else lambda _: True

    def may_be_shown(row: Item) -> bool:
        return is_visible(row) and all(row.value[name] != task[name] for name in task)

    return [hit for hit in hits if all(map(may_be_shown, sources[hit.key]))]


def add_sources(puts: Sequence[PutOp], rows: Iterable[Item]) -> None:
    """Let the merged lessons of an import say again what an export leaves out: which lessons they stand for.

    Args:
        puts: they write lessons.
        rows: the bank.
    """
    new = {op.key: cast("dict[str, Any]", op.value) for op in puts if op.value}
    merged = [value for name, value in new.items() if _is_merged(name, value)]
    values = {row.key: row.value for row in rows} | new if merged else new
    for value in merged:
        value["sources"] = _sources(value["supersedes"], values)


def _originals(rows: Rows, ids: Sequence[str]) -> list[MemoryItem]:
    """Return the lessons to merge.

    Raises:
        CannotMergeError: there are fewer than two, one is not in the bank, or their outcomes differ.
    """
    if unknown := [name for name in ids if name not in rows]:
        raise CannotMergeError(f"there is no lesson {unknown[0]!r} in this bank")
    if len(set(ids)) < 2:
        raise CannotMergeError("merging takes two lessons or more")
    items = [to_item(rows[name]) for name in ids]
    if len(outcomes := {item.outcome for item in items}) > 1:
        raise CannotMergeError(f"lessons of different outcomes are never merged, got {', '.join(sorted(outcomes))}")
    return items


def _merged(items: Sequence[MemoryItem], text: Mapping[str, str]) -> MemoryItem:
    """Return the lesson that stands for several; its id says which these are and what it says."""
    first, horizons = items[0], [item.valid_until for item in items if item.valid_until]
    scores = [item.verifier_score for item in items if item.verifier_score is not None]
    changes: dict[str, Any] = {
        **text,
        "tags": tuple(dict.fromkeys(tag for item in items for tag in item.tags)),
        "scope": _common(item.scope for item in items),
        "difficulty": _common(item.difficulty for item in items),
        "verifier_score": min(scores, default=None),
        "valid_until": min(horizons, default=None),
        "supersedes": tuple(item.id for item in items),
        "provenance": Provenance(),
        "near": "",
        "contradicts": (),
        "redistil_run": "",
        "later_verdict": None,
        **NEVER_OUT,
    }
    moment = utc_now()
    merged = without_secrets(MemoryItem(**{**dict(first), **changes, "created_at": moment, "updated_at": moment}))
    name = str(uuid5(IDS, "|".join(["merge", *(item.id for item in items), content_key(merged)])))
    return merged.model_copy(update={"id": name, "experience_id": name})


def _common(values: Iterable[str | None]) -> str | None:
    several = set(values)
    return several.pop() if len(several) == 1 else None


def _is_merged(name: str, value: Mapping[str, Any]) -> bool:
    """Say whether a lesson was merged, as `_merged` names it: others supersede too, as those of a later verdict."""
    return bool(value["supersedes"] and value["experience_id"] == name)


def _sources(names: Iterable[str], values: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what says of each of these lessons which tasks and branches may see it; of merged ones, of their own."""
    found: dict[str, dict[str, Any]] = {}
    seen, ahead = set[str](), list(names)
    while ahead:
        name = ahead.pop()
        if name in seen or name not in values:
            continue
        seen.add(name)
        value = values[name]
        if known := value.get("sources"):
            found |= {source["id"]: source for source in known}
        elif _is_merged(name, value):
            ahead += value["supersedes"]
        else:
            line = {field: value["provenance"].get(field) for field in ("line", "origin", "after")}
            facts = {field: value[field] for field in _OF_SOURCE if field in value}
            found[name] = {"id": name, "provenance": line, **facts}
    return list(found.values())
