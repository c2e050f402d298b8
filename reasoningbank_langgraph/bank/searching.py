"""Finding the lessons that fit a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph.bank.branches import Branch, Sight, sight
from reasoningbank_langgraph.bank.item_values import Namespace, find, known_as, matched_text, micros, to_item
from reasoningbank_langgraph.bank.operations import PAGE, Ops, rows_where
from reasoningbank_langgraph.bank.snapshots import Past
from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, RetrievedMemory, now, task_key

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

_GROUP_ROWS = 50


class Question(NamedTuple):
    """What is asked of a bank; the fields are the arguments of `MemoryBank.search`."""

    task: str
    task_id: str | None
    k: int
    max_items: int
    min_score: float | None
    branch: Branch


def check_question(k: int, max_items: int, min_score: float | None) -> None:
    """Raise `ValueError` where a search cannot ask for that."""
    if k < 1 or max_items < 1:
        raise ValueError(f"k and max_items must be at least 1, got k={k}, max_items={max_items}")
    if min_score is not None and not 0 <= min_score <= 1:
        raise ValueError(f"min_score must be from 0 to 1, got {min_score}")


def search(namespace: Namespace, asked: Question, past: Past | None) -> Ops[list[RetrievedMemory]]:
    """Return the items of the k experiences that fit best."""
    check_question(asked.k, asked.max_items, asked.min_score)
    if not isinstance(asked.task, str):
        raise InvalidTaskError(f"the task must be text, got {type(asked.task).__name__}: {asked.task!r:.80}")
    where = _usable(asked.task, asked.task_id or task_key(asked.task), past)
    hits, seen = yield from _hits(namespace, asked, where)
    if hits and all(hit.score is None for hit in hits):
        hits, seen = yield from _newest(namespace, asked.branch, where)
    best = _best(hits, asked.min_score)
    chosen = list(best)[: asked.k]
    groups: Sequence[list[SearchItem]] = ()
    if chosen:
        wanted = [{"experience_id": name, **where} for name in chosen]
        groups = yield [find(namespace, narrow, None, _GROUP_ROWS) for narrow in wanted]
    own = {hit.key: hit.score for hit in hits}
    memories: list[RetrievedMemory] = []
    for name, group in zip(chosen, groups, strict=True):
        visible = [row for row in group if seen(row)]
        ranked = sorted(visible, key=lambda row: (-(own.get(row.key) or 0.0), row.key))
        memories += [_retrieved(row, best[name], own.get(row.key), past) for row in ranked]
    return memories[: asked.max_items]


def _usable(task: str, task_id: str, past: Past | None) -> dict[str, Any]:
    """Filter for what may be shown for a task: applied inside the search, so nothing crowds the right rows out."""
    return {
        **(past.standing if past else {"status": "active"}),
        "expires": {"$gt": past.at if past else micros(now())},
        "task_id": {"$ne": task_id},
        "task_key": {"$ne": known_as(task)},
    }


def _best(hits: Sequence[SearchItem], min_score: float | None) -> dict[str, SearchItem]:
    """Return the best hit of each experience, best first; ties break by key. Without scores the order is kept."""
    scored = [hit for hit in hits if hit.score is not None]
    best: dict[str, SearchItem] = {}
    for hit in sorted(scored, key=lambda hit: (-(hit.score or 0.0), hit.key)) or hits:
        if min_score is None or hit.score is None or hit.score >= min_score:
            best.setdefault(hit.value["experience_id"], hit)
    return best


def _hits(namespace: Namespace, asked: Question, where: Mapping[str, Any]) -> Ops[tuple[list[SearchItem], Sight]]:
    """Return enough rows to hold the best of k experiences: none has more than `ITEMS_PER_GROUP` items."""
    query, limit, branch = matched_text(asked.task), ITEMS_PER_GROUP * asked.k, asked.branch
    if branch.thread_id is None:
        (found,) = yield [find(namespace, where, query, limit)]
        return list(found), lambda _: True
    others = find(namespace, {**where, "thread_id": {"$ne": branch.thread_id}}, query, limit)
    same = {**where, "thread_id": branch.thread_id}
    page = max(limit, PAGE)
    elsewhere, mine = yield [others, find(namespace, same, query, page)]
    seen = yield from sight(namespace, branch, mine)
    own = [row for row in mine if seen(row)]
    offset = page
    while len(mine) == page and len(own) < limit:
        (mine,) = yield [find(namespace, same, query, page, offset)]
        seen = yield from sight(namespace, branch, mine)
        own += [row for row in mine if seen(row)]
        offset += page
    return [*elsewhere, *own], seen


def _newest(namespace: Namespace, branch: Branch, where: Mapping[str, Any]) -> Ops[tuple[list[SearchItem], Sight]]:
    """Return all rows, the newest first: stores without an index have them in orders of their own."""
    rows = yield from rows_where(namespace, where)
    seen = yield from sight(namespace, branch, rows)
    return [row for row in reversed(rows) if seen(row)], seen


def _retrieved(row: SearchItem, best: SearchItem, own: float | None, past: Past | None) -> RetrievedMemory:
    """Return a row as a retrieved memory, with the score of its experience and why it was chosen."""
    if best.score is None:
        why = "the store has no index: newest first"
    elif own is not None and own >= best.score:
        why = f"similarity {best.score:.2f} of its task or lesson to this task"
    else:
        why = f"learned in the same attempt as an item of similarity {best.score:.2f}"
    return RetrievedMemory(item=past.item(row) if past else to_item(row), score=best.score, why=why)
