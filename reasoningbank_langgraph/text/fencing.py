"""Fence lines with an unpredictable number, between which untrusted text is shown to a model."""

from __future__ import annotations

import re
import secrets

from reasoningbank_langgraph.text.sanitise import clean_text

_LABEL = re.compile(r"[a-z][a-z ]{0,39}")
_SPACE = re.compile(r"\s")
_MIN_CHARS = 100
_NEAR = 4
# Two line ends, and the brackets that cleaning puts around a role marker.
_GROWTH = 16
_CUT_MARK = " [cut]"


def fence(text: str, label: str, *, max_chars: int | None = None) -> str:
    """Return untrusted text, cleaned, between two lines that carry the same random number.

    Args:
        text: any text: a task, a trajectory, an answer.
        label: what it is, in lower-case words (`task`, `final answer`).
        max_chars: budget for the text between the lines, at least 100. A longer text keeps its head and tail around a
            line that says how much was left out.

    Raises:
        ValueError: the label is not lower-case words, or the budget is under 100.
    """
    if not _LABEL.fullmatch(label):
        raise ValueError(f"a label is lower-case words, got {label!r}")
    return enclose(clean_text(text) if max_chars is None else _head_and_tail(text, max_chars), label)


def enclose(inside: str, label: str) -> str:
    """Put clean text between the two fence lines."""
    nonce = secrets.token_hex(8)
    return f"=== begin {label} {nonce} ===\n{inside}\n=== end {label} {nonce} ==="


def cut(text: str, limit: int) -> str:
    """Return a line of at most `limit` characters, cut between words and marked where it was longer."""
    if len(text) <= limit:
        return text
    kept = text[: max(limit - len(_CUT_MARK), 0)]
    at_word = kept.rpartition(" ")[0] if text[len(kept)] != " " else kept
    return (at_word if len(at_word) > len(kept) // 2 else kept).rstrip() + _CUT_MARK


def _head_and_tail(text: str, limit: int) -> str:
    """Clean a text and keep its two ends; the middle is left out and not cleaned."""
    if limit < _MIN_CHARS:
        raise ValueError(f"max_chars must be at least {_MIN_CHARS}, got {limit}")
    whole, near = len(text), _NEAR * limit
    if whole <= 2 * near:
        first = last = clean_text(text)
        if len(first) <= limit:
            return first
    else:
        first, last = clean_text(text[:near]), clean_text(text[-near:])
    room = limit - len(_left_out(whole)) - _GROWTH
    # What was the middle of a line now starts one, so a role marker may have come about: the tail is cleaned again.
    head, tail = _up_to_space(first[: room - room // 2]), clean_text(_from_space(last[-(room // 2) :]))
    return f"{head}\n{_left_out(whole - len(head) - len(tail))}\n{tail}"


def _left_out(count: int) -> str:
    return f"[... {count} characters left out ...]"


def _up_to_space(text: str) -> str:
    spaces = [found.start() for found in _SPACE.finditer(text, len(text) // 2)]
    return text[: spaces[-1]] if spaces else text


def _from_space(text: str) -> str:
    found = _SPACE.search(text, 0, len(text) // 2)
    return text[found.end() :] if found else text
