"""Several operations in one call: the order of the results, what reads see, and that a batch is written whole."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, ListNamespacesOp, PutOp, SearchOp

from reasoningbank_langgraph.testing.store_contract.base import HERE, CarryOut, StoreCases, fill, keys, stored_item

REFUSED: dict[str, Any] = {
    "no operation": object(),
    "a tuple": ("get", "k"),
    "a label with a dot": PutOp(("a.b",), "k", {}),
    "a label that is no text": GetOp(("a", 1), "k"),  # type: ignore[arg-type]  # that is the point
    "an operator that does not exist": SearchOp(HERE, {"n": {"$regex": "."}}),
}


class BatchCases(StoreCases):
    """`batch` and `abatch`, with the same cases."""

    def test_results_stand_where_their_operations_stood(self, store: BaseStore, carry_out: CarryOut) -> None:
        fill(store)
        results: list[Any] = carry_out(
            store,
            [
                SearchOp(HERE, {"n": 3}),
                GetOp(HERE, "rain"),
                PutOp(HERE, "hail", {"text": "hail"}),
                ListNamespacesOp(),
                GetOp(HERE, "absent"),
                SearchOp(HERE, {"n": 2}),
                PutOp(HERE, "absent", None),
                GetOp(HERE, "wind"),
            ],
        )
        assert len(results) == 8
        assert [keys(results[0]), keys(results[5])] == [["wind"], ["snow"]]
        assert [results[1].key, results[7].key] == ["rain", "wind"]
        assert [results[2], results[4], results[6]] == [None] * 3
        assert results[3] == [HERE]
        assert stored_item(store, "hail").value == {"text": "hail"}

    def test_reads_see_the_state_before_the_batch(self, store: BaseStore, carry_out: CarryOut) -> None:
        store.put(HERE, "k", {"n": 0})
        results: list[Any] = carry_out(
            store,
            [
                PutOp(HERE, "k", {"n": 1}),
                GetOp(HERE, "k"),
                PutOp(HERE, "k", {"n": 2}),
                GetOp(HERE, "k"),
                SearchOp(HERE),
                PutOp(("new",), "k", {"n": 3}),
                ListNamespacesOp(),
                GetOp(("new",), "k"),
            ],
        )
        assert [results[1].value, results[3].value, results[4][0].value] == [{"n": 0}] * 3
        assert results[6:] == [[HERE], None]
        assert stored_item(store, "k").value == {"n": 2}

    @pytest.mark.parametrize(
        ("values", "left"),
        [([{"n": 1}, {"n": 2}], {"n": 2}), ([{"n": 1}, None], None), ([None, {"n": 3}], {"n": 3})],
        ids=["put put", "put delete", "delete put"],
    )
    def test_the_last_put_to_an_item_counts(
        self, store: BaseStore, carry_out: CarryOut, values: list[dict[str, Any] | None], left: dict[str, Any] | None
    ) -> None:
        carry_out(store, [PutOp(HERE, "k", value) for value in values])
        item = store.get(HERE, "k")
        assert (item.value if item else None) == left
        assert len(store.search(HERE)) == (left is not None)

    def test_puts_and_deletes_of_one_batch_are_all_carried_out(self, store: BaseStore, carry_out: CarryOut) -> None:
        fill(store)
        ops = [PutOp(HERE, "rain", None), PutOp(HERE, "hail", {"n": 4}), PutOp(("b",), "rain", {"n": 5})]
        assert carry_out(store, [*ops, PutOp(HERE, "snow", {"n": 6})]) == [None] * 4
        assert {item.key: item.value["n"] for item in store.search(HERE)} == {"hail": 4, "snow": 6, "wind": 3}
        assert stored_item(store, "rain", ("b",)).value == {"n": 5}

    def test_equal_texts_in_one_batch_are_all_written(self, store: BaseStore, carry_out: CarryOut) -> None:
        carry_out(store, [PutOp(HERE, str(n), {"text": "the same words"}) for n in range(4)])
        assert set(keys(store.search(HERE, query="the same words"))) == {"0", "1", "2", "3"}

    def test_operations_may_come_from_a_generator(self, store: BaseStore, carry_out: CarryOut) -> None:
        assert carry_out(store, (PutOp(HERE, str(n), {"n": n}) for n in range(3))) == [None] * 3
        assert len(store.search(HERE)) == 3

    def test_an_empty_batch_does_nothing(self, store: BaseStore, carry_out: CarryOut) -> None:
        assert carry_out(store, []) == []

    @pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
    def test_nothing_of_a_refused_batch_is_written(self, store: BaseStore, carry_out: CarryOut, wrong: Any) -> None:
        store.put(HERE, "there", {"n": 1})
        with pytest.raises((TypeError, ValueError)):
            carry_out(store, [PutOp(HERE, "k", {"n": 1}), PutOp(HERE, "there", None), wrong])
        assert keys(store.search(HERE)) == ["there"]
