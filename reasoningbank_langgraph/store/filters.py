"""Search filters: field equality and `$eq $ne $gt $gte $lt $lte`, with the equality of LangGraph's InMemoryStore.

It differs from that store only on the safe side: a missing field or a value of another type is no match instead of an
exception, strings compare by code point, integers compare exactly, and an operator that does not exist is refused even
when there is no item to test it on.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from reasoningbank_langgraph.errors import InvalidFilterError
from reasoningbank_langgraph.store.values import DEPTH_CAP

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
        InvalidFilterError: not a mapping, an unknown operator, an operator in place of a field, nested deeper than
            a value can be.
    """
    if condition is None:
        return
    if not isinstance(condition, Mapping):
        raise InvalidFilterError(f"a filter is a dict of field to value, got {type(condition).__name__}")
    for field in condition:
        if not isinstance(field, str):
            raise InvalidFilterError(f"filter fields are strings, got {type(field).__name__}")
        if field.startswith("$"):
            raise InvalidFilterError(f"Unsupported operator: {field[:80]} (a filter names fields; all must match)")
    _check_wanted(condition.values())


def matches(value: Mapping[str, Any], condition: Mapping[str, Any] | None) -> bool:
    """Say whether an item's value meets every field of a filter."""
    for field, wanted in (condition or {}).items():
        found = value.get(field)
        if not (found == wanted if type(wanted) is str else _meets(found, wanted)):
            return False
    return True


def needed_parts(condition: Mapping[str, Any] | None) -> list[str]:
    """Return what the JSON text of every item contains that meets a filter, what is rarest first as far as one can say.

    A text without these parts need not be parsed. One with them may still not match: they may stand deeper in it.
    """
    texts = [(field, wanted) for field, wanted in (condition or {}).items() if type(wanted) is str]
    return sorted((f"{json.dumps(field)}:{json.dumps(wanted)}" for field, wanted in texts), key=len, reverse=True)


def sure_opening(condition: Mapping[str, Any] | None) -> str | None:
    """Return how the JSON text of an item begins that meets a filter for sure; None where no beginning says so."""
    parts = needed_parts(condition)
    return "{" + parts[0] if len(condition or ()) == len(parts) == 1 else None


def _check_wanted(things: Iterable[Any]) -> None:
    level = [(thing, False) for thing in things]
    for _ in range(DEPTH_CAP):
        if not level:
            return
        for wanted, literal in level:
            if not literal:
                _check_operators(wanted)
            if not isinstance(wanted, Mapping | list | Hashable):
                raise InvalidFilterError(f"a filter compares with what JSON can hold, got {type(wanted).__name__}")
        # By identity: what contains itself, or one part many times, is checked once a level.
        level = list({(id(part[0]), part[1]): part for pair in level for part in _parts_below(*pair)}.values())
    raise InvalidFilterError(f"a filter is nested at most {DEPTH_CAP} deep, like the values it is compared with")


def _parts_below(wanted: Any, literal: bool) -> Iterator[tuple[Any, bool]]:
    parts = wanted.values() if isinstance(wanted, Mapping) else wanted if isinstance(wanted, list | tuple) else ()
    literal = literal or _has_operators(wanted)
    return ((part, literal) for part in parts)


def _check_operators(wanted: Any) -> None:
    for name in wanted if _has_operators(wanted) else ():
        if name not in _OPERATORS:
            text = name[:80] if isinstance(name, str) else type(name).__name__
            raise InvalidFilterError(f"Unsupported operator: {text} (use {', '.join(_OPERATORS)})")


def _has_operators(wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and any(isinstance(name, str) and name.startswith("$") for name in wanted)


def _meets(found: Any, wanted: Any, *, exactly: bool = False) -> bool:
    """Say whether a part of a value is what is wanted; `exactly` as it stands, without operators or further fields."""
    pairs = [(found, wanted)]
    while pairs:
        found, wanted = pairs.pop()
        if not exactly and _has_operators(wanted):
            if not all(_compare(found, name, bound) for name, bound in wanted.items()):
                return False
        elif isinstance(wanted, Mapping):
            if not isinstance(found, dict) or (exactly and found.keys() != wanted.keys()):
                return False
            pairs += ((found.get(name), inner) for name, inner in wanted.items())
        elif isinstance(wanted, list | tuple):
            if not isinstance(found, list) or len(found) != len(wanted):
                return False
            pairs += zip(found, wanted, strict=True)
        elif not _same(found, wanted):
            return False
    return True


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, dict | list):
        return False  # never compared: their own comparison goes as deep as they are
    return bool(found == wanted)


def _compare(found: Any, name: str, bound: Any) -> bool:
    if name in ("$eq", "$ne"):
        return _meets(found, bound, exactly=True) is (name == "$eq")
    comparable = (_is_number(found) and _is_number(bound)) or (isinstance(found, str) and isinstance(bound, str))
    return comparable and _ORDER[name](found, bound)


def _is_number(thing: Any) -> bool:
    return isinstance(thing, int | float)
