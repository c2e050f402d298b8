"""Files of other memories as lessons: line by line, with what is left out and why. Ids come from what a lesson says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args
from uuid import uuid5

from reasoningbank_langgraph.bank.exchange.jsonl import Numbered, json_of, lines_of
from reasoningbank_langgraph.errors import ImportFileError, InvalidRecordError
from reasoningbank_langgraph.extraction.results import IDS
from reasoningbank_langgraph.files import open_file
from reasoningbank_langgraph.parsing import parse_items
from reasoningbank_langgraph.records import DESCRIPTION_CAP, ITEMS_PER_GROUP, TITLE_CAP, MemoryItem, Outcome, Provenance
from reasoningbank_langgraph.text.fencing import cut

MemorySource = Literal["langmem", "reasoning-bank", "jsonl"]
"""Whose file is imported. `langmem`: items of a LangGraph store that langmem filled, a dict of each on a line;
`reasoning-bank`: the memory of google-research/reasoning-bank, a line for each task; `jsonl`: lessons with title,
description, content, outcome and, where there is one, task."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_OUTCOMES: dict[str, Outcome] = {"success": "success", "fail": "failure", "failure": "failure", "contrast": "contrast"}


class Skipped(NamedTuple):
    """Something that was left out."""

    line: int
    why: str


class Foreign(NamedTuple):
    """What a file holds."""

    items: Sequence[Numbered]
    skipped: Sequence[Skipped]


class _Told(NamedTuple):
    """What one line tells: an experience."""

    task: str
    lessons: Sequence[Mapping[str, str]]
    outcome: object = None
    created_at: object = None


def read(source: MemorySource, path: Path, outcome: Outcome | None) -> Foreign:
    """Read every line; what cannot be a lesson is left out.

    Args:
        source: whose file it is.
        path: the file.
        outcome: what lessons were learned from where the file does not say so.

    Raises:
        ValueError: there is no such source or outcome.
        ImportFileError: the file cannot be read, or a line has no end.
    """
    if source not in _READERS or outcome not in (None, *get_args(Outcome)):
        raise ValueError(f"there is no {source!r} with {outcome!r}: from {', '.join(_READERS)}; {get_args(Outcome)}")
    run, skipped, seen = f"import:{source}:{path.name}", list[Skipped](), dict[str, int]()
    items = list[Numbered]()
    for number, line in _lines(path):
        for found in _found(source, path, number, line, outcome, run):
            if isinstance(found, str):
                skipped.append(Skipped(number, found))
            elif (first := seen.setdefault(found.id, number)) != number:
                skipped.append(Skipped(number, f"line {first} says the same"))
            else:
                items.append((number, found))
    return Foreign(items, skipped)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with open_file(path) as file:
            yield from lines_of(path, file)
    except OSError as error:
        raise ImportFileError(path, None, f"cannot be read: {error.strerror or error}") from error


def _found(
    source: MemorySource, path: Path, number: int, line: bytes, outcome: Outcome | None, run: str
) -> Iterator[MemoryItem | str]:
    """Yield the lessons of a line, and for what is none why."""
    try:
        entry = json_of(path, number, line)
        if not isinstance(entry, dict):
            raise ValueError(f"is not an object but {type(entry).__name__}")
        told = _READERS[source](entry)
        if (said := _OUTCOMES.get(str(told.outcome)) or outcome) is None:
            raise ValueError("does not say what it was learned from: name an outcome for such lines")
    except ImportFileError as error:
        yield error.problem
    except ValueError as error:
        yield str(error)
    else:
        yield from _lessons(told, said, Provenance(run_id=run))


def _lessons(told: _Told, outcome: Outcome, source: Provenance) -> Iterator[MemoryItem | str]:
    experience = uuid5(IDS, json.dumps(["imported", told.task, outcome, told.lessons]))
    when = {} if told.created_at is None else {"created_at": told.created_at}
    for ordinal, lesson in enumerate(told.lessons):
        if ordinal >= ITEMS_PER_GROUP:
            yield f"{lesson['title']!r:.100} is one of more than {ITEMS_PER_GROUP} lessons of an experience"
            continue
        fields = {
            "id": str(uuid5(experience, str(ordinal))),
            **{name: lesson[name] for name in ("title", "description", "content")},
            "outcome": outcome,
            "task": told.task,
            "experience_id": str(experience),
            "provenance": source,
        }
        try:
            yield MemoryItem.model_validate(fields | when)
        except InvalidRecordError as error:
            yield f"{lesson['title']!r:.100}: {error}"


def _of_langmem(entry: Mapping[str, Any]) -> _Told:
    """Read an item, or its value alone: `{"kind": ..., "content": a text, or the fields of a schema}`."""
    value = entry.get("value", entry)
    content = value.get("content") if isinstance(value, Mapping) else None
    fields = content if isinstance(content, Mapping) else {"content": content}
    texts = {name: text.strip() for name, text in fields.items() if isinstance(text, str) and text.strip()}
    if not texts:
        raise ValueError("has no text under value.content")
    text = texts["content"] if set(texts) == {"content"} else "\n".join(f"{name}: {say}" for name, say in texts.items())
    task = texts.get("observation", text)
    title = _SENTENCE_END.split(texts.get("content", task), maxsplit=1)[0]
    lesson = {"title": cut(title, TITLE_CAP), "description": cut(task, DESCRIPTION_CAP), "content": text}
    return _Told(task, [lesson], created_at=entry.get("created_at"))


def _of_reasoning_bank(entry: Mapping[str, Any]) -> _Told:
    """Read a task: its lessons are the Markdown of a model, whole or in pieces."""
    pieces = entry.get("memory_items")
    text = "\n\n".join(map(str, pieces)) if isinstance(pieces, list) else pieces
    parsed = parse_items(text if isinstance(text, str) else "")
    if not parsed.items:
        raise ValueError(f"its memory_items hold no lesson with title, description and content ({parsed.reason})")
    return _Told(_text(entry, "query"), parsed.items, entry.get("status"))


def _of_plain(entry: Mapping[str, Any]) -> _Told:
    lesson = {name: _text(entry, name) for name in ("title", "description", "content")}
    task = _text(entry, "task") if "task" in entry else lesson["description"]
    return _Told(task, [lesson], entry.get("outcome"), entry.get("created_at"))


def _text(entry: Mapping[str, Any], name: str) -> str:
    if not isinstance(text := entry.get(name), str):
        raise ValueError(f"has no text under {name!r}")
    return text


_READERS: dict[str, Callable[[Mapping[str, Any]], _Told]] = {
    "langmem": _of_langmem,
    "reasoning-bank": _of_reasoning_bank,
    "jsonl": _of_plain,
}
