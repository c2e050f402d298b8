"""Searches without a query: order and pages."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

from typing import Any

from langgraph.store.base import BaseStore, PutOp, SearchOp

from reasoningbank_langgraph.testing.store_contract.base import HERE, WEATHER, CarryOut, StoreCases, fill, keys


class SearchCases(StoreCases):
    """`search` by namespace alone; filters and queries have files of their own."""

    def test_the_last_written_comes_first(self, store: BaseStore) -> None:
        fill(store)
        store.put(HERE, "rain", {"text": "rain again"})
        assert keys(store.search(HERE)) == ["rain", "wind", "snow"]

    def test_nothing_is_scored_without_a_query(self, store: BaseStore) -> None:
        fill(store)
        for query in (None, ""):
            found = store.search(HERE, query=query)
            assert set(keys(found)) == set(WEATHER)
            assert [item.score for item in found] == [None] * 3

    def test_a_store_without_an_index_passes_over_queries(self, plain_store: BaseStore) -> None:
        fill(plain_store)
        plain_store.put(HERE, "rain", WEATHER["rain"], index=["text"])
        plain_store.put(HERE, "snow", WEATHER["snow"], index=False)
        found = plain_store.search(HERE, query="white snow")
        assert set(keys(found)) == set(WEATHER)
        assert [item.score for item in found] == [None] * 3

    def test_a_found_item_tells_its_own_namespace(self, store: BaseStore) -> None:
        store.put((*HERE, "deep", "er"), "k", {"text": "x"})
        for query in (None, "x"):
            assert [item.namespace for item in store.search(HERE, query=query)] == [(*HERE, "deep", "er")]

    def test_an_unknown_namespace_holds_nothing(self, store: BaseStore) -> None:
        fill(store)
        assert store.search(("elsewhere",)) == []
        assert store.search((*HERE, "deeper"), query="rain") == []

    def test_pages_do_not_overlap_and_miss_nothing(self, store: BaseStore) -> None:
        store.batch([PutOp(HERE, str(n), {"text": f"word{n}"}) for n in range(25)])
        pages = [keys(store.search(HERE, limit=7, offset=start)) for start in range(0, 35, 7)]
        assert [len(page) for page in pages] == [7, 7, 7, 4, 0]
        assert len({key for page in pages for key in page}) == 25

    def test_the_limit_counts(self, store: BaseStore) -> None:
        store.batch([PutOp(HERE, str(n), {"n": n}) for n in range(12)])
        assert len(store.search(HERE)) == 10
        assert store.search(HERE, limit=0) == []
        assert len(store.search(HERE, limit=1000)) == 12

    def test_a_filter_applies_before_the_limit(self, store: BaseStore) -> None:
        store.batch([PutOp(HERE, str(n), {"n": n, "rare": n % 10 == 0}) for n in range(40)])
        pages = [store.search(HERE, filter={"rare": True}, limit=3, offset=start) for start in (0, 3)]
        assert [len(page) for page in pages] == [3, 1]
        assert {key for page in pages for key in keys(page)} == {"0", "10", "20", "30"}

    def test_several_searches_in_one_batch_answer_for_themselves(self, store: BaseStore, carry_out: CarryOut) -> None:
        fill(store)
        store.put(("b",), "other", {"n": 1, "text": "other"})
        ops = [SearchOp(("b",)), SearchOp(HERE, {"n": 1}), SearchOp(HERE, limit=2), SearchOp((), {"n": 1})]
        found: list[Any] = carry_out(store, ops)
        assert [keys(found[0]), keys(found[1])] == [["other"], ["rain"]]
        assert [len(found[2]), set(keys(found[3]))] == [2, {"other", "rain"}]
