r"""Answers that a line or a heading announces: "The final answer is 18.", `### Final Answer` with 18 below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reasoningbank_langgraph.math_answers.found import ExtractedAnswer, Missing, is_blank

_WORTH_A_LOOK = re.compile(r"\bans\b|answer|result|solution", re.IGNORECASE)
_DRESS = re.compile(r"^(?:[>\s]|#{1,6}(?!#)|[-*+•](?=\s)|\(?\d{1,3}[.)](?=\s))*")
_TAG = re.compile(r"</?(?:b|i|u|em|strong|p|h[1-6])>|\\\\\s*$", re.IGNORECASE)
_MACRO = re.compile(r"\\(?:text[a-z]*|emph|underline|(?:sub)*section\*?|paragraph\*?|mathbf)\s*"
                    r"\{([^{}]{0,40}(?:answer|result|solution)[^{}]{0,10})\}", re.IGNORECASE)  # fmt: skip
_SYMBOL = re.compile("[\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]\\s*")
_DASH = re.compile(r"^((?:the\s+)?(?:final\s+)?answer)\s*(?:[-–—→]|=>)\s+(?=\S)", re.IGNORECASE)
_LABEL = re.compile(r"^(\*\*|__)([^*_]{0,30}answer)[.:]?\s*\1\s*(?=[^\s:*_=])(?!is\b)", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![\w)}])(?:\*{2,3}|_{2,3})(?=\S)|(?<=\S)(?:\*{2,3}|_{2,3})(?![\w({\\])")

_HEADING = re.compile(r"(?:step\s+\d{1,3}\s*[-:.)]\s*)?(?:(?:the|my|our|your)\s+)?(?:(final|correct|overall)\s+)?"
                      r"(answer|result|solution)\s*(?:\([^()]{1,30}\)?)?\s*[:.]?", re.IGNORECASE)  # fmt: skip
_SAYS = re.compile(r"\b(final\s{1,3})?ans(?:wer)?\b(?:\s?\([^()]{1,30}\)|,\s?(?:therefore|then|thus),)?[*_:\s]{0,6}"
                   r"(?:\bis\b|[:=]|\b(?:would|should|must)\s{1,3}be\b(?=[*_\s]{0,4}[-+$\\\d]))(?![A-Za-z])[*_:\s]{0,6}"
                   r"(?:(?:therefore|thus|then|simply|just)\s{1,3})?(.*)$", re.IGNORECASE)  # fmt: skip
_RULE = re.compile(r"[-=*_`]{3,}\w{0,10}|\$\$|\\[\[(\])]|\\(?:begin|end)\{\w{1,12}\*?\}")
_CAPTION = re.compile(r"^[\s*_]*[A-Za-z][A-Za-z ]{1,40}:[\s*_]+(?=\S)")
_SENTENCE_END = re.compile(r"[.!](?:\s+[A-Z].*)?$")
_CLAUSE = re.compile(r"[,;]?\s+(?:because|since|which|where|as|so)\s.*$", re.IGNORECASE)

_SPAN = re.compile(r"\*\*([^*]+)\*\*|__([^_]+)__|\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]")
_NUMBER = re.compile(r"(?<![\w.,/])[-+]?(?:\\?\$)?\d[\d,./]{0,40}(?<![.,/])\\?%?(?![\w/])")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z']{2,}")
_ASIDE = re.compile(r"\b(?:not|never|cannot|unable|unsure|unclear|sorry|see|above|below|follow(?:s|ing)?|let|first|step"
                    r"|we|(?-i:I)|you|here|idea|maybe)\b|n't\b|[?:]\s*$", re.IGNORECASE)  # fmt: skip
_END = re.compile(r"\\end\{\w{1,12}\*?\}\s*$")
_LINE_CAP = 400
_SENTENCE_CAP = 200
_ANSWER_CAP = 120
_MOST_WORDS = 3
"""Of a line that is nothing but an answer, units included."""


class _Announced(NamedTuple):
    answer: ExtractedAnswer
    is_final: bool


def announced(text: str) -> ExtractedAnswer | None:
    """Return the answer that is announced last; one that is called final outranks one that is not."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    plain: ExtractedAnswer | None = None
    for index in range(len(lines) - 1, -1, -1):
        found = _read(lines, index)
        if found is None:
            continue
        if found.answer.reason:
            return plain or found.answer
        if found.is_final:
            return found.answer
        plain = plain or found.answer
    return plain


