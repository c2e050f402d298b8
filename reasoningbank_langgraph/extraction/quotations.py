"""Lessons that the text of an attempt contains: a task, a web page or a tool's output must not write lessons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from reasoningbank_langgraph.messages import well_formed
from reasoningbank_langgraph.records import Attempt
from reasoningbank_langgraph.text.folding import Folded

_ESCAPE = re.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|[bfnrt])")
"""At any depth of JSON within JSON. LaTeX commands that begin alike lose a letter, in a lesson as in the texts."""
_LETTERS = re.compile(r"[\W_]+")
_CONTENT_NAMES = ("content", "text", "lesson", "body", "insight", "strategy", "details")
_TITLE_NAMES = ("title", "name", "heading", "item", *map(str, range(1, 10)))
_DISTINCT = 24
"""Letters of a content that does not recur by coincidence, whatever its title."""


class Quotations:
    """The texts of attempts as they look to a reader: letters and digits only, folded, with JSON's escapes undone.

    Args:
        attempts: all at one task.
    """

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        text = "\n".join(part for attempt in attempts for part in _parts(attempt))
        self._views = {_folded(view) for view in (text, _unescaped(text))}

    def contain(self, item: Mapping[str, str]) -> bool:
        """Say whether the texts contain an item as such, in JSON or Markdown.

        Its content has to follow a name such as `content` there and, if it is short, its title a name such as `title`.
        A lesson that only shares words or a sentence with the attempt is no quotation.
        """
        content, title = _folded(item["content"]), _folded(item["title"])
        return any(
            _named(view, _CONTENT_NAMES, content) and (len(content) >= _DISTINCT or _named(view, _TITLE_NAMES, title))
            for view in self._views
        )


def _named(view: str, names: Sequence[str], value: str) -> bool:
    return bool(value) and value in view and any(name + value in view for name in names)


def _parts(attempt: Attempt) -> Iterator[str]:
    yield attempt.task
    yield attempt.answer or ""
    for message in attempt.messages:
        yield message.text
        for call in message.tool_calls:
            yield json.dumps(call["args"])


def _unescaped(text: str) -> str:
    return well_formed(_ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text))


def _folded(text: str) -> str:
    return _LETTERS.sub("", Folded(_unescaped(text)).view.casefold())
