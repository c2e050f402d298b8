"""Finds the JSON objects in a model's text: in fences, in prose, with the usual mistakes, in bounded time."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from reasoningbank_langgraph.parsing.json_text import Mender, read_strictly

_START = re.compile(r"\{(?=\s*(?:[\"'“‘}]|\w+[ \t]*:|\Z))|\[(?=\s*(?:[{\]]|\Z))")
_LOOKS_JSON = re.compile(r"\{\s*[\"'“‘]|\[\s*[{\]]")
_MARK = re.compile(r"[{}\[\]\"'“‘]")
_SOLID = re.compile(r"\S")
_STRING_MARK = {
    opener: re.compile(rf"\\.|[{closers}]", re.DOTALL)
    for opener, closers in {'"': '"', "'": "'", "“": '”“"', "‘": "’'"}.items()
}
_PAIRS = {"}": "{", "]": "["}
_FREE = 10_000
"""Characters that may be scanned beside twice the length of the text."""
_MOST = 1_000
"""Objects that an answer may have; a text of more, or one that takes more scanning, is not read at all."""
_FENCED = re.compile(r"\A(?:json\w*|python|javascript|js)?\s*(?=[{\[])", re.IGNORECASE)


class FoundObject(NamedTuple):
    """One object or list, and where it stands in the text."""

    value: dict[str, Any] | list[Any]
    start: int
    end: int
    mended: bool = False
    """It is not valid JSON, so where its strings end is a guess."""
    in_unread: bool = False
    """It stands inside something that looks like JSON and could not be read."""


class Objects(NamedTuple):
    """All outermost objects of a text in order, and what looks like one and was not read."""

    found: list[FoundObject]
    unread: list[tuple[int, int]]
    open_at: int | None
    """Where one starts that never closes."""

    def open_after_last(self) -> bool:
        """Say whether the last thing begun is unfinished; a whole object inside of it has not ended it."""
        ended = [one for one in self.found if not one.in_unread] or self.found
        return self.open_at is not None and (not ended or self.open_at >= ended[-1].end)

    def end(self, text: str) -> bool:
        """Say whether nothing but spaces and a fence follows the last one."""
        return bool(self.found) and not text[self.found[-1].end :].strip("` \t\r\n")

    def prose(self, text: str) -> list[str]:
        """Return the pieces of text around the objects: what stands inside of them is no prose."""
        pieces, position = [], 0
        for start, end in sorted([*self.unread, *((found.start, found.end) for found in self.found)]):
            pieces.append(text[position:start])
            position = max(position, end)
        return [*pieces, text[position:]]


def document(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the object or list that is the whole text, apart from white space and a fence around it; else None."""
    inner = text.strip("` \t\r\n")
    return read_strictly(_FENCED.sub("", inner))


def find_objects(text: str) -> Objects:
    """Return every JSON-like object in a text; whole objects inside one that never closes count too."""
    found: list[FoundObject] = []
    unread: list[tuple[int, int]] = []
    open_at: int | None = None
    position, shadow, budget, mender = 0, 0, 2 * len(text) + _FREE, Mender()
    while start := _START.search(text, position):
        at = start.start()
        end, inside = _scan(text, at)
        spans = [(at, end)] if end else inside
        if budget < 0 or len(found) + len(spans) > _MOST:
            return Objects([], [(0, len(text))], None)
        read = _read_all(text, spans, shadow, mender)
        if end is None:
            open_at = at
        if (end is None or not read) and (_LOOKS_JSON.match(text, at) or not text[:at].strip()):
            shadow = max(shadow, end or len(text))
            unread.append((at, end or len(text)))
            read = [one._replace(in_unread=True) for one in read]
        if end is None or not read:
            budget -= (end or len(text)) - at
        found += read
        position = read[-1].end if read else start.end()
    return Objects(found, unread, open_at)


def without_last_brace(text: str) -> dict[str, Any] | None:
    """Parse an object that lacks only its closing brace, as models that stop by themselves sometimes leave it."""
    value = read_strictly(text.rstrip("` \t\r\n") + "}")
    return value if isinstance(value, dict) else None


def _read_all(text: str, spans: list[tuple[int, int]], shadow: int, mender: Mender) -> list[FoundObject]:
    found = []
    for start, end in spans:
        source = text[start:end]
        strict = read_strictly(source)
        value = mender.mend(source) if strict is None else strict
        if value is not None:
            found.append(FoundObject(value, start, end, strict is None, start < shadow))
    return found


def _scan(text: str, start: int) -> tuple[int | None, list[tuple[int, int]]]:
    """Return the end of the object at `start`, or None and the outermost whole objects inside it."""
    stack: list[int] = []
    depth = {"{": 0, "[": 0}
    inside: list[tuple[int, int]] = []
    position = start
    while mark := _MARK.search(text, position):
        char, position = mark[0], mark.end()
        if char in "{[":
            stack.append(mark.start())
            depth[char] += 1
        elif char in "}]":
            if depth[_PAIRS[char]]:  # a closer without a partner is skipped
                _close(text, stack, depth, inside, mark.start())
            if not stack:
                return position, []
        elif _opens_string(text, mark.start()):
            position = _string_end(text, mark.start())
    return None, sorted(inside)


def _close(text: str, stack: list[int], depth: dict[str, int], inside: list[tuple[int, int]], at: int) -> None:
    """Take the partner of a closing bracket, and what is open inside of it, off the stack."""
    partner, opener = _PAIRS[text[at]], ""
    while opener != partner:
        opened = stack.pop()
        opener = text[opened]
        depth[opener] -= 1
    if text[at] == "}":
        while inside and inside[-1][0] > opened:
            inside.pop()
        inside.append((opened, at + 1))


def _opens_string(text: str, at: int) -> bool:
    """A quote opens a string where JSON expects one; elsewhere it is an apostrophe or a stray."""
    before = at - 1
    while before >= 0 and text[before].isspace():
        before -= 1
    return before >= 0 and text[before] in "{[,:"


def _string_end(text: str, at: int) -> int:
    """Return where the string opened at `at` ends: at a closer that a separator follows, or at the text's end."""
    for found in _STRING_MARK[text[at]].finditer(text, at + 1):
        if found[0][0] == "\\":
            continue
        following = _SOLID.search(text, found.end())
        if following is None or following[0] in ",:}]":
            return found.end()
    return len(text)
