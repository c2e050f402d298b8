"""What happened to a lesson, in the order of time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from reasoningbank_langgraph.records import Episode, MemoryItem

if TYPE_CHECKING:
    from datetime import datetime

    from reasoningbank_langgraph.policies import Change
    from reasoningbank_langgraph.view.snapshot import Snapshot


class Event(NamedTuple):
    """Something that happened to a record."""

    time: datetime
    what: str
    other: str = ""
    """Id of the other record that it has to do with."""
    said: str = ""


class Shown(NamedTuple):
    """How the attempts ended that were shown a record."""

    attempts: int
    successes: int


def life(snapshot: Snapshot, name: str) -> list[Event]:
    """Return what is known to have happened to a record, oldest first."""
    events = (*_birth(snapshot, name), *_uses(snapshot, name), *map(_told, snapshot.changes.get(name, ())))
    return sorted(events, key=lambda one: one.time)


def shown(snapshot: Snapshot, name: str) -> Shown:
    """Count the judged attempts that were shown a record, and those of them that succeeded."""
    readers = [
        snapshot.records.get(edge.target) for edge in snapshot.after.get(name, ()) if edge.relation == "shown to"
    ]
    outcomes = [reader.outcome for reader in readers if isinstance(reader, Episode)]
    return Shown(len(outcomes), outcomes.count("success"))


def _birth(snapshot: Snapshot, name: str) -> Iterator[Event]:
    record = snapshot.records.get(name)
    if record is None:
        return
    teachers = [edge.source for edge in snapshot.before.get(name, ()) if edge.relation == "taught"]
    verb = "learned from" if isinstance(record, MemoryItem) else "attempted and judged"
    for teacher in teachers or [""]:
        yield Event(record.created_at, verb, teacher, f"judge {record.provenance.judge or 'unknown'}")


def _uses(snapshot: Snapshot, name: str) -> Iterator[Event]:
    for edge in snapshot.after.get(name, ()):
        other = snapshot.records.get(edge.target)
        if other is None:
            continue
        if edge.relation != "shown to":
            yield Event(other.created_at, edge.relation, other.id)
        elif isinstance(other, Episode):
            yield Event(other.created_at, "shown to an attempt", other.id, other.outcome)
        else:
            yield Event(other.created_at, "an attempt that saw it taught", other.id)


def _told(change: Change) -> Event:
    because = f": {change.reason}" if change.reason else ""
    return Event(change.time, change.kind, said=f"by {change.actor or 'unknown'}{because}")
