"""Expired items removed, once or regularly in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from weakref import WeakMethod

from langgraph.store.base import TTLConfig

from reasoningbank_langgraph.errors import StoreClosedError
from reasoningbank_langgraph.store.cache.collection import CachedCollection, now_us
from reasoningbank_langgraph.store.writing import Writer

DEFAULT_MINUTES = 5.0

logger = logging.getLogger(__name__)


def sweep(collection: CachedCollection, writer: Writer) -> int:
    """Delete the items that have expired; returns how many."""
    with collection.writing:
        moment = now_us()
        due = {"$and": [{"expires": {"$gt": 0}}, {"expires": {"$lte": moment}}]}
        entries = list(collection.entries(collection.rows.get(collection.rows.ids(due), documents=False)))
        current = collection.find({entry.id: (entry.namespace, entry.key) for entry in entries})
        expired = [entry for entry in current.values() if entry.expired(moment)]
        writer.remove(expired)
    return len(expired)


class Sweeper:
    """Calls a sweep at an interval in a daemon thread, until stopped or until the store is closed or collected."""

    def __init__(self, sweep: Callable[[], int]) -> None:
        self._sweep = WeakMethod(sweep)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._done: Future[None] = Future()

    @property
    def running(self) -> bool:
        """Whether the thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, minutes: float | None, settings: TTLConfig | None) -> Future[None]:
        """Start, unless it is running; the future ends with the thread and stops it when cancelled.

        Args:
            minutes: between two sweeps; default that of the settings, or 5.
            settings: of the store; without any nothing expires, and the future is done at once.
        """
        if settings is None:
            done: Future[None] = Future()
            done.set_result(None)
            return done
        minutes = minutes or settings.get("sweep_interval_minutes") or DEFAULT_MINUTES
        if not self.running:
            self._stop = threading.Event()
            self._done = Future()
            self._done.add_done_callback(_stop_if_cancelled(self._stop))
            self._thread = threading.Thread(
                target=self._run, args=(minutes * 60, self._stop, self._done), name="chroma-ttl-sweeper", daemon=True
            )
            self._thread.start()
        return self._done

    def stop(self, seconds: float | None) -> bool:
        """End the thread; returns False if it did not end in time."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)
        return not self.running

    def _run(self, seconds: float, stop: threading.Event, done: Future[None]) -> None:
        while not stop.wait(min(seconds, threading.TIMEOUT_MAX)):
            sweep = self._sweep()
            if sweep is None:
                break
            try:
                sweep()
            except StoreClosedError:
                break
            except Exception:  # a sweep that fails once, for example without a network, is tried again
                logger.exception("the sweep of expired items failed")
            del sweep
        with suppress(Exception):
            done.set_result(None)


def _stop_if_cancelled(stop: threading.Event) -> Callable[[Future[None]], None]:
    return lambda future: stop.set() if future.cancelled() else None
