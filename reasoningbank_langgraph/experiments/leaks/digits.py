"""The numbers that a text states in digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from reasoningbank_langgraph.experiments.leaks.rule import SMALL

_LONGEST = 300
"""Digits of a number that is read."""
_RUN = r"(?>\d+(?:[.,]\d+|[ ~]\d{3}(?!\d))*|\.\d+)"
_NUMBER = re.compile(
    rf"(?<!\w)(?P<run>{_RUN})(?!(?:st|nd|rd|th)\b)(?:"
    rf"\s{{0,2}}/\s{{0,2}}(?P<below>\d+(?:\.\d+)?)(?![,.]?\d)"
    rf"|(?:\s{{1,2}}|-|\sand\s)(?P<above>\d{{1,9}})/(?P<below_above>\d{{1,9}})(?!\d)"
    rf"|[\s-]?(?P<scale>k|hundred|thousand|million|dozen)(?!\w))?"
    rf"(?P<percent>\s{{0,2}}(?:\\?%|per\s?cent\b))?",
    re.IGNORECASE,
)
_GROUPS = re.compile(r"\d{1,3}(?:(?:,\d{3})+|(?:[ ~]\d{3})+)(?:\.\d+)?")
_FRACTION = re.compile(r"\\[a-z]?frac\s?(?:\{\s?([\d.]+)\s?\}|(\d))\s?(?:\{\s?([\d.]+)\s?\}|(\d))")
_SCALES = {"k": 1_000, "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000}


def numbers_in_digits(text: str) -> Iterator[Fraction]:
    r"""Yield the numbers of a text, and what they make with a percent sign or a word such as "million" behind them.

    Args:
        text: its fractions may be LaTeX's; other signs are ASCII.
    """
    for found in _NUMBER.finditer(_FRACTION.sub(r" \1\2/\3\4 ", text)):
        numbers = _numbers(found["run"])
        yield from numbers[:-1]
        for value in _completed(numbers, found) if numbers else ():
            yield value
            if found["percent"]:
                yield value / 100


def _numbers(run: str) -> list[Fraction]:
    """Read digits with points, commas and blanks: `1 200` is one number, or two."""
    joined = [re.sub("[, ~]", "", run)] if _GROUPS.fullmatch(run) else []
    parts = [] if joined and "," in run else re.split("[, ~]", run)
    plain = [piece for part in parts for piece in (part.split(".") if part.count(".") > 1 else [part])]
    return [Fraction(digits) for digits in [*plain, *joined] if 0 < len(digits) <= _LONGEST]


def _completed(numbers: list[Fraction], found: re.Match[str]) -> Iterator[Fraction]:
    """Yield the last number with what follows it; the parts of a fraction count by themselves where they are not small.

    A number of thousands or millions counts without them too: "$4 million" states the answer 4, in millions.
    """
    number = numbers[-1]
    if found["above"]:
        parts, below = [number], Fraction(found["below_above"])
        value = number + (Fraction(found["above"]) / below if below else 0)
    elif found["below"]:
        parts = [number, Fraction(found["below"])]
        value = number / parts[1] if parts[1] else number
        yield from (whole + above / parts[1] for whole, above in pairwise(numbers) if parts[1])
    else:
        yield number
        parts, value = [], number * _SCALES.get((found["scale"] or "").lower(), 1)
    yield value
    yield from (part for part in parts if part > SMALL)
