"""How far threads have been read, kept in the store beside the bank.

Nothing tells one checkpointer from another, and each has a mark of its own. So a mark names a few of the newest
checkpoints that had been read, and it is that of a checkpointer which holds one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from reasoningbank_langgraph.learn.checkpoints import blind
from reasoningbank_langgraph.namespaces import THREADS, beside

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.store.base import BaseStore

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_KEY = "read"
_OVERLAP = timedelta(minutes=1)
"""A checkpoint may be written later than its time says, by that much at most: a walk begins so much earlier."""
_NAMED, _MARKS = 3, 20
"""Checkpoints that a mark names, and marks that are kept."""


class Watermark:
    """The marks of one namespace.

    Args:
        store: the store of the bank.
        template: labels of the bank, those in braces not filled in.
        saver: the checkpointer whose mark is wanted.
    """

    def __init__(self, store: BaseStore, template: Sequence[str], saver: BaseCheckpointSaver[Any]) -> None:
        self._store, self._namespace, self._saver = store, beside(template, THREADS), blind(saver)

    def since(self) -> datetime:
        """Return the time from which threads have to be read."""
        found = [mark for mark in self._marks() if self._is_ours(mark)]
        newest = max((datetime.fromisoformat(mark["until"]) for mark in found), default=BEGINNING)
        return max(newest - _OVERLAP, BEGINNING)

    def move(self, until: datetime, newest: Mapping[str, str]) -> None:
        """Record that threads were read.

        Args:
            until: all that was made up to then has been dealt with.
            newest: id of the newest checkpoint of each thread that was read, oldest first.
        """
        named = [[thread_id, name] for thread_id, name in newest.items()][-_NAMED:]
        others = [mark for mark in self._marks() if not self._is_ours(mark)]
        marks = [*others, {"until": until.isoformat(), "checkpoints": named}]
        self._store.put(self._namespace, _KEY, {"marks": marks[-_MARKS:]}, index=False)

    def _marks(self) -> list[dict[str, Any]]:
        row = self._store.get(self._namespace, _KEY)
        return list(row.value["marks"]) if row else []

    def _is_ours(self, mark: Mapping[str, Any]) -> bool:
        return any(self._holds(*names) for names in mark["checkpoints"])

    def _holds(self, thread_id: str, checkpoint_id: str) -> bool:
        found = self._saver.get_tuple(
            {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}}
        )
        return found is not None
