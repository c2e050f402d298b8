"""Operations of a bank are generators that yield batches for the store and are sent the results, or its error.

So each is written once: `run` carries it to a store, `arun` does the same without blocking.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.store.memory import InMemoryStore

from reasoningbank_langgraph.bank.item_values import Namespace, distinct, find

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op, SearchItem

Result = TypeVar("Result")
Ops = Generator["Sequence[Op]", "list[Any]", Result]

PAGE = 500
_TRIES = 100


def run(operation: Ops[Result], store: BaseStore) -> Result:
    """Carry out an operation."""
    tries = 0
    try:
        ops = next(operation)
        while True:
            try:
                results = store.batch(_as_taken(store, ops))
            except Exception as error:  # noqa: BLE001 - the operation raises it, after it undid what it has to
                tries += 1
                ops = _after(error, operation, ops, tries)
            else:
                ops = operation.send(results)
    except StopIteration as stop:
        result: Result = stop.value
        return result


async def arun(operation: Ops[Result], store: BaseStore) -> Result:
    """Carry out an operation without blocking the loop."""
    tries = 0
    try:
        ops = next(operation)
        while True:
            try:
                results = await store.abatch(_as_taken(store, ops))
            except Exception as error:  # noqa: BLE001 - as above
                tries += 1
                ops = _after(error, operation, ops, tries)
            else:
                ops = operation.send(results)
    except StopIteration as stop:
        result: Result = stop.value
        return result


def _as_taken(store: BaseStore, ops: Sequence[Op]) -> Sequence[Op]:
    """Return a batch as the store takes it: InMemoryStore refuses one that embeds a text twice."""
    return distinct(ops) if isinstance(store, InMemoryStore) else ops


def _after(error: Exception, operation: Ops[Any], ops: Sequence[Op], tries: int) -> Sequence[Op]:
    """Return the same batch where a read broke off because another thread wrote, else what the operation does next.

    InMemoryStore has no lock. It reads before it writes, so nothing of such a batch is done yet.
    """
    met_a_write = isinstance(error, RuntimeError) and str(error) == "dictionary changed size during iteration"
    return ops if met_a_write and tries < _TRIES else operation.throw(error)


def rows_where(namespace: Namespace, where: Mapping[str, Any]) -> Ops[list[SearchItem]]:
    """Return all rows of this namespace that meet a filter, oldest first."""
    rows: dict[str, SearchItem] = {}
    page: list[SearchItem] = []
    offset = 0
    while offset == 0 or len(page) == PAGE:
        (page,) = yield [find(namespace, where, None, PAGE, offset)]
        rows.update((row.key, row) for row in page if row.namespace == namespace)
        offset += PAGE
    return sorted(rows.values(), key=lambda row: (row.value.get("created_at", ""), row.key))
