"""Which lessons a caller asks for, by their tags, scope, difficulty and outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args

from reasoningbank_langgraph.bank.item_values import tag_field
from reasoningbank_langgraph.records import Outcome

if TYPE_CHECKING:
    from reasoningbank_langgraph.records import MemoryItem

Where = Mapping[str, Any]
"""Which lessons are looked for: `tags` (one, or several that a lesson must all have), `scope`, `difficulty` and
`outcome`."""
_FIELDS = ("tags", "scope", "difficulty", "outcome")


def check_where(where: Where | None) -> Where:
    """Return what is asked for. Raises `ValueError` if it names anything else, or a value that is no text."""
    asked = {} if where is None else where
    if not isinstance(asked, Mapping) or set(asked) - set(_FIELDS):
        raise ValueError(f"where takes {', '.join(_FIELDS)}, as in where={{'tags': 'algebra'}}, got {asked!r:.200}")
    for name in _FIELDS[1:]:
        if not isinstance(asked.get(name), str | None):
            raise ValueError(f"where: {name} is text, got {asked[name]!r:.200}")
    if asked.get("outcome") not in (None, *get_args(Outcome)):
        raise ValueError(f"where: outcome is one of {', '.join(get_args(Outcome))}, got {asked['outcome']!r:.200}")
    _tags(asked)
    return asked


def row_filter(where: Where) -> dict[str, Any]:
    """Return the filter for rows, which acts inside a search: what is not asked for takes no place."""
    others = {name: value for name, value in where.items() if name != "tags" and value is not None}
    return {**others, **{tag_field(tag): "yes" for tag in _tags(where)}}


def is_asked_for(item: MemoryItem, where: Where) -> bool:
    """Say whether a lesson is one of those that are asked for."""
    has = {tag_field(tag) for tag in item.tags}
    others = {name: value for name, value in where.items() if name != "tags" and value is not None}
    return has >= set(map(tag_field, _tags(where))) and all(getattr(item, name) == others[name] for name in others)


def _tags(where: Where) -> list[str]:
    tags = where.get("tags") or ()
    several = [tags] if isinstance(tags, str) else list(tags) if isinstance(tags, Iterable) else [tags]
    for tag in several:
        if not isinstance(tag, str):
            raise ValueError(f"where: tags are text, got {tag!r:.200}")
    return several
