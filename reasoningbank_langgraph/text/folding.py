"""How a text looks to a reader, or to a tokeniser that normalises: the view in which forged structure is searched.

The text itself is never folded; only what a pattern finds in the folded view is changed in the original.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

# Characters drawn like ASCII ones, which NFKC leaves alone; letters in lower case.
_LOOKALIKES = {
    "a": "аαɑᴀ", "b": "вʙβ", "c": "сϲᴄᴐ", "d": "ԁᴅ", "e": "еεᴇ", "f": "ꜰ", "g": "ɡɢց", "h": "һнʜհη", "i": "іιıɪӏ",
    "j": "јᴊ", "k": "кκᴋ", "l": "ʟ", "m": "мμᴍ", "n": "пνɴո", "o": "оοօᴏ", "p": "рρᴘ", "q": "ԛ", "r": "гʀ", "s": "ѕꜱ",
    "t": "тτᴛ", "u": "υսᴜ", "v": "ѵᴠ", "w": "ԝᴡω", "x": "хχ", "y": "уγʏ", "z": "ζᴢ",
    "<": "‹〈⟨ᐸ˂❮❰", ">": "›〉⟩ᐳ˃❯❱", "|": "│∣❘┃ǀ", "_": "▁ˍ‗", "/": "⁄∕⧸╱", ":": "꞉∶ː։׃", "`": "ˋ‵՝",
    "#": "♯", "=": "═꓿", "~": "∼〜˜", "[": "⟦〔", "]": "⟧〕", ".": "。․", "-": "‐‑‒–—−", "!": "ǃ",
}  # fmt: skip
_FOLDED = {look: plain for plain, looks in _LOOKALIKES.items() for look in looks}


class Folded:
    """The folded view of a text, and for each of its characters the place in the original."""

    def __init__(self, text: str) -> None:
        self.text = text
        pieces = [text.lower()] if text.isascii() else [_fold(char) for char in text]
        self.view = "".join(pieces)
        self._places = None if text.isascii() else [place for place, piece in enumerate(pieces) for _ in piece]

    def replace(self, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> str:
        """Return the original with every place whose view matches replaced; the match is one of the view."""
        pieces: list[str] = []
        position = 0
        for found in pattern.finditer(self.view):
            start, end = self._place(found.start()), self._place(found.end() - 1) + 1
            if start >= position:
                pieces += [self.text[position:start], replacement(found)]
                position = end
        return "".join([*pieces, self.text[position:]])

    def _place(self, index: int) -> int:
        return index if self._places is None else self._places[index]


@lru_cache(maxsize=8192)
def _fold(char: str) -> str:
    """One character as NFKD and lower case, look-alikes as what they look like, marks and joiners left out."""
    folded = unicodedata.normalize("NFKD", _FOLDED.get(char, char).casefold()).casefold()
    return "".join(_FOLDED.get(part, part) for part in folded if unicodedata.category(part) not in ("Mn", "Me", "Cf"))
