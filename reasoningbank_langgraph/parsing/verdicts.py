"""A judge's reply as a `Verdict`: three states, and never a raise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from reasoningbank_langgraph.parsing.escapes import restore_latex
from reasoningbank_langgraph.parsing.objects import Found, Objects, find_objects, walk, without_last_brace
from reasoningbank_langgraph.parsing.replies import Reply, looks_refused, read_reply
from reasoningbank_langgraph.parsing.words import Reading, is_placeholder, read_status
from reasoningbank_langgraph.records import IndeterminateReason, Verdict

_OTHER_KEYS = (
    "verdict", "success", "successful", "succeeded", "is_success", "is_successful", "correct", "is_correct", "passed",
    "pass", "judgment", "judgement", "outcome", "result", "evaluation", "decision", "label",
)  # fmt: skip
_OPPOSITE_KEYS = ("failure", "failed", "incorrect", "is_incorrect")
_RATIONALE_KEYS = (
    "rationale",
    "reason",
    "reasoning",
    "explanation",
    "thoughts",
    "thought",
    "analysis",
    "justification",
)
_LINE = re.compile(
    r"[\s>*#_`\-]*(?P<label>(?:final\s+)?(?P<name>status|verdict|judge?ment|outcome|result|decision))[\s*_`]*"
    r"(?:[:=：][\s*_`]*(?P<value>.*)|(?P<heading>))$",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(
    r"[\s>*#_`\-]*(?:thoughts?|rationale|reason(?:ing)?|explanation|analysis)[\s*_`]*[:：][\s*_]*", re.IGNORECASE
)
_LONGEST_LINE = 400


class _Decided(NamedTuple):
    reading: Reading
    confidence: float | None
    rationale: str
    named: bool
    """It came under the name that was asked for, `status`."""


def parse_verdict(reply: object) -> Verdict:
    """Read a judge's reply: JSON as asked for, JSON with the usual slips, or the paper's `Status:` line.

    Args:
        reply: a string or a LangChain `AIMessage`. Only this text decides; what it quotes is passed over where a
            verdict under the asked-for name `status` follows or precedes it.

    Returns:
        `success` or `failure` only if the reply says so whole and without reservation. Otherwise `indeterminate` with
        a reason: `unparsed`, `refused`, `truncated`, `error`, or `no_evidence` where the judge says it cannot tell.
        A confidence that is no number from 0 to 1 becomes None.
    """
    read = read_reply(reply)
    if read.ending == "error":
        return _indeterminate("error")
    if read.refused:
        return _indeterminate("refused", read.text)
    decided = _from_calls(read.calls)
    if decided is not None and read.ending == "length":  # arguments of a cut call arrive completed
        return _indeterminate("truncated", decided.rationale)
    return _verdict(decided) if decided else _from_text(read)


def _from_calls(calls: Iterable[Any]) -> _Decided | None:
    values: list[Any] = []
    for call in calls:
        if isinstance(call, str):
            values += [found.value for found in find_objects(call).found]
        else:
            values.append(restore_latex(call))
    return _last(values)


def _from_text(read: Reply) -> Verdict:
    objects = _objects(read)
    in_json = _last(found.value for found in objects.found)
    in_lines = _from_lines(_outside(read.text, objects))
    if _cut(read, objects):
        return _indeterminate("truncated", read.text)
    if in_json and in_lines and in_json.named and in_lines.named and in_json.reading != in_lines.reading:
        return _indeterminate("unparsed", read.text)
    ranked = [decided for decided in (in_json, in_lines) if decided]
    if ranked:
        return _verdict(max(ranked, key=lambda decided: decided.named))
    return _indeterminate("refused" if looks_refused(read.text) else "unparsed", read.text)


def _objects(read: Reply) -> Objects:
    objects = find_objects(read.text)
    if read.ending == "stop" and objects.open_at is not None and objects.open_after_last():
        last = without_last_brace(read.text[objects.open_at :])
        if last is not None:
            return Objects([*objects.found, Found(last, objects.open_at, len(read.text))], None)
    return objects


def _cut(read: Reply, objects: Objects) -> bool:
    """A reply is cut if its thinking, its last object, or a text at the token limit has no end.

    An object that closes right at the limit is whole, with any run of spaces after it.
    """
    if read.cut or objects.open_after_last():
        return True
    ends_whole = bool(objects.found) and not read.text[objects.found[-1].end :].strip("` \t\r\n")
    return read.ending == "length" and not ends_whole


def _last(values: Iterable[Any]) -> _Decided | None:
    """The last object that is a verdict; one that says `status` goes before any other."""
    decided = [read for value in values for inner in walk(value) if (read := _from_object(inner))]
    named = [read for read in decided if read.named]
    ranked = named or decided
    return ranked[-1] if ranked else None


def _from_object(value: dict[str, Any]) -> _Decided | None:
    fields = {re.sub(r"[\s\-]+", "_", str(key).strip().casefold()): inner for key, inner in value.items()}
    rationale = _rationale(fields)
    if rationale is None:
        return None
    readings = {_read(key, fields[key]) for key in ("status", *_OTHER_KEYS) if key in fields}
    readings |= {_OPPOSITE[_read(key, fields[key])] for key in _OPPOSITE_KEYS if isinstance(fields.get(key), bool)}
    if "status" in fields and read_status(fields["status"]) is None:
        return None
    agreed = {reading for reading in readings if reading}
    if len(agreed) != 1:
        return None
    return _Decided(agreed.pop(), _confidence(fields.get("confidence")), rationale, "status" in fields)


_OPPOSITE: dict[Reading | None, Reading | None] = {"success": "failure", "failure": "success"}


def _read(key: str, value: Any) -> Reading | None:
    if type(value) is int and value in (0, 1) and key != "status":
        value = bool(value)
    if isinstance(value, bool) and key == "status":
        return None
    return read_status(value)


def _rationale(fields: dict[str, Any]) -> str | None:
    """The reason given, or "" without one; None if it is the blank of an example."""
    for key in _RATIONALE_KEYS:
        value = fields.get(key)
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            value = "\n".join(value)
        if isinstance(value, str) and value.strip():
            return None if is_placeholder(value) else value.strip()
    return ""


def _confidence(value: Any) -> float | None:
    """A number from 0 to 1, also as text or per cent; anything else is no confidence."""
    if isinstance(value, str):
        number = re.fullmatch(r"\s*(\d{1,3}(?:\.\d{1,9})?|\.\d{1,9})\s*(%?)\s*", value)
        value = float(number[1]) / (100 if number[2] else 1) if number else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= 1 else None


def _from_lines(text: str) -> _Decided | None:
    """Read the last `Status:` line, or a reply that is one status word."""
    lines = text.splitlines()
    found = [(n, line) for n, text_line in enumerate(lines) if (line := _LINE.match(text_line[:_LONGEST_LINE]))]
    named = [(n, line) for n, line in found if line["name"].casefold() == "status"]
    for number, line in reversed(named or found):
        value = line["value"] or _next_line(lines, number)
        reading = read_status(value)
        if reading:
            return _Decided(reading, None, _thoughts(lines[:number]), bool(named))
        if not is_placeholder(value) and "|" not in value:
            return None
    only = read_status(text.strip()) if len(text.split()) == 1 else None
    return _Decided(only, None, "", named=False) if only and not found else None


def _next_line(lines: list[str], number: int) -> str:
    return next((line.strip() for line in lines[number + 1 :] if line.strip()), "")


def _thoughts(lines: list[str]) -> str:
    """What stands before the status line, from `Thoughts:` on where there is such a line."""
    start = next((n for n in range(len(lines) - 1, -1, -1) if _THOUGHTS.match(lines[n][:_LONGEST_LINE])), None)
    text = "\n".join(lines[start or 0 :])
    return _THOUGHTS.sub("", text, count=1).strip() if start is not None else text.strip()


def _outside(text: str, objects: Objects) -> str:
    """The text around the objects: a status line inside a string of one is a quotation."""
    pieces, position = [], 0
    for found in objects.found:
        pieces.append(text[position : found.start])
        position = found.end
    return "\n".join([*pieces, text[position:]])


def _verdict(decided: _Decided) -> Verdict:
    rationale = decided.rationale.encode("utf-8", "replace").decode("utf-8")
    if decided.reading == "undecided":
        return _indeterminate("no_evidence", rationale)
    return Verdict(status=decided.reading, confidence=decided.confidence, rationale=rationale)


def _indeterminate(reason: IndeterminateReason, text: str = "") -> Verdict:
    return Verdict(status="indeterminate", reason=reason, rationale=text.strip()[:2000])
