"""What is kept in memory stays equal to what is on disk, within its bound, for any sequence of operations."""

import random
import threading

import numpy as np
import pytest
from langgraph.store.base import PutOp, SearchOp

from reasoningbank_langgraph.store import ChromaStore
from reasoningbank_langgraph.store.cache.matrix import NARROW_FROM, Matrix, descending

NAMESPACES = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "bb"), ("d", "b"), ("d",)]
WORDS = ["rain", "snow", "wind", "hill", "road", "tree", "river", "stone", "bird", "cloud"]
INDEX_FIELDS = ["text", "more[*]"]


def random_value(chance):
    value = {"text": " ".join(chance.choices(WORDS, k=3)), "n": chance.randrange(5)}
    if chance.random() < 0.5:
        value["more"] = [" ".join(chance.choices(WORDS, k=2)) for _ in range(chance.randrange(4))]
    if chance.random() < 0.2:
        del value["text"]
    return value


def random_batch(chance):
    ops = []
    for _ in range(chance.randrange(1, 5)):
        value = None if chance.random() < 0.3 else random_value(chance)
        index = False if chance.random() < 0.1 else None
        ops.append(PutOp(chance.choice(NAMESPACES), str(chance.randrange(6)), value, index))
    return ops


def answers(store, prefix, query):
    found = store.search(prefix, query=query, limit=100)
    rows = [(item.namespace, item.key, item.value, item.created_at, item.updated_at) for item in found]
    scores = {row[:2]: item.score for row, item in zip(rows, found, strict=True)}
    ranked = [score for score in scores.values() if score is not None]
    assert ranked == sorted(ranked, reverse=True)
    return (sorted(rows, key=lambda row: row[:2]) if query else rows), scores


@pytest.mark.parametrize("seed", range(3))
def test_memory_and_chroma_give_the_same_answers(embeddings, seed):
    import chromadb

    from reasoningbank_langgraph.store.cache.collection import CachedCollection

    chance = random.Random(seed)
    client = chromadb.EphemeralClient()
    index = {"embed": embeddings, "fields": INDEX_FIELDS}
    store = ChromaStore.from_client(client, index=index, collection=f"model-{seed}")
    model = {}
    for step in range(40):
        ops = random_batch(chance)
        store.batch(ops)
        model |= {(op.namespace, op.key): op.value for op in ops}
        if step % 4:
            continue
        prefix, query = chance.choice([(), ("a",), ("a", "b"), ("d",), ("e",)]), chance.choice(WORDS)
        expected = {
            place: value for place, value in model.items() if value is not None and place[0][: len(prefix)] == prefix
        }
        direct = ChromaStore.from_client(client, index=index, collection=f"model-{seed}")
        direct._collection = CachedCollection(store._collection.rows, dims=64, shared=True, limit=0)
        direct._reader._collection = direct._collection
        for asked in (None, query):
            rows, scores = answers(store, prefix, asked)
            assert {(row[0], row[1]): row[2] for row in rows} == expected
            same_rows, same_scores = answers(direct, prefix, asked)
            assert same_rows == rows
            assert same_scores.keys() == scores.keys()
            for place, score in scores.items():
                assert same_scores[place] == (None if score is None else pytest.approx(score, abs=1e-5))
        assert store.list_namespaces() == sorted({place for (place, _), value in model.items() if value is not None})
        assert direct.list_namespaces() == store.list_namespaces()
    assert store.verify().ok
    client.close()


ODD = [
    "abc",
    "ABC",
    "a%c",
    "a_c",
    "a*c",
    "a[b]c",
    'q"uote',
    "back\\slash",
    "é",
    "😀",
    "\ud800",
    "nul\x00",
    "line\n",
    "",
]


@pytest.mark.parametrize("limit", [1, 1 << 20])
def test_a_filter_finds_equal_texts_and_no_others_in_memory_and_in_chroma(folder, embeddings, limit):
    with ChromaStore.from_path(folder, embeddings=embeddings, cache_bytes=limit) as store:
        store.batch([PutOp(("a",), str(n), {"word": word, "n": n}) for n, word in enumerate(ODD)])
        store.put(("a",), "deeper", {"more": {"word": "abc", "é": "é"}, "text": '"word":"abc"'})
        for n, word in enumerate(ODD):
            for query in (None, "abc"):
                for wanted in ({"word": word}, {"word": word, "n": n}, {"n": n}):
                    assert [item.key for item in store.search(("a",), query=query, filter=wanted)] == [str(n)]
        assert store.search(("a",), filter={"é": "é"}) == []


