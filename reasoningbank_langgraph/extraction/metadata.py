"""What the caller says of lessons: their tags, scope and difficulty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.records import MemoryItem

Metadata = Mapping[str, Any] | Callable[[MemoryItem], Mapping[str, Any]]
"""`tags` (text or several), `scope` and `difficulty` of lessons, or a function that returns them for one lesson."""
FIELDS = ("tags", "scope", "difficulty")


def with_metadata(lessons: Sequence[dict[str, Any]], metadata: Metadata | None) -> list[dict[str, Any]]:
    """Return lessons, as JSON, with what is said of them.

    Raises:
        InvalidRecordError: it says something else than tags, scope and difficulty, or not as text.
    """
    if metadata is None:
        return list(lessons)
    return [labelled(MemoryItem(**lesson), metadata).to_json() for lesson in lessons]


def labelled(item: MemoryItem, metadata: Metadata | None) -> MemoryItem:
    """Return a lesson with what is said of it. Raises like `with_metadata`."""
    if metadata is None:
        return item
    said = metadata(item) if callable(metadata) else metadata
    if not isinstance(said, Mapping) or set(said) - set(FIELDS):
        raise InvalidRecordError(f"metadata is a mapping with {', '.join(FIELDS)} and nothing else, got {said!r:.200}")
    tags = said.get("tags", item.tags)
    fields = {**said, "tags": (tags,) if isinstance(tags, str) else tuple(tags or ())}
    return MemoryItem(**{**dict(item), **fields})
