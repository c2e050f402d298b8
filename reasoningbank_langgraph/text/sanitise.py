r"""Takes from untrusted text what could pass for structure, and leaves words, mathematics and scripts alone.

What is taken is decided by Unicode properties and by the shape of markers, never by what the words mean: no filter of
words stops a well-worded wrong lesson. LaTeX, comparison signs, intervals, braces and the plain text of every script
come out byte for byte as they went in.
"""

from __future__ import annotations

import re

from reasoningbank_langgraph.text.folding import Folded
from reasoningbank_langgraph.text.markers import LEFTOVER, LINK, ROLE, TOKEN
from reasoningbank_langgraph.text.visible import split_lines, visible

LINK_REMOVED = "[link removed]"
_PASSES = 8
_LINE_BREAK = re.compile(r"[ \t]*\n\s*")
# Beside "!" or a bracket, our own mark would be an image or a link.
_MARK_EDGE = re.compile(r"!(?=\[link removed\])|\[link removed\](?=[(\[])")
_URL_TAIL = re.compile(r"[).,;:!?'\]}*_]+\Z")


def clean_text(text: str) -> str:
    """Return a text that is safe between fence lines. It keeps its lines; cleaning it again changes nothing."""
    return _without_structure(visible(split_lines(text)))


def clean_line(text: str) -> str:
    """Return a text as one safe line, without white space at its ends."""
    shown = visible(split_lines(text)).strip()
    return _without_structure(_LINE_BREAK.sub(" ", shown).replace("\t", " ")).strip()


def _without_structure(text: str) -> str:
    """Break markers until none is left, since breaking one may uncover another; deep nests lose their brackets."""
    for _ in range(_PASSES):
        cleaned = _break_once(text)
        if cleaned == text:
            return text
        text = cleaned
    return _break_once(_break_once(Folded(text).replace(LEFTOVER, lambda _: "")))


def _break_once(text: str) -> str:
    for pattern, mark in ((LINK, _link), (TOKEN, _token), (ROLE, _role)):
        text = Folded(text).replace(pattern, mark)
    return Folded(text).replace(_MARK_EDGE, lambda edge: edge[0] + " ")


def _link(found: re.Match[str]) -> str:
    """Name what was taken; punctuation that ended the sentence, not the address, stays."""
    tail = None if found[0][0] in "![<" else _URL_TAIL.search(found[0])
    return LINK_REMOVED + (tail[0] if tail else "")


def _token(found: re.Match[str]) -> str:
    """Write a special token as a word in round brackets, which no tokeniser takes for one."""
    if found["comment"]:
        return "-"
    if found["block"]:
        return "'''"
    if found["ours"]:
        return "--"
    name = next(value for value in found.groupdict().values() if value)
    return f"({' '.join(name.split())})"


def _role(found: re.Match[str]) -> str:
    """Put the role in round brackets; headings and quote marks before it are dropped."""
    name = found["role"] or found["heading"] or found["to"]
    start = re.match(r"\s*", found[0])
    return f"{start[0] if start else ''}({name})"