def without_emphasis(text: str) -> str:
    """Drop Markdown's bold and code, and leave `2**3` alone."""
    return _EMPHASIS.sub("", text.replace("`", "")).strip("*_ \t")


def _read(lines: Sequence[str], index: int) -> _Announced | None:
    """What a line announces, on it or below it."""
    line = lines[index][-_LINE_CAP:]
    if not _WORTH_A_LOOK.search(line):
        return None
    line = _undressed(line)
    heading = _heading(line)
    statement = _SAYS.search(line)
    if heading:
        answer, is_final = _below(lines, index, "empty"), bool(heading[1])
    elif statement is None:
        return None
    elif statement[2].strip("*_ $"):
        answer, is_final = _on_the_line(statement[2], lines[index]), bool(statement[1])
    else:
        answer, is_final = (
            _below(lines, index, "empty" if line.endswith((":", "=", "$")) else "truncated"),
            bool(statement[1]),
        )
    return _Announced(answer, is_final) if answer else None


def _heading(line: str) -> re.Match[str] | None:
    found = _HEADING.fullmatch(line.strip("*_#()[]=~ "))
    return found if found and (found[1] or found[2].lower() == "answer") else None


def _undressed(line: str) -> str:
    """Drop what only decorates a label: bullets, numbers, hashes, bold, text macros."""
    line = _MACRO.sub(r"\1", _DRESS.sub("", _SYMBOL.sub("", _TAG.sub("", line))))
    return _DASH.sub(r"\1: ", without_emphasis(_LABEL.sub(r"\2: ", line)))


def _on_the_line(content: str, line: str) -> ExtractedAnswer | None:
    again = _SAYS.search(content)
    if again and not is_blank(again[2]):
        return _on_the_line(again[2], line)
    content = _closed(_CLAUSE.sub("", without_emphasis(content)))
    content = _SENTENCE_END.sub("", content).strip("*_ \t")
    if is_blank(content):
        return ExtractedAnswer(None, "empty")
    if len(content) > _ANSWER_CAP or content.lower().startswith("not "):
        return None
    values = [value for value in _spans(line) if not _WORTH_A_LOOK.search(value)]
    return ExtractedAnswer(values[0] if len(values) == 1 and _is_sentence(content) else content, None)


def _spans(line: str) -> list[str]:
    """What a line has in bold or as a formula, captions aside."""
    spans = (next(part.strip() for part in found.groups() if part is not None) for found in _SPAN.finditer(line))
    return [span for span in spans if not span.endswith(":")]


def _below(lines: Sequence[str], index: int, missing: Missing) -> ExtractedAnswer | None:
    """The answer on the next line that shows anything; None where that line gives none."""
    places = (place for place in range(index + 1, len(lines)) if not _RULE.fullmatch(lines[place]))
    place = next(places, None)
    if place is None:
        return ExtractedAnswer(None, missing)
    line = lines[place]
    if len(line) > _SENTENCE_CAP or _heading(_undressed(line)) or _SAYS.search(line):
        return None
    line = _CAPTION.sub("", _DRESS.sub("", _SYMBOL.sub("", _TAG.sub("", line))))
    answer = _stated(line, is_last=next(places, None) is None)
    return ExtractedAnswer(answer, None) if answer else None


def _stated(line: str, *, is_last: bool) -> str | None:
    """The answer a line consists of, or the one value that a sentence brings out or ends the reply with."""
    spans = _spans(line)
    value = _SENTENCE_END.sub("", _closed(without_emphasis(line))).strip("*_ \t")
    if is_blank(value) or _ASIDE.search(line):
        return None
    if not _is_sentence(value):
        return value if len(value) <= _ANSWER_CAP else None
    if len(spans) == 1:
        return spans[0]
    numbers = _NUMBER.findall(line)
    return numbers[0] if is_last and not spans and len(numbers) == 1 else None


def _is_sentence(value: str) -> bool:
    """Whether it is more than an answer: many words, or two before the number they are about."""
    number = _NUMBER.search(value)
    lead = _WORD.findall(value[: number.start()]) if number else []
    return len(_WORD.findall(value)) > _MOST_WORDS or len(lead) > 1


def _closed(text: str) -> str:
    r"""Drop the closing sign of a formula that began before the label: `\[ \text{Answer: } 5 \]`."""
    text = _END.sub("", text).strip()
    for opening, closing in ((r"\[", r"\]"), (r"\(", r"\)"), ("$$", "$$"), ("$", "$")):
        if text.endswith(closing) and opening not in text[: -len(closing)]:
            return text.removesuffix(closing).strip()
    return text
