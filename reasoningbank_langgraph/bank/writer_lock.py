"""One writer at a time in each bank of a process: a write reads first, and stores have no compare-and-swap.

Between processes, ids that are fixed beforehand keep two runs of one attempt from writing it twice.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from reasoningbank_langgraph.bank.item_values import Namespace
from reasoningbank_langgraph.errors import BusyBankError

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

Result = TypeVar("Result")


class _Lock:
    """The lock of a bank, and the thread whose event loop holds it, if one does."""

    def __init__(self) -> None:
        self.lock, self.loop = threading.Lock(), 0

    def locked(self) -> bool:
        return self.lock.locked()


_locks: WeakKeyDictionary[BaseStore, dict[Namespace, _Lock]] = WeakKeyDictionary()
_registry = threading.Lock()
_POLL_SECONDS = 0.002


def _begin_anew() -> None:
    """Give a forked child new locks: a parent's thread that holds one does not exist in the child to release it."""
    global _registry  # noqa: PLW0603
    _registry = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _lock_of(store: BaseStore, namespace: Namespace) -> _Lock:
    with _registry:
        return _locks.setdefault(store, {}).setdefault(namespace, _Lock())


@contextmanager
def writing(store: BaseStore, namespace: Namespace) -> Iterator[None]:
    """Hold the bank's lock while writing.

    Raises:
        BusyBankError: an event loop of this thread holds it: it would wait for itself.
    """
    held = _lock_of(store, namespace)
    if held.loop == threading.get_ident():
        raise BusyBankError(namespace)
    with held.lock:
        yield


@asynccontextmanager
async def awriting(store: BaseStore, namespace: Namespace) -> AsyncIterator[None]:
    """Hold the bank's lock while writing without blocking the loop; threads and other loops wait for it."""
    held = _lock_of(store, namespace)
    while not held.lock.acquire(blocking=False):  # noqa: ASYNC110 - a thread may hold it, which no event covers
        await asyncio.sleep(_POLL_SECONDS)
    held.loop = threading.get_ident()
    try:
        yield
    finally:
        held.loop = 0
        held.lock.release()


async def to_its_end(write: Coroutine[Any, Any, Result]) -> Result:
    """Await a write. If the caller is cancelled, it is still waited for: it goes on, and others have to wait too."""
    task = asyncio.ensure_future(write)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # was looked at: the cancellation is what the caller hears of
        raise
