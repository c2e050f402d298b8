r"""Backslashes in JSON that a model wrote: LaTeX commands stay commands, newlines stay newlines.

JSON reads `\frac` as a form feed and `rac`, `\times` as a tab and `imes`, and stops at `\sqrt`. A model that does not
double its backslashes means the command. Whether `\nu` is the Greek letter or a new line and a `u` is decided by a
table of command names, looked up with the whole run of letters that follows (`\nuse` is a new line and `use`).
"""

from __future__ import annotations

import re
from typing import Any

from reasoningbank_langgraph.parsing.status_words import word_set

# Commands whose first letter JSON takes for a control character; `\b` and `\f` are never meant as one.
_TAB_COMMANDS = word_set(
    """tag tan tanh tau tbinom text textbf textit textrm textsf textstyle texttt tfrac therefore theta thickapprox
    thickspace thinspace thicksim tilde times to top triangle triangleleft triangleright triangleq tt"""
)
_RETURN_COMMANDS = word_set(
    """raise rangle rbrace rbrack rceil relax rfloor rgroup rho right rightarrow rightarrowtail rightharpoonup
    rightleftharpoons rightrightarrows risingdotseq rm rmoustache root rtimes rule rvert"""
)
_NEWLINE_COMMANDS = word_set(
    """nabla natural ncong ne nearrow neg neq newline nexists ngeq ngeqslant ngtr ni nleftarrow nleq nleqslant nless
    nmid nobreak nolimits nonumber normalsize not notag notin nparallel nprec nrightarrow nsim nsubset nsubseteq nsucc
    nsupset nsupseteq nu nwarrow"""
)
# English words too: a new line and the rest of such a word is likelier outside mathematics.
_ALSO_WORDS = frozenset(
    {"not", "natural", "newline", "raise", "relax", "right", "root", "rule", "tag", "text", "to", "top"}
)
_COMMANDS = {"t": _TAB_COMMANDS, "r": _RETURN_COMMANDS, "n": _NEWLINE_COMMANDS}
_CONTROLS = {"\b": "b", "\f": "f", "\t": "t", "\r": "r", "\n": "n"}

_ESCAPE = re.compile(r"\\(\\|u[0-9a-fA-F]{4}|[^\\]|$)", re.DOTALL)
_LETTERS = re.compile(r"[A-Za-z]{1,24}")
_DOUBLED = re.compile(r"\\\\[A-Za-z]")
_SINGLE = re.compile(r"\\[A-Za-z]")
_CONTROL = re.compile(r"[\b\f\t\r\n]")


def double_latex(source: str) -> str:
    r"""Return JSON text in which every backslash that JSON would misread is doubled.

    Valid escapes stay as they are, so text from a careful writer (`\\frac`, `\n`) is unchanged.
    """
    careful = bool(_DOUBLED.search(source))

    def keep_or_double(found: re.Match[str]) -> str:
        escape = found[1]
        if escape == "'":  # no escape in JSON; models that quote with ' write it
            return "'"
        if escape in ("\\", '"', "/") or len(escape) == 5:
            return found[0]
        if escape in "nrt" and escape and not _is_command(source, found.end(), escape, found.start(), careful=careful):
            return found[0]
        return "\\" + found[0]

    return _ESCAPE.sub(keep_or_double, source)


def restore_latex(value: Any) -> Any:
    r"""Return decoded JSON with commands put back where a decoder made control characters of them.

    For arguments of tool calls, which arrive decoded. A text that holds `\command` already was written with care and
    keeps its newlines and tabs.
    """
    if isinstance(value, dict):
        return {restore_latex(key): restore_latex(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [restore_latex(inner) for inner in value]
    return _restore_text(value) if isinstance(value, str) else value


def _restore_text(text: str) -> str:
    careful = bool(_SINGLE.search(text))

    def command_or_control(found: re.Match[str]) -> str:
        letter = _CONTROLS[found[0]]
        if letter in "bf":
            command = _LETTERS.match(text, found.end()) is not None
        else:
            command = _is_command(text, found.end(), letter, found.start(), careful=careful)
        return "\\" + letter if command else found[0]

    return _CONTROL.sub(command_or_control, text)


def _is_command(text: str, after: int, letter: str, before: int, *, careful: bool) -> bool:
    """Say whether the letters from `after` on finish a LaTeX command that starts with `letter`."""
    rest = _LETTERS.match(text, after)
    name = letter + (rest[0] if rest else "")
    if name not in _COMMANDS[letter] or (careful and letter == "n"):
        return False
    if letter == "n" and before and text[before - 1] in ".:!?":  # the end of a sentence: a new line is meant
        return False
    following = text[after + len(name) - 1 : after + len(name) + 1]
    return name not in _ALSO_WORDS or not re.match(r" [A-Za-z]", following)
