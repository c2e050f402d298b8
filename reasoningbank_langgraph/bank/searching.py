"""Finding the lessons that fit a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from reasoningbank_langgraph.bank.branches import Branch, IsVisible, visibility
from reasoningbank_langgraph.bank.item_values import (
    Namespace,
    find,
    matched_text,
    micros,
    task_key_without_secrets,
    to_item,
)
from reasoningbank_langgraph.bank.metadata import Where, check_where, row_filter
from reasoningbank_langgraph.bank.operations import PAGE, Ops, rows_where
from reasoningbank_langgraph.bank.places import in_levels, one_a_place, scores_of, tasks_behind, without_copies
from reasoningbank_langgraph.bank.rows.crediting import credits_of, utility_of
from reasoningbank_langgraph.bank.snapshots import Past
from reasoningbank_langgraph.bank.upkeep.merges import seen_from
from reasoningbank_langgraph.errors import InvalidTaskError
from reasoningbank_langgraph.policies import GENERAL, Credit, by_utility, is_low
from reasoningbank_langgraph.records import ITEMS_PER_GROUP, RetrievedMemory, task_key, utc_now

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

_GROUP_ROWS = 50
_LEVEL_ROWS = 100
"""Lessons among which general ones are looked for: one that came of several tasks is there several times."""
_MORE = 20


class Question(NamedTuple):
    """What a bank is asked; the fields are the arguments of `MemoryBank.search`."""

    task: str
    task_id: str | None
    k: int
    max_items: int
    min_score: float | None
    branch: Branch
    where: Where = MappingProxyType({})
    levels: bool = False

    @classmethod
    def asked(
        cls,
        task: str,
        *,
        task_id: str | None = None,
        k: int = 1,
        max_items: int = 3,
        min_score: float | None = None,
        thread_id: str | None = None,
        written: Iterable[str] | None = None,
        attempt: Mapping[str, Any] | None = None,
        where: Where | None = None,
        levels: bool = False,
    ) -> Self:
        """Return what the arguments of `MemoryBank.search` ask."""
        branch = Branch.asking(thread_id, written, attempt)
        return cls(task, task_id, k, max_items, min_score, branch, check_where(where), levels)


class Dropped(NamedTuple):
    """The nearest lesson of an experience that is less similar than was asked for."""

    id: str
    score: float


class Searched(NamedTuple):
    """What a search found, and which of the k nearest experiences it left out for their similarity."""

    memories: list[RetrievedMemory]
    dropped: Sequence[Dropped] = ()


def check_question(k: int, max_items: int, min_score: float | None) -> None:
    """Raise `ValueError` if a search cannot be asked for this."""
    if k < 1 or max_items < 1:
        raise ValueError(f"k and max_items must be at least 1, got k={k}, max_items={max_items}")
    if min_score is not None and not 0 <= min_score <= 1:
        raise ValueError(f"min_score must be from 0 to 1, got {min_score}")


def search(namespace: Namespace, question: Question, past: Past | None) -> Ops[Searched]:
    """Return the items of the k experiences that fit best."""
    where = {
        **other_tasks(question),
        **row_filter(question.where),
        **(past.active_filter if past else {"status": "active"}),
        "expires": {"$gt": past.at if past else micros(utc_now())},
    }
    hits, best, is_visible = yield from _candidates(namespace, question, where, past)
    dropped = _dropped(hits, question)
    if not best:
        return Searched([], dropped)
    tasks = (yield from _tasks_behind(namespace, question, hits, best, past)) if question.levels else {}
    near, first = in_levels(hits, best, tasks, question.k)
    candidates = [hit.key for hit in hits if hit.score is not None and _source(hit) in near and len(near) > 1]
    worth = yield from credits_of(namespace, candidates, question.branch, past)
    chosen = sorted(by_utility(near, _utilities(hits, worth)), key=lambda name: name not in first)[: question.k]
    wanted = [{"experience_id": name, **where} for name in chosen]
    found = yield [find(namespace, narrow, None, _GROUP_ROWS) for narrow in wanted]
    groups = [[row for row in group if is_visible(row) and (past is None or past.contains(row))] for group in found]
    others = {row.key for group in groups for row in group} - set(candidates)
    worth |= yield from credits_of(namespace, sorted(others), question.branch, past)
    own = {hit.key: hit.score for hit in hits}
    memories: list[RetrievedMemory] = []
    for name, group in zip(chosen, groups, strict=True):
        by_score = sorted(group, key=lambda row: (-(own.get(row.key) or 0.0), row.key))
        ranked = sorted(by_score, key=lambda row: -worth.get(row.key, Credit()).utility)
        behind = tasks if name in first else {}
        ranked.sort(key=lambda row: behind.get(row.key, 0) < GENERAL)
        memories += [
            _retrieved(row, best[name], own.get(row.key), past, worth.get(row.key), behind.get(row.key, 0))
            for row in ranked
        ]
    return Searched(without_copies(memories)[: question.max_items], dropped)


def _candidates(
    namespace: Namespace, question: Question, where: Mapping[str, Any], past: Past | None
) -> Ops[tuple[list[SearchItem], dict[str, SearchItem], IsVisible]]:
    """Return the rows that fit best, and of them the best one of each experience that may take a place.

    Where copies, or merged lessons that may not be shown, leave fewer experiences than are asked for, more rows are
    read: however many there are, they crowd out no other.
    """
    limit = ITEMS_PER_GROUP * question.k  # none has more items in use; of a past bank, some rows were not in use then
    limit = max(limit, PAGE if past else _LEVEL_ROWS if question.levels else 0)
    task = {name: condition["$ne"] for name, condition in other_tasks(question).items()}
    while True:
        found, is_visible = yield from nearest(namespace, namespace, question, where, limit)
        seen = yield from seen_from(namespace, question.branch, task, found)
        hits = [hit for hit in seen if past is None or past.contains(hit)]
        every = best_of_experiences(hits, question.min_score)
        best = one_a_place(every)
        passed_over = len(hits) < len(found) or len(best) < len(every)
        if len(best) >= question.k or len(found) < limit or not passed_over:
            return hits, best, is_visible
        limit *= _MORE


def _tasks_behind(
    namespace: Namespace,
    question: Question,
    hits: Sequence[SearchItem],
    best: Mapping[str, SearchItem],
    past: Past | None,
) -> Ops[dict[str, int]]:
    """Return by lesson how many tasks led to it, if even the best is not similar: else that decides nothing."""
    if not is_low(scores_of(best)):
        return {}
    own = str(other_tasks(question)["task_key"]["$ne"])
    return (yield from tasks_behind(namespace, hits, question.branch, own, past))


def _dropped(hits: Sequence[SearchItem], question: Question) -> tuple[Dropped, ...]:
    """Return what of the k nearest experiences is less similar than is asked for."""
    if (floor := question.min_score) is None:
        return ()
    nearest_ones = list(best_of_experiences(hits, None).values())[: question.k]
    return tuple(Dropped(hit.key, hit.score) for hit in nearest_ones if hit.score is not None and hit.score < floor)


def _source(hit: SearchItem) -> str:
    return str(hit.value["experience_id"])


def _utilities(hits: Sequence[SearchItem], worth: Mapping[str, Credit]) -> dict[str, float]:
    """Return the mean utility of the lessons of each experience that have any."""
    known: dict[str, list[float]] = {}
    for hit in hits:
        if hit.key in worth:
            known.setdefault(_source(hit), []).append(worth[hit.key].utility)
    return {name: fmean(values) for name, values in known.items()}


def other_tasks(question: Question) -> dict[str, Any]:
    """Return the filter for rows of other tasks; it acts inside the search, so those of this task take no place.

    Raises:
        ValueError: a search cannot ask that.
        InvalidTaskError: the task is no text.
    """
    check_question(question.k, question.max_items, question.min_score)
    if not isinstance(question.task, str):
        raise InvalidTaskError(f"the task must be text, got {type(question.task).__name__}: {question.task!r:.80}")
    return {
        "task_id": {"$ne": question.task_id or task_key(question.task)},
        "task_key": {"$ne": task_key_without_secrets(question.task)},
    }


def best_of_experiences(hits: Sequence[SearchItem], min_score: float | None) -> dict[str, SearchItem]:
    """Return the best hit of each experience, best first; ties break by key. Without scores the order is kept."""
    scored = [hit for hit in hits if hit.score is not None]
    best: dict[str, SearchItem] = {}
    for hit in sorted(scored, key=lambda hit: (-(hit.score or 0.0), hit.key)) or hits:
        if min_score is None or hit.score is None or hit.score >= min_score:
            best.setdefault(hit.value["experience_id"], hit)
    return best


def nearest(
    namespace: Namespace, place: Namespace, question: Question, where: Mapping[str, Any], limit: int
) -> Ops[tuple[list[SearchItem], IsVisible]]:
    """Return the rows nearest to the task that the branch may see, and what says so of other rows.

    Without an index all rows are returned, newest first: each store has its own order.

    Args:
        namespace: the bank, whose lessons tell branches apart.
        place: where the rows lie.
        question: the task and who asks.
        where: which rows.
        limit: how many are enough.
    """
    hits, is_visible = yield from _hits(namespace, place, question, where, limit)
    if not hits or any(hit.score is not None for hit in hits):
        return hits, is_visible
    rows = yield from rows_where(place, where)
    is_visible = yield from visibility(namespace, question.branch, rows)
    return [row for row in reversed(rows) if is_visible(row)], is_visible


def _hits(
    namespace: Namespace, place: Namespace, question: Question, where: Mapping[str, Any], limit: int
) -> Ops[tuple[list[SearchItem], IsVisible]]:
    query, branch = matched_text(question.task), question.branch
    if branch.thread_id is None:
        (found,) = yield [find(place, where, query, limit)]
        return list(found), lambda _: True
    others = find(place, {**where, "thread_id": {"$ne": branch.thread_id}}, query, limit)
    same = {**where, "thread_id": branch.thread_id}
    page = max(limit, PAGE)
    elsewhere, mine = yield [others, find(place, same, query, page)]
    is_visible = yield from visibility(namespace, branch, mine)
    while len(mine) == page and sum(map(is_visible, mine)) < limit:
        page *= _MORE
        (mine,) = yield [find(place, same, query, page)]
        is_visible = yield from visibility(namespace, branch, mine)
    return [*elsewhere, *filter(is_visible, mine)], is_visible


def _retrieved(
    row: SearchItem, best: SearchItem, own: float | None, past: Past | None, credit: Credit | None, tasks: int
) -> RetrievedMemory:
    """Return a row as a retrieved memory, with the score of its experience and why it was chosen."""
    if best.score is None:
        why = "the store has no index: newest first"
    elif own is not None and own >= best.score:
        why = f"similarity {best.score:.2f} of its task or lesson to this task"
    else:
        why = f"learned in the same attempt as an item of similarity {best.score:.2f}"
    if tasks >= GENERAL:
        why += f"; nothing is similar, and {tasks} tasks led to it"
    if credit:
        why += f"; of {credit.pairs} pairs of attempts, it fixed {credit.right_with} and broke {credit.right_without}"
    item = past.item(row) if past else to_item(row)
    if credit:
        item = item.model_copy(update={"utility": utility_of(credit)})
    return RetrievedMemory(item=item, score=best.score, why=why)
