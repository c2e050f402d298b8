"""One writer at a time in each bank of a process: a write looks first, and stores cannot compare and swap.

Between processes, ids that are fixed beforehand keep two runs of one attempt from writing it twice.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from reasoningbank_langgraph.bank.item_values import Namespace

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

_turns: WeakKeyDictionary[BaseStore, dict[Namespace, threading.Lock]] = WeakKeyDictionary()
_registry = threading.Lock()
_LOOK_AGAIN = 0.002


def _begin_anew() -> None:
    """Give a forked child turns of its own: a thread that had one in the parent does not hand it on here."""
    global _registry  # noqa: PLW0603
    _registry = threading.Lock()
    _turns.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _turn(store: BaseStore, namespace: Namespace) -> threading.Lock:
    with _registry:
        return _turns.setdefault(store, {}).setdefault(namespace, threading.Lock())


@contextmanager
def turn(store: BaseStore, namespace: Namespace) -> Iterator[None]:
    """Wait for one's turn to write."""
    with _turn(store, namespace):
        yield


@asynccontextmanager
async def aturn(store: BaseStore, namespace: Namespace) -> AsyncIterator[None]:
    """Wait for one's turn to write, without blocking the loop; threads and other loops take turns with it."""
    lock = _turn(store, namespace)
    while not lock.acquire(blocking=False):  # noqa: ASYNC110 - a thread may hold it, which no event of a loop covers
        await asyncio.sleep(_LOOK_AGAIN)
    try:
        yield
    finally:
        lock.release()
