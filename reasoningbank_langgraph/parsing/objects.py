"""Finds the JSON objects in a model's text: in fences, in prose, with the usual mistakes, in bounded time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from reasoningbank_langgraph.parsing.escapes import double_latex

_START = re.compile(r"\{(?=\s*(?:[\"'“‘}]|\w+[ \t]*:|\Z))|\[(?=\s*(?:[{\]]|\Z))")
_MARK = re.compile(r"[{}\[\]\"'“‘]")
_SOLID = re.compile(r"\S")
_CLOSERS = {'"': '"', "'": "'", "“": '”“"', "‘": "’'"}
_PAIRS = {"}": "{", "]": "["}
# A schema in place of values: "success" | "failure", 0..1. Repairing it would make an answer of it.
_SCHEMA = re.compile(
    r":\s*(?:[\"'“][\w ]{0,40}[\"'”]\s*(?:\||or)\s*[\"'“]|(?:an?\s)?(?:number|float|string)\b"
    r"|\d(?:\.\d+)?\s*(?:\.\.|-|to)\s*\d[\d.]*\s*[,}])"
)
_SCAN_BUDGET, _SPAN_COST = 250_000, 200
_REPAIR_CHARS, _REPAIR_BRACES = 12_000, 40


class Found(NamedTuple):
    """One object or list, and where it stands in the text."""

    value: dict[str, Any] | list[Any]
    start: int
    end: int


class Objects(NamedTuple):
    """All outermost objects of a text in order, and where one starts that never closes."""

    found: list[Found]
    open_at: int | None

    def open_after_last(self) -> bool:
        """Say whether the last thing begun is unfinished."""
        return self.open_at is not None and (not self.found or self.open_at >= self.found[-1].end)


def find_objects(text: str) -> Objects:
    """Return every JSON-like object in a text; whole objects inside one that never closes count too."""
    found: list[Found] = []
    open_at: int | None = None
    position, budget = 0, _SCAN_BUDGET
    while budget > 0 and (start := _START.search(text, position)):
        end, inside = _scan(text, start.start())
        spans = [(start.start(), end)] if end else inside
        read = [Found(value, *span) for span in spans if (value := parse_span(text[span[0] : span[1]])) is not None]
        if end is None:
            open_at = start.start()
        budget -= _SPAN_COST + (0 if end and read else (end or len(text)) - start.start())
        found += read
        position = read[-1].end if read else start.end()
    return Objects(found, open_at)


def parse_span(span: str) -> dict[str, Any] | list[Any] | None:
    """Parse one balanced span, strictly first and then with repairs; None if it holds no object."""
    source = double_latex(span)
    try:
        value = json.loads(source, strict=False)
    except (ValueError, RecursionError):
        value = _repaired(source)
    return value if isinstance(value, (dict, list)) else None


def without_last_brace(text: str) -> dict[str, Any] | None:
    """Parse an object that lacks only its closing brace, as models that stop by themselves sometimes leave it."""
    try:
        value = json.loads(double_latex(text.rstrip("` \t\r\n") + "}"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _repaired(source: str) -> Any:
    """Mend trailing commas, quotes, Python literals and comments with json-repair.

    It is not given everything. It completes what was cut, so only balanced spans come here. It reads a schema as an
    answer, so those are refused. It decodes escapes, so LaTeX was doubled before. It takes tens of seconds for
    some texts of 20 kB, so size and nesting are bounded.
    """
    if len(source) > _REPAIR_CHARS or source.count("{") + source.count("[") > _REPAIR_BRACES or _SCHEMA.search(source):
        return None
    import json_repair

    try:
        return json_repair.loads(source)
    except (ValueError, RecursionError, IndexError, TypeError):
        return None


def _scan(text: str, start: int) -> tuple[int | None, list[tuple[int, int]]]:
    """Return the end of the object at `start`, or None and the outermost whole objects inside it."""
    stack: list[int] = []
    inside: list[tuple[int, int]] = []
    position = start
    while mark := _MARK.search(text, position):
        char, position = mark[0], mark.end()
        if char in "{[":
            stack.append(mark.start())
        elif char in "}]":
            position = _close(text, stack, inside, mark.start())
            if not stack:
                return position, []
        elif _opens_string(text, mark.start()):
            position = _string_end(text, mark.start())
    return None, sorted(inside)


def _close(text: str, stack: list[int], inside: list[tuple[int, int]], at: int) -> int:
    """Take the partner of a closing bracket off the stack; a closer without one is skipped."""
    depth = len(stack)
    while depth and text[stack[depth - 1]] != _PAIRS[text[at]]:
        depth -= 1
    if depth:
        opened = stack[depth - 1]
        del stack[depth - 1 :]
        if text[at] == "}":
            while inside and inside[-1][0] > opened:
                inside.pop()
            inside.append((opened, at + 1))
    return at + 1


def _opens_string(text: str, at: int) -> bool:
    """A quote opens a string where JSON expects one; elsewhere it is an apostrophe or a stray."""
    before = at - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    return before >= 0 and text[before] in "{[,:"


def _string_end(text: str, at: int) -> int:
    """Return where the string opened at `at` ends: at a closer that a separator follows, or at the text's end."""
    closers = _CLOSERS[text[at]]
    position = at + 1
    for found in re.compile(rf"\\.|[{closers}]", re.DOTALL).finditer(text, position):
        if found[0][0] == "\\":
            continue
        following = _SOLID.search(text, found.end())
        if following is None or following[0] in ",:}]":
            return found.end()
    return len(text)


def walk(value: Any, depth: int = 5) -> Iterator[dict[str, Any]]:
    """Yield the objects in a value from the outside in: wrappers of tool calls are looked into, schemas are not."""
    if isinstance(value, list) and depth:
        for inner in value:
            yield from walk(inner, depth - 1)
    if not isinstance(value, dict):
        return
    yield value
    if depth and not {"properties", "$schema", "anyOf"} & value.keys():
        for key, inner in value.items():
            if not str(key).casefold().startswith("example"):
                yield from walk(_decoded(inner), depth - 1)


def _decoded(value: Any) -> Any:
    """Arguments of a call may be JSON inside a JSON string."""
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= _REPAIR_CHARS:
        return parse_span(value.strip())
    return value
