r"""One spelling for the many ways to write the same symbol.

Unicode becomes LaTeX or ASCII, the several fraction macros become `\frac`, spacing and delimiters go.
"""

from __future__ import annotations

import re
import unicodedata

_SYMBOLS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ",
    "•": r"\cdot ", "✕": r"\times ", "✖": r"\times ",
    "÷": r"\div ", "∕": "/", "⁄": "/", "∗": "*", "π": r"\pi ", "∞": r"\infty ", "≤": "<=", "≥": ">=", "⩽": "<=",
    "⩾": ">=", "≠": "!=", "∪": r"\cup ", "∅": r"\emptyset ", "∈": r"\in ", "°": r"^\circ ", "º": r"^\circ ",
    "±": r"\pm ", "√": r"\sqrt ", "∛": r"\sqrt[3]", "ℝ": r"\mathbb{R}", "θ": r"\theta ", "α": r"\alpha ",
    "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ", "μ": r"\mu ", "φ": r"\phi ", "ω": r"\omega ", "…": r"\ldots ",
    "’": "'", "‘": "'", "“": '"', "”": '"', "€": r"\euro ", "£": r"\pound ", "′": "'",
}  # fmt: skip
_FRACTIONS = {"½": "12", "⅓": "13", "⅔": "23", "¼": "14", "¾": "34", "⅕": "15", "⅖": "25", "⅗": "35", "⅘": "45",
              "⅙": "16", "⅚": "56", "⅛": "18", "⅜": "38", "⅝": "58", "⅞": "78"}  # fmt: skip
_TABLE = str.maketrans(_SYMBOLS | {sign: rf"\frac{{{pair[0]}}}{{{pair[1]}}}" for sign, pair in _FRACTIONS.items()})
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISED_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_LOWERED_RUN = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_ROOT_RUN = re.compile(r"√\s*(\d+)")
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
                        "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]")  # fmt: skip

# a comma between digit groups that LaTeX marks as no list separator: {,} \!, ,\! or a thin space
_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|\\!,|,\\!|\\,)(?:\\!)?(?=\d{3}(?!\d))")
_SPACED = re.compile(r"[-+]?\d{1,3}(?:[ ~]\d{3})+(?:\.\d+)?")
_SPACING = re.compile(r"(?<!\\)\\[,;:!> ]|~|\\q?quad(?![A-Za-z])"
                      r"|\\(?:left|right|big|Big|bigg|Bigg)[lrm]?(?![A-Za-z])\.?"
                      r"|\\(?:displaystyle|textstyle|limits|hspace\{[^{}]*\})(?![A-Za-z])")  # fmt: skip
_ALIASES = [
    (re.compile(r"\\[dtc]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\[dt]binom(?![A-Za-z])"), r"\\binom"),
    (re.compile(r"\\(?:lbrace)(?![A-Za-z])"), r"\\{"),
    (re.compile(r"\\(?:rbrace)(?![A-Za-z])"), r"\\}"),
    (re.compile(r"\\(?:leqslant|leq|le)(?![A-Za-z])"), "<="),
    (re.compile(r"\\(?:geqslant|geq|ge)(?![A-Za-z])"), ">="),
    (re.compile(r"\\(?:neq|ne)(?![A-Za-z])"), "!="),
    (re.compile(r"\\lt(?![A-Za-z])"), "<"),
    (re.compile(r"\\gt(?![A-Za-z])"), ">"),
    (re.compile(r"\\(?:lvert|rvert|vert|mid)(?![A-Za-z])"), "|"),
    (re.compile(r"\\(?:varnothing)(?![A-Za-z])"), r"\\emptyset"),
    (re.compile(r"\{(?::)\}"), ":"),
    (re.compile(r"\\colon(?![A-Za-z])"), ":"),
    (re.compile(r"\^\s*\{\s*\\circ\s*\}"), r"^\\circ "),
    (re.compile(r"\\degree(?![A-Za-z])"), r"^\\circ "),
    (re.compile(r"(?<=\d)\s*(?:[xX]|times|\\(?:text|mathrm)\{\s*[xX]\s*\})\s*(?=10\s*(?:\^|\*\*))"), r"\\times "),
    (re.compile(r"\bper cent\b"), "percent"),
    (re.compile(r"(?<=\d)\s*\\frac\{\\text\{([A-Za-z ]+)\}\}\{\\text\{([A-Za-z ]+)\}\}"), r"\\text{\1/\2}"),
]
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{(.*)\}", re.DOTALL)
_FORMULA = re.compile(r"(?<![\\\d])\$([^\s$](?:[^$]*[^\s$\\])?)\$(?!\d)|(?<!\\)\\\(([^$]*?)(?<!\\)\\\)")
"""A formula among words, `$18$ dollars`; `$5 and $6` are two prices, and `\\left\\(` no delimiter."""
_DELIMITERS = [("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")]


def tidy(text: str) -> str:
    """Return the answer in the one spelling that the lexer knows."""
    text = in_ascii(text).strip()
    text = _undelimited(text)
    if r"\left" not in text:
        text = _FORMULA.sub(r"\1\2", text)
    if _SPACED.fullmatch(text):
        text = re.sub("[ ~]", "", text)
    text = _SPACING.sub(" ", ungrouped(text))
    for pattern, spelling in _ALIASES:
        text = pattern.sub(spelling, text)
    return text.strip().removesuffix(".").strip()


def ungrouped(text: str) -> str:
    r"""Take out what only groups digits: `1{,}000` is 1000."""
    return _GROUPED.sub("", text)


def in_ascii(text: str) -> str:
    """Write signs and digits of all scripts in ASCII and LaTeX, and leave out what cannot be seen."""
    text = _INVISIBLE.sub("", text)
    text = _ROOT_RUN.sub(r"\\sqrt{\1}", text)
    text = _RAISED_RUN.sub(lambda run: "^{" + run[0].translate(_RAISED) + "}", text)
    text = _LOWERED_RUN.sub(lambda run: "_{" + run[0].translate(_LOWERED) + "}", text)
    text = unicodedata.normalize("NFKC", text.translate(_TABLE))
    return "".join(map(_digit, text))


def _digit(char: str) -> str:
    value = unicodedata.decimal(char, None)
    return char if value is None else str(value)


def _undelimited(text: str) -> str:
    """Take away what only says "here is math": dollars around the whole, brackets, one box."""
    for _ in range(4):
        inner = _inner(text)
        if inner == text:
            break
        text = inner
    return text


def _inner(text: str) -> str:
    box = _BOX.fullmatch(text)
    if box and len(re.findall(r"\\(?:boxed|fbox)", text)) == 1 and _is_balanced(box[1]):
        return box[1].strip()
    for opening, closing in _DELIMITERS:
        inner = text[len(opening) : -len(closing)]
        if text.startswith(opening) and text.endswith(closing) and len(text) >= len(opening) + len(closing):
            return text if opening in inner or inner.endswith("\\") else inner.strip()
    return text


def _is_balanced(text: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", text, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0
