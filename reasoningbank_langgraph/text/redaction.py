"""Removes secrets and personal data from text before it is stored, by their shape, without any service."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from reasoningbank_langgraph.text import secret_shapes as shapes
from reasoningbank_langgraph.text.folding import Folded, Original
from reasoningbank_langgraph.text.visible import is_invisible


class Redacted(NamedTuple):
    """A text without its secrets, and how many of which kind were found."""

    text: str
    found: dict[str, int]


class Rule(NamedTuple):
    """What secrets of one kind look like."""

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ("",)
    """One of these is in every ASCII text, in small letters, that the pattern finds something in: to look for them
    first saves most of the time that a text without secrets takes."""

    def may_find(self, small: str | None) -> bool:
        """Say whether a text may hold such a secret, which is given in small letters, or None if it is not ASCII."""
        return small is None or any(map(small.__contains__, self.hints))


RULES = (
    Rule("private key", shapes.PRIVATE_KEY, ("private key",)),
    Rule("token", shapes.JWT, ("eyj",)),
    Rule("api key", shapes.API_KEY),
    Rule("token", shapes.BEARER, ("authorization", "bearer", "basic")),
    Rule("password", shapes.NAMED, shapes.NAMED_HINTS),
    Rule("email", shapes.EMAIL, ("@",)),
    Rule("phone", shapes.PHONE, ("+",)),
    Rule("card", shapes.CARD),
)
_VALUES = ("quoted", "bare", "given", "told", "shown", "revealed", "pair", "part", "userinfo")


def redact_secrets(text: str) -> Redacted:
    """Replace secrets and personal data by what they were, such as `[email removed]`.

    Finds private keys, tokens, key-shaped strings, passwords and keys that are named as such, webhooks and signatures
    in addresses, e-mail addresses, phone numbers that start with +, and card numbers in groups that pass their check
    digit; invisible characters inside hide none of them. Plain long numbers are left alone.

    Returns:
        The text, and counts by kind: `private key, token, api key, password, email, phone, card`.
    """
    found: Counter[str] = Counter()
    seen = Folded(text, _seen)
    for rule in RULES:
        if rule.may_find(seen.small):
            seen = seen.replace(rule.pattern, _replacer(rule.kind, found))
    return Redacted(seen.text, dict(found))


@lru_cache(maxsize=8192)
def _seen(char: str) -> str:
    """A character as a reader sees it: nothing where it is invisible, plain where it is a wide or styled letter."""
    plain = unicodedata.normalize("NFKC", char)
    return "" if is_invisible(char) else plain if plain.isascii() else char


def _replacer(kind: str, found: Counter[str]) -> Callable[[re.Match[str], Original], str | None]:
    end = 0  # of what was taken last: it is no operand of what follows

    def replace(match: re.Match[str], original: Original) -> str | None:
        nonlocal end
        if not _is_one(kind, match, match.string[max(match.start() - 4, end) : match.start()]):
            return None
        found[kind], end = found[kind] + 1, match.end()
        return f"{_before(match, original)}[{kind} removed]"

    return replace


def _is_one(kind: str, match: re.Match[str], before: str) -> bool:
    """Check what a pattern alone cannot say."""
    if kind == "card":
        return shapes.is_card(match[0])
    if kind == "phone":
        return shapes.is_phone(match[0], before)
    return kind != "password" or shapes.is_named(match)


def _before(match: re.Match[str], original: Original) -> str:
    """What names the secret stays, with the quote after it."""
    names = match.groupdict()
    return "".join(original(name) for name, text in names.items() if text and name not in _VALUES)
