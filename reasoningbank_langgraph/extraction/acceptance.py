"""Which lessons of a reply the bank may hold: general ones, in the model's own words, and no others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from reasoningbank_langgraph import prompts
from reasoningbank_langgraph.errors import InvalidRecordError
from reasoningbank_langgraph.events import DropReason, ExtractionReason
from reasoningbank_langgraph.extraction.literals import named_literals, task_literals
from reasoningbank_langgraph.extraction.quotations import Quotations
from reasoningbank_langgraph.extraction.wording import wording_fault
from reasoningbank_langgraph.messages import content_text
from reasoningbank_langgraph.parsing import ParsedItems, parse_items
from reasoningbank_langgraph.records import Attempt, FailureKind, MemoryItem, normalise_task
from reasoningbank_langgraph.text import redact_secrets

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_FIELDS = ("title", "description", "content")
_NONCE = re.compile(r"(?<!\s)\s*\b[0-9a-f]{16}\b", re.IGNORECASE)
"""The number in a fence line, which a small model may copy into a title."""
_RAW = 20_000
"""Characters of a reply that are kept with the run."""
_TEMPLATES = (
    prompts.EXTRACT_USER,
    prompts.TIP_USER,
    prompts.TIP_USER_SHORT,
    prompts.TIP_PROGRAM,
    prompts.TIP_AGAIN,
    prompts.EXTRACT_SUCCESS,
    prompts.EXTRACT_FAILURE,
    prompts.CONTRAST_USER,
)


class Extraction(NamedTuple):
    """What came out of an extraction."""

    items: list[dict[str, Any]]
    """Lessons with `title, description, content`."""
    reason: ExtractionReason | None = None
    """Why there are none; else None."""
    truncated: bool = False
    dropped: Mapping[DropReason, int] = MappingProxyType({})
    """Lessons left out, counted by why."""
    redacted: Mapping[str, int] = MappingProxyType({})
    """Secrets taken out of the lessons, counted by kind."""
    raw: str | None = None
    """The reply, or the error, where no lesson came out of it."""
    details: tuple[str, ...] = ()
    """What lessons that were left out named of the task."""
    failure: FailureKind | None = None
    """What kind of failure it was, if the reason is `error`."""
    about: int | None = None
    """Which attempt of a group they are about, None for all of them together."""


def accept(
    attempts: Sequence[Attempt], reply: AIMessage, cap: int, parse: Callable[[object], ParsedItems] = parse_items
) -> Extraction:
    """Return what the bank may hold of a reply about attempts at one task.

    Lessons are left out, and counted, that exceed a cap, name details of the task, or copy a lesson the attempt was
    shown, one that its text contains, or a sentence of the prompt, or that are of no use as they are worded.
    """
    parsed = parse(reply)
    dropped: Counter[DropReason] = Counter()
    redacted: Counter[str] = Counter()
    details: set[str] = set()
    lessons: list[dict[str, Any]] = []
    literals = task_literals(*attempts)
    known_keys = set[str]().union(*map(_shown_lessons, attempts))
    quotations = Quotations(attempts)
    for item in parsed.items:
        clean = {name: redact_secrets(_NONCE.sub("", item[name]).strip()) for name in _FIELDS}
        lesson: dict[str, Any] = {name: found.text for name, found in clean.items()}
        named = named_literals(" ".join(lesson.values()), literals)
        quoted = quotations.contain(item)
        problem = (
            "copied"
            if quoted
            else "over_cap"
            if len(lessons) == cap
            else _problem(lesson, known_keys, attempts[0].task)
        )
        if problem or named:
            dropped[problem or "task_details"] += 1
            details.update(() if quoted else named)
            continue
        for found in clean.values():
            redacted.update(found.found)
        known_keys.update(_keys(lesson))
        lessons.append(lesson)
    raw = None if lessons else content_text(reply.content)[:_RAW]
    reason = None if lessons else parsed.reason or "dropped"
    return Extraction(lessons, reason, parsed.truncated, dict(dropped), dict(redacted), raw, tuple(sorted(details)))


def _problem(lesson: dict[str, Any], known_keys: set[str], task: str) -> DropReason | None:
    if known_keys & _keys(lesson) or _prompt_sentences() & set().union(*map(_sentences, lesson.values())):
        return "copied"
    try:
        MemoryItem(**lesson, outcome="success", task="any")
    except InvalidRecordError:
        return "invalid"
    return wording_fault(lesson, task)


def _shown_lessons(attempt: Attempt) -> set[str]:
    return {text for memory in attempt.memories for text in _fingerprints(memory.item.title, memory.item.content)}


def _keys(lesson: dict[str, str]) -> set[str]:
    """Two lessons of one reply under the same title say the same; one under the title of an old lesson may be new."""
    title = f"title of this reply: {normalise_task(lesson['title'])}"
    return {title, *_fingerprints(lesson["title"], lesson["content"])}


@cache
def _prompt_sentences() -> set[str]:
    return set().union(*map(_sentences, _TEMPLATES))


def _sentences(text: str) -> list[str]:
    """Sentences of four words and more, also those in brackets, normalised."""
    folded = (normalise_task(part) for part in re.split(r'[.!?"\n()]', text))
    return [sentence for sentence in folded if len(sentence.split()) >= 4]


def _fingerprints(title: str, content: str) -> Iterable[str]:
    """Two lessons are copies when their content, or their title and the start of their content, agree."""
    folded = normalise_task(content)
    return (folded, f"{normalise_task(title)}|{folded[:60]}")
