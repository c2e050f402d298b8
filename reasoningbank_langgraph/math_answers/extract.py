r"""The final answer in a model's reply.

Markers, strongest first: `\boxed{18}` or `\fbox{18}`, `#### 18`, and a line such as "The final answer is 18."
Every search is one pass over the text, so a hostile reply costs no more than a long one.
"""

from __future__ import annotations

import re

from reasoningbank_langgraph.math_answers.announced import announced, without_emphasis
from reasoningbank_langgraph.math_answers.boxes import last_boxed
from reasoningbank_langgraph.math_answers.found import ExtractedAnswer, is_blank

_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_HASHES = re.compile(r"^[ \t]*####[ \t]*(\S.*)$", re.MULTILINE)
_NUMERIC = re.compile(r"[-+$]{0,3}(?:\\\$)?\.?\d[\d,./]{0,60}\\?%?")
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
    return _marked(spoken) or announced(spoken) or ExtractedAnswer(None, "no_marker")


def _marked(text: str) -> ExtractedAnswer | None:
    """The last box, or what stands behind hashes; an announcement behind it with nothing in it takes it back."""
    box = last_boxed(text)
    if box is None:
        return _hashes(text)
    if box.content is None:
        return ExtractedAnswer(None, "truncated")
    behind = text[box.end :]
    if not box.content:
        return _hashes(behind) or announced(behind) or ExtractedAnswer(None, "empty")
    statement = announced(behind)
    return statement if statement and statement.reason else ExtractedAnswer(box.content, None)


def _without_thinking(reply: str) -> str | None:
    """Drop thinking; None when the reply ends while thinking. A closing tag without an opening one opens at 0."""
    parts: list[str] = []
    position, thinking = 0, False
    for tag in _THINK.finditer(reply):
        closes = bool(tag[1])
        if closes and not thinking:
            parts.clear()
        elif not closes and not thinking:
            parts.append(reply[position : tag.start()])
        thinking = not closes
        position = tag.end()
    return None if thinking else "".join(parts) + reply[position:]


def _hashes(text: str) -> ExtractedAnswer | None:
    """GSM8K's `#### 18`. A Markdown heading looks the same, so words count only on the reply's last line."""
    last_line = text.rstrip().rpartition("\n")[2].strip()
    if last_line.startswith("####") and is_blank(last_line.lstrip("#")):
        return ExtractedAnswer(None, "empty")
    for found in reversed(_HASHES.findall(text)):
        content = found.strip()
        if _NUMERIC.fullmatch(content):
            return ExtractedAnswer(content, None)
        if last_line.endswith(content) and len(content) <= _ANSWER_CAP:
            return announced(content) or ExtractedAnswer(without_emphasis(content), None)
    return None
