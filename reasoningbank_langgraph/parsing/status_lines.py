"""The paper's `Status:` lines in a judge's reply, and similar lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reasoningbank_langgraph.parsing.quotes import leads_in_a_quote
from reasoningbank_langgraph.parsing.status_words import Reading, is_placeholder, read_status

_LINE = re.compile(
    r"(?P<marks>[\s>*#_`\-]*)(?:final\s+)?(?P<name>status|verdict|judge?ment|outcome|result|decision)[\s*_`]*"
    r"(?:(?:[:=：]|(?<=\s)[-–—](?=\s))[\s*_`]*(?P<value>.*)|(?P<heading>))$",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(
    r"[\s>*#_`\-]*(?:thoughts?|rationale|reason(?:ing)?|explanation|analysis)[\s*_`]*[:：][\s*_]*", re.IGNORECASE
)
_CHOICE = re.compile(r"\W*\w+(?:\W*\|\W*\w+)+\W*")
"""The blank of a format example: `success | failure`."""
_LONGEST_LINE = 400


class StatusLine(NamedTuple):
    """One line that names a status."""

    reading: Reading
    decides: bool
    """It speaks for the reply and is no quotation."""
    thoughts: str
    """What stands before it, from `Thoughts:` on where there is such a line; of a quotation nothing."""


class _Match(NamedTuple):
    number: int
    name: str
    reading: Reading | None
    quoted: bool


def status_lines(text: str) -> tuple[list[StatusLine], bool]:
    """Return the lines of a text that name a status, and whether one hedges: `Status: mostly right`.

    A line that holds only a status counts as well; it speaks for the reply only where it is the whole reply.
    """
    lines = text.splitlines()
    matches = list(_matches(lines))
    words = [word for line in lines if len(line.split(maxsplit=1)) == 1 and (word := read_status(line.strip()))]
    alone = len(words) == 1 and len(text.split(maxsplit=1)) == 1
    asked = any(line.name == "status" for line in matches)
    hedged = any(line.reading is None and line.name in ("status", "verdict") for line in matches)
    found = [StatusLine(word, alone, "") for word in words]
    thoughts: str | None = None
    for line in matches:
        if line.reading is None:
            continue
        stands = not line.quoted and (line.name == "status" or not asked)
        if stands and thoughts is None:
            thoughts = _thoughts(lines[: line.number])
        found.append(StatusLine(line.reading, stands, thoughts or ""))
    return found, hedged


def between_status_lines(text: str) -> list[str]:
    """Return the text above, between and below the lines that name a status."""
    pieces: list[list[str]] = [[]]
    for line in text.splitlines():
        if _LINE.match(line[:_LONGEST_LINE]):
            pieces.append([])
        else:
            pieces[-1].append(line)
    return ["\n".join(lines) for lines in pieces]


def _matches(lines: Sequence[str]) -> list[_Match]:
    """Match every line; a heading, or a name with nothing after it, is read with the next line that is not blank."""
    matches: list[_Match] = []
    following = ""
    for number in range(len(lines) - 1, -1, -1):
        line = _LINE.match(lines[number][:_LONGEST_LINE])
        if line:
            value = line["value"] or following
            if (reading := read_status(value)) or not (is_placeholder(value) or _CHOICE.fullmatch(value)):
                matches.append(
                    _Match(number, line["name"].casefold(), reading, _is_quoted(lines, number, line["marks"]))
                )
        following = lines[number].strip() or following
    return matches[::-1]


def _is_quoted(lines: Sequence[str], number: int, marks: str) -> bool:
    if ">" in marks:
        return True
    before = next((lines[n] for n in range(number - 1, max(-1, number - 5), -1) if lines[n].strip(" \t`")), "")
    return leads_in_a_quote(before)


def _thoughts(lines: Sequence[str]) -> str:
    start = next((n for n in range(len(lines) - 1, -1, -1) if _THOUGHTS.match(lines[n][:_LONGEST_LINE])), None)
    text = "\n".join(lines[start or 0 :])
    return _THOUGHTS.sub("", text, count=1).strip() if start is not None else text.strip()
