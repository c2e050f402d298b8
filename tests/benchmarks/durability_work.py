"""What the killed processes do, as functions of a number: both sides of the kill know what step n changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from langgraph.store.base import PutOp

from reasoningbank_langgraph import MemoryBank, MemoryItem
from reasoningbank_langgraph.bank.exchange import jsonl
from reasoningbank_langgraph.records import Provenance
from reasoningbank_langgraph.store import ChromaStore

HERE = ("kept",)
LESSONS = ("lessons",)


class Step(NamedTuple):
    """One operation that is acknowledged when it returns."""

    changes: dict[str, str | None]
    """Key of an item to its text, None for deleted."""
    run: Callable[[ChromaStore, Path], object]
    """Takes the bank and a folder for files."""


def text_of(value):
    """Return the text that a step gave an item."""
    return value.get("text") or value["content"]


def batch_of(changes):
    """Return the step that makes these changes in one batch."""
    ops = [PutOp(HERE, key, _value(text)) for key, text in changes.items()]
    return Step(changes, lambda store, _: store.batch(ops))


def _value(text):
    """A text that ends in an odd digit has one vector, others two: overwriting adds and removes vectors."""
    more = {} if text and text[-1] in "13579" else {"more": f"more of {text}"}
    return text and {"text": text, **more}


def single(number):
    """Put one item, new or there already."""
    return batch_of({f"single {number % 301}": f"single {number}"})


def batch(number):
    """Put 200 items at once, in turn over three sets of keys."""
    return batch_of({f"batch {number % 3} {place}": f"batch {place} {number}" for place in range(200)})


def delete(number):
    """Delete ten items at once, seven times; before that put the seventy."""
    turn, place = divmod(number, 8)
    if place == 0:
        return batch_of({f"deleted {key}": f"deleted {key} {turn}" for key in range(70)})
    return batch_of({f"deleted {key}": None for key in range(place * 10 - 10, place * 10)})


def mixed(number):
    """Delete the eight items of the step before, put eight others and overwrite one, in one batch."""
    old = {f"mixed {place} {number - 1}": None for place in range(8)}
    new = {f"mixed {place} {number}": f"mixed {place} {number}" for place in range(8)}
    return batch_of({**old, **new, "same": f"same {number}"})


def rebuild(number):
    """Make the index anew, after every five items put."""
    if number % 2:
        return Step({}, lambda store, _: store.rebuild_index())
    return batch_of({f"rebuilt {place}": f"rebuilt {place} {number}" for place in range(5)})


def vacuum(number):
    """Remove the traces of deleted items, after every five items put."""
    if number % 2:
        return Step({}, lambda store, _: store.vacuum())
    return batch_of({f"vacuumed {place}": f"vacuumed {place} {number}" for place in range(5)})


def attempt(number):
    """Add the three lessons of an attempt; every second time the same attempt again, with two that read otherwise."""
    experience, again = divmod(number, 2)
    name = f"attempt {experience % 50}"
    lessons = [_lesson(name, place, f"{name} {place} {number}") for place in range(2 if again else 3)]
    changes: dict[str, str | None] = {lesson.id: lesson.content for lesson in lessons}
    return Step({f"{name} 2": None, **changes}, lambda store, _: MemoryBank(store, LESSONS).add(lessons))


def imported(number):
    """Import a file of forty attempts; every second time delete their 120 lessons."""
    names = [f"attempt {number // 2} {place}" for place in range(40)]
    lessons = [_lesson(name, place, f"{name} {place}") for name in names for place in range(3)]
    if number % 2:
        ops = [PutOp(LESSONS, lesson.id, None) for lesson in lessons]
        return Step(dict.fromkeys([lesson.id for lesson in lessons]), lambda store, _: store.batch(ops))
    return Step({lesson.id: lesson.content for lesson in lessons}, lambda *places: _import(lessons, *places))


def _import(lessons, store, folder):
    jsonl.write(folder / "lessons.jsonl", lessons, [])
    MemoryBank(store, LESSONS).import_jsonl(folder / "lessons.jsonl")


def _lesson(name, place, content):
    return MemoryItem(
        id=f"{name} {place}",
        title=f"title {place}",
        description=f"when {name}",
        content=content,
        outcome="success",
        task=f"task of {name}",
        experience_id=name,
        provenance=Provenance(attempt_digest=f"digest of {name}"),
    )
