"""The templates of the report: every text is escaped, unseen characters are named, and long texts are cut."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.errors import MissingDependencyError
from reasoningbank_langgraph.experiments.wording import conclusion, p_value, points

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 4000
"""Characters of one text that a page shows."""
# Controls, marks that turn or hide text, halves of characters, and code points that HTML forbids.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)


@cache
def environment() -> Environment:
    """Return the templates. Raises `MissingDependencyError` without Jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise MissingDependencyError("jinja2", "experiments") from error
    templates = Environment(
        loader=PackageLoader("reasoningbank_langgraph.experiments.report"),
        autoescape=True,
        finalize=_readable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"cut": cut, "digits": _digits, "digest": _digest, "base64": _base64}
    templates.globals |= {"points": points, "p_value": p_value, "conclusion": conclusion}
    return templates


def cut(text: object, limit: int = LONGEST) -> str:
    """Return a text with its unseen characters named, and cut with a note where it is too long."""
    whole = str(text).replace("\r\n", "\n")
    start = _UNSEEN.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", whole[:limit])
    rest = f" … ({len(whole) - limit:,} further characters are in texts.jsonl)" if len(whole) > limit else ""
    return start + rest


def _readable(value: Any) -> Any:
    """Cut everything that a template puts out, except HTML that a template made."""
    return value if hasattr(value, "__html__") else cut(value)


def _digits(number: float, places: int = 0) -> str:
    return f"{number:,.{places}f}"


def _digest(text: str) -> str:
    return "sha256-" + _base64(hashlib.sha256(text.encode()).digest())


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
