"""A text as the plain words and signs in which the audit looks for an answer."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from reasoningbank_langgraph.experiments.leaks.rule import is_announced

_WORD = re.compile(
    r"\d+(?:st|nd|rd|th)\b"
    r"|(?:\d+(?:\.\d+)?|\.\d+)(?:k\b|\s{0,2}/\s{0,2}\d+(?:\.\d+)?)?"
    r"|[^\W\d_]\w*|[^\w\s]"
)
_PIECES = re.compile(r"(?<=[:;.!?)])(?=\s)|\n")
_NUMBERING = re.compile(r"\s*\(?(\d{1,2})[.)]")
_LEFT_OUT = frozenset(["-", "and", "frac", "dfrac", "tfrac", "cfrac", "text", "$", "*", "\\"])


def plain_words(text: str) -> list[str]:
    r"""Cut a text into lower-case words, numbers, fractions as `1/2`, and signs; letters alone keep their case.

    Hyphens, "and" and what is LaTeX only are left out; `1,000` is 1000, `.50` is 0.5 and "percent" is %.
    """
    text = "".join(map(_plain, _without_numbering(text)))
    text = re.sub(r"\{,\}|,\\!|\\!,", ",", text)
    text = re.sub(r"(?<=\d)\\,(?=\d)", "", text)
    text = re.sub(r"\}\s?\{", "/", text)
    text = re.sub(r"frac\s?(\d)\s?(\d)", r"frac \1/\2", text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", re.sub(r"[{}\\$]", " ", text))
    words = (_one_word(word) for word in _WORD.findall(text))
    return [word for word in words if word not in _LEFT_OUT]


@lru_cache(4096)
def _plain(char: str) -> str:
    if char.isascii():
        return char
    number, category = unicodedata.numeric(char, None), unicodedata.category(char)
    if category == "Cf":
        return ""
    if category == "Pd" or char == "\N{MINUS SIGN}":
        return "-"
    if category == "No" and number is not None and number % 1:
        return f" {Fraction(number).limit_denominator(100)} "
    return str(int(number)) if category == "Nd" and number is not None else unicodedata.normalize("NFKC", char)


def _one_word(word: str) -> str:
    if word[0].isdigit() or word[0] == ".":
        return "/".join(map(_one_number, word.split("/")))
    lower = word.lower()
    return "%" if lower == "percent" else word if len(word) == 1 else lower


def _one_number(digits: str) -> str:
    digits = digits.strip()
    if "." in digits:
        digits = digits.rstrip("0").removesuffix(".")
    return f"0{digits}" if digits.startswith(".") else digits or "0"


def _without_numbering(text: str) -> str:
    """Take out the pieces of a text that are nothing but the number of a list: one of a row, or a 1 that begins one."""
    pieces = _PIECES.split(text)
    numbers = [(place, int(found[1])) for place, piece in enumerate(pieces) if (found := _NUMBERING.fullmatch(piece))]
    for (place, number), (_, before), (_, after) in zip(
        numbers, [(0, -1), *numbers], [*numbers[1:], (0, -1)], strict=False
    ):
        begins = number == 1 and not is_announced(re.findall(r"\w+|[=:]", pieces[place - 1].lower()) if place else [])
        if number in (before + 1, after - 1) or begins:
            pieces[place] = ""
    return "\n".join(pieces)
