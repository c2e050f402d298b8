"""Every form in which a known answer may be written, as plain words.

The guard reads the numbers of a text; the audit looks for these forms and reads none, so that they fail apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from reasoningbank_langgraph.experiments.leaks.plain_words import plain_words
from reasoningbank_langgraph.experiments.leaks.rule import SMALL, is_announced
from reasoningbank_langgraph.experiments.leaks.spoken import NUMERALS, SCALES, Words, decimal, spoken

_MULTIPLES = 100
"""A fraction is written with up to so many times its least terms."""
_MOST_DIGITS = 300
_PLACES = 12
_ANSWER = re.compile(
    r"(?:[A-Za-z] = )?(?:[$€£] )?(?P<number>\d+(?:\.\d+)?(?:/0*[1-9]\d*)?)(?: (?P<part>\d+/0*[1-9]\d*))?"
    r"(?P<percent> %)?(?: [$€£]| (?:[a-z]{2,}|[mgshlL])(?: [a-z]{2,}){0,2})?"
)


class Form(NamedTuple):
    """One way to write the answer."""

    words: Words
    is_small: bool = False
    """Whether it is a number up to ten."""
    is_spelled: bool = False


@lru_cache(2048)
def forms_of(answer: str) -> Mapping[str, Sequence[Form]]:
    """Return the forms of an answer by their first word; one that is no number has only the form it is given in."""
    words = tuple(plain_words(answer))
    found: dict[str, list[Form]] = defaultdict(list)
    for form in _forms(words) if words else ():
        found[form.words[0]].append(form)
    return found


def _forms(words: Words) -> Iterator[Form]:
    number = _ANSWER.fullmatch(" ".join(words))
    if number is None or len(number[0]) > _MOST_DIGITS:
        yield Form(words)
        return
    value = sum((Fraction(part) for part in number.group("number", "part") if part), Fraction(0))
    yield from _forms_of_value(value)
    if number["percent"]:
        yield from _forms_of_value(value / 100)


def _forms_of_value(value: Fraction) -> Iterator[Form]:
    is_small = value <= SMALL
    for words in _in_digits(value):
        yield Form(words, is_small)
    for words in spoken(value):
        yield Form(words, is_small, is_spelled=True)
    for percent in (("%",), ("per", "cent")):
        if digits := decimal(value * 100, _PLACES):
            yield Form((digits, *percent))
        for words in spoken(value * 100):
            yield Form((*words, *percent), value * 100 <= SMALL, is_spelled=True)


def _in_digits(value: Fraction) -> Iterator[Words]:
    above, below = value.as_integer_ratio()
    if digits := decimal(value, _PLACES):
        yield (digits,)
    if below == 1 and value >= 1_000:
        yield tuple(f"{above:,}".split(","))
    for scale, worth in SCALES.items():
        count = decimal(value / worth, 3)
        if value * 2 >= worth and count:
            yield count, scale
            if scale == "thousand":
                yield (f"{count}k",)
    for times in range(1, _MULTIPLES + 1):
        yield (f"{above * times}/{below * times}",)
        if value > 1 and below > 1:
            yield str(above // below), f"{above % below * times}/{below * times}"


def holds_answer(text: str, answer: str) -> bool:
    """Say whether one of the forms of an answer stands in a text, by the rule of `rule`."""
    forms, words = forms_of(answer), plain_words(text)
    return any(
        _stands(form, words, place)
        for place, word in enumerate(words)
        for beginning in _beginnings(word)
        for form in forms.get(beginning, ())
    )


def _beginnings(word: str) -> list[str]:
    """The parts of a fraction count by themselves where they are not small."""
    parts = word.split("/") if "/" in word and len(word) > 1 else []
    return [word, *(part for part in parts if Fraction(part) > SMALL)]


def _stands(form: Form, words: Sequence[str], place: int) -> bool:
    end = place + len(form.words)
    if tuple(words[place + 1 : end]) != form.words[1:]:
        return False
    before, after = words[place - 1] if place else "", words[end] if end < len(words) else ""
    if form.is_spelled:
        whole = before not in NUMERALS and after not in NUMERALS
        return whole and (not form.is_small or is_announced(words[:place]))
    return len(form.words) > 1 or not (form.is_small and "/" in after)
