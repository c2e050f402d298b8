"""Operations of a bank, as generators that yield batches for the store and are sent the results, or its error.

So each is written once: `run` carries it out on a store, and `arun` does so without blocking.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.store.base import Item, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.bank.item_values import TASK_VECTOR, Namespace, distinct, fields_of, find
from reasoningbank_langgraph.driver import adrive, drive

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op, SearchItem

Result = TypeVar("Result")
Ops = Generator["Sequence[Op]", "list[Any]", Result]

PAGE = 500
EVERY = 1_000_000_000
"""More rows than there are."""
_TRIES = 100
_NO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def part_of_row(namespace: Namespace, key: str, value: Mapping[str, Any]) -> Item:
    """Return a part of a row as a row: it has no times of its own."""
    return Item(value=dict(value), key=key, namespace=namespace, created_at=_NO_TIME, updated_at=_NO_TIME)


def run(operation: Ops[Result], store: BaseStore) -> Result:
    """Carry out an operation."""
    return drive(operation, lambda ops: drive(_accepted(store, ops), store.batch))


async def arun(operation: Ops[Result], store: BaseStore) -> Result:
    """Carry out an operation without blocking the loop."""
    return await adrive(operation, lambda ops: adrive(_accepted(store, ops), lambda batch: _abatch(store, batch)))


async def _abatch(store: BaseStore, ops: Sequence[Op]) -> list[Any]:
    """Carry out a batch without blocking the loop; in a thread, if the store refuses to do so by itself as SQLite's."""
    try:
        return await store.abatch(ops)
    except NotImplementedError:
        return await asyncio.to_thread(store.batch, ops)


def _accepted(store: BaseStore, ops: Sequence[Op]) -> Ops[list[Any]]:
    """Yield one batch until the store accepts it, and return its results.

    InMemoryStore has no lock, so a read fails while another thread writes; it reads before it writes, so nothing of
    such a batch is done yet and it can be tried again.
    """
    batch = distinct(ops) if _may_refuse(store, ops) else ops
    for _ in range(_TRIES - 1):
        try:
            return (yield batch)
        except RuntimeError as error:
            if str(error) != "dictionary changed size during iteration":
                raise
    return (yield batch)


def _may_refuse(store: BaseStore, ops: Sequence[Op]) -> bool:
    """Say whether a store might refuse a batch that embeds a text twice.

    InMemoryStore refuses it, and another store may wrap one: a task is embedded twice for an episode and a lesson of
    it, and any text for a lesson that comes and one like it that goes out of use.
    """
    if isinstance(store, InMemoryStore) or getattr(store, "embeds_a_text_once", False):
        return isinstance(store, InMemoryStore)
    puts = [op for op in ops if isinstance(op, PutOp) and op.value and op.index]
    texts = Counter(text for op in puts for text in _embedded(op))
    tasks = [text for op in puts for text in _embedded(op, TASK_VECTOR)]
    going = [text for op in puts if (op.value or {}).get("status", "active") != "active" for text in _embedded(op)]
    return any(texts[text] > 1 for text in [*tasks, *going])


def embedded_texts(ops: Sequence[Op], store: BaseStore) -> set[str]:
    """Return the texts that a store embeds for a batch; none if it does not tell its embedder."""
    if getattr(store, "embeddings", None) is None:
        return set()
    queries = {op.query for op in ops if isinstance(op, SearchOp) and op.query}
    return queries.union(text for op in ops if isinstance(op, PutOp) for text in _embedded(op))


def _embedded(op: PutOp, field: str | None = None) -> list[str]:
    value = op.value or {}
    return [value[name].rstrip(" ") for name in op.index or () if field in (None, name)]


def has_rows(places: Sequence[Namespace]) -> Ops[bool]:
    """Say whether one of these namespaces has a row."""
    return any((yield [find(place, {}, None, 1) for place in places]))


def rows_where(namespace: Namespace, where: Mapping[str, Any]) -> Ops[list[SearchItem]]:
    """Return all rows of this namespace that meet a filter, oldest first."""
    return sorted((yield from in_any_order(namespace, where)), key=_oldest_first)


def in_any_order(namespace: Namespace, where: Mapping[str, Any]) -> Ops[list[SearchItem]]:
    """Return the same, in the order of the store: what sorts the records of many rows need not read the rows twice.

    They are asked for at once: a store puts rows of one time in any order, and pages that another change comes between
    differ too, so that a row would be on none of them.
    """
    (found,) = yield [find(namespace, where, None, EVERY)]
    return [row for row in found if row.namespace == namespace]


def _oldest_first(row: Item) -> tuple[str, str]:
    return fields_of(row, ("created_at",)).get("created_at", "").removesuffix("Z"), row.key
