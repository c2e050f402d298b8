"""What is put comes back: the same value under the same key, or an error."""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, date, timedelta
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from reasoningbank_langgraph.testing.store_contract.base import HERE, StoreCases, fill, keys, stored_item

TEXTS = {
    "empty": "",
    "one letter": "a",
    "several scripts": "日本語 и עברית 😀",
    "combining marks": "e\u0301 is not \u00e9",
    "line separators": "a\u2028b\u2029c\u0085d\r\n",
    "control characters": "\x01\x1b[2J\x7f",
    "syntax": "'\"\\{}[]$%_*;-- <b>&amp;</b>",
    "long": "x" * 100_000,
}
AWKWARD_TEXTS = {"NUL": "a\x00b", "lone surrogate": "a\ud800b"}
HUGE = {"above 64 bits": 2**80 + 1, "below 64 bits": -(2**63) - 1, "above a float": 2**53 + 1}
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "minus inf": -math.inf}
NO_JSON: dict[str, Any] = {"set": {1, 2}, "bytes": b"bytes", "date": date(2020, 1, 1), "complex": 1j}


def by_name(cases: dict[str, Any]) -> Any:
    """Return the arguments that run a case once for each entry, named by its key."""
    return {"argvalues": list(cases.values()), "ids": list(cases)}


def put_or_refuse(store: BaseStore, value: dict[Any, Any]) -> dict[Any, Any] | None:
    """Put a value and return what came back; None where the store raised, and then nothing may be there."""
    try:
        store.put(HERE, "k", value)
    except Exception:  # noqa: BLE001 - stores have errors of their own
        assert store.get(HERE, "k") is None
        return None
    found = stored_item(store, "k").value
    assert repr(store.search(HERE)[0].value) == repr(found)
    return found


