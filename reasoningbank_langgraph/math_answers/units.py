r"""The unit an answer carries: `36\text{ cm}`, `36 square feet`, `\$18`, `\$5/hour`, `25\%`, `60^\circ`."""

from __future__ import annotations

import re
from typing import NamedTuple

from reasoningbank_langgraph.math_answers.lexer import Token
from reasoningbank_langgraph.math_answers.nodes import UnreadableError

_SAME = {
    "centimetre": "cm", "centimeter": "cm", "millimetre": "mm", "millimeter": "mm", "kilometre": "km",
    "kilometer": "km", "metre": "m", "meter": "m", "inch": "in", "inche": "in", "foot": "ft", "feet": "ft",
    "yard": "yd", "mile": "mi", "gram": "g", "kilogram": "kg", "milligram": "mg", "pound": "lb", "ounce": "oz",
    "liter": "l", "litre": "l", "milliliter": "ml", "millilitre": "ml", "second": "s", "sec": "s", "minute": "min",
    "hour": "h", "hr": "h", "dollar": "$", "usd": "$", "buck": "$", "euro": "€", "percent": "%", "degree": "deg",
    "cent": "cent", "mph": "mi/h", "kph": "km/h", "kmh": "km/h", "people": "person", "children": "child",
    "men": "man", "women": "woman", "unit": "unit", "sq": "square",
}  # fmt: skip
_SHORT = {"cm", "mm", "km", "kg", "mg", "ml", "ft", "yd", "mi", "lb", "lbs", "oz", "in", "min", "sec", "hr", "hrs",
          "mph", "kph", "kmh", "usd", "day", "week", "month", "year", "sq", "per"}  # fmt: skip
_NAMED = _SAME.keys() | _SAME.values() | _SHORT
_COUNTED_TEXT = (
    "man men boy kid cup egg hen cow pig cat dog fox ant bee box bag can jar cap hat toy pen pie nut car bus bed ton "
    "row set way job gem"
)
_COUNTED = frozenset(_COUNTED_TEXT.split())
"""Words of three letters are units if they are known: others may be variables side by side."""
_GLUED = {"cm", "mm", "km", "kg", "ft", "lbs", "oz", "mph", "hrs"}
_LETTERS = {"m", "g", "s", "h", "l", "L", "N", "J", "W", "V"}

# words that change the number, or say more than what is counted
_NO_UNIT_TEXT = (
    "hundred thousand million billion trillion lakh crore dozen half halve third quarter fourth fifth sixth seventh "
    "eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
    "twentieth hundredth thousandth millionth billionth permille basis pair score squared cubed "
    "twice double doubled triple tripled quadruple quadrupled thrice halved negative positive "
    "factorial plus minus times over divided multiplied by more less than least most greater fewer smaller larger "
    "nth th st nd rd base mod modulo remainder r true false not no nor none never or and if when where for unless "
    "except about around approximately nearly roughly almost only either both all infinity infinite undefined e pi "
    "correct incorrect wrong right answer equals equal is are was be output the grader "
    "approx rounded estimated estimate maybe possibly probably guess option choice"
)

_NO_UNIT = frozenset(_NO_UNIT_TEXT.split())
_WORD = re.compile(r"[A-Za-z]+")
_MAX_WORDS = 3
_CURRENCIES = ("$", "€", "£")
_PER_MARKS = ("/", "per", "a", "an", "each", "every")
_PER = re.compile(r"(?:(.*[\w.])\s*)??(/|(?<![^\s/])(?:per|an?|each|every)(?=\s))\s*(.+)", re.IGNORECASE)
"""What is counted, a word for "for each", and each of what."""


class Measured(NamedTuple):
    """An amount and its unit."""

    tokens: list[Token]
    unit: str
    """Normal form of the unit; empty when there is none."""


