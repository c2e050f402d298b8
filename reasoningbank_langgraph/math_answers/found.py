"""What is found in a reply: its final answer, or why there is none."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from reasoningbank_langgraph.math_answers.spelling import tidy

Missing = Literal["truncated", "empty", "no_marker"]
"""Why a reply has no final answer. `truncated`: it breaks off; `empty`: it says nothing, or nothing where its answer
should stand; `no_marker`: nothing in it is marked as the answer."""


class ExtractedAnswer(NamedTuple):
    """The answer of a reply, or why there is none."""

    text: str | None
    """The answer as written, without its marker; None when `reason` is set."""
    reason: Missing | None


_NOTHING = re.compile(r"(?:\\(?:text[a-z]*|mbox|math[a-z]+|operatorname|underline|boxed|fbox|rm|bf|[lc]?dots)"
                      r"(?![A-Za-z])|(?<!\\)[{}$]|[\s.?!_*:])*")  # fmt: skip
_LONGEST_NOTHING = 300


def is_blank(text: str) -> bool:
    r"""Whether an answer holds no more than wrappers, blanks and dots: `\text{ }`, `\,`, `...`, `?`."""
    text = text.strip()
    return not text or (len(text) <= _LONGEST_NOTHING and _NOTHING.fullmatch(tidy(text)) is not None)
