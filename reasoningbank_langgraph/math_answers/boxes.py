r"""Answers in boxes: the last one, or all that one list is made of, as in `\boxed{1}, \boxed{2} and \boxed{3}`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from reasoningbank_langgraph.math_answers.found import is_blank

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BARE = re.compile(r"\s*([-+]?[\w.,/%]+)")

_NAME = r"(?P<name>[A-Za-z])(?:_\{?\w{1,3}\}?)?\s*(?:=|\bis\b)\s*"
_NAMED = re.compile(rf"(?<![A-Za-z\\]){_NAME}$")
_JOINS = re.compile(rf"\s*(?:[,;&]?\s*(?P<word>and|or)|[,;&])\s*(?:{_NAME})?", re.IGNORECASE)
_TEXT = re.compile(r"\\(?:text[a-z]*|mbox)\s*\{([^{}]*)\}")
_DECORATION = re.compile(r"\\[()\[\],;:! ]|\\q?quad(?![A-Za-z])|\*\*|[$~]")
_PARAGRAPH = re.compile(r"\n\s*\n")
_LONGEST_GAP = 80


class Boxed(NamedTuple):
    """What the last box of a text says."""

    content: str | None
    """Blank if it holds nothing, None if it never closes."""
    end: int
    """Where the text goes on behind it."""


class _Box(NamedTuple):
    start: int
    end: int
    content: str | None


def last_boxed(text: str) -> Boxed | None:
    r"""Return the content of the last box; None where no box is more than mentioned.

    Boxes that only commas, "and" or "or" (and `x =`) stand between are one list. A box that is not the last one and
    never closes is passed over.
    """
    marks = list(_BOX.finditer(text))
    closing = _brace_pairs(text) if marks else {}
    joined: list[_Box] = []
    for rank, mark in enumerate(reversed(marks)):
        box = _read_box(text, mark, closing)
        if joined and not (box and box.content and _gap(text, box, joined[-1])):
            break
        if box and (box.content is not None or rank == 0):
            joined.append(box)
            if not box.content:
                break
    if not joined:
        return None
    return Boxed(_listed(text, joined[::-1]) if len(joined) > 1 else joined[0].content, joined[0].end)


def _brace_pairs(text: str) -> dict[int, int]:
    """Map each opening brace to its closing one; braces behind a backslash do not count."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            pairs[opened.pop()] = brace.start()
    return pairs


def _read_box(text: str, mark: re.Match[str], closing: dict[int, int]) -> _Box | None:
    r"""Read a box; None where `\boxed` is only mentioned."""
    brace = _skip_blanks(text, mark.end())
    if brace == len(text) or (text[brace] == "{" and brace not in closing):
        return _Box(mark.start(), len(text), None)
    if text[brace] == "{":
        content = text[brace + 1 : closing[brace]].strip()
        return _Box(mark.start(), closing[brace] + 1, "" if is_blank(content) else content)
    bare = _BARE.match(text, mark.end())
    word = bare[1].rstrip(".,") if bare else ""
    return _Box(mark.start(), brace + len(word), word) if word else None


def _skip_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _gap(text: str, box: _Box, later: _Box) -> re.Match[str] | None:
    """What joins two boxes to a list, if anything does."""
    if not box.end < later.start <= box.end + _LONGEST_GAP:
        return None
    between = text[box.end : later.start]
    return None if _PARAGRAPH.search(between) else _JOINS.fullmatch(_plain(between))


def _plain(text: str) -> str:
    return _DECORATION.sub(" ", _TEXT.sub(r" \1 ", text))


def _listed(text: str, boxes: list[_Box]) -> str:
    """Write joined boxes as a list, with the names of the variables where these differ."""
    gaps = [gap for box, later in pairwise(boxes) if (gap := _gap(text, box, later))]
    before = _NAMED.search(_plain(text[max(0, boxes[0].start - _LONGEST_GAP) : boxes[0].start]))
    names = [match["name"] if match else None for match in (before, *gaps)]
    contents = [str(box.content) for box in boxes]
    if len(set(names)) > 1 and None not in names:
        contents = [f"{name}={content}" for name, content in zip(names, contents, strict=True)]
    if any((gap["word"] or "").lower() == "or" for gap in gaps):
        return " or ".join(contents)
    return ("; " if "," in "".join(contents) else ", ").join(contents)
