"""The numbers that a text spells out, by a closed grammar: up to millions, with halves to tenths and decimals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from reasoningbank_langgraph.experiments.leaks.rule import SMALL, is_announced

_ONES = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_PARTS = "half third quarter fifth sixth seventh eighth ninth tenth"
_WORTH = {word: value for value, word in enumerate(f"zero {_ONES} {_TEENS}".split())}
_WORTH |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)} | {"a": 1, "an": 1, "and": 0}
_BELOW = {word: value for value, word in enumerate(_PARTS.split(), 2)} | {"fourth": 4, "halve": 2}
_SCALES = {"dozen": 12, "thousand": 1_000, "million": 1_000_000}


def _any(words: str) -> str:
    return rf"(?:{'|'.join(words.split())})\b"


_GAP = r"[\s-]{1,3}"
_BELOW_100 = rf"(?:{_any(_TENS)}(?:{_GAP}{_any(_ONES)})?|{_any(_TEENS)}|{_any(_ONES)})"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|an?){_GAP}hundred\b(?:(?:{_GAP}and)?{_GAP}{_BELOW_100})?|{_BELOW_100})"
_SCALED = rf"(?:{_BELOW_1000}|an?){_GAP}(?:thousand|million)\b"
_WHOLE = (
    rf"(?:{_SCALED}(?:,?(?:{_GAP}and)?{_GAP}{_SCALED})?(?:,?(?:{_GAP}and)?{_GAP}{_BELOW_1000})?|{_BELOW_1000}|zero\b)"
)
_NUMBER = re.compile(
    rf"(?<![\w\\])(?:"
    rf"(?:(?P<whole>{_WHOLE}){_GAP}and{_GAP})?(?:(?P<above>{_BELOW_100}|an?){_GAP})?(?P<part>{'|'.join(_BELOW)})s?"
    rf"|(?P<number>{_WHOLE})(?:{_GAP}point(?P<places>(?:{_GAP}{_any('zero ' + _ONES)}){{1,9}}))?"
    rf"|an?(?={_GAP}dozen\b)"
    rf")(?!\w|-(?:first|second)\b)"
    rf"(?:{_GAP}(?:an?{_GAP})?(?P<scale>{_any(' '.join(_SCALES))}))?(?P<percent>{_GAP}per ?cent\b)?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+|[=:]")
_REACH = 60
"""Characters before a number in which a word may announce it."""


def spelled_numbers(text: str) -> Iterator[Fraction]:
    """Yield the numbers that a text spells out, small ones only where they are announced as a result."""
    for found in _NUMBER.finditer(text):
        value = _value(found)
        if value > SMALL or is_announced(words_before(text, found.start())):
            yield value
            if found["percent"]:
                yield value / 100


def words_before(text: str, place: int) -> list[str]:
    """Return the words near before a place, those that may announce a result."""
    return _WORD.findall(text[max(0, place - _REACH) : place].lower())


def _value(found: re.Match[str]) -> Fraction:
    if found["part"]:
        share = Fraction(_whole(found["above"] or "a"), _BELOW[found["part"].lower()])
        value = _whole(found["whole"] or "") + share
    else:
        places = "".join(str(_WORTH[word]) for word in re.findall("[a-z]+", (found["places"] or "").lower()))
        value = Fraction(f"{_whole(found['number'] or 'a')}.{places or 0}")
    return value * _SCALES.get((found["scale"] or "").lower(), 1)


def _whole(words: str) -> int:
    """Add up the words: "two thousand and fifty" is 2 times 1000, and 50."""
    total = group = 0
    for word in re.findall("[a-z]+", words.lower()):
        if word == "hundred":
            group *= 100
        elif word in _SCALES:
            total, group = total + group * _SCALES[word], 0
        else:
            group += _WORTH[word]
    return total + group
