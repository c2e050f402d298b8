"""How an item is laid out in a store: its record as JSON, and beside it what searches match and filter by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from langgraph.store.base import PutOp, SearchOp

from reasoningbank_langgraph.errors import InvalidRecordError, StoreCorruptedError
from reasoningbank_langgraph.records import MemoryItem, RetrievedMemory, now, task_key

if TYPE_CHECKING:
    from langgraph.store.base import Item, SearchItem

Match = Literal["both", "task", "lesson"]
Namespace = tuple[str, ...]

NEVER = 9_999_999_999
"""Expiry of an item without one, in seconds since 1970: as many digits as today, for stores that compare as text."""
MATCHED_CHARS = 2_000
"""How much of a task is embedded; embedders cut or refuse long texts."""


def matched_text(task: str) -> str:
    """Return the text of a task that is embedded, for writing and for searching."""
    return " ".join(task.split())[:MATCHED_CHARS]


def put(item: MemoryItem, namespace: Namespace, match: Match, *, bears_task: bool) -> PutOp:
    """Return the operation that writes an item. One item of an experience bears the vector of the task for all."""
    lesson = ["lesson"] if match != "task" else []
    index = [*(["query"] if bears_task and match != "lesson" else []), *lesson]
    return PutOp(namespace, item.id, _row(item, namespace), index or False)


def delete(item_id: str, namespace: Namespace) -> PutOp:
    """Return the operation that removes an item."""
    return PutOp(namespace, item_id, None)


def find(namespace: Namespace, where: dict[str, Any], query: str | None, limit: int, offset: int = 0) -> SearchOp:
    """Return the operation that searches this namespace, and none of those below it."""
    return SearchOp(namespace, {**where, "bank": "/".join(namespace)}, limit, offset, query)


def _row(item: MemoryItem, namespace: Namespace) -> dict[str, Any]:
    return {
        **item.to_json(),
        "bank": "/".join(namespace),
        "query": matched_text(item.task),
        "lesson": f"{item.title}. {item.description}",
        "task_key": task_key(item.task),
        "expires": NEVER if item.valid_until is None else min(NEVER, int(item.valid_until.timestamp())),
        "thread_id": item.provenance.thread_id or "",
        "run_id": item.provenance.run_id or "",
        "attempt_digest": item.provenance.attempt_digest,
    }


def to_item(row: Item) -> MemoryItem:
    """Return the record a row holds. Raises `StoreCorruptedError` if it holds none."""
    try:
        return MemoryItem(**{name: row.value[name] for name in MemoryItem.model_fields})
    except (KeyError, TypeError, InvalidRecordError) as error:
        raise StoreCorruptedError(
            f"row {row.key!r} of namespace {row.namespace!r} is no memory item: {error!r:.200}"
        ) from error


def usable(task: str, task_id: str) -> dict[str, Any]:
    """Filter for what may be shown for a task: applied inside the search, so nothing crowds the right rows out."""
    return {
        "status": "active",
        "expires": {"$gt": int(now().timestamp())},
        "task_id": {"$ne": task_id},
        "task_key": {"$ne": task_key(task)},
    }


def on_branch(row: SearchItem, thread_id: str | None, written: frozenset[str]) -> bool:
    """Say whether a branch of a thread may see a row: another thread wrote it, or this branch did."""
    return thread_id is None or row.value["thread_id"] != thread_id or row.key in written


def rank(hit: SearchItem) -> tuple[float, str]:
    """Sort key: similarity, then key."""
    return (-(hit.score or 0.0), hit.key)


def retrieved(row: SearchItem, best: SearchItem, own: float | None) -> RetrievedMemory:
    """Return a row as a retrieved memory, with the score of its experience and why it was chosen."""
    if best.score is None:
        why = "the store has no index: newest first"
    elif own is not None and own >= best.score:
        why = f"similarity {best.score:.2f} of its task or lesson to this task"
    else:
        why = f"learned in the same attempt as an item of similarity {best.score:.2f}"
    return RetrievedMemory(item=to_item(row), score=best.score, why=why)


def changes(items: Sequence[MemoryItem], there: dict[str, MemoryItem]) -> list[MemoryItem]:
    """Return the items that the store lacks or holds with another text; the others keep their counts and times."""
    texts = {item_id: (item.title, item.description, item.content) for item_id, item in there.items()}
    return [item for item in items if texts.get(item.id) != (item.title, item.description, item.content)]
