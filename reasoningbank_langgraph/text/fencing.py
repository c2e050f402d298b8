"""Fences: lines with a number nobody can foresee, between which a model is shown text that it must not obey."""

from __future__ import annotations

import re
import secrets

from reasoningbank_langgraph.text.sanitise import clean_text

_LABEL = re.compile(r"[a-z][a-z ]{0,39}")
_ROOM = 16
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
    shown = clean_text(text)
    return enclose(shown if max_chars is None else _head_and_tail(shown, max_chars), label)


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
    if limit < 100:
        raise ValueError(f"max_chars must be at least 100, got {limit}")
    if len(text) <= limit:
        return text
    mark = f"[... {len(text)} characters left out ...]"
    room = limit - len(mark) - 2 - _ROOM
    head, tail = text[: room - room // 2], text[-(room // 2) :]
    head = head[: max(head.rfind(" "), head.rfind("\n"))] if re.search(r"\s", head[len(head) // 2 :]) else head
    start = re.search(r"\s", tail[: len(tail) // 2])
    # What was the middle of a line now starts one, so a role marker may have come about.
    tail = clean_text(tail[start.end() :] if start else tail)
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[... {left_out} characters left out ...]\n{tail}"
