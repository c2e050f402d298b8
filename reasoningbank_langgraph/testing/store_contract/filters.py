"""Filters: equality and `$eq $ne $gt $gte $lt $lte`. Unknown operators are refused, never ignored."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

import math
from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp

from reasoningbank_langgraph.testing.store_contract.base import HERE, StoreCases, keys

ITEMS: dict[str, dict[str, Any]] = {
    "a": {"n": 1, "s": "apple", "on": True},
    "b": {"n": 2, "s": "berry", "on": False, "null": None},
    "c": {"n": 10, "on": "yes"},
    "d": {"s": "zoo", "a.b": 1, "kebab-case": "x", "9lives": "x"},
    "e": {"deep": {"q": 1, "r": [1]}, "list": [1, 2], "n": -3.5},
    "f": {"n": "9", "a": {"b": 1}, "s": 'O\'Brien "quoted" 😀'},
    "g": {"n": 2**53 + 1},
}
FILTERS: dict[str, tuple[Any, str]] = {
    "nothing asked": ({}, "abcdefg"),
    "no filter": (None, "abcdefg"),
    "equal": ({"n": 2}, "b"),
    "equal as a float": ({"n": 2.0}, "b"),
    "equal text": ({"s": "apple"}, "a"),
    "equal text with quotes": ({"s": 'O\'Brien "quoted" 😀'}, "f"),
    "number is not text": ({"n": "2"}, ""),
    "text is not number": ({"n": 9}, ""),
    "true": ({"on": True}, "a"),
    "false": ({"on": False}, "b"),
    "eq": ({"n": {"$eq": 2}}, "b"),
    "eq text": ({"s": {"$eq": "apple"}}, "a"),
    "eq list": ({"list": {"$eq": [1, 2]}}, "e"),
    "gt": ({"n": {"$gt": 1}}, "bcg"),
    "gt numerically": ({"n": {"$gt": 9}}, "cg"),
    "gte": ({"n": {"$gte": 2}}, "bcg"),
    "lt": ({"n": {"$lt": 2}}, "ae"),
    "lte": ({"n": {"$lte": 1}}, "ae"),
    "between": ({"n": {"$gte": 1, "$lt": 10}}, "ab"),
    "negative": ({"n": {"$lt": 0}}, "e"),
    "gt text": ({"s": {"$gt": "apple"}}, "bd"),
    "lte text": ({"s": {"$lte": "apple"}}, "af"),
    "gt text of a digit": ({"n": {"$gt": "1"}}, "f"),
    "exact beyond a float": ({"n": 2**53 + 1}, "g"),
    "not its neighbour": ({"n": 2**53}, ""),
    "gt its neighbour": ({"n": {"$gt": 2**53}}, "g"),
    "below infinity": ({"n": {"$lt": math.inf}}, "abceg"),
    "above minus infinity": ({"n": {"$gt": -math.inf}}, "abceg"),
    "equal to nan": ({"n": {"$eq": math.nan}}, ""),
    "above nan": ({"n": {"$gt": math.nan}}, ""),
    "below a huge number": ({"n": {"$lt": 10**100}}, "abceg"),
    "both": ({"s": "apple", "n": 1}, "a"),
    "one of both": ({"s": "apple", "n": 2}, ""),
    "missing field": ({"gone": "x"}, ""),
    "missing field compared": ({"gone": {"$gt": 0}}, ""),
    "missing field is None": ({"gone": None}, "abcdefg"),
    "None or missing": ({"null": None}, "abcdefg"),
    "ne": ({"n": {"$ne": 2}}, "acdefg"),
    "ne of a missing field": ({"gone": {"$ne": "x"}}, "abcdefg"),
    "ne text": ({"s": {"$ne": "apple"}}, "bcdefg"),
    "nested": ({"deep": {"q": 1}}, "e"),
    "nested whole": ({"deep": {"q": 1, "r": [1]}}, "e"),
    "nested operator": ({"deep": {"q": {"$gt": 0}}}, "e"),
    "nested other": ({"deep": {"q": 2}}, ""),
    "nested missing": ({"deep": {"gone": 1}}, ""),
    "list": ({"list": [1, 2]}, "e"),
    "list in another order": ({"list": [2, 1]}, ""),
    "part of a list": ({"list": [1]}, ""),
    "field with a dot": ({"a.b": 1}, "d"),
    "field with a hyphen": ({"kebab-case": "x"}, "d"),
    "field that starts with a digit": ({"9lives": "x"}, "d"),
}
NO_OPERATOR: dict[str, Any] = {
    "$in": {"n": {"$in": [1]}},
    "$nin": {"n": {"$nin": [1]}},
    "$where": {"n": {"$where": "1"}},
    "$regex": {"n": {"$regex": "."}},
    "$exists": {"n": {"$exists": True}},
    "beside a known one": {"n": {"$gte": 0, "$gr": 5}},
    "$and": {"$and": [{"n": 1}]},
    "$or": {"$or": [{"n": 1}, {"gone": None}]},
    "$not": {"$not": {"n": 1}},
}
HOSTILE_FIELDS = {
    "sql": "x' OR '1'='1",
    "sql comment": "x'; --",
    "json path": "x') = 'y' OR '1'='1' OR json_extract(value, '$.x",
    "bracket": 'a"]}}',
    "dots": "a.b.c",
    "empty": "",
    "NUL": "a\x00",
    "python": "__proto__",
    "namespace": "namespace",
    "key": "key",
    "prefix": "prefix",
    "wildcard": "*",
    "long": "k" * 10_000,
}
HOSTILE_TEXTS = ["x' OR '1'='1", "x'; --", "x' UNION SELECT * FROM store --", "''''", "x\x00' OR '1'='1", "' OR 'א'='א"]


class FilterCases(StoreCases):
    """`filter=`, with and without a query."""

    @pytest.mark.parametrize(("condition", "matching"), FILTERS.values(), ids=FILTERS)
    def test_filters(self, store: BaseStore, condition: dict[str, Any] | None, matching: str) -> None:
        """What cannot be compared does not match, and does not raise: one odd item must not spoil every search."""
        store.batch([PutOp(HERE, key, {**value, "text": f"words of {key}"}) for key, value in ITEMS.items()])
        for query in (None, "words"):
            assert "".join(sorted(keys(store.search(HERE, filter=condition, query=query)))) == matching

    @pytest.mark.parametrize("condition", NO_OPERATOR.values(), ids=NO_OPERATOR)
    def test_an_operator_that_does_not_exist_is_refused(self, store: BaseStore, condition: dict[str, Any]) -> None:
        store.put(HERE, "k", {"n": 1})
        for query in (None, "x"):
            with pytest.raises(ValueError, match=r".+"):
                store.search(HERE, filter=condition, query=query)

    def test_an_operator_that_does_not_exist_is_refused_where_nothing_is_stored(self, store: BaseStore) -> None:
        """Otherwise the mistake shows on the first day in use."""
        with pytest.raises(ValueError, match=r".+"):
            store.search(HERE, filter={"n": {"$regex": "."}})

    @pytest.mark.parametrize("field", HOSTILE_FIELDS.values(), ids=HOSTILE_FIELDS)
    def test_a_hostile_field_name_is_refused_or_matches_nothing(self, store: BaseStore, field: str) -> None:
        store.put(HERE, "k", {"n": 1, "text": "words", "x": "y"})
        store.put(("users", "bo"), "other", {"n": 1, "text": "words", "x": "y"})
        for query in (None, "words"):
            try:
                found = store.search(HERE, filter={field: "x"}, query=query)
            except ValueError:
                continue
            assert found == []

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    def test_a_hostile_text_is_only_text(self, store: BaseStore, text: str) -> None:
        store.put(HERE, "k", {"x": "x"})
        assert store.search(HERE, filter={"x": text}) == []
        assert store.search(HERE, filter={"x": {"$eq": text}}) == []
        assert keys(store.search(HERE, filter={"x": {"$ne": text}})) == ["k"]
