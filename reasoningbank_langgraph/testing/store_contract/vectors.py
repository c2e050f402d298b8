"""Searching by meaning. All cases need an index on `text` and `more`, and an embedder for which shared words are close.

Equal texts score 1; the cases compare scores and never name another one.
"""

# ruff: noqa: S101, D102 - the cases are asserts, and their names say what they assert

from __future__ import annotations

from typing import Any

import pytest
from langgraph.store.base import BaseStore, PutOp, SearchItem, SearchOp

from reasoningbank_langgraph.testing.store_contract.base import HERE, WEATHER, CarryOut, StoreCases, fill, keys

NESTED: dict[str, Any] = {
    "title": "crimson lake",
    "info": {"author": "second voice", "year": 1999},
    "parts": [{"name": "opening bell"}, {"name": "final curtain"}],
    "tags": ["red apple", "blue pear"],
}
PATHS = {
    "field": ("title", "crimson lake", "second voice"),
    "nested": ("info.author", "second voice", "crimson lake"),
    "number": ("info.year", "1999", "second voice"),
    "element": ("tags[0]", "red apple", "blue pear"),
    "last element": ("tags[-1]", "blue pear", "red apple"),
    "field of an element": ("parts[1].name", "final curtain", "opening bell"),
    "every element": ("parts[*].name", "opening bell", "red apple"),
    "every value": ("info.*", "second voice", "crimson lake"),
    "several": ("{title,info.author}", "second voice", "red apple"),
}
QUERIES = {
    "long": "rain " * 200,
    "punctuation": "rain!@#$%^&*()'\"",
    "NUL": "rain\x00",
    "lone surrogate": "ra\ud800in",
    "line separator": "\u2028 rain",
}
SCRIPTS = {"zh": "这是中文", "ja": "これは日本語です", "ko": "이건 한국어야", "ru": "Это русский", "hi": "यह रूसी है"}


def score(store: BaseStore, query: str, key: str = "k") -> float | None:
    """Return how an item scores for a query; the item has to be found."""
    return next(item.score for item in store.search(HERE, query=query, limit=100) if item.key == key)


def exact(found: SearchItem) -> bool:
    """Say whether an item was found by the very text it holds."""
    return found.score == pytest.approx(1.0, abs=1e-4)


