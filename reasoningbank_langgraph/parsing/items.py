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
_HEADING = re.compile(
    r"(?:[ \t]*#{1,6}[ \t]*|[ \t]*[-*+]?[ \t]*)(?P<bold>\*\*|__)?(?P<name>title|description|content)(?P=bold)?"
    r"(?(bold)|)[ \t]*(?P<colon>[:：])?(?:\*\*|__)?[ \t]*(?P<rest>.*)",
    re.IGNORECASE,
)
_NEW_ITEM = re.compile(r"[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*)?memory[ \t]+item\b[^\n]{0,20}$", re.IGNORECASE)


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
        if isinstance(call, str):
            objects = find_objects(call)
            parsed = _last_answer(objects.found)
            cut = objects.open_at is not None
        else:
            parsed, cut = _read_list(restore_latex(call)), read.ending == "length"
        if parsed is not None:
            return ParsedItems(parsed, None if parsed else "empty", cut)
    return None


def _from_text(read: Reply) -> ParsedItems:
    objects = find_objects(read.text)
    items = _last_answer(objects.found)
    cut = read.cut or objects.open_after_last() or objects.open_at is not None or _cut_after(read, objects)
    if items is None and not objects.found:
        items = _from_markdown(read.text, cut=read.ending == "length" or read.cut) or None
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


def _last_answer(found: list[Found]) -> list[dict[str, str]] | None:
    """Items of the last list in the text; without a list, all the single items in it."""
    for one in reversed(found):
        items = _read_list(one.value)
        if items is not None:
            return items
    single = [item for one in found if isinstance(one.value, dict) and (item := _read_item(one.value))]
    return single or None


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
        heading = _heading(line)
        if _NEW_ITEM.match(line):
            field = None
        elif heading:
            field = heading[0]
            if field == "title" or not drafts:
                drafts.append({})
            drafts[-1].setdefault(field, []).append(heading[1])
        elif field:
            drafts[-1][field].append(line)
    return list(_finished(drafts[:-1] if cut else drafts))


def _heading(line: str) -> tuple[str, str] | None:
    """The field a line opens and what it holds of it; plain words need a colon, headings and bold do not."""
    found = _HEADING.fullmatch(line[:20_000])
    if not found or not (found["colon"] or found["bold"] or line.lstrip().startswith("#")):
        return None
    return found["name"].casefold(), found["rest"]


def _finished(drafts: Iterable[dict[str, list[str]]]) -> Iterable[dict[str, str]]:
    for draft in drafts:
        item = _read_item(
            {field: re.sub(r"(?m)^[ \t]*```\w*[ \t]*$", "", "\n".join(lines)) for field, lines in draft.items()}
        )
        if item:
            yield item
