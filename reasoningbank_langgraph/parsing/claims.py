"""What the JSON objects of a judge's reply claim about the attempt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from reasoningbank_langgraph.parsing.json_text import fields_of, pairs_of, unwrap
from reasoningbank_langgraph.parsing.status_words import Reading, is_placeholder, read_status

_OTHER_KEYS = (
    "verdict", "success", "successful", "succeeded", "is_success", "is_successful", "correct", "is_correct", "passed",
    "pass", "judgment", "judgement", "outcome", "result", "evaluation", "decision", "label",
)  # fmt: skip
_OPPOSITE_KEYS = ("failure", "failed", "incorrect", "is_incorrect")
_OPPOSITE: dict[Reading | None, Reading | None] = {"success": "failure", "failure": "success"}
_RATIONALE_KEYS = (
    "rationale", "reason", "reasoning", "explanation", "thoughts", "thought", "analysis", "justification",
)  # fmt: skip
_QUOTE = "[\"'“”‘’]"
_PAIR = re.compile(
    rf"(?:[{{,\n]|\\?{_QUOTE})\s{{0,12}}(?P<key>{'|'.join(('status', *_OTHER_KEYS, *_OPPOSITE_KEYS))})\s{{0,12}}"
    rf"\\?{_QUOTE}?\s{{0,12}}:\s{{0,12}}\\?(?:{_QUOTE}(?P<text>[^\"“”\\]{{0,80}}?)\\?{_QUOTE}|(?P<bare>\w{{1,20}}))",
    re.IGNORECASE,
)


_QUOTED_KEY = re.compile(rf"\A[^:]*\w\s*{_QUOTE}\s*:")
_VALUE_END = re.compile(rf"(?:{_QUOTE}|[\d\]}}]|true|false|null|none)\s*,\Z", re.IGNORECASE)


class Claim(NamedTuple):
    """One place in a reply that says how the attempt went."""

    reading: Reading
    confidence: float | None
    rationale: str
    decides: bool = True
    """It speaks for the reply. One that does not, such as a quotation, can only contradict."""
    named: bool = True
    """It came under the name that was asked for, `status`."""


def claims_of(value: Any) -> list[Claim]:
    """Return what a JSON document says: its outermost object, or that in a lone wrapper, or those of a list.

    Objects deeper down do not speak for it. Under the name `status`, or where the outermost does not use it, they
    contradict.
    """
    if isinstance(value, list):
        return [claim for inner in value for claim in claims_of(inner)]
    if not isinstance(value, dict):
        return []
    own = _claims_of_one(value)
    wrapped = None if own else unwrap(value, _OTHER_KEYS)
    if wrapped is not None:
        return claims_of(wrapped)
    asked = any(claim.named for claim in own)
    deeper = [claim for inner in _objects_in(value) for claim in _claims_of_one(inner)]
    return own + [claim._replace(decides=False) for claim in deeper if claim.named or not asked]


def claims_of_mended(value: Any, source: str) -> list[Claim]:
    """Return what an object says that had to be mended: nothing, where its text leaves open what is a string of it.

    Args:
        value: what mending made of the text.
        source: the text.
    """
    pairs = _pairs(source)
    sure = bool(pairs) and not any(_inside_text(source, pair) for pair in pairs)
    claims = [claim._replace(decides=claim.decides and sure) for claim in claims_of(value)]
    return claims + [_rival(pair) for pair in pairs]


def claims_in_pieces(text: str) -> list[Claim]:
    """Return what pairs such as `"status": "failure"` say in a text that is no whole JSON: they can only contradict."""
    return [_rival(pair) for pair in _pairs(text) if _QUOTED_KEY.search(pair[0])]


def _rival(pair: re.Match[str]) -> Claim:
    return Claim(_read_pair(pair) or "undecided", None, "", decides=False)


def _pairs(text: str) -> list[re.Match[str]]:
    """Find the pairs that say something; those whose quotes are escaped are part of a string."""
    return [pair for pair in _PAIR.finditer(text) if "\\" not in pair[0].partition(":")[0] and _read_pair(pair)]


def _claims_of_one(value: dict[str, Any]) -> list[Claim]:
    """Return a claim for each different thing an object says; none if it hedges or is a format's example."""
    fields = list(fields_of(value))
    rationale = _rationale(fields)
    statuses = [read_status(inner) for key, inner in fields if key == "status" and not isinstance(inner, bool)]
    named = any(key == "status" for key, _ in fields)
    if rationale is None or (named and (not statuses or None in statuses)):
        return []
    readings = dict.fromkeys(reading for key, inner in fields if (reading := _read(key, inner)))
    sure = min((sure for key, inner in fields if key == "confidence" and (sure := _confidence(inner)) is not None),
               default=None)  # fmt: skip
    return [Claim(reading, sure, rationale, named=named) for reading in readings]


def _read(key: str, value: Any) -> Reading | None:
    if key == "status":
        return None if isinstance(value, bool) else read_status(value)
    if type(value) is int and value in (0, 1):
        value = bool(value)
    if key in _OPPOSITE_KEYS:
        return _OPPOSITE[read_status(value)] if isinstance(value, bool) else None
    return read_status(value) if key in _OTHER_KEYS else None


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    inside: Iterable[Any] = (one for _, one in pairs_of(value)) if isinstance(value, dict) else value
    for inner in inside:
        if isinstance(inner, dict):
            yield inner
        if isinstance(inner, (dict, list)):
            yield from _objects_in(inner)


def _read_pair(pair: re.Match[str]) -> Reading | None:
    value: Any = pair["text"] if pair["bare"] is None else pair["bare"]
    return _read(pair["key"].casefold(), {"true": True, "false": False}.get(str(value).casefold(), value))


def _inside_text(source: str, pair: re.Match[str]) -> bool:
    """Say whether a pair stands in the middle of words, where a quotation would."""
    before = source[: pair.start("key")]
    opener = before.rstrip("\"'“”‘’ \t\r\n")
    if opener.endswith("{"):
        return opener[:-1].rstrip()[-1:] not in ("", "[", "{", ",", ":")
    if opener.endswith(","):
        return _VALUE_END.search(opener[-12:]) is None
    return "\n" not in before[len(opener) :]


def _rationale(fields: Sequence[tuple[str, Any]]) -> str | None:
    """The reason given, or "" without one; None if it is the blank of an example."""
    for name in _RATIONALE_KEYS:
        for key, value in fields:
            text = value
            if key == name and isinstance(value, list) and all(isinstance(part, str) for part in value):
                text = "\n".join(value)
            if key == name and isinstance(text, str) and text.strip():
                return None if is_placeholder(text) else text.strip()
    return ""


def _confidence(value: Any) -> float | None:
    """A number from 0 to 1, also as text or per cent; anything else is no confidence."""
    if isinstance(value, str):
        number = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,9})?|\.\d{1,9})\s*(%?)\s*", value)
        value = float(number[1]) / (100 if number[2] else 1) if number else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= 1 else None
