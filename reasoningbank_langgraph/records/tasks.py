"""What a task text is known by, and whether a text shows a reader anything."""

from __future__ import annotations

import hashlib
import unicodedata

MARKS_IN_A_ROW = 30


def normalise_task(task: str) -> str:
    """Return the task with case, width and white space folded: equal results mean the same task."""
    return " ".join(unicodedata.normalize("NFKC", _stream_safe(task)).casefold().split())


def _stream_safe(text: str) -> str:
    """Leave out combining marks after 30 in a row (UAX 15, section 13): sorting longer runs has no bound."""
    if text.isascii():
        return text
    run, kept = 0, []
    for char in text:
        run = run + 1 if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else 0
        if run <= MARKS_IN_A_ROW:
            kept.append(char)
    return "".join(kept)


def task_key(task: str) -> str:
    """Return a short stable name for a task text; equal for texts that differ in case or spacing only."""
    return hashlib.sha256(normalise_task(task).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def has_visible_text(text: str) -> bool:
    """Say whether a reader would see anything: more than spaces, controls and invisible characters."""
    if "!" <= text[:1] <= "~":
        return True
    return any(unicodedata.category(char)[0] not in "CZ" and char not in _INVISIBLE for char in text)


_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {chr(c) for c in range(0xFE00, 0xFE10)}
