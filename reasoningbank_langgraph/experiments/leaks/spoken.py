"""How a number is said: "forty one", "two and a half", "three quarters", "zero point five", "a dozen"."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

Words = tuple[str, ...]
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_UNDER_20 = _WORDS.split()
_TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_PARTS = [
    (2, "half", "halves"), (3, "third", "thirds"), (4, "quarter", "quarters"), (4, "fourth", "fourths"),
    (5, "fifth", "fifths"), (6, "sixth", "sixths"), (7, "seventh", "sevenths"), (8, "eighth", "eighths"),
    (9, "ninth", "ninths"), (10, "tenth", "tenths"),
]  # fmt: skip
NUMERALS = frozenset([*_UNDER_20, *_TENS, *SCALES])
_MOST = 10**9
_PLACES = 9


def spoken(value: Fraction) -> Iterator[Words]:
    """Yield the ways to say a number below a thousand million, without "and" and hyphens."""
    if value >= _MOST:
        return
    yield from _said(value)
    for scale in ("dozen", "thousand", "million"):
        count = value / SCALES[scale]
        if count == 1:
            yield "a", scale
        if count == Fraction(1, 2):
            yield "half", "a", scale
        if count.denominator <= 10:
            yield from ((*words, scale) for words in _said(count))


def decimal(value: Fraction, places: int) -> str:
    """Return a number with its decimals, "" where it has more."""
    scaled = value * 10**places
    if scaled.denominator != 1:
        return ""
    whole, rest = divmod(int(scaled), 10**places)
    return f"{whole}.{rest:0{places}}".rstrip("0").removesuffix(".")


def _said(value: Fraction) -> Iterator[Words]:
    whole, share = int(value), value % 1
    if not share:
        yield from _whole(whole)
        return
    for words in _whole(whole) if whole else [()]:
        yield from ((*words, *part) for part in _share(share))
    if digits := decimal(share, _PLACES):
        places = [_UNDER_20[int(digit)] for digit in digits.removeprefix("0.")]
        yield from ((*words, "point", *places) for words in _whole(whole))


def _share(share: Fraction) -> Iterator[Words]:
    """Yield a number below one in halves to tenths."""
    for below, one, more in _PARTS:
        above = share * below
        if above == 1:
            yield from (("a", one), ("one", one), (one,))
        elif above.denominator == 1:
            yield from ((*words, more) for words in _whole(int(above)))


def _whole(number: int) -> Iterator[Words]:
    """Yield a whole number; a comma may stand behind its millions and thousands."""
    if 1_000 < number < 10_000 and number // 100 % 10:
        yield from _with_rest([(*_below_100(number // 100), "hundred")], number % 100)
    for scale in ("million", "thousand"):
        count, rest = divmod(number, SCALES[scale])
        if count:
            heads = [("a",), *_whole(1)] if count == 1 else _whole(count)
            yield from _with_rest([(*head, scale) for head in heads], rest)
            return
    hundreds, rest = divmod(number, 100)
    if hundreds:
        heads = [("a",), ("one",)] if hundreds == 1 else [_below_100(hundreds)]
        yield from _with_rest([(*head, "hundred") for head in heads], rest)
    else:
        yield _below_100(number)


def _with_rest(heads: list[Words], rest: int) -> Iterator[Words]:
    if not rest:
        yield from heads
        return
    for head in heads:
        for tail in _whole(rest):
            yield from ((*head, *tail), (*head, ",", *tail))


def _below_100(number: int) -> Words:
    tens, ones = divmod(number, 10)
    return (_UNDER_20[number],) if number < 20 else (_TENS[tens], *([_UNDER_20[ones]] if ones else []))
