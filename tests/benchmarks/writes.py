"""How often a store is written to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langgraph.store.base import BaseStore, Op, PutOp


class WriteCount:
    """Counts the batches of a store that write something: each is one write, whatever it holds."""

    def __init__(self, store: BaseStore) -> None:
        self.total, self._batch = 0, store.batch
        store.batch = self.batch  # type: ignore[method-assign]

    def batch(self, ops: Iterable[Op]) -> list[Any]:
        """Carry a batch out and count it."""
        wanted = list(ops)
        self.total += any(isinstance(op, PutOp) for op in wanted)
        return self._batch(wanted)
