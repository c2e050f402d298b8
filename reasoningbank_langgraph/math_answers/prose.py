"""Answers in words: names, choices, times of day, named sets."""

from __future__ import annotations

import re

from reasoningbank_langgraph.math_answers import nodes
from reasoningbank_langgraph.math_answers.forms import Amount, Clock, Form, Row, Words

_MACRO = re.compile(r"\\(?:text[a-z]*|mbox|mathrm|mathsf|mathbf|operatorname)\s*\{([^{}]*)\}")
_CHOICE = re.compile(r"\(?([A-Ha-h])\)?")
_PROSE = re.compile(r"[A-Za-z][A-Za-z .,'-]{3,}")
_LETTERS = re.compile(r"[A-Za-z]{2,}")
_CLOCK = re.compile(r"(\d{1,2})\s*:\s*(\d{2})\s*([ap])\s*\.?\s*m\s*\.?", re.IGNORECASE)
_REALS = {"all real numbers", "all reals", r"\mathbb{r}", r"\mathbb r", r"x\in\mathbb{r}"}

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORTH = {word: value for value, word in enumerate(f"zero|{_ONES}|{_TEENS}".split("|"))}
_WORTH |= {word: 10 * value for value, word in enumerate(_TENS.split("|"), 2)}
_SMALL = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_TEENS}|{_ONES})"
_NUMERAL = re.compile(
    rf"(?<![-\w\\])(?:({_ONES})[- ]hundred(?:(?: and)?[- ]({_SMALL}))?|({_SMALL}|zero))(?![-\w])", re.IGNORECASE
)


def in_digits(text: str) -> str:
    """Write numbers up to 999 that are spelled out with digits: "twenty-one apples" is "21 apples"."""
    return _NUMERAL.sub(lambda found: str(100 * _worth(found[1]) + _worth(found[2]) + _worth(found[3])), text)


def _worth(spelled: str | None) -> int:
    return sum(_WORTH[word] for word in re.split("[- ]", (spelled or "").lower()) if word)


def words(text: str) -> Words:
    """Read an answer letter by letter."""
    inside = _MACRO.sub(r"\1", text)
    plain = re.sub(r"\s+", " ", inside).strip(" .")
    choice = _CHOICE.fullmatch(plain)
    if choice and (len(plain) > 1 or inside != text):
        return Words(choice[1], is_prose=True)
    is_prose = inside != text or plain.casefold() in ("yes", "no") or bool(_PROSE.fullmatch(plain))
    return Words(plain, is_prose=is_prose)


def unwrapped(text: str) -> str:
    """Take an answer out of the text macro around the whole of it."""
    found = _MACRO.fullmatch(text)
    return found[1].strip() if found else text


def named(text: str) -> Form | None:
    r"""Read a time of day, the real numbers, or a word inside a text macro: `\text{odd}` is no product of letters."""
    plain = _MACRO.sub(r"\1", text)
    clock = _CLOCK.fullmatch(plain)
    if clock:
        return Clock(f"{int(clock[1])}:{clock[2]}{clock[3].lower()}m")
    if text.lower() in _REALS:
        infinity = nodes.constant("oo")
        return Row("(", (Amount(nodes.negative(infinity)), Amount(infinity)), ")")
    return words(text) if plain != text and _LETTERS.fullmatch(plain.strip()) else None
