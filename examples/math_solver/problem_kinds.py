"""What the families of problems share: names, things, and how numbers are written."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import NamedTuple

NAMES = ("Amara", "Bao", "Chiara", "Deniz", "Emeka", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kavya", "Liam", "Mei",
         "Nadia", "Omar", "Priya", "Rosa", "Sven", "Tala", "Uma", "Viktor", "Wanjiru", "Ximena", "Yusuf")  # fmt: skip
THINGS = ("stickers", "beads", "postcards", "shells", "stamps", "buttons", "marbles", "seeds", "coins", "badges")

Drawn = tuple[str, str]
"""A problem and its answer."""


class Kind(NamedTuple):
    """A family of problems that are solved the same way."""

    name: str
    level: int
    subject: str
    write: Callable[[Random], Drawn]


def fraction(value: Fraction) -> str:
    """Write a number in lowest terms, in LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    return rf"{'-' if value < 0 else ''}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def signed(number: int, symbol: str = "") -> str:
    """Write a term behind another one: `+ 3x`, `- x`, or nothing for 0."""
    if not number:
        return ""
    size = "" if symbol and abs(number) == 1 else abs(number)
    return f" {'-' if number < 0 else '+'} {size}{symbol}"
