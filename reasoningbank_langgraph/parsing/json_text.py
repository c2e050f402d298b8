"""JSON text as values: strictly first, then with the usual mistakes mended, in bounded time and depth."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from reasoningbank_langgraph.parsing.json_escapes import double_latex
from reasoningbank_langgraph.parsing.quotes import announces_quote
from reasoningbank_langgraph.text.folding import Folded

DEEPEST = 64
"""Levels of a value that is read; what is deeper was not written to be read."""
_REPAIR_CHARS, _REPAIR_BRACES, _REPAIR_QUOTES = 12_000, 40, 400
_QUOTES = re.compile("[\"'“”‘’]")
# A schema in place of values: "success" | "failure", 0..1. Repairing it would make an answer of it.
_SCHEMA = re.compile(
    r":\s*(?:[\"'“][\w ]{0,40}[\"'”]\s*(?:\||or)\s*[\"'“]|(?:an?\s)?(?:number|float|string)\b"
    r"|\d(?:\.\d+)?\s*(?:\.\.|-|to)\s*\d[\d.]*\s*[,}])"
)

_CALL_KEYS = {"name", "type", "id", "tool", "tool_name", "tool_call", "function_name", "action"}
_ARGUMENT_KEYS = {"arguments", "args", "parameters", "input", "action_input", "function"}
_QUOTING_KEY = re.compile(r"propert|\$|^(?:task|steps?|checks?|context|observations?)$")


class Pairs(dict[str, Any]):
    """A JSON object that keeps the first of equal keys as its value, and all pairs in `pairs`."""

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        super().__init__()
        self.pairs = tuple(pairs)
        for key, value in self.pairs:
            self.setdefault(key, value)


def pairs_of(value: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return the pairs of an object in order, with keys that stand twice."""
    return value.pairs if isinstance(value, Pairs) else value.items()


def fields_of(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the pairs of an object with folded keys; a key that stands twice comes twice."""
    for key, inner in pairs_of(value):
        plain = str(key) if str(key).isascii() else Folded(str(key)).view
        yield re.sub(r"[\s\-]+", "_", plain.strip().casefold()), inner


def unwrap(value: dict[str, Any], names: Collection[str] = ()) -> Any:
    """Return the object or list that is all a lone key, or a tool call written as text, is wrapped around; else None.

    Args:
        value: what may be a wrapper.
        names: keys that may have other fields beside them that are no objects.
    """
    inner = [(key, one) for key, one in fields_of(value) if isinstance(one, (dict, list))]
    if len(inner) != 1:
        return None
    key, one = inner[0]
    quotes = key not in _CALL_KEYS and announces_quote(key.replace("_", " "))
    if quotes or _QUOTING_KEY.search(key):
        return None
    others = {other for other, _ in fields_of(value)} - {key}
    return one if not others or key in names or (key in _ARGUMENT_KEYS and others <= _CALL_KEYS) else None


def read_strictly(source: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that a text is, as JSON with LaTeX in it; None if it is none or too deep."""
    try:
        value = json.loads(double_latex(source), strict=False, object_pairs_hook=Pairs, parse_int=_number)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) and not deeper_than(value, DEEPEST) else None


def _number(digits: str) -> int | float:
    """No number of a reply needs as many digits as Python refuses to read."""
    return int(digits) if len(digits) <= 20 else float(digits)


def deeper_than(value: Any, levels: int) -> bool:
    """Say whether objects and lists are nested in more than so many levels."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [inner for one in layer for inner in _inside(one)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


class Mender:
    """Mends JSON with json-repair as far as one reply may cost: trailing commas, quotes, Python literals, comments.

    It is not given everything. It completes what was cut, so only balanced spans come here. It reads a schema as an
    answer, so those are refused. It decodes escapes, so LaTeX was doubled before. Its time grows with the square of
    the quotes in a text, so these, the size and the nesting are bounded.
    """

    def __init__(self) -> None:
        self._chars, self._quotes = _REPAIR_CHARS, _REPAIR_QUOTES

    def mend(self, source: str) -> dict[str, Any] | list[Any] | None:
        """Return the object or list that a balanced span was meant to be, or None."""
        chars, braces = len(source), source.count("{") + source.count("[")
        if chars > self._chars or braces > _REPAIR_BRACES or _SCHEMA.search(source):
            return None
        quotes = len(_QUOTES.findall(source))
        if quotes > self._quotes:
            return None
        self._chars, self._quotes = self._chars - chars, self._quotes - quotes
        return _repair(double_latex(source))


def _repair(source: str) -> dict[str, Any] | list[Any] | None:
    import json_repair

    try:
        value: Any = json_repair.loads(source)
    except Exception:  # noqa: BLE001 - json-repair does not say which errors it may raise
        return None
    return value if isinstance(value, (dict, list)) and not deeper_than(value, DEEPEST) else None
