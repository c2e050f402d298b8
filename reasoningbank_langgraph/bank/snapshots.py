"""A bank as it was at some moment: what had been written by then and not yet retired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from reasoningbank_langgraph.bank.branches import Branch, visibility
from reasoningbank_langgraph.bank.collector import collector_paused
from reasoningbank_langgraph.bank.item_values import Namespace, micros, to_episode, to_item
from reasoningbank_langgraph.bank.operations import Ops, rows_where
from reasoningbank_langgraph.errors import InvalidMomentError
from reasoningbank_langgraph.extraction.waiting import before_overturned
from reasoningbank_langgraph.namespaces import LEDGER, beside
from reasoningbank_langgraph.records.lessons import NEVER_OUT

if TYPE_CHECKING:
    from langgraph.store.base import Item
    from langgraph.types import StateSnapshot

    from reasoningbank_langgraph.records import Episode, MemoryItem


_OLDEST_FIRST = attrgetter("created_at", "id")


class Past(NamedTuple):
    """A moment and, if it is that of a checkpoint, the checkpoint's branch."""

    at: int
    """Microseconds since 1970."""
    branch: Branch = Branch()

    @classmethod
    def of(cls, when: datetime | StateSnapshot) -> Self:
        """Read a moment.

        Raises:
            InvalidMomentError: a time without a zone, or something that is neither a time nor a checkpoint.
        """
        if isinstance(when, datetime):
            if when.tzinfo is None:
                raise InvalidMomentError(f"{when.isoformat()} has no time zone: use datetime.now(UTC), for example")
            return cls(micros(when))
        created, config = getattr(when, "created_at", None), getattr(when, "config", None)
        if not created or not config:
            raise InvalidMomentError(
                f"as_of takes a time or a snapshot that graph.get_state() read from a checkpointer, got {when!r:.200}"
            )
        thread = config.get("configurable", {}).get("thread_id")
        thread = None if thread is None else str(thread)
        moment = datetime.fromisoformat(created)
        return cls(micros(moment), Branch.of(thread, when.values, moment))

    def contains(self, row: Item) -> bool:
        """Say whether a row was in the bank and active."""
        in_a_gap = any(start <= self.at < end for start, end in row.value.get("gaps", ()))
        return bool(row.value["since"] <= self.at < row.value["retired"]) and not in_a_gap

    def item(self, row: Item) -> MemoryItem:
        """Return the record of a row that was in the bank: it was active then, whatever happened to it later."""
        return to_item(row).model_copy(update={**NEVER_OUT, "status": "active", "retired_at": None})

    @property
    def active_filter(self) -> dict[str, Any]:
        """The filter for rows that were active."""
        return {"since": {"$lte": self.at}, "retired": {"$gt": self.at}}


def items_then(namespace: Namespace, past: Past | None, rows: Sequence[Item]) -> Ops[list[MemoryItem]]:
    """Return those rows that were in the bank, only on the checkpoint's branch if the moment is that of a checkpoint.

    Without a moment, all rows are returned. The oldest comes first.
    """
    found = rows if past is None else (yield from rows_then(namespace, past, rows))
    with collector_paused():
        return sorted((past.item(row) if past else to_item(row) for row in found), key=_OLDEST_FIRST)


def episodes_then(namespace: Namespace, past: Past | None, rows: Sequence[Item]) -> Ops[list[Episode]]:
    """Return the episodes of rows that were in the bank, each with the verdict of then, as the ledger tells.

    One that was judged anew before the bank had a ledger has the verdict of now.
    """
    with collector_paused():
        episodes = sorted(map(to_episode, rows), key=_OLDEST_FIRST)
    if past is None or not any(episode.earlier for episode in episodes):
        return episodes
    told = yield from rows_where(beside(namespace, LEDGER), {"kind": "resolved"})
    since = [row.value for row in told if micros(datetime.fromisoformat(row.value["time"])) > past.at]
    overturned = {(change["id"], name) for change in since if change["before"] for name in change["ids"]}
    times = Counter(name for _, name in overturned)
    return [before_overturned(episode, times[episode.id]) for episode in episodes]


def rows_then(namespace: Namespace, past: Past, rows: Sequence[Item]) -> Ops[list[Item]]:
    """Return the same as rows, of lessons or of episodes."""
    is_visible = yield from visibility(namespace, past.branch, rows)
    return [row for row in rows if past.contains(row) and is_visible(row)]
