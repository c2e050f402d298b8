"""An extractor's reply as memory items: whole ones only, as the model worded them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from reasoningbank_langgraph.parsing.json_escapes import restore_latex
from reasoningbank_langgraph.parsing.json_objects import FoundObject, Objects, document, find_objects
from reasoningbank_langgraph.parsing.json_text import fields_of, unwrap
from reasoningbank_langgraph.parsing.quotes import announces_quote, leads_in_a_quote, stands_alone
from reasoningbank_langgraph.parsing.replies import Reply, looks_like_refusal, read_reply
from reasoningbank_langgraph.parsing.status_words import is_placeholder
from reasoningbank_langgraph.records import has_visible_text

ItemsReason = Literal["unparsed", "refused", "truncated", "empty", "error"]
"""Why a reply holds no items, in the words of `ExtractionReason`; `error` where the call itself says that it failed."""

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
    r"[ \t]{0,8}(?:#{1,6}[ \t]*)?(?:\*\*)?memory[ \t]+item[ \t]*#?(?P<number>\d{0,3})(?:\*\*)?"
    r"(?:[:：.\-–—](?:\*\*)?(?P<title>.*))?$",
    re.IGNORECASE,
)
_LONGEST_HEADING = 250
_CONTENT_KEY = re.compile("[\"'“”‘’]content[\"'“”‘’]\\s*:", re.IGNORECASE)
_BETWEEN = " \t\r\n,;.)*-`0123456789"
"""What may stand between items that are one answer: separators, list marks, fences."""


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
        The items of the first complete answer; what follows it, or is quoted, is none. Of a cut list those that were
        finished. An item that lacks one of its three texts, or holds the blanks of a format example, is left out.
        Caps are not enforced here. Never raises.
    """
    read = read_reply(reply)
    if read.ending == "error":
        return ParsedItems([], "error")
    if read.refused:
        return ParsedItems([], "refused")
    return _from_calls(read) or _from_text(read)


def _from_calls(read: Reply) -> ParsedItems | None:
    """Read the first call that holds items, or an explicitly empty list of them."""
    for call in read.calls:
        items, cut = _from_json(call) if isinstance(call, str) else _from_arguments(call, read)
        if items is not None:
            reason: ItemsReason | None = None if items else "truncated" if cut else "empty"
            return ParsedItems(items, reason, cut)
    return None


def _from_json(text: str) -> tuple[list[dict[str, str]] | None, bool]:
    whole = document(text)
    if whole is not None:
        return _read_answer(whole), False
    objects = find_objects(text)
    return _first_answer(text, objects)[0], objects.open_at is not None


def _from_arguments(value: Any, read: Reply) -> tuple[list[dict[str, str]] | None, bool]:
    """Read decoded arguments; those of a cut call arrive completed, so their last item may lack its end."""
    items, cut = _read_answer(restore_latex(value)), read.ending == "length"
    return items[:-1] if items and cut else items, cut


def _from_text(read: Reply) -> ParsedItems:
    """Read the first complete answer of the text, also where it stands before thinking that nothing began."""
    text = read.whole or read.text
    whole = document(text)
    if whole is not None:
        items = _read_answer(whole)
        return ParsedItems(items or [], None if items else _why_none(read, items, cut=read.cut), read.cut)
    objects = find_objects(text)
    items, place = _first_answer(text, objects)
    of_cut_list = (
        objects.open_at is not None
        if items is None
        else any(found.in_unread and found.start == place for found in objects.found)
    )
    at_limit = read.ending == "length" and not objects.end(text)
    cut = read.cut or of_cut_list or objects.open_after_last() or at_limit
    if not any(start < place for start, _ in objects.unread):  # nothing before it looks like JSON that was not read
        items = _from_markdown(text[:place], cut=cut) or items
    if items:
        return ParsedItems(items, None, cut)
    return ParsedItems([], _why_none(read, items, cut=cut), cut)


def _why_none(read: Reply, items: list[dict[str, str]] | None, *, cut: bool) -> ItemsReason:
    if cut:
        return "truncated"
    if items is not None or not (read.text.strip() or read.calls):
        return "empty"
    return "refused" if looks_like_refusal(read.text) else "unparsed"


