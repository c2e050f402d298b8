"""Both interfaces, from any thread and any event loop, with many callers at once. Needs no pytest plugin."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from reasoningbank_langgraph.testing.store_contract.base import HERE, WEATHER, Namespace, StoreCases, keys, stored_item

THERE = ("users", "bo")


class ConcurrencyCases(StoreCases):
    """A store is one object that the whole program shares."""

    def test_every_operation_works_asynchronously(self, store: BaseStore) -> None:
        async def use() -> None:
            await store.aput(HERE, "rain", WEATHER["rain"])
            await store.aput(HERE, "snow", WEATHER["snow"], index=False)
            await store.aput(THERE, "wind", WEATHER["wind"])
            item = await store.aget(HERE, "rain")
            assert item is not None
            assert item.value == WEATHER["rain"]
            assert await store.aget(HERE, "absent") is None
            assert set(keys(await store.asearch(HERE, query="rain"))) == {"rain", "snow"}
            assert keys(await store.asearch((), filter={"n": {"$gt": 1}, "text": WEATHER["wind"]["text"]})) == ["wind"]
            assert len(await store.asearch((), limit=2, offset=1)) == 2
            assert await store.alist_namespaces() == [HERE, THERE]
            assert await store.alist_namespaces(suffix=("bo",), limit=1) == [THERE]
            await store.adelete(HERE, "rain")
            assert keys(await store.asearch(HERE)) == ["snow"]

        asyncio.run(use())

    def test_what_one_interface_wrote_the_other_reads(self, store: BaseStore) -> None:
        asyncio.run(store.aput(HERE, "async", {"n": 1}))
        store.put(HERE, "sync", {"n": 2})
        assert stored_item(store, "async").value == {"n": 1}
        assert set(keys(asyncio.run(store.asearch(HERE)))) == {"async", "sync"}

    def test_synchronous_calls_work_inside_a_running_loop(self, store: BaseStore) -> None:
        """A graph run with `ainvoke` may have synchronous nodes."""

        async def use() -> None:
            store.put(HERE, "k", {"text": "x"})
            assert stored_item(store, "k").value == {"text": "x"}
            assert store.search(HERE, query="x")[0].key == "k"
            assert store.list_namespaces() == [HERE]
            with ThreadPoolExecutor(1) as pool:
                await asyncio.wrap_future(pool.submit(store.put, HERE, "from a thread", {"text": "y"}))
            store.delete(HERE, "k")
            assert keys(await store.asearch(HERE)) == ["from a thread"]

        asyncio.run(use())

    def test_one_store_serves_several_loops(self, store: BaseStore) -> None:
        async def write(n: int) -> None:
            await asyncio.gather(*(store.aput(HERE, f"{n} {m}", {"text": f"{n} {m}"}) for m in range(5)))

        asyncio.run(write(0))
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda n: asyncio.run(write(n)), (1, 2)))
        assert len(store.search(HERE, limit=100)) == 15

    def test_a_cancelled_call_leaves_the_store_usable(self, store: BaseStore) -> None:
        async def use() -> None:
            task = asyncio.create_task(store.aput(HERE, "k", {"text": "x"}))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await store.aput(HERE, "after", {"text": "y"})
            item = await store.aget(HERE, "after")
            assert item is not None
            assert item.value == {"text": "y"}

        asyncio.run(use())

    def test_a_failed_call_does_not_fail_those_beside_it(self, store: BaseStore) -> None:
        async def use() -> list[Any]:
            calls = [store.aput(HERE, "a", {"n": 1}), store.aput(("a.b",), "k", {}), store.aput(HERE, "b", {"n": 2})]
            return await asyncio.gather(*calls, return_exceptions=True)

        first, wrong, last = asyncio.run(use())
        assert (first, last) == (None, None)
        assert isinstance(wrong, ValueError)
        assert set(keys(store.search(HERE))) == {"a", "b"}

    def test_writes_from_many_threads_all_arrive(self, store: BaseStore) -> None:
        def write(n: int) -> None:
            for m in range(5):
                store.put(HERE, f"{n} {m}", {"text": f"number {n} {m}"})

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        assert len(store.search(HERE, limit=1000)) == 40
        assert len({item.key for item in store.search(HERE, query="number", limit=1000)}) == 40

    @pytest.mark.parametrize("callers", ["threads", "tasks"])
    def test_all_operations_at_once_raise_nothing_and_lose_nothing(self, store: BaseStore, callers: str) -> None:
        places: list[tuple[Namespace, str]] = [(("t", str(n % 2)), f"k{n}") for n in range(8)]
        if callers == "threads":
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda place: _busy(store, *place), places))
        else:
            asyncio.run(_all_busy(store, places))
        assert {(item.namespace, item.key) for item in store.search(("t",), limit=100)} == set(places)


def _busy(store: BaseStore, namespace: Namespace, key: str) -> None:
    store.put(namespace, key, {"text": key, "n": 1})
    assert stored_item(store, key, namespace).value["n"] == 1
    store.delete(namespace, key)
    assert store.get(namespace, key) is None
    store.list_namespaces(max_depth=2)
    store.put(namespace, key, {"text": key, "n": 2})
    assert key in keys(store.search(namespace, query=key, limit=100))


async def _all_busy(store: BaseStore, places: list[tuple[Namespace, str]]) -> None:
    async def busy(namespace: Namespace, key: str) -> None:
        await store.aput(namespace, key, {"text": key, "n": 1})
        await store.adelete(namespace, key)
        assert await store.aget(namespace, key) is None
        await store.alist_namespaces(max_depth=2)
        await store.aput(namespace, key, {"text": key, "n": 2})
        assert key in keys(await store.asearch(namespace, query=key, limit=100))

    await asyncio.gather(*(busy(*place) for place in places))
