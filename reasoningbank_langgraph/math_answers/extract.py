r"""The final answer in a model's reply.

Markers, strongest first: `\boxed{18}` or `\fbox{18}`, `#### 18`, and a line such as "The final answer is 18."
Every search is one pass over the text, so a hostile reply costs no more than a long one.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Missing = Literal["truncated", "empty", "no_marker"]


class ExtractedAnswer(NamedTuple):
    """The answer of a reply, or why there is none."""

    text: str | None
    """The answer as written, without its marker; None when `reason` is set."""
    reason: Missing | None
    """`truncated`: the reply breaks off; `empty`: nothing but thinking or blanks; `no_marker`: no final answer."""


_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BARE = re.compile(r"\s*([-+]?[\w.,/%]+)")
_HASHES = re.compile(r"^[ \t]*####[ \t]*(\S.*)$", re.MULTILINE)
_NUMERIC = re.compile(r"[-+$]{0,3}(?:\\\$)?\.?\d[\d,./]{0,60}\\?%?")
_SAYS = re.compile(r"\b(final\s{1,3})?answer[*_:\s]{0,6}(?:\bis\b|[:=])(?![A-Za-z])[*_:\s]{0,6}(.*)$", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!](?:\s+[A-Z].*)?$")
_LINE_CAP = 400
_ANSWER_CAP = 120


def extract_answer(reply: str) -> ExtractedAnswer:
    r"""Find the answer a reply ends with.

    The last box wins. When the text breaks off inside the last box the reply is `truncated`, even if an earlier box
    is complete: the model had not finished. Text between `<think>` and `</think>` is not searched.

    Args:
        reply: What the model wrote, of any length.

    Returns:
        The answer, or the reason why there is none. Never raises.
    """
    spoken = _without_thinking(reply)
    if spoken is None:
        return ExtractedAnswer(None, "truncated")
    if not spoken.strip():
        return ExtractedAnswer(None, "empty")
    return _boxed(spoken) or _hashes(spoken) or _announced(spoken) or ExtractedAnswer(None, "no_marker")


def _without_thinking(reply: str) -> str | None:
    """Drop thinking; None when the reply ends while thinking. A closing tag without an opening one opens at 0."""
    kept: list[str] = []
    position, thinking = 0, False
    for tag in _THINK.finditer(reply):
        closes = bool(tag[1])
        if closes and not thinking:
            kept.clear()
        elif not closes and not thinking:
            kept.append(reply[position : tag.start()])
        thinking = not closes
        position = tag.end()
    return None if thinking else "".join(kept) + reply[position:]


def _boxed(text: str) -> ExtractedAnswer | None:
    boxes = list(_BOX.finditer(text))
    closing = _brace_pairs(text) if boxes else {}
    for rank, box in enumerate(reversed(boxes)):
        content = _box_content(text, box.end(), closing)
        if content is None and rank == 0:
            return ExtractedAnswer(None, "truncated")
        if content:
            return ExtractedAnswer(content, None)
    return None


def _brace_pairs(text: str) -> dict[int, int]:
    """Map each opening brace to its closing one; braces behind a backslash do not count."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            pairs[opened.pop()] = brace.start()
    return pairs


def _box_content(text: str, start: int, closing: dict[int, int]) -> str | None:
    """The text in a box that begins at `start`, blank if it holds nothing, None if it never closes."""
    brace = _skip_blanks(text, start)
    if brace == len(text):
        return None
    if text[brace] == "{":
        return text[brace + 1 : closing[brace]].strip() if brace in closing else None
    bare = _BARE.match(text, start)
    return bare[1].rstrip(".,") if bare else ""


def _skip_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _hashes(text: str) -> ExtractedAnswer | None:
    """GSM8K's `#### 18`. A Markdown heading looks the same, so words count only on the reply's last line."""
    last_line = text.rstrip().rpartition("\n")[2].strip()
    for found in reversed(_HASHES.findall(text)):
        content = found.strip()
        if _NUMERIC.fullmatch(content) or (last_line.endswith(content) and len(content) <= _ANSWER_CAP):
            return ExtractedAnswer(content, None)
    return None


def _announced(text: str) -> ExtractedAnswer | None:
    """A line that names its answer; one that says "final" outranks one that does not."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    plain: ExtractedAnswer | None = None
    for index in range(len(lines) - 1, -1, -1):
        found = _SAYS.search(lines[index][-_LINE_CAP:])
        if found:
            following = lines[index + 1] if index + 1 < len(lines) else ""
            answer = _announcement(found[2] or following)
            if found[1] and answer:
                return answer
            plain = plain or answer
    return plain


def _announcement(content: str) -> ExtractedAnswer | None:
    if not content:
        return ExtractedAnswer(None, "truncated")
    content = _SENTENCE_END.sub("", content[:_LINE_CAP].strip("*_ \t")).strip("*_ \t")
    if not content or len(content) > _ANSWER_CAP or content.lower().startswith("not "):
        return None
    return ExtractedAnswer(content, None)