def split_unit(tokens: list[Token]) -> Measured:
    """Part the tokens of an amount from its unit.

    Raises:
        UnreadableError: The words behind the amount are no unit.
    """
    tokens, rate = _without_rate([part for token in tokens for part in _parts_of_text(token)])
    amount, currency = _without_currency(tokens)
    amount, trailing = _split_trailing(amount)
    if currency and trailing not in ("", currency):
        raise UnreadableError
    return Measured(amount, (trailing or currency) + rate)


def letter_unit(tokens: list[Token]) -> Measured | None:
    """Read last letters that stand apart, as in `36 m` and `5 m/s`, as a unit: they may also be variables."""
    end, power = _power_at_end(tokens)
    place = end - 1 if not power else 0
    if end > 3 and tokens[end - 2].text == "/" and _is_known(tokens[end - 1].text):
        place = end - 3
    if place < 1 or tokens[place].text not in _LETTERS or not tokens[place].gap or tokens[place - 1].kind != "number":
        return None
    return Measured(tokens[:place], _normal("".join(token.text for token in tokens[place:end]), power))


def bracketed_unit(tokens: list[Token]) -> Measured | None:
    r"""Read a unit in brackets, `9 (cm)` or `9\text{ (apples)}`; `5(ab)` is a product and has none.

    Raises:
        UnreadableError: The words in the brackets are no unit.
    """
    if len(tokens) > 1 and tokens[-1].kind == "text" and tokens[-1].text[:1] + tokens[-1].text[-1:] == "()":
        unit = tokens[-1].text[1:-1]
        if len(unit) == 1 and unit not in _LETTERS:  # the letter of a choice
            return None
        return split_unit([*tokens[:-1], Token("text", unit, gap=True)])
    opening = max((index for index, token in enumerate(tokens) if token.text in ("(", "[")), default=0)
    inside = tokens[opening + 1 : -1]
    if not opening or tokens[-1].text not in (")", "]") or not _is_measure(inside, gap=tokens[opening].gap):
        return None
    return split_unit(
        [*tokens[:opening], *(token._replace(kind="text") if token.kind == "letters" else token for token in inside)]
    )


def _is_measure(tokens: list[Token], *, gap: bool) -> bool:
    words = [token for token in tokens[: _power_at_end(tokens)[0]] if token.text != "/"]
    if not words or any(token.kind not in ("text", "letters") for token in words):
        return False
    known = _NAMED | _LETTERS if gap else _NAMED
    is_long = any(token.kind == "text" or len(token.text) > 3 for token in words)
    return is_long or all(token.text.lower() in known for token in words)


def _parts_of_text(token: Token) -> list[Token]:
    """Cut a text at what means "for each": `dollars per hour`, `/hour`, `a day`."""
    found = _PER.fullmatch(token.text) if token.kind == "text" else None
    if found is None:
        return [token]
    return [Token("mark" if part == "/" else "text", part, gap=True) for part in found.groups() if part]


def _without_rate(tokens: list[Token]) -> tuple[list[Token], str]:
    """Part `/hour`, `per hour` or `an hour` from an amount."""
    if tokens[-1].text.lower() in ("each", "apiece") and len(tokens) > 1:
        return tokens[:-1], ""
    end, power = _power_at_end(tokens)
    place = max((index for index in range(1, end - 1) if tokens[index].text.lower() in _PER_MARKS), default=0)
    below = tokens[place + 1 : end]
    is_named = place > 0 and all(token.kind in ("text", "letters") for token in below)
    if not is_named or not _is_rate(tokens[:place], tokens[place].text.lower(), below[-1]):
        return tokens, ""
    return tokens[:place], "/" + _normal(" ".join(token.text for token in below), power)


def _is_rate(above: list[Token], mark: str, below: Token) -> bool:
    """Say whether an amount is for each of something: letters on both sides of a slash may be variables."""
    is_price = any(token.text in _CURRENCIES for token in above)
    is_counted = len(above) > 1 and _is_unit_word(above[-1], after=above[-2])
    if len(below.text) == 1:
        is_unit = (is_price and below.text == "h") or (is_counted and _is_known(below.text))
        return is_unit and mark in ("/", "per")
    if is_price or is_counted or mark == "per":
        return _is_unit_word(below._replace(gap=True), after=below)
    return mark == "/" and _is_known(below.text) and (below.kind == "text" or len(below.text) > 2)


