"""Spelling -> tokens."""

from __future__ import annotations

import re
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
