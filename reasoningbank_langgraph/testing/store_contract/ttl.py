"""Items that live for a time, in minutes; stores that do not support it refuse them.

Times are counted in beats, each a third of an item's life: at least two of the store's `clock`, so that a store with a
resolution of one second passes as well, and longer where calls take long. A try in which calls came too late proves
nothing about the store and is repeated with longer beats.
"""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from reasoningbank_langgraph.testing.store_contract.base import HERE, StoreCases, keys

READS = ("get", "search", "get still", "search still")
TRIES = 6


class LateError(Exception):
    """The machine was too busy for the beats of a try."""


class Beats:
    """The times of one try of a case, counted from its start.

    Args:
        seconds: of one beat.
    """

    def __init__(self, seconds: float) -> None:
        self.life = 3 * seconds / 60
        """Of the items, in minutes."""
        self._seconds = seconds
        self._start = time.monotonic()

    def wait_until(self, beat: float) -> None:
        """Sleep until a beat."""
        time.sleep(max(0.0, self._start + beat * self._seconds - time.monotonic()))

    def expect_before(self, beat: float) -> None:
        """Give the try up where that beat is over."""
        if time.monotonic() > self._start + beat * self._seconds:
            raise LateError


class TtlCases(StoreCases):
    """`put(ttl=...)`, `sweep_ttl()` and what reading does to an item's time."""

    @pytest.mark.parametrize(
        "put",
        [
            lambda store: store.put(HERE, "k", {"n": 1}, ttl=1),
            lambda store: asyncio.run(store.aput(HERE, "k", {"n": 1}, ttl=1)),
        ],
        ids=["put", "aput"],
    )
    def test_a_store_without_times_to_live_refuses_them(
        self, timeless_store: BaseStore, put: Callable[[BaseStore], None]
    ) -> None:
        if timeless_store.supports_ttl:
            pytest.skip("the store supports times to live")
        with pytest.raises(NotImplementedError):
            put(timeless_store)
        assert timeless_store.get(HERE, "k") is None
        timeless_store.put(HERE, "k", {"n": 1}, ttl=None)
        assert timeless_store.get(HERE, "k") is not None

    def test_a_sweep_removes_what_has_expired_and_nothing_else(self, ttl_store: BaseStore) -> None:
        def attempt(beats: Beats) -> None:
            for namespace, key in ((HERE, "gone"), (("other",), "gone as well"), (HERE, "written again")):
                ttl_store.put(namespace, key, {"n": 1}, ttl=beats.life)
            ttl_store.put(HERE, "written again", {"n": 2})
            ttl_store.put(HERE, "lasting", {"n": 1}, ttl=None)
            ttl_store.put(HERE, "long", {"n": 1}, ttl=60)
            beats.expect_before(0.5)
            early = self._sweep(ttl_store), len(ttl_store.search((), refresh_ttl=False))
            beats.expect_before(2.5)
            assert early == (0, 5)
            beats.wait_until(4)
            assert self._sweep(ttl_store) == 2

        self._in_time(ttl_store, attempt)
        assert self._sweep(ttl_store) == 0
        assert set(keys(ttl_store.search(()))) == {"written again", "lasting", "long"}
        assert ttl_store.get(HERE, "gone") is None
        assert ttl_store.list_namespaces() == [HERE]

    def test_reading_starts_the_time_anew_unless_told_not_to(self, ttl_store: BaseStore) -> None:
        def attempt(beats: Beats) -> None:
            for key in READS:
                ttl_store.put((key,), key, {"n": 1}, ttl=beats.life)
            beats.expect_before(0.5)
            beats.wait_until(2)
            read = (
                ttl_store.get(("get",), "get"),
                ttl_store.search(("search",)),
                ttl_store.get(("get still",), "get still", refresh_ttl=False),
                ttl_store.search(("search still",), refresh_ttl=False),
            )
            beats.expect_before(2.5)
            assert all(read)
            self._expect_only_refreshed(ttl_store, beats)

        self._in_time(ttl_store, attempt)

    def test_asynchronous_puts_and_reads_keep_to_the_same_times(self, ttl_store: BaseStore) -> None:
        async def use(beats: Beats) -> None:
            for key in READS:
                await ttl_store.aput((key,), key, {"n": 1}, ttl=beats.life)
            beats.expect_before(0.5)
            await asyncio.to_thread(beats.wait_until, 2)
            read = (
                await ttl_store.aget(("get",), "get"),
                await ttl_store.asearch(("search",)),
                await ttl_store.aget(("get still",), "get still", refresh_ttl=False),
                await ttl_store.asearch(("search still",), refresh_ttl=False),
            )
            beats.expect_before(2.5)
            assert all(read)

        def attempt(beats: Beats) -> None:
            asyncio.run(use(beats))
            self._expect_only_refreshed(ttl_store, beats)

        self._in_time(ttl_store, attempt)

    def _expect_only_refreshed(self, store: BaseStore, beats: Beats) -> None:
        """Expect the two items whose time was restarted to outlive their first time, and the others to expire."""
        beats.wait_until(4)
        self._sweep(store)
        left = {namespace[0] for namespace in store.list_namespaces()}
        beats.expect_before(4.5)
        assert left == {"get", "search"}

    def _in_time(self, store: BaseStore, attempt: Callable[[Beats], None]) -> None:
        """Try a case, with longer beats each time calls come too late; skip it if the store has no times to live."""
        if not store.supports_ttl:
            pytest.skip("the store does not support times to live")
        start = time.monotonic()
        store.put(HERE, "measure", {"n": 1}, ttl=60)
        store.search(HERE)
        store.delete(HERE, "measure")
        self._sweep(store)
        seconds = max(2 * self.clock, 3 * (time.monotonic() - start))
        for number in range(TRIES):
            with suppress(LateError):
                return attempt(Beats(seconds * 2**number))
        pytest.fail(f"a few calls took longer than {seconds * 2 ** (TRIES - 2):.0f} seconds each time")

    def _sweep(self, store: Any) -> int:
        removed: int = store.sweep_ttl()
        return removed
