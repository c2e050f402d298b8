"""Values as JSON text: what goes in comes out equal, what JSON cannot hold is refused before anything is written."""

from __future__ import annotations

import json
from typing import Any

from reasoningbank_langgraph.errors import InvalidValueError, StoreCorruptedError

DEPTH_CAP = 200
"""Deepest nesting of a value; reading a deeper one could exhaust Python's stack."""


def encode_value(key: str, value: object) -> str:
    """Return the value as ASCII JSON: lone surrogates and NUL survive, tuples become lists, integers stay exact.

    Raises:
        InvalidValueError: not a dict, a key that is no string, NaN or infinity, a type JSON does not have,
            nesting deeper than 200.
    """
    if not isinstance(value, dict):
        raise InvalidValueError(key, f"it is a {type(value).__name__} and must be a dict")
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(key, str(error)) from error
    _check_keys_and_depth(key, value)
    return text


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
