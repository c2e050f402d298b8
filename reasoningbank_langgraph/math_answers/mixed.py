r"""The fraction of a mixed number, `\frac13` in `2\frac13` or `1/3` in `2 1/3`: read ahead, never parsed twice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from reasoningbank_langgraph.math_answers.lexer import Token


class Proper(NamedTuple):
    """A fraction between 0 and 1."""

    value: Fraction
    end: int
    """Index of the token behind it."""


def proper_fraction(tokens: Sequence[Token], start: int) -> Proper | None:
    """Read a fraction of whole numbers that begins at a token; None where there is none, or it is 1 or more."""
    if start >= len(tokens):
        return None
    ahead = _arguments(tokens, start + 1) if tokens[start].text == r"\frac" else _around_slash(tokens, start)
    if ahead is None or not 0 < ahead[0] < ahead[1]:
        return None
    return Proper(Fraction(ahead[0], ahead[1]), ahead[2])


def _arguments(tokens: Sequence[Token], place: int) -> tuple[int, int, int] | None:
    """Two arguments of a macro, as in `{1}{3}`, `1{3}` and `13`, and where they end."""
    found: list[int] = []
    while len(found) < 2 and place < len(tokens):
        token, group = tokens[place], [token.text for token in tokens[place : place + 3]]
        if token.kind == "number" and token.text.isdigit() and len(token.text) + len(found) <= 2:
            found += map(int, token.text)
            place += 1
        elif len(group) == 3 and group[0] == "{" and group[1].isdigit() and group[2] == "}":
            found.append(int(group[1]))
            place += 3
        else:
            return None
    return (found[0], found[1], place) if len(found) == 2 else None


def _around_slash(tokens: Sequence[Token], start: int) -> tuple[int, int, int] | None:
    texts = [token.text for token in tokens[start : start + 3]]
    if len(texts) < 3 or not tokens[start].gap or texts[1] != "/" or not texts[0].isdigit() or not texts[2].isdigit():
        return None
    return int(texts[0]), int(texts[2]), start + 3
