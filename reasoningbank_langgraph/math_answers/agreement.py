"""Whether two replies end with the same answer: as text, or as math."""

from __future__ import annotations

from reasoningbank_langgraph.math_answers.compare import equivalent
from reasoningbank_langgraph.math_answers.extract import extract_answer
from reasoningbank_langgraph.records import normalise_task


def final_answer(reply: str | None) -> str | None:
    """Return the answer a reply ends with, the whole reply where none is marked, None where there is none."""
    found = extract_answer(reply or "")
    if found.text is not None:
        return found.text
    return reply if found.reason == "no_marker" else None


def same_answer(one: str, other: str) -> bool:
    """Say whether two final answers agree."""
    return normalise_task(one) == normalise_task(other) or equivalent(one, other)