def _is_known(word: str) -> bool:
    return _one_word(word.lower()) in _NAMED | _LETTERS


def _without_currency(tokens: list[Token]) -> tuple[list[Token], str]:
    signs = [index for index, token in enumerate(tokens) if token.kind == "mark" and token.text in _CURRENCIES]
    if not signs:
        return tokens, ""
    place = signs[0]
    leads = place == 0 or (place == 1 and tokens[0].text in "+-")
    if len(signs) > 1 or not (leads or place == len(tokens) - 1):
        raise UnreadableError
    return tokens[:place] + tokens[place + 1 :], tokens[place].text


def _split_trailing(tokens: list[Token]) -> tuple[list[Token], str]:
    texts = [token.text for token in tokens]
    if texts[-1:] == ["%"]:
        return tokens[:-1], "%"
    if texts[-2:] == ["^", r"\circ"] and "deg" not in texts and not _is_function_near(tokens):
        return tokens[:-2], "deg"
    cut, power = _unit_start(tokens)
    if cut == len(tokens):
        return tokens, ""
    words = (token.text for token in tokens[cut:] if token.kind in ("text", "letters"))
    return tokens[:cut], _normal(" ".join(words), power)


def _is_function_near(tokens: list[Token]) -> bool:
    return any(token.kind == "macro" and token.text in (r"\sin", r"\cos", r"\tan", r"\sec", r"\csc", r"\cot")
               for token in tokens)  # fmt: skip


def _unit_start(tokens: list[Token]) -> tuple[int, str]:
    """Where the trailing words begin, and the power behind them (`cm^2`)."""
    end, power = _power_at_end(tokens)
    cut = end
    while cut > 1 and _is_unit_word(tokens[cut - 1], after=tokens[cut - 2]):
        cut -= 1
    return (cut, power) if cut < end else (len(tokens), "")


def _power_at_end(tokens: list[Token]) -> tuple[int, str]:
    """Where a last square or cube begins, and which it is."""
    for tail in (2, 4):
        shape = [token.text for token in tokens[-tail:]]
        if shape in (["^", "2"], ["^", "3"], ["^", "{", "2", "}"], ["^", "{", "3", "}"]):
            return len(tokens) - tail, "".join(filter(str.isdigit, shape))
    return len(tokens), ""


def _is_unit_word(token: Token, *, after: Token) -> bool:
    if token.kind == "text":
        return True
    word = token.text.lower()
    if not token.gap:
        return after.kind == "number" and word in _GLUED
    return token.kind == "letters" and (word in _SHORT or word in _COUNTED or len(word) > 3)


def _normal(words: str, power: str) -> str:
    """Bring a unit to its normal form: singular, abbreviated, its power behind it."""
    words = words.strip().strip(".").lower().replace("²", "^2").replace("³", "^3")
    words, caret, inline = words.partition("^")
    if caret:
        power = inline.strip("{} ")
    for suffix, meaning in ((" squared", "2"), (" cubed", "3")):
        if words.endswith(suffix) and not power:
            words, power = words.removesuffix(suffix), meaning
    parts = [_singular(word) for word in words.split("/")]
    for prefix, meaning in (("square ", "2"), ("cubic ", "3")):
        if parts[0].startswith(prefix):
            parts[0], power = parts[0].removeprefix(prefix), meaning
    return "/".join(parts) + (f"^{power}" if power else "")


def _singular(words: str) -> str:
    found = words.split()
    if not found or len(found) > _MAX_WORDS or not all(_WORD.fullmatch(word) for word in found):
        raise UnreadableError
    if _NO_UNIT.intersection(found) or _NO_UNIT.intersection(map(_stem, found)):
        raise UnreadableError
    return " ".join(map(_one_word, found))


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


def _one_word(word: str) -> str:
    return _SAME.get(word) or _SAME.get(_stem(word)) or _stem(word)
