"""How long a store may be used: until it is closed, and only in the process that opened it."""

from __future__ import annotations

import os
from collections.abc import Callable
from weakref import finalize

from reasoningbank_langgraph.errors import ForkedStoreError, StoreClosedError


class Lifetime:
    """The time in which a store may be used; it ends with `end()`, with the store, or with the process.

    Args:
        store: the store.
        leave: lets go of what the store uses, once. It must not refer to the store, which it would keep alive.
    """

    def __init__(self, store: object, leave: Callable[[], None]) -> None:
        self._process = os.getpid()
        self._closed = False
        self._leave = finalize(store, _leave, self._process, leave)

    @property
    def is_over(self) -> bool:
        """Whether the store was closed, or belongs to the parent of this forked process."""
        return self._closed or self._is_forked

    def check(self) -> None:
        """Refuse what a store does after its end.

        Raises:
            ForkedStoreError: this process was forked since the store was opened.
            StoreClosedError: the store was closed.
        """
        if self._is_forked:
            raise ForkedStoreError(self._process, os.getpid())
        if self._closed:
            raise StoreClosedError("this store is closed: open the bank again with from_path or from_server")

    def end(self) -> None:
        """Let go of what the store uses; a second call does nothing."""
        self._closed = True
        self._leave()

    @property
    def _is_forked(self) -> bool:
        return os.getpid() != self._process


def _leave(process: int, leave: Callable[[], None]) -> None:
    if os.getpid() == process:  # a forked child ends without touching what is its parent's
        leave()
