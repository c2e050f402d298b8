"""An item as a search returns it. What nobody reads of it is not parsed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import SearchItem

from reasoningbank_langgraph.store.row_layout import Entry, row_id
from reasoningbank_langgraph.store.values import decode_fields, decode_value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StoredItem(SearchItem):
    """A `SearchItem` whose value and times are made when they are first read.

    Args:
        entry: the item.
        score: its similarity to the query, if there was one.
    """

    __slots__ = ("entry",)

    def __init__(self, entry: Entry, score: float | None) -> None:
        self.namespace, self.key, self.score = entry.namespace, entry.key, score
        self.entry = entry

    def __getattr__(self, name: str) -> Any:
        """Make an attribute that was not read yet: Python asks here for it while its slot is empty."""
        made: Any
        match name:
            case "value":
                made = value_of(self.entry)
            case "created_at":
                made = time_of(self.entry.created)
            case "updated_at":
                made = time_of(self.entry.updated)
            case _:
                raise AttributeError(name)
        setattr(self, name, made)
        return made

    def fields(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return those of some fields that the value has, as it is stored."""
        return fields_of(self.entry, names)


def value_of(entry: Entry) -> dict[str, Any]:
    """Return a fresh copy of an item's value. Raises `StoreCorruptedError` if there is none."""
    return decode_value(row_id(entry.id, 0), entry.document)


def fields_of(entry: Entry, names: tuple[str, ...]) -> dict[str, Any]:
    """Return those of some fields that an item's value has. Raises `StoreCorruptedError` if there is no value."""
    return decode_fields(row_id(entry.id, 0), entry.document, names)


def time_of(microseconds: int) -> datetime:
    """Return the time that is so many microseconds after the beginning of 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)
