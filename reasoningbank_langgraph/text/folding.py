"""How a text looks to a reader, or to a tokeniser that normalises: the view in which forged structure is searched.

The text itself is never folded; only what a pattern finds in the folded view is changed in the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cached_property, lru_cache, partial

from reasoningbank_langgraph.text.lookalikes import LOOKALIKES

_FOLDED = {look: plain for plain, looks in LOOKALIKES.items() for look in looks}

# Squared, circled and stroked letters that normalisation leaves alone say in their names what they are.
_LETTER = re.compile(r"\b(?:LATIN|SYMBOL)(?: (?:CAPITAL|SMALL))? LETTER (?:SMALL CAPITAL )?([A-Z])(?: WITH .*)?$")
_PLAIN = re.compile(r"[\n\t -~]*")

Original = Callable[[str], str]
"""Gives what stands in the original where a group of the match was found in the view."""


class Folded:
    """The folded view of a text, and for each of its characters the place in the original.

    Args:
        text: the original.
        by: what a character becomes in the view; printable ASCII stays as it is.
    """

    def __init__(self, text: str, by: Callable[[str], str] | None = None) -> None:
        self.text, self._by = text, by or fold
        plain = _PLAIN.fullmatch(text) is not None
        pieces = [text] if plain else [self._by(char) for char in text]
        self.view = "".join(pieces)
        self._places = None if plain else [place for place, piece in enumerate(pieces) for _ in piece]

    @cached_property
    def small(self) -> str | None:
        """The view in small letters; None if it is not ASCII."""
        return self.view.lower() if self.view.isascii() else None

    def replace(self, pattern: re.Pattern[str], replacement: Callable[[re.Match[str], Original], str | None]) -> Folded:
        """Return the original with every place whose view matches replaced, as a folded text again.

        Args:
            pattern: what is searched in the view.
            replacement: what to write for a match of the view, or None to leave it.
        """
        pieces: list[str] = []
        position = 0
        for found in pattern.finditer(self.view):
            start, end = self._span(found, 0)
            new = replacement(found, partial(self._original, found))
            if start >= position and new is not None:
                pieces += [self.text[position:start], new]
                position = end
        return Folded("".join([*pieces, self.text[position:]]), self._by) if pieces else self

    def _original(self, found: re.Match[str], group: str) -> str:
        return self.text[slice(*self._span(found, group))]

    def _span(self, found: re.Match[str], group: str | int) -> tuple[int, int]:
        start, end = found.span(group)
        if self._places is None:
            return start, end
        return self._places[start], self._places[end - 1] + 1


@lru_cache(maxsize=8192)
def fold(char: str) -> str:
    """Return one character as NFKD, look-alikes as what they look like, marks and joiners left out; case stays."""
    if look := _FOLDED.get(char) or _FOLDED.get(char.casefold()):
        return look
    if letter := _LETTER.search(unicodedata.name(char, "")):
        return letter[1].lower() if char.islower() else letter[1]
    parts = unicodedata.normalize("NFKD", char)
    return "".join(_FOLDED.get(part, part) for part in parts if unicodedata.category(part) not in ("Mn", "Me", "Cf"))
