"""One writer at a time in each bank of a process: a write reads first, and stores have no compare-and-swap.

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

_locks: WeakKeyDictionary[BaseStore, dict[Namespace, threading.Lock]] = WeakKeyDictionary()
_registry = threading.Lock()
_POLL_SECONDS = 0.002


def _begin_anew() -> None:
    """Give a forked child new locks: a parent's thread that holds one does not exist in the child to release it."""
    global _registry  # noqa: PLW0603
    _registry = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _lock_of(store: BaseStore, namespace: Namespace) -> threading.Lock:
    with _registry:
        return _locks.setdefault(store, {}).setdefault(namespace, threading.Lock())


@contextmanager
def writing(store: BaseStore, namespace: Namespace) -> Iterator[None]:
    """Hold the bank's lock while writing."""
    with _lock_of(store, namespace):
        yield


@asynccontextmanager
async def awriting(store: BaseStore, namespace: Namespace) -> AsyncIterator[None]:
    """Hold the bank's lock while writing without blocking the loop; threads and other loops wait for it."""
    lock = _lock_of(store, namespace)
    while not lock.acquire(blocking=False):  # noqa: ASYNC110 - a thread may hold it, which no event of a loop covers
        await asyncio.sleep(_POLL_SECONDS)
    try:
        yield
    finally:
        lock.release()
