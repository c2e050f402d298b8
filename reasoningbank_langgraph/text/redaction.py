"""Takes secrets and personal data out of text before it is stored: by shape, with nothing sent anywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple


class Redacted(NamedTuple):
    """A text without its secrets, and how many of which kind were found."""

    text: str
    found: dict[str, int]


_KEY_PREFIXES = (
    r"sk-[a-zA-Z0-9_-]{16,}|(?:sk|pk|rk)_(?:live|test)_[a-zA-Z0-9]{10,}|(?:AKIA|ASIA|AGPA|AIDA|AROA)[0-9A-Z]{12,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}"
    r"|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|ya29\.[\w-]{20,}"
    r"|(?:gsk|lsv2_pt|lsv2_sk|dop_v1|r8)_\w{20,}|xai-\w{20,}|dckr_pat_[\w-]{20,}"
)
_NAMED = (
    r"pass(?:word|wd|phrase)?|pwd|secret(?:[_-]?key)?|api[_-]?key|access[_-]?(?:token|key)|auth[_-]?token|client[_-]?secret"
    r"|private[_-]?key|refresh[_-]?token|bearer[_-]?token|token"
)

_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s,:\\]|-(?!----)){0,20000}"
            r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
    ),
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*")),
    ("api key", re.compile(rf"(?<![A-Za-z0-9])(?:{_KEY_PREFIXES})")),
    (
        "token",
        re.compile(
            r"(?i)(?<=\bbearer )(?=[^\s\"']{0,400}\d)[A-Za-z0-9._~+/=-]{12,}|(?<=\bbasic )[A-Za-z0-9+/]{16,}={1,2}"
        ),
    ),
    ("password", re.compile(r"(?<=://)[^\s/:@]{0,100}:[^\s/@]{1,200}(?=@[\w.-])")),
    (
        "password",
        re.compile(
            rf"(?i)(?P<name>\b(?:[a-z0-9]+[_-])?(?:{_NAMED})\b[\"']?\s?[:=]\s?[\"']?)"
            r"(?=[^\s\"',;]{0,80}(?:\d|[!@#$%^&*_-]))(?P<value>[^\s\"',;\[\](){}\\$]{6,200})"
        ),
    ),
    ("email", re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?![\w-])")),
    (
        "phone",
        re.compile(r"(?<![\w)\]}$\\+])\+(?:\d{10,15}|\d{1,3}(?:[ .-]?\(\d{1,4}\))?(?:[ .-]\d{1,8}){2,6})(?![\d.]*\d)"),
    ),
    ("card", re.compile(r"(?<![\d.-])(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}|3[47]\d{2}([ -])\d{6}\2\d{5})(?![ -]?\d)")),
)


def redact_secrets(text: str) -> Redacted:
    """Replace secrets and personal data by what they were, such as `[email removed]`.

    Finds private keys, tokens, key-shaped strings, passwords that are named as such, e-mail addresses, phone numbers
    that start with +, and card numbers in groups that pass their check digit. Plain long numbers are left alone.

    Returns:
        The text, and counts by kind: `private key, token, api key, password, email, phone, card`.
    """
    found: Counter[str] = Counter()
    for kind, pattern in _RULES:
        text = pattern.sub(_replacer(kind, found), text)
    return Redacted(text, dict(found))


def _replacer(kind: str, found: Counter[str]) -> Callable[[re.Match[str]], str]:
    def replace(match: re.Match[str]) -> str:
        if kind == "card" and not _is_card(match[0]):
            return match[0]
        if kind == "phone" and not _is_phone(match):
            return match[0]
        found[kind] += 1
        return f"{match.groupdict().get('name') or ''}[{kind} removed]"

    return replace


def _is_card(text: str) -> bool:
    """Check the issuer's first digit and the Luhn sum."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return digits[0] in (2, 3, 4, 5, 6) and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_phone(match: re.Match[str]) -> bool:
    """Check the number of digits, and that the plus does not add: after a number, a variable or a closing bracket."""
    before = match.string[max(match.start() - 4, 0) : match.start()]
    return 7 <= sum(map(str.isdigit, match[0])) <= 15 and not _OPERAND.search(before)


_OPERAND = re.compile(r"(?:[\d)}=$+*/^]|(?:^|[^A-Za-z])[A-Za-z])[ \t]*\Z")
