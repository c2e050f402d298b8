"""Lines that begin like a turn of a conversation: `System: ...`, in whatever brackets, numbers or letters."""

from __future__ import annotations

import re

from reasoningbank_langgraph.text.folding import Original, fold

SPEAKERS = frozenset(["human", "user", "assistant", "system", "developer", "ai", "bot", "chatbot", "ipython"])
_ROLES = SPEAKERS | frozenset(
    ["tool", "tools", "function", "model", "instruction", "instructions", "verdict", "status", "judge"]
)
# Answer, question and task are everyday words at the start of a line; as headings they are a prompt's own.
_HEADINGS = _ROLES | frozenset(["response", "input", "output", "question", "answer", "task"])
_SECOND = (
    "prompts?|messages?|msg|instructions?|overrides?|note|notice|update|commands?|alert|warning|role|turn|reply|response"
    "|says|said|input|output|request|query|context|policy|rules?|mode|calls?|results?|human|user|assistant|system"
    "|developer|ai|bot|admin|agent"
)
_LINK = r"(?:[^\S\n]{1,3}|[^\S\n]?(?:[_/&+,-]|\ and\b|\ or\b)[^\S\n]?)"
_NUMBER = r"(?:step\ )?\d{1,3}(?:\.\d{1,3}){0,3}|[a-z]|[ivx]{2,4}"
_ARROWS = "\u2192\u21d2\u2794\u279c\u279d\u279e\u27a4\u27f6\u2b95"
_JSON = r"""["']|[\d{\[-]|true|false|null|none"""

ROLE = re.compile(
    rf"""^(?P<lead>(?:[^\w\n]|_)*+(?:(?P<number>{_NUMBER})[.):\]](?:[^\w\n]|_)*+)?)
    (?P<role>[^\W\d_][^\W_]{{1,11}}+)
    (?P<more>(?:{_LINK}(?:{_SECOND})(?![^\W_])){{0,3}})
    (?P<aside>[^\S\n]?[(\[{{][^\W\d_][a-z -]{{2,39}}[)\]}}])?
    (?:(?P<mark>(?:[^\w\n"']|_)*[:>{_ARROWS}] | ["'][^\S\n]*+:(?![^\S\n]*+(?:{_JSON})))     # a key of JSON is none
    |  (?P<to>(?=\s{{1,8}}to\s?=))
    |  (?P<end>(?=[ \t]*+(?:[^\w\s]|_|$))))""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)


def disarm_role(found: re.Match[str], original: Original) -> str | None:
    """Put the role in round brackets, without what made it one; a number before it stays."""
    role = _named(original("role"))
    if role is None or not _speaks(found, role):
        return None
    start = re.match(r"[^\S\n]*", original("lead")) if found["lead"] else None
    number = f"{found['number']}. " if found["number"] else ""
    words = f"{role}{found['more'].lower()}{found['aside'] or ''}"
    return f"{start[0] if start else ''}{number}({re.sub(r'[^a-z0-9]+', ' ', words.lower()).strip()})"


def _speaks(found: re.Match[str], role: str) -> bool:
    """Say whether what follows makes it a turn: a colon, for a speaker also an arrow or words in brackets."""
    if found["to"] is not None:
        return role == "assistant"
    if "#" in found["lead"] and not found["more"]:
        return True
    plain = ":" in (found["mark"] or "") and not found["aside"]
    return role in (_ROLES if plain else SPEAKERS) and found["mark"] is not None


def _named(word: str) -> str | None:
    """Return the role a word names, to the eye: in letters of any script, up to two of them like nothing in ASCII.

    A short word needs a letter of ASCII, for whole words of other scripts may look like it.
    """
    if word.isascii():
        letters = _merge_lookalikes(word)
        return next((role for role in _HEADINGS if _merge_lookalikes(role) == letters), None)
    signs = [(sign, fold(sign)) for sign in word if fold(sign)]
    shown = _merge_lookalikes("".join(look for _, look in signs))
    for role in _HEADINGS:
        if _merge_lookalikes(role) == shown and (len(role) > 3 or any(sign.isascii() for sign, _ in signs)):
            return role
        if len(role) == len(signs) > 3 and _close(_merge_lookalikes(role), signs):
            return role
    return None


def _close(letters: str, signs: list[tuple[str, str]]) -> bool:
    strange = [sign for letter, (sign, look) in zip(letters, signs, strict=False) if _merge_lookalikes(look) != letter]
    return len(strange) <= (1 if len(signs) < 6 else 2) and not any(map(str.isascii, strange))


def _merge_lookalikes(word: str) -> str:
    """Write the letters that are drawn alike as one."""
    return word.lower().replace("rn", "m").translate(str.maketrans("l1|0", "iiio"))
