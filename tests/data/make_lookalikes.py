"""Writes `reasoningbank_langgraph/text/lookalikes.py` from Unicode's own table of look-alikes.

    python -m tests.data.make_lookalikes confusables.txt

The table is https://www.unicode.org/Public/security/latest/confusables.txt (UTS 39).
"""

import sys
import unicodedata
from pathlib import Path

TARGET = Path(__file__).parents[2] / "reasoningbank_langgraph" / "text" / "lookalikes.py"
PLAIN = "!#-./:<=>[]_`|~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Drawn alike in common fonts, which the table does not say, or says of something else that looks like them too.
DRAWN = {
    "b": "вʙβ", "c": "ᴄ", "d": "ԁᴅ", "e": "ᴇ", "f": "ꜰ", "g": "ց", "h": "нʜհη", "j": "ᴊ", "k": "кᴋ", "l": "ʟ",
    "m": "мᴍμ",
    "n": "пνɴո", "o": "օᴏ", "p": "ᴘ", "r": "гʀ", "t": "тᴛτ", "u": "υսᴜ", "v": "ѵᴠ", "w": "ԝᴡω",
    "x": "χ", "y": "γʏ", "z": "ζᴢ", "I": "ΙІⲒӀ", "i": "ıɪιӏ",
    "<": "〈⟨˂❰«≺", ">": "〉⟩˃❱»≻", "|": "│∣❘┃ǀ⏽׀ߊ￨¦╎┆┊▏▕⎮⏐।", "_": "▁ˍ‗", "/": "⧸╱", ":": "։", "`": "ˋ‵՝", "#": "♯",
    "=": "═≡", "~": "∼〜", "[": "⟦〔", "]": "⟧〕", ".": "。", "-": "—", "!": "ǃ",
}  # fmt: skip
HEAD = '''"""Characters that are drawn like ASCII ones, in every script: made by `tests/data/make_lookalikes.py`.

From Unicode's table of look-alikes (UTS 39), without those that NFKD takes to ASCII anyway.
"""

# fmt: off
LOOKALIKES = {
'''


def needed(char, drawn):
    """Say whether a look-alike has to be listed: digits are not, nor the strokes of ideographs that dashes resemble."""
    kind = unicodedata.category(char)
    if kind in ("Nd", "Cn") or (drawn in "-/" and kind in ("Lm", "Lo", "So")):
        return False
    return unicodedata.normalize("NFKD", char) != drawn and unicodedata.normalize("NFKD", char) not in PLAIN


def pairs(lines):
    """Yield each look-alike with the single ASCII character it is drawn like."""
    for line in lines:
        fields = [field.strip() for field in line.partition("#")[0].split(";")]
        if len(fields) == 3 and " " not in fields[0] + fields[1]:
            char, drawn = (chr(int(field, 16)) for field in fields[:2])
            if drawn in PLAIN and needed(char, drawn):
                yield char, drawn


def table(lines):
    """Return the look-alikes of each ASCII character; what is drawn like it in common fonts counts first."""
    found = {look: char for char, looks in DRAWN.items() for look in looks}
    for char, drawn in pairs(lines):
        found.setdefault(char, drawn)
    shapes = {look: unicodedata.normalize("NFKD", look) for look in found}
    kept = [look for look, shape in shapes.items() if shape == look or found.get(shape) != found[look]]
    return {char: "".join(look for look in kept if found[look] == char) for char in PLAIN}


def main(source):
    """Write the module."""
    looks = table(Path(source).read_text(encoding="utf-8-sig").splitlines())
    rows = [f'    "{char}": "{found}",' for char, found in looks.items() if found]
    TARGET.write_text(HEAD + "\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
