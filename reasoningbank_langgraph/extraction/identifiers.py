"""Names that a system gives to one thing, such as `BOB-4` or `ord_48213`: no general lesson names one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.records import Attempt

_NAME = r"[A-Za-z0-9]+(?:[-_#][A-Za-z0-9]+)*"
_TOKEN = re.compile(rf"(?<![\w-]){_NAME}(?![\w-])")
_ARGUMENT = re.compile(rf'"#?({_NAME})"|(?<![\w.-])(\d{{5,}})(?![\w.])')
_NUMBERED = re.compile(r"[A-Z]{2,}(?:[-_#][A-Z0-9]+)*[-_#]\d+")
_STANDARDS = re.compile(
    r"(?:utf|utf-|iso-|iso|sha|sha-|base|aes-|aes|rsa-|rfc|rfc-|pep-|pep|ipv|http|http-|x|python|python-|gpt-|covid-|h|mp)"
    r"[\d-]+",
    re.IGNORECASE,
)
"""What looks like an identifier and belongs to no task: names of encodings, standards and tools."""


def identifiers(text: str) -> frozenset[str]:
    """Return the words of letters and digits in a text, in capitals: any of them may be an identifier of a task."""
    return frozenset(word.upper() for word in _TOKEN.findall(text) if 0 < _digits(word) < len(word))


def attempt_identifiers(attempt: Attempt) -> frozenset[str]:
    """Return the identifiers that an attempt works on, in capitals.

    Those are the arguments of its tool calls that are nothing else, and names such as `BOB-4` in its task and in the
    results of its tools. Other mixed words of a result, say `Conv2D`, are as likely names that a lesson must use.
    """
    results = (content_text(message.content) for message in attempt.messages if message.role == "tool")
    words = (word for text in (attempt.task, *results) for word in _TOKEN.findall(text))
    found = (*filter(_NUMBERED.fullmatch, words), *_arguments(attempt))
    return frozenset(word.upper() for word in found if _is_one(word))


def _arguments(attempt: Attempt) -> Iterator[str]:
    """The words that stand alone in the arguments of tool calls, however deep, and numbers of five digits and more."""
    for message in attempt.messages:
        for call in message.tool_calls:
            arguments = json.dumps(call.get("args"), ensure_ascii=False).replace('\\"', '"')
            yield from (word or number for word, number in _ARGUMENT.findall(arguments))


def _is_one(word: str) -> bool:
    digits = _digits(word)
    mixed = 0 < digits < len(word) and (digits > 2 or (len(word) > 3 and word.upper() == word))
    return (mixed or digits > 4) and not _STANDARDS.fullmatch(word)


def _digits(word: str) -> int:
    return sum(map(str.isdigit, word))