class VectorCases(StoreCases):
    """`search(query=...)` and `put(index=...)`."""

    def test_the_nearest_comes_first_with_scores_between_0_and_1(self, indexed_store: BaseStore) -> None:
        fill(indexed_store)
        for key, value in WEATHER.items():
            found = indexed_store.search(HERE, query=value["text"])
            scores = [item.score or 0.0 for item in found]
            assert found[0].key == key
            assert exact(found[0])
            assert scores == sorted(scores, reverse=True)
            assert all(0.0 <= one <= 1.0 + 1e-4 for one in scores)

    @pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
    def test_any_query_is_answered(self, indexed_store: BaseStore, query: str) -> None:
        fill(indexed_store)
        assert set(keys(indexed_store.search(HERE, query=query))) == set(WEATHER)

    def test_every_script_is_found_by_its_own_words(self, indexed_store: BaseStore) -> None:
        fill(indexed_store, {key: {"text": text} for key, text in SCRIPTS.items()})
        for key, text in SCRIPTS.items():
            assert indexed_store.search(HERE, query=text)[0].key == key

    def test_the_best_of_many_namespaces_comes_first(self, indexed_store: BaseStore) -> None:
        crowd = [PutOp(("t", str(n % 7)), str(n), {"text": f"nothing alike {n}"}) for n in range(100)]
        indexed_store.batch([*crowd[:50], PutOp(("t", "m"), "best", {"text": "the very words"}), *crowd[50:]])
        found = indexed_store.search(("t",), query="the very words", limit=10)
        assert len({(item.namespace, item.key) for item in found}) == 10
        assert found[0].key == "best"
        assert exact(found[0])
        assert not exact(found[1])

    def test_several_queries_in_one_batch_answer_for_themselves(
        self, indexed_store: BaseStore, carry_out: CarryOut
    ) -> None:
        fill(indexed_store)
        ops = [SearchOp(HERE, limit=1, query=WEATHER[key]["text"]) for key in ("wind", "rain", "wind", "snow")]
        found: list[Any] = carry_out(indexed_store, [ops[0], PutOp(HERE, "x", {"text": "x"}), *ops[1:]])
        assert [keys(found[place])[0] for place in (0, 2, 3, 4)] == ["wind", "rain", "wind", "snow"]

    def test_equal_texts_in_one_batch_score_alike(self, indexed_store: BaseStore, carry_out: CarryOut) -> None:
        carry_out(indexed_store, [PutOp(HERE, str(n), {"text": "the same words"}) for n in range(4)])
        found = indexed_store.search(HERE, query="the same words")
        assert set(keys(found)) == {"0", "1", "2", "3"}
        assert all(exact(item) for item in found)

    # an item with several vectors

    def test_the_best_vector_of_an_item_counts(self, indexed_store: BaseStore) -> None:
        indexed_store.put(HERE, "two", {"text": "unrelated topic entirely", "more": "white snow on the mountain"})
        indexed_store.put(HERE, "one", {"text": "white snow in a valley"})
        found = indexed_store.search(HERE, query="white snow on the mountain")
        assert keys(found) == ["two", "one"]
        assert exact(found[0])

    def test_an_item_appears_once_however_many_vectors_it_has(self, indexed_store: BaseStore) -> None:
        indexed_store.put(HERE, "k", {"text": "alpha", "more": "beta"})
        assert keys(indexed_store.search(HERE, query="alpha beta")) == ["k"]

    def test_two_fields_of_an_item_may_hold_the_same_text(self, indexed_store: BaseStore) -> None:
        indexed_store.put(HERE, "k", {"text": "alpha", "more": "alpha"})
        found = indexed_store.search(HERE, query="alpha")
        assert keys(found) == ["k"]
        assert exact(found[0])

    def test_items_with_many_vectors_do_not_crowd_others_off_the_page(self, indexed_store: BaseStore) -> None:
        for n in range(4):
            texts = [f"the query {word}" for word in ("a", "b", "c", "d", "e", "f")]
            indexed_store.put(HERE, f"many {n}", {"tags": texts}, index=["tags[*]"])
        indexed_store.put(HERE, "one", {"text": "something of the query"})
        assert len(indexed_store.search(HERE, query="the query", limit=5)) == 5

    # what is embedded

    @pytest.mark.parametrize(("path", "covered", "uncovered"), PATHS.values(), ids=PATHS)
    def test_the_paths_of_a_put_override_the_index(
        self, indexed_store: BaseStore, path: str, covered: str, uncovered: str
    ) -> None:
        indexed_store.put(HERE, "k", {**NESTED, "text": "usual field"}, index=[path])
        assert score(indexed_store, covered) == pytest.approx(1.0, abs=1e-4)
        for query in (uncovered, "usual field"):
            assert (score(indexed_store, query) or 0.0) < 0.999

    def test_fields_outside_the_index_are_not_found_by(self, indexed_store: BaseStore) -> None:
        indexed_store.put(HERE, "k", {"text": "inside words", "other": "outside matter"})
        assert (score(indexed_store, "outside matter") or 0.0) < 0.999
        assert score(indexed_store, "inside words") == pytest.approx(1.0, abs=1e-4)

    def test_an_item_without_vectors_has_no_score(self, indexed_store: BaseStore) -> None:
        indexed_store.put(HERE, "off", {"text": "hidden"}, index=False)
        indexed_store.put(HERE, "blank", {"other": "nothing to embed"})
        indexed_store.put(HERE, "absent", {"text": "hidden"}, index=["no.such[3].path"])
        found = indexed_store.search(HERE, query="hidden")
        assert {item.key: item.score for item in found} == {"off": None, "blank": None, "absent": None}

    def test_items_without_vectors_fill_up_behind_the_scored(self, indexed_store: BaseStore) -> None:
        fill(indexed_store)
        indexed_store.put(HERE, "dark", {"text": "rain"}, index=False)
        indexed_store.put(HERE, "blank", {"other": "nothing to embed"})
        found = indexed_store.search(HERE, query="rain", limit=5)
        assert set(keys(found)[:3]) == set(WEATHER)
        assert set(keys(found)[3:]) == {"dark", "blank"}
        assert [item.score for item in found[3:]] == [None, None]
        assert set(keys(indexed_store.search(HERE, query="rain", limit=3))) == set(WEATHER)

    # overwriting

    def test_an_overwrite_is_found_by_its_new_text(self, indexed_store: BaseStore) -> None:
        indexed_store.put(HERE, "k", {"text": "white snow", "more": "cold ice"})
        indexed_store.put(HERE, "k", {"text": "green hills"})
        assert score(indexed_store, "green hills") == pytest.approx(1.0, abs=1e-4)
        assert all((score(indexed_store, query) or 0.0) < 0.999 for query in ("white snow", "cold ice"))

    @pytest.mark.parametrize(
        "settings", [{"index": False}, {"index": ["absent"]}, {}], ids=["off", "absent path", "absent field"]
    )
    def test_an_overwrite_leaves_no_vector_of_the_old_value(
        self, indexed_store: BaseStore, settings: dict[str, Any]
    ) -> None:
        indexed_store.put(HERE, "k", {"text": "white snow", "more": "cold ice"})
        indexed_store.put(HERE, "k", {"other": 1}, **settings)
        assert [score(indexed_store, query) for query in ("white snow", "cold ice")] == [None, None]

    # pages and filters

    def test_pages_of_a_query_do_not_overlap_and_miss_nothing(self, indexed_store: BaseStore) -> None:
        scored = {f"v{n}": {"text": f"words of number {n}"} for n in range(8)}
        fill(indexed_store, scored)
        for n in range(5):
            indexed_store.put(HERE, f"p{n}", {"n": n}, index=False)
        pages = [keys(indexed_store.search(HERE, query="words of", limit=3, offset=start)) for start in range(0, 15, 3)]
        together = [key for page in pages for key in page]
        assert sorted(together) == sorted([*scored, *(f"p{n}" for n in range(5))])
        assert set(together[:8]) == set(scored)
        assert indexed_store.search(HERE, query="words of", offset=13) == []

    def test_filter_and_namespace_apply_before_the_limit(self, indexed_store: BaseStore) -> None:
        """Otherwise a neighbour with many close items starves a tenant with few."""
        crowd = [PutOp(("users", "crowd"), str(n), {"text": f"exactly the query {n}"}) for n in range(200)]
        others = [PutOp(HERE, f"x{n}", {"text": f"exactly the query, number {n}", "mine": False}) for n in range(200)]
        indexed_store.batch([*crowd, *others])
        fill(indexed_store, {key: {**value, "mine": True} for key, value in WEATHER.items()})
        found = indexed_store.search(HERE, query="exactly the query", filter={"mine": True}, limit=3)
        assert set(keys(found)) == set(WEATHER)

    def test_a_filter_keeps_the_order_of_scores(self, indexed_store: BaseStore) -> None:
        fill(indexed_store)
        found = indexed_store.search(HERE, query=WEATHER["wind"]["text"], filter={"n": {"$gte": 2}})
        assert keys(found) == ["wind", "snow"]
