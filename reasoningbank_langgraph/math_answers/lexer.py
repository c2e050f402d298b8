r"""Spelling -> tokens, and a look ahead at the fraction of a mixed number: `\frac13` in `2\frac13`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from reasoningbank_langgraph.math_answers.nodes import UnreadableError

MAX_TOKENS = 400
MAX_DIGITS = 400


class Token(NamedTuple):
    """One word of an answer."""

    kind: str
    """`number`, `letters`, `text` (inside a text macro), `macro` (with its backslash) or `mark`."""
    text: str
    gap: bool
    """Whether a blank stands before it."""


_TOKEN = re.compile(
    r"""(?P<gap>\s*)(?:
    (?P<number>\d*\.\d*\\(?:overline|bar|dot)\s*(?:\{\s*\d+\s*\}|\d)|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,4}(?!\w))?)
    |\\(?:text[a-z]*|mbox|mathrm|mathsf|mathbf|operatorname|rm|bf)\s*\{(?P<text>[^{}]*)\}
    |(?P<macro>\\(?:[A-Za-z]+|\\|[{}%$&#|]))
    |(?P<letters>[A-Za-z]+)
    |(?P<mark>\*\*|<=|>=|!=|==|[-+*/^_=<>(){}\[\],;:|!%&$'])
    )""",
    re.VERBOSE,
)
_MARKS = {"**": "^", "==": "=", r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\div": "/", r"\%": "%", r"\$": "$",
          r"\pound": "£", r"\euro": "€", r"\|": "|"}  # fmt: skip
_VARIABLES = {"e", "i", "x", "y", "z"}


def tokens_of(text: str) -> list[Token]:
    """Cut a tidied answer into tokens.

    Raises:
        UnreadableError: A character is not one that answers are written with, or there is too much of it.
    """
    tokens: list[Token] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or len(tokens) >= MAX_TOKENS:
            raise UnreadableError
        tokens.append(_token(found))
        position = found.end()
    return tokens


def _token(found: re.Match[str]) -> Token:
    kind = found.lastgroup or ""
    word, gap = found[kind], bool(found["gap"])
    if kind == "number" and sum(map(str.isdigit, word)) > MAX_DIGITS:
        raise UnreadableError
    if kind == "text":
        word = word.strip()
        return Token("letters", word, gap) if word in _VARIABLES else Token("text", word, gap=True)
    return Token("mark", _MARKS[word], gap) if word in _MARKS else Token(kind, word, gap)


OPENING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}
_DEPTH = {"(": 1, "[": 1, "{": 1, r"\{": 1, r"\begin": 1, ")": -1, "]": -1, "}": -1, r"\}": -1, r"\end": -1}


def depth_change(token: Token) -> int:
    """Say whether a token opens (1) or closes (-1) a bracket; brackets of half-open intervals need not agree."""
    return _DEPTH.get(token.text, 0) if token.kind in ("mark", "macro") else 0


def split_at(tokens: list[Token], is_separator: dict[str, str]) -> tuple[list[list[Token]], list[str]]:
    """Split where a separator stands outside all brackets; return the parts and the separators' meanings."""
    parts: list[list[Token]] = [[]]
    separators: list[str] = []
    depth = 0
    for token in tokens:
        depth += depth_change(token)
        if depth == 0 and token.text.lower() in is_separator and token.kind != "number":
            separators.append(is_separator[token.text.lower()])
            parts.append([])
        else:
            parts[-1].append(token)
    return parts, separators


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
