"""Answers in words: names, choices, times of day, named sets, and numbers: "five sixths", "two and a half"."""

from __future__ import annotations

import re
from fractions import Fraction

from reasoningbank_langgraph.math_answers import nodes
from reasoningbank_langgraph.math_answers.forms import Amount, Clock, Form, Row, Words

TEXT = r"\\(?:text[a-z]*|mbox|mathrm|mathsf|mathbf|operatorname)\s*"
"""A macro around words."""
_MACRO = re.compile(TEXT + r"\{([^{}]*)\}")
_CHOICE = re.compile(r"(?:(?:option|choice) )?[(\[]?([A-H])[)\]]?", re.IGNORECASE)
_PROSE = re.compile(r"[A-Za-z][A-Za-z .,'-]{3,}")
_LETTERS = re.compile(r"[A-Za-z]{2,}")
_CLOCK = re.compile(r"(\d{1,2})\s*:\s*(\d{2})\s*([ap])\s*\.?\s*m\s*\.?", re.IGNORECASE)
_REALS = {"all real numbers", "all reals", r"\mathbb{r}", r"\mathbb r", r"x\in\mathbb{r}"}

_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ORDINALS = "half|third|fourth|fifth|sixth|seventh|eighth|ninth"
_WORTH = {word: value for value, word in enumerate(f"zero|{_ONES}|{_TEENS}".split("|"))}
_WORTH |= {word: 10 * value for value, word in enumerate(_TENS.split("|"), 2)} | {"a": 1, "an": 1, "and": 0}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PARTS = {word: value for value, word in enumerate(_ORDINALS.split("|"), 2)}
_PARTS |= {f"{word}th": value for value, word in enumerate(_TEENS.split("|"), 10)}
_PARTS |= {f"{word[:-1]}ieth": 10 * value for value, word in enumerate(_TENS.split("|"), 2)}
_PARTS |= {"halve": 2, "quarter": 4, "twelfth": 12, "hundredth": 100, "thousandth": 1000}

_SMALL = rf"(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_TEENS}|{_ONES})"
_HUNDREDS = rf"(?:(?:{_SMALL}|a)[- ]hundred(?:(?: and)?[- ]{_SMALL})?|{_SMALL})"
_WHOLE = rf"(?:(?:{_HUNDREDS}|a) (?:{'|'.join(_SCALES)})(?:,?(?: and)? {_HUNDREDS})?|{_HUNDREDS}|zero)"
_SINGLE = rf"(?:an?|\d+|{_TEENS}|{_ONES})"

_NUMERAL = re.compile(rf"(?<![-\w\\]){_WHOLE}(?![-\w])", re.IGNORECASE)
_SCALED = re.compile(rf"(?<![\w.,/^])(\d+(?:\.\d+)?) ({'|'.join(_SCALES)})(?![-\w])", re.IGNORECASE)
_SIGN = re.compile(r"(?:^|(?<=[,;(={] )|(?<=\band )|(?<=\bor ))(?:minus|negative) (?=\d)", re.IGNORECASE)
_FRACTION = re.compile(
    # behind another word or number the first word may not be where the fraction begins
    rf"(?:(?<![-\w] )|(?<=\band )|(?<=\bor )|(?<=\bminus )|(?<=\bnegative ))(?<![\w\\.,/^])(?<![A-Za-z]-)"
    rf"(?:(?P<whole>{_WHOLE}|\d+)(?: and |-and-))?(?:(?P<above>{_SINGLE}-|(?:{_WHOLE}|an?|\d+) )|(?=half\b))"
    rf"(?:(?P<tens>{_TENS})-)?(?<!ten )(?<!hundred )(?P<below>{'|'.join(_PARTS)})s?(?![-\w])"
    r"(?:(?: of(?: an?| the)?| an?)(?= [a-z]{2}))?",
    re.IGNORECASE,
)


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


def in_digits(text: str) -> str:
    """Write numbers that are spelled out with digits: "twenty-one apples" is "21 apples"."""
    text = _SCALED.sub(_scaled, _FRACTION.sub(_fraction, text))
    return _SIGN.sub("-", _NUMERAL.sub(lambda found: str(_worth(found[0])), text))


def _fraction(found: re.Match[str]) -> str:
    below = _PARTS[found["below"].lower()] + _worth(found["tens"] or "zero")
    above = _worth((found["above"] or "one").strip(" -"))
    if not found["whole"]:
        return f"{above}/{below}"
    return f"{_worth(found['whole']) * below + above}/{below}" if above < below else found[0]


def _scaled(found: re.Match[str]) -> str:
    value = Fraction(found[1]) * _SCALES[found[2].lower()]
    return str(value) if value.denominator == 1 else found[0]


def _worth(spelled: str) -> int:
    if spelled.isdigit():
        return int(spelled)
    total = part = 0
    for word in re.findall("[a-z]+", spelled.lower()):
        if word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part = part * 100 if word == "hundred" else part + _WORTH[word]
    return total + part
