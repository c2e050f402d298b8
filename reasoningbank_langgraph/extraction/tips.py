"""A short tip in plain text as a lesson: a weak model writes the words, and its three texts are found by code."""

from __future__ import annotations

import re

from reasoningbank_langgraph.parsing import ParsedItems
from reasoningbank_langgraph.parsing.replies import looks_like_refusal, read_reply

LONGEST_TIP, MOST_SENTENCES = 700, 5
"""A tip of more characters or sentences is asked for once more."""
_LEAD = re.compile(
    r"(?:(?:sure|certainly|here)\b[^\n:]{0,80}:\s*)?[\"“*\s]*(?:(?:short |quick )?tip[*\s]*:[\"“*\s]*)?", re.IGNORECASE
)
_LIST_MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?][\"”)]?(?=\s|$)")
_CONDITION = re.compile(r"(?:when(?:ever)?|if|for|to|in)\b", re.IGNORECASE)
_COMMA = re.compile(
    r",\s+(?!(?:and|or|but|such|like|including|which|where|each|with)\b|(?:an?|the)\b[^.,]*,\s*(?:and|or)\b"
    r"|[^\s.,]+(?:\s[^\s.,]+)?,\s*(?:and|or)\b)",
    re.IGNORECASE,
)
"""One that ends the condition, none of a list in it."""
_OPENING = re.compile(
    r"(?:when(?:ever)?|if|for|to|in)\s+(?:(?:a|an|the|any|you(?:['’]re)?|we|are|is|need|have|want|to|solv\w+|encounter\w*"
    r"|faced|with|given|math|word|problems?|questions?|tasks?|that|which|asks?|gives?|involv\w+|requires?|for|find(?:\s+out)?"
    r"|where|about)\s+)*",
    re.IGNORECASE,
)
_TITLE_WORDS = 12
_BREAKS = frozenset(["after", "and", "based", "before", "by", "from", "given", "into", "on", "or", "than", "that",
    "using", "when", "where", "which", "with"])  # fmt: skip
"""Words with which a part begins that a title can do without."""
_NO_ENDING = _BREAKS | frozenset(["a", "an", "as", "at", "each", "for", "in", "is", "it", "of", "per", "some", "the",
    "their", "to", "you"])  # fmt: skip


def parse_tip(reply: object) -> ParsedItems:
    """Read a tip such as "When a problem asks for ..., do ...": what it is for, what to do, and a title from its words.

    Returns:
        One item, or why there is none: `truncated` for a tip that breaks off, `unparsed` for one that is too long or
        does not say when it applies.
    """
    read = read_reply(reply)
    lines = _LIST_MARK.sub("", _LEAD.sub("", read.text.strip(), count=1))
    text = " ".join(lines.replace("**", "").split()).strip('"“”` ')
    if read.ending == "error":
        return ParsedItems([], "error")
    if read.refused or looks_like_refusal(text):
        return ParsedItems([], "refused")
    if not text:
        return ParsedItems([], "empty")
    if read.ending == "length" or read.cut or not _SENTENCE_END.search(text[-2:]):
        return ParsedItems([], "truncated", truncated=True)
    parts = _when_and_what(text)
    if parts is None or len(text) > LONGEST_TIP or len(_SENTENCE_END.findall(text)) > MOST_SENTENCES:
        return ParsedItems([], "unparsed")
    when, what = parts
    return ParsedItems(
        [{"title": _title(when), "description": f"Use this {when[0].lower()}{when[1:]}.", "content": what}]
    )


def _when_and_what(text: str) -> tuple[str, str] | None:
    """Divide at the comma after the condition, else after the first sentence; what to do has four words and more."""
    if not _CONDITION.match(text):
        return None
    first = _SENTENCE_END.search(text)
    end = first.start() if first else len(text)
    for comma in _COMMA.finditer(text, 0, end):
        what = text[comma.end() :]
        if len(text[comma.end() : end].split()) >= 3:
            return text[: comma.start()], what[0].upper() + what[1:]
    what = text[end + 1 :].strip()
    return (text[:end], what) if len(what.split()) >= 3 else None


def _title(when: str) -> str:
    """Return the first few words of the condition that say something, without a part that has no room."""
    words = (_OPENING.sub("", when, count=1) or when).split()
    if len(words) > _TITLE_WORDS:
        begins = [word.startswith("(") or word.casefold() in _BREAKS for word in words[:_TITLE_WORDS]]
        breaks = [place for place, is_break in enumerate(begins) if is_break and place > 2]
        words = words[: max(breaks, default=_TITLE_WORDS)]
    while len(words) > 1 and words[-1].strip(",;:").casefold() in _NO_ENDING:
        words.pop()
    title = " ".join(words).rstrip(",;:")
    return title[0].upper() + title[1:]