class ValueCases(StoreCases):
    """Values, keys, times, overwriting and deleting."""

    def test_what_was_put_comes_back_equal(self, store: BaseStore) -> None:
        value = {"text": "a", "n": 1, "f": 1.5, "deep": {"list": [1, {"x": None}], "yes": True}, "": "empty key"}
        store.put(HERE, "k", value)
        item = stored_item(store, "k")
        assert (item.value, item.key, item.namespace) == (value, "k", HERE)

    def test_an_empty_value_is_a_value(self, store: BaseStore) -> None:
        store.put(HERE, "k", {})
        assert stored_item(store, "k").value == {}
        assert keys(store.search(HERE)) == ["k"]

    @pytest.mark.parametrize("text", **by_name(TEXTS))
    def test_any_text_survives(self, store: BaseStore, text: str) -> None:
        store.put(HERE, "k", {"text": text, "more": [text]})
        assert stored_item(store, "k").value == {"text": text, "more": [text]}
        assert store.search(HERE, query="something")[0].value == {"text": text, "more": [text]}

    @pytest.mark.parametrize("text", **by_name(AWKWARD_TEXTS))
    def test_text_that_databases_dislike_survives_or_is_refused(self, store: BaseStore, text: str) -> None:
        assert put_or_refuse(store, {"text": text}) in (None, {"text": text})

    @pytest.mark.parametrize("number", **by_name(HUGE))
    def test_huge_numbers_stay_exact_or_are_refused(self, store: BaseStore, number: int) -> None:
        assert put_or_refuse(store, {"n": number}) in (None, {"n": number})

    @pytest.mark.parametrize("number", **by_name(NOT_FINITE))
    def test_numbers_that_are_not_finite_come_back_or_are_refused(self, store: BaseStore, number: float) -> None:
        """JSON has no word for them; `null` is another value."""
        assert repr(put_or_refuse(store, {"n": [number]})) in ("None", repr({"n": [number]}))

    @pytest.mark.parametrize("number", [0.1 + 0.2, 1e300, 5e-324, -0.0, 1.0, 0])
    def test_floats_stay_exact(self, store: BaseStore, number: float) -> None:
        store.put(HERE, "k", {"n": number})
        assert stored_item(store, "k").value["n"] == number

    def test_tuples_come_back_as_tuples_or_lists_or_are_refused(self, store: BaseStore) -> None:
        allowed: list[Any] = [None, {"t": (1, (2,))}, {"t": [1, [2]]}]
        assert put_or_refuse(store, {"t": (1, (2,))}) in allowed

    @pytest.mark.parametrize("field", [1, None, True, 1.5], ids=["int", "None", "bool", "float"])
    def test_fields_that_are_no_text_come_back_or_are_refused(self, store: BaseStore, field: Any) -> None:
        """JSON would turn them into text without a word."""
        assert repr(put_or_refuse(store, {"deep": [{field: "x"}]})) in ("None", repr({"deep": [{field: "x"}]}))

    @pytest.mark.parametrize("thing", **by_name(NO_JSON))
    def test_things_that_json_does_not_have_come_back_or_are_refused(self, store: BaseStore, thing: Any) -> None:
        assert put_or_refuse(store, {"thing": thing}) in (None, {"thing": thing})

    def test_an_absent_item_is_none(self, store: BaseStore) -> None:
        fill(store)
        assert store.get(HERE, "nothing") is None
        assert store.get(("users", "bo"), "rain") is None
        assert store.get(HERE[:1], "rain") is None

    @pytest.mark.parametrize(
        "key", ["", "a/b", "a::b", "a.b", "ключ", "x" * 5000, "%", "line\n"], ids=lambda key: key[:5] or "empty"
    )
    def test_any_key_names_an_item(self, store: BaseStore, key: str) -> None:
        store.put(HERE, key, {"text": "x"})
        assert stored_item(store, key).key == key
        assert keys(store.search(HERE)) == [key]
        store.delete(HERE, key)
        assert store.search(HERE) == []

    @pytest.mark.parametrize("key", ["k\x00", "\ud800"], ids=["NUL", "lone surrogate"])
    def test_a_key_that_databases_dislike_names_an_item_or_is_refused(self, store: BaseStore, key: str) -> None:
        try:
            store.put(HERE, key, {"n": 1})
        except Exception:  # noqa: BLE001 - stores have errors of their own
            assert store.search(HERE) == []
        else:
            assert keys(store.search(HERE)) == [stored_item(store, key).key] == [key]

    def test_keys_and_namespaces_are_never_mixed_up(self, store: BaseStore) -> None:
        places = [(("a",), "b::c"), (("a", "b"), "c"), (("a", "b", "c"), ""), (("a", "b"), "c/d"), (("a",), "b.c")]
        for n, (namespace, key) in enumerate(places):
            store.put(namespace, key, {"n": n})
        assert [stored_item(store, key, namespace).value["n"] for namespace, key in places] == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize(
        "read",
        [lambda store: store.get(HERE, "k").value, lambda store: store.search(HERE)[0].value],
        ids=["get", "search"],
    )
    def test_a_value_that_was_read_is_the_callers_own(self, store: BaseStore, read: Callable[[BaseStore], Any]) -> None:
        store.put(HERE, "k", {"deep": {"list": [1]}})
        read(store)["deep"]["list"].append(2)
        read(store)["new"] = True
        assert stored_item(store, "k").value == {"deep": {"list": [1]}}

    def test_a_value_that_was_put_stays_the_callers_own(self, store: BaseStore) -> None:
        value: dict[str, Any] = {"deep": {"list": [1]}}
        store.put(HERE, "k", value)
        value["deep"]["list"].append(2)
        value["new"] = True
        assert stored_item(store, "k").value == {"deep": {"list": [1]}}

    def test_times_are_in_utc_and_the_same_from_every_read(self, store: BaseStore) -> None:
        store.put(HERE, "k", {"n": 1})
        item, found = stored_item(store, "k"), store.search(HERE)[0]
        assert item.created_at.utcoffset() == item.updated_at.utcoffset() == timedelta(0)
        assert (found.created_at, found.updated_at) == (item.created_at, item.updated_at)
        assert item.updated_at.astimezone(UTC) == item.updated_at

    def test_an_overwrite_replaces_the_value_and_keeps_the_creation(self, store: BaseStore) -> None:
        store.put(HERE, "k", {"old": 1, "n": 1})
        first = stored_item(store, "k")
        created, updated = first.created_at, first.updated_at
        time.sleep(1.2 * self.clock)
        store.put(HERE, "k", {"n": 2})
        second = stored_item(store, "k")
        assert second.value == {"n": 2}
        assert second.created_at == created
        assert second.updated_at > updated

    def test_deleting_removes_from_every_read(self, store: BaseStore) -> None:
        fill(store)
        store.delete(HERE, "snow")
        store.delete(HERE, "never there")
        assert store.get(HERE, "snow") is None
        assert set(keys(store.search(HERE))) == {"rain", "wind"}
        assert set(keys(store.search(HERE, query="white snow"))) == {"rain", "wind"}

    def test_a_deleted_item_can_be_put_again(self, store: BaseStore) -> None:
        fill(store)
        store.delete(HERE, "snow")
        store.put(HERE, "snow", {"text": "snow again"})
        assert stored_item(store, "snow").value == {"text": "snow again"}
        assert set(keys(store.search(HERE, query="snow again"))) == {"rain", "snow", "wind"}
