r"""Removes from untrusted text what could pass for structure, and leaves words, mathematics and scripts alone.

What is removed is decided by Unicode properties and by the shape of markers, never by what the words mean: no filter
of words stops a well-worded wrong lesson. LaTeX, comparison signs, intervals, braces and the plain text of every script
come out byte for byte as they went in.
"""

from __future__ import annotations

import re

from reasoningbank_langgraph.text.folding import Folded, Original
from reasoningbank_langgraph.text.markers import FENCE, LEFTOVER, LINK, TOKEN
from reasoningbank_langgraph.text.roles import ROLE, disarm_role
from reasoningbank_langgraph.text.visible import split_lines, without_invisible

LINK_REMOVED = "[link removed]"
_PASSES = 8
# Beside "!" or a bracket, our own mark would be an image or a link.
_MARK_EDGE = re.compile(r"!(?=\[link removed\])|\[link removed\](?=[(\[])")
_SENTENCE_END = ").,;:!?'\\]}*_"


def clean_text(text: str) -> str:
    """Return a text that is safe between fence lines. It keeps its lines; cleaning it again changes nothing."""
    return _without_structure(without_invisible(split_lines(text)))


def clean_line(text: str) -> str:
    """Return a text as one safe line, without white space at its ends."""
    lines = without_invisible(split_lines(text)).split("\n")
    return _without_structure(" ".join(filter(None, map(str.strip, lines))).replace("\t", " ")).strip()


def _without_structure(text: str) -> str:
    """Break markers until none is left, since breaking one may uncover another; deep nests lose their brackets."""
    folded = Folded(text)
    for _ in range(_PASSES):
        cleaned = _break_once(folded)
        if cleaned is folded:
            return folded.text
        folded = cleaned
    return _break_once(_break_once(folded.replace(LEFTOVER, lambda *_: ""))).text


def _break_once(folded: Folded) -> Folded:
    for pattern, mark in ((LINK, _link), (TOKEN, _token), (FENCE, _fence), (ROLE, disarm_role), (_MARK_EDGE, _edge)):
        folded = folded.replace(pattern, mark)
    return folded


def _link(found: re.Match[str], _: Original) -> str:
    """Name what was taken; punctuation that ended the sentence, not the address, stays."""
    bare = found[0] if found[0][0] in "![<" else found[0].rstrip(_SENTENCE_END)
    return LINK_REMOVED + found[0][len(bare) :]


def _token(found: re.Match[str], original: Original) -> str | None:
    """Write a special token as a word in round brackets, which no tokeniser takes for one."""
    if found["generic"] and original("generic").isascii():
        return None
    if found["comment"] or found["odd"]:
        return "-"
    if found["block"]:
        return "'''"
    name = next(value for value in found.groupdict().values() if value)
    return f"({' '.join(name.lower().strip('<>').split())})"


def _fence(found: re.Match[str], original: Original) -> str | None:
    """Take the bars from a line that looks like one of a fence."""
    return f"--{original('word')}" if found["word"] and found["ours"].count("=") > 2 else None


def _edge(found: re.Match[str], _: Original) -> str:
    return found[0] + " "
