"""Which of the experiences that fit a task are shown beside each other, and how many tasks are behind a lesson."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from reasoningbank_langgraph.bank.branches import Branch
from reasoningbank_langgraph.bank.item_values import Namespace, find
from reasoningbank_langgraph.bank.minting.deciding import LeftOut
from reasoningbank_langgraph.bank.operations import PAGE, Ops
from reasoningbank_langgraph.bank.snapshots import Past
from reasoningbank_langgraph.namespaces import LEFT_OUT, beside
from reasoningbank_langgraph.policies import by_levels, eligible

if TYPE_CHECKING:
    from langgraph.store.base import Item, SearchItem

    from reasoningbank_langgraph.records import RetrievedMemory


def one_a_place(best: Mapping[str, SearchItem]) -> dict[str, SearchItem]:
    """Return the best hits of experiences, best first, without those that are linked to a better one's.

    However many near copies there are, and whoever wrote them, they get one place.
    """
    roots: dict[str, str] = {}
    for name, hit in best.items():
        roots.setdefault(_root(hit), name)
    return {name: best[name] for name in roots.values()}


def without_copies(memories: Iterable[RetrievedMemory]) -> list[RetrievedMemory]:
    """Return lessons in their order, of those that are linked the first."""
    kept: dict[str, RetrievedMemory] = {}
    for memory in memories:
        kept.setdefault(memory.item.near or memory.item.id, memory)
    return list(kept.values())


def scores_of(best: Mapping[str, SearchItem]) -> dict[str, float]:
    """Return the similarity of each experience; nothing if the store has no index."""
    return {name: hit.score for name, hit in best.items() if hit.score is not None}


def in_levels(
    hits: Sequence[SearchItem], best: Mapping[str, SearchItem], tasks: Mapping[str, int], k: int
) -> tuple[list[str], Collection[str]]:
    """Return the experiences of which k are shown, the most similar first, and those that come before all others.

    Args:
        hits: lessons that were found.
        best: the best one of each experience, best first.
        tasks: by lesson, how many tasks led to it.
        k: how many are shown.
    """
    scores, most = scores_of(best), dict[str, int]()
    if not scores:
        return list(best)[:k], ()
    for hit in hits:
        name = hit.value["experience_id"]
        most[name] = max(most.get(name, 0), tasks.get(hit.key, 0))
    first, *later = by_levels(scores, most)
    near = eligible(first, k)
    if later and len(near) < k:
        near += eligible(later[0], k - len(near))
    return near, first if later else ()


def tasks_behind(
    namespace: Namespace, hits: Sequence[SearchItem], branch: Branch, own: str, past: Past | None
) -> Ops[dict[str, int]]:
    """Return by lesson how many tasks led to it, to an equal one or to a near copy that is linked.

    A merged lesson has the tasks of those it stands for. Where a policy left lessons out because the bank had them, the
    newest 500 such attempts count, those of other threads only: which branch an attempt is on, its row does not say.

    Args:
        namespace: the bank.
        hits: lessons that were found, and may be seen.
        branch: the branch that asks.
        own: key of the task at hand, which does not count.
        past: the moment that is looked at.
    """
    (attempts,) = yield [find(beside(namespace, LEFT_OUT), {}, None, PAGE)]
    places = _places(hits)
    tasks: defaultdict[str, set[str]] = defaultdict(set)
    for hit in hits:
        tasks[places[hit.key]] |= {hit.value["task_key"], *(one["task_key"] for one in hit.value.get("sources", ()))}
    for row in attempts:
        if _counts(row, branch, past):
            for one in LeftOut.of(row).treated.values():
                tasks[places.get(one.to or "", "")].add(row.value["task_key"])
    return {key: len(tasks[place] - {own}) for key, place in places.items()}


def _places(hits: Sequence[SearchItem]) -> dict[str, str]:
    """Return by lesson the name of what it has in common with its copies."""
    first: dict[str, str] = {}
    equal = {hit.key: first.setdefault(hit.value.get("content_key", hit.key), hit.key) for hit in hits}
    return {hit.key: equal.get(_root(hit), _root(hit)) for hit in hits}


def _root(hit: Item) -> str:
    return str(hit.value.get("near") or hit.key)


def _counts(row: Item, branch: Branch, past: Past | None) -> bool:
    """Say whether lessons that an attempt left out count; rows of earlier versions do not say of which task it was."""
    known = "task_key" in row.value and (past is None or row.value["since"] <= past.at)
    return known and (branch.thread_id is None or row.value["thread_id"] != branch.thread_id)
