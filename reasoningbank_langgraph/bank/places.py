"""Which of the experiences that fit a task are shown beside each other: of linked near copies, one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem

    from reasoningbank_langgraph.records import RetrievedMemory


def one_a_place(best: Mapping[str, SearchItem]) -> dict[str, SearchItem]:
    """Return the best hits of experiences, best first, without those that are linked to a better one's.

    However many near copies there are, and whoever wrote them, they get one place.
    """
    roots: dict[str, str] = {}
    for name, hit in best.items():
        roots.setdefault(hit.value.get("near") or hit.key, name)
    return {name: best[name] for name in roots.values()}


def without_copies(memories: Iterable[RetrievedMemory]) -> list[RetrievedMemory]:
    """Return lessons in their order, of those that are linked the first."""
    kept: dict[str, RetrievedMemory] = {}
    for memory in memories:
        kept.setdefault(memory.item.near or memory.item.id, memory)
    return list(kept.values())
