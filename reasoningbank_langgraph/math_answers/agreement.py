"""Whether two replies end with the same answer: as text, or as math."""

from __future__ import annotations

import re

from reasoningbank_langgraph.math_answers.compare import equivalent
from reasoningbank_langgraph.math_answers.extract import extract_answer
from reasoningbank_langgraph.parsing.replies import looks_like_refusal
from reasoningbank_langgraph.records import normalise_task

_MACRO = re.compile(r"\\(?:text[a-z]*|mbox|mathrm)\s*\{")
_GIVES_UP = re.compile(
    r"[^a-z]*(?:(?:i|we) (?:really |still )?(?:do not|don't) know\b|(?:i|we)(?: am| are|'m|'re) (?:not sure|unsure)\b"
    r"|(?:(?:i|we) have )?no (?:idea|answer)\b|n/a\W*$"
    r"|(?:(?:i|we) )?(?:am |are )?(?:cannot|can't|can not|could not|couldn't|was not able to|(?:not able|unable) to) "
    r"(?:solve|find|determine|work|figure|tell|say)\b)",
    re.IGNORECASE,
)


def final_answer(reply: str | None) -> str | None:
    """Return the answer a reply ends with, the whole reply where none is marked, None where there is none."""
    found = extract_answer(reply or "")
    if found.text is not None:
        return found.text
    return reply if found.reason == "no_marker" else None


def same_answer(one: str, other: str) -> bool:
    """Say whether two final answers agree."""
    return normalise_task(one) == normalise_task(other) or equivalent(one, other)


def is_refusal(answer: str) -> bool:
    """Say whether a final answer refuses to be one, or owns up that there is none: "I cannot help", "I don't know"."""
    plain = _MACRO.sub("", answer[:300]).replace("’", "'")
    return looks_like_refusal(plain) or _GIVES_UP.match(plain) is not None
