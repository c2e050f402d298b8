"""The lessons of a bank that are like a new one, as far as its branch may see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.bank.branches import Branch, visibility
from reasoningbank_langgraph.bank.item_values import NEVER, Namespace, content_key, find, lesson_text, micros, to_item
from reasoningbank_langgraph.bank.operations import Ops
from reasoningbank_langgraph.policies import Neighbour, word_overlap, words_of
from reasoningbank_langgraph.state.lineage import Line

if TYPE_CHECKING:
    from langgraph.store.base import SearchItem, SearchOp

    from reasoningbank_langgraph.records import MemoryItem

_NEAREST, _EQUAL = 10, 5


def neighbours_of(
    namespace: Namespace, items: Sequence[MemoryItem], written: frozenset[str], *, similar: bool
) -> Ops[list[list[Neighbour]]]:
    """Return what the bank has that is like each of these, read in one batch: equal ones, then the most similar.

    Only lessons of the same outcome that are in use, and valid at least as long, can take a new one's place.

    Args:
        namespace: the bank.
        items: new lessons of one attempt.
        written: ids that its branch has written.
        similar: whether to look for similar ones too, which embeds each.
    """
    if not items:
        return []
    asked = [_asked(namespace, item, similar=similar) for item in items]
    answers = iter((yield [op for ops in asked for op in ops]))
    found = [[hit for _ in ops for hit in next(answers)] for ops in asked]
    source = items[0].provenance
    branch = Branch(source.thread_id, written, Line.of(source.model_dump()))
    is_visible = yield from visibility(namespace, branch, [hit for hits in found for hit in hits])
    return [_neighbours(item, filter(is_visible, hits)) for item, hits in zip(items, found, strict=True)]


def _asked(namespace: Namespace, item: MemoryItem, *, similar: bool) -> list[SearchOp]:
    where: dict[str, Any] = {
        "outcome": item.outcome,
        "status": "active",
        "expires": {"$gte": NEVER if item.valid_until is None else micros(item.valid_until)},
        "experience_id": {"$ne": item.experience_id},
    }
    equal = find(namespace, {**where, "content_key": content_key(item)}, None, _EQUAL)
    return [equal, find(namespace, where, lesson_text(item), _NEAREST)] if similar else [equal]


def _neighbours(item: MemoryItem, hits: Iterable[SearchItem]) -> list[Neighbour]:
    """Return hits as neighbours, each once: equal ones, then by similarity; ties break by id."""
    key = content_key(item)
    rows: dict[str, SearchItem] = {}
    for hit in hits:
        if hit.key not in rows or hit.score is not None:
            rows[hit.key] = hit
    found = [
        Neighbour(other := to_item(row), row.score, _overlap(item, other), row.value.get("content_key") == key)
        for row in rows.values()
    ]
    return sorted(found, key=lambda one: (not one.is_equal, -(one.similarity or 0.0), one.item.id))


def _overlap(one: MemoryItem, other: MemoryItem) -> float:
    first, second = (words_of(item.title, item.description, item.content) for item in (one, other))
    return word_overlap(first, second)
