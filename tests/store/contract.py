"""What any LangGraph store has to do, as a class of tests.

Subclass `StoreContract` and define two fixtures: `store`, empty, which embeds the fields `text` and `more` of a value,
and `plain_store`, empty, without an index. The embedder has to put texts that share words close to each other.
"""

import asyncio
import threading
from datetime import UTC, timedelta

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

HERE = ("users", "al")
WEATHER = {
    "rain": {"text": "heavy rain falls on the green hills", "n": 1},
    "snow": {"text": "white snow covers the mountain road", "n": 2},
    "wind": {"text": "strong wind bends the old trees", "n": 3},
}


def fill(store, values=WEATHER, namespace=HERE):
    for key, value in values.items():
        store.put(namespace, key, value)


def keys(items):
    return [item.key for item in items]


class StoreContract:
    """Behaviour of `BaseStore`; one test a rule."""

    @pytest.fixture
    def store(self):
        """An empty store with an index on the fields `text` and `more`."""
        raise NotImplementedError

    @pytest.fixture
    def plain_store(self):
        """An empty store without an index."""
        raise NotImplementedError

    # values

    def test_what_was_put_comes_back_equal(self, store):
        value = {"text": "a", "n": 1, "f": 1.5, "deep": {"list": [1, {"x": None}], "yes": True}, "": "empty key"}
        store.put(HERE, "k", value)
        item = store.get(HERE, "k")
        assert (item.value, item.key, item.namespace) == (value, "k", HERE)

    @pytest.mark.parametrize(
        "text", ["", "\x00", "a\ud800b", "日本語 😀", "\u2028", "x" * 100_000, '"\\{}$%_*'], ids=range(7)
    )
    def test_any_text_survives(self, store, text):
        store.put(HERE, "k", {"text": text})
        assert store.get(HERE, "k").value == {"text": text}
        assert store.search(HERE, query="something")[0].value == {"text": text}

    def test_large_integers_stay_exact(self, store):
        store.put(HERE, "k", {"n": 2**80 + 1, "m": -(2**63) - 1})
        assert store.get(HERE, "k").value == {"n": 2**80 + 1, "m": -(2**63) - 1}

    def test_an_absent_item_is_none(self, store):
        assert store.get(HERE, "nothing") is None

    @pytest.mark.parametrize("key", ["", "a/b", "a::b", "k\x00", "\ud800", "ключ", "x" * 5000])
    def test_any_key_names_an_item(self, store, key):
        store.put(HERE, key, {"text": "x"})
        assert store.get(HERE, key).key == key
        assert keys(store.search(HERE)) == [key]

    def test_keys_and_namespaces_are_never_mixed_up(self, store):
        places = [(("a",), "b::c"), (("a", "b"), "c"), (("a", "b", "c"), "")]
        for n, (namespace, key) in enumerate(places):
            store.put(namespace, key, {"n": n})
        assert [store.get(namespace, key).value["n"] for namespace, key in places] == [0, 1, 2]

    def test_the_caller_keeps_no_hold_on_what_was_stored(self, store):
        value = {"deep": {"list": [1]}}
        store.put(HERE, "k", value)
        value["deep"]["list"].append(2)
        store.get(HERE, "k").value["deep"]["list"].append(3)
        store.search(HERE)[0].value["deep"]["list"].append(4)
        assert store.get(HERE, "k").value == {"deep": {"list": [1]}}

    def test_times_are_in_utc_and_an_overwrite_keeps_the_creation(self, store):
        store.put(HERE, "k", {"n": 1})
        first = store.get(HERE, "k")
        store.put(HERE, "k", {"n": 2})
        second = store.get(HERE, "k")
        assert first.created_at.utcoffset() == timedelta(0)
        assert first.created_at.tzinfo is not None
        assert second.created_at == first.created_at
        assert second.updated_at > first.updated_at
        assert second.updated_at.astimezone(UTC) == second.updated_at

    def test_deleting_removes_from_every_read(self, store):
        fill(store)
        store.delete(HERE, "snow")
        store.delete(HERE, "never there")
        assert store.get(HERE, "snow") is None
        assert set(keys(store.search(HERE))) == {"rain", "wind"}
        assert set(keys(store.search(HERE, query="white snow"))) == {"rain", "wind"}

    def test_a_deleted_item_can_be_put_again(self, store):
        fill(store)
        store.delete(HERE, "snow")
        store.put(HERE, "snow", {"text": "snow again"})
        assert store.search(HERE, query="snow again")[0].key == "snow"

    # batches

    def test_results_stand_where_their_operations_stood(self, store):
        fill(store)
        results = store.batch(
            [
                GetOp(HERE, "rain"),
                PutOp(HERE, "hail", {"text": "hail"}),
                SearchOp(HERE, limit=1, query="strong wind"),
                ListNamespacesOp(),
                GetOp(HERE, "absent"),
            ]
        )
        assert results[0].key == "rain"
        assert results[1] is None
        assert keys(results[2]) == ["wind"]
        assert results[3] == [HERE]
        assert results[4] is None
        assert len(results) == 5

    def test_reads_see_the_state_before_the_batch(self, store):
        store.put(HERE, "k", {"n": 0})
        results = store.batch(
            [
                PutOp(HERE, "k", {"n": 1}),
                GetOp(HERE, "k"),
                PutOp(HERE, "k", {"n": 2}),
                GetOp(HERE, "k"),
                SearchOp(HERE),
                PutOp(("new",), "k", {"n": 3}),
                ListNamespacesOp(),
            ]
        )
        assert [results[1].value, results[3].value, results[4][0].value] == [{"n": 0}] * 3
        assert results[6] == [HERE]
        assert store.get(HERE, "k").value == {"n": 2}

    @pytest.mark.parametrize(
        ("values", "left"),
        [([{"n": 1}, {"n": 2}], {"n": 2}), ([{"n": 1}, None], None), ([None, {"n": 3}], {"n": 3})],
        ids=["put put", "put delete", "delete put"],
    )
    def test_the_last_put_to_an_item_counts(self, store, values, left):
        store.batch([PutOp(HERE, "k", value) for value in values])
        item = store.get(HERE, "k")
        assert (item.value if item else None) == left

    def test_equal_texts_in_one_batch_are_all_found(self, store):
        store.batch([PutOp(HERE, str(n), {"text": "the same words"}) for n in range(4)])
        found = store.search(HERE, query="the same words")
        assert set(keys(found)) == {"0", "1", "2", "3"}
        assert all(item.score == pytest.approx(1.0, abs=1e-5) for item in found)

    def test_an_empty_batch_does_nothing(self, store):
        assert store.batch([]) == []

    def test_an_unknown_operation_is_refused(self, store):
        with pytest.raises(ValueError, match="Unknown operation"):
            store.batch([("get", "k")])

    def test_nothing_of_a_refused_batch_is_written(self, store):
        with pytest.raises(ValueError, match="Unknown operation"):
            store.batch([PutOp(HERE, "k", {"n": 1}), object()])
        assert store.get(HERE, "k") is None

    # namespaces

    @pytest.mark.parametrize("label", ["", "a.b", "n\x00l", 1, None])
    def test_a_label_that_stores_cannot_hold_is_refused_everywhere(self, store, label):
        for call in (
            lambda: store.put(("a", label), "k", {}),
            lambda: store.get(("a", label), "k"),
            lambda: store.search(("a", label)),
            lambda: store.delete(("a", label), "k"),
        ):
            with pytest.raises(InvalidNamespaceError):
                call()

    def test_direct_batches_are_checked_as_well(self, store):
        for op in (GetOp(("a.b",), "k"), PutOp(("a.b",), "k", {}), SearchOp(("a.b",))):
            with pytest.raises(InvalidNamespaceError):
                store.batch([op])

    @pytest.mark.parametrize("namespace", [(), ("langgraph", "x")])
    def test_reserved_namespaces_cannot_be_written(self, store, namespace):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})

    @pytest.mark.parametrize(
        "sibling", ["alice", "al ", "AL", "a", "al\n", "a_", "a%", "a*", "%", "_l", "al-x", "[al]"]
    )
    def test_a_sibling_is_not_below(self, store, sibling):
        store.put(HERE, "mine", {"text": "secret words"})
        store.put(("users", sibling), "theirs", {"text": "secret words"})
        assert keys(store.search(HERE)) == ["mine"]
        assert keys(store.search(HERE, query="secret words")) == ["mine"]
        assert keys(store.search(("users", sibling))) == ["theirs"]
        store.delete(("users", sibling), "mine")
        assert store.get(HERE, "mine") is not None

    def test_a_prefix_finds_everything_below(self, store):
        for namespace in (("a",), ("a", "b"), ("a", "b", "c"), ("b",)):
            store.put(namespace, "/".join(namespace), {"text": "x"})
        assert set(keys(store.search(("a",)))) == {"a", "a/b", "a/b/c"}
        assert set(keys(store.search(("a", "b")))) == {"a/b", "a/b/c"}
        assert set(keys(store.search(()))) == {"a", "a/b", "a/b/c", "b"}
        assert set(keys(store.search((), query="x"))) == {"a", "a/b", "a/b/c", "b"}

    def test_namespaces_are_listed_sorted_matched_cut_and_paged(self, store):
        for namespace in (("a", "x", "end"), ("a", "y", "end"), ("b", "x", "stop"), ("a", "y")):
            store.put(namespace, "k", {"n": 1})
        assert store.list_namespaces() == [("a", "x", "end"), ("a", "y"), ("a", "y", "end"), ("b", "x", "stop")]
        assert store.list_namespaces(prefix=("a", "*", "end")) == [("a", "x", "end"), ("a", "y", "end")]
        assert store.list_namespaces(suffix=("x", "*")) == [("a", "x", "end"), ("b", "x", "stop")]
        assert store.list_namespaces(prefix=("a",), suffix=("end",)) == [("a", "x", "end"), ("a", "y", "end")]
        assert store.list_namespaces(max_depth=1) == [("a",), ("b",)]
        assert store.list_namespaces(max_depth=2, limit=2, offset=1) == [("a", "y"), ("b", "x")]
        assert store.list_namespaces(prefix=("a", "y", "end", "deeper")) == []

    def test_an_unknown_match_type_is_refused(self, store):
        store.put(HERE, "k", {"n": 1})
        with pytest.raises(ValueError, match="match"):
            store.batch([ListNamespacesOp(match_conditions=(MatchCondition("middle", ("a",)),))])

    def test_a_namespace_without_items_is_not_listed(self, store):
        store.put(("a",), "k", {"n": 1})
        store.put(("b",), "k", {"n": 1})
        store.delete(("a",), "k")
        assert store.list_namespaces() == [("b",)]

    # search without a query

    def test_without_a_query_the_last_written_comes_first(self, store):
        fill(store)
        store.put(HERE, "rain", {"text": "rain again"})
        found = store.search(HERE)
        assert keys(found) == ["rain", "wind", "snow"]
        assert [item.score for item in found] == [None] * 3

    def test_pages_do_not_overlap_and_miss_nothing(self, store):
        fill(store, {str(n): {"text": f"word{n}"} for n in range(25)})
        pages = [keys(store.search(HERE, limit=7, offset=start)) for start in range(0, 28, 7)]
        assert [len(page) for page in pages] == [7, 7, 7, 4]
        assert len({key for page in pages for key in page}) == 25
        assert store.search(HERE, limit=0) == []

    @pytest.mark.parametrize(
        ("condition", "matching"),
        [
            ({"n": 2}, "b"),
            ({"n": 2.0}, "b"),
            ({"n": {"$eq": 2}}, "b"),
            ({"n": {"$ne": 2}}, "acdef"),
            ({"n": {"$gt": 1}}, "bc"),
            ({"n": {"$gte": 1, "$lt": 10}}, "ab"),
            ({"n": {"$lte": 1}}, "a"),
            ({"s": {"$gt": "apple"}}, "bd"),
            ({"s": {"$lte": "apple"}}, "a"),
            ({"n": {"$gt": "1"}}, "f"),
            ({"s": "apple", "n": 1}, "a"),
            ({"s": "apple", "n": 2}, ""),
            ({"gone": "x"}, ""),
            ({"gone": None}, "abcdef"),
            ({"gone": {"$ne": "x"}}, "abcdef"),
            ({"deep": {"q": 1}}, "e"),
            ({"deep": {"q": {"$gt": 0}}}, "e"),
            ({"deep": {"q": 2}}, ""),
            ({"list": [1, 2]}, "e"),
            ({"list": [2, 1]}, ""),
            ({"a.b": 1}, "d"),
            ({}, "abcdef"),
        ],
    )
    def test_filters(self, store, condition, matching):
        items = {
            "a": {"n": 1, "s": "apple"},
            "b": {"n": 2, "s": "berry"},
            "c": {"n": 10},
            "d": {"s": "zoo", "a.b": 1},
            "e": {"deep": {"q": 1}, "list": [1, 2]},
            "f": {"n": "9", "a": {"b": 1}},
        }
        fill(store, items)
        assert "".join(sorted(keys(store.search(HERE, filter=condition)))) == matching
        assert "".join(sorted(keys(store.search(HERE, query="apple", filter=condition)))) == matching

    @pytest.mark.parametrize("operator", ["$in", "$where", "$regex", "$nin", "$exists"])
    def test_an_unknown_operator_is_refused(self, store, operator):
        store.put(HERE, "k", {"n": 1})
        with pytest.raises(ValueError, match="Unsupported operator"):
            store.search(HERE, filter={"n": {operator: [1]}})

    @pytest.mark.parametrize(
        "field", ["a' OR '1'='1", 'a"]}}', "a.b.c", "", "a\x00", "__proto__", "namespace", "k" * 10_000]
    )
    def test_a_hostile_field_name_matches_nothing(self, store, field):
        store.put(HERE, "k", {"n": 1, "text": "words"})
        store.put(("users", "bo"), "other", {"n": 1, "text": "words"})
        assert store.search(HERE, filter={field: "x"}) == []
        assert store.search(HERE, filter={field: "x"}, query="words") == []

    # search with a query

    def test_the_nearest_comes_first_with_scores_between_0_and_1(self, store):
        fill(store)
        for key, value in WEATHER.items():
            found = store.search(HERE, query=value["text"])
            assert found[0].key == key
            assert found[0].score == pytest.approx(1.0, abs=1e-5)
            scores = [item.score for item in found]
            assert scores == sorted(scores, reverse=True)
            assert all(0.0 <= score <= 1.0 + 1e-6 for score in scores)

    def test_an_empty_query_is_none(self, store):
        fill(store)
        assert [item.score for item in store.search(HERE, query="")] == [None] * 3

    def test_the_best_vector_of_an_item_counts(self, store):
        store.put(HERE, "two", {"text": "unrelated topic entirely", "more": "white snow covers the mountain road"})
        store.put(HERE, "one", {"text": "white snow covers the valley"})
        found = store.search(HERE, query="white snow covers the mountain road")
        assert keys(found) == ["two", "one"]

    def test_an_item_appears_once_however_many_vectors_it_has(self, store):
        store.put(HERE, "k", {"text": "alpha", "more": "beta"})
        assert keys(store.search(HERE, query="alpha beta")) == ["k"]

    def test_items_without_vectors_fill_up_behind_the_scored(self, store):
        fill(store)
        store.put(HERE, "dark", {"text": "hidden"}, index=False)
        store.put(HERE, "blank", {"other": "nothing to embed"})
        found = store.search(HERE, query="rain", limit=5)
        assert set(keys(found)[:3]) == set(WEATHER)
        assert set(keys(found)[3:]) == {"dark", "blank"}
        assert [item.score for item in found[3:]] == [None, None]
        assert len(store.search(HERE, query="rain", limit=4)) == 4

    def test_pages_of_a_query_do_not_overlap_and_miss_nothing(self, store):
        fill(store, {f"v{n}": {"text": f"words of number {n}"} for n in range(8)})
        for n in range(5):
            store.put(HERE, f"p{n}", {"n": n}, index=False)
        pages = [keys(store.search(HERE, query="words of", limit=3, offset=start)) for start in range(0, 15, 3)]
        together = [key for page in pages for key in page]
        assert sorted(together) == sorted([f"v{n}" for n in range(8)] + [f"p{n}" for n in range(5)])
        assert all(key.startswith("v") for key in together[:8])

    def test_the_paths_of_a_put_override_the_index(self, store):
        store.put(HERE, "k", {"text": "covered", "tags": ["red apple", "blue pear"]}, index=["tags[*]"])
        assert store.search(HERE, query="blue pear")[0].score == pytest.approx(1.0, abs=1e-5)
        assert store.search(HERE, query="covered")[0].score < 0.9

    @pytest.mark.parametrize("rewrite", [{"index": False}, {"index": ["absent"]}, {}])
    def test_an_overwrite_leaves_no_vector_of_the_old_value(self, store, rewrite):
        store.put(HERE, "k", {"text": "white snow", "more": "cold ice"})
        store.put(HERE, "k", {"other": 1}, **rewrite)
        for query in ("white snow", "cold ice"):
            assert [item.score for item in store.search(HERE, query=query)] == [None]

    def test_filter_and_namespace_apply_before_the_limit(self, store):
        store.batch([PutOp(("users", "crowd"), str(n), {"text": "exactly the query"}) for n in range(200)])
        store.batch([PutOp(HERE, f"x{n}", {"text": "exactly the query", "mine": False}) for n in range(200)])
        fill(store, {key: {**value, "mine": True} for key, value in WEATHER.items()})
        found = store.search(HERE, query="exactly the query", filter={"mine": True}, limit=3)
        assert set(keys(found)) == set(WEATHER)

    def test_without_an_index_a_query_is_ignored(self, plain_store):
        fill(plain_store)
        found = plain_store.search(HERE, query="white snow")
        assert set(keys(found)) == set(WEATHER)
        assert [item.score for item in found] == [None] * 3

    # both interfaces, many callers

    async def test_every_operation_works_asynchronously(self, store):
        await store.aput(HERE, "rain", WEATHER["rain"])
        await store.aput(HERE, "snow", WEATHER["snow"])
        assert (await store.aget(HERE, "rain")).value == WEATHER["rain"]
        assert keys(await store.asearch(HERE, query="white snow", limit=1)) == ["snow"]
        assert await store.alist_namespaces() == [HERE]
        await store.adelete(HERE, "rain")
        assert keys(await store.asearch(HERE)) == ["snow"]

    async def test_synchronous_calls_work_inside_a_running_loop(self, store):
        store.put(HERE, "k", {"text": "x"})
        assert store.search(HERE, query="x")[0].key == "k"

    def test_one_store_serves_several_loops(self, store):
        async def write(n):
            await asyncio.gather(*(store.aput(HERE, f"{n}-{m}", {"text": f"{n} {m}"}) for m in range(5)))

        asyncio.run(write(0))
        threads = [threading.Thread(target=asyncio.run, args=(write(n),)) for n in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.search(HERE, limit=100)) == 15

    async def test_a_cancelled_call_leaves_the_store_usable(self, store):
        task = asyncio.create_task(store.aput(HERE, "k", {"text": "x"}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.aput(HERE, "after", {"text": "y"})
        assert (await store.aget(HERE, "after")).value == {"text": "y"}

    def test_writes_from_many_threads_all_arrive(self, store):
        def write(n):
            for m in range(5):
                store.put(HERE, f"{n}-{m}", {"text": f"number {n} {m}"})

        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.search(HERE, limit=1000)) == 40
        assert len({item.key for item in store.search(HERE, query="number", limit=1000)}) == 40
