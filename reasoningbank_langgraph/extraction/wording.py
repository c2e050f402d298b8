"""Lessons that nobody could use as they are worded: broken off, about masks, in two scripts, titled with nothing."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from reasoningbank_langgraph.records import normalise_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reasoningbank_langgraph.events import DropReason

_HANGING = re.compile(r"(?:[,;(\[{]|\b(?:a|an|the|and|or|of|to|by|from|with|into|than|each|per)[.…]?)$", re.IGNORECASE)
_MASK = re.compile(
    r"(?<![\w$])\$N\b(?![$\w^])|\bN\s*[*×+/=-]\s*\$?N\b|\bN (?:hours|minutes|days|dollars|pages|people|items)\b"
    r"|\bin someone\b|\bsomeone (?:and|to|of) someone\b"
)
"""Letters and words in place of numbers and names; a `$N$` is mathematics."""
_PROMPT = re.compile(
    r"marker lines|\bJSON\b.{0,20}\b(?:object|reply)|problem (?:statement )?is (?:unclear|incomplete)"
    r"|begin (?:task|attempt)",
    re.IGNORECASE,
)
_TITLES = """
    advice|amount|answer|description|final answer|general advice|general tip|key takeaway|lesson|lesson learned
    math problem|memory item|method|name of the method|problem|problem solving|problem solving steps
    read the problem|reading the problem|result|solution|steps|the problem|tip|title|total|understand the problem
    understand the question|understanding the problem|word problem
    """
_EMPTY_TITLES = frozenset(title.strip() for title in _TITLES.replace("\n", "|").split("|"))
_EMPTY_WORDS = """
    a about algebraic all always among an and answer any arithmetic asked asks be before being between both
    break breaking by calculation calculations can careful carefully check clear clearly combine complex context
    correctly determine double down each ensure equation equations final find first follow following for from
    get give given gives have how identify identifying important in information into involved involves is it its
    know known list logical make makes manageable method methods more necessary need next of often on once or
    outlined own part parts perform performing problem problems properly provided quantities quantity question
    range read reading relate relates relationship relationships represent representing represents result
    results sense sequence series set simple simplify smaller solution solutions solve solved solving start step
    steps such sure that the their them then there these this thoroughly through to understand understanding
    understood unknown up use used useful using value values what which wide with work write wrote you your
    """
_NO_ADVICE = frozenset(_EMPTY_WORDS.split())
"""Words of which no advice can be made, as in "Use the known information to find the unknown"."""
_COUNTED = re.compile(r"[\W\d_]+")
_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "CYRILLIC", "ARABIC", "HEBREW", "THAI", "DEVANAGARI"}


def wording_fault(lesson: Mapping[str, str], task: str) -> DropReason | None:
    """Return why a lesson is of no use as it is worded, or None.

    Args:
        lesson: its `title, description, content`.
        task: the text it was learned on; a second script that this uses as well is no fault.
    """
    text = " ".join(lesson.values())
    if any(_HANGING.search(lesson[name].strip()) for name in ("description", "content")):
        return "broken_off"
    if _MASK.search(text):
        return "masked"
    if "LATIN" in (found := _scripts(text)) and (found & _SCRIPTS) - _scripts(task):
        return "mixed_scripts"
    if _COUNTED.sub(" ", normalise_task(lesson["title"])).strip() in _EMPTY_TITLES:
        return "empty_title"
    if _NO_ADVICE.issuperset(_COUNTED.sub(" ", normalise_task(lesson["content"])).split()):
        return "says_nothing"
    return "about_prompt" if _PROMPT.search(text) else None


def _scripts(text: str) -> set[str]:
    return {unicodedata.name(char, "?").partition(" ")[0] for char in set(text) if char.isalpha()}
