"""Search filters: field equality and `$eq $ne $gt $gte $lt $lte`, with the equality of LangGraph's InMemoryStore.

Differences from it are all on the safe side: a missing field or a value of another type is no match instead of an
exception, strings compare by code point, integers compare exactly, and an operator that does not exist is refused
even when there is no item to test it on.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from reasoningbank_langgraph.errors import InvalidFilterError

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDER)


def check_filter(condition: object) -> None:
    """Refuse a filter that could not be applied to some item.

    Raises:
        InvalidFilterError: not a mapping, an unknown operator, an operator in place of a field.
    """
    if condition is None:
        return
    if not isinstance(condition, Mapping):
        raise InvalidFilterError(f"a filter is a dict of field to value, got {type(condition).__name__}")
    for field, wanted in condition.items():
        if not isinstance(field, str):
            raise InvalidFilterError(f"filter fields are strings, got {field!r}")
        if field.startswith("$"):
            raise InvalidFilterError(f"Unsupported operator: {field[:80]} (a filter names fields; all must match)")
        _check_wanted(wanted)


def matches(value: Mapping[str, Any], condition: Mapping[str, Any] | None) -> bool:
    """Say whether an item's value meets every field of a filter."""
    return not condition or all(_meets(value.get(field), wanted) for field, wanted in condition.items())


def _check_wanted(wanted: Any) -> None:
    if isinstance(wanted, Mapping):
        operators = [name for name in wanted if isinstance(name, str) and name.startswith("$")]
        for name in wanted if operators else ():
            if name not in _OPERATORS:
                raise InvalidFilterError(f"Unsupported operator: {str(name)[:80]} (use {', '.join(_OPERATORS)})")
        for inner in () if operators else wanted.values():
            _check_wanted(inner)
    elif isinstance(wanted, list | tuple):
        for inner in wanted:
            _check_wanted(inner)


def _meets(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(isinstance(name, str) and name.startswith("$") for name in wanted):
            return all(_compare(found, name, bound) for name, bound in wanted.items())
        return isinstance(found, dict) and all(_meets(found.get(name), inner) for name, inner in wanted.items())
    if isinstance(wanted, list | tuple):
        pairs = zip(found, wanted, strict=True) if isinstance(found, list) and len(found) == len(wanted) else None
        return pairs is not None and all(_meets(one, inner) for one, inner in pairs)
    return bool(found == wanted)


def _compare(found: Any, name: str, bound: Any) -> bool:
    if name == "$eq":
        return bool(found == _plain(bound))
    if name == "$ne":
        return bool(found != _plain(bound))
    comparable = (_is_number(found) and _is_number(bound)) or (isinstance(found, str) and isinstance(bound, str))
    return comparable and _ORDER[name](found, bound)


def _plain(bound: Any) -> Any:
    return [_plain(inner) for inner in bound] if isinstance(bound, list | tuple) else bound


def _is_number(thing: Any) -> bool:
    return isinstance(thing, int | float)
