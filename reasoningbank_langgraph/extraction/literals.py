"""Details of one task that no general lesson names: its numbers, its answer, its names and identifiers, its links."""

from __future__ import annotations

import re
from fractions import Fraction

from reasoningbank_langgraph.extraction.identifiers import attempt_identifiers, identifiers
from reasoningbank_langgraph.math_answers import extract_answer
from reasoningbank_langgraph.records import Attempt

_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*|[\"“(]\s*)$")
_LINK = re.compile(r"(?:https?://|www\.)[^\s)>\]]+", re.IGNORECASE)
_ONE_WORD = re.compile(rf"(?:(?i:{_LINK.pattern})|{_WORD.pattern}|[A-Z0-9]+(?:[-_#.][A-Z0-9]+)*)$")
"""What is found in a text as one of its words, numbers, identifiers or links."""
_LONGEST_ANSWER = 200
"""Characters: a longer one is a text of its own."""
_ROUND = {"10", "100", "1000", "60", "24", "7", "12", "360", "180", "365"}
"""Numbers that belong to no task: powers of ten, and the parts of hours, days, weeks, years and angles."""
_OPENING_WORDS = """
    a after all an and are as at before between both but by calculate can compute consider determine during each
    evaluate every express factor find for from given he her his how i if in is it its let look many my no note notice
    of on one or our prove see she show simplify since so solve some suppose that the their then there these they this
    those to two three four five six seven eight nine ten today was we were what when where which while who whose why
    with write yesterday you your
    """
_OPENERS = frozenset(_OPENING_WORDS.split())
_AFTER_NO_NAME = re.compile(
    r"\s{1,4}(?:the|an?|all|any|both|each|every|some|no|his|her|its|our|their|your|for|to|which|what|whether)\b"
    r"|,?\s{1,4}(?:[\d$\\]|(?:he|she|it|they|we|you|i|there|if|when|how|that|this|these|those)\b)",
    re.IGNORECASE,
)
"""What follows a verb or an adverb at the start of a sentence, and hardly a name: "Expand the", "Finally, she"."""


def task_literals(*attempts: Attempt) -> frozenset[str]:
    """Return the details of attempts and their task that no general lesson names.

    Numbers of two digits and more (except round ones and those of time and angle), names, links, the final answer,
    and identifiers of the task and its tool calls.
    """
    return frozenset[str]().union(*map(_literals, attempts))


def _literals(attempt: Attempt) -> set[str]:
    numbers = {number for number in _numbers(attempt.task) if len(number) > 1 and number not in _ROUND}
    return (
        numbers
        | _names(attempt.task)
        | set(_LINK.findall(attempt.task))
        | _answers(attempt)
        | attempt_identifiers(attempt)
    )


def task_numbers(attempt: Attempt) -> frozenset[Fraction]:
    """Return the numbers that a task states in digits."""
    return frozenset(map(Fraction, _numbers(attempt.task)))


def named_literals(text: str, literals: frozenset[str]) -> list[str]:
    """Return the literals that the text names, sorted."""
    words = set(map(_stem, _WORD.findall(text)))
    present = words | set(_numbers(text)) | set(_LINK.findall(text)) | identifiers(text)
    phrases = (literal for literal in literals if not _ONE_WORD.match(literal))
    return sorted((present & literals) | {phrase for phrase in phrases if _states(text, phrase)})


def _states(text: str, phrase: str) -> bool:
    """Say whether an answer stands in a text as such, and not as a part of a longer word or number."""
    before = r"(?:=|\bis)\s*\$?" if phrase[0] == "=" else r"(?<!\w)"
    return bool(re.search(rf"{before}{re.escape(phrase.removeprefix('='))}(?!\w|[.,/:]\d)", text))


def _stem(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")


def _numbers(text: str) -> list[str]:
    return [number.replace(",", "").rstrip(".") for number in _NUMBER.findall(text)]


def _answers(attempt: Attempt) -> set[str]:
    """The final answer, also where it is one digit or as short as `3/4`: then only as `= 8` or `is 8`."""
    found = extract_answer(attempt.answer or "").text or ""
    candidates = {_plain(text.strip()) for text in (found, attempt.reference or "")}
    return {
        text if re.search(r"\w\w", text) else f"={text}"
        for text in candidates
        if text not in _ROUND and 0 < len(text) <= _LONGEST_ANSWER
    }


def _plain(text: str) -> str:
    return text.replace(",", "") if _NUMBER.fullmatch(text) else text


def _names(text: str) -> set[str]:
    """Capitalised words; at the start of a sentence only those that look like no ordinary word there."""
    names, ordinary = set[str](), set(_WORD.findall(text))
    for match in _WORD.finditer(text):
        word = _stem(match[0])
        folded = word.casefold()
        if len(word) < 3 or not word[0].isupper() or (word.isupper() and len(word) < 4) or folded in _OPENERS:
            continue
        starts = _SENTENCE_START.search(text[max(match.start() - 4, 0) : match.start()])
        followed = word == match[0] and _AFTER_NO_NAME.match(text, match.end())
        if not starts or not (followed or folded in ordinary):
            names.add(word)
    return names