@pytest.mark.parametrize("limit", [1, 30_000, 200_000])
def test_a_bound_on_memory_changes_no_answer(folder, embeddings, limit):
    with ChromaStore.from_path(folder, embeddings=embeddings, cache_bytes=limit) as store:
        ops = [PutOp(("t", str(n % 10)), str(n), {"text": f"item {n}"}) for n in range(200)]
        store.batch(ops)
        for n in (3, 7, 3, 9):
            found = store.search(("t", str(n)), query=f"item {n}", limit=50)
            assert len(found) == 20
            assert str(n) in [item.key for item in found if item.score == pytest.approx(found[0].score)]
            assert store._collection.cache.nbytes <= limit
        assert len(store.search((), limit=500)) == 200
        store.batch([PutOp(("large",), str(n), {"text": f"item {n}"}) for n in range(600)])
        assert len({item.key for item in store.search(("large",), query="item", limit=700)}) == 600
        store.put(("t", "3"), "new", {"text": "brand new words"})
        assert store.search(("t", "3"), query="brand new words")[0].key == "new"
        assert store.search(("t",), query="brand new words")[0].key == "new"


def test_a_small_tenant_is_never_crowded_out(folder, embeddings):
    with ChromaStore.from_path(folder, embeddings=embeddings) as store:
        store.batch([PutOp(("t", f"b{n % 10}"), str(n), {"text": "the exact question"}) for n in range(1000)])
        for n in range(3):
            store.put(("t", "b"), f"mine {n}", {"text": f"something else {n}"})
        for _ in range(20):
            found = store.search(("t", "b"), query="the exact question", limit=3)
            assert {item.key for item in found} == {"mine 0", "mine 1", "mine 2"}


def test_a_search_never_sees_half_a_batch(store):
    store.batch([PutOp(("a",), str(n), {"text": "version", "v": 0}) for n in range(10)])
    stopped, seen = threading.Event(), []

    def read():
        while not stopped.is_set():
            found = (store.search(("a",), query=query, limit=20) for query in (None, "version"))
            seen.extend({item.value["v"] for item in items} for items in found)

    reader = threading.Thread(target=read)
    reader.start()
    for version in range(1, 15):
        store.batch([PutOp(("a",), str(n), {"text": "version", "v": version}) for n in range(10)])
    stopped.set()
    reader.join()
    assert len(seen) > 10
    assert all(len(versions) == 1 for versions in seen)


@pytest.mark.slow
def test_replaced_items_give_their_memory_back(store):
    for n in range(30):
        store.batch([PutOp(("a",), str(m), {"text": f"{n} {m}"}) for m in range(100)])
        store.search(("a",), query="1")
    (cached,) = store._collection.cache._prefixes[("a",)].under[("a",)].values()
    assert cached.matrix.count < 1300
    assert len(store.search(("a",), query="29 5", limit=1000)) == 100


def test_a_query_over_many_namespaces_ranks_them_together(store):
    store.batch([PutOp(("many", str(n)), "k", {"text": WORDS[n % 10], "n": n}) for n in range(50)])
    found = store.search(("many",), query="river", limit=5)
    assert {item.value["n"] for item in found} == {6, 16, 26, 36, 46}
    assert [item.score for item in store.batch([SearchOp(("many",), query="river", limit=6)])[0]][5] < 1


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
@pytest.mark.parametrize("distinct", [1, 5, 10_000])
def test_descending_sorts_completely_and_stably(count, distinct):
    scores = np.random.default_rng(count).integers(0, distinct, count).astype(np.float32) / distinct
    ranked = list(descending(scores))
    assert ranked == sorted(((float(score), place) for place, score in enumerate(scores)), key=lambda pair: -pair[0])


def clustered(count, dims=200):
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((300, dims)) * (0.97 ** np.arange(dims)) * 3
    rows = centres[rng.integers(0, 300, count)] + rng.standard_normal((count, dims)) * (0.97 ** np.arange(dims))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["clustered", "random"])
def test_a_large_matrix_ranks_like_a_full_scan(kind):
    rows = clustered(NARROW_FROM + 500)
    if kind == "random":
        rows = np.random.default_rng(1).standard_normal(rows.shape).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    matrix = Matrix(rows.shape[1])
    matrix.append(rows[:-10])
    matrix.append(rows[-10:])
    part = matrix.view()
    assert (part.narrow is not None) == (kind == "clustered")
    for place in (0, 500, len(rows) - 1):
        exact = np.argsort(-(rows @ rows[place]), kind="stable")
        ranked = [slot for _, slot in part.ranked(rows[place])]
        assert ranked[:10] == exact[:10].tolist()
        assert sorted(ranked) == list(range(len(rows)))
