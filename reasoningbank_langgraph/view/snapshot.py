"""A bank read as a whole, with what leads from one record to another at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from reasoningbank_langgraph.bank import MemoryGraph
from reasoningbank_langgraph.records import Episode, MemoryItem, utc_now

if TYPE_CHECKING:
    from datetime import datetime

    from reasoningbank_langgraph.bank import DatedCredit, DatedTrial, MemoryBank
    from reasoningbank_langgraph.bank.lineage.graph import Edge
    from reasoningbank_langgraph.policies import Change, GuardStatus

Entry = TypeVar("Entry")
ON_A_PAGE = 50


@dataclass(frozen=True)
class Snapshot:
    """What a bank held when it was read."""

    items: Sequence[MemoryItem]
    """The newest first."""
    records: Mapping[str, MemoryItem | Episode]
    before: Mapping[str, Sequence[Edge]]
    """What led to each record."""
    after: Mapping[str, Sequence[Edge]]
    """What each record led to."""
    log: Sequence[Change]
    """The newest first."""
    changes: Mapping[str, Sequence[Change]]
    """Rows of the ledger by the ids that they name, oldest first."""
    guards: Sequence[GuardStatus]
    """What the guard knows of each model."""
    credits: Sequence[DatedCredit]
    """What groups of attempts said of lessons, oldest first."""
    trials: Mapping[str, Sequence[DatedTrial]]
    """Tasks that the guard of each model counted, oldest first."""
    time: datetime

    @classmethod
    def of(cls, bank: MemoryBank) -> Snapshot:
        """Read a bank."""
        time, items, episodes, log, guards = utc_now(), bank.items(), bank.episodes(), bank.log(), bank.guards()
        edges = MemoryGraph.of(items, episodes).edges
        records: list[MemoryItem | Episode] = [*episodes, *items]
        return cls(
            items=items[::-1],
            records={record.id: record for record in records},
            before=_grouped((edge.target, edge) for edge in edges),
            after=_grouped((edge.source, edge) for edge in edges),
            log=log[::-1],
            changes=_grouped((name, change) for change in log for name in change.ids),
            guards=guards,
            credits=bank.credit_history(),
            trials={guard.model: bank.trial_history(guard.model) for guard in guards},
            time=time,
        )

    def knows(self, name: str) -> bool:
        """Say whether a record of this id is there, was there, or is named by one that is."""
        return name in self.records or name in self.changes or name in self.after

    def selected(self, words: str, status: str, outcome: str) -> list[MemoryItem]:
        """Return the lessons that contain all these words and have this status and outcome; empty for any."""
        wanted = words.casefold().split()
        return [
            item
            for item in self.items
            if status in ("", item.status) and outcome in ("", item.outcome) and _has_all(item, wanted)
        ]

    def weighed(self) -> list[MemoryItem]:
        """Return the lessons of which pairs of attempts say something, the most harmful first."""
        known = [item for item in self.items if item.utility.used]
        return sorted(known, key=lambda item: (item.utility.helped - item.utility.hurt, -item.utility.hurt))

    def told(self, *kinds: str) -> list[Change]:
        """Return the rows of the ledger of these kinds, the newest first; without any, all rows."""
        return [change for change in self.log if not kinds or change.kind in kinds]


class Page(NamedTuple, Generic[Entry]):
    """A part of a list."""

    entries: Sequence[Entry]
    number: int
    pages: int
    total: int

    @classmethod
    def of(cls, entries: Sequence[Entry], number: int) -> Page[Entry]:
        """Return this page of a list, the first being 1; past the end, the last."""
        pages = max(1, -(-len(entries) // ON_A_PAGE))
        number = min(number, pages)
        return cls(entries[(number - 1) * ON_A_PAGE : number * ON_A_PAGE], number, pages, len(entries))


class Reader:
    """Reads a bank when it is first asked, and again when told to: a large one takes seconds."""

    def __init__(self, bank: MemoryBank) -> None:
        self._bank, self._lock = bank, Lock()
        self._known: Snapshot | None = None

    def known(self) -> Snapshot:
        """Return the bank as it was when it was last read."""
        with self._lock:
            self._known = self._known or Snapshot.of(self._bank)
            return self._known

    def anew(self) -> Snapshot:
        """Read the bank again."""
        with self._lock:
            self._known = Snapshot.of(self._bank)
            return self._known


def evenly(entries: Sequence[Entry], most: int) -> list[Entry]:
    """Return a list, or so many of its entries from the first to the last, equally far apart."""
    if len(entries) <= most:
        return list(entries)
    return [entries[round(number * (len(entries) - 1) / (most - 1))] for number in range(most)]


def _grouped(pairs: Iterable[tuple[str, Entry]]) -> dict[str, list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for name, entry in pairs:
        groups.setdefault(name, []).append(entry)
    return groups


def _has_all(item: MemoryItem, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = "\n".join((item.id, item.title, item.description, item.content, item.task, *item.tags)).casefold()
    return all(word in text for word in words)
