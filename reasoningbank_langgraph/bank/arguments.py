"""Checks of arguments to a bank: a mistake is named instead of leading to a wrong result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langgraph.store.base import BaseStore

from reasoningbank_langgraph.errors import InvalidRecordError, InvalidStoreError
from reasoningbank_langgraph.records import MemoryItem

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_store(store: Any) -> BaseStore:
    """Return the store. Raises `InvalidStoreError` if it is not one."""
    if not isinstance(store, BaseStore):
        raise InvalidStoreError(store)
    return store


def check_items(items: Iterable[Any]) -> Sequence[MemoryItem]:
    """Return the items as a list. Raises `InvalidRecordError` if one is not an item."""
    given = [items] if isinstance(items, MemoryItem) else list(items)
    for item in given:
        if not isinstance(item, MemoryItem):
            raise InvalidRecordError(
                f"a bank takes MemoryItem objects, got {type(item).__name__} {item!r:.80}: make one from "
                "a mapping with MemoryItem(**fields); the `item` of a RetrievedMemory is one"
            )
    return given


def as_id(value: Any) -> str:
    """Return an id as text, as rows hold it: a thread's id may be a UUID or a number. Raises `InvalidRecordError`."""
    if isinstance(value, (str, UUID)) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise InvalidRecordError(f"an id is text, got {type(value).__name__} {value!r:.80}: pass item.id, for example")


def as_ids(ids: Iterable[Any] | None) -> frozenset[str]:
    """Return one id or several as a set. Raises `InvalidRecordError` if one of them is not an id."""
    several = [ids] if isinstance(ids, (str, UUID, MemoryItem)) else ids or ()
    return frozenset(map(as_id, several))
