"""Namespaces are tuples of labels: no tenant's name is ever the beginning of another's."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, PutOp, SearchOp

from reasoningbank_langgraph.testing.store_contract.base import HERE, CarryOut, StoreCases, keys, stored_item

BAD_LABELS = {"empty": "", "dot": "a.b", "NUL": "n\x00l", "int": 1, "None": None}
SIBLINGS = {
    "longer": "alice",
    "shorter": "a",
    "space": "al ",
    "other case": "AL",
    "newline": "al\n",
    "underscore": "a_",
    "percent": "a%",
    "only percent": "%",
    "underscore first": "_l",
    "star": "a*",
    "only star": "*",
    "question mark": "a?",
    "brackets": "[al]",
    "hyphen": "al-x",
    "slash": "al/x",
    "quote": "al'",
    "full width": "ａｌ",
}


class NamespaceCases(StoreCases):
    """Labels that are refused, and what a prefix reaches."""

    @pytest.mark.parametrize("label", BAD_LABELS.values(), ids=BAD_LABELS)
    def test_a_label_that_stores_cannot_hold_is_refused_everywhere(self, store: BaseStore, label: Any) -> None:
        """Text made of it would be another tenant's name; it may not even be looked for."""
        place = ("a", label)
        for call in (
            lambda: store.put(place, "k", {}),
            lambda: store.get(place, "k"),
            lambda: store.search(place),
            lambda: store.delete(place, "k"),
            lambda: asyncio.run(store.aput(place, "k", {})),
            lambda: asyncio.run(store.aget(place, "k")),
            lambda: asyncio.run(store.asearch(place)),
            lambda: asyncio.run(store.adelete(place, "k")),
        ):
            with pytest.raises(InvalidNamespaceError):
                call()

    @pytest.mark.parametrize(
        "op", [GetOp(("a.b",), "k"), PutOp(("a.b",), "k", {}), SearchOp(("a.b",))], ids=["get", "put", "search"]
    )
    def test_labels_are_checked_in_direct_batches_as_well(self, store: BaseStore, carry_out: CarryOut, op: Any) -> None:
        with pytest.raises(InvalidNamespaceError):
            carry_out(store, [op])

    @pytest.mark.parametrize("namespace", [(), ("langgraph", "x")], ids=["none", "reserved"])
    def test_reserved_namespaces_cannot_be_written(self, store: BaseStore, namespace: tuple[str, ...]) -> None:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
        with pytest.raises(InvalidNamespaceError):
            asyncio.run(store.aput(namespace, "k", {}))
        assert store.search(()) == []

    def test_a_reserved_label_is_free_below_the_first(self, store: BaseStore) -> None:
        store.put(("a", "langgraph"), "k", {"n": 1})
        assert stored_item(store, "k", ("a", "langgraph")).value == {"n": 1}

    @pytest.mark.parametrize("sibling", SIBLINGS.values(), ids=SIBLINGS)
    def test_a_sibling_is_not_below(self, store: BaseStore, sibling: str) -> None:
        """CVE-2026-71433 in one case: whoever is called `a%` must not read what `al` wrote, nor the other way."""
        there = ("users", sibling)
        store.put(HERE, "mine", {"text": "secret words"})
        store.put(there, "theirs", {"text": "secret words"})
        store.put((*there, "below"), "deeper", {"text": "secret words"})
        for query in (None, "secret words"):
            assert keys(store.search(HERE, query=query)) == ["mine"]
            assert set(keys(store.search(there, query=query))) == {"theirs", "deeper"}
        assert set(store.list_namespaces(prefix=HERE)) == {HERE}
        assert set(store.list_namespaces(suffix=HERE[1:])) == {HERE}
        assert store.get(there, "mine") is None
        store.delete(there, "mine")
        assert stored_item(store, "mine")

    def test_a_prefix_finds_everything_below(self, store: BaseStore) -> None:
        for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("b",), ("b", "a")):
            store.put(namespace, "/".join(namespace), {"text": "x"})
        for query in (None, "x"):
            assert set(keys(store.search(("a",), query=query))) == {"a", "a/b", "a/b/c"}
            assert set(keys(store.search(("a", "b"), query=query))) == {"a/b", "a/b/c"}
            assert set(keys(store.search((), query=query))) == {"a", "a/b", "a/b/c", "b", "b/a"}
            assert store.search(("c",), query=query) == []

    def test_a_prefix_may_be_a_list(self, store: BaseStore) -> None:
        store.put(HERE, "k", {"text": "x"})
        assert keys(store.search(list(HERE))) == ["k"]  # type: ignore[arg-type]  # JSON gives lists
        assert store.list_namespaces(prefix=list(HERE), suffix=list(HERE[1:])) == [HERE]  # type: ignore[arg-type]

    def test_one_key_in_two_namespaces_is_two_items(self, store: BaseStore) -> None:
        store.put(("a",), "k", {"n": 1})
        store.put(("b",), "k", {"n": 2})
        store.delete(("a",), "k")
        assert store.get(("a",), "k") is None
        assert stored_item(store, "k", ("b",)).value == {"n": 2}
