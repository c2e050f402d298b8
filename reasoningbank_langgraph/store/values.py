"""Values as JSON text: what goes in comes out equal, what JSON cannot hold is refused before anything is written."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from reasoningbank_langgraph.errors import InvalidValueError, StoreCorruptedError

DEPTH_CAP = 200
"""Deepest nesting of a value; reading a deeper one could exhaust Python's stack."""


to_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Encoded(NamedTuple):
    """A value as it is stored."""

    text: str
    """As ASCII JSON."""
    value: dict[str, Any]
    """As it is read again."""


def encode_value(key: str, value: object) -> Encoded:
    """Return the value as it is stored: lone surrogates and NUL survive, tuples become lists, integers stay exact.

    Raises:
        InvalidValueError: not a dict, a key that is no string, NaN or infinity, a type JSON does not have,
            nesting deeper than 200.
    """
    if not isinstance(value, dict):
        raise InvalidValueError(key, f"it is a {type(value).__name__} and must be a dict")
    try:
        text = to_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(key, str(error)) from error
    if text.count("{") + text.count("[") > DEPTH_CAP:
        _check_keys_and_depth(key, value)
    stored: dict[str, Any] = json.loads(text)
    if stored != value:  # such as by a key that is no string
        _check_keys_and_depth(key, value)
    return Encoded(text, stored)


def decode_value(row: str, text: str) -> dict[str, Any]:
    """Return a fresh copy of a stored value.

    Raises:
        StoreCorruptedError: the text is not a JSON object.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreCorruptedError(f"row {row!r} does not hold JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreCorruptedError(f"row {row!r} holds a JSON {type(value).__name__}, expected an object")
    return value


def decode_fields(row: str, text: str, fields: tuple[str, ...]) -> dict[str, Any]:
    """Return those of some fields that a stored value has, in a fraction of the time that all of it takes.

    Raises:
        StoreCorruptedError: the text is not a JSON object.
    """
    try:
        return _reader(fields).validate_json(text)
    except ValueError:  # it knows no lone surrogates, which a value or the name of a field may have
        value = decode_value(row, text)
        return {field: value[field] for field in fields if field in value}


@lru_cache(maxsize=256)
def _reader(fields: tuple[str, ...]) -> TypeAdapter[dict[str, Any]]:
    """Return what reads these fields and passes over the others, without making objects of them.

    Raises:
        UnicodeEncodeError: a name has a lone surrogate.
    """
    "".join(fields).encode()
    return TypeAdapter(TypedDict("Fields", dict.fromkeys(fields, Any), total=False))  # type: ignore[operator]


def _check_keys_and_depth(key: str, value: dict[Any, Any]) -> None:
    level: list[Any] = [value]
    for _ in range(DEPTH_CAP):
        for holder in level:
            if isinstance(holder, dict) and not all(isinstance(name, str) for name in holder):
                wrong = next(name for name in holder if not isinstance(name, str))
                raise InvalidValueError(key, f"{wrong!r} is a key and not a string")
        level = [child for holder in level for child in _children(holder) if isinstance(child, dict | list | tuple)]
        if not level:
            return
    raise InvalidValueError(key, f"it is nested deeper than {DEPTH_CAP}")


def _children(holder: Any) -> Any:
    return holder.values() if isinstance(holder, dict) else holder
