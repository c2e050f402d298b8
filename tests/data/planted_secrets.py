"""Made-up secrets by kind, a hundred in all, and texts that only look like some."""

# ruff: noqa: E501 - a secret is one line
from __future__ import annotations

from random import Random

_RANDOM = Random(20)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def _text(length: int, letters: str = _LETTERS) -> str:
    return "".join(_RANDOM.choices(letters, k=length - 1)) + "7"


def _card(prefix: str, length: int) -> str:
    """A number with a right check digit, in the groups cards are printed in."""
    digits = prefix + "".join(_RANDOM.choices("0123456789", k=length - len(prefix) - 1))
    odd = [sum(divmod(2 * int(digit), 10)) for digit in digits[::-2]]
    check = -(sum(odd) + sum(map(int, digits[-2::-2]))) % 10
    whole = digits + str(check)
    cuts = (4, 10, 15) if length == 15 else (4, 8, 12, 16)
    return " -"[int(check) % 2].join(whole[start:end] for start, end in zip((0, *cuts), cuts, strict=False))


def _key_block(kind: str) -> str:
    body = "\n".join(_text(64) for _ in range(4))
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}==\n-----END {kind}PRIVATE KEY-----"


API_KEYS = [
    "sk-test-0000000000000000000000", "AKIA0000000000000000", *(f"sk-{_text(48)}" for _ in range(4)), f"sk-proj-{_text(60)}",
    f"sk-ant-api03-{_text(80)}", *(f"AKIA{_text(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}" for _ in range(3)), f"ASIA{_text(16, 'ABCDEFGH7')}",
    *(f"gh{kind}_{_text(36)}" for kind in "posur"), f"github_pat_{_text(60)}", f"glpat-{_text(20)}", f"xoxb-{_text(12, '0123456789')}-{_text(24)}",
    f"AIza{_text(35)}", f"hf_{_text(34)}", f"npm_{_text(36)}", f"sk_live_{_text(24)}", f"rk_test_{_text(24)}", f"SG.{_text(22)}.{_text(43)}",
    f"gsk_{_text(52)}", f"lsv2_pt_{_text(32)}_{_text(10)}", f"pypi-{_text(60)}", f"dckr_pat_{_text(27)}",
]  # fmt: skip
TOKENS = [
    "eyJhbGciOiJub25lIn0.e30.", *(f"eyJ{_text(30)}.eyJ{_text(60)}.{_text(43)}" for _ in range(5)),
    *(f"Authorization: Bearer {_text(40)}" for _ in range(3)), f"authorization: bearer {_text(20)}.{_text(20)}", "Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==",
]  # fmt: skip
PASSWORDS = [
    "password=hunter2x", "password: s3cr3t-pa55", 'PASSWORD = "Tr0ub4dor&3"', "passwd=abc12345", "pwd: q1w2e3r4", '"api_key": "0a1b2c3d4e5f"',
    "API-KEY=zz9-plural-z", "secret=my-secret-1", "client_secret: 9f8e7d6c5b", "DB_PASSWORD=pr0duction", "access_token=abcdef123456",
    "auth-token: x1y2z3w4v5", "postgres://admin:pa55word@db.invalid/x", "redis://:pass9999@cache.invalid", "token=1234567890abcdef", "secret_key = 'abc123def456'",
]  # fmt: skip
EMAILS = [
    "jane.doe@example.org", "a.b+c@sub.example.co.uk", "x_y-z@example.com", "JOHN@EXAMPLE.COM", "1234@example.net", "info@example.museum",
    "first.last@example-site.org", "me@mail.example.io", "o@example.org", "mail to bob@example.org, please", "(eve@example.org)", "<tom@example.org>",
]  # fmt: skip
PHONES = [
    "+1 555 0100", "+1 555 010 0199", "+44 20 7946 0958", "+49-30-901820", "+33 1 23 45 67 89", "+972 50 123 4567", "+15550100123",
    "+1 (555) 010-0199", "+91 98765 43210", "+81-3-1234-5678", "Call +7 495 123 45 67 now", "tel:+34 912 345 678",
]  # fmt: skip
CARDS = [
    "4111 1111 1111 1111", "5500-0000-0000-0004", "3782 822463 10005", *(_card("4", 16) for _ in range(5)), *(_card("52", 16) for _ in range(3)), _card("37", 15), _card("6011", 16),
]  # fmt: skip
KEY_BLOCKS = [_key_block(kind) for kind in ("", "RSA ", "EC ", "OPENSSH ", "DSA ")] + [
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhki"
]

PLANTED = [
    *(("api key", text) for text in API_KEYS),
    *(("token", text) for text in TOKENS),
    *(("password", text) for text in PASSWORDS),
    *(("email", text) for text in EMAILS),
    *(("phone", text) for text in PHONES),
    *(("card", text) for text in CARDS),
    *(("private key", text) for text in KEY_BLOCKS),
]

CLEAN = [
    "1234567890123456", "1111 2222 3333 4444", "3.14159265358979323846", "2^64 = 18446744073709551616", "4 + 5551234567", "3 +15551234567", "x +15551234567",
    "(a) +1 555 0100", "5 @ 3", "a@b", "f@g(x)", "sk-learn", "The secret is to factor.", "The password has 4 digits: 0 to 9 each.", "token: a word", "tokens = 5 + 3",
    "secret: $x = 5$", "password = \\frac{1}{2}", "bearer of news", "4111 1111 1111 1112", "1000 2000 3000 4000", "0000 0000 0000 0000", "12 345 678", "$4,111,111",
    "4 8 15 16 23 42", "a+1", "2 +3 +4", "+5", "1 +2 345 678 - 9", "eyJ", "AKIA", "e^{i\\pi}+1=0", "AB@CD is an angle", "step-by-step-000000000000", "1-800 ways",
]  # fmt: skip
