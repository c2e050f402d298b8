"""The list of namespaces: matched, cut to a depth, sorted and paged."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore, ListNamespacesOp, MatchCondition, PutOp

from reasoningbank_langgraph.testing.store_contract.base import HERE, CarryOut, Namespace, StoreCases

PLACES = ["a/x/end", "a/y", "a/y/end", "a/y/z/end", "b/x/stop", "bend"]
LISTINGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all": ({}, PLACES),
    "prefix": ({"prefix": ("a", "y")}, ["a/y", "a/y/end", "a/y/z/end"]),
    "suffix": ({"suffix": ("end",)}, ["a/x/end", "a/y/end", "a/y/z/end"]),
    "both": ({"prefix": ("a", "y"), "suffix": ("end",)}, ["a/y/end", "a/y/z/end"]),
    "overlapping": ({"prefix": ("a", "x"), "suffix": ("x", "end")}, ["a/x/end"]),
    "star in a prefix": ({"prefix": ("a", "*", "end")}, ["a/x/end", "a/y/end"]),
    "star in a suffix": ({"suffix": ("x", "*")}, ["a/x/end", "b/x/stop"]),
    "star first": ({"suffix": ("*", "end")}, ["a/x/end", "a/y/end", "a/y/z/end"]),
    "star last": ({"prefix": ("b", "*")}, ["b/x/stop"]),
    "stars only": ({"prefix": ("*", "*")}, ["a/x/end", "a/y", "a/y/end", "a/y/z/end", "b/x/stop"]),
    "empty prefix": ({"prefix": ()}, PLACES),
    "too long a prefix": ({"prefix": ("a", "y", "end", "deeper")}, []),
    "no such prefix": ({"prefix": ("c",)}, []),
    "no such suffix": ({"suffix": ("x",)}, []),
    "depth 1": ({"max_depth": 1}, ["a", "b", "bend"]),
    "depth 2": ({"max_depth": 2}, ["a/x", "a/y", "b/x", "bend"]),
    "depth of a prefix": ({"prefix": ("a",), "max_depth": 3}, ["a/x/end", "a/y", "a/y/end", "a/y/z"]),
    "depth of a suffix": ({"suffix": ("end",), "max_depth": 2}, ["a/x", "a/y"]),
    "page": ({"limit": 2, "offset": 1}, ["a/y", "a/y/end"]),
    "last page": ({"limit": 4, "offset": 4}, ["b/x/stop", "bend"]),
    "page of a depth": ({"max_depth": 2, "limit": 2, "offset": 1}, ["a/y", "b/x"]),
    "limit 0": ({"limit": 0}, []),
    "offset beyond": ({"offset": 100}, []),
}
LOOK_ALIKES = {"a*": "ax", "a?b": "axb", "[a]": "a", "a_b": "axb", "a%b": "axxb", "a+": "aa", "al\n": "al", "^a": "a"}


def place(path: str) -> Namespace:
    """Return the namespace that a path names."""
    return tuple(path.split("/"))


class ListingCases(StoreCases):
    """`list_namespaces`."""

    @pytest.mark.parametrize(("options", "paths"), LISTINGS.values(), ids=LISTINGS)
    def test_namespaces_are_listed(self, store: BaseStore, options: dict[str, Any], paths: list[str]) -> None:
        store.batch([PutOp(place(path), key, {"n": 1}) for path in PLACES for key in ("first", "second")])
        assert store.list_namespaces(**options) == [place(path) for path in paths]

    @pytest.mark.parametrize(("label", "other"), LOOK_ALIKES.items(), ids=[repr(label) for label in LOOK_ALIKES])
    def test_only_a_lone_star_stands_for_any_label(self, store: BaseStore, label: str, other: str) -> None:
        places = ((label,), (label, "below"), (other,), (other, "below"), ("top", label), ("top", other))
        store.batch([PutOp(namespace, "k", {"n": 1}) for namespace in places])
        assert store.list_namespaces(prefix=(label,)) == [(label,), (label, "below")]
        assert store.list_namespaces(prefix=("*", label)) == [("top", label)]
        assert set(store.list_namespaces(suffix=(label,))) == {(label,), ("top", label)}

    def test_several_listings_in_one_batch_answer_for_themselves(self, store: BaseStore, carry_out: CarryOut) -> None:
        store.batch([PutOp(place(path), "k", {"n": 1}) for path in PLACES])
        ends = ListNamespacesOp((MatchCondition("suffix", ("end",)),))
        assert carry_out(store, [ListNamespacesOp(limit=1), ends, ListNamespacesOp(max_depth=1)]) == [
            [place(PLACES[0])],
            [place(path) for path in ("a/x/end", "a/y/end", "a/y/z/end")],
            [place(path) for path in ("a", "b", "bend")],
        ]

    def test_an_unknown_match_type_is_refused(self, store: BaseStore, carry_out: CarryOut) -> None:
        """A condition that is passed over lists every tenant."""
        store.put(HERE, "k", {"n": 1})
        condition = MatchCondition("middle", ("a",))  # type: ignore[arg-type]  # that is the point
        with pytest.raises(ValueError, match="match"):
            carry_out(store, [ListNamespacesOp((condition,))])

    def test_an_empty_store_has_no_namespaces(self, store: BaseStore) -> None:
        assert store.list_namespaces() == []

    def test_reading_makes_no_namespace(self, store: BaseStore) -> None:
        store.get(("ghost",), "k")
        store.search(("ghost",))
        store.delete(("ghost",), "k")
        assert store.list_namespaces() == []

    def test_a_namespace_without_items_is_not_listed(self, store: BaseStore) -> None:
        store.put(("a",), "k", {"n": 1})
        store.put(("b",), "k", {"n": 1})
        store.delete(("a",), "k")
        assert store.list_namespaces() == [("b",)]
