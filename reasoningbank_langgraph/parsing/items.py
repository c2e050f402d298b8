"""An extractor's reply as memory items: whole ones only, as the model worded them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from reasoningbank_langgraph.parsing.escapes import restore_latex
from reasoningbank_langgraph.parsing.objects import Found, Objects, find_objects, walk
from reasoningbank_langgraph.parsing.replies import Reply, looks_refused, read_reply
from reasoningbank_langgraph.parsing.words import is_placeholder
from reasoningbank_langgraph.records import has_visible_text

ItemsReason = Literal["unparsed", "refused", "truncated", "empty", "error"]

_FIELDS: dict[str, tuple[str, ...]] = {
    "title": ("name", "heading"),
    "description": ("summary", "when", "when_to_use", "desc"),
    "content": ("text", "lesson", "body", "insight", "strategy", "details"),
}
_LISTS = ("items", "memory_items", "memories", "lessons", "memory", "item", "memory_item")
_NAME = r"(?P<{}>title|description|content)"
_HEADING = re.compile(
    r"[ \t]{0,8}(?:[-*+][ \t]|\d{1,2}[.)][ \t])?(?:"
    r"#{1,6}[ \t]*(?:\*\*)?" + _NAME.format("heading") + r"\b(?:\*\*)?[ \t]*[:：]?(?:\*\*)?"
    r"|(?:\*\*|__)" + _NAME.format("bold") + r"[ \t]*(?:[:：](?:\*\*|__)|(?:\*\*|__)[ \t]*[:：]?)"
    r"|" + _NAME.format("plain") + r"[ \t]*[:：])[ \t]*",
    re.IGNORECASE,
)
_NEW_ITEM = re.compile(
    r"[ \t]{0,8}(?:#{1,6}[ \t]*)?(?:\*\*)?memory[ \t]+item[ \t]*#?\d{0,3}(?:\*\*)?"
    r"(?:[:：.\-–—](?:\*\*)?(?P<title>.*))?$",
    re.IGNORECASE,
)
_LONGEST_HEADING = 250


class ParsedItems(NamedTuple):
    """Items of one reply; with none, why there are none."""

    items: list[dict[str, str]]
    """Each with `title, description, content`, stripped and otherwise as the model wrote them."""
    reason: ItemsReason | None = None
    """Why there are no items; `empty` where the model found nothing worth keeping, or said nothing."""
    truncated: bool = False
    """The reply was cut, so more may have followed."""


def parse_items(reply: object) -> ParsedItems:
    """Read an extractor's reply: JSON as asked for, JSON with the usual slips, or `# Memory Item` Markdown.

    Args:
        reply: a string or a LangChain `AIMessage`.

    Returns:
        The items that are whole: of a cut list those that were finished. An item that lacks one of its three texts,
        or holds the blanks of a format example, is left out. Caps are not enforced here. Never raises.
    """
    read = read_reply(reply)
    if read.ending == "error":
        return ParsedItems([], "error")
    if read.refused:
        return ParsedItems([], "refused")
    return _from_calls(read) or _from_text(read)


def _from_calls(read: Reply) -> ParsedItems | None:
    """Read the last call that holds items, or an explicitly empty list of them."""
    for call in reversed(read.calls):
        items, cut = _from_json(call) if isinstance(call, str) else _from_arguments(call, read)
        if items is not None:
            reason: ItemsReason | None = None if items else "truncated" if cut else "empty"
            return ParsedItems(items, reason, cut)
    return None


def _from_json(text: str) -> tuple[list[dict[str, str]] | None, bool]:
    objects = find_objects(text)
    items = _last_list(objects.found)
    return _singles(objects.found) if items is None else items, objects.open_at is not None


def _from_arguments(value: Any, read: Reply) -> tuple[list[dict[str, str]] | None, bool]:
    """Read decoded arguments; those of a cut call arrive completed, so their last item may lack its end."""
    value, cut = restore_latex(value), read.ending == "length"
    items = _read_list(value)
    if items is None:
        items = _singles([Found(value, 0, 0)])
    return items[:-1] if items and cut else items, cut


def _from_text(read: Reply) -> ParsedItems:
    objects = find_objects(read.text)
    items = _last_list(objects.found)
    cut = read.cut or objects.open_after_last() or _cut_after(read, objects)
    if items is None:
        items = _singles(objects.found)
        cut = cut or objects.open_at is not None
    if items is None and objects.open_at is None:
        items = _from_markdown(read.text, cut=cut) or None
    if items:
        return ParsedItems(items, None, cut)
    return ParsedItems([], _why_none(read, items, cut=cut), cut)


def _cut_after(read: Reply, objects: Objects) -> bool:
    ends_whole = bool(objects.found) and not read.text[objects.found[-1].end :].strip("` \t\r\n")
    return read.ending == "length" and not ends_whole


def _why_none(read: Reply, items: list[dict[str, str]] | None, *, cut: bool) -> ItemsReason:
    if cut:
        return "truncated"
    if items is not None or not read.text.strip():
        return "empty"
    return "refused" if looks_refused(read.text) else "unparsed"


def _last_list(found: list[Found]) -> list[dict[str, str]] | None:
    """Items of the last list in the text."""
    return next((items for one in reversed(found) if (items := _read_list(one.value)) is not None), None)


def _singles(found: list[Found]) -> list[dict[str, str]] | None:
    """Items that stand alone: one a line, or the finished ones of a list that was cut."""
    return [item for one in found if isinstance(one.value, dict) and (item := _read_item(one.value))] or None


def _read_list(value: Any) -> list[dict[str, str]] | None:
    """Items of a list or of an object that holds one; an empty list is an answer, a list of other things is not."""
    if isinstance(value, list):
        return _read_all(value)
    for inner in walk(value):
        fields = _folded(inner)
        for key in _LISTS:
            if key in fields and (items := _read_all(_listed(fields[key]))) is not None:
                return items
        if (
            inner
            and all(isinstance(one, dict) for one in inner.values())
            and (items := _read_all(list(inner.values())))
        ):
            return items
    return None


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return [value] if _read_item(value) else list(value.values())
    return [] if value is None else value


def _read_all(values: Any) -> list[dict[str, str]] | None:
    if not isinstance(values, list):
        return None
    items = [item for value in values if isinstance(value, dict) and (item := _read_item(value))]
    return items if items or not values else None


def _read_item(value: dict[str, Any]) -> dict[str, str] | None:
    """One item with its three texts, under their names or a name that can mean nothing else."""
    fields = _folded(value)
    item = {field: _text(fields, field) for field in _FIELDS}
    return {field: text for field, text in item.items() if text is not None} if None not in item.values() else None


def _text(fields: dict[str, Any], field: str) -> str | None:
    others = [key for key in _FIELDS[field] if key in fields]
    key = field if field in fields else others[0] if len(others) == 1 else None
    value = fields[key] if key else None
    if not isinstance(value, str) or not has_visible_text(value) or is_placeholder(value):
        return None
    return value.encode("utf-8", "replace").decode("utf-8").strip()


def _folded(value: dict[str, Any]) -> dict[str, Any]:
    return {re.sub(r"[\s\-]+", "_", str(key).strip().casefold()): inner for key, inner in value.items()}


def _from_markdown(text: str, *, cut: bool) -> list[dict[str, str]]:
    """Read headings or `Title:` lines; of a cut text the last item is left out, it may lack its end."""
    drafts: list[dict[str, list[str]]] = []
    field: str | None = None
    for line in text.splitlines():
        if item := _NEW_ITEM.match(line[:_LONGEST_HEADING]):
            drafts.append({"name": [item["title"]]} if item["title"] else {})
            field = None
        elif heading := _HEADING.match(line[:_LONGEST_HEADING]):
            field = str(heading[heading.lastgroup or 0]).casefold()
            if not drafts or (field == "title" and "title" in drafts[-1]):
                drafts.append({})
            drafts[-1].setdefault(field, []).append(line[heading.end() :])
        elif field:
            drafts[-1][field].append(line)
    return list(_finished(drafts[:-1] if cut else drafts))


def _finished(drafts: Iterable[dict[str, list[str]]]) -> Iterable[dict[str, str]]:
    for draft in drafts:
        item = _read_item(
            {field: re.sub(r"(?m)^[ \t]*```\w*[ \t]*$", "", "\n".join(lines)) for field, lines in draft.items()}
        )
        if item:
            yield item
