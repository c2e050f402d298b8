"""Any reply in JSON: the object that gives one field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reasoningbank_langgraph.parsing.json_objects import document, find_objects
from reasoningbank_langgraph.parsing.json_text import pairs_of
from reasoningbank_langgraph.parsing.quotes import stands_alone
from reasoningbank_langgraph.parsing.replies import read_reply


def answer_object(reply: object, field: str) -> dict[str, Any] | None:
    """Return the object in which a reply gives a field; None without one, and where two give it differently.

    Args:
        reply: a string or a LangChain `AIMessage`.
        field: the name of the field. Objects that leave it blank or null are passed over.
    """
    found: dict[str, Any] | None = None
    for value in _answers(reply):
        said = (str(inner) for key, inner in pairs_of(value) if key == field and inner is not None)
        given = {text for text in said if text.strip()}
        if len(given) > 1 or (given and found is not None and given != {str(found[field])}):
            return None
        found = value if given and found is None else found
    return found


def _answers(reply: object) -> Iterator[dict[str, Any]]:
    """Yield the document that a reply is, or the objects that stand for themselves in it."""
    read = read_reply(reply)
    whole = document(read.text)
    objects = find_objects(read.text).found if whole is None else []
    standing = [one.value for one in objects if not one.in_unread and stands_alone(read.text, one.start, one.end)]
    for value in [*read.calls, whole, *standing]:
        if isinstance(value, dict):
            yield value
