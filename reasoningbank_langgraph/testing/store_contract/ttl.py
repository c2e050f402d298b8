"""Items that live for a time, in minutes: refused by a store that cannot, kept to by one that says it can.

The times are multiples of the store's `clock`, so that a store which keeps whole seconds passes as well, and longer
where calls take long.
"""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from reasoningbank_langgraph.testing.store_contract.base import HERE, Namespace, StoreCases, keys

READS = ("get", "search", "get still", "search still")


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
        self, plain_store: BaseStore, put: Callable[[BaseStore], None]
    ) -> None:
        if plain_store.supports_ttl:
            pytest.skip("the store supports times to live")
        with pytest.raises(NotImplementedError):
            put(plain_store)
        assert plain_store.get(HERE, "k") is None
        plain_store.put(HERE, "k", {"n": 1}, ttl=None)
        assert plain_store.get(HERE, "k") is not None

    def test_a_sweep_removes_what_has_expired_and_nothing_else(self, ttl_store: BaseStore) -> None:
        pace = self._pace(ttl_store)
        self._put(ttl_store, pace, HERE, "gone")
        self._put(ttl_store, pace, ("other",), "gone as well")
        self._put(ttl_store, pace, HERE, "written again")
        ttl_store.put(HERE, "written again", {"n": 2})
        ttl_store.put(HERE, "lasting", {"n": 1}, ttl=None)
        ttl_store.put(HERE, "long", {"n": 1}, ttl=60)
        assert self._sweep(ttl_store) == 0
        assert len(ttl_store.search((), refresh_ttl=False)) == 5
        time.sleep(4.5 * pace)
        assert self._sweep(ttl_store) == 2
        assert self._sweep(ttl_store) == 0
        assert set(keys(ttl_store.search(()))) == {"written again", "lasting", "long"}
        assert ttl_store.get(HERE, "gone") is None
        assert ttl_store.list_namespaces() == [HERE]

    def test_reading_starts_the_time_anew_unless_told_not_to(self, ttl_store: BaseStore) -> None:
        pace = self._pace(ttl_store)
        for key in READS:
            self._put(ttl_store, pace, (key,), key)
        time.sleep(2 * pace)
        assert ttl_store.get(("get",), "get")
        assert ttl_store.search(("search",))
        assert ttl_store.get(("get still",), "get still", refresh_ttl=False)
        assert ttl_store.search(("search still",), refresh_ttl=False)
        self._sweep_twice(ttl_store, pace)

    def test_asynchronous_puts_and_reads_keep_to_the_same_times(self, ttl_store: BaseStore) -> None:
        pace = self._pace(ttl_store)

        async def use() -> None:
            for key in READS:
                await ttl_store.aput((key,), key, {"n": 1}, ttl=3 * pace / 60)
            await asyncio.sleep(2 * pace)
            assert await ttl_store.aget(("get",), "get")
            assert await ttl_store.asearch(("search",))
            assert await ttl_store.aget(("get still",), "get still", refresh_ttl=False)
            assert await ttl_store.asearch(("search still",), refresh_ttl=False)

        asyncio.run(use())
        self._sweep_twice(ttl_store, pace)

    def _sweep_twice(self, store: BaseStore, pace: float) -> None:
        """Expect the two items whose time was started anew to outlive their first time, and the others to go."""
        time.sleep(1.5 * pace)
        self._sweep(store)
        left = {namespace[0] for namespace in store.list_namespaces()}
        assert {"get", "search"} <= left
        time.sleep(pace)
        self._sweep(store)
        left = {namespace[0] for namespace in store.list_namespaces()}
        assert left.isdisjoint({"get still", "search still"})

    def _pace(self, store: BaseStore) -> float:
        """Return a third of an item's life, in seconds: long beside the few calls made in it, however busy the machine.

        Skips the case where the store has no times to live.
        """
        if not store.supports_ttl:
            pytest.skip("the store does not support times to live")
        start = time.monotonic()
        for _ in range(2):
            store.put(HERE, "measure", {"n": 1}, ttl=60)
            store.search(HERE)
            store.delete(HERE, "measure")
            self._sweep(store)
        return max(self.clock, 2 * (time.monotonic() - start))

    def _put(self, store: BaseStore, pace: float, namespace: Namespace, key: str) -> None:
        store.put(namespace, key, {"n": 1}, ttl=3 * pace / 60)

    def _sweep(self, store: Any) -> int:
        removed: int = store.sweep_ttl()
        return removed