def _first_answer(text: str, objects: Objects) -> tuple[list[dict[str, str]] | None, int]:
    """Return the items of the first answer in a text, and where it begins: a list, or items that follow each other.

    What stands after it is no part of it, and a quotation is none.
    """
    items: list[dict[str, str]] = []
    begins = end = len(text)
    for found in objects.found:
        if found.mended and _is_mixed(text[found.start : found.end], found.value):
            continue
        one = _read_item(found.value) if isinstance(found.value, dict) else None
        if items and (one is None or text[end : found.start].strip(_BETWEEN)):
            break
        listed = None if one or found.in_unread else _read_answer(found.value)
        if (one is None and listed is None) or not (items or _speaks(text, found)):
            continue
        if listed is not None:
            return listed, found.start
        if one:
            begins = begins if items else found.start
            items, end = [*items, one], found.end
    return items or None, begins


def _is_mixed(source: str, value: Any) -> bool:
    """Say whether a text that had to be mended names more contents than it has items: one quotes another then."""
    items = [_read_item(value)] if isinstance(value, dict) and _read_item(value) else _read_answer(value) or []
    return len(_CONTENT_KEY.findall(source)) > len(items)


def _speaks(text: str, found: FoundObject) -> bool:
    """Say whether an object is an answer; inside one that never closes, whether it is an element of its list."""
    if not found.in_unread:
        return stands_alone(text, found.start, found.end)
    return text[max(0, found.start - 200) : found.start].rstrip()[-1:] in ("[", ",", "}")


def _read_answer(value: Any) -> list[dict[str, str]] | None:
    """Items of a list, of an object that holds one, of one item, or of what a lone wrapper is around.

    An empty list is an answer, a list of other things is not.
    """
    if isinstance(value, list):
        return _read_all(value)
    fields = _fold_keys(value)
    for key in _LISTS:
        if key in fields and (items := _read_all(_as_list(fields[key]))) is not None:
            return items
    if one := _read_item(value):
        return [one]
    inner = list(value.values())
    if inner and all(isinstance(one, dict) for one in inner) and (items := _read_all(inner)):
        return items
    wrapped = unwrap(value)
    return None if wrapped is None else _read_answer(wrapped)


def _as_list(value: Any) -> Any:
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
    fields = _fold_keys(value)
    item = {field: _text(fields, field) for field in _FIELDS}
    return {field: text for field, text in item.items() if text is not None} if None not in item.values() else None


def _text(fields: dict[str, Any], field: str) -> str | None:
    others = [key for key in _FIELDS[field] if key in fields]
    key = field if field in fields else others[0] if len(others) == 1 else None
    value = fields[key] if key else None
    if not isinstance(value, str) or not has_visible_text(value) or is_placeholder(value):
        return None
    return value.encode("utf-8", "replace").decode("utf-8").strip()


def _fold_keys(value: dict[str, Any]) -> dict[str, Any]:
    """Return the fields by their folded names; of those that stand twice the first."""
    return dict(reversed(list(fields_of(value))))


def _from_markdown(text: str, *, cut: bool) -> list[dict[str, str]]:
    """Read headings or `Title:` lines; of a cut text the last item is left out, it may lack its end."""
    drafts: list[dict[str, list[str]]] = []
    field: str | None = None
    lead, number = "", 0
    for line in text.splitlines():
        item, heading = _NEW_ITEM.match(line[:_LONGEST_HEADING]), _HEADING.match(line[:_LONGEST_HEADING])
        if (item or heading) and _is_quoted(lead, in_list=bool(drafts)):
            break
        if item:
            if int(item["number"] or 0) < number:  # counted from the start again: another list
                break
            number = int(item["number"] or 0)
            drafts.append({"name": [item["title"]]} if item["title"] else {})
            field = None
        elif heading:
            field = str(heading[heading.lastgroup or 0]).casefold()
            if not drafts or (field == "title" and "title" in drafts[-1]):
                drafts.append({})
            drafts[-1].setdefault(field, []).append(line[heading.end() :])
        elif field:
            drafts[-1][field].append(line)
        lead = line.strip() or lead
    return list(_items_of(drafts[:-1] if cut else drafts))


def _is_quoted(lead: str, *, in_list: bool) -> bool:
    """Say whether a line leads in a quotation; within a list it needs a colon, as a lesson may end in any word."""
    return announces_quote(lead) and lead.endswith((":", "：")) if in_list else leads_in_a_quote(lead)


def _items_of(drafts: Iterable[dict[str, list[str]]]) -> Iterable[dict[str, str]]:
    for draft in drafts:
        item = _read_item(
            {field: re.sub(r"(?m)^[ \t]*```\w*[ \t]*$", "", "\n".join(lines)) for field, lines in draft.items()}
        )
        if item:
            yield item
