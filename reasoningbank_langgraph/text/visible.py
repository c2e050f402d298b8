"""Removes from a text what a reader cannot see: controls, invisible and private characters, piled-up marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_MARKS_IN_A_ROW = 8
_PLAIN = re.compile(r"[\n\t -~]*")
_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Default-ignorable though they are letters or marks (fillers, variation selectors), and the blank Braille cell.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
_JOINERS = "\u200c\u200d"
# Scripts whose spelling needs the joiners: Arabic to Sinhala, Myanmar, Khmer, Mongolian.
_JOINING = re.compile("[\u0620-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
# Signs that Unicode calls formats although they are drawn, such as the end of a verse.
_DRAWN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")


def split_lines(text: str) -> str:
    """Return the text with every kind of line end as a plain newline."""
    return _LINE_END.sub("\n", text)


def without_invisible(text: str) -> str:
    """Return the text without what cannot be seen; newlines, tabs and the joiners of joining scripts stay."""
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_shallow(_joined([char for char in text if _stays(char)])))


def _stays(char: str) -> bool:
    if char in "\n\t" or char in _JOINERS or char in _DRAWN_FORMATS:
        return True
    return unicodedata.category(char)[0] != "C" and not _IGNORABLE.match(char)


def is_invisible(char: str) -> bool:
    """Say whether a character shows nothing and is no white space."""
    return char in _JOINERS or not (_stays(char) or char.isspace())


def printable(text: str) -> str:
    r"""Return the text with every character a terminal would obey or hide as its escape, such as \x1b.

    Newlines, tabs and the joiners of words stay.
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(char if _stays(char) and char not in "\x85\u2028\u2029" else ascii(char)[1:-1] for char in text)


def _joined(chars: list[str]) -> Iterator[str]:
    """Pass on a joiner only after a letter or mark of a script that joins, where spelling needs it."""
    for before, char in zip(["", *chars], chars, strict=False):
        if char not in _JOINERS or _JOINING.match(before):
            yield char


def _shallow(chars: Iterable[str]) -> Iterator[str]:
    """Pass on at most eight combining marks in a row: no script needs more, and more bury the lines around."""
    run = 0
    for char in chars:
        run = run + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if run <= _MARKS_IN_A_ROW:
            yield char
