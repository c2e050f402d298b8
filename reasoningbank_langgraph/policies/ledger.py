"""Every change of a bank as a row that names the hashes of the rows before it: one that is lost or altered is found.

The rows form no single line. A writer names all rows it saw that nothing followed yet. Two processes that write at once
see the same ones, so the ledger forks there, and whoever writes next names both. A row is never dated before one that
it names, so the order of times is one of the orders that may have been. Of rows on two sides of a fork it says nothing.

A row that was altered no longer has its hash. One that is missing is named by a row that followed it or by a marker:
there is one for each row that nothing followed. Whoever may write to the store can remove the last rows with their
markers, or write the ledger anew from some row on. To find that too, keep `LogReport.heads` elsewhere: they stand for
every row before them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from reasoningbank_langgraph.records import Record, UtcDatetime
from reasoningbank_langgraph.records.lessons import without_empty
from reasoningbank_langgraph.records.usage import Usage

ChangeKind = Literal[
    "added",
    "replaced",
    "superseded",
    "quarantined",
    "released",
    "credited",
    "switched",
    "imported",
    "forgotten",
    "pruned",
    "redistilled",
    "undone",
    "resolved",
    "skipped",
    "linked",
    "merged",
    "evicted",
    "contradicted",
]
"""What happened. `added`: learned from an attempt; `replaced`: written over by a retry that distilled other lessons;
`superseded`, `quarantined`, `pruned`, `evicted`: taken out of use, and `released`: in use again; `credited`: known to
help or to do harm; `switched`: by the guard, on or off; `imported`: from a file; `forgotten`: removed for good;
`redistilled`: made anew; `undone`: as before a redistillation, a pruning or an import that failed; `resolved`: judged
later; `skipped`, `linked`, `merged`: what became of a near copy; `contradicted`: held by a model to contradict other
lessons, or no more."""
State = dict[str, Any]


class Change(Record):
    """One row of the ledger of a bank."""

    id: str
    """Of the change: two processes that carry out the same one at once write the same id."""
    kind: str
    """A `ChangeKind`; later versions may write others."""
    ids: tuple[str, ...]
    """The lessons and episodes that changed, at most 500; for `switched`, the name of the model."""
    before: State | None = None
    """What was so of each of them, such as `{"status": "active"}`; None if it was not there. Never their text."""
    after: State | None = None
    """What is so since; None if it is no longer there."""
    actor: str = ""
    """Who did it: `graph`, `guard`, `credit`, `command line`, or what `MemoryBank(actor=...)` says."""
    reason: str = ""
    time: UtcDatetime
    previous: tuple[str, ...] = ()
    """Hashes of the rows that nothing followed when it was written."""
    usage: Usage = Field(default_factory=dict)
    """What was used on memory for this change, by step, and what the solver used."""
    hash: str = ""
    """Of all the rest but the usage, which older versions do not know."""

    @model_serializer(mode="wrap")
    def _as_older_versions_read_it(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_empty(serialise(self), "usage")


class LogReport(NamedTuple):
    """What a check of the ledger found."""

    rows: int
    changed: tuple[str, ...]
    """Hashes of rows that no longer say what was written."""
    missing: tuple[str, ...]
    """Hashes of rows that are gone: others name them."""
    cut: tuple[str, ...]
    """Hashes of rows after which some may be gone: nothing follows them, and they have no marker."""
    forks: int
    """Places where several processes wrote at once: of what they wrote, no order is known."""
    heads: tuple[str, ...]
    """Hashes of the last rows; they stand for all rows before them."""

    @property
    def ok(self) -> bool:
        """Whether every row is there as it was written."""
        return not (self.changed or self.missing or self.cut)

    def __str__(self) -> str:
        """Return the figures in words."""
        faults = {"changed": self.changed, "missing": self.missing, "cut off after": self.cut}
        found = [f"{len(hashes)} {name} ({hashes[0][:12]})" for name, hashes in faults.items() if hashes]
        return f"{self.rows} rows, {self.forks} forks: {', '.join(found) or 'complete'}"


def digest(content: Mapping[str, Any]) -> str:
    """Return the hash of JSON data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def hash_of(value: Mapping[str, Any]) -> str:
    """Return the hash of a row, of every field but the hash and the usage."""
    return digest({name: value.get(name) for name in Change.model_fields if name not in ("hash", "usage")})


def check(rows: Mapping[str, Mapping[str, Any]], heads: Collection[str]) -> LogReport:
    """Check the rows of a ledger.

    Args:
        rows: their fields, by hash.
        heads: the hashes that the markers name.
    """
    followed = Counter(name for value in rows.values() for name in _previous(value))
    return LogReport(
        rows=len(rows),
        changed=tuple(sorted(name for name, value in rows.items() if hash_of(value) != name)),
        missing=tuple(sorted({*followed, *heads} - rows.keys() - {""})),
        cut=tuple(sorted(rows.keys() - followed.keys() - set(heads))),
        forks=sum(count > 1 for count in followed.values()),
        heads=tuple(sorted(set(heads) - followed.keys())),
    )


def _previous(value: Mapping[str, Any]) -> list[str]:
    """Return the hashes that a row names, "" for the first row; a row that was altered may have anything there."""
    named = value.get("previous")
    return [str(name) for name in named] or [""] if isinstance(named, (list, tuple)) else []
