"""Which spelled-out numbers count: small ones are everywhere ("two steps"), and seldom an answer."""

from __future__ import annotations

from collections.abc import Sequence

SMALL = 10
"""Up to this, a number in words counts only behind a word that announces a result."""
_ANNOUNCE = (
    "= answer answers result results total sum difference product quotient remainder equal equals gives gave makes "
    "made leaves get gets"
)
_ANNOUNCING = frozenset(_ANNOUNCE.split())
_LINKS = frozenset(["is", "are", "was", "be", "of", "to", "as", ":", "comes", "only", "exactly", "just"])


def is_announced(before: Sequence[str]) -> bool:
    """Say whether words announce a result: "the total comes to", with up to two words between."""
    words = [word for word in before[-8:] if word.isalpha() or word in "=:"]
    for word in words[:-4:-1]:
        if word in _ANNOUNCING or word not in _LINKS:
            return word in _ANNOUNCING
    return False
