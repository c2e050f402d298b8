"""What one status value says: success, failure, undecided, or nothing that can be relied on."""

from __future__ import annotations

import re
from typing import Any, Literal

from reasoningbank_langgraph.text.folding import Folded

Reading = Literal["success", "failure", "undecided"]


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text with spaces between them."""
    return frozenset(text.split())


_SUCCESS = word_set("success successful successfully succeeded succeed pass passed passes correct solved")
_FAILURE = word_set(
    """failure failed fail fails failing unsuccessful unsuccessfully incorrect incorrectly wrong wrongly unsolved"""
)
# These mean a status only where they are all that is said: "left and right", "no step is missing".
_ALONE: dict[str, Reading] = {
    **dict.fromkeys(("yes", "true", "right"), "success"),
    **dict.fromkeys(("no", "false", "invalid"), "failure"),
}
_UNDECIDED = word_set("indeterminate undetermined unknown uncertain unclear inconclusive undecided unverifiable unsure")
_NEGATIONS = word_set("no not never isn't wasn't didn't doesn't hasn't cannot can't without non hardly")
# A word that takes back part of what is said: "PASS (with caveats)", "partially correct", "success | failure".
_HEDGES = word_set(
    """but however though although except unless partial partially mostly mainly almost nearly largely somewhat half
    maybe perhaps possibly probably likely presumably apparently with if or either pending caveat caveats
    claim claims claimed allegedly supposedly false unverified unproven unconfirmed needed denied"""
)
_FILLERS = word_set(
    """a an and the this it is was were has have had been that i attempt attempt's solution answer answers agent agent's
    task problem trajectory result results verdict status outcome overall final fully completely entirely clearly
    definitely all both its step steps check checks test tests complete completed completion correctly very
    valid true 100"""
)
"""What may stand beside a success; any other word may take it back: "zero success", "far from correct"."""
_DENIAL = re.compile("[|?¬~✗✘✖❌❎]|\\A[!=]")
_CANNOT_TELL = frozenset(
    ("cannot determine", "can not determine", "can't determine", "not determined", "not sure", "no verdict")
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_CLAUSE_END = re.compile(r"[.!;,:\n(\[–—]| - | (?:because|since|as) ")
_LONGEST = 300

_PLACEHOLDER = re.compile(
    r"[.…\s\-_*]+|<[^<>]*>|\[[^\[\]]*\]|\{\{?[^{}\"']*\}\}?"
    r"|(?:string|str|text|none|null|n/?a|todo|tbd|value|placeholder)[.:]?"
    r"|(?:(?:an?|the|your)\s)?(?:short\s|brief\s)?(?:title|description|content|rationale|reason(?:ing)?|explanation)"
    r"(?:\s(?:here|of the (?:memory )?item|goes here))?[.:]?"
    r"|a few words|(?:one|two|1|2)(?:(?: to | or |-)(?:two|three|2|3))? sentences?(?:: (?:when|what|why)\b.{0,40})?[.]?"
    r"|why, in one or two sentences",
    re.IGNORECASE,
)


def read_status(value: Any) -> Reading | None:
    """Return what a status value says; None if it says nothing, both, or one thing with a reservation.

    "not successful" is a failure; "PASS (with caveats)", "partially correct" and "not a failure" are None: a judge
    that hedges has not decided, and a wrong success costs more than a lost lesson.
    """
    if isinstance(value, bool):
        return "success" if value else "failure"
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    folded = Folded(value).view.casefold().replace("’", "'").lstrip(" \t\n\"'`*_.").rstrip(" \t\n\"'`*_.!")
    if folded in _CANNOT_TELL:
        return "undecided"
    return _read_words(folded)


def _read_words(folded: str) -> Reading | None:
    words = _WORD.findall(folded)
    head = _WORD.findall(_CLAUSE_END.split(folded, maxsplit=1)[0])
    alone = len(head) == 1 and head[0] in _ALONE
    meant: list[Reading | None] = [_ALONE[head[0]]] if alone else [_meaning(word) for word in head]
    said = {meaning for meaning in (*meant, *map(_meaning, words)) if meaning}
    if len(said) != 1 or _HEDGES & set(words) or _DENIAL.search(folded) or not any(meant):
        return None
    return said.pop() if alone else _negated(said.pop(), head, meant)


def _negated(reading: Reading, head: list[str], meant: list[Reading | None]) -> Reading | None:
    """Turn a success that is negated before it is named into a failure; any other negation leaves it open."""
    negations = [place for place, word in enumerate(head) if word in _NEGATIONS]
    if not negations:
        other = any(not meaning and word not in _FILLERS for word, meaning in zip(head, meant, strict=True))
        return None if reading == "success" and other else reading
    return "failure" if reading == "success" and negations[-1] < meant.index(reading) else None


def _meaning(word: str) -> Reading | None:
    if word in _SUCCESS:
        return "success"
    if word in _FAILURE:
        return "failure"
    return "undecided" if word in _UNDECIDED else None


def is_placeholder(text: str) -> bool:
    """Say whether a text is the blank of a format example (`...`, `<title>`, `a few words`) and no answer."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None
