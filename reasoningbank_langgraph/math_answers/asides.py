r"""What an answer says beside its value: the letter of a choice, `(B) 12`, or a value it rejects, `12, not 15`."""

from __future__ import annotations

import re
from typing import NamedTuple

from reasoningbank_langgraph.math_answers.prose import TEXT

_LED_BY_TEXT = re.compile(TEXT + r"\{([^{}]*)\}(?=(.*))", re.DOTALL)
_SAYS_TEXT = re.compile(TEXT + r"\{([^{}]*(?:\b(?:not|rather|instead|but|option|choice)\b|\([A-H]\))[^{}]*)\}")

_MARKED = re.compile(
    r"(?:\(([A-H])\)[.:]?|\[([A-H])\]|([A-H])\)|([A-H])[.:](?=\s)|(?i:option|choice)\s+\(?([A-H])\)?[.:,]?(?=\s))"
    r"(?:\s+|(?=\d))(\S.*)"
    r"|(?:\(([a-h])\)|([a-h])\))\s*((?:\\?\$)?[\d.].*)",
    re.DOTALL,
)
_MARKED_BEHIND = re.compile(
    r"((?:[^A-Za-z\\]|\\[A-Za-z]+|\\[$%])*[\d%}])\s+\((?:(?i:option|choice)\s+)?([A-H])\)", re.DOTALL
)
_LONE_LETTER = re.compile(r"(?<![A-Za-z\\_])(?:[A-H]|[a-h](?=\)(?!\w)))(?![A-Za-z])")
"""Another choice, maybe: then the answer takes no side."""
_VERDICT = re.compile(
    r"^(?:and|or|to|but|no$)\b|\b(?:is|are|was|were|not|nor|never|right|wrong|correct|incorrect|true|false|because"
    r"|so|if|maybe|perhaps|possibly|probably|guess|think|unsure|impossible)\b|n't\b|\?",
    re.IGNORECASE,
)

_REJECTING = r"(?:not|rather than|instead of|as opposed to)"
_KEPT_FIRST = re.compile(
    rf"(?P<kept>.+?) ?(?:(?:[,;-] ?|(?<= ))(?:(?:and|but) )?{_REJECTING} (?P<rejected>.+)"
    rf"|\( ?(?:(?:and|but) )?{_REJECTING} (?P<bracketed>.+)\))",
    re.IGNORECASE,
)
_KEPT_LAST = re.compile(r"not (?P<rejected>.+?) ?,? but (?P<kept>.+)", re.IGNORECASE)
_UNCLEAR = re.compile(rf"\b(?:{_REJECTING}|but|or|and)\b|^[A-Za-z]{{2,}}$", re.IGNORECASE)
_LETTER = re.compile(r"\(?[A-H]\)?")


class Chosen(NamedTuple):
    """A choice and what it says."""

    letter: str
    value: str


class Kept(NamedTuple):
    """The answer, and the value that it says is none."""

    kept: str
    rejected: str


def chosen(text: str) -> Chosen | None:
    r"""Part the letter of a choice from its value: `(B) 12`, `B. 12`, `\textbf{(B) }12`, `12 (B)`.

    None where the letter may be a factor, where there are letters of two choices, and where the words behind it say
    something about the choice, as in "(A) is wrong".
    """
    lead = _LED_BY_TEXT.match(text)
    text = _SAYS_TEXT.sub(r" \1", f"{lead[1]} {lead[2]}" if lead else text).strip()
    marked, behind = _MARKED.fullmatch(text), _MARKED_BEHIND.fullmatch(text)
    if marked:
        *letters, value = filter(None, marked.groups())
    elif behind:
        value, *letters = behind.groups()
    else:
        return None
    return None if _LONE_LETTER.search(value) or _VERDICT.search(value) else Chosen(letters[0].upper(), value.strip())


def kept(text: str) -> Kept | None:
    """Part an answer from the value it rejects: "12, not 15", "12 (not 15)", "12 rather than 15", "not 15 but 12"."""
    text = " ".join(_SAYS_TEXT.sub(r" \1 ", text).split())
    found = _KEPT_LAST.fullmatch(text) or _KEPT_FIRST.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    rejected = parts["rejected"] or parts["bracketed"]
    unlike = _LETTER.fullmatch(parts["kept"]) and not _LETTER.fullmatch(rejected)
    if unlike or _UNCLEAR.search(rejected) or re.search(r"\bnot\b", parts["kept"], re.IGNORECASE):
        return None
    return Kept(parts["kept"], rejected)
